"""The record in which a broker keeps a group: the value of `__consumer_offsets` under a group's key.

The members' bytes inside it are messages of `wire`; who asks for it is `layers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import DecodeError
from ..wire import Field

FLEXIBLE = 4
"""The version since which lengths are varints and fields may be tagged."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of the record, with where its bytes lie."""

    name: str
    subscription: bytes
    subscription_at: int
    assignment: bytes
    assignment_at: int


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """The record, field by field."""

    fields: tuple[Field, ...]
    protocol: str
    members: tuple[Member, ...]


def looks_like_a_record(data: bytes) -> bool:
    """Whether the bytes begin as a group's record does: a version, and the protocol type `consumer`."""
    if len(data) < 12 or data[0] or data[1] > FLEXIBLE:
        return False
    return data[2:12] == b"\x00\x08consumer" or data[2:11] == b"\x09consumer"


def group_record(data: bytes) -> GroupRecord:
    """The record, read; a damaged one up to the damage, which is then its last field.

    Source: 3.9.0 GroupMetadataValue.json.
    """
    walk = _Walk(data)
    members: list[Member] = []
    try:
        members.extend(_members(walk))
    except DecodeError as error:
        at = sum((walk.fields[-1].offset, walk.fields[-1].length)) if walk.fields else 0
        walk.fields.append(Field(error.field, at, len(data) - at, problem=error.reason))
    protocol = next((str(field.value) for field in walk.fields if field.name == "protocol" and field.value), "")
    return GroupRecord(tuple(walk.fields), protocol, tuple(members))


def _members(walk: _Walk) -> Iterator[Member]:
    version = walk.number("version", 2)
    if not 0 <= version <= FLEXIBLE:
        raise DecodeError(f"{version} is no known version (0 to {FLEXIBLE})", offset=0, field="version")
    walk.flexible = version >= FLEXIBLE
    walk.text("protocol_type")
    walk.number("generation", 4)
    walk.text("protocol")
    walk.text("leader")
    if version >= 2:
        walk.number("current_state_timestamp", 8)
    for index in range(walk.count("members")):
        at = f"members[{index}]"
        name = walk.text(f"{at}.member_id")
        if version >= 3:
            walk.text(f"{at}.group_instance_id")
        walk.text(f"{at}.client_id")
        walk.text(f"{at}.client_host")
        if version >= 1:
            walk.number(f"{at}.rebalance_timeout", 4)
        walk.number(f"{at}.session_timeout", 4)
        subscription = walk.raw(f"{at}.subscription")
        first = walk.at - len(subscription)
        assignment = walk.raw(f"{at}.assignment")
        yield Member(name or "", subscription, first, assignment, walk.at - len(assignment))
        walk.tags(at)
    walk.tags("")


class _Walk:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.flexible = False
        self.fields: list[Field] = []

    def take(self, count: int, field: str) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            left = len(self.data) - self.at
            raise DecodeError(
                f"needs {count} bytes, {left} {'is' if left == 1 else 'are'} left", offset=self.at, field=field
            )
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, field: str, size: int) -> int:
        start = self.at
        value = int.from_bytes(self.take(size, field), "big", signed=True)
        self.fields.append(Field(field, start, size, value))
        return value

    def varint(self, field: str) -> int:
        value = shift = 0
        while True:
            byte = self.take(1, field)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 28:
                raise DecodeError("a length of more than five bytes", offset=self.at, field=field)

    def length(self, field: str, size: int) -> int:
        if self.flexible:
            return self.varint(field) - 1
        return int.from_bytes(self.take(size, field), "big", signed=True)

    def text(self, field: str) -> str | None:
        start = self.at
        count = self.length(field, 2)
        value = None if count < 0 else self.take(count, field).decode("utf-8", errors="replace")
        self.fields.append(Field(field, start, self.at - start, value))
        return value

    def raw(self, field: str) -> bytes:
        start = self.at
        count = self.length(field, 4)
        value = b"" if count < 0 else self.take(count, field)
        self.fields.append(Field(field, start, self.at - start, value))
        return value

    def count(self, field: str) -> int:
        start = self.at
        value = max(0, self.length(field, 4))
        if value > len(self.data) - self.at:
            raise DecodeError(f"{value} elements in {len(self.data) - self.at} bytes", offset=start, field=field)
        self.fields.append(Field(field, start, self.at - start, value))
        return value

    def tags(self, field: str) -> None:
        if not self.flexible:
            return
        for _ in range(self.varint(f"{field}.tags")):
            self.varint(f"{field}.tags")
            self.take(self.varint(f"{field}.tags"), f"{field}.tags")
