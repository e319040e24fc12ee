"""Loops: sets of states that a run can walk round in for ever, told apart by what it takes to leave them.

What else can be said of a graph is in `properties`, `costs` and `chances`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from .graph import Graph, Path
from .model import Action, S


@dataclass(frozen=True, slots=True)
class Loop(Generic[S]):
    """States from each of which each other can be reached, in a graph that may leave out some actions."""

    kind: str
    """`loop`: no action leads out. `escapable`: one does, and luck must choose it. `unfair`: a fair one does."""
    states: tuple[int, ...]
    exits: tuple[Action, ...]
    """The different actions that lead out."""
    path: Path[S]
    """The shortest path into the loop, and round it once."""


def components(
    graph: Graph[S], keep: Callable[[Action], bool] | None = None, *, cut: Sequence[bool] | None = None
) -> list[list[int]]:
    """Strongly connected components with a cycle in them (Tarjan's algorithm, without recursion).

    `keep` tells which actions count; where `cut` is true, a run ends.
    """
    first, targets, actions = graph.first, graph.targets, graph.actions
    candidates = graph.order()[1]
    if not candidates:
        return []
    inside = set(candidates)
    last = graph.expanded

    def successors(state: int) -> list[int]:
        if state >= last or (cut is not None and cut[state]):
            return []
        edges = range(first[state], first[state + 1])
        return [targets[e] for e in edges if targets[e] in inside and (keep is None or keep(actions[e]))]

    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in candidates:
        if root in number:
            continue
        work = [(root, iter(successors(root)))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            state, rest = work[-1]
            for target in rest:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(successors(target))))
                    break
                if target in on_stack:
                    low[state] = min(low[state], number[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == number[state]:
                    at = stack.index(state) if len(stack) < 32 else len(stack) - 1 - stack[::-1].index(state)
                    component = stack[at:]
                    del stack[at:]
                    on_stack.difference_update(component)
                    if len(component) > 1 or state in successors(state):
                        found.append(sorted(component))
    return found


def loops(graph: Graph[S], *, keep: Callable[[Action], bool] | None = None) -> tuple[Loop[S], ...]:
    """Every loop, those first that cannot be left, and then those that are reached soonest.

    With `keep`, only the actions that it accepts count, for walking round and for leaving.
    """
    found = []
    for component in components(graph, keep):
        inside = set(component)
        exits: dict[Action, None] = {}
        for state in component:
            for action, target in graph.edges(state):
                if target not in inside and (keep is None or keep(action)):
                    exits[action] = None
        kind = "unfair" if any(action.fair for action in exits) else "escapable" if exits else "loop"
        found.append(Loop(kind, tuple(component), tuple(exits), _lasso(graph, inside, keep)))
    rank = {"loop": 0, "escapable": 1, "unfair": 2}
    return tuple(sorted(found, key=lambda loop: (rank[loop.kind], len(loop.path), loop.states[0])))


def _lasso(graph: Graph[S], inside: set[int], keep: Callable[[Action], bool] | None) -> Path[S]:
    """The shortest path into a loop, and the shortest way round from there."""
    entry = min(inside)
    stem = graph.path(entry)
    came: dict[int, tuple[int, Action]] = {}
    queue = deque([entry])
    while queue:
        state = queue.popleft()
        for action, target in graph.edges(state):
            if target not in inside or (keep is not None and not keep(action)):
                continue
            if target == entry:
                states, actions = [], [action]
                while state != entry:
                    states.append(graph.states[state])
                    state, action = came[state]
                    actions.append(action)
                return Path(
                    (*stem.states, *reversed(states)), (*stem.actions, *reversed(actions)), loop=len(stem.states) - 1
                )
            if target not in came:
                came[target] = (state, action)
                queue.append(target)
    raise AssertionError("a component has a cycle")
