"""What the client of one release makes of the consumer's envelopes.

The strict codec is in `envelope`; the Streams payloads inside are in `binary`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ..messages import Assignment, Subscription, TopicPartition
from ..trace import Failure
from ..versions import CODECS, Dialect
from .binary import Read
from .envelope import parse_assignment, parse_subscription
from .jvm import Buffer, Thrown, allocate, utf8

T = TypeVar("T")

_GUARDED = CODECS.index("2.8.2")
_ONE_TEXT = "4.2.2"
_RUNTIME_EXCEPTIONS = ("BufferUnderflowException", "RuntimeException", "IllegalArgumentException")


def read_subscription(data: bytes, *, dialect: Dialect) -> Read:
    """The consumer's subscription as the group leader's client sees it: a newer one by the layout that it knows.

    Of the clients with damaged bytes, those of 2.6.1 to 2.6.3 are taken for 2.7.0.

    >>> read_subscription(b"\\xff\\xff", dialect=Dialect(latest=3, codec="2.0", envelope=0)).failure.text
    'Unsupported subscription version: -1'

    Source: ConsumerProtocol#deserializeSubscription of 0.10.0.0, 2.4.0, 2.7.0, 2.8.2, 3.4.0, 4.2.2.
    """
    return _read(bytes(data), dialect, "subscription", lambda raw: parse_subscription(raw, known=dialect.envelope)[0])


def read_assignment(data: bytes, *, dialect: Dialect) -> Read:
    """The consumer's assignment as a member's client sees it.

    Of the clients with damaged bytes, those of 2.6.1 to 2.6.3 are taken for 2.7.0.

    >>> read_assignment(b"\\xff\\xff", dialect=Dialect(latest=5, codec="2.2.2", envelope=1)).failure.text
    'Unsupported assignment version: -1'

    Source: ConsumerProtocol#deserializeAssignment of 0.10.0.0, 2.4.0, 2.7.0, 2.8.2, 4.2.2.
    """
    return _read(bytes(data), dialect, "assignment", lambda raw: parse_assignment(raw)[0])


def _read(data: bytes, dialect: Dialect, kind: str, parse: Callable[[bytes], Subscription | Assignment]) -> Read:
    try:
        value = parse(data)
        return Read(replace(value, rack_id=None) if isinstance(value, Subscription) and value.rack_id == "" else value)
    except (struct.error, ValueError):
        pass
    generated = dialect.latest >= 8
    client = _Generated(data, dialect) if generated else _Described(data, dialect)
    try:
        return Read(client.subscription() if kind == "subscription" else client.assignment())
    except Thrown as thrown:
        failure = thrown.failure
        if failure.exception == "BufferUnderflowException" and client.at < 2:
            failure = Failure("SchemaException", "Buffer underflow while parsing consumer protocol's header")
        elif dialect.codec == _ONE_TEXT and failure.exception in _RUNTIME_EXCEPTIONS:
            failure = Failure("SchemaException", f"Malformed consumer protocol {kind}")
        elif failure.exception == "BufferUnderflowException":
            failure = Failure("SchemaException", f"Buffer underflow while parsing consumer protocol's {kind}")
        return Read(None, failure)


class _Client(Buffer):
    """What both generations of clients have in common."""

    def __init__(self, data: bytes, dialect: Dialect) -> None:
        super().__init__(data)
        self.envelope = dialect.envelope
        self.guarded = CODECS.index(dialect.codec) >= _GUARDED
        self.keyed = dialect.latest >= 10
        """Whether partitions come in a collection with keys, which makes room for twice as many (since 3.0.0)."""

    def field(self, name: str, read: Callable[[], T]) -> T:
        """One field of a struct."""
        return read()

    def array(self, name: str, read: Callable[[], T], *, keyed: bool = False) -> tuple[T, ...]:
        """An i32 count and its elements."""
        raise NotImplementedError

    def text(self, name: str) -> str:
        """An i16 length and its UTF-8."""
        raise NotImplementedError

    def text_or_none(self) -> str | None:
        """The same, where -1 means none."""
        raise NotImplementedError

    def bytes_or_none(self) -> bytes | None:
        """An i32 length and its bytes, where a negative one means none."""
        raise NotImplementedError

    def version(self, kind: str) -> int:
        """The version; a negative one is refused."""
        version = self.field("version", self.i16)
        if version < 0:
            kind = kind if self.envelope else "subscription"
            raise Thrown("SchemaException", f"Unsupported {kind} version: {version}")
        return min(version, self.envelope)

    def by_topic(self, name: str) -> tuple[TopicPartition, ...]:
        """Partitions grouped by topic."""

        def topic() -> tuple[TopicPartition, ...]:
            name = self.field("topic", lambda: self.text("topic"))
            numbers = self.field("partitions", lambda: self.array("partitions", self.i32))
            return tuple(TopicPartition(name, number) for number in numbers)

        groups = self.field(name, lambda: self.array(name, topic, keyed=True))
        return tuple(partition for group in groups for partition in group)

    def subscription(self) -> Subscription:
        """The consumer's subscription."""
        version = self.version("subscription")
        topics = self.field("topics", lambda: self.array("topics", lambda: self.text("topics element")))
        user_data = self.field("user_data", self.bytes_or_none)
        owned = self.by_topic("ownedPartitions") if version >= 1 else ()
        generation = self.i32() if version >= 2 else -1
        rack = self.text_or_none() if version >= 3 else None
        return Subscription(topics, user_data, owned, generation, rack or None)

    def assignment(self) -> Assignment:
        """The consumer's assignment."""
        self.version("assignment")
        return Assignment(self.by_topic("assignedPartitions"), self.field("user_data", self.bytes_or_none))


