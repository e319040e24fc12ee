"""What was discovered: states, edges, and the shortest way to each state.

How it was discovered is in `discovery`; what follows from it is in `properties`, `loops`, `costs` and `chances`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from .model import Action, Model, Property, S


@dataclass(frozen=True, slots=True)
class Path(Generic[S]):
    """One run, or the beginning of one: a state, an action, the next state, and so on."""

    states: tuple[S, ...]
    actions: tuple[Action, ...]
    """The choice of the first state, then one action for each later state, and for a loop the one that closes it."""
    loop: int | None = None
    """Where the last action leads back to, as a position in `states`; None where the path just ends."""

    def __len__(self) -> int:
        return len(self.states) - 1

    @property
    def cost(self) -> int:
        """What the actions of the path cost in all, a loop taken once."""
        return sum(action.cost for action in self.actions)

    def holding(self, properties: Sequence[Property[S]]) -> tuple[Mapping[str, bool], ...]:
        """For each state, which property holds in it."""
        return tuple({claim.name: claim.holds(state) for claim in properties} for state in self.states)


class Graph(Generic[S]):
    """States and edges in the order in which breadth-first search came to them.

    Edges of state `i` are `first[i]` to `first[i + 1]` in `targets` and `actions`.
    """

    __slots__ = ("_order", "actions", "first", "index", "initial", "model", "parents", "states", "stopped", "targets")

    def __init__(self, model: Model[S]) -> None:
        self.model = model
        self.states: list[S] = []
        self.index: dict[S, int] = {}
        self.initial: list[tuple[Action, int]] = []
        self.first = array("L", [0])
        self.targets = array("L")
        self.actions: list[Action] = []
        self.parents = array("l")
        """For each state the edge by which it was found first; -1 - k for the k-th initial state."""
        self._order: tuple[list[int], list[int]] | None = None
        self.stopped = ""
        """Why the search ended early: `limit` or `interrupted`; empty when it saw everything."""

    def __len__(self) -> int:
        return len(self.states)

    @property
    def complete(self) -> bool:
        """Whether every reachable state is here."""
        return not self.stopped

    @property
    def expanded(self) -> int:
        """How many states have their edges here; the others are the frontier of a search that stopped."""
        return len(self.first) - 1

    def edges(self, state: int) -> Iterator[tuple[Action, int]]:
        """The actions of a state, and the positions of the states they lead to."""
        for edge in range(self.first[state], self.first[state + 1]):
            yield self.actions[edge], self.targets[edge]

    def ends(self) -> list[int]:
        """The states in which nothing can happen any more."""
        first = self.first
        return [i for i in range(self.expanded) if first[i] == first[i + 1]]

    def path(self, state: int) -> Path[S]:
        """The shortest path to a state."""
        states, actions = [self.states[state]], []
        edge = self.parents[state]
        while edge >= 0:
            actions.append(self.actions[edge])
            state = self._source(edge)
            states.append(self.states[state])
            edge = self.parents[state]
        actions.append(self.initial[-1 - edge][0])
        return Path(tuple(reversed(states)), tuple(reversed(actions)))

    def _source(self, edge: int) -> int:
        low, high = 0, len(self.first) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.first[middle] <= edge:
                low = middle
            else:
                high = middle
        return low

    def within(self, holds: Callable[[S], bool]) -> list[bool]:
        """For each state, whether some run comes to it through states that hold, itself one of them."""
        states, first, targets = self.states, self.first, self.targets
        inside = [False] * len(states)
        todo = [i for _, i in self.initial if holds(states[i])]
        for i in todo:
            inside[i] = True
        for i in todo:
            if i >= self.expanded:
                continue
            for target in targets[first[i] : first[i + 1]]:
                if not inside[target] and holds(states[target]):
                    inside[target] = True
                    todo.append(target)
        return inside

    def order(
        self, inside: Sequence[bool] | None = None, *, cut: Sequence[bool] | None = None
    ) -> tuple[list[int], list[int]]:
        """A topological order of the states that no cycle leads to, and the rest of the states.

        With `inside`, only its states and the edges between them count. Where `cut` is true, a run ends.
        """
        first, targets, last = self.first, self.targets, self.expanded
        waiting = [0] * len(self.states)
        if inside is None and cut is None and self._order is not None:
            return self._order
        if cut is not None:
            if inside is None:
                inside = [True] * len(self.states)
            return self._order_cut(inside, cut)
        if inside is None:
            members = range(len(self.states))
            for target in targets:
                waiting[target] += 1
        else:
            members = [i for i, here in enumerate(inside) if here]  # type: ignore[assignment]
            for i in members:
                if i < last:
                    for target in targets[first[i] : first[i + 1]]:
                        waiting[target] += 1
        order = [i for i in members if not waiting[i]]
        for i in order:
            if i >= last:
                continue
            for target in targets[first[i] : first[i + 1]]:
                waiting[target] -= 1
                if not waiting[target] and (inside is None or inside[target]):
                    order.append(target)
        found = (order, [] if len(order) == len(members) else [i for i in members if waiting[i]])
        if inside is None:
            self._order = found
        return found

    def _order_cut(self, inside: Sequence[bool], cut: Sequence[bool]) -> tuple[list[int], list[int]]:
        """As `order`, among the states that a run comes to before it ends."""
        reached: dict[int, int] = {}
        todo = [i for i in dict.fromkeys(i for _, i in self.initial) if inside[i]]
        reached = dict.fromkeys(todo, 0)
        successors: dict[int, list[int]] = {}
        for i in todo:
            ends = cut[i] or i >= self.expanded
            successors[i] = [] if ends else [target for _, target in self.edges(i) if inside[target]]
            for target in successors[i]:
                if target not in reached:
                    reached[target] = 0
                    todo.append(target)
                reached[target] += 1
        order = [i for i in todo if not reached[i]]
        for i in order:
            for target in successors[i]:
                reached[target] -= 1
                if not reached[target]:
                    order.append(target)
        return order, [] if len(order) == len(todo) else [i for i in todo if reached[i]]
