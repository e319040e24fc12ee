"""The layouts of the four messages as tables, with the walk that names every field of given bytes.

The quick readers and writers are in `subscription`, `assignment` and `envelope`; they ask here what is
wrong with bytes that they could not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from ..errors import DecodeError
from ..versions import LATEST
from .text import from_modified_utf8

SUBSCRIPTION_INFO = "subscription info"
ASSIGNMENT_INFO = "assignment info"
CONSUMER_SUBSCRIPTION = "consumer subscription"
CONSUMER_ASSIGNMENT = "consumer assignment"

ENVELOPE_LATEST = 3
"""The latest version of the consumer's envelopes, written since 3.4.0."""


class Row(NamedTuple):
    """One field of a layout, in the versions from `since` to `until`."""

    name: str
    type: str | Array
    since: int = 0
    until: int = 99


@dataclass(frozen=True, slots=True)
class Array:
    """A field that is an i32 count and so many elements."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of given bytes: its path, where it lies with its length prefix, and what it says.

    >>> [str(field) for field in fields(bytes.fromhex("0000000c0000000c"), SUBSCRIPTION_INFO)]
    ['0+4 version = 12', '4+4 latest_supported_version = 12']
    """

    name: str
    offset: int
    length: int
    value: object = None
    problem: str = ""
    """Why it could not be read; empty where it could. Only the last field may have one."""

    def __str__(self) -> str:
        return f"{self.offset}+{self.length} {self.name} = {self.problem or repr(self.value)}"


_TASK = (Row("subtopology", "i32"), Row("partition", "i32"))
_NAMED_TASK = (*_TASK, Row("topology", "units", 10))
_PARTITIONS = Array((Row("topic", "utf"), Row("partition", "i32")))
_INDEXED_PARTITIONS = Array((Row("topic", "topic index"), Row("partition", "i32")))
_HOST = (Row("host", "utf"), Row("port", "i32"))
_BY_HOST = Array((*_HOST, Row("partitions", _PARTITIONS)))
_BY_HOST_INDEXED = Array((*_HOST, Row("partitions", _INDEXED_PARTITIONS)))
_BY_TOPIC = Array((Row("topic", "text16"), Row("partitions", Array((Row("", "i32"),)))))

LAYOUTS: dict[str, tuple[Row, ...]] = {
    SUBSCRIPTION_INFO: (
        Row("version", "i32"),
        Row("latest_supported_version", "i32", 3),
        Row("process_id", "uuid", 1),
        Row("prev_tasks", Array(_TASK), 1, 6),
        Row("standby_tasks", Array(_TASK), 1, 6),
        Row("user_end_point", "text32", 2),
        Row(
            "task_offset_sums",
            Array(
                (
                    Row("subtopology", "i32"),
                    Row("partitions", Array((Row("partition", "i32"), Row("offset_sum", "i64"))), 7, 9),
                    Row("partition", "i32", 10),
                    Row("offset_sum", "i64", 10),
                    Row("topology", "text16?", 10),
                )
            ),
            7,
        ),
        Row("unique_field", "i8", 8),
        Row("error_code", "i32", 9),
        Row("client_tags", Array((Row("key", "text32"), Row("value", "text32"))), 11),
    ),
    ASSIGNMENT_INFO: (
        Row("version", "i32"),
        Row("commonly_supported_version", "i32", 3),
        Row("active_tasks", Array(_NAMED_TASK), 1),
        Row("standby_tasks", Array((*_NAMED_TASK, Row("partitions", _PARTITIONS))), 1),
        Row("partitions_by_host", _BY_HOST, 2, 4),
        Row("topics", Array((Row("index", "new index"), Row("topic", "utf"))), 5),
        Row("partitions_by_host", _BY_HOST_INDEXED, 5),
        Row("standby_partitions_by_host", _BY_HOST_INDEXED, 6),
        Row("error_code", "i32", 4),
        Row("next_rebalance_ms", "i64", 7),
    ),
    CONSUMER_SUBSCRIPTION: (
        Row("version", "i16"),
        Row("topics", Array((Row("", "text16"),))),
        Row("user_data", "bytes32?"),
        Row("owned_partitions", _BY_TOPIC, 1),
        Row("generation_id", "i32", 2),
        Row("rack_id", "text16?", 3),
    ),
    CONSUMER_ASSIGNMENT: (
        Row("version", "i16"),
        Row("partitions", _BY_TOPIC),
        Row("user_data", "bytes32?"),
    ),
}
"""Each message by its kind, in the order of its bytes.

Source: 3.9.0 SubscriptionInfoData.json, AssignmentInfo#encode, ConsumerProtocolSubscription.json,
ConsumerProtocolAssignment.json.
"""

