"""The values that travel in a rebalance: Streams' SubscriptionInfo and AssignmentInfo, in the consumer's envelopes.

How they become bytes is in `wire`; who sends them is in `group`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from .errors import EncodeError
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


NestedOffsetSums = tuple[tuple[int, tuple[int, ...]], ...]
"""How v7 to v9 carry offset sums: for each subtopology (subtopology, (partition, offset sum, partition, ...))."""

FlatOffsetSums = tuple[tuple[TaskId, int], ...]
"""How v10 and later carry offset sums: for each task (task, offset sum)."""


@dataclass(frozen=True, slots=True)
class SubscriptionInfo:
    """What a member tells the leader: the version it speaks, the one it supports, and its tasks.

    v1 to v6 carry `prev_tasks` and `standby_tasks`; v7 and later carry `task_offset_sums`, nested by
    subtopology in v7 to v9, flat from v10. `of` shapes tasks for a version, `offset_sums` reads any shape.

    >>> info = SubscriptionInfo.of({TaskId(0, 1): LATEST_OFFSET}, version=7, latest_supported_version=11)
    >>> info.task_offset_sums, info.offset_sums()
    (((0, (1, -2)),), {TaskId(subtopology=0, partition=1, topology=None): -2})

    Source: KIP-268, KIP-441; 3.9.0 SubscriptionInfoData.json.
    """

    version: int
    latest_supported_version: int = UNKNOWN
    process_id: bytes = bytes(16)
    """The process's UUID, 16 bytes, most significant first."""
    user_end_point: str | None = None
    prev_tasks: tuple[TaskId, ...] = ()
    standby_tasks: tuple[TaskId, ...] = ()
    task_offset_sums: NestedOffsetSums | FlatOffsetSums = ()
    unique_field: int = 0
    error_code: int = 0
    client_tags: tuple[tuple[str, str], ...] = ()
    head_only: bool = False
    """Whether only the two ints could be read: a future version, as its reader sees it."""

    @classmethod
    def of(
        cls,
        offset_sums: Mapping[TaskId, int],
        *,
        version: int,
        latest_supported_version: int,
        process_id: bytes = bytes(16),
        user_end_point: str | None = None,
        unique_field: int = 0,
        error_code: int = 0,
        client_tags: Iterable[tuple[str, str]] = (),
    ) -> SubscriptionInfo:
        """The subscription of a member with these tasks, with only those fields that its version carries.

        Below v7 a task with `LATEST_OFFSET` is a previous active task, any other a standby.

        Raises EncodeError for a named topology below v10.

        Source: 3.9.0 SubscriptionInfo (the constructor).
        """
        if version < 10 and any(task.topology for task in offset_sums):
            raise EncodeError(f"v{version} has no named topologies, v10 and later have", field="task_offset_sums")
        prev: tuple[TaskId, ...] = ()
        standby: tuple[TaskId, ...] = ()
        sums: NestedOffsetSums | FlatOffsetSums = ()
        if version >= 10:
            sums = tuple(offset_sums.items())
        elif version >= 7:
            nested: dict[int, list[int]] = {}
            for task, offset in offset_sums.items():
                nested.setdefault(task.subtopology, []).extend((task.partition, offset))
            sums = tuple((subtopology, tuple(numbers)) for subtopology, numbers in nested.items())
        else:
            prev = tuple(task for task, offset in offset_sums.items() if offset == LATEST_OFFSET)
            standby = tuple(task for task, offset in offset_sums.items() if offset != LATEST_OFFSET)
        return cls(
            version=version,
            latest_supported_version=latest_supported_version if version >= 3 else UNKNOWN,
            process_id=process_id,
            user_end_point=user_end_point or None if version >= 2 else None,
            prev_tasks=prev,
            standby_tasks=standby,
            task_offset_sums=sums,
            unique_field=unique_field if version >= 8 else 0,
            error_code=error_code if version >= 9 else 0,
            client_tags=tuple(client_tags) if version >= 11 else (),
        )

    def offset_sums(self) -> dict[TaskId, int]:
        """The offset sum of each task; below v7 what 2.6.0 and later make of the two task lists.

        Source: 3.9.0 SubscriptionInfo#taskOffsetSums.
        """
        if self.version >= 10:
            return dict(cast(FlatOffsetSums, self.task_offset_sums))
        if self.version >= 7:
            nested = cast(NestedOffsetSums, self.task_offset_sums)
            return {
                TaskId(subtopology, partition): offset
                for subtopology, numbers in nested
                for partition, offset in zip(numbers[::2], numbers[1::2], strict=True)
            }
        sums = dict.fromkeys(self.prev_tasks, LATEST_OFFSET)
        sums.update(dict.fromkeys(self.standby_tasks, UNKNOWN_OFFSET_SUM))
        return sums


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
