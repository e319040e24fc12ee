"""Who the members were, what they ran and spoke, and who led, as far as the lines allow.

One line is read in `events`; what is wrong with the members is in `diseases`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from .events import CAUSES, DEADLY, LEADER, Event
from .meaning import poisons
from .shapes import Releases, everything, latest_versions, one, told

STARTS = ("upgrade.from lowers", "starts eager", "starts cooperative", "eager is deprecated")
"""Kinds that a process prints when it starts."""

_NOBODY = (
    CAUSES
    | {"version", "broker rebalances", "broker rebalanced", "broker assigned", "broker removes", "static member back"}
    | {"static or not", "upgrade.from is set", "all threads died", "thread replaced"}
)
_LAST = {"closes", "leaves the group"}
"""What a thread still prints behind its death."""
_RELEASE_CANDIDATES = one("2.2.2-rc1") | one("2.3.1-rc1")

_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=StreamThread-)\d+")

MOST_MEMBERS = 5_000
_MOST_KINDS = 200
_MOST_JOINS = 10_000


@dataclass(slots=True)
class Life:
    """One process of a member, from its first line to its last or its death."""

    member: str
    number: int = 1
    """Which process under that name it is, as far as the lines tell, from 1."""
    possible: Releases = 0
    """The releases that it can be, by all its lines."""
    used: int | None = None
    """The version that it speaks after its last line; None where nothing says it."""
    generation: int | None = None
    dead: Event | None = None
    poisoned_by: Event | None = None
    """The answer that told it a version which its jar cannot speak, or may not be able to."""
    closed: bool = False
    """Whether it was closed in an orderly way."""
    lines: int = 0
    places: tuple[int, int] = (0, 0)
    """Its first and its last line, counted over all lines that matter."""
    first: float | None = None
    last: float | None = None
    upgrade_from: str = ""
    protocol: str = ""
    started: bool = False
    """Whether the log has its start."""
    file: str = ""
    cached: Event | None = None
    """The line with which it joined the generation that it had left: the broker answered without a rebalance."""
    repeats: Counter[tuple[object, ...]] = field(default_factory=Counter)

    @property
    def latest(self) -> int | None:
        """The latest version that its jar supports; None while several are possible."""
        versions = latest_versions(self.possible)
        return versions[0] if len(versions) == 1 else None

    @property
    def place(self) -> tuple[str, str]:
        """Its log and its name without what is drawn anew at each start."""
        return self.file, _RANDOM.sub("*", self.member)

    @property
    def runs(self) -> str:
        """The releases that it can be, as a reader says them."""
        return told(self.possible)

    @property
    def poisoned(self) -> bool | None:
        """Whether it lives and will die at the next rebalance; None if its release decides that, and is not known."""
        if self.poisoned_by is None or self.dead is not None or self.closed:
            return False
        common = self.poisoned_by.number("common") or 0
        versions = latest_versions(self.possible)
        if all(version < common for version in versions):
            return True
        return False if all(version >= common for version in versions) else None


class History:
    """The members of one log, or of several merged ones."""

    def __init__(self, within: Releases | None = None) -> None:
        self.within = everything() if within is None else within
        self.lives: dict[str, list[Life]] = {}
        self.leader = ""
        self.leaders: Counter[str] = Counter()
        self.generation: int | None = None
        self.forgotten = 0
        self.noted = 0
        self.static: bool | None = None
        """Whether members have a group.instance.id; None where nothing says it."""
        self.joins: dict[int, float | None] = {}
        """When each generation was first joined."""
        self._releases_of: dict[str, Releases] = {}

    def note(self, event: Event) -> Life | None:
        """One more line, in the order of time; the life that it belongs to, if it is a member's."""
        self.noted += 1
        if event.kind == "version":
            self._releases_of[event.file] = self._releases_of.get(event.file, 0) | event.possible
        if event.kind in ("broker rebalanced", "broker assigned"):
            self.generation = event.number("generation")
        if event.kind == "static or not":
            self.static = event.word("member") != "null" or bool(self.static)
        if event.kind == "static member back":
            self.static = True
        if event.kind in _NOBODY:
            return None
        life = self._life(event)
        if life is None:
            return None
        life.lines += 1
        life.places = (life.places[0] or self.noted, self.noted)
        if event.time is not None:
            life.first = event.time if life.first is None else life.first
            life.last = event.time
        if event.kind in LEADER:
            self.leader = event.member
            self.leaders[event.member] += 1
        self._learn(life, event)
        return life

    def _life(self, event: Event) -> Life | None:
        lives = self.lives.get(event.member)
        if lives is None:
            if len(self.lives) >= MOST_MEMBERS:
                self.forgotten += 1
                return None
            lives = self.lives[event.member] = [self._born(event, 1)]
            return lives[-1]
        life = lives[-1]
        restarted = life.closed and event.kind in STARTS
        restarted |= life.dead is not None and event.kind not in _LAST and not _same(life.dead, event)
        began = event.kind in STARTS and any(key[0] not in STARTS for key in life.repeats)
        again = event.kind in STARTS and life.repeats.get(_key(event), 0) > 0
        impossible = event.fits and not life.possible & event.possible
        impossible &= life.dead is None or not (event.kind in _LAST or _same(life.dead, event))
        if not (restarted or began or again or impossible):
            return life
        lives.append(self._born(event, life.number + 1))
        # Of a member that is restarted for ever, the first and the latest lives are kept.
        if len(lives) > 50:
            del lives[25]
        return lives[-1]

    def _born(self, event: Event, number: int) -> Life:
        possible = self.within
        known = self._releases_of.get(event.file, 0)
        if known & event.possible & possible:
            possible &= known
        return Life(event.member, number, possible, file=event.file)

    def _learn(self, life: Life, event: Event) -> None:
        if event.fits and life.possible & event.possible:
            life.possible &= event.possible
        key = _key(event)
        if key in life.repeats or len(life.repeats) < _MOST_KINDS:
            life.repeats[key] += 1
        kind = event.kind
        if kind in STARTS:
            life.started = True
            life.upgrade_from = event.word("value") or life.upgrade_from
            if kind == "upgrade.from lowers":
                life.used = event.number("used")
            elif kind in ("starts eager", "starts cooperative"):
                life.protocol = "EAGER" if kind == "starts eager" else "COOPERATIVE"
                life.used = life.latest if life.used is None else life.used
        elif kind == "downgrade":
            common = event.number("common")
            if common is None and not event.possible & ~_RELEASE_CANDIDATES:
                life.used = None
            else:
                life.used = event.number("received") if common is None else common
        elif kind in ("set to leader's", "upgrade in silence", "end of upgrade"):
            life.used = event.number("common")
            if poisons(event) is not False:
                life.poisoned_by = event
        elif kind == "poisoned":
            life.used = event.number("used")
        elif kind == "closes":
            for lives in self.lives.values():
                if lives[-1].member == event.member or lives[-1].member.startswith(f"{event.member}-StreamThread"):
                    lives[-1].closed = True
        elif kind == "joined":
            generation = event.number("generation")
            life.cached = event if generation == (life.generation or self._left(life)) else None
            life.generation = generation
            if generation is not None and len(self.joins) < _MOST_JOINS:
                self.joins.setdefault(generation, event.time)
            # Whoever joins again after it was told a version was able to speak it.
            life.poisoned_by = None
            self.generation = max(self.generation or 0, life.generation or 0)
        if (kind in DEADLY and (event.exception or event.level == "ERROR")) or (kind == "dies" and life.dead is None):
            life.dead = event

    def _left(self, life: Life) -> int | None:
        """The generation in which the process before this one, at the same place, ended."""
        if life.lines > 20:
            return None
        before = [one for one in self.all() if one.place == life.place and one is not life and one.generation]
        return before[-1].generation if before else None

    def all(self) -> list[Life]:
        """Every life, in the order of the members' first lines."""
        return [life for lives in self.lives.values() for life in lives]

    def now(self) -> list[Life]:
        """The last life of each member."""
        return [lives[-1] for lives in self.lives.values()]


def _key(event: Event) -> tuple[object, ...]:
    return (event.kind, event.numbers, event.word("value"))


def _same(death: Event, event: Event) -> bool:
    """Whether two lines tell of one death: the log line and its exception, or an exception printed twice."""
    if event.kind not in DEADLY | {"dies"}:
        return False
    if death.kind == event.kind or "dies" in (death.kind, event.kind):
        return death.time is None or event.time is None or event.time - death.time < 5
    return False
