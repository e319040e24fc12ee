"""Bytes as layers: a group's record, the consumer's envelope, the Streams payload; each field with its meaning.

In which form they were pasted is in `forms`; what a reader of one release makes of them is in `reader`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .. import wire
from ..errors import DecodeError
from ..messages import NO_REBALANCE
from ..versions import LATEST
from ..wire import Decoded, Field
from .forms import Part
from .record import group_record, looks_like_a_record

GROUP_RECORD = "group record"
HEAD = "head of a payload"
STREAMS = "stream"
_LETTERS = {
    wire.CONSUMER_SUBSCRIPTION: wire.SUBSCRIPTION_INFO,
    wire.CONSUMER_ASSIGNMENT: wire.ASSIGNMENT_INFO,
}
_ENVELOPES = tuple(_LETTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of bytes and those inside it."""

    kind: str
    """One of `wire`'s four messages, `group record`, `head of a payload`, or `user data of another assignor`."""
    label: str
    reason: str
    others: tuple[str, ...]
    fields: tuple[Field, ...]
    """Offsets count from the first byte of all that was pasted in one part."""
    data: bytes
    start: int
    notes: tuple[str, ...]
    """What an engineer should know of these bytes, one sentence or two each."""
    inner: tuple[Layer, ...] = ()

    @property
    def problem(self) -> Field | None:
        """The field that could not be read, of this layer or one inside; None where all could."""
        mine = next((field for field in self.fields if field.problem), None)
        return mine or next((layer.problem for layer in self.inner if layer.problem), None)

    @property
    def payload(self) -> Layer | None:
        """The Streams payload: this layer, or the first inside that is one; None in an envelope that was cut."""
        if self.kind in (wire.SUBSCRIPTION_INFO, wire.ASSIGNMENT_INFO, HEAD):
            return self
        if self.kind in _ENVELOPES and any(field.problem for field in self.fields):
            return None
        return next((found for layer in self.inner if (found := layer.payload)), None)

    def bytes_of(self, field: Field) -> bytes:
        """The bytes of one of the fields."""
        return self.data[field.offset - self.start : field.offset - self.start + field.length]


def taken_apart(part: Part, *, kind: str | None = None) -> Layer:
    """The layers of one part.

    >>> taken_apart(Part(data=bytes.fromhex("0000000c0000000c"))).kind
    'subscription info'

    Raises: DecodeError where the bytes are none of the messages.
    """
    data = part.data
    if kind is None and looks_like_a_record(data):
        return _record(part)
    if kind is None and len(data) == 8 and (head := _head(part)) is not None:
        return head
    short = _short_envelope(data) if kind is None else ""
    try:
        decoded = wire.decode(data, kind=kind or short or None)
    except DecodeError:
        other = _foreign(data, part.protocol)
        if other is None:
            raise
        return _other_assignor(part, 0, other)
    if short:
        decoded = replace(decoded, reason=f"it reads as the beginning of a {short}")
    return _layer(decoded, part, 0, part.label)


def _short_envelope(data: bytes) -> str:
    """The envelope that bytes are the beginning of; empty where they are something else, or too short to tell.

    Older clients write a subscription of v1 without owned partitions, and what is copied from a screen is often cut.
    """
    if len(data) < 2 or data[0] or not 1 <= data[1] <= wire.ENVELOPE_LATEST:
        return ""
    ends = {kind: wire.fields(data, kind)[-1] for kind in _ENVELOPES}
    subscription, assignment = ends.values()
    whole = wire.identify(data).kind
    if whole in _ENVELOPES:  # with a letter that makes no sense, it may be an assignment that was cut within its own
        cut = assignment.problem and assignment.name == "user_data" and _begins_a_letter(data, assignment.offset + 4)
        return wire.CONSUMER_ASSIGNMENT if cut and wire.decode(data, kind=whole).problem else ""
    if subscription.problem and subscription.name == "owned_partitions" and subscription.offset == len(data):
        return wire.CONSUMER_SUBSCRIPTION
    stops = {kind: end.offset for kind, end in ends.items() if end.problem and _has_names(data, kind)}
    if len(stops) > 1 and subscription.offset == assignment.offset:  # user data, or a count of partitions
        return wire.CONSUMER_SUBSCRIPTION if _begins_a_letter(data, subscription.offset + 4) else ""
    return max(stops, key=stops.__getitem__, default="")


