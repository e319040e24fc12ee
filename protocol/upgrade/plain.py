"""The model of named members in its plain modes, walked by tables: this is what takes millions of states.

What it means, and every other mode, is in `named`; the two agree state by state.
"""

from __future__ import annotations

from fractions import Fraction

from ..explorer import Action
from .jars import Modes, Upgrade
from .named import _FIRST, PENDING, Move, Named, State

_REBALANCE = Action("rebalance", by="group", cost=1)
_UNKNOWN = (b"", -1)


class Plain(Named):
    """Two jars, any order, any leader, settled or interleaved, and nothing else."""

    def __init__(self, upgrade: Upgrade) -> None:
        super().__init__(upgrade)
        self._known: dict[tuple[frozenset[int], int], tuple[bytes, int] | None] = {}
        self._bounces: dict[tuple[int, int, int], Action] = {}
        self._to_do = [self.classes.jar[i] == 0 for i in range(len(self.classes.all))]

    @staticmethod
    def fits(upgrade: Upgrade) -> bool:
        """Whether an upgrade is plain."""
        modes = upgrade.modes
        return len(upgrade.jars) == 2 and modes == Modes(interleaved=modes.interleaved)

    def moves(self, state: State) -> list[Move]:
        """The same moves as by the general way, which decides where somebody dies who leads, or cannot encode."""
        members, leader, pending = state[:-2], state[-2] - _FIRST, state[-1]
        if leader >= len(members):
            return super().moves(state)
        out: list[Move] = []
        if pending:
            key = (frozenset(members), members[leader])
            turn = self._known.get(key, _UNKNOWN)
            if turn is _UNKNOWN:
                turn = self._known[key] = self._table(*key)
            if turn is None:
                return super().moves(state)
            table, again = turn
            out.append((_REBALANCE, members.translate(table) + bytes((_FIRST + leader, again))))
            if not self.modes.interleaved:
                return out
        bounces, to_do = self._bounces, self._to_do
        fresh = bytes((self._upgraded,))
        tail = bytes((_FIRST + leader, PENDING))
        for i, one in enumerate(members):
            if not to_do[one]:
                continue
            after = members[:i] + fresh + members[i + 1 :]
            if i != leader:
                out.append((bounces.get((i, 0, -1)) or self._bounced(i, 0, -1), after + tail))
                continue
            alive = self.classes.alive
            candidates = [k for k, another in enumerate(after) if alive[another]]
            n = len(candidates)
            for k in candidates:
                action = bounces.get((i, n, k)) or self._bounced(i, n, k)
                out.append((action, after + bytes((_FIRST + k, PENDING))))
        return out

    def _bounced(self, i: int, candidates: int, successor: int) -> Action:
        if successor < 0:
            action = self._action("bounce", i, by="operator", fair=True)
        else:
            action = self._action("bounce", i, by="operator", share=Fraction(1, candidates), then=successor, fair=True)
        self._bounces[i, candidates, successor] = action
        return action

    def _table(self, classes: frozenset[int], leader: int) -> tuple[bytes, int] | None:
        """(table, whether another rebalance follows), unless somebody dies of it who leads, or cannot encode."""
        if not classes.isdisjoint(self.classes.poisoned):
            return None
        turn = self._turn(bytes(classes), bytes(classes).index(leader))
        if turn.refused or not self.classes.alive[turn.table[leader]]:
            return None
        return turn.table, PENDING if turn.again else 0
