"""What a run needs to know before it starts; `scenario` makes it of an operator's picks.

How it is run is in `run`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..coordinator import Seat, Succession
from ..messages import TaskId
from ..releases import Binary
from .timetable import Timetable


@dataclass(frozen=True, slots=True)
class Place:
    """A member as it is before the first step."""

    name: str
    instance: str
    binary: Binary
    upgrade_from: str | None = None


@dataclass(frozen=True, slots=True)
class Bounce:
    """One stop and start of an instance, all its threads at once."""

    instance: str
    binary: Binary
    upgrade_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a run needs to know."""

    places: tuple[Place, ...]
    bounces: tuple[Bounce, ...]
    succession: Succession
    leader: str = ""
    """Who leads first; empty: the first to join."""
    timetable: Timetable = field(default_factory=Timetable)
    leaves: bool | None = None
    """Whether a closing member sends LeaveGroup; None: as its jar does."""
    restart: float = 2.0
    """Seconds from a close to the start of the next process."""
    static: bool = False
    supervisor: float | None = None
    """Seconds after which a dead instance is started again, on the same jar."""
    tasks: tuple[TaskId, ...] = ()
    """The tasks of the topology; empty: one for each member."""
    seed: int = 0
    until: float | None = None
    """Seconds after which the run is cut off, loop or not."""
    show_start: bool = False
    """Whether the first generations are steps; else the trace starts when they are over."""


class Pinned:
    """The member that was picked leads while its first id lives; then the succession goes on."""

    def __init__(self, name: str, then: Succession) -> None:
        self.first, self.then = f"{name}#1", then
        self.every_generation = then.every_generation

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The picked member's first id, or whoever comes next."""
        if any(seat.id == self.first for seat in seats):
            return self.first
        return self.then.pick(seats)
