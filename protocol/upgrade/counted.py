"""The model in which members of one class are counted: exactly, as present or not, or as none, one and more.

Its counts of runs are exact too, since each action tells for how many members it stands. By name: `named`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import comb
from typing import NamedTuple

from ..errors import ImpossibleScenarioError
from ..explorer import Action
from .classes import ALIVE, DOWN, Classes
from .jars import Upgrade
from .named import BACK, CRASH, PENDING, TWICE

State = tuple[int, ...]
"""The leader's class, or -1; the bits; then how many members each class has, the leader among them."""

Move = tuple[Action, State]
MORE = 2
"""In a model of every size at once: two or more."""


class _Turn(NamedTuple):
    """What a rebalance does to the counts."""

    sources: tuple[tuple[int, int], ...]
    """(place of the class before, place of the class after), for those that change."""
    becomes: dict[int, int]
    rejoins: frozenset[int]
    again: bool
    refused: bool
    twice: bool


class _How(NamedTuple):
    """The way in which one rebalance goes."""

    ways: int = 1
    share: Fraction = Fraction(1)
    first: int | None = None
    """The class of a leader that was elected because the one before could not encode its subscription."""
    missing: tuple[tuple[int, int], ...] = ()
    """(class, how many of it) of those who miss their answers."""
    fair: bool = False


_PLAIN = _How()
_REBALANCE = Action("rebalance", by="group", cost=1)


