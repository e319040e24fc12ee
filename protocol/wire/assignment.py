"""AssignmentInfo as bytes and back, v1 to v11: what the leader says to a member.

What one release's reader makes of bytes, failures included, is in `binary`; the layout as a table in `layout`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from ..errors import EncodeError
from ..messages import NO_REBALANCE, AssignmentInfo, HostInfo, TaskId, TopicPartition
from ..versions import LATEST, UNKNOWN
from .layout import ASSIGNMENT_INFO, reason
from .scalars import INT, INTS, LONG, NamelessVersion, Reader, new_task, pack, pack_units, pack_utf

Partitions = tuple[TopicPartition, ...]
ByHost = tuple[tuple[HostInfo, Partitions], ...]


def decode_assignment_info(data: bytes) -> AssignmentInfo:
    """The assignment in these bytes.

    Trailing bytes are ignored, as by every release; `fields` tells them.

    Raises DecodeError with the offset and the field where the bytes stop being readable.

    >>> decode_assignment_info(bytes.fromhex("0000000300000003000000000000000000000000")).commonly_supported_version
    3

    Source: KIP-268; 3.9.0 AssignmentInfo#decode.
    """
    data = bytes(data)
    try:
        return parse(data)[0]
    except (struct.error, ValueError):
        raise reason(data, ASSIGNMENT_INFO) from None


def parse(data: bytes) -> tuple[AssignmentInfo, int]:
    """The assignment in these bytes, and where it ends; struct.error or ValueError where they cannot be read."""
    version: int = INT.unpack_from(data)[0]
    if not 1 <= version <= LATEST:
        raise ValueError(version)
    read = Reader(data, 4)
    common = read.i32() if version >= 3 else UNKNOWN
    active = _tasks(read) if version < 10 else tuple([_named_task(read) for _ in read.count(12)])
    task = _task if version < 10 else _named_task
    standby = tuple([(task(read), _partitions(read)) for _ in read.count(12)])
    hosts: ByHost = ()
    standby_hosts: ByHost = ()
    if 2 <= version <= 4:
        hosts = tuple([(_host(read), _partitions(read)) for _ in read.count(10)])
    elif version >= 5:
        topics = {read.i32(): read.utf() for _ in read.count(6)}
        hosts = tuple([(_host(read), _indexed(read, topics)) for _ in read.count(10)])
        if version >= 6:
            standby_hosts = tuple([(_host(read), _indexed(read, topics)) for _ in read.count(10)])
    error = read.i32() if version >= 4 else 0
    next_ms: int = LONG.unpack(read.raw(8))[0] if version >= 7 else NO_REBALANCE
    return AssignmentInfo(version, common, active, standby, hosts, standby_hosts, error, next_ms), read.at


def _tasks(read: Reader) -> tuple[TaskId, ...]:
    return tuple([new_task((subtopology, partition, None)) for subtopology, partition in read.pairs()])


def _task(read: Reader) -> TaskId:
    return TaskId(read.i32(), read.i32())


def _named_task(read: Reader) -> TaskId:
    return TaskId(read.i32(), read.i32(), read.units())


def _host(read: Reader) -> HostInfo:
    return HostInfo(read.utf(), read.i32())


def _partitions(read: Reader) -> Partitions:
    return tuple([TopicPartition(read.utf(), read.i32()) for _ in read.count(6)])


def _indexed(read: Reader, topics: dict[int, str]) -> Partitions:
    pairs = list(read.pairs())
    if not topics.keys() >= {index for index, _ in pairs}:
        raise ValueError("a topic that is not in the dictionary")
    return tuple([TopicPartition(topics[index], partition) for index, partition in pairs])


def encode_assignment_info(info: AssignmentInfo) -> bytes:
    """The bytes of this assignment, in the order of its tuples; what its version does not carry is dropped.

    Raises EncodeError for a value that no bytes of its version can hold.

    >>> encode_assignment_info(AssignmentInfo(3, 3)).hex()
    '0000000300000003000000000000000000000000'

    Source: 3.9.0 AssignmentInfo#encode.
    """
    return build(info, second=info.commonly_supported_version)


def build(info: AssignmentInfo, *, second: int) -> bytes:
    """The bytes with this second int, from v3 on."""
    version = info.version
    if not 1 <= version <= LATEST:
        raise EncodeError(f"v{version} is no known version (1 to {LATEST})", field="version")
    parts = [INT.pack(version)]
    if version >= 3:
        parts.append(pack("commonly_supported_version", INT, second))
    _write_tasks(parts, info, version)
    if 2 <= version <= 4:
        parts.append(INT.pack(len(info.partitions_by_host)))
        for host, partitions in info.partitions_by_host:
            _write_host(parts, "partitions_by_host", host)
            _write_partitions(parts, "partitions_by_host", partitions)
    elif version >= 5:
        _write_indexed(parts, info, version)
    if version >= 4:
        parts.append(pack("error_code", INT, info.error_code))
    if version >= 7:
        parts.append(pack("next_rebalance_ms", LONG, info.next_rebalance_ms))
    return b"".join(parts)


def _write_tasks(parts: list[bytes], info: AssignmentInfo, version: int) -> None:
    parts.append(INT.pack(len(info.active_tasks)))
    parts += [_one_task("active_tasks", task, version) for task in info.active_tasks]
    parts.append(INT.pack(len(info.standby_tasks)))
    for task, partitions in info.standby_tasks:
        parts.append(_one_task("standby_tasks", task, version))
        _write_partitions(parts, "standby_tasks", partitions)


def _one_task(field: str, task: TaskId, version: int) -> bytes:
    subtopology, partition, topology = task
    if version < 10:
        if topology:
            raise NamelessVersion(field=field)
        return pack(field, INTS, subtopology, partition)
    return pack(field, INTS, subtopology, partition) + pack_units(field, topology)


def _write_host(parts: list[bytes], field: str, host: HostInfo) -> None:
    parts.append(pack_utf(field, host.host))
    parts.append(pack(field, INT, host.port))


def _write_partitions(parts: list[bytes], field: str, partitions: Partitions) -> None:
    parts.append(INT.pack(len(partitions)))
    for topic, partition in partitions:
        parts.append(pack_utf(field, topic))
        parts.append(pack(field, INT, partition))


def _write_indexed(parts: list[bytes], info: AssignmentInfo, version: int) -> None:
    """The dictionary of topics, by first appearance, and the end points that use it."""
    maps = [("partitions_by_host", info.partitions_by_host)]
    if version >= 6:
        maps.append(("standby_partitions_by_host", info.standby_partitions_by_host))
    topics = {topic: index for index, topic in enumerate(_topics(hosts for _, hosts in maps))}
    parts.append(INT.pack(len(topics)))
    for topic, index in topics.items():
        parts.append(INT.pack(index))
        parts.append(pack_utf("topics", topic))
    for field, hosts in maps:
        parts.append(INT.pack(len(hosts)))
        for host, partitions in hosts:
            _write_host(parts, field, host)
            parts.append(INT.pack(len(partitions)))
            parts += [pack(field, INTS, topics[topic], partition) for topic, partition in partitions]


def _topics(maps: Iterable[ByHost]) -> Iterable[str]:
    return dict.fromkeys(topic for hosts in maps for _, partitions in hosts for topic, _ in partitions)