def _begins_a_letter(data: bytes, at: int) -> bool:
    """Whether a small int stands there, as at the front of every Streams payload."""
    return 1 <= int.from_bytes(data[at : at + 4].ljust(4, b"\xff"), "big") < 1000


def _has_names(data: bytes, kind: str) -> bool:
    """Whether the texts in what can be read are names, and there is one."""
    named = [field.value for field in wire.fields(data, kind)[:-1] if isinstance(field.value, str)]
    return bool(named) and all(name and name.isprintable() for name in named)


def _record(part: Part) -> Layer:
    record = group_record(part.data)
    inner: list[Layer] = []
    for member in record.members:
        for role, data, start in (
            ("subscription", member.subscription, member.subscription_at),
            ("assignment", member.assignment, member.assignment_at),
        ):
            if not data:
                continue
            one = Part(data=data, label=f"{role} of {member.name}", role=role, protocol=record.protocol)
            try:
                layer = taken_apart(one)
            except DecodeError as error:
                layer = unreadable(one, start, error)
                inner.append(layer)
                continue
            inner.append(_moved(layer, start))
    return Layer(
        kind=GROUP_RECORD,
        label=part.label,
        reason="it begins with a record version and the protocol type `consumer`",
        others=(),
        fields=record.fields,
        data=part.data,
        start=0,
        notes=() if record.protocol in ("", STREAMS) else (_not_streams(record.protocol),),
        inner=tuple(inner),
    )


def unreadable(part: Part, start: int, error: DecodeError) -> Layer:
    """The layer of bytes, at `start` of all that was pasted, which are none of the messages."""
    field = Field(error.field, start + error.offset, len(part.data) - error.offset, problem=error.reason)
    return Layer(
        kind="unknown",
        label=part.label,
        reason="it is none of the messages",
        others=(),
        fields=(field,),
        data=part.data,
        start=start,
        notes=(),
    )


def _moved(layer: Layer, by: int) -> Layer:
    return replace(
        layer,
        fields=tuple(replace(field, offset=field.offset + by) for field in layer.fields),
        start=layer.start + by,
        inner=tuple(_moved(one, by) for one in layer.inner),
    )


def _head(part: Part) -> Layer | None:
    """Two ints alone: of a future subscription, or what a log or a debugger showed of an assignment."""
    version, second = (int.from_bytes(part.data[i : i + 4], "big", signed=True) for i in (0, 4))
    if not 3 <= version <= LATEST or not 1 <= second <= 1000:
        return None
    return Layer(
        kind=HEAD,
        label=part.label,
        reason="eight bytes: the two ints that every subscription and assignment since v3 begins with",
        others=(),
        fields=(Field("version", 0, 4, version), Field("second int", 4, 4, second)),
        data=part.data,
        start=0,
        notes=(
            f"In a subscription: the member speaks v{version} and supports v{second}. In an assignment: it is "
            "encoded in "
            f"v{version}, and the second int is v{second}: the leader's own latest if it is of 2.0.0 to 2.3.0 without "
            "the fix of KAFKA-8649, else the version that everybody supports.",
        ),
    )


