"""What Kafka's own classes wrote and read, parsed, and the messages that they were given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import strategies as st

from protocol import wire
from protocol.messages import (
    LATEST_OFFSET,
    NO_REBALANCE,
    Assignment,
    AssignmentInfo,
    HostInfo,
    Subscription,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
)
from protocol.versions import LATEST, UNKNOWN, Dialect

GOLDEN = Path(__file__).parent / "golden"

DIALECTS = {
    "0.10.0.0": Dialect(latest=1, codec="0.10.0", envelope=0),
    "0.10.1.0": Dialect(latest=2, codec="0.10.1", envelope=0),
    "0.10.2.1": Dialect(latest=2, codec="0.10.1", envelope=0),
    "0.10.2.2": Dialect(latest=2, codec="0.10.2.2", envelope=0),
    "1.1.1": Dialect(latest=2, codec="0.10.2.2", envelope=0),
    "2.0.0": Dialect(latest=3, codec="2.0", envelope=0),
    "2.1.0": Dialect(latest=4, codec="2.0", envelope=0),
    "2.2.1": Dialect(latest=4, codec="2.0", envelope=0),
    "2.3.1": Dialect(latest=4, codec="2.2.2", envelope=0),
    "2.4.0": Dialect(latest=5, codec="2.2.2", envelope=1),
    "2.4.1": Dialect(latest=5, codec="2.2.2", envelope=1),
    "2.5.0": Dialect(latest=6, codec="2.5", envelope=1),
    "2.6.0": Dialect(latest=7, codec="2.5", envelope=1),
    "2.8.0": Dialect(latest=9, codec="2.5", envelope=1),
    "2.8.2": Dialect(latest=9, codec="2.8.2", envelope=1),
    "3.0.0": Dialect(latest=10, codec="2.5", envelope=1),
    "3.2.0": Dialect(latest=11, codec="2.5", envelope=1),
    "3.3.1": Dialect(latest=11, codec="2.8.2", envelope=1),
    "3.9.0": Dialect(latest=11, codec="2.8.2", envelope=3),
    "3.9.0-rc3": Dialect(latest=11, codec="2.8.2", envelope=3),
    "4.1.0": Dialect(latest=11, codec="2.8.2", envelope=3),
    "4.2.2": Dialect(latest=11, codec="4.2.2", envelope=3),
    "4.3.1": Dialect(latest=11, codec="4.3.1", envelope=3),
    "c310bf37670": Dialect(latest=5, codec="2.0", envelope=1),
}
"""The releases whose answers are recorded here; the catalogue of all is tested in test_releases."""

PROCESS = bytes.fromhex("00112233445566778899aabbccddeeff")
ACTIVE, STANDBY = TaskId(0, 1), TaskId(1, 3)
H1 = HostInfo("h1", 80)
T1_0, T1_1, T2_3 = TopicPartition("t1", 0), TopicPartition("t1", 1), TopicPartition("t2", 3)


def subscription_info(version: int, *, latest: int) -> SubscriptionInfo:
    return SubscriptionInfo.of(
        {ACTIVE: LATEST_OFFSET, STANDBY: 3_000_000_000},
        version=version,
        latest_supported_version=latest,
        process_id=PROCESS,
        user_end_point="h1:80",
        unique_field=5,
        client_tags=(("zone", "eu-1a"),),
    )


def assignment_info(version: int, *, common: int, next_ms: int = NO_REBALANCE) -> AssignmentInfo:
    """The golden assignment, with what its version carries."""
    return AssignmentInfo(
        version,
        common if version >= 3 else UNKNOWN,
        (TaskId(0, 0), TaskId(0, 1)),
        ((STANDBY, (T2_3,)),),
        ((H1, (T1_0, T1_1)),) if version >= 2 else (),
        ((H1, (T1_1,)),) if version >= 6 else (),
        0,
        next_ms if version >= 7 else NO_REBALANCE,
    )


NAMED = TaskId(0, 1, "topA")
SPECIAL: dict[str, SubscriptionInfo | AssignmentInfo | Subscription | Assignment] = {
    "SUBnull v3": SubscriptionInfo(3, 11, PROCESS),
    "SUBnull v11": SubscriptionInfo(11, 11, PROCESS, unique_field=-128, error_code=4),
    "SUBnamed v10": SubscriptionInfo(
        10, 11, PROCESS, "h1:80", task_offset_sums=((NAMED, LATEST_OFFSET),), unique_field=1
    ),
    "ASGnext0 v7": assignment_info(7, common=7, next_ms=0),
    "ASGempty v4 common3": AssignmentInfo(4, 3),
    "ASGempty v3 common3": AssignmentInfo(3, 3),
    "ASGerr v11": AssignmentInfo(11, 11, error_code=4),
    "ASGnamed v10": AssignmentInfo(10, 10, (NAMED,)),
    "ENVSUB v0": Subscription(("t1", "t2"), b"\1\2\3"),
    "ENVSUB v1": Subscription(("t1", "t2"), b"\1\2\3", (T1_0, T1_1)),
    "ENVSUB v2": Subscription(("t1", "t2"), b"\1\2\3", (T1_0, T1_1), 7),
    "ENVSUB v3": Subscription(("t1", "t2"), b"\1\2\3", (T1_0, T1_1), 7, "r1"),
    "ENVSUBnull v3": Subscription(("t1",)),
    **{f"ENVASG v{version}": Assignment((T1_0, T1_1), b"\1\2\3") for version in range(4)},
}

DECODERS = {
    wire.SUBSCRIPTION_INFO: wire.decode_subscription_info,
    wire.ASSIGNMENT_INFO: wire.decode_assignment_info,
    wire.CONSUMER_SUBSCRIPTION: wire.decode_subscription,
    wire.CONSUMER_ASSIGNMENT: wire.decode_assignment,
}
READERS = {
    wire.SUBSCRIPTION_INFO: wire.read_subscription_info,
    wire.ASSIGNMENT_INFO: wire.read_assignment_info,
    wire.CONSUMER_SUBSCRIPTION: wire.read_subscription,
    wire.CONSUMER_ASSIGNMENT: wire.read_assignment,
}
KINDS = tuple(DECODERS)
_KIND_OF = {
    "SUB": wire.SUBSCRIPTION_INFO,
    "ASG": wire.ASSIGNMENT_INFO,
    "ENVSUB": wire.CONSUMER_SUBSCRIPTION,
    "ENVASG": wire.CONSUMER_ASSIGNMENT,
}


@dataclass(frozen=True, slots=True)
class Vector:
    """Bytes that a release wrote, and what it was given."""

    release: str
    label: str
    data: bytes
    kind: str
    value: SubscriptionInfo | AssignmentInfo | Subscription | Assignment

    @property
    def version(self) -> int:
        return int(re.search(r"v(\d+)", self.label)[1]) if "v" in self.label else self.value.version

    @property
    def has_body_of_v2(self) -> bool:
        """Whether this is the v1 of 0.10.1 to 1.1.1, which has the body of v2."""
        return self.version == 1 and DIALECTS[self.release].codec in ("0.10.1", "0.10.2.2")


def lines() -> Iterator[tuple[str, str]]:
    """(release, line) for each line of the golden bytes."""
    for path in sorted(GOLDEN.glob("bytes_*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.stem.removeprefix("bytes_"), line


def vectors() -> Iterator[Vector]:
    """Every line of the golden bytes that is bytes which a release wrote."""
    for release, line in lines():
        found = re.fullmatch(r"((?:ENV)?(?:SUB|ASG))(\S*(?: v\d+)?(?: common3)?) ([0-9a-f]+)", line)
        if not found:
            continue
        stem, rest, data = found.groups()
        label = f"{stem}{rest}"
        latest = DIALECTS[release].latest
        if label == "ASGempty()":
            value = AssignmentInfo(latest, latest)
        elif label in SPECIAL:
            value = SPECIAL[label]
        else:
            version = int(rest.removeprefix(" v"))
            value = (
                subscription_info(version, latest=latest) if stem == "SUB" else assignment_info(version, common=latest)
            )
            if version == 1 and DIALECTS[release].codec in ("0.10.1", "0.10.2.2"):  # they write it with the body of v2
                end_point = (
                    {"user_end_point": "h1:80"} if stem == "SUB" else {"partitions_by_host": ((H1, (T1_0, T1_1)),)}
                )
                value = replace(value, **end_point)
        yield Vector(release, label, bytes.fromhex(data), _KIND_OF[stem], value)


VECTORS = tuple(vectors())


# ------------------------------------------------------- any legal message

ints = st.integers(-(2**31), 2**31 - 1)
small = st.integers(0, 5)
longs = st.integers(-(2**63), 2**63 - 1)
characters = st.characters(codec="utf-8")
texts = st.text(characters, max_size=6)
names = st.text(characters, min_size=1, max_size=4)


def tuples_of(elements: st.SearchStrategy, *, unique_by=None) -> st.SearchStrategy:
    return st.lists(elements, max_size=4, unique_by=unique_by).map(tuple)


partitions = tuples_of(st.builds(TopicPartition, texts, small), unique_by=lambda tp: tp)
by_host = tuples_of(st.tuples(st.builds(HostInfo, texts, ints), partitions), unique_by=lambda pair: pair[0])


def tasks(version: int) -> st.SearchStrategy[TaskId]:
    return st.builds(TaskId, ints | small, small, st.none() | names if version >= 10 else st.none())


@st.composite
def subscription_infos(draw: st.DrawFn, version: int | None = None) -> SubscriptionInfo:
    v = version or draw(st.integers(1, LATEST))
    return SubscriptionInfo.of(
        draw(st.dictionaries(tasks(v), longs, max_size=6)),
        version=v,
        latest_supported_version=draw(st.integers(v, 20)),
        process_id=draw(st.binary(min_size=16, max_size=16)),
        user_end_point=draw(st.none() | texts),
        unique_field=draw(st.integers(-128, 127)),
        error_code=draw(ints),
        client_tags=draw(tuples_of(st.tuples(texts, texts))),
    )


@st.composite
def assignment_infos(draw: st.DrawFn, version: int | None = None) -> AssignmentInfo:
    v = version or draw(st.integers(1, LATEST))
    return AssignmentInfo(
        v,
        draw(st.integers(v, 20)) if v >= 3 else UNKNOWN,
        draw(tuples_of(tasks(v))),
        draw(tuples_of(st.tuples(tasks(v), partitions), unique_by=lambda pair: pair[0])),
        draw(by_host) if v >= 2 else (),
        draw(by_host) if v >= 6 else (),
        draw(ints) if v >= 4 else 0,
        draw(longs) if v >= 7 else NO_REBALANCE,
    )


def _grouped(found: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
    """As the envelopes hold them: topic by topic."""
    topics = tuple(dict.fromkeys(topic for topic, _ in found))
    return tuple(sorted(found, key=lambda tp: topics.index(tp.topic)))


payloads = st.none() | st.binary(max_size=8)


@st.composite
def subscriptions(draw: st.DrawFn, version: int) -> Subscription:
    return Subscription(
        draw(tuples_of(texts)),
        draw(payloads),
        _grouped(draw(partitions)) if version >= 1 else (),
        draw(ints) if version >= 2 else -1,
        draw(st.none() | names) if version >= 3 else None,
    )


assignments = st.builds(lambda found, data: Assignment(_grouped(found), data), partitions, payloads)


@st.composite
def messages(draw: st.DrawFn) -> tuple[str, bytes]:
    """A kind, and the bytes of a legal message of that kind."""
    kind = draw(st.sampled_from(KINDS))
    if kind == wire.SUBSCRIPTION_INFO:
        return kind, wire.encode_subscription_info(draw(subscription_infos()))
    if kind == wire.ASSIGNMENT_INFO:
        return kind, wire.encode_assignment_info(draw(assignment_infos()))
    version = draw(st.integers(0, wire.ENVELOPE_LATEST))
    if kind == wire.CONSUMER_SUBSCRIPTION:
        return kind, wire.encode_subscription(draw(subscriptions(version)), version=version)
    return kind, wire.encode_assignment(draw(assignments), version=version)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """A legal message with a bit flipped, an int overwritten, a piece cut out, or bytes added."""
    kind, data = draw(messages())
    raw = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(raw) - 1, 0)))
        how = draw(st.sampled_from(("flip", "int", "cut", "add", "end")))
        if how == "flip" and raw:
            raw[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "int":
            raw[at : at + 4] = draw(
                st.sampled_from((-1, -2, 2**31 - 1, 2**24, -(2**31), 0, 1, 3, 255)) | ints
            ).to_bytes(4, "big", signed=True)
        elif how == "cut":
            del raw[at : at + draw(st.integers(1, 8))]
        elif how == "add":
            raw[at:at] = draw(st.binary(min_size=1, max_size=6))
        else:
            del raw[at:]
    return kind, bytes(raw)
