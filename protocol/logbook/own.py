"""The lines of the rebalance itself, found by running every release's leader, member and thread.

No text is written down here: the rules are asked with numbers that no group has, and the numbers in what
they say become slots. What other parts of Kafka print is in `others`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from .. import leader, member, wire
from ..leader import Seen
from ..messages import NO_REBALANCE, AssignmentInfo, TaskId
from ..releases import Binary, releases
from ..trace import Failure, LogLine
from .shapes import Releases, Shape, merged

_LATEST, _USED, _RECEIVED, _COMMON, _HIGH = 7003, 5005, 4007, 4507, 6011
_FUTURE, _SUPPORTED, _SMALLEST = 8009, 9013, 2
_WHEN, _CODE, _VALUE = 1661915609131, 6019, "9.9"

Said = tuple[str, LogLine | Failure, dict[str, str]]
"""A kind, what was said, and what in its text stands for which slot."""


@cache
def shapes() -> tuple[Shape, ...]:
    """Every line that a rule of any release prints, and every exception that ends a thread."""
    behaviours: dict[Binary, Releases] = {}
    for i, row in enumerate(releases()):
        # What is told by name or number only would make each release a behaviour of its own.
        alike = replace(
            row.binary,
            name="",
            dialect=replace(row.binary.dialect, latest=_LATEST, envelope=0),
            session_timeout_ms=0,
            two_step=False,
            dying_leaves=False,
            closing_leaves=False,
        )
        behaviours[alike] = behaviours.get(alike, 0) | 1 << i
    found = []
    for binary, chosen in behaviours.items():
        for kind, said, slots in _sayings(binary):
            text = said.text
            for number, slot in slots.items():
                text = text.replace(number, slot)
            if isinstance(said, Failure):
                found.append((kind, text, "", "", said.exception, chosen))
            else:
                found.append((kind, text, said.level, said.logger, "", chosen))
    return merged(found)


def _slots(**slots: object) -> dict[str, str]:
    return {str(value): f"{{{name}}}" for name, value in slots.items()}


def _sayings(binary: Binary) -> Iterator[Said]:
    yield from _reading(binary)
    yield from _leading(binary)
    yield from _receiving(binary)
    yield from _starting(binary)
    yield from _heeding(binary)


def _reading(binary: Binary) -> Iterator[Said]:
    """Bytes of a version that the reader does not know."""
    head = _FUTURE.to_bytes(4, "big") + _SUPPORTED.to_bytes(4, "big")
    slots = _slots(future=_FUTURE, latest=_LATEST, supported=_SUPPORTED)
    for kind, read in (
        ("unreadable subscription", wire.read_subscription_info(head, dialect=binary.dialect)),
        ("unreadable assignment", wire.read_assignment_info(head + bytes(64), dialect=binary.dialect)),
    ):
        if kind == "unreadable assignment":
            slots = _slots(received=_FUTURE, latest=_LATEST)
        kind = "old leader cannot read" if kind == "unreadable subscription" and read.failure else kind
        yield from ((kind, line, slots) for line in read.log)
        if read.failure:
            yield kind, read.failure, slots


def _leading(binary: Binary) -> Iterator[Said]:
    def seen(name: str, version: int, supported: int, **more: object) -> Seen:
        active = () if version <= _LATEST else None
        return Seen(member=name, process=name.encode(), version=version, supported=supported, active=active, **more)  # type: ignore[arg-type]

    low = seen("A", _USED, _HIGH)
    slots = _slots(smallest=_USED, supported=_HIGH, future=_FUTURE, latest=_LATEST)
    for group in ((low,), (low, seen("B", _FUTURE, _SUPPORTED))):
        decision = leader.assign(binary, group, tasks=(TaskId(0, 0),))
        for line in decision.log:
            yield _leader_kind(line.text), line, slots
    mixed = leader.assign(binary, (seen("A", _SMALLEST, -1), seen("B", _FUTURE, _SUPPORTED)), tasks=())
    slots = {str(_FUTURE): "{future}", f"(version: {_SMALLEST})": "(version: {smallest})"}
    if mixed.failure and "pre Kafka 2.0" in mixed.failure.text:
        yield "pre-2.0 beside future", mixed.failure, slots
    yield from (("error assignment", line, slots) for line in mixed.log if line.level == "ERROR")
    if binary.cooperative:
        tasks = (TaskId(0, 0), TaskId(0, 1))
        owned = tuple(map(leader.partition_of, tasks))
        owner, other = seen("owner9", _LATEST, _LATEST, owned=owned), seen("other9", _LATEST, _LATEST)
        slots = {"owner9": "{member}", "other9": "{member}", "task 0_0": "task {task}", "task 0_1": "task {task}"}
        for line in leader.assign(binary, (owner, other), tasks=tasks).log:
            yield _leader_kind(line.text), line, slots


def _leader_kind(text: str) -> str:
    if text.startswith("Received a future"):
        return "future member, empty answer" if "empty" in text else "future member, real answer"
    if text.startswith("Removing task"):
        return "task withheld"
    if text.startswith("Requesting followup"):
        return "followup for withheld tasks"
    if text.startswith("Finished"):
        return "unstable assignment" if "unstable" in text else "stable assignment"
    return "smallest supported" if "latest supported metadata" in text else "smallest used"


def _receiving(binary: Binary) -> Iterator[Said]:
    cases = (
        (_USED, _RECEIVED, _RECEIVED),
        (_USED, _RECEIVED, _COMMON),
        (_USED, _RECEIVED, _HIGH),
        (_USED, _USED, _HIGH),
        (_USED, _USED, _FUTURE),
        (_USED, _HIGH, _HIGH),
        (_USED, _HIGH, _COMMON),
    )
    for used, received, common in cases:
        slots = {str(_LATEST): "{latest}", str(common): "{common}", str(received): "{received}", str(used): "{used}"}
        heard = member.receive(binary, used=used, assignment=AssignmentInfo(received, common))
        if heard.note == "downgrade to common" and received == common:
            continue  # the next case says which of the two numbers is which
        kind = {
            "downgrade to received": "downgrade",
            "downgrade to common": "downgrade",
            "set to leader's": "set to leader's",
            "upgrade in silence": "upgrade in silence",
            "upgrade to common": "end of upgrade",
        }.get(heard.note, heard.note)
        for line in heard.log:
            yield (_schedule_kind(line.text) or kind), line, slots
        if heard.failure:
            yield kind, heard.failure, slots
    for again in (0, _WHEN, NO_REBALANCE):
        answer = AssignmentInfo(_LATEST, _LATEST, next_rebalance_ms=again)
        for line in member.receive(binary, used=_LATEST, assignment=answer).log:
            yield _schedule_kind(line.text), line, _dates(line.text)
    for line in member.rejoin_lines(binary, next_rebalance_ms=_WHEN):
        kind = "rejoins to probe" if binary.rejoin == "leave" else "followup begins"
        yield kind, line, _dates(line.text)
    doomed = member.subscribe(binary, used=_FUTURE)
    if isinstance(doomed, Failure) and binary.rejoin != "none":
        yield "poisoned", doomed, _slots(latest=_LATEST, used=_FUTURE)


def _dates(text: str) -> dict[str, str]:
    """The moment in a line, as 3.4.0 and later print it, or in milliseconds."""
    start = text.find("2022-08-31")
    if start >= 0:
        return {text[start : text.index("Z") + 1]: "{when}"}
    return {f"{_WHEN} ms": "{when}"}


def _schedule_kind(text: str) -> str:
    for start, kind in (
        ("Requested to schedule immediate rebalance due", "rejoins for its version"),
        ("Requested to schedule immediate rebalance for new", "rejoins for withheld tasks"),
        ("Requested to schedule", "warm-up check"),
        ("No followup", "no followup"),
    ):
        if text.startswith(start):
            return kind
    return ""


def _starting(binary: Binary) -> Iterator[Said]:
    for value in (None, _VALUE, *(row.value for row in binary.upgrade_from)):
        started = member.configure(binary, value)
        slots = {f"from {_LATEST} to": "from {latest} to"}
        for used in (1, 2):
            slots[f"to {used} for"] = "to {used} for"
        if value is not None:
            slots |= {f" {value}.x": " {value}.x", f": {value}": ": {value}", f"'{value}'": "'{value}'"}
            slots[f"value {value} for"] = "value {value} for"
        for line in started.log:
            rejected = started.failure and line.text == started.failure.text
            yield ("upgrade.from rejected" if rejected else _start_kind(line.text)), line, slots
        if started.failure:
            yield "upgrade.from rejected", started.failure, slots


def _start_kind(text: str) -> str:
    if text.startswith("Downgrading"):
        return "upgrade.from lowers"
    if "deprecated" in text:
        return "eager is deprecated"
    return "starts eager" if text.startswith(("Eager", "Turning off")) else "starts cooperative"


def _heeding(binary: Binary) -> Iterator[Said]:
    if binary.rejoin == "none":
        return
    for code in (1, 2, 3, 4, _CODE):
        heeded = member.heed(binary, code)
        kind = {1: "missing topic", 2: "code of probing", 3: "told of an error", 4: "told to shut down"}.get(
            code, "unknown error code"
        )
        slots = _slots(code=_CODE)
        if code == 4 and binary.log == "2.7":
            kind, slots = "unknown error code", {"code 4": "code {code}"}
        yield from ((kind, line, slots) for line in heeded.log)
        if heeded.failure:
            yield kind, heeded.failure, slots