def _layer(decoded: Decoded, part: Part, start: int, label: str) -> Layer:
    fields = decoded.fields
    told = list(notes(decoded))
    last = fields[-1] if fields else None
    short = (
        last is not None
        and last.problem
        and last.name == "owned_partitions"
        and last.offset == start + len(decoded.data)
    )
    if short:
        fields = fields[:-1]
        told.append(
            "The bytes end after the user data, though v1 has owned partitions behind it: older clients of other "
            "languages write it so. Accepted."
        )
    inner: tuple[Layer, ...] = ()
    payload = next((field for field in fields if field.name == "user_data"), None)
    if part.role and decoded.kind in _ENVELOPES and part.role not in decoded.kind:
        told.append(
            f"It is called a {part.role} and is a {decoded.kind.split()[-1]}: brokers of 2.3.0 and 2.3.1 return the "
            "assignment in the field of the member's metadata (KAFKA-9150)."
        )
    if payload is not None and isinstance(payload.value, bytes) and payload.value:
        at = payload.offset + payload.length - len(payload.value)
        foreign = _foreign(payload.value, part.protocol)
        if part.protocol not in ("", STREAMS):
            inner = (_other_assignor(replace(part, data=payload.value), at, foreign or ""),)
        elif decoded.inner is not None:
            doubtful = decoded.inner.problem is not None and foreign is not None
            if doubtful:
                inner = (_other_assignor(replace(part, data=payload.value), at, foreign or ""),)
            else:
                inner = (_layer(decoded.inner, replace(part, role=""), at, ""),)
    elif payload is not None and payload.problem and payload.length >= 12 and part.protocol in ("", STREAMS):
        at = payload.offset + 4
        letter = taken_apart(Part(data=decoded.data[at - start :]), kind=_LETTERS[decoded.kind])
        inner = (_moved(letter, at),)
    return Layer(
        kind=decoded.kind,
        label=label,
        reason=decoded.reason,
        others=decoded.others,
        fields=fields,
        data=decoded.data,
        start=start,
        notes=tuple(told),
        inner=inner,
    )


def _not_streams(protocol: str) -> str:
    return (
        f"The group's protocol is {protocol!r}; Kafka Streams' is {STREAMS!r}. The user data is that assignor's "
        "own and is "
        "not read as Streams."
    )


def _other_assignor(part: Part, start: int, what: str) -> Layer:
    said = [_not_streams(part.protocol)] if part.protocol else []
    said.append(what or "What is in it, only that assignor knows.")
    if not part.protocol:
        said.append("The protocol's name would decide: give the group's description.")
    return Layer(
        kind="user data of another assignor",
        label=part.label,
        reason="the protocol is not `stream`" if part.protocol else "it reads as no Streams payload",
        others=(),
        fields=(Field("user data", start, len(part.data), part.data),),
        data=part.data,
        start=start,
        notes=tuple(said),
    )


def _foreign(data: bytes, protocol: str) -> str | None:
    """What the user data of the consumer's own assignors says; None if it is none of theirs.

    Source: 3.9.0 StickyAssignor#deserializeTopicPartitionAssignment, CooperativeStickyAssignor#memberData.
    """
    if len(data) == 4 and protocol in ("", "cooperative-sticky"):
        return f"As `cooperative-sticky` writes it: generation {int.from_bytes(data, 'big', signed=True)}."
    at, topics = 4, []
    if len(data) < 4:
        return None
    for _ in range(min(int.from_bytes(data[:4], "big"), 10_000)):
        size = int.from_bytes(data[at : at + 2], "big")
        name, at = data[at + 2 : at + 2 + size], at + 2 + size
        count, at = int.from_bytes(data[at : at + 4], "big"), at + 4
        at += 4 * count
        if at > len(data) or not size or not re.fullmatch(rb"[\w.-]+", name):
            return None
        topics.append(f"{name.decode()} ({count})")
    if not topics or len(data) - at not in (0, 4):
        return None
    tail = f", generation {int.from_bytes(data[at:], 'big', signed=True)}" if len(data) > at else ""
    return f"As `sticky` writes it: {', '.join(topics[:8])}{tail}."


# What whole messages mean.


def notes(decoded: Decoded) -> tuple[str, ...]:
    """What an engineer should know of a message that looks odd, and is not, or is."""
    said = {field.name: field.value for field in decoded.fields if not field.problem}
    version = said.get("version")
    if decoded.kind == wire.SUBSCRIPTION_INFO and isinstance(version, int):
        return _of_subscription(said, version)
    if decoded.kind == wire.ASSIGNMENT_INFO and isinstance(version, int):
        return _of_assignment(said, version)
    return ()


def _of_subscription(said: dict[str, object], version: int) -> tuple[str, ...]:
    supported = said.get("latest_supported_version")
    if version > LATEST:
        return (
            f"A future version: its reader sees v{version} and v{supported} and nothing else. Empty tasks and ids "
            "on the "
            "leader's side do not mean that the member lost its state.",
        )
    if isinstance(supported, int) and version < supported:
        return (
            f"The member's jar supports v{supported} and it speaks v{version}: it probed and came down, or waits "
            "for the "
            "end of a rolling upgrade.",
        )
    if version < 3:
        return (
            f"v{version} does not say what the jar supports: a release before 2.0, or a newer one with upgrade.from.",
        )
    return ()