_NUMBERS = {
    "i8": Struct(">b"),
    "i16": Struct(">h"),
    "i32": Struct(">i"),
    "i64": Struct(">q"),
    "uuid": Struct(">16s"),
    "new index": Struct(">i"),
    "topic index": Struct(">i"),
}
_PREFIXES = {
    "text16": Struct(">h"),
    "text16?": Struct(">h"),
    "text32": Struct(">i"),
    "bytes32?": Struct(">i"),
    "utf": Struct(">H"),
    "units": Struct(">i"),
}
_CHECKED = ("new index", "topic index")


class _Stop(Exception):
    """The walk cannot go on: at this offset, for this reason."""

    def __init__(self, offset: int, reason: str) -> None:
        self.offset = offset
        self.reason = reason


class _Walk:
    """One walk over bytes; it keeps the fields only when asked to."""

    def __init__(self, data: bytes, kind: str, *, keep: bool) -> None:
        self.data = data
        self.kind = kind
        self.keep = keep
        self.at = 0
        self.version = 0
        self.topics: set[int] = set()
        self.path: list[str | int] = []
        """The arrays that the walk is inside of, each with the index of its element."""
        self.leaf = ""
        self.number_read = 0
        self.fields: list[Field] = []

    @property
    def name(self) -> str:
        """Where the walk is, such as `prev_tasks[0].partition`."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return ("".join(steps) + (f".{self.leaf}" if self.leaf else "")).removeprefix(".")

    @property
    def left(self) -> str:
        """How many bytes are left, in words."""
        left = len(self.data) - self.at
        return f"{left} {'is' if left == 1 else 'are'} left"

    def run(self) -> None:
        """Walk all rows; raises _Stop, with the name still that of the field."""
        version, *rows = LAYOUTS[self.kind]
        self.rows((version,))
        self.version = self.number_read
        self.judge()
        self.rows(tuple(row for row in rows if row.since <= self.version <= row.until))

    def judge(self) -> None:
        """What the version just read means for the rows that follow."""
        if self.kind == SUBSCRIPTION_INFO and self.version > LATEST:
            self.rows((Row("latest_supported_version", "i32"),))
            self.version = -1  # no row follows: only the head of a future version is known
        elif self.kind in (SUBSCRIPTION_INFO, ASSIGNMENT_INFO):
            if not 1 <= self.version <= LATEST:
                raise _Stop(0, f"{self.version} is no known version (1 to {LATEST})")
        elif self.version < 0:
            raise _Stop(0, f"{self.version} is no version (0 and later)")
        else:
            self.version = min(self.version, ENVELOPE_LATEST)

    def rows(self, rows: tuple[Row, ...]) -> None:
        """These fields, with all that is inside."""
        for name, kind, _, _ in rows:
            self.leaf = name
            if isinstance(kind, Array):
                self.array(kind)
            elif kind in _NUMBERS:
                self.number(kind)
            else:
                self.prefixed(kind)

    def unpack(self, struct: Struct) -> int:
        """The number at the walk's place, which moves past it."""
        end = self.at + struct.size
        if end > len(self.data):
            raise _Stop(self.at, f"needs {struct.size} {'byte' if struct.size == 1 else 'bytes'}, {self.left}")
        value: int = struct.unpack_from(self.data, self.at)[0]
        self.at = end
        return value

    def note(self, offset: int, value: object) -> None:
        """Keep the field that has just been read."""
        if self.keep:
            self.fields.append(Field(self.name, offset, self.at - offset, value))

    def number(self, kind: str) -> None:
        """A field of fixed size."""
        offset = self.at
        value = self.unpack(_NUMBERS[kind])
        if kind == "new index":
            self.topics.add(value)
        elif kind == "topic index" and value not in self.topics:
            raise _Stop(offset, f"{value} is not in the dictionary of topics")
        self.number_read = value
        self.note(offset, value)

    def prefixed(self, kind: str) -> None:
        """A field that begins with its length."""
        offset = self.at
        length = self.unpack(_PREFIXES[kind])
        if length == -1 and kind.endswith("?"):
            self.note(offset, None)
            return
        if length < 0:
            raise _Stop(offset, f"a length of {length}")
        size = 2 * length if kind == "units" else length
        if size > len(self.data) - self.at:
            raise _Stop(offset, f"announces {size} {'byte' if size == 1 else 'bytes'}, {self.left}")
        raw = self.data[self.at : self.at + size]
        self.at += size
        try:
            self.note(offset, _text(raw, kind))
        except ValueError:
            raise _Stop(offset, f"its {size} {'byte is' if size == 1 else 'bytes are'} no text") from None

    def array(self, array: Array) -> None:
        """A count, and the elements that it counts."""
        offset = self.at
        count = self.unpack(_NUMBERS["i32"])
        if count < 0:
            raise _Stop(offset, f"a count of {count}")
        rows = tuple(row for row in array.rows if row.since <= self.version <= row.until)
        least = sum(_least(row.type) for row in rows)
        if count * least > len(self.data) - self.at:
            need = "element needs" if count == 1 else "elements need"
            raise _Stop(offset, f"{count} {need} {count * least} bytes, {self.left}")
        self.note(offset, count)
        if not self.keep and all(row.type in _NUMBERS and row.type not in _CHECKED for row in rows):
            self.at += count * least
            return
        self.path += (self.leaf, 0)
        for index in range(count):
            self.path[-1] = index
            self.rows(rows)
        del self.path[-2:]


