"""The four values that travel in a rebalance: Streams' SubscriptionInfo and AssignmentInfo, in the consumer's envelopes.

How they become bytes is in `wire`; who sends them is in `group`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .versions import UNKNOWN

NO_REBALANCE = 2**63 - 1
"""`nextRebalanceMs` of an assignment that asks for none: Java's `Long.MAX_VALUE`."""

LATEST_OFFSET = -2
"""The offset sum of a task that runs here as active (Kafka: `Task.LATEST_OFFSET`, since 2.6.0)."""

UNKNOWN_OFFSET_SUM = -3
"""The offset sum that stands for a standby read out of v6 or older bytes."""


class TaskId(NamedTuple):
    """A task: a subtopology and a partition, since v10 perhaps of a named topology.

    >>> str(TaskId(0, 1)), str(TaskId(0, 1, "topA"))
    ('0_1', 'topA__0_1')
    """

    subtopology: int
    partition: int
    topology: str | None = None

    def __str__(self) -> str:
        name = f"{self.subtopology}_{self.partition}"
        return f"{self.topology}__{name}" if self.topology else name


class TopicPartition(NamedTuple):
    """A partition of a topic.

    >>> str(TopicPartition("orders", 2))
    'orders-2'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class HostInfo(NamedTuple):
    """An end point for interactive queries."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class SubscriptionInfo:
    """What a member tells the leader: the version it speaks, the one it supports, and its tasks.

    v1 to v6 carry `prev_tasks` and `standby_tasks`; v7 and later carry `task_offset_sums`, as
    (subtopology, ((partition, offset sum), ...)) in v7 to v9, as (TaskId, offset sum) from v10.

    Source: KIP-268, KIP-441; 3.9.0 SubscriptionInfoData.json.
    """

    version: int
    latest_supported_version: int = UNKNOWN
    process_id: bytes = bytes(16)
    """The process's UUID, 16 bytes, most significant first."""
    user_end_point: str | None = None
    prev_tasks: tuple[TaskId, ...] = ()
    standby_tasks: tuple[TaskId, ...] = ()
    task_offset_sums: tuple[tuple[object, object], ...] = ()
    unique_field: int = 0
    error_code: int = 0
    client_tags: tuple[tuple[str, str], ...] = ()
    head_only: bool = False
    """Whether only the two ints could be read: a future version, as its reader sees it."""


@dataclass(frozen=True, slots=True)
class AssignmentInfo:
    """What the leader tells a member: the version to read it by, the version all support, and tasks.

    `active_tasks` has one entry for each assigned partition, in the order of the partitions.

    Source: KIP-268, KIP-441, KIP-535; 3.9.0 AssignmentInfo#encode.
    """

    version: int
    commonly_supported_version: int = UNKNOWN
    active_tasks: tuple[TaskId, ...] = ()
    standby_tasks: tuple[tuple[TaskId, tuple[TopicPartition, ...]], ...] = ()
    partitions_by_host: tuple[tuple[HostInfo, tuple[TopicPartition, ...]], ...] = ()
    standby_partitions_by_host: tuple[tuple[HostInfo, tuple[TopicPartition, ...]], ...] = ()
    error_code: int = 0
    next_rebalance_ms: int = NO_REBALANCE


@dataclass(frozen=True, slots=True)
class Subscription:
    """The consumer's envelope of a JoinGroup: topics, the Streams payload, and what it still owns."""

    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned_partitions: tuple[TopicPartition, ...] = ()
    generation_id: int = -1
    rack_id: str | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The consumer's envelope of a SyncGroup answer: partitions, and the Streams payload."""

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None
