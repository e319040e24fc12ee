"""SubscriptionInfo as bytes and back, v1 to v11: what a member says to the leader.

What one release's reader makes of bytes, failures included, is in `binary`; the layout as a table in `layout`.
"""

from __future__ import annotations

import struct
from functools import cache
from itertools import chain, repeat
from struct import Struct
from typing import cast

from ..errors import EncodeError
from ..messages import FlatOffsetSums, NestedOffsetSums, SubscriptionInfo, TaskId
from ..versions import LATEST, UNKNOWN
from .layout import SUBSCRIPTION_INFO, reason
from .scalars import BYTE, INT, INTS, NamelessVersion, Reader, new_task, pack, pack_text16, pack_text32

_HEAD_OLD = Struct(">i16s")
_HEAD = Struct(">ii16s")
_HEAD_AND_LENGTH = Struct(">ii16si")
_TASK_OFFSET = Struct(">iiq")
_NAMELESS_TASK_OFFSET = Struct(">iiqh")
_BLOCK = 64
"""So many pairs of partition and offset sum are read or written in one go."""


@cache
def _offsets(pairs: int) -> Struct:
    """The layout of so many pairs, `_BLOCK` at most."""
    return Struct(">" + "iq" * pairs)


def decode_subscription_info(data: bytes) -> SubscriptionInfo:
    """The subscription in these bytes; of a future version only the head.

    Trailing bytes are ignored, as by every release; `fields` tells them.

    Raises DecodeError with the offset and the field where the bytes stop being readable.

    >>> decode_subscription_info(bytes.fromhex("0000000c0000000c")).latest_supported_version
    12

    Source: KIP-268; 3.9.0 SubscriptionInfo#decode, SubscriptionInfoData.json.
    """
    data = bytes(data)
    try:
        return parse(data)[0]
    except (struct.error, ValueError):
        raise reason(data, SUBSCRIPTION_INFO) from None


def parse(data: bytes) -> tuple[SubscriptionInfo, int]:
    """The subscription in these bytes, and where it ends; struct.error or ValueError where they cannot be read."""
    version: int = INT.unpack_from(data)[0]
    latest = UNKNOWN
    if 7 <= version <= 9:
        return _parse_nested(data, version)
    if version > LATEST:
        version, latest = INTS.unpack_from(data)
        return SubscriptionInfo(version, latest, head_only=True), 8
    if version < 1:
        raise ValueError(version)
    if version >= 3:
        version, latest, process_id = _HEAD.unpack_from(data)
        read = Reader(data, 24)
    else:
        version, process_id = _HEAD_OLD.unpack_from(data)
        read = Reader(data, 20)
    if version < 7:
        prev, standby = _tasks(read), _tasks(read)
        end_point = read.text32() if version >= 2 else ""
        return SubscriptionInfo(version, latest, process_id, end_point or None, prev, standby), read.at
    end_point = read.text32()
    sums = _flat(read)
    unique: int = BYTE.unpack(read.raw(1))[0]
    error = read.i32()
    tags = tuple([(read.text32(), read.text32()) for _ in read.count(8)]) if version >= 11 else ()
    info = SubscriptionInfo(version, latest, process_id, end_point or None, (), (), sums, unique, error, tags)
    return info, read.at


def _parse_nested(data: bytes, version: int) -> tuple[SubscriptionInfo, int]:
    """The body of v7 to v9, without a Reader: these are the bytes that a large group is full of."""
    _, latest, process_id, length = _HEAD_AND_LENGTH.unpack_from(data)
    size = len(data)
    at = 28 + length
    if length < 0 or at > size:
        raise ValueError(length)
    end_point = data[28:at].decode()
    count: int = INT.unpack_from(data, at)[0]
    at += 4
    if count < 0 or 8 * count > size - at:
        raise ValueError(count)
    sums = []
    for _ in repeat(None, count):
        subtopology, pairs = INTS.unpack_from(data, at)
        at += 8
        end = at + 12 * pairs
        if pairs < 0 or end > size:
            raise ValueError(pairs)
        if pairs <= _BLOCK:
            numbers = _offsets(pairs).unpack_from(data, at)
        else:
            rest = end - 12 * (pairs % _BLOCK)
            blocks = _offsets(_BLOCK).iter_unpack(data[at:rest])
            numbers = (*chain.from_iterable(blocks), *_offsets(pairs % _BLOCK).unpack_from(data, rest))
        sums.append((subtopology, numbers))
        at = end
    unique: int = BYTE.unpack_from(data, at)[0] if version >= 8 else 0
    error: int = INT.unpack_from(data, at + 1)[0] if version >= 9 else 0
    info = SubscriptionInfo(version, latest, process_id, end_point or None, (), (), tuple(sums), unique, error)
    return info, at + (0, 1, 5)[version - 7]


