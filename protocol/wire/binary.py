"""What the binary of one release makes of the Streams payloads, and which bytes it makes of them.

The strict codec is in `subscription` and `assignment`; what a codec's name stands for is said in `versions.CODECS`;
the envelopes are in `client`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from itertools import chain
from struct import Struct
from typing import Any

from ..messages import (
    NO_REBALANCE,
    AssignmentInfo,
    FlatOffsetSums,
    HostInfo,
    NestedOffsetSums,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
)
from ..trace import Failure, LogLine
from ..versions import CODECS, UNKNOWN, Dialect
from . import assignment, subscription
from .assignment import ByHost, Partitions
from .jvm import Buffer, HashTable, Stream, Thrown, allocate, array_list, text_of, unique, utf8
from .scalars import INT, INTS, NamelessVersion, TooLong

_MESSAGES = CODECS.index("2.0")
"""From here on the two ints, and version probing."""
_OWN_SECOND = CODECS.index("2.2.2")
"""From here on the second int is the object's own."""
_GENERATED = CODECS.index("2.5")
_GUARDED = CODECS.index("2.8.2")
_GUARDED_ASSIGNMENT = CODECS.index("4.2.2")

_OFFSET = Struct(">iq")


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader made of bytes: a message or a Java exception, and what it logged on the way."""

    value: Any
    """The message; None when the reader threw."""
    failure: Failure | None = None
    log: tuple[LogLine, ...] = ()
    """Its lines, with `member` left empty."""


def read_subscription_info(data: bytes, *, dialect: Dialect) -> Read:
    """The subscription as the leader of this dialect sees it.

    A task that the bytes name twice is there once, as in Java's sets.

    >>> read_subscription_info(bytes(4), dialect=Dialect(latest=3, codec="2.0", envelope=0)).failure
    Failure(exception='BufferUnderflowException', text='null')

    Source: SubscriptionInfo#decode of 0.10.0.0, 0.10.1.0, 2.0.0, 2.3.1, 2.5.0, 2.8.2, 3.9.0.
    """
    log: list[LogLine] = []
    try:
        return Read(_subscription(bytes(data), dialect, log), None, tuple(log))
    except Thrown as thrown:
        return Read(None, thrown.failure, tuple(log))


def _subscription(data: bytes, dialect: Dialect, log: list[LogLine]) -> SubscriptionInfo:
    era = CODECS.index(dialect.codec)
    buffer = Buffer(data)
    version = buffer.i32()
    if era < _MESSAGES and not 1 <= version <= dialect.latest:
        text = f"unable to decode subscription data: version={version}"
        log.append(LogLine("", "ERROR", "SubscriptionInfo", text))
        raise Thrown("TaskAssignmentException", text)
    if version > dialect.latest or (_MESSAGES <= era < _GENERATED and version < 1):
        latest = buffer.i32()
        known = dialect.latest if era < _OWN_SECOND else latest
        text = f"Unable to decode subscription data: used version: {version}; latest supported version: {known}"
        log.append(LogLine("", "INFO", "SubscriptionInfo", text))
        info = SubscriptionInfo(version, latest, head_only=True)
    else:
        try:
            info, _ = subscription.parse(data)
        except (struct.error, ValueError):
            buffer.at = 0
            if era < _GENERATED and version <= 5:
                info = _written(buffer)
            else:
                info = _generated(buffer, dialect, guarded=era >= _GUARDED)
        if info.prev_tasks or info.standby_tasks:
            info = replace(info, prev_tasks=unique(info.prev_tasks), standby_tasks=unique(info.standby_tasks))
    if era >= _GENERATED:
        _validate(info.version, info.latest_supported_version)
    return info


def _validate(version: int, latest: int) -> None:
    """Source: 2.5.0 SubscriptionInfo#validateVersions."""
    if latest == UNKNOWN and not 1 <= version <= 2:
        text = f"Only versions 1 and 2 are expected to use an UNKNOWN (-1) latest supported version. Got {version}."
        raise Thrown("IllegalArgumentException", text)
    if latest != UNKNOWN and not 1 <= version <= latest:
        raise Thrown("IllegalArgumentException", f"version must be between 1 and {latest}; was: {version}")


