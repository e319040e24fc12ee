"""The model in which every member has a name, or a place in an order, and nothing is lumped together.

The models in which members of one class are only counted are in `counted`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from ..errors import ImpossibleScenarioError
from ..explorer import Action
from ..scenario import member_names
from .classes import DOWN, STOPPED, Classes
from .jars import Upgrade

PENDING, BACK, TWICE, CRASH = 1, 2, 4, 8
"""Bits of the last byte: a rebalance is due, the operator turned round, a task had two owners, crashes so far."""

MOST_NAMED = 120

NOBODY = 255
_FIRST = 128

State = bytes
"""One byte a member, its class; then who leads, counted from 128; then the bits."""

Move = tuple[Action, State]
Choice = tuple[Fraction, int]
"""A share of the chances, and who leads."""


class _Turn(NamedTuple):
    """What a rebalance does to the classes, ready for `bytes.translate`."""

    table: bytes
    changed: frozenset[int]
    rejoins: frozenset[int]
    again: bool
    refused: bool
    twice: bool


class Named:
    """Members keep their places; what can happen to one can happen to each."""

    def __init__(self, upgrade: Upgrade) -> None:
        if upgrade.members is None or upgrade.members > MOST_NAMED:
            raise ImpossibleScenarioError("members", f"{upgrade.members} members by name", f"1 to {MOST_NAMED}")
        self.upgrade, self.modes = upgrade, upgrade.modes
        self.n = upgrade.members
        self.names = member_names(self.n)
        self.classes = Classes(upgrade.jars, upgrade.modes)
        self.last = len(upgrade.jars) - 1
        self._living = bytes(self.classes.living)
        self._turns: dict[tuple[frozenset[int], int], _Turn] = {}
        self._actions: dict[tuple[object, ...], Action] = {}
        self._upgraded = self.classes.fresh[-1]
        self._order = self._places_of(self.modes.order)

    def _places_of(self, order: str | tuple[str, ...]) -> tuple[int, ...] | None:
        if isinstance(order, str):
            return None
        if sorted(order) != sorted(self.names):
            raise ImpossibleScenarioError("order", ", ".join(order), ", ".join(self.names) + ", each once")
        return tuple(self.names.index(name) for name in order)

    # ---------------------------------------------------------------- the model

    def initial(self) -> Iterator[Move]:
        """All on the first jar, and anybody leads; unless they are at rest, they have yet to rebalance."""
        members = bytes([self.classes.fresh[0]] * self.n)
        control = 0 if self.classes.rests else PENDING
        for leader in range(self.n):
            yield self._action("start", leader=leader), members + bytes((_FIRST + leader, control))

    def moves(self, state: State) -> list[Move]:
        """Rebalances while one is due; bounces when the operator may; and what the modes add."""
        modes = self.modes
        members, leader, control = state[:-2], state[-2] - _FIRST, state[-1]
        out: list[Move] = []
        if control & PENDING:
            self._rebalance(members, leader, control, out)
        if not control & PENDING or modes.interleaved:
            if modes.supervisor:
                self._supervise(members, leader, control, out)
            self._operate(members, leader, control, out)
        if modes.crashes and control // CRASH < modes.crashes:
            self._crash(members, leader, control, out)
        return out

    def describe(self, state: State) -> Mapping[str, object]:
        """Who runs what, speaks what, and leads."""
        leader, control = state[-2], state[-1]
        told: dict[str, object] = {
            "members": {self._who(i): self.classes.text(one) for i, one in enumerate(state[:-2])},
            "leader": self._who(leader - _FIRST) if leader != NOBODY else "nobody",
            "rebalance due": bool(control & PENDING),
        }
        if self.modes.rollback:
            told["direction"] = "back" if control & BACK else "forward"
        return told

    # ---------------------------------------------------------------- what properties read

    def dead(self, state: State) -> int:
        """How many members are dead of what they were told."""
        members = state[:-2]
        return sum([members.count(i) for i in self.classes.dead])

    def twice(self, state: State) -> bool:
        """Whether the last generation gave a task to two threads."""
        return bool(state[-1] & TWICE)

    def poisoned(self, state: State) -> bool:
        """Whether a member will die at its next subscription."""
        return not self.classes.poisoned.isdisjoint(state[:-2])

    def upgraded(self, state: State) -> bool:
        """Whether all run the last jar and speak its version, in a quiet group."""
        goal = self.classes.fresh[0] if self.modes.rollback and state[-1] & BACK else self._upgraded
        return not state[-1] & PENDING and state.count(goal, 0, -2) == self.n

    # ---------------------------------------------------------------- rebalances

    def _rebalance(self, members: bytes, leader: int, control: int, out: list[Move]) -> None:
        classes = self.classes
        doomed = classes.poisoned.intersection(members)
        if not doomed:
            self._generation(members, leader, control, out, None)
            return
        # those who cannot encode their subscription never join this generation
        grave = bytearray(range(256))
        for one in doomed:
            grave[one] = classes.dead[classes.jar[one]]
        lost = leader < len(members) and members[leader] in doomed
        members = members.translate(bytes(grave))
        survivors = [i for i, one in enumerate(members) if classes.alive[one]]
        if not survivors:
            out.append((self._action("rebalance", cost=1), members + bytes((NOBODY, control & ~(PENDING | TWICE)))))
        elif lost:
            for share, successor in self._elect(survivors, leader):
                self._generation(members, successor, control, out, (share, successor))
        else:
            self._generation(members, leader, control, out, None)

    def _turn(self, members: bytes, leader: int) -> _Turn:
        present = self.classes.living.intersection(members)
        key = (present, members[leader])
        known = self._turns.get(key)
        if known is None:
            generation = self.classes.generation(present, members[leader])
            table = bytearray(range(256))
            for before, after in generation.becomes:
                table[before] = after
            known = self._turns[key] = _Turn(
                bytes(table),
                frozenset(before for before, _ in generation.becomes),
                generation.rejoins,
                generation.again,
                not generation.answered,
                generation.twice,
            )
        return known

    def _generation(self, members: bytes, leader: int, control: int, out: list[Move], elected: Choice | None) -> None:
        turn = self._turn(members, leader)
        control &= ~TWICE
        if turn.twice:
            control |= TWICE
        share = elected[0] if elected else Fraction(1)
        first = elected[1] if elected else None
        if turn.refused:
            dead = self.classes.dead[self.classes.jar[members[leader]]]
            after = members[:leader] + bytes((dead,)) + members[leader + 1 :]
            self._elected(after, leader, control | PENDING, out, share, first, None, ())
            return
        if not self.modes.lossy or not turn.rejoins:
            self._answered(members, leader, control, out, turn, share, first, ())
            return
        late = [i for i, one in enumerate(members) if i != leader and one in turn.changed]
        rejoiners = {i for i, one in enumerate(members) if one in turn.rejoins}
        for count in range(len(late) + 1):
            for missing in combinations(late, count):
                if not rejoiners.issubset(missing):
                    self._answered(members, leader, control, out, turn, share, first, missing)

    def _answered(
        self,
        members: bytes,
        leader: int,
        control: int,
        out: list[Move],
        turn: _Turn,
        share: Fraction,
        first: int | None,
        missing: tuple[int, ...],
    ) -> None:
        fair = self.modes.lossy and not missing
        after = members.translate(turn.table)
        if missing:
            kept = bytearray(after)
            for i in missing:
                kept[i] = members[i]
            after = bytes(kept)
        control = control | PENDING if turn.again else control & ~PENDING
        alive = self.classes.alive
        if alive[after[leader]]:
            gives_up = members[leader] in turn.rejoins and self.classes.leaves[members[leader]]
            if not gives_up and not self._moves_leavers:
                action = self._action("rebalance", cost=1, share=share, first=first, missing=missing, fair=fair)
                out.append((action, after + bytes((_FIRST + leader, control))))
                return
            leavers = [
                i
                for i in range(len(members))
                if members[i] in turn.rejoins
                and i not in missing
                and self.classes.leaves[members[i]]
                and alive[after[i]]
            ]
            self._gives_up(after, leader, leavers, control, out, share, first, missing, gives_up)
            return
        self._elected(after, leader, control, out, share, first, None, missing)

    _moves_leavers = False
    """Whether a member that leaves and comes back changes its place."""

    def _gives_up(
        self,
        members: bytes,
        leader: int,
        leavers: list[int],
        control: int,
        out: list[Move],
        share: Fraction,
        first: int | None,
        missing: tuple[int, ...],
        gives_up: bool,
    ) -> None:
        candidates = None
        if self.modes.relead != "anyone" and leavers == [leader]:
            candidates = [i for i, one in enumerate(members) if i != leader and self.classes.alive[one]] or [leader]
        self._elected(members, leader, control, out, share, first, candidates, missing)

    def _elected(
        self,
        members: bytes,
        leader: int,
        control: int,
        out: list[Move],
        share: Fraction,
        first: int | None,
        candidates: list[int] | None,
        missing: tuple[int, ...],
    ) -> None:
        if candidates is None:
            candidates = [i for i, one in enumerate(members) if self.classes.alive[one]]
        fair = self.modes.lossy and not missing and len(candidates) == 1
        if not candidates:
            action = self._action("rebalance", cost=1, share=share, first=first, missing=missing, fair=fair)
            out.append((action, members + bytes((NOBODY, control & ~PENDING))))
            return
        for part, successor in self._elect(candidates, leader):
            action = self._action(
                "rebalance", cost=1, share=share * part, first=first, then=successor, missing=missing, fair=fair
            )
            out.append((action, members + bytes((_FIRST + successor, control))))

    def _elect(self, candidates: list[int], leader: int) -> list[Choice]:
        """Who may lead next, each with its share of the chances."""
        succession = self.modes.succession
        if succession == "any":
            share = Fraction(1, len(candidates))
            return [(share, i) for i in candidates]
        if succession == "next":
            return [(Fraction(1), next((i for i in candidates if i > leader), candidates[0]))]
        if succession == "bounced":
            return [(Fraction(1), leader if leader in candidates else candidates[0])]
        return [(Fraction(1), candidates[-1] if succession == "newest" else candidates[0])]

    # ---------------------------------------------------------------- the operator, and what befalls a member

    def _operate(self, members: bytes, leader: int, control: int, out: list[Move]) -> None:
        classes, modes = self.classes, self.modes
        back = control & BACK
        for i in range(len(members)):
            if classes.all[members[i]].status == STOPPED:
                self._restart("start", members, leader, control, out, i, classes.jar[members[i]])
                return
        ready: list[tuple[int, Iterable[int]]] = []
        for i in range(len(members)):
            one = classes.all[members[i]]
            targets: Iterable[int]
            if back:
                targets = (0,) if one.jar or one.status != "alive" else ()
            else:
                targets = range(one.jar if one.status == DOWN and not modes.supervisor else one.jar + 1, self.last + 1)
            if targets:
                ready.append((i, targets))
        if modes.order == "leader first" and any(i == leader for i, _ in ready):
            ready = [one for one in ready if one[0] == leader]
        elif modes.order == "leader last" and any(i != leader for i, _ in ready):
            ready = [one for one in ready if one[0] != leader]
        elif self._order is not None and ready:
            ready = [min(ready, key=lambda one: self._order.index(one[0]) if self._order else 0)]
        for i, targets in ready:
            alive = classes.alive[members[i]]
            for target in targets:
                if alive and modes.restart == "after":
                    self._stop(members, leader, control, out, i, target)
                elif alive:
                    self._bounce(members, leader, control, out, i, target)
                else:
                    self._restart("bounce", members, leader, control, out, i, target)
        if modes.rollback and not back and any(classes.jar[one] for one in members):
            out.append((self._action("turn back", by="operator"), members + bytes((_FIRST + leader, control | BACK))))

    def _bounce(self, members: bytes, leader: int, control: int, out: list[Move], i: int, target: int) -> None:
        """Stop and start within one rebalance."""
        control |= PENDING
        fresh = bytes((self.classes.fresh[target],))
        after = members[:i] + fresh + members[i + 1 :]
        jar = target if self.last > 1 or control & BACK else None
        if i != leader:
            action = self._action("bounce", i, jar, by="operator", fair=True)
            out.append((action, after + bytes((_FIRST + leader, control))))
            return
        alive = self.classes.alive
        candidates = [k for k, one in enumerate(after) if alive[one]]
        if self.modes.closing == "leaves" and len(candidates) > 1:
            candidates.remove(i)
        for share, successor in self._elect(candidates, leader):
            action = self._action("bounce", i, jar, by="operator", share=share, then=successor, fair=True)
            out.append((action, after + bytes((_FIRST + successor, control))))

    def _stop(self, members: bytes, leader: int, control: int, out: list[Move], i: int, target: int) -> None:
        """The group goes on without the member, and rebalances for that."""
        after = members[:i] + bytes((self.classes.stopped[target],)) + members[i + 1 :]
        jar = target if self.last > 1 or control & BACK else None
        self._gone("stop", "operator", after, leader, control, out, i, jar)

    def _crash(self, members: bytes, leader: int, control: int, out: list[Move]) -> None:
        """A process goes for reasons of its own."""
        for i in range(len(members)):
            if self.classes.alive[members[i]]:
                down = self.classes.down[self.classes.jar[members[i]]]
                after = members[:i] + bytes((down,)) + members[i + 1 :]
                self._gone("crash", "chance", after, leader, control + CRASH, out, i, None)

    def _gone(
        self, name: str, by: str, after: bytes, leader: int, control: int, out: list[Move], i: int, jar: int | None
    ) -> None:
        alive = self.classes.alive
        candidates = [k for k, one in enumerate(after) if alive[one]]
        fair = by == "operator"
        if not candidates:
            out.append((self._action(name, i, jar, by=by, fair=fair), after + bytes((NOBODY, control & ~PENDING))))
        elif i != leader:
            action = self._action(name, i, jar, by=by, fair=fair)
            out.append((action, after + bytes((_FIRST + leader, control | PENDING))))
        else:
            for share, successor in self._elect(candidates, leader):
                action = self._action(name, i, jar, by=by, share=share, then=successor, fair=fair)
                out.append((action, after + bytes((_FIRST + successor, control | PENDING))))

    def _restart(
        self,
        name: str,
        members: bytes,
        leader: int,
        control: int,
        out: list[Move],
        i: int,
        target: int,
        by: str = "operator",
    ) -> None:
        """A process that does not run is started."""
        after = members[:i] + bytes((self.classes.fresh[target],)) + members[i + 1 :]
        jar = target if name != "start" and (self.last > 1 or control & BACK) else None
        leads = leader if leader < len(members) and self.classes.alive[members[leader]] else i
        action = self._action(name, i, jar, by=by, fair=True)
        out.append((action, after + bytes((_FIRST + leads, control | PENDING))))

    def _supervise(self, members: bytes, leader: int, control: int, out: list[Move]) -> None:
        for i in range(len(members)):
            one = self.classes.all[members[i]]
            if one.status in ("dead", DOWN):
                self._restart("restart", members, leader, control, out, i, one.jar, "supervisor")

    # ---------------------------------------------------------------- actions, each made once

    def _action(
        self,
        name: str,
        member: int | None = None,
        jar: int | None = None,
        *,
        by: str = "group",
        cost: int = 0,
        share: Fraction = Fraction(1),
        first: int | None = None,
        then: int | None = None,
        leader: int | None = None,
        missing: tuple[int, ...] = (),
        fair: bool = False,
    ) -> Action:
        key = (name, member, jar, share.numerator, share.denominator, first, then, leader, missing, fair)
        known = self._actions.get(key)
        if known is None:
            who = self._who
            told: list[tuple[str, object]] = []
            told += [("member", who(member))] if member is not None else []
            told += [("to", self.upgrade.jars[jar].name)] if jar is not None else []
            told += [("leader", who(leader))] if leader is not None else []
            told += [("led by", who(first))] if first is not None else []
            told += [("missed by", tuple(map(who, missing)))] if missing else []
            told += [("then leads", who(then))] if then is not None else []
            known = self._actions[key] = Action(name, tuple(told), by, cost, 1, share, fair)
        return known

    def _who(self, place: int) -> str:
        return self.names[place]
