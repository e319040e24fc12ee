"""Breadth-first search over a model's states: each state once, the shortest path to each.

What is found is a `Graph`; this module does not judge it.
"""

from __future__ import annotations

from collections.abc import Callable

from .graph import Graph
from .model import Model, S

Progress = Callable[[int, int], None]
"""Called now and then with the number of states found, and of those whose edges are known."""

Stopped = ("", "limit", "interrupted")
"""Why a search ended: it saw everything, it met its limit of states, or its user pressed Ctrl-C."""

_EVERY = 8192


def discover(model: Model[S], *, limit: int | None = None, progress: Progress | None = None) -> Graph[S]:
    """Find every reachable state, or the first `limit` of them.

    What stops the search early, a limit or Ctrl-C, does not lose what was found: `Graph.stopped` tells.
    """
    graph = Graph(model)
    states, index, first, targets = graph.states, graph.index, graph.first, graph.targets
    actions, parents, moves = graph.actions, graph.parents, model.moves
    found = index.get
    most = limit if limit is not None else float("inf")
    for action, state in model.initial():
        if found(state) is None:
            index[state] = len(states)
            states.append(state)
            parents.append(-1 - len(graph.initial))
        graph.initial.append((action, index[state]))
    done = 0
    try:
        while done < len(states):
            if len(states) >= most:
                graph.stopped = "limit"
                break
            stop = min(len(states), done + _EVERY)
            for i in range(done, stop):
                for action, state in moves(states[i]):
                    target = found(state)
                    if target is None:
                        target = index[state] = len(states)
                        states.append(state)
                        parents.append(len(targets))
                    targets.append(target)
                    actions.append(action)
                first.append(len(targets))
                done = i + 1
                if len(states) >= most:
                    break
            if progress is not None:
                progress(len(states), done)
    except KeyboardInterrupt:
        graph.stopped = "interrupted"
        _trim(graph)
    return graph


def _trim(graph: Graph[S]) -> None:
    """Drop the edges of the state that was being expanded when the user stopped the search."""
    keep = graph.first[-1]
    del graph.targets[keep:]
    del graph.actions[keep:]
    parents = graph.parents
    reached = next((i for i, edge in enumerate(parents) if edge >= keep), len(parents))
    for state in graph.states[reached:]:
        del graph.index[state]
    del graph.states[reached:]
    del parents[reached:]
