"""The consumer's envelopes as bytes and back, v0 to v3: what JoinGroup and SyncGroup carry for the client.

The Streams payloads inside are in `subscription` and `assignment`; the layouts as tables in `layout`.
"""

from __future__ import annotations

import struct

from ..errors import EncodeError
from ..messages import Assignment, Subscription, TopicPartition
from .layout import CONSUMER_ASSIGNMENT, CONSUMER_SUBSCRIPTION, ENVELOPE_LATEST, reason
from .scalars import INT, SHORT, Reader, pack, pack_bytes, pack_text16


def decode_subscription(data: bytes, *, known: int = ENVELOPE_LATEST) -> Subscription:
    """The consumer's subscription in these bytes, as a reader sees it that knows versions up to `known`.

    A newer version is read by the newest layout known; what follows is ignored, as by every client.

    Raises DecodeError with the offset and the field where the bytes stop being readable.

    >>> decode_subscription(bytes.fromhex("0000 00000001 00027431 ffffffff")).topics
    ('t1',)

    Source: 3.9.0 ConsumerProtocol#deserializeSubscription.
    """
    data = bytes(data)
    try:
        return parse_subscription(data, known=known)[0]
    except (struct.error, ValueError):
        raise reason(data, CONSUMER_SUBSCRIPTION) from None


def decode_assignment(data: bytes) -> Assignment:
    """The consumer's assignment in these bytes; every version has the same layout.

    Raises DecodeError with the offset and the field where the bytes stop being readable.

    >>> decode_assignment(bytes.fromhex("0000 00000000 00000000")).user_data
    b''

    Source: 3.9.0 ConsumerProtocol#deserializeAssignment.
    """
    data = bytes(data)
    try:
        return parse_assignment(data)[0]
    except (struct.error, ValueError):
        raise reason(data, CONSUMER_ASSIGNMENT) from None


def parse_subscription(data: bytes, *, known: int) -> tuple[Subscription, int]:
    """The subscription, and where it ends; struct.error or ValueError where it cannot be read."""
    read, version = _begin(data)
    version = min(version, known)
    topics = tuple([read.text16() for _ in read.count(2)])
    user_data = read.bytes_or_none()
    owned = _by_topic(read) if version >= 1 else ()
    generation = read.i32() if version >= 2 else -1
    rack = read.text16_or_none() if version >= 3 else None
    return Subscription(topics, user_data, owned, generation, rack), read.at


def parse_assignment(data: bytes) -> tuple[Assignment, int]:
    """The assignment, and where it ends; struct.error or ValueError where it cannot be read."""
    read, _ = _begin(data)
    return Assignment(_by_topic(read), read.bytes_or_none()), read.at


def _begin(data: bytes) -> tuple[Reader, int]:
    read = Reader(data, 0)
    version = read.i16()
    if version < 0:
        raise ValueError(version)
    return read, version


def _by_topic(read: Reader) -> tuple[TopicPartition, ...]:
    found = []
    for _ in read.count(6):
        topic = read.text16()
        found += [TopicPartition(topic, partition) for (partition,) in INT.iter_unpack(read.raw(4 * read.i32()))]
    return tuple(found)


def encode_subscription(value: Subscription, *, version: int) -> bytes:
    """The bytes of this subscription in one version of the envelope; partitions are grouped by topic.

    Raises EncodeError for a value that no bytes of that version can hold.

    >>> encode_subscription(Subscription(("t1",)), version=0).hex(" ", 4)
    '0000 00000001 00027431 ffffffff'

    Source: 3.9.0 ConsumerProtocol#serializeSubscription.
    """
    parts = [_head(version), INT.pack(len(value.topics))]
    parts += [pack_text16("topics", topic) for topic in value.topics]
    parts.append(pack_bytes(value.user_data))
    if version >= 1:
        parts += _pack_by_topic("owned_partitions", value.owned_partitions)
    if version >= 2:
        parts.append(pack("generation_id", INT, value.generation_id))
    if version >= 3:
        parts.append(SHORT.pack(-1) if value.rack_id is None else pack_text16("rack_id", value.rack_id))
    return b"".join(parts)


def encode_assignment(value: Assignment, *, version: int) -> bytes:
    """The bytes of this assignment in one version of the envelope; partitions are grouped by topic.

    Raises EncodeError for a value that no bytes can hold.

    >>> encode_assignment(Assignment((), b""), version=1).hex(" ", 4)
    '0001 00000000 00000000'

    Source: 3.9.0 ConsumerProtocol#serializeAssignment.
    """
    parts = [_head(version), *_pack_by_topic("partitions", value.partitions), pack_bytes(value.user_data)]
    return b"".join(parts)


def _head(version: int) -> bytes:
    if not 0 <= version <= ENVELOPE_LATEST:
        raise EncodeError(f"v{version} is no known version (0 to {ENVELOPE_LATEST})", field="version")
    return SHORT.pack(version)


def _pack_by_topic(field: str, partitions: tuple[TopicPartition, ...]) -> list[bytes]:
    grouped: dict[str, list[int]] = {}
    for topic, partition in partitions:
        grouped.setdefault(topic, []).append(partition)
    parts = [INT.pack(len(grouped))]
    for topic, numbers in grouped.items():
        parts.append(pack_text16(field, topic))
        parts.append(INT.pack(len(numbers)))
        parts += [pack(field, INT, number) for number in numbers]
    return parts