def _of_assignment(said: dict[str, object], version: int) -> tuple[str, ...]:
    common, code = said.get("commonly_supported_version"), said.get("error_code")
    told = []
    if code:
        told.append(
            f"An error assignment, {ERRORS.get(int(str(code)), f'code {code}')}: it is always encoded in the "
            "leader's own "
            f"latest version, v{version} here. Members that cannot read that report an undecodable assignment."
        )
    elif not said.get("active_tasks") and not said.get("standby_tasks"):
        empty = not said.get("partitions_by_host")
        if empty and version >= 3 and version == common:
            told.append(
                f"No task at all, and v{version}/{common}: the empty answer that leaders of 2.0.0 to 2.3.1 send "
                "to a member "
                "whose subscription they cannot read. It is a probe, not an error: the member comes down to this "
                "version and "
                "rejoins. A member of a group with too few tasks gets the same."
            )
        else:
            told.append("No task: a probe's answer of a leader before 2.4, or more members than tasks.")
    if isinstance(common, int) and common > version >= 3:
        told.append(
            f"The second int is above the encoding: everybody supports v{common}, so the upgrade ends; or the "
            "leader is of "
            f"2.1.0 to 2.3.0 without the fix of KAFKA-8649 and says its own v{common}. A member of 2.0.0 to 2.3.0 "
            "whose jar "
            f"supports less takes it unchecked and dies at its next rebalance."
        )
    return tuple(told)


ERRORS = {
    1: "INCOMPLETE_SOURCE_TOPIC_METADATA (a source topic is missing)",
    2: "VERSION_PROBING",
    3: "ASSIGNMENT_ERROR",
    4: "SHUTDOWN_REQUESTED",
}

_MEANINGS = {
    (wire.SUBSCRIPTION_INFO, "version"): "the version that the member speaks (used)",
    (wire.SUBSCRIPTION_INFO, "latest_supported_version"): "the latest version that its jar supports",
    (wire.SUBSCRIPTION_INFO, "process_id"): "the process; all its stream threads say the same",
    (wire.SUBSCRIPTION_INFO, "user_end_point"): "application.server",
    (wire.SUBSCRIPTION_INFO, "unique_field"): "changes with every subscription, so that a rejoin is a rebalance",
    (wire.SUBSCRIPTION_INFO, "error_code"): "a request to shut down, or 0",
    (wire.ASSIGNMENT_INFO, "version"): "the version that it is encoded in (received)",
    (wire.ASSIGNMENT_INFO, "commonly_supported_version"): "what everybody supports; before 2.2.2 and 2.3.1 what the "
    "leader supports",
    (wire.ASSIGNMENT_INFO, "active_tasks"): "one for each assigned partition, in the order of the partitions",
    (wire.ASSIGNMENT_INFO, "topics"): "the dictionary of topic names for the host maps",
    (wire.CONSUMER_SUBSCRIPTION, "version"): "of the envelope, not of Streams' metadata",
    (wire.CONSUMER_SUBSCRIPTION, "owned_partitions"): "what it keeps while it joins (COOPERATIVE)",
    (wire.CONSUMER_SUBSCRIPTION, "generation_id"): "of its last assignment; -1 for none",
    (wire.CONSUMER_ASSIGNMENT, "version"): "of the envelope, not of Streams' metadata",
}


def meaning_of(kind: str, field: Field) -> str:
    """What one field means; empty where its name says it."""
    name = re.sub(r"\[\d+\]", "", field.name)
    if name.endswith("offset_sum"):
        return {-2: "an active task that runs here", -3: "unknown"}.get(int(str(field.value or 0)), "")
    if name == "next_rebalance_ms":
        value = int(str(field.value or 0))
        return {NO_REBALANCE: "no other rebalance", 0: "rejoin at once"}.get(value, "a warm-up check at that time")
    if name == "error_code" and field.value:
        return ERRORS.get(int(str(field.value)), "unknown")
    return _MEANINGS.get((kind, name), "")
