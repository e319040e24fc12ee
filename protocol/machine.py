"""The two state machines, as tables: a member's and the group's.

What moves a member or a group along a row is in `group`; the pictures that `diagrams` draws, and the
tests, are made of the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Row:
    """One transition: from a state, by an event, to a state."""

    source: str
    event: str
    target: str
    label: str
    """What the picture writes on the edge."""
    rare: bool = False
    """Whether the pictures leave it out: it is true, but it is not on the road of an upgrade."""

    @property
    def key(self) -> str:
        """The name of the edge: unique in its machine."""
        return f"{self.source}-{self.event}-{self.target}"


@dataclass(frozen=True, slots=True)
class Machine:
    """States in the order in which the pictures rank them, and rows in table order.

    >>> MEMBER.target("SYNCING", "probe")
    'PROBING'
    >>> MEMBER.target("STOPPED", "probe") is None
    True
    """

    name: str
    states: tuple[str, ...]
    rows: tuple[Row, ...]
    _by: dict[tuple[str, str], Row] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by", {(row.source, row.event): row for row in self.rows})

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def events(self) -> tuple[str, ...]:
        """Every event, once, in table order."""
        return tuple(dict.fromkeys(row.event for row in self.rows))

    def row(self, source: str, event: str) -> Row | None:
        """The row that leaves `source` by `event`; None where the table has none."""
        return self._by.get((source, event))

    def target(self, source: str, event: str) -> str | None:
        """Where `event` leads from `source`; None where the table has no such row."""
        row = self.row(source, event)
        return row.target if row else None


MEMBER = Machine(
    "member",
    ("STOPPED", "JOINING", "SYNCING", "STABLE", "PROBING", "UPGRADING", "CRASHED"),
    (
        Row("STOPPED", "start", "JOINING", "start"),
        Row("JOINING", "joined", "SYNCING", "all joined"),
        Row("SYNCING", "assigned", "STABLE", "tasks"),
        Row("SYNCING", "probe", "PROBING", "told: older"),
        Row("SYNCING", "upgrade", "UPGRADING", "all newer"),
        Row("PROBING", "rejoin", "JOINING", "rejoin"),
        Row("UPGRADING", "rejoin", "JOINING", "rejoin"),
        Row("STABLE", "rebalance", "JOINING", "rebalance"),
        Row("STABLE", "close", "STOPPED", "stop"),
        Row("JOINING", "cannot encode", "CRASHED", "cannot encode"),
        Row("SYNCING", "refuse", "CRASHED", "refuses"),
        Row("CRASHED", "start", "JOINING", "restart"),
        Row("STABLE", "resume", "STABLE", "same tasks", rare=True),
        Row("SYNCING", "rebalance", "JOINING", "rebalance", rare=True),
        Row("PROBING", "rebalance", "JOINING", "rebalance", rare=True),
        Row("UPGRADING", "rebalance", "JOINING", "rebalance", rare=True),
        Row("JOINING", "resume", "SYNCING", "still in", rare=True),
        Row("STABLE", "refuse", "CRASHED", "refuses", rare=True),
        Row("JOINING", "close", "STOPPED", "stop", rare=True),
        Row("SYNCING", "close", "STOPPED", "stop", rare=True),
        Row("PROBING", "close", "STOPPED", "stop", rare=True),
        Row("UPGRADING", "close", "STOPPED", "stop", rare=True),
        Row("CRASHED", "close", "STOPPED", "stop", rare=True),
    ),
)
"""A stream thread's way through a rebalance.

Source: 3.9.0 StreamThread#runLoop, StreamsPartitionAssignor#onAssignment, AbstractCoordinator#joinGroupIfNeeded.
"""

GROUP = Machine(
    "group",
    ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable"),
    (
        Row("Empty", "join", "PreparingRebalance", "join"),
        Row("PreparingRebalance", "all joined", "CompletingRebalance", "all joined"),
        Row("CompletingRebalance", "leader sync", "Stable", "leader's sync"),
        Row("Stable", "join", "PreparingRebalance", "a member joins"),
        Row("Stable", "leave", "PreparingRebalance", "a member goes"),
        Row("PreparingRebalance", "nobody left", "Empty", "nobody left"),
        Row("CompletingRebalance", "join", "PreparingRebalance", "a member joins", rare=True),
        Row("CompletingRebalance", "leave", "PreparingRebalance", "a member goes", rare=True),
        Row("PreparingRebalance", "join", "PreparingRebalance", "a member joins", rare=True),
        Row("PreparingRebalance", "leave", "PreparingRebalance", "a member goes", rare=True),
        Row("Stable", "same metadata", "Stable", "same metadata", rare=True),
        Row("Stable", "static restart", "Stable", "static restart", rare=True),
        Row("CompletingRebalance", "same metadata", "CompletingRebalance", "same metadata", rare=True),
    ),
)
"""The classic group of the coordinator.

Source: 3.9.0 GroupMetadata (GroupState), GroupCoordinator#doJoinGroup, #onCompleteJoin, #doSyncGroup.
"""

ACTIONS = (
    "start",
    "close",
    "join",
    "leave",
    "expire",
    "rebalance",
    "complete join",
    "assign",
    "sync",
    "rejoin",
    "die",
    "resume",
    "replace",
)
"""What a step of a trace may be: see `group` for each."""