def _written(buffer: Buffer) -> SubscriptionInfo:
    """The reader that was written by hand, of v1 to v5: a negative count is none.

    Source: 2.0.0 SubscriptionInfo#decodeVersionThreeData.
    """
    version = buffer.i32()
    latest = buffer.i32() if version >= 3 else UNKNOWN
    process_id = buffer.take(16)
    prev = _tasks(buffer, buffer.i32())
    standby = _tasks(buffer, buffer.i32())
    end_point = ""
    length = buffer.i32() if version >= 2 else 0
    if length:
        end_point = utf8(buffer.take(_bytes(length)))
    return SubscriptionInfo(version, latest, process_id, end_point or None, prev, standby)


def _bytes(length: int) -> int:
    """`new byte[length]`."""
    if length < 0:
        raise Thrown("NegativeArraySizeException", str(length))
    allocate(length, size=1)
    return length


def _tasks(buffer: Buffer, count: int) -> tuple[TaskId, ...]:
    return tuple([TaskId(*pair) for pair in INTS.iter_unpack(buffer.take(8 * max(count, 0)))])


def _generated(buffer: Buffer, dialect: Dialect, *, guarded: bool) -> SubscriptionInfo:
    """The generated reader; of the version it sees the lower 16 bits, and no field that it does not know.

    Source: 2.5.0, 2.8.2 MessageDataGenerator#generateClassReader, 3.9.0 SubscriptionInfoData.json.
    """

    def counted(field: str) -> int:
        count = buffer.i32()
        if count < 0:
            raise Thrown("RuntimeException", f"non-nullable field {field} was serialized as null")
        if guarded and count > buffer.left:
            text = f"Tried to allocate a collection of size {count}, but there are only {buffer.left} bytes remaining."
            raise Thrown("RuntimeException", text)
        array_list(count)
        return count

    def raw(length: int) -> bytes:
        if guarded and length > buffer.left:
            text = f"Error reading byte array of {length} byte(s): only {buffer.left} byte(s) available"
            raise Thrown("RuntimeException", text)
        return buffer.take(_bytes(length))

    def text(field: str) -> str:
        length = buffer.i32()
        if length < 0:
            raise Thrown("RuntimeException", f"non-nullable field {field} was serialized as null")
        return utf8(raw(length))

    def flat() -> tuple[TaskId, int]:
        subtopology, partition, offset, length = buffer.i32(), buffer.i32(), buffer.i64(), buffer.i16()
        return TaskId(subtopology, partition, (utf8(raw(length)) or None) if length >= 0 else None), offset

    def nested() -> tuple[int, ...]:
        return tuple(chain.from_iterable(_OFFSET.iter_unpack(buffer.take(12 * counted("partitionToOffsetSum")))))

    whole = buffer.i32()
    version = min((whole + 2**15) % 2**16 - 2**15, dialect.latest)
    latest = buffer.i32() if version >= 3 else UNKNOWN
    process_id = buffer.take(16)
    prev: tuple[TaskId, ...] = ()
    standby: tuple[TaskId, ...] = ()
    sums: NestedOffsetSums | FlatOffsetSums = ()
    if version <= 6:
        prev = _tasks(buffer, counted("prevTasks"))
        standby = _tasks(buffer, counted("standbyTasks"))
    end_point = text("userEndPoint") if version >= 2 else ""
    if version >= 10:
        sums = tuple([flat() for _ in range(counted("taskOffsetSums"))])
    elif version >= 7:
        sums = tuple([(buffer.i32(), nested()) for _ in range(counted("taskOffsetSums"))])
    unique_field = buffer.i8() if version >= 8 else 0
    error = buffer.i32() if version >= 9 else 0
    tags = tuple([(text("key"), text("value")) for _ in range(counted("clientTags"))]) if version >= 11 else ()
    return SubscriptionInfo(
        whole, latest, process_id, end_point or None, prev, standby, sums, unique_field, error, tags
    )


