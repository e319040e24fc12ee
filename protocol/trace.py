"""What happened in a group, step by step: the value that simulator and explorer make, and everyone else takes.

It is data only: how a step comes about is in `group`, how it looks is in `diagrams` and the player.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .messages import TaskId


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a real release prints at this point.

    >>> print(LogLine("C", "INFO", "StreamThread", "Version probing detected. Triggering new rebalance."))
    INFO StreamThread - Version probing detected. Triggering new rebalance.
    """

    member: str
    level: str
    logger: str
    text: str

    def __str__(self) -> str:
        return f"{self.level} {self.logger} - {self.text}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A Java exception inside the group: data here, the end of a stream thread there."""

    exception: str
    """The class, without its package."""
    text: str

    def __str__(self) -> str:
        return f"{self.exception}: {self.text}"


# A run of 100 members makes 60,000 of these and 80,000 of the messages below; a frozen dataclass takes five
# times as long to make as a tuple with names.
class MemberView(NamedTuple):
    """One member (a stream thread) as an onlooker sees it after a step."""

    name: str
    state: str
    """A state of `machine.MEMBER`."""
    binary: str
    """The jar it runs."""
    latest: int
    """The latest version that the jar supports."""
    used: int
    """The version it speaks: Kafka's `usedSubscriptionMetadataVersion`."""
    tasks: tuple[TaskId, ...] = ()
    member_id: str = ""
    """Its id in the group, such as `C#2`; empty while it has none."""
    failure: Failure | None = None

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self.state not in ("STOPPED", "CRASHED")

    @property
    def poisoned(self) -> bool:
        """Whether it was told a version that its jar cannot speak, so that its next subscription kills it."""
        return self.alive and not 1 <= self.used <= self.latest


@dataclass(frozen=True, slots=True)
class GroupView:
    """The group as its coordinator holds it after a step."""

    state: str
    """A state of `machine.GROUP`."""
    generation: int
    leader: str
    """The name of the member that leads; empty while nobody does."""
    leader_id: str = ""
    members: tuple[str, ...] = ()
    """The member ids that the broker knows, in join order, ghosts included."""
    ghosts: tuple[str, ...] = ()
    """Those of them whose process is gone."""


@dataclass(frozen=True, slots=True)
class View:
    """The whole group at one instant."""

    members: tuple[MemberView, ...]
    group: GroupView

    def member(self, name: str) -> MemberView:
        """The member of that name; KeyError for a stranger."""
        for member in self.members:
            if member.name == name:
                return member
        raise KeyError(name)


class Sent(NamedTuple):
    """One message on the wire."""

    kind: str
    """`JoinGroup`, `JoinGroup answer`, `SyncGroup`, `SyncGroup answer`, `LeaveGroup` or `Heartbeat`."""
    sender: str
    """A member's name, or `coordinator`."""
    receiver: str
    version: int | None = None
    """The first int of the Streams payload, where there is one."""
    supported: int | None = None
    """The second int: what a subscription supports, or an assignment's commonly supported version."""
    tasks: tuple[TaskId, ...] = ()
    probing: bool = False
    """Whether this is the answer that makes its receiver change its version and rejoin."""
    data: bytes = b""
    """The consumer envelope with the Streams payload inside, as bytes; empty where none travels."""


@dataclass(frozen=True, slots=True)
class Step:
    """One atomic action, with the group before and after it."""

    number: int
    action: str
    """One of `machine.ACTIONS`."""
    members: tuple[str, ...]
    """Who acts: one member, or all to whom the same thing happens at the same instant."""
    before: View
    after: View
    at: float
    """Seconds since the first close, by the timetable of the scenario."""
    bounce: int
    """Which bounce this belongs to, from 1; 0 before the first."""
    title: str
    why: str
    """One sentence: why this happens."""
    source: str
    """Kafka tag, class#method."""
    tag: str = ""
    """`probing`, `upgrading`, `poison` or `death` where the step is one of those; else empty."""
    moves: tuple[tuple[str, str], ...] = ()
    """(member, key of a row of `machine.MEMBER`) for each token that moves."""
    messages: tuple[Sent, ...] = ()
    log: tuple[LogLine, ...] = ()

    @property
    def generation(self) -> int:
        """The group's generation after the step."""
        return self.after.group.generation

    @property
    def member(self) -> str:
        """The first of those who act; empty when only the coordinator does."""
        return self.members[0] if self.members else ""


@dataclass(frozen=True, slots=True)
class Death:
    """A member that died: in which generation it was seen, and which generation caused it."""

    member: str
    binary: str
    failure: Failure
    generation: int
    """The group's generation when the thread died."""
    cause: int
    """The generation whose assignment led to it: an earlier one, when the poison was silent."""
    step: int
    how: str = "refusal"
    """`poison` (told a version that its jar cannot speak), `refusal` (of an assignment), `leading` (while it
    read or answered the others), or `start` (its configuration)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    `kind` is `upgraded`, `downgraded`, `rolled back`, `old version` (somebody supports or speaks less than
    the others could), `deaths`, `loop`, `error assignment` or `cut off`.
    """

    kind: str
    text: str
    deaths: tuple[Death, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the group ended where the operator wanted it, with nobody lost."""
        return self.kind in ("upgraded", "downgraded", "rolled back")


@dataclass(frozen=True, slots=True)
class Trace:
    """One run: where it started, each step, how it ended."""

    first: View
    steps: tuple[Step, ...]
    outcome: Outcome
    picks: Mapping[str, object] = field(default_factory=dict, hash=False)
    """What was picked, as plain data: enough to run it again."""

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def last(self) -> View:
        """The group after the last step."""
        return self.steps[-1].after if self.steps else self.first

    @property
    def rebalances(self) -> int:
        """Generations that came after the first view: the count an operator pays for."""
        return self.last.group.generation - self.first.group.generation

    @property
    def bounces(self) -> int:
        """How many bounces were begun."""
        return max((step.bounce for step in self.steps), default=0)
