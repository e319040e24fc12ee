"""Numbers, texts and byte strings, as all four messages read and write them.

Each message as a whole is in `subscription`, `assignment` or `envelope`. The readers here raise ValueError or
struct.error; which field that was, `layout` finds out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from itertools import repeat
from struct import Struct

from ..errors import EncodeError
from ..messages import TaskId
from .text import LIMIT, from_modified_utf8, to_modified_utf8

BYTE = Struct(">b")
SHORT = Struct(">h")
UNSIGNED_SHORT = Struct(">H")
INT = Struct(">i")
INTS = Struct(">ii")
LONG = Struct(">q")


class TooLong(EncodeError):
    """A text longer than its length can say: Java throws as well."""


class NamelessVersion(EncodeError):
    """A task of a named topology in a version that has no room for the name: Java throws as well."""

    def __init__(self, *, field: str) -> None:
        super().__init__("a task of a named topology needs v10 or later", field=field)


new_task = partial(tuple.__new__, TaskId)
"""A TaskId of a tuple of three; it takes half the time of TaskId's own constructor."""


class Reader:
    """A place in bytes that moves on with each value read.

    >>> read = Reader(bytes.fromhex("00000001 0002 7431"), 0)
    >>> read.i32(), read.utf(), read.at
    (1, 't1', 8)
    """

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def i32(self) -> int:
        """An i32."""
        value: int = INT.unpack_from(self.data, self.at)[0]
        self.at += 4
        return value

    def i16(self) -> int:
        """An i16."""
        value: int = SHORT.unpack_from(self.data, self.at)[0]
        self.at += 2
        return value

    def raw(self, size: int) -> bytes:
        """So many bytes."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise ValueError(size)
        raw = self.data[self.at : end]
        self.at = end
        return raw

    def count(self, least: int) -> Iterator[None]:
        """As many turns as an i32 counts, if so many elements of at least this size can follow."""
        count = self.i32()
        if count < 0 or count * least > len(self.data) - self.at:
            raise ValueError(count)
        return repeat(None, count)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """As many pairs of i32 as an i32 counts."""
        return INTS.iter_unpack(self.raw(8 * self.i32()))

    def text16(self) -> str:
        """UTF-8 behind an i16 length."""
        return self.raw(self.i16()).decode()

    def text16_or_none(self) -> str | None:
        """UTF-8 behind an i16 length, or None for a length of -1."""
        length = self.i16()
        return None if length == -1 else self.raw(length).decode()

    def text32(self) -> str:
        """UTF-8 behind an i32 length."""
        return self.raw(self.i32()).decode()

    def bytes_or_none(self) -> bytes | None:
        """Bytes behind an i32 length, or None for a length of -1."""
        length = self.i32()
        return None if length == -1 else self.raw(length)

    def utf(self) -> str:
        """Modified UTF-8 behind a u16 length."""
        length: int = UNSIGNED_SHORT.unpack_from(self.data, self.at)[0]
        self.at += 2
        return from_modified_utf8(self.raw(length))

    def units(self) -> str | None:
        """UTF-16 behind an i32 count of units; None for none."""
        return self.raw(2 * self.i32()).decode("utf-16-be") or None


def pack(field: str, layout: Struct, *values: object) -> bytes:
    """These values; EncodeError where one has no bytes."""
    try:
        return layout.pack(*values)
    except struct.error as error:
        raise EncodeError(str(error), field=field) from None


def pack_text32(field: str, text: str) -> bytes:
    """UTF-8 behind an i32 length."""
    raw = _encoded(field, text, "utf-8")
    return INT.pack(len(raw)) + raw


def pack_text16(field: str, text: str) -> bytes:
    """UTF-8 behind an i16 length."""
    raw = _encoded(field, text, "utf-8")
    if len(raw) > 0x7FFF:
        raise TooLong(f"a text of {len(raw)} bytes is too long (at most {0x7FFF})", field=field)
    return SHORT.pack(len(raw)) + raw


def pack_utf(field: str, text: str) -> bytes:
    """Modified UTF-8 behind a u16 length."""
    try:
        raw = to_modified_utf8(text)
    except UnicodeEncodeError as error:
        raise EncodeError(f"no text ({error.reason})", field=field) from None
    if len(raw) > LIMIT:
        raise TooLong(f"a text of {len(raw)} bytes is too long (at most {LIMIT})", field=field)
    return UNSIGNED_SHORT.pack(len(raw)) + raw


def pack_units(field: str, text: str | None) -> bytes:
    """UTF-16 behind an i32 count of units."""
    raw = _encoded(field, text or "", "utf-16-be")
    return INT.pack(len(raw) // 2) + raw


def pack_bytes(raw: bytes | None) -> bytes:
    """Bytes behind an i32 length, -1 for None."""
    return INT.pack(-1) if raw is None else INT.pack(len(raw)) + raw


def _encoded(field: str, text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise EncodeError(f"no text ({error.reason})", field=field) from None