def read_assignment_info(data: bytes, *, dialect: Dialect) -> Read:
    """The assignment as a member of this dialect sees it.

    What the bytes name twice is there once, as in Java's sets and maps. A topic that is not in the
    dictionary is Java's null, and called `null` here.

    >>> read_assignment_info(b"", dialect=Dialect(latest=3, codec="2.0", envelope=0)).failure.text
    'Failed to decode AssignmentInfo'

    Source: AssignmentInfo#decode of 0.10.0.0, 0.10.1.0, 1.1.1, 2.0.0, 2.4.0, 3.9.0, 4.2.2.
    """
    log: list[LogLine] = []
    try:
        return Read(_assignment(bytes(data), dialect, log), None, tuple(log))
    except Thrown as thrown:
        return Read(None, thrown.failure, tuple(log))


def _assignment(data: bytes, dialect: Dialect, log: list[LogLine]) -> AssignmentInfo:
    era = CODECS.index(dialect.codec)
    stream = Stream(data)
    version = stream.i32()
    lowest = 0 if 0 < era < _MESSAGES else 1
    if not lowest <= version <= dialect.latest:
        text = f"Unknown assignment data version: {version}"
        if era >= _MESSAGES:
            text = (
                f"Unable to decode assignment data: used version: {version}; latest supported version: {dialect.latest}"
            )
        log.append(LogLine("", "ERROR", "AssignmentInfo", text))
        raise Thrown("TaskAssignmentException", text)
    if not version:
        data = INT.pack(1) + data[4:]  # 0 is read as v1
        stream = Stream(data, 4)
    try:
        info, _ = assignment.parse(data)
    except (struct.error, ValueError):
        info = _body(stream, version, guarded=era >= _GUARDED_ASSIGNMENT)
    if dialect.codec == "0.10.1":
        version = 2
    if info.version == version and not (
        info.standby_tasks or info.partitions_by_host or info.standby_partitions_by_host
    ):
        return info
    return replace(
        info,
        version=version,
        standby_tasks=tuple({task: unique(partitions) for task, partitions in info.standby_tasks}.items()),
        partitions_by_host=_by_host(info.partitions_by_host),
        standby_partitions_by_host=_by_host(info.standby_partitions_by_host),
    )


def _by_host(hosts: ByHost) -> ByHost:
    return tuple({host: unique(partitions) for host, partitions in hosts}.items())


def _body(stream: Stream, version: int, *, guarded: bool) -> AssignmentInfo:
    """What follows the version; if guarded, no count may need more bytes than there are in all.

    Source: 3.9.0, 4.4.0 AssignmentInfo#decode, ConsumerProtocolUtils#readTaskIdFrom.
    """

    def counted(least: int) -> int:
        count = stream.i32()
        if guarded and not 0 <= count <= len(stream.data) // least:
            raise Thrown("TaskAssignmentException", "Corrupted user data byte[].")
        return count

    def task() -> TaskId:
        subtopology, partition = stream.i32(), stream.i32()
        if version < 10:
            return TaskId(subtopology, partition)
        units = stream.i32()
        stream.need(units, 2)
        return TaskId(subtopology, partition, text_of([stream.i16() & 0xFFFF for _ in range(units)]) or None)

    def partitions(topics: dict[int, str] | None = None) -> Partitions:
        count = counted(6 if topics is None else 8)
        table = HashTable(count)
        found = []
        for _ in range(count):
            topic = stream.utf() if topics is None else topics.get(stream.i32(), "null")
            found.append(TopicPartition(topic, stream.i32()))
            table.put()
        return tuple(found)

    def hosts(topics: dict[int, str] | None = None) -> ByHost:
        return tuple([(HostInfo(stream.utf(), stream.i32()), partitions(topics)) for _ in range(counted(10))])

    common = stream.i32() if version >= 3 else UNKNOWN
    count = counted(8)
    array_list(count)
    active = _tasks(stream, count) if version < 10 else tuple([task() for _ in range(count)])
    count = counted(12)
    table = HashTable(count)
    standby = []
    for _ in range(count):
        standby.append((task(), partitions()))
        table.put()
    by_host: ByHost = ()
    standby_by_host: ByHost = ()
    if 2 <= version <= 4:
        by_host = hosts()
    elif version >= 5:
        count = counted(6)
        table = HashTable(count)
        topics: dict[int, str] = {}
        for _ in range(count):
            index = stream.i32()
            topics[index] = stream.utf()
            table.put()
        by_host = hosts(topics)
        standby_by_host = hosts(topics) if version >= 6 else ()
    error = stream.i32() if version >= 4 else 0
    next_ms = stream.i64() if version >= 7 else NO_REBALANCE
    return AssignmentInfo(version, common, active, tuple(standby), by_host, standby_by_host, error, next_ms)


