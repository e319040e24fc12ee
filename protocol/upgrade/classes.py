"""Classes of members that a rule cannot tell apart, and what one generation makes of each class.

Rules read the set of classes that are present, and the leader's class, and nothing else; how many members are in a
class, and which, is in `counted` and `named`.
"""

from __future__ import annotations

from typing import NamedTuple

from ..strategies import leader_rule, member_rule
from ..versions import EARLIEST_PROBEABLE, UNKNOWN
from .jars import Jar, Modes
from .spoken import spoken

ALIVE, DEAD, DOWN, STOPPED, GONE = "alive", "dead", "down", "stopped", "gone"
"""It runs; it died of what it was told; it crashed for reasons of its own; the operator stopped it; nobody."""


class MemberClass(NamedTuple):
    """What is the same for all members of a class."""

    jar: int
    """Which jar it runs, or ran, or for a stopped member: will run."""
    used: int
    """The version that it sends; 0 while it does not run."""
    status: str


class Generation(NamedTuple):
    """What one rebalance makes of each class that was alive."""

    becomes: tuple[tuple[int, int], ...]
    """(class before, class after), where they differ."""
    rejoins: frozenset[int]
    """The classes, before, whose members ask to rejoin."""
    again: bool
    """Whether another rebalance follows, because somebody rejoined or died of the assignment."""
    answered: bool
    """Whether there was an assignment at all; a leader that refuses takes only itself down."""
    twice: bool
    """Whether a task was given to two threads."""


class Classes:
    """The classes of one upgrade, each known by a small number."""

    def __init__(self, jars: tuple[Jar, ...], modes: Modes) -> None:
        self.jars, self.modes = jars, modes
        self.all: list[MemberClass] = []
        for number, versions in enumerate(spoken(jars)):
            self.all += [MemberClass(number, used, ALIVE) for used in versions]
        kinds = [DEAD, *([DOWN] if modes.crashes else []), *([STOPPED] if modes.restart == "after" else [])]
        for status in kinds:
            self.all += [MemberClass(number, 0, status) for number in range(len(jars))]
        if modes.succession == "broker":
            self.all.append(MemberClass(len(jars) - 1, 0, GONE))
        self.number = {one: i for i, one in enumerate(self.all)}
        self.fresh = [self.number[MemberClass(i, one.latest, ALIVE)] for i, one in enumerate(jars)]
        self.dead, self.down, self.stopped = (
            [i for i, one in enumerate(self.all) if one.status == status] for status in (DEAD, DOWN, STOPPED)
        )
        self.gone = len(self.all) - 1 if modes.succession == "broker" else -1
        """Nobody: the rank of an id that was removed."""
        self.jar = [one.jar for one in self.all]
        self.alive = [one.status == ALIVE for one in self.all]
        self.living = frozenset(i for i, alive in enumerate(self.alive) if alive)
        self.killed = frozenset(self.dead)
        self.poisoned = frozenset(i for i in self.living if not 1 <= self.all[i].used <= jars[self.jar[i]].latest)
        self.leaves = [one.status == ALIVE and self._gives_up(jars[one.jar]) for one in self.all]
        self.kills = False
        """Whether a generation was asked for in which somebody dies, or is told what will kill it."""
        self._known: dict[tuple[frozenset[int], int], Generation] = {}

    @property
    def rests(self) -> bool:
        """Whether the first jar alone is at rest: a reader's own rule may change a group in which all are alike."""
        start = self.fresh[0]
        first = self.generation(frozenset((start,)), start)
        return first.answered and not first.becomes and not first.again

    def _gives_up(self, jar: Jar) -> bool:
        relead = self.modes.relead
        return relead in ("others", "anyone") or (relead == "by jar" and jar.leaves)

    def text(self, number: int) -> str:
        """A class in words: `2.1.0 v4`, `2.0.0 dead`."""
        one = self.all[number]
        return f"{self.jars[one.jar].name} {f'v{one.used}' if one.status == ALIVE else one.status}"

    def generation(self, present: frozenset[int], leader: int) -> Generation:
        """One rebalance of the classes that are alive, none of them poisoned, led by one of them."""
        key = (present, leader)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._work_out(sorted(present), leader)
            if not known.answered or any(not self.alive[after] or after in self.poisoned for _, after in known.becomes):
                self.kills = True
        return known

    def _work_out(self, present: list[int], leader: int) -> Generation:
        jars, every, dead = self.jars, self.all, self.dead
        boss = jars[every[leader].jar]
        said = [(every[i].used, jars[every[i].jar].latest) for i in present]
        # v1 and v2 bytes do not carry what their sender supports
        said = [(used, latest if used >= EARLIEST_PROBEABLE else UNKNOWN) for used, latest in said]
        verdict = leader_rule(boss.leader_rule).answer(said, latest=boss.latest)
        if verdict.refusal is not None:
            if boss.error_assignment and verdict.refusal.key == "too old to probe":
                return Generation(tuple((i, dead[every[i].jar]) for i in present), frozenset(), False, True, False)
            return Generation((), frozenset(), True, False, False)
        becomes: list[tuple[int, int]] = []
        rejoins: list[int] = []
        died = False
        for i, (received, common) in zip(present, verdict.replies, strict=True):
            number, used, _ = every[i]
            mine = jars[number]
            reaction = member_rule(mine.member_rule).react(
                latest=mine.latest, used=used, received=received, common=common
            )
            if reaction.refusal is not None:
                becomes.append((i, dead[number]))
                died = True
                continue
            if reaction.rejoin:
                rejoins.append(i)
            after = self.number[MemberClass(number, reaction.used, ALIVE)]
            if after != i:
                becomes.append((i, after))
        readable = any(every[i].used <= boss.latest for i in present)
        twice = boss.shares and verdict.probing and self.modes.threads > 1 and readable
        return Generation(tuple(becomes), frozenset(rejoins), bool(rejoins) or died, True, twice)
