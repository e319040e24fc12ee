"""Java's byte buffers, streams and collections, as far as damaged bytes make them throw.

Which of them a release of Kafka uses is in `binary` (the Streams payloads) and `client` (the envelopes).
"""

from __future__ import annotations

import codecs
from collections.abc import Hashable, Iterable
from struct import Struct
from typing import NoReturn, TypeVar

from ..trace import Failure
from .scalars import BYTE, INT, LONG, SHORT

T = TypeVar("T", bound=Hashable)

UNDERFLOW = Failure("BufferUnderflowException", "null")

HEAP = 2**30
"""The heap that an OutOfMemoryError is judged by: 1 GiB; a collection takes 4 bytes for each place."""

_VM_LIMIT = 2**31 - 2
"""The shortest array that no HotSpot allocates, however large its heap."""


class Thrown(Exception):
    """A Java exception on its way up."""

    def __init__(self, exception: str, text: str) -> None:
        self.failure = Failure(exception, text)


def allocate(places: int, *, size: int = 4) -> None:
    """An array of so many places, if the heap has room for it."""
    if places >= _VM_LIMIT:
        raise Thrown("OutOfMemoryError", "Requested array size exceeds VM limit")
    if places * size >= HEAP:
        raise Thrown("OutOfMemoryError", "Java heap space")


def array_list(capacity: int) -> None:
    """`new ArrayList<>(capacity)`."""
    if capacity < 0:
        raise Thrown("IllegalArgumentException", f"Illegal Capacity: {capacity}")
    allocate(capacity)


class HashTable:
    """`new HashMap<>(capacity)` or `new HashSet<>(capacity)`: its table is allocated by the first put."""

    def __init__(self, capacity: int) -> None:
        if capacity < 0:
            raise Thrown("IllegalArgumentException", f"Illegal initial capacity: {capacity}")
        self.table = min(1 << max(capacity - 1, 0).bit_length(), 1 << 30)

    def put(self) -> None:
        """One more element; only the first can fail."""
        allocate(self.table)
        self.table = 0


def unique(items: tuple[T, ...]) -> tuple[T, ...]:
    """The elements as a set keeps them: each once."""
    return items if len(set(items)) == len(items) else tuple(dict.fromkeys(items))


def utf8(raw: bytes) -> str:
    """`new String(raw, UTF_8)`: what is no text becomes U+FFFD, and so does half a surrogate pair, as one.

    >>> half = bytes.fromhex("eda0bd")
    >>> len(utf8(half)), len(half.decode(errors="replace"))
    (1, 3)
    """
    return raw.decode("utf-8", "java")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    at = error.start
    tail = error.object[at : at + 3]
    if tail[0] == 0xED and tail[1:2] >= b"\xa0" and tail[1:2] < b"\xc0":
        whole = len(tail) == 3 and tail[2] >> 6 == 0b10
        return "\ufffd", at + (3 if whole else 2)
    return "\ufffd", error.end


codecs.register_error("java", _replace)


class Buffer:
    """A `ByteBuffer`: it throws BufferUnderflowException at its end."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    @property
    def left(self) -> int:
        """The bytes that remain."""
        return len(self.data) - self.at

    def missing(self) -> NoReturn:
        """What it throws when too few bytes remain."""
        raise Thrown(UNDERFLOW.exception, UNDERFLOW.text)

    def take(self, size: int) -> bytes:
        """So many bytes."""
        if size > self.left:
            self.missing()
        raw = self.data[self.at : self.at + size]
        self.at += size
        return raw

    def number(self, layout: Struct) -> int:
        """One number."""
        value: int = layout.unpack(self.take(layout.size))[0]
        return value

    def i8(self) -> int:
        """`get` or `readByte`."""
        return self.number(BYTE)

    def i16(self) -> int:
        """`getShort` or `readShort`."""
        return self.number(SHORT)

    def i32(self) -> int:
        """`getInt` or `readInt`."""
        return self.number(INT)

    def i64(self) -> int:
        """`getLong` or `readLong`."""
        return self.number(LONG)

    def need(self, count: int, size: int) -> None:
        """Throw at once if so many elements of this size, read one by one, would run past the end."""
        if count * size > self.left:
            self.missing()


class Stream(Buffer):
    """A `DataInputStream` inside `AssignmentInfo#decode`, which wraps its IOExceptions."""

    def missing(self) -> NoReturn:
        """EOFException and UTFDataFormatException look alike from outside."""
        raise Thrown("TaskAssignmentException", "Failed to decode AssignmentInfo")

    def utf(self) -> str:
        """`readUTF`: it takes longer forms of a character too, and zero bytes."""
        raw = self.take(self.i16() & 0xFFFF)
        if raw.isascii():
            return raw.decode("ascii")
        return text_of(self._units(raw))

    def _units(self, raw: bytes) -> list[int]:
        units = []
        at = 0
        while at < len(raw):
            lead = raw[at]
            size = 1 if lead < 0x80 else 2 if lead >> 5 == 0b110 else 3 if lead >> 4 == 0b1110 else 0
            rest = raw[at + 1 : at + size]
            if not size or len(rest) != size - 1 or any(byte >> 6 != 0b10 for byte in rest):
                self.missing()
            unit = lead if size == 1 else lead & (0x1F if size == 2 else 0x0F)
            for byte in rest:
                unit = unit << 6 | byte & 0x3F
            units.append(unit)
            at += size
        return units


def text_of(units: Iterable[int]) -> str:
    """A Java string of these UTF-16 units; half a surrogate pair stays what it is."""
    raw = b"".join(unit.to_bytes(2, "big") for unit in units)
    return raw.decode("utf-16-be", "surrogatepass")
