"""Exact costs: how many runs there are, the least and the most they cost, and how often each cost comes up.

Chances, which need weights and may meet loops, are in `chances`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from .graph import Graph
from .model import S

Amount = int | Fraction


def runs(graph: Graph[S], *, cut: Sequence[bool] | None = None) -> int | None:
    """How many different runs there are, each with all its choices; None where a loop makes them endless.

    A run is counted by the product of the `ways` of its actions, so that one path may stand for many runs.
    Where `cut` is true for a state, a run ends there.
    """
    order, rest = graph.order(cut=cut)
    if rest:
        return None
    count = [0] * len(graph)
    for action, i in graph.initial:
        count[i] += action.ways
    first, targets, actions = graph.first, graph.targets, graph.actions
    total, last = 0, graph.expanded
    for i in order:
        here = count[i]
        begin, end = (first[i], first[i + 1]) if i < last and not (cut and cut[i]) else (0, 0)
        if begin == end:
            total += here
        for edge in range(begin, end):
            count[targets[edge]] += here * actions[edge].ways
    return total


def least_and_most(graph: Graph[S], *, within: Callable[[S], bool] | None = None) -> tuple[int, int | None] | None:
    """The least and the most that a run costs; the most is None where a run may go round for ever.

    With `within`, only runs count that stay in states where it holds. None where no run ends.
    """
    first, targets, actions, last = graph.first, graph.targets, graph.actions, graph.expanded
    inside = None if within is None else graph.within(within)
    order, rest = graph.order(inside)
    infinite = float("inf")
    least = [infinite] * len(graph)
    most = [-infinite] * len(graph)
    for _, i in graph.initial:
        if inside is None or inside[i]:
            least[i] = most[i] = 0
    low, high = infinite, infinite if rest else -infinite
    for i in order:
        small, large = least[i], most[i]
        begin, end = (first[i], first[i + 1]) if i < last else (0, 0)
        if begin == end:
            low, high = min(low, small), max(high, large)
        for edge in range(begin, end):
            target, cost = targets[edge], actions[edge].cost
            if inside is not None and not inside[target]:
                continue
            if small + cost < least[target]:
                least[target] = small + cost
            if large + cost > most[target]:
                most[target] = large + cost
    if rest:
        low = min(low, _least_through_loops(graph, inside, least, rest))
    if low == infinite:
        return None
    return int(low), None if high == infinite else int(high)


def _least_through_loops(graph: Graph[S], inside: list[bool] | None, least: list[float], rest: list[int]) -> float:
    """Relax the edges of the part with cycles until nothing changes; the least cost of a run that ends there."""
    first, targets, actions = graph.first, graph.targets, graph.actions
    changed = True
    while changed:
        changed = False
        for i in rest:
            if i >= graph.expanded:
                continue
            for edge in range(first[i], first[i + 1]):
                target, cost = targets[edge], least[i] + actions[edge].cost
                if cost < least[target] and (inside is None or inside[target]):
                    least[target] = cost
                    changed = True
    return min((least[i] for i in rest if i >= graph.expanded or first[i] == first[i + 1]), default=float("inf"))


def distribution(
    graph: Graph[S],
    *,
    gauge: Callable[[S], int] | None = None,
    chance: bool = False,
    cut: Sequence[bool] | None = None,
) -> dict[tuple[int, int], Amount] | None:
    """How many runs cost what: {(cost, highest gauge on the way): runs}; None where a loop makes them endless.

    With `chance` each run counts for its probability, an exact fraction, instead of 1.
    Where `cut` is true for a state, a run ends there.
    """
    order, rest = graph.order(cut=cut)
    if rest:
        return None
    marks = [0] * len(graph) if gauge is None else [gauge(state) for state in graph.states]
    sums: list[dict[tuple[int, int], Amount] | None] = [None] * len(graph)
    ends: dict[tuple[int, int], Amount] = {}
    start_total = sum(Fraction(action.weight) for action, _ in graph.initial) if chance else Fraction(1)
    for action, i in graph.initial:
        amount: Amount = Fraction(action.weight) / start_total if chance else action.ways
        here = sums[i] = sums[i] or {}
        here[(0, marks[i])] = here.get((0, marks[i]), 0) + amount
    first, targets, actions = graph.first, graph.targets, graph.actions
    last = graph.expanded
    for i in order:
        mine = sums[i]
        sums[i] = None
        if not mine:
            continue
        begin, end = (first[i], first[i + 1]) if i < last and not (cut and cut[i]) else (0, 0)
        if begin == end:
            for key, amount in mine.items():
                ends[key] = ends.get(key, 0) + amount
            continue
        total = sum(Fraction(actions[edge].weight) for edge in range(begin, end)) if chance else Fraction(1)
        for edge in range(begin, end):
            action, target = actions[edge], targets[edge]
            share: Amount = Fraction(action.weight) / total if chance else action.ways
            there = sums[target]
            if there is None:
                there = sums[target] = {}
            cost, mark = action.cost, marks[target]
            for (spent, highest), amount in mine.items():
                key = (spent + cost, highest if highest >= mark else mark)
                there[key] = there.get(key, 0) + amount * share
    return dict(sorted(ends.items()))