class Counted:
    """How many members are in each class; with `presence`, only whether a class that is done has any.

    With `members=None` the counts are 0, 1, and 2 or more, so that one graph holds for every number of members.
    """

    def __init__(self, upgrade: Upgrade, *, presence: bool = False) -> None:
        modes = upgrade.modes
        if modes.by_identity:
            raise ImpossibleScenarioError("succession", "it tells members of one class apart", "members by name")
        self.upgrade, self.modes, self.n = upgrade, modes, upgrade.members
        self.classes = Classes(upgrade.jars, modes)
        self.last = len(upgrade.jars) - 1
        self.every_size = self.n is None
        size = len(self.classes.all)
        self._caps: list[int | None] = [MORE if self.every_size else None] * size
        # a class is lumped only if no member of it is ever picked out again
        picked = modes.rollback or modes.crashes or modes.supervisor or modes.lossy
        picked = picked or modes.relead not in ("never", "anyone")
        self.lumped = presence and not picked and not self.every_size
        if self.lumped:
            for i in self.classes.living:
                if self.classes.jar[i] == self.last:
                    self._caps[i] = 1
        self._turns: dict[tuple[frozenset[int], int], _Turn] = {}
        self._sets: dict[tuple[bool, ...], frozenset[int]] = {}
        self._actions: dict[tuple[object, ...], Action] = {}
        self._upgraded = self.classes.fresh[-1]
        self._places = [2 + i for i in range(size)]
        self._alive = [i for i in range(size) if self.classes.alive[i]]
        self._not_running = [i for i in range(size) if not self.classes.alive[i]]
        self._dead = [2 + i for i in self.classes.dead]
        self._targets = (self._goals(back=False), self._goals(back=True))

    def _goals(self, *, back: bool) -> list[tuple[int, range]]:
        """(class, the jars to which its members may be bounced), for classes that have any."""
        goals = []
        for i, (jar, _, status) in enumerate(self.classes.all):
            if back:
                targets = range(1 if jar or status != ALIVE else 0)
            else:
                targets = range(jar if status == DOWN and not self.modes.supervisor else jar + 1, self.last + 1)
            if targets:
                goals.append((i, targets))
        return goals

    # ---------------------------------------------------------------- the model

    def initial(self) -> Iterator[Move]:
        """All on the first jar; who leads is one of them. Unless they are at rest, they have yet to rebalance."""
        counts = [0] * len(self.classes.all)
        control = 0 if self.classes.rests else PENDING
        counts[self.classes.fresh[0]] = MORE if self.n is None else self.n
        yield self._action("start", ways=self.n or 1), (self.classes.fresh[0], control, *counts)

    def moves(self, state: State) -> list[Move]:
        """Rebalances while one is due; bounces when the operator may; and what the modes add."""
        modes = self.modes
        control = state[1]
        out: list[Move] = []
        if control & PENDING:
            self._rebalance(state, out)
        if not control & PENDING or modes.interleaved:
            if modes.supervisor:
                self._supervise(state, out)
            self._operate(state, out)
        if modes.crashes and control // CRASH < modes.crashes:
            self._crash(state, out)
        return out

    def describe(self, state: State) -> Mapping[str, object]:
        """How many run what, speak what, and of which class the leader is."""
        told: dict[str, object] = {
            "members": {
                self.classes.text(i): self._count_text(state[2 + i], i)
                for i in range(len(self.classes.all))
                if state[2 + i]
            },
            "leader": self.classes.text(state[0]) if state[0] >= 0 else "nobody",
            "rebalance due": bool(state[1] & PENDING),
        }
        if self.modes.rollback:
            told["direction"] = "back" if state[1] & BACK else "forward"
        return told

    def _count_text(self, count: int, number: int) -> object:
        cap = self._caps[number]
        return count if cap is None or count < cap else "some" if cap == 1 else f"{cap} or more"

    # ---------------------------------------------------------------- what properties read

    def dead(self, state: State) -> int:
        """How many members are dead of what they were told."""
        return sum([state[i] for i in self._dead])

    def twice(self, state: State) -> bool:
        """Whether the last generation gave a task to two threads."""
        return bool(state[1] & TWICE)

    def poisoned(self, state: State) -> bool:
        """Whether a member will die at its next subscription."""
        return any(state[2 + i] for i in self.classes.poisoned)

    def upgraded(self, state: State) -> bool:
        """Whether all run the last jar and speak its version, in a quiet group."""
        if state[1] & PENDING:
            return False
        goal = 2 + (self.classes.fresh[0] if self.modes.rollback and state[1] & BACK else self._upgraded)
        return all(not count or place == goal for place, count in enumerate(state[2:], 2))

    # ---------------------------------------------------------------- counts

    def _add(self, counts: list[int], number: int, more: int) -> None:
        total = counts[2 + number] + more
        cap = self._caps[number]
        counts[2 + number] = total if cap is None or total < cap else cap

    def _without_one(self, state: State, number: int) -> list[list[int]]:
        """The counts without one member of a class: more than one list where the count says only "or more"."""
        count, cap = state[2 + number], self._caps[number]
        left = [count - 1] if cap is None or count < cap else [count - 1, count]
        out = []
        for value in left:
            counts = list(state)
            counts[2 + number] = value
            out.append(counts)
        return out

    def _alive_ways(self, counts: list[int]) -> list[tuple[int, int]]:
        """(class, members) of all who are alive."""
        return [(i, counts[2 + i]) for i in self._alive if counts[2 + i]]

    # ---------------------------------------------------------------- rebalances

    def _present(self, counts: State | list[int]) -> frozenset[int]:
        return frozenset([i for i in self._alive if counts[2 + i]])

    def _rebalance(self, state: State, out: list[Move]) -> None:
        classes = self.classes
        present = self._present(state)
        doomed = present & classes.poisoned
        if not doomed:
            self._generation(state, present, state[0], out, _PLAIN)
            return
        counts = list(state)
        for one in doomed:
            self._add(counts, classes.dead[classes.jar[one]], counts[2 + one])
            counts[2 + one] = 0
        survivors = present - doomed
        if not survivors:
            counts[0], counts[1] = -1, counts[1] & ~(PENDING | TWICE)
            out.append((self._rebalanced(_PLAIN), tuple(counts)))
        elif state[0] in doomed:
            alive = self._alive_ways(counts)
            total = sum(ways for _, ways in alive)
            for leader, ways in alive:
                how = _How(ways, Fraction(ways, total), leader)
                self._generation(tuple(counts), survivors, leader, out, how)
        else:
            self._generation(tuple(counts), survivors, state[0], out, _PLAIN)

    def _turn(self, present: frozenset[int], leader: int) -> _Turn:
        key = (present, leader)
        known = self._turns.get(key)
        if known is None:
            made = self.classes.generation(present, leader)
            places = tuple((2 + before, 2 + after) for before, after in made.becomes)
            known = self._turns[key] = _Turn(
                places, dict(made.becomes), made.rejoins, made.again, not made.answered, made.twice
            )
        return known

    def _generation(self, state: State, present: frozenset[int], leader: int, out: list[Move], how: _How) -> None:
        turn = self._turn(present, leader)
        control = state[1] & ~TWICE | (TWICE if turn.twice else 0)
        if turn.refused:
            dead = self.classes.dead[self.classes.jar[leader]]
            for counts in self._without_one(state, leader):
                self._add(counts, dead, 1)
                counts[1] = control | PENDING
                self._elected(counts, out, how, None)
            return
        if self.modes.lossy and turn.rejoins and turn.sources:
            self._lossy(state, turn, leader, control, out, how)
            return
        counts = list(state)
        moved = [(after, counts[before]) for before, after in turn.sources]
        for before, _ in turn.sources:
            counts[before] = 0
        for after, number in moved:
            self._add(counts, after - 2, number)
        counts[1] = control | PENDING if turn.again else control & ~PENDING
        if self.modes.lossy:
            how = how._replace(fair=True)
        self._settle(counts, turn, leader, out, how, state)

    def _settle(self, counts: list[int], turn: _Turn, leader: int, out: list[Move], how: _How, before: State) -> None:
        """Who leads after the assignment."""
        classes = self.classes
        after = turn.becomes.get(leader, leader)
        if not classes.alive[after]:
            self._elected(counts, out, how, None)
            return
        if leader not in turn.rejoins or not classes.leaves[leader]:
            counts[0] = after
            out.append((self._rebalanced(how), tuple(counts)))
            return
        if self.modes.relead == "anyone":
            self._elected(counts, out, how, None)
            return
        # how many leave beside the leader: its class may hold just one, or one or more
        missing = dict(how.missing)
        others = 0
        for one in turn.rejoins:
            if classes.leaves[one]:
                others += before[2 + one] - missing.get(one, 0) - (one == leader)
        cap = self._caps[leader]
        maybe_alone = others == 0 or (cap is not None and before[2 + leader] >= cap and others == cap - 1)
        if others:
            self._elected(list(counts), out, how, None)
        if maybe_alone:
            self._elected(counts, out, how, after)

    def _lossy(self, state: State, turn: _Turn, leader: int, control: int, out: list[Move], how: _How) -> None:
        """Some of the followers whose class would change keep it, as long as somebody who got its answer rejoins."""
        options: list[list[tuple[int, int, int]]] = []
        for before, _ in turn.sources:
            number = before - 2
            count, mine = state[before], int(number == leader)
            cap = self._caps[number]
            followers = [count - mine] if cap is None or count < cap else sorted({count - mine, count})
            some: dict[tuple[int, int], int] = {}
            for others in followers:
                for late in range(others + 1):
                    pairs = [(late, others - late)]
                    if cap is not None and others >= cap:
                        pairs = [(late, seen) for seen in range(cap + 1) if late + seen >= cap]
                    for late_here, seen in pairs:
                        some[(late_here, seen + mine)] = comb(others, late) if cap is None else 1
            options.append([(late, seen, ways) for (late, seen), ways in some.items()])
        still = any(state[2 + one] for one in turn.rejoins if one not in turn.becomes)
        for picked in product(*options):
            if not still and not any(
                seen and before - 2 in turn.rejoins
                for (before, _), (_, seen, _) in zip(turn.sources, picked, strict=True)
            ):
                continue
            missing = tuple(
                (before - 2, late) for (before, _), (late, _, _) in zip(turn.sources, picked, strict=True) if late
            )
            counts = list(state)
            ways = 1
            for (before, _), (late, _, _) in zip(turn.sources, picked, strict=True):
                counts[before] = late
            for (_, after), (_, seen, number_of) in zip(turn.sources, picked, strict=True):
                self._add(counts, after - 2, seen)
                ways *= number_of
            counts[1] = control | PENDING
            here = how._replace(ways=how.ways * ways, share=how.share * ways, missing=missing, fair=not missing)
            self._settle(counts, turn, leader, out, here, state)

    def _elected(self, counts: list[int], out: list[Move], how: _How, excluded: int | None) -> None:
        """Anybody alive may lead; with `excluded`, anybody but one member of that class, unless it is alone."""
        alive = self._alive_ways(counts)
        if excluded is not None:
            cap = self._caps[excluded]
            rest = [(i, n - 1 if i == excluded and (cap is None or n < cap) else n) for i, n in alive]
            alive = [(i, n) for i, n in rest if n] or alive
        if not alive:
            counts[0], counts[1] = -1, counts[1] & ~PENDING
            out.append((self._rebalanced(how), tuple(counts)))
            return
        total = sum(n for _, n in alive)
        if self.modes.succession == "bounced":
            raise ImpossibleScenarioError("succession", "bounced, when a leader dies", "members by name")
        for successor, n in alive:
            counts[0] = successor
            here = how._replace(ways=how.ways * n, share=how.share * Fraction(n, total), fair=how.fair and total == 1)
            out.append((self._rebalanced(here, successor), tuple(counts)))

    # ---------------------------------------------------------------- the operator, and what befalls a member

    def _operate(self, state: State, out: list[Move]) -> None:
        classes, modes = self.classes, self.modes
        leader, control = state[0], state[1]
        back = control & BACK
        for i in classes.stopped:
            if state[2 + i]:
                self._restart("start", state, out, i, classes.jar[i])
                return
        ready = [(i, targets) for i, targets in self._targets[bool(back)] if state[2 + i]]
        leads = others = False
        if modes.order != "any":
            leads = leader >= 0 and any(i == leader for i, _ in ready)
            others = any(state[2 + i] > (i == leader) for i, _ in ready)
        for i, targets in ready:
            for target in targets:
                if not classes.alive[i]:
                    if not (modes.order == "leader first" and leads):
                        self._restart("bounce", state, out, i, target)
                    continue
                followers = state[2 + i] - (i == leader)
                cap = self._caps[i]
                if i == leader and cap is not None and state[2 + i] >= cap:
                    followers = state[2 + i]
                if followers and not (modes.order == "leader first" and leads):
                    self._taken(state, out, i, target, followers, led=False)
                if i == leader and not (modes.order == "leader last" and others):
                    self._taken(state, out, i, target, 1, led=True)
        if modes.rollback and not back and any(count and classes.jar[i] for i, count in enumerate(state[2:])):
            out.append((self._action("turn back"), (leader, control | BACK, *state[2:])))

    def _taken(self, state: State, out: list[Move], i: int, target: int, ways: int, *, led: bool) -> None:
        """One member of a class is bounced, or stopped; `led` if it is the one that leads."""
        modes, classes = self.modes, self.classes
        leader, control = state[0], state[1]
        jar = target if self.last > 1 or control & BACK else None
        for counts in self._without_one(state, i):
            if not led and i == leader and not counts[2 + i]:
                continue  # the leader is one of its class, so a follower was not the last
            if modes.restart == "after":
                self._add(counts, classes.stopped[target], 1)
                self._gone("stop", "operator", counts, out, i, jar, ways, led, control)
                continue
            counts[1] = control | PENDING
            fresh = classes.fresh[target]
            if not led:
                self._add(counts, fresh, 1)
                action = self._action("bounce", i, jar, ways=ways, fair=True)
                out.append((action, tuple(counts)))
                continue
            if modes.closing == "leaves":
                alive = self._alive_ways(counts)
                self._add(counts, fresh, 1)
            else:
                self._add(counts, fresh, 1)
                alive = self._alive_ways(counts)
            alive = alive or [(fresh, 1)]
            if modes.succession == "bounced":
                alive = [(fresh, 1)]
            total = sum(n for _, n in alive)
            for successor, n in alive:
                counts[0] = successor
                action = self._action("bounce", i, jar, ways=ways * n, of=total, then=successor, fair=True)
                out.append((action, tuple(counts)))

    def _gone(
        self,
        name: str,
        by: str,
        counts: list[int],
        out: list[Move],
        i: int,
        jar: int | None,
        ways: int,
        led: bool,
        control: int,
    ) -> None:
        alive = self._alive_ways(counts)
        fair = by == "operator"
        if not alive:
            counts[0], counts[1] = -1, control & ~PENDING
            out.append((self._action(name, i, jar, by=by, ways=ways, fair=fair), tuple(counts)))
            return
        counts[1] = control | PENDING
        if not led:
            out.append((self._action(name, i, jar, by=by, ways=ways, fair=fair), tuple(counts)))
            return
        total = sum(n for _, n in alive)
        for successor, n in alive:
            counts[0] = successor
            action = self._action(name, i, jar, by=by, ways=ways * n, of=total, then=successor, fair=fair)
            out.append((action, tuple(counts)))

    def _crash(self, state: State, out: list[Move]) -> None:
        """A process goes for reasons of its own."""
        leader, control = state[0], state[1] + CRASH
        for i in self._alive:
            if not state[2 + i]:
                continue
            for led in (False, True):
                count = 1 if led else state[2 + i] - (i == leader)
                cap = self._caps[i]
                if not led and i == leader and cap is not None and state[2 + i] >= cap:
                    count = state[2 + i]
                if not count or (led and i != leader):
                    continue
                for counts in self._without_one(state, i):
                    if not led and i == leader and not counts[2 + i]:
                        continue
                    self._add(counts, self.classes.down[self.classes.jar[i]], 1)
                    self._gone("crash", "chance", counts, out, i, None, count, led, control)

    def _restart(self, name: str, state: State, out: list[Move], i: int, target: int, by: str = "operator") -> None:
        """A process that does not run is started."""
        jar = target if name != "start" and (self.last > 1 or state[1] & BACK) else None
        ways = state[2 + i]
        for counts in self._without_one(state, i):
            fresh = self.classes.fresh[target]
            self._add(counts, fresh, 1)
            counts[0] = state[0] if state[0] >= 0 else fresh
            counts[1] = state[1] | PENDING
            out.append((self._action(name, i, jar, by=by, ways=ways, fair=True), tuple(counts)))

    def _supervise(self, state: State, out: list[Move]) -> None:
        for i in self._not_running:
            if state[2 + i] and self.classes.all[i].status in ("dead", DOWN):
                self._restart("restart", state, out, i, self.classes.jar[i], "supervisor")

    # ---------------------------------------------------------------- actions, each made once

    def _rebalanced(self, how: _How, then: int | None = None) -> Action:
        if how is _PLAIN and then is None:
            return _REBALANCE
        key = (how, then)
        known = self._actions.get(key)
        if known is None:
            text = self.classes.text
            told: list[tuple[str, object]] = []
            told += [("led by", text(how.first))] if how.first is not None else []
            told += [("missed by", tuple(f"{n} of {text(i)}" for i, n in how.missing))] if how.missing else []
            told += [("then leads", text(then))] if then is not None else []
            known = Action("rebalance", tuple(told), "group", 1, how.ways, how.share, how.fair)
            self._actions[key] = known
        return known

    def _action(
        self,
        name: str,
        member: int | None = None,
        jar: int | None = None,
        *,
        by: str = "operator",
        ways: int = 1,
        of: int = 1,
        then: int | None = None,
        fair: bool = False,
    ) -> Action:
        """`ways` of its choices are this one; where each of them has `of` continuations, only one of those is."""
        key = (name, member, jar, ways, of, then)
        known = self._actions.get(key)
        if known is None:
            text = self.classes.text
            told: list[tuple[str, object]] = []
            told += [("member", text(member))] if member is not None else []
            told += [("to", self.upgrade.jars[jar].name)] if jar is not None else []
            told += [("then leads", text(then))] if then is not None else []
            weight = ways if of == 1 else Fraction(ways, of)
            known = self._actions[key] = Action(name, tuple(told), by, 0, ways, weight, fair)
        return known