def _text(raw: bytes, kind: str) -> object:
    """What bytes of this kind say; ValueError where they are no text."""
    if kind == "bytes32?":
        return raw
    if kind == "utf":
        return from_modified_utf8(raw)
    if kind == "units":
        return raw.decode("utf-16-be")
    return raw.decode("utf-8")


def _least(kind: str | Array) -> int:
    """The fewest bytes that a field of this type can have."""
    return 4 if isinstance(kind, Array) else (_NUMBERS.get(kind) or _PREFIXES[kind]).size


def fields(data: bytes, kind: str, *, at: int = 0) -> tuple[Field, ...]:
    """Every field of the bytes, in their order, as the layout of `kind` names them.

    Damaged bytes raise nothing: the last field then has a `problem`. What is left over at the end comes
    as a field called `trailing`: every Kafka reader ignores it. `at` is added to the offsets, for a
    payload inside an envelope.

    >>> for field in fields(bytes.fromhex("000000030000000300000000"), ASSIGNMENT_INFO): print(field)
    0+4 version = 3
    4+4 commonly_supported_version = 3
    8+4 active_tasks = 0
    12+0 standby_tasks = needs 4 bytes, 0 are left
    """
    if kind not in LAYOUTS:
        raise ValueError(f"no message is called {kind!r} (allowed: {', '.join(LAYOUTS)})")
    walk = _Walk(bytes(data), kind, keep=True)
    found = walk.fields
    try:
        walk.run()
        if walk.at < len(walk.data):
            found.append(Field("trailing", walk.at, len(walk.data) - walk.at, walk.data[walk.at :]))
    except _Stop as stop:
        if found and found[-1].name == walk.name:
            read = found.pop()
            found.append(Field(read.name, read.offset, read.length, read.value, stop.reason))
        else:
            found.append(Field(walk.name, stop.offset, len(walk.data) - stop.offset, problem=stop.reason))
    if not at:
        return tuple(found)
    return tuple(Field(field.name, field.offset + at, field.length, field.value, field.problem) for field in found)


def reason(data: bytes, kind: str) -> DecodeError:
    """Why a quick reader could not read these bytes: the offset and the field where they stop being readable."""
    walk = _Walk(data, kind, keep=False)
    try:
        walk.run()
    except _Stop as stop:
        return DecodeError(stop.reason, offset=stop.offset, field=walk.name)
    return DecodeError("cannot be read", offset=0, field="version")
