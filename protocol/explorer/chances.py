"""Exact probabilities over a finite Markov chain: where runs end, and what they cost on average.

Counts of runs, which need no weights, are in `costs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .graph import Graph
from .loops import components
from .model import S


@dataclass(frozen=True, slots=True)
class Chances:
    """Where a random run ends, as exact fractions that add up to 1."""

    ends: dict[int, Fraction]
    """For each state in which a run can end, its probability."""
    endless: Fraction
    """The probability that a run comes into a loop that it cannot leave."""
    cost: Fraction | None
    """What a run costs on average; None where it may go round for ever."""


def chances(graph: Graph[S], *, stop: Callable[[S], bool] | None = None) -> Chances:
    """Solve the chain; with `stop`, a run also ends in the first state that it accepts.

    Loops that can be left are solved as linear systems, one for each strongly connected component.
    """
    states, first, targets, actions = graph.states, graph.first, graph.targets, graph.actions
    last = graph.expanded
    stopping = [False] * len(states) if stop is None else [stop(state) for state in states]
    mass: dict[int, Fraction] = {}
    total = sum(Fraction(action.weight) for action, _ in graph.initial)
    for action, i in graph.initial:
        mass[i] = mass.get(i, Fraction(0)) + Fraction(action.weight) / total
    ends: dict[int, Fraction] = {}
    endless, cost = Fraction(0), Fraction(0)

    def shares(i: int) -> list[tuple[int, Fraction, int]]:
        if stopping[i] or i >= last:
            return []
        edges = range(first[i], first[i + 1])
        whole = sum(Fraction(actions[edge].weight) for edge in edges)
        return [(targets[e], Fraction(actions[e].weight) / whole, actions[e].cost) for e in edges]

    for block in _blocks(graph, stopping):
        inflow = {i: mass.pop(i) for i in block if i in mass}
        if not inflow:
            continue
        inside = set(block)
        out = {i: shares(i) for i in block}
        if len(block) == 1 and all(target not in inside for target, _, _ in out[block[0]]):
            visits = inflow
        elif all(target in inside for i in block for target, _, _ in out[i]):
            endless += sum(inflow.values())
            continue
        else:
            visits = _visits(block, out, inflow)
        for i, visited in visits.items():
            if not out[i]:
                ends[i] = ends.get(i, Fraction(0)) + visited
            for target, share, price in out[i]:
                cost += visited * share * price
                if target not in inside:
                    mass[target] = mass.get(target, Fraction(0)) + visited * share
    return Chances(ends, endless, None if endless else cost)


def _blocks(graph: Graph[S], stopping: list[bool]) -> list[list[int]]:
    """Components and single states, each before whatever it leads to."""
    of: dict[int, int] = {}
    groups = components(graph, cut=stopping)
    for number, component in enumerate(groups):
        for i in component:
            of[i] = number
    blocks: list[list[int]] = []
    seen: set[int] = set()
    for _, root in graph.initial:
        work = [(root, 0)]
        while work:
            i, stage = work.pop()
            block = groups[of[i]] if i in of else [i]
            if stage:
                blocks.append(block)
                continue
            if block[0] in seen:
                continue
            seen.add(block[0])
            work.append((i, 1))
            for member in block:
                if member < graph.expanded and not stopping[member]:
                    work += [(target, 0) for _, target in graph.edges(member)]
    blocks.reverse()
    return blocks


def _visits(
    block: list[int], out: dict[int, list[tuple[int, Fraction, int]]], inflow: dict[int, Fraction]
) -> dict[int, Fraction]:
    """How often each state of a component is visited: x = inflow + x P, by Gauss and Jordan."""
    place = {i: k for k, i in enumerate(block)}
    size = len(block)
    rows = [[Fraction(int(r == c)) for c in range(size)] + [inflow.get(block[r], Fraction(0))] for r in range(size)]
    for i in block:
        for target, share, _ in out[i]:
            if target in place:
                rows[place[target]][place[i]] -= share
    for column in range(size):
        pivot = next(r for r in range(column, size) if rows[r][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [value / scale for value in rows[column]]
        for r in range(size):
            if r != column and (factor := rows[r][column]):
                rows[r] = [value - factor * other for value, other in zip(rows[r], rows[column], strict=True)]
    return {i: rows[place[i]][size] for i in block}
