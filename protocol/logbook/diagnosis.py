"""A diagnosis, and what every look for one needs: the lines by their kind, evidence, names.

The looks themselves are in `diseases` (of versions) and `alarms` (of everything else).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..scenario import Scenario
from .events import Event
from .history import History, Life

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"


OFTEN = 4
"""How often one line must repeat in one process before it is called a loop; a roll repeats it once a bounce."""


_MOST_EVIDENCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A disease, a false alarm, or a cause elsewhere."""

    name: str
    """One of NAMES."""
    title: str
    certainty: str
    """`certain`, `likely` or `possible`; the last two say in `decides` what would settle it."""
    grave: bool
    """Whether members died or will, or the group does no work."""
    what: str
    evidence: tuple[Event, ...]
    cure: str
    decides: str = ""
    scenario: Scenario | None = None
    """The picks that show the same in the bench; None where no scenario can."""
    source: str = ""


NAMES = (
    "KAFKA-8649",
    "poisoned member",
    "rebalance loop",
    "pre-2.0 member beside a future one",
    "old leader cannot read",
    "unfixed leader answers old members",
    "error assignment hides its cause",
    "cached assignment of a static member",
    "unreadable assignment",
    "unfixed second int",
    "mispaired tasks",
    "foreign bytes",
    "roll is not finished",
    "many rebalances",
    "unknown death",
    "upgrade.from rejected",
    "second bounce is missing",
    "group below version 3",
    "eager beside cooperative",
    "follow-up loop",
    "warm-up probing",
    "broker restarts the rebalance",
    "not a Streams group",
    "not version probing",
    "shutdown requested",
)
"""Every name that a diagnosis can have."""


@dataclass(slots=True)
class Noted:
    """A line that came once or more often, told once."""

    event: Event
    times: int = 1
    last: float | None = None


class Lines:
    """The noted lines by their kind."""

    def __init__(self, noted: Sequence[Noted]) -> None:
        self.by_kind: dict[str, list[Noted]] = {}
        for one in noted:
            self.by_kind.setdefault(one.event.kind, []).append(one)

    def of(self, *kinds: str) -> list[Event]:
        """The lines of these kinds, kind by kind."""
        return [one.event for kind in kinds for one in self.by_kind.get(kind, ())]

    def times(self, *kinds: str) -> int:
        """How many lines of these kinds there were, repetitions counted."""
        return sum(one.times for kind in kinds for one in self.by_kind.get(kind, ()))


def shown(events: Iterable[Event]) -> tuple[Event, ...]:
    """A few lines of evidence, in the order of the log, no line twice."""
    kept: dict[tuple[str, int], Event] = {}
    for event in events:
        kept.setdefault((event.file, event.line), event)
    return tuple(kept.values())[:_MOST_EVIDENCE]


def names_of(events: Iterable[Event | Life]) -> str:
    """Their members as a title names them."""
    who = list(dict.fromkeys(one.member for one in events if one.member))
    if not who:
        return "a member"
    return ", ".join(who) if len(who) <= 4 else f"{len(who)} members"


def does(events: Iterable[Event | Life], one: str, many: str) -> str:
    """The verb that fits `names_of` the same."""
    return many if len({event.member for event in events if event.member}) > 1 else one


def most_repeats(history: History, event: Event) -> int:
    """How often one process of this member printed the line."""
    key = (event.kind, event.numbers, event.word("value"))
    return max((life.repeats.get(key, 0) for life in history.lives.get(event.member, ())), default=0)


def deaths_of(history: History, member: str, kind: str) -> int:
    """How many processes died so one after the other: under that name, or with another random id in the same log."""
    places = {life.place for life in history.lives.get(member, ())}
    count, last = 0, 0
    for life in sorted(history.all(), key=lambda life: life.places):
        if life.place in places and life.dead is not None and life.dead.kind == kind and life.places[0] > last:
            count += 1
            last = life.places[1]
    return count