def _tasks(read: Reader) -> tuple[TaskId, ...]:
    return tuple([new_task((subtopology, partition, None)) for subtopology, partition in read.pairs()])


def _flat(read: Reader) -> FlatOffsetSums:
    start = read.at
    count = read.i32()
    rows = list(_NAMELESS_TASK_OFFSET.iter_unpack(read.raw(18 * count)))
    if {row[3] for row in rows} <= {-1}:
        return tuple([(new_task((subtopology, partition, None)), offset) for subtopology, partition, offset, _ in rows])
    read.at = start + 4  # some task has a name, so the rows are not of one length
    sums = []
    for _ in repeat(None, count):
        subtopology, partition, offset = _TASK_OFFSET.unpack(read.raw(16))
        sums.append((new_task((subtopology, partition, read.text16_or_none() or None)), offset))
    return tuple(sums)


def encode_subscription_info(info: SubscriptionInfo) -> bytes:
    """The bytes of this subscription, in the order of its tuples; what its version does not carry is dropped.

    Raises EncodeError for a value that no bytes of its version can hold.

    >>> encode_subscription_info(SubscriptionInfo(12, 12, head_only=True)).hex()
    '0000000c0000000c'

    Source: 3.9.0 SubscriptionInfo#encode, SubscriptionInfoData.json.
    """
    return build(info, second=info.latest_supported_version)


def build(info: SubscriptionInfo, *, second: int) -> bytes:
    """The bytes with this second int, from v3 on."""
    version = info.version
    if info.head_only:
        return pack("version", INTS, version, second)
    if not 1 <= version <= LATEST:
        raise EncodeError(f"v{version} is no known version (1 to {LATEST})", field="version")
    if len(info.process_id) != 16:
        raise EncodeError(f"{len(info.process_id)} bytes are no UUID (16 are)", field="process_id")
    if version >= 3:
        parts = [pack("latest_supported_version", _HEAD, version, second, info.process_id)]
    else:
        parts = [_HEAD_OLD.pack(version, info.process_id)]
    if version < 7:
        if info.task_offset_sums:
            raise EncodeError(f"v{version} carries no offset sums, v7 and later do", field="task_offset_sums")
        parts.append(_pack_tasks("prev_tasks", info.prev_tasks))
        parts.append(_pack_tasks("standby_tasks", info.standby_tasks))
    elif info.prev_tasks or info.standby_tasks:
        field = "prev_tasks" if info.prev_tasks else "standby_tasks"
        raise EncodeError(f"v{version} carries offset sums instead", field=field)
    if version >= 2:
        parts.append(pack_text32("user_end_point", info.user_end_point or ""))
    if version >= 7:
        try:
            parts += _pack_sums(info.task_offset_sums, version)
        except EncodeError:
            raise
        except (struct.error, TypeError, ValueError) as error:
            raise EncodeError(f"no offset sums of v{version} ({error})", field="task_offset_sums") from None
    if version >= 8:
        parts.append(pack("unique_field", BYTE, info.unique_field))
    if version >= 9:
        parts.append(pack("error_code", INT, info.error_code))
    if version >= 11:
        parts.append(INT.pack(len(info.client_tags)))
        for tag in info.client_tags:
            parts += (pack_text32("client_tags", text) for text in tag)
    return b"".join(parts)


def _pack_tasks(field: str, tasks: tuple[TaskId, ...]) -> bytes:
    if any(task[2] for task in tasks):
        raise NamelessVersion(field=field)
    return INT.pack(len(tasks)) + b"".join([pack(field, INTS, task[0], task[1]) for task in tasks])


def _pack_sums(sums: NestedOffsetSums | FlatOffsetSums, version: int) -> list[bytes]:
    if version >= 10:
        return _pack_flat(cast(FlatOffsetSums, sums))
    parts = [INT.pack(len(sums))]
    for subtopology, numbers in cast(NestedOffsetSums, sums):
        parts.append(INTS.pack(subtopology, len(numbers) // 2))
        for start in range(0, len(numbers), 2 * _BLOCK):
            block = numbers[start : start + 2 * _BLOCK]
            parts.append(_offsets(len(block) // 2).pack(*block))
    return parts


def _pack_flat(sums: FlatOffsetSums) -> list[bytes]:
    parts = [INT.pack(len(sums))]
    for (subtopology, partition, topology), offset in sums:
        if topology:
            parts.append(_TASK_OFFSET.pack(subtopology, partition, offset))
            parts.append(pack_text16("task_offset_sums", topology))
        else:
            parts.append(_NAMELESS_TASK_OFFSET.pack(subtopology, partition, offset, -1))
    return parts