def write_subscription_info(info: SubscriptionInfo, *, dialect: Dialect) -> bytes | Failure:
    """The bytes that a member of this dialect sends for this subscription, or the exception that ends it.

    Raises EncodeError for a value that no release could hold.

    >>> str(write_subscription_info(SubscriptionInfo(4), dialect=Dialect(latest=3, codec="2.0", envelope=0)))
    'IllegalArgumentException: version must be between 1 and 3; was: 4'

    Source: SubscriptionInfo (the constructor) and #encode of 0.10.0.0, 1.1.1, 2.0.0, 2.3.1, 2.5.0, 3.9.0.
    """
    era = CODECS.index(dialect.codec)
    version = info.version
    if era == 0 and version != 1:
        return Failure("TaskAssignmentException", f"unable to encode subscription data: version={version}")
    if 0 < era < _MESSAGES:
        body = subscription.build(replace(info, version=2), second=UNKNOWN)[4:]
        return INT.pack(version) + body  # v1 too has the body of v2
    if era >= _GENERATED:
        try:
            _validate(version, info.latest_supported_version if version >= 3 else dialect.latest)
        except Thrown as thrown:
            return thrown.failure
        if version > dialect.latest:
            text = (
                f"Should never try to encode a SubscriptionInfo with version [{version}] > "
                f"LATEST_SUPPORTED_VERSION [{dialect.latest}]"
            )
            return Failure("IllegalStateException", text)
    elif era and not 1 <= version <= dialect.latest:
        return _out_of_range(version, dialect)
    second = dialect.latest if era < _OWN_SECOND else info.latest_supported_version
    try:
        return subscription.build(info, second=second)
    except NamelessVersion:
        return Failure("TaskAssignmentException", "Named topologies are not compatible with older protocol versions")
    except TooLong:
        return Failure("RuntimeException", "'namedTopology' field is too long to be serialized")


def _out_of_range(version: int, dialect: Dialect) -> Failure:
    return Failure("IllegalArgumentException", f"version must be between 1 and {dialect.latest}; was: {version}")


def write_assignment_info(info: AssignmentInfo, *, dialect: Dialect) -> bytes | Failure:
    """The bytes that a leader of this dialect sends for this assignment, or the exception that ends it.

    Raises EncodeError for a value that no release could hold.

    >>> write_assignment_info(AssignmentInfo(3, 3), dialect=Dialect(latest=4, codec="2.0", envelope=0)).hex(" ", 4)
    '00000003 00000004 00000000 00000000 00000000'

    Source: AssignmentInfo (the constructor) and #encode of 0.10.0.0, 1.1.1, 2.0.0, 2.3.1, 3.9.0.
    """
    era = CODECS.index(dialect.codec)
    version = info.version
    if era == 0 and version != 1:
        return Failure("TaskAssignmentException", f"Unable to encode assignment data: version={version}")
    if era >= _MESSAGES and not 1 <= version <= dialect.latest:
        return _out_of_range(version, dialect)
    second = dialect.latest if era < _OWN_SECOND else info.commonly_supported_version
    try:
        if 0 < era < _MESSAGES:
            body = assignment.build(replace(info, version=2), second=UNKNOWN)[4:]
            return INT.pack(version) + body  # v1 too has the body of v2
        return assignment.build(info, second=second)
    except NamelessVersion:
        return Failure(
            "TaskAssignmentException", f"Named topologies are not compatible with protocol version {version}"
        )
    except TooLong:
        return Failure("TaskAssignmentException", "Failed to encode AssignmentInfo")
