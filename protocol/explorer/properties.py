"""Properties checked over a graph, with the shortest counterexamples.

Loops as such are in `loops`; costs and chances in the modules of those names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from .graph import Graph, Path
from .loops import _lasso, components
from .model import Action, Property, S


@dataclass(frozen=True, slots=True)
class Finding(Generic[S]):
    """What became of one property."""

    property: Property[S]
    holds: bool | None
    """None: nothing speaks against it so far, and the search stopped early."""
    paths: tuple[Path[S], ...]
    """Counterexamples, shortest first; for `reachable` the ways there."""


def check(graph: Graph[S], properties: Sequence[Property[S]], *, most: int = 1) -> tuple[Finding[S], ...]:
    """Check properties, with at most `most` paths for each that differ in their last state."""
    checks = {"always": _always, "eventually": _eventually, "reachable": _reachable}
    return tuple(checks[claim.kind](graph, claim, most) for claim in properties)


def _always(graph: Graph[S], claim: Property[S], most: int) -> Finding[S]:
    """Each counterexample keeps to states in which the claim holds until its last, and no two end alike."""
    holds = [claim.holds(state) for state in graph.states]
    if all(holds):
        return Finding(claim, True if graph.complete else None, ())
    came: dict[int, tuple[int, Action]] = {}
    start: dict[int, Action] = {}
    for action, i in graph.initial:
        start.setdefault(i, action)
    paths: list[Path[S]] = []
    queue = list(start)
    for i in queue:
        if not holds[i]:
            paths.append(_back(graph, came, start, i))
            if len(paths) >= most:
                break
        elif i < graph.expanded:
            for action, target in graph.edges(i):
                if target not in came and target not in start:
                    came[target] = (i, action)
                    queue.append(target)
    return Finding(claim, False, tuple(paths))


def _back(graph: Graph[S], came: dict[int, tuple[int, Action]], start: dict[int, Action], i: int) -> Path[S]:
    states, actions = [graph.states[i]], []
    while i in came:
        i, action = came[i]
        states.append(graph.states[i])
        actions.append(action)
    return Path(tuple(reversed(states)), (start[i], *reversed(actions)))


def _reachable(graph: Graph[S], claim: Property[S], most: int) -> Finding[S]:
    holds = claim.holds
    paths: list[Path[S]] = []
    for i, state in enumerate(graph.states):
        if holds(state):
            paths.append(graph.path(i))
            if len(paths) >= most:
                break
    return Finding(claim, True if paths else False if graph.complete else None, tuple(paths))


def _eventually(graph: Graph[S], claim: Property[S], most: int) -> Finding[S]:
    """A run that avoids the claim ends, or goes round for ever, among states where it never held."""
    holds = claim.holds
    avoiding = _Avoiding(graph, {i for i, state in enumerate(graph.states) if not holds(state)})
    found = [avoiding.path(i) for i in graph.ends() if i in avoiding.parents]
    for component in components(avoiding):
        inside = set(component)
        leaves = any(
            action.fair and target not in inside for state in component for action, target in graph.edges(state)
        )
        if not leaves:
            found.append(_lasso(avoiding, inside, None))
    found.sort(key=len)
    return Finding(claim, False if found else True if graph.complete else None, tuple(found[:most]))


class _Avoiding(Graph[S]):
    """The part of a graph that can be reached without a state outside `inside`; positions stay the same."""

    __slots__ = ()

    def __init__(self, graph: Graph[S], inside: set[int]) -> None:
        super().__init__(graph.model)
        self.states, self.index, self.stopped = graph.states, graph.index, graph.stopped
        reached: dict[int, int] = {}
        for action, i in graph.initial:
            if i in inside and i not in reached:
                reached[i] = -1 - len(self.initial)
            self.initial.append((action, i))
        edges: dict[int, list[tuple[Action, int]]] = {}
        came: dict[int, tuple[int, int]] = {}
        order = list(reached)
        for i in order:
            kept = [edge for edge in graph.edges(i) if edge[1] in inside] if i < graph.expanded else []
            edges[i] = kept
            for place, (_, target) in enumerate(kept):
                if target not in reached:
                    reached[target] = 0
                    came[target] = (i, place)
                    order.append(target)
        for i in range(graph.expanded):
            for action, target in edges.get(i, ()):
                self.targets.append(target)
                self.actions.append(action)
            self.first.append(len(self.targets))
        for i, (source, place) in came.items():
            reached[i] = self.first[source] + place
        self.parents = reached  # type: ignore[assignment]  # sparse: only what can be reached has one