class _Described(_Client):
    """Clients to 2.6.0 read by a description of the fields, and say which one could not be read."""

    _NAMES = {"ownedPartitions": "owned_partitions", "assignedPartitions": "topic_partitions"}  # noqa: RUF012

    def field(self, name: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except Thrown as thrown:
            failure = thrown.failure
            text = "java.nio.BufferUnderflowException" if failure.text == "null" else failure.text
            raise Thrown("SchemaException", f"Error reading field '{self._NAMES.get(name, name)}': {text}") from None

    def sized(self, what: str, size: int) -> bytes:
        if size > self.left:
            raise Thrown("SchemaException", f"Error reading {what} {size}, only {self.left} bytes available")
        return self.take(size)

    def array(self, name: str, read: Callable[[], T], *, keyed: bool = False) -> tuple[T, ...]:
        size = self.i32()
        if size < 0:
            raise Thrown("SchemaException", f"Array size {size} cannot be negative")
        if size > self.left:
            text = f"Error reading array of size {size}, only {self.left} bytes available"
            raise Thrown("SchemaException", text)
        return tuple([read() for _ in range(size)])

    def text(self, name: str) -> str:
        length = self.i16()
        if length < 0:
            raise Thrown("SchemaException", f"String length {length} cannot be negative")
        return utf8(self.sized("string of length", length))

    def bytes_or_none(self) -> bytes | None:
        size = self.i32()
        return None if size < 0 else self.sized("bytes of size", size)


class _Generated(_Client):
    """Clients from 2.7.0 have a generated reader."""

    def null(self, name: str) -> Thrown:
        return Thrown("RuntimeException", f"non-nullable field {name} was serialized as null")

    def array(self, name: str, read: Callable[[], T], *, keyed: bool = False) -> tuple[T, ...]:
        count = self.i32()
        if count < 0:
            raise self.null(name)
        if self.guarded and count > self.left:
            text = f"Tried to allocate a collection of size {count}, but there are only {self.left} bytes remaining."
            raise Thrown("RuntimeException", text)
        allocate((2 * count + 1 + 2**31) % 2**32 - 2**31 if keyed and self.keyed else count)
        return tuple([read() for _ in range(count)])

    def raw(self, length: int) -> bytes:
        if self.guarded and length > self.left:
            text = f"Error reading byte array of {length} byte(s): only {self.left} byte(s) available"
            raise Thrown("RuntimeException", text)
        allocate(length, size=1)
        return self.take(length)

    def text(self, name: str) -> str:
        length = self.i16()
        if length < 0:
            raise self.null(name)
        return utf8(self.raw(length))

    def text_or_none(self) -> str | None:
        length = self.i16()
        return None if length < 0 else utf8(self.raw(length))

    def bytes_or_none(self) -> bytes | None:
        length = self.i32()
        if length > self.left:
            raise Thrown("IllegalArgumentException", f"newLimit > capacity: ({length} > {self.left})")
        return None if length < 0 else self.take(length)
