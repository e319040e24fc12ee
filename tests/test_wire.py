"""The strict codec: every byte that Kafka wrote, both ways, and what it does with bytes that nobody wrote."""

from __future__ import annotations

import random
import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import pytest
import sample_wire as sample
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_wire import DECODERS, KINDS, VECTORS, Vector

from protocol import wire
from protocol.errors import DecodeError, EncodeError
from protocol.messages import (
    Assignment,
    AssignmentInfo,
    HostInfo,
    Subscription,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
)
from protocol.versions import LATEST

each_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector.release} {vector.label}")
each_kind = pytest.mark.parametrize("kind", KINDS)


def encode(value: object, *, version: int) -> bytes:
    if isinstance(value, SubscriptionInfo):
        return wire.encode_subscription_info(value)
    if isinstance(value, AssignmentInfo):
        return wire.encode_assignment_info(value)
    if isinstance(value, Subscription):
        return wire.encode_subscription(value, version=version)
    assert isinstance(value, Assignment)
    return wire.encode_assignment(value, version=version)


# ------------------------------------------------------------- Kafka's bytes


def test_every_kind_and_version_is_among_the_vectors() -> None:
    seen = {(vector.kind, vector.version) for vector in VECTORS}
    for kind in (wire.SUBSCRIPTION_INFO, wire.ASSIGNMENT_INFO):
        assert {version for found, version in seen if found == kind} == set(range(1, LATEST + 1))
    for kind in (wire.CONSUMER_SUBSCRIPTION, wire.CONSUMER_ASSIGNMENT):
        assert {version for found, version in seen if found == kind} == set(range(wire.ENVELOPE_LATEST + 1))
    assert len(VECTORS) == 121


@each_vector
def test_the_bytes_of_a_release_mean_what_it_was_given(vector: Vector) -> None:
    expected = vector.value
    if vector.has_body_of_v2:
        change = {"user_end_point": None} if vector.kind == wire.SUBSCRIPTION_INFO else {"partitions_by_host": ()}
        expected = replace(expected, **change)
    assert DECODERS[vector.kind](vector.data) == expected


@each_vector
def test_a_message_becomes_the_bytes_that_the_release_wrote(vector: Vector) -> None:
    if vector.has_body_of_v2:
        assert vector.data.startswith(encode(vector.value, version=1))
    else:
        assert encode(vector.value, version=vector.version) == vector.data


@each_vector
def test_bytes_that_a_release_wrote_are_told_apart(vector: Vector) -> None:
    guess = wire.identify(vector.data)
    assert (guess.kind, guess.others) == (vector.kind, ())


@each_vector
def test_a_message_cut_short_anywhere_is_refused_with_the_place(vector: Vector) -> None:
    whole = vector.data
    if vector.has_body_of_v2:  # what makes the difference is left over, not missing
        whole = encode(vector.value, version=1)
    for cut in range(len(whole)):
        with pytest.raises(DecodeError) as refused:
            DECODERS[vector.kind](whole[:cut])
        assert 0 <= refused.value.offset <= cut
        assert refused.value.field
        assert refused.value.field in str(refused.value)


@each_vector
def test_bytes_after_the_end_are_ignored_and_told(vector: Vector) -> None:
    longer = vector.data + b"more"
    assert DECODERS[vector.kind](longer) == DECODERS[vector.kind](vector.data)
    last = wire.fields(longer, vector.kind)[-1]
    assert last.name == "trailing"
    assert last.value.endswith(b"more")


# ------------------------------------------------------------- round trips


@pytest.mark.parametrize("version", range(1, LATEST + 1))
@settings(max_examples=30)
@given(data=st.data())
def test_a_subscription_info_survives_its_bytes(version: int, data: st.DataObject) -> None:
    info = data.draw(sample.subscription_infos(version))
    assert wire.decode_subscription_info(wire.encode_subscription_info(info)) == info


@pytest.mark.parametrize("version", range(1, LATEST + 1))
@settings(max_examples=30)
@given(data=st.data())
def test_an_assignment_info_survives_its_bytes(version: int, data: st.DataObject) -> None:
    info = data.draw(sample.assignment_infos(version))
    assert wire.decode_assignment_info(wire.encode_assignment_info(info)) == info


@pytest.mark.parametrize("version", range(wire.ENVELOPE_LATEST + 1))
@settings(max_examples=30)
@given(data=st.data())
def test_the_envelopes_survive_their_bytes(version: int, data: st.DataObject) -> None:
    subscription = data.draw(sample.subscriptions(version))
    assert wire.decode_subscription(wire.encode_subscription(subscription, version=version)) == subscription
    assignment = data.draw(sample.assignments)
    assert wire.decode_assignment(wire.encode_assignment(assignment, version=version)) == assignment


@given(info=sample.subscription_infos(), version=st.integers(12, 2**31 - 1), latest=sample.ints)
def test_of_a_future_version_only_the_head_is_read(info: SubscriptionInfo, version: int, latest: int) -> None:
    head = SubscriptionInfo(version, latest, head_only=True)
    data = wire.encode_subscription_info(head)
    assert len(data) == 8
    assert wire.decode_subscription_info(data) == head
    assert wire.decode_subscription_info(data + wire.encode_subscription_info(info)) == head


def test_an_envelope_from_a_newer_client_is_read_by_the_layout_that_is_known() -> None:
    newest = wire.encode_subscription(sample.SPECIAL["ENVSUB v3"], version=3)
    assert wire.decode_subscription(newest, known=0) == Subscription(("t1", "t2"), b"\1\2\3")
    assert wire.decode_subscription(b"\0\5" + newest[2:]) == sample.SPECIAL["ENVSUB v3"]


# ------------------------------------------------------- texts, two encodings


@given(text=sample.texts)
def test_every_text_survives_modified_utf8(text: str) -> None:
    info = AssignmentInfo(2, partitions_by_host=((HostInfo(text, 1), (TopicPartition(text, 0),)),))
    assert wire.decode_assignment_info(wire.encode_assignment_info(info)) == info


def test_texts_of_an_assignment_are_javas_modified_utf8() -> None:
    info = AssignmentInfo(2, partitions_by_host=((HostInfo("\0\U0001f600", 80), ()),))
    assert wire.encode_assignment_info(info)[16:-8] == bytes.fromhex("0008 c080 eda0bd edb880")


@pytest.mark.parametrize("raw", ["00", "c1", "c181", "c080c0", "f09f9880", "eda0bd", "edb880eda0bd", "e0a0"])
def test_what_java_does_not_write_for_a_text_is_refused(raw: str) -> None:
    text = bytes.fromhex(raw)
    data = bytes.fromhex("00000002 00000000 00000000 00000001") + len(text).to_bytes(2, "big") + text + bytes(8)
    with pytest.raises(DecodeError, match=r"at byte 16, partitions_by_host\[0\].host: its \d+ bytes? (is|are) no text"):
        wire.decode_assignment_info(data)


def test_a_text_of_65535_bytes_is_the_longest_that_an_assignment_holds() -> None:
    def info(length: int) -> AssignmentInfo:
        return AssignmentInfo(2, partitions_by_host=((HostInfo("ü" * (length // 2) + "x" * (length % 2), 80), ()),))

    assert wire.decode_assignment_info(wire.encode_assignment_info(info(65535))) == info(65535)
    with pytest.raises(EncodeError, match="partitions_by_host: a text of 65536 bytes is too long"):
        wire.encode_assignment_info(info(65536))


def test_a_named_topology_is_spelt_in_two_ways() -> None:
    task = TaskId(0, 1, "tö\U0001f600")
    subscription = wire.encode_subscription_info(SubscriptionInfo(10, 10, task_offset_sums=((task, 5),)))
    assert "0007" + "tö\U0001f600".encode().hex() in subscription.hex()
    assignment = wire.encode_assignment_info(AssignmentInfo(10, 10, (task,)))
    assert "00000004" + "tö\U0001f600".encode("utf-16-be").hex() in assignment.hex()


@pytest.mark.parametrize("version", range(1, 10))
def test_below_v10_a_named_topology_has_no_bytes(version: int) -> None:
    task = TaskId(0, 1, "topA")
    with pytest.raises(EncodeError, match="active_tasks: a task of a named topology needs v10 or later"):
        wire.encode_assignment_info(AssignmentInfo(version, version, (task,)))
    if version < 7:
        with pytest.raises(EncodeError, match="prev_tasks: a task of a named topology needs v10 or later"):
            wire.encode_subscription_info(SubscriptionInfo(version, version, prev_tasks=(task,)))


# ------------------------------------------------------- values without bytes


@pytest.mark.parametrize(
    ("info", "field"),
    [
        (SubscriptionInfo(0, 11), "version"),
        (SubscriptionInfo(12, 12), "version"),
        (SubscriptionInfo(3, 2**31), "latest_supported_version"),
        (SubscriptionInfo(3, 3, b"short"), "process_id"),
        (SubscriptionInfo(3, 3, prev_tasks=(TaskId(0, 2**31),)), "prev_tasks"),
        (SubscriptionInfo(3, 3, task_offset_sums=((0, (1, 2)),)), "task_offset_sums"),
        (SubscriptionInfo(7, 7, standby_tasks=(TaskId(0, 1),)), "standby_tasks"),
        (SubscriptionInfo(7, 7, task_offset_sums=((TaskId(0, 1), 5),)), "task_offset_sums"),
        (SubscriptionInfo(10, 10, task_offset_sums=((TaskId(0, 1), 2**63),)), "task_offset_sums"),
        (SubscriptionInfo(10, 10, task_offset_sums=((TaskId(0, 1, "x" * 32768), 5),)), "task_offset_sums"),
        (SubscriptionInfo(8, 8, unique_field=128), "unique_field"),
        (SubscriptionInfo(9, 9, error_code=2**31), "error_code"),
        (SubscriptionInfo(11, 11, client_tags=(("zone", "\ud800"),)), "client_tags"),
        (SubscriptionInfo(2, user_end_point="\ud800"), "user_end_point"),
        (AssignmentInfo(0, 3), "version"),
        (AssignmentInfo(12, 12), "version"),
        (AssignmentInfo(3, 2**31), "commonly_supported_version"),
        (AssignmentInfo(3, 3, (TaskId(0, 2**31),)), "active_tasks"),
        (AssignmentInfo(3, 3, (), ((TaskId(0, 1), (TopicPartition("\ud800", 0),)),)), "standby_tasks"),
        (AssignmentInfo(5, 5, partitions_by_host=((HostInfo("h", 2**31), ()),)), "partitions_by_host"),
        (AssignmentInfo(4, 4, error_code=-(2**31) - 1), "error_code"),
        (AssignmentInfo(7, 7, next_rebalance_ms=2**63), "next_rebalance_ms"),
        (AssignmentInfo(10, 10, (TaskId(0, 0, "\ud800"),)), "active_tasks"),
    ],
)
def test_a_value_without_bytes_is_refused_by_field(info: SubscriptionInfo | AssignmentInfo, field: str) -> None:
    with pytest.raises(EncodeError) as refused:
        encode(info, version=0)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("value", "version", "field"),
    [
        (Subscription(()), 4, "version"),
        (Assignment(()), -1, "version"),
        (Subscription(("x" * 32768,)), 0, "topics"),
        (Subscription((), owned_partitions=(TopicPartition("t", 2**31),)), 1, "owned_partitions"),
        (Subscription((), generation_id=2**31), 2, "generation_id"),
        (Subscription((), rack_id="\ud800"), 3, "rack_id"),
        (Assignment((TopicPartition("\ud800", 0),)), 0, "partitions"),
    ],
)
def test_an_envelope_without_bytes_is_refused_by_field(value: object, version: int, field: str) -> None:
    with pytest.raises(EncodeError) as refused:
        encode(value, version=version)
    assert refused.value.field == field


def test_what_a_version_does_not_carry_is_dropped() -> None:
    full = replace(sample.subscription_info(11, latest=11), task_offset_sums=(), error_code=4)
    for version in range(7, 11):
        bare = replace(full, version=version, client_tags=())
        bare = replace(bare, unique_field=5 if version >= 8 else 0, error_code=4 if version >= 9 else 0)
        assert wire.encode_subscription_info(replace(full, version=version)) == wire.encode_subscription_info(bare)


# ------------------------------------------------------------- hostile bytes


def reads_or_refuses(kind: str, data: bytes) -> object:
    """The message, or the DecodeError; nothing else may come of any bytes."""
    try:
        return DECODERS[kind](data)
    except DecodeError as error:
        assert 0 <= error.offset <= len(data)
        assert error.field
        assert error.reason
        return error


@given(kind=st.sampled_from(KINDS), data=st.binary(max_size=200))
def test_noise_is_read_or_refused(kind: str, data: bytes) -> None:
    reads_or_refuses(kind, data)


@given(sample.damaged())
def test_a_damaged_message_is_read_or_refused(message: tuple[str, bytes]) -> None:
    reads_or_refuses(*message)


@given(sample.messages() | sample.damaged() | st.tuples(st.sampled_from(KINDS), st.binary(max_size=60)))
def test_the_fields_tell_where_the_codec_stopped(message: tuple[str, bytes]) -> None:
    kind, data = message
    seen = reads_or_refuses(kind, data)
    last = wire.fields(data, kind)[-1]
    if isinstance(seen, DecodeError):
        assert (last.problem, last.offset, last.name) == (seen.reason, seen.offset, seen.field)
    else:
        assert not last.problem


@pytest.mark.parametrize("vector", [v for v in VECTORS if v.release == "3.9.0-rc3"], ids=lambda vector: vector.label)
def test_every_flipped_bit_is_read_or_refused(vector: Vector) -> None:
    for bit in range(8 * len(vector.data)):
        raw = bytearray(vector.data)
        raw[bit // 8] ^= 1 << bit % 8
        reads_or_refuses(vector.kind, bytes(raw))


@pytest.mark.parametrize("count", [-1, -(2**31), 2**31 - 1, 2**24, 2**16])
@pytest.mark.parametrize("vector", [v for v in VECTORS if v.release == "3.9.0-rc3"], ids=lambda vector: vector.label)
def test_an_absurd_count_costs_no_memory(vector: Vector, count: int) -> None:
    absurd = count.to_bytes(4, "big", signed=True)
    tracemalloc.start()
    try:
        for at in range(2, len(vector.data) - 3):
            reads_or_refuses(vector.kind, vector.data[:at] + absurd + vector.data[at + 4 :])
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


TEN_MB = 10_000_000


@each_kind
def test_ten_megabytes_of_noise_are_refused_at_once(kind: str) -> None:
    noise = random.Random(8649).randbytes(TEN_MB)
    started = time.perf_counter()
    for head in (b"", b"\0\0\0\7", b"\0\0\0\13", b"\0\0\0\1", b"\0\3"):
        reads_or_refuses(kind, head + noise)
        wire.identify(head + noise)
    assert time.perf_counter() - started < 20


LONG = {
    "tasks": (wire.SUBSCRIPTION_INFO, bytes.fromhex("00000001") + bytes(16), 8),
    "nested offset sums": (wire.SUBSCRIPTION_INFO, bytes.fromhex("00000007 0000000b") + bytes(20), 8),
    "flat offset sums": (wire.SUBSCRIPTION_INFO, bytes.fromhex("0000000a 0000000b") + bytes(20), 18),
    "active tasks": (wire.ASSIGNMENT_INFO, bytes.fromhex("00000001"), 8),
    "named active tasks": (wire.ASSIGNMENT_INFO, bytes.fromhex("0000000b 0000000b"), 12),
    "topics": (wire.CONSUMER_SUBSCRIPTION, bytes.fromhex("0000"), 2),
    "partitions": (wire.CONSUMER_ASSIGNMENT, bytes.fromhex("0000"), 6),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_array_costs_memory_in_proportion(name: str) -> None:
    kind, head, size = LONG[name]

    for tail in (b"", b"\xff" * 5):  # nothing follows, and nonsense follows
        data = head + (20_000).to_bytes(4, "big") + bytes(size * 20_000) + tail
        tracemalloc.start()
        try:
            reads_or_refuses(kind, data)
            assert tracemalloc.get_traced_memory()[1] < 100_000 + 40 * len(data)
        finally:
            tracemalloc.stop()


# ------------------------------------------------------- the fields, one by one


def leaves(value: object) -> list[object]:
    """Every number and text of a message in the order of the layout, counts included."""
    if isinstance(value, TaskId):
        return [value.subtopology, value.partition]
    if isinstance(value, HostInfo | TopicPartition):
        return list(value)
    if isinstance(value, tuple):
        return [len(value), *(leaf for element in value for leaf in leaves(element))]
    return [value]


@given(sample.messages())
def test_the_fields_lie_one_after_another_over_all_bytes(message: tuple[str, bytes]) -> None:
    kind, data = message
    at = 0
    for field in wire.fields(data, kind):
        assert field.offset == at
        assert not field.problem
        at += field.length
    assert at == len(data)


@given(sample.messages(), st.integers(0, 1000))
def test_fields_inside_an_envelope_count_from_where_they_lie(message: tuple[str, bytes], at: int) -> None:
    kind, data = message
    moved = [replace(field, offset=field.offset - at) for field in wire.fields(data, kind, at=at)]
    assert tuple(moved) == wire.fields(data, kind)


@given(sample.subscription_infos())
def test_the_fields_of_a_subscription_info_say_what_the_codec_says(info: SubscriptionInfo) -> None:
    said = [field.value for field in wire.fields(wire.encode_subscription_info(info), wire.SUBSCRIPTION_INFO)]
    v = info.version
    expected: list[object] = [v, *([info.latest_supported_version] if v >= 3 else []), info.process_id]
    if v < 7:
        expected += leaves(info.prev_tasks) + leaves(info.standby_tasks)
    if v >= 2:
        expected.append(info.user_end_point or "")
    if v >= 10:
        expected.append(len(info.task_offset_sums))
        for task, offset in info.task_offset_sums:
            expected += [task.subtopology, task.partition, offset, task.topology]
    elif v >= 7:
        expected.append(len(info.task_offset_sums))
        for subtopology, numbers in info.task_offset_sums:
            expected += [subtopology, len(numbers) // 2, *numbers]
    expected += [info.unique_field] if v >= 8 else []
    expected += [info.error_code] if v >= 9 else []
    if v >= 11:
        expected += [len(info.client_tags), *(text for tag in info.client_tags for text in tag)]
    assert said == expected


@given(sample.assignment_infos())
def test_the_fields_of_an_assignment_info_say_what_the_codec_says(info: AssignmentInfo) -> None:
    found = wire.fields(wire.encode_assignment_info(info), wire.ASSIGNMENT_INFO)
    topics = {f.value: g.value for f, g in pairwise(found) if f.name.endswith("].index")}
    said = [
        topics[field.value] if field.name.endswith("topic") and isinstance(field.value, int) else field.value
        for field in found
        if not field.name.startswith("topics")
    ]
    v = info.version

    def task(task: TaskId) -> list[object]:
        return [*leaves(task), *([task.topology or ""] if v >= 10 else [])]

    def mapped(pairs: tuple[tuple[object, tuple[TopicPartition, ...]], ...]) -> list[object]:
        told: list[object] = [len(pairs)]
        for key, partitions in pairs:
            told += [*(task(key) if isinstance(key, TaskId) else leaves(key)), *leaves(partitions)]
        return told

    expected: list[object] = [v, *([info.commonly_supported_version] if v >= 3 else []), len(info.active_tasks)]
    expected += [leaf for active in info.active_tasks for leaf in task(active)]
    expected += mapped(info.standby_tasks)
    expected += mapped(info.partitions_by_host) if v >= 2 else []
    expected += mapped(info.standby_partitions_by_host) if v >= 6 else []
    expected += [info.error_code] if v >= 4 else []
    expected += [info.next_rebalance_ms] if v >= 7 else []
    assert said == expected


def test_a_topic_missing_from_the_dictionary_is_refused() -> None:
    (vector,) = (v for v in VECTORS if v.release == "3.9.0-rc3" and v.label == "ASG v5")
    broken = bytearray(vector.data)
    place = next(
        f for f in wire.fields(vector.data, vector.kind) if f.name == "partitions_by_host[0].partitions[1].topic"
    )
    broken[place.offset : place.offset + 4] = b"\0\0\0\7"
    with pytest.raises(DecodeError, match="7 is not in the dictionary of topics") as refused:
        wire.decode_assignment_info(bytes(broken))
    assert refused.value.offset == place.offset


def test_fields_of_an_unknown_message_are_a_users_mistake() -> None:
    with pytest.raises(ValueError, match="no message is called 'heartbeat' \\(allowed: subscription info"):
        wire.fields(b"", "heartbeat")


# ------------------------------------------------------------- which message


@pytest.mark.parametrize("version", range(wire.ENVELOPE_LATEST + 1))
@settings(max_examples=30)
@given(data=st.data())
def test_an_envelope_with_a_streams_payload_is_told_apart(version: int, data: st.DataObject) -> None:
    payload = wire.encode_subscription_info(data.draw(sample.subscription_infos()))
    owned = (TopicPartition("t1", 0),)
    envelope = wire.encode_subscription(Subscription(("t1", "t2"), payload, owned, 3), version=version)
    assert wire.identify(envelope).kind == wire.CONSUMER_SUBSCRIPTION
    payload = wire.encode_assignment_info(data.draw(sample.assignment_infos()))
    envelope = wire.encode_assignment(Assignment((TopicPartition("t1", 0),), payload), version=version)
    assert wire.identify(envelope).kind == wire.CONSUMER_ASSIGNMENT


def test_bytes_that_do_not_decide_are_not_decided() -> None:
    guess = wire.identify(bytes.fromhex("0000 00000000 ffffffff"))
    assert {guess.kind, *guess.others} == {wire.CONSUMER_SUBSCRIPTION, wire.CONSUMER_ASSIGNMENT}
    assert guess.reason.startswith("the bytes do not decide")


def test_another_reading_is_always_told() -> None:
    guess = wire.identify(bytes.fromhex("00000001") + bytes(24))
    assert (guess.kind, guess.others) == (wire.SUBSCRIPTION_INFO, ())
    assert "as assignment info it leaves 16 of 28 bytes over" in guess.reason


def test_a_v1_with_the_body_of_v2_is_recognised() -> None:
    for vector in VECTORS:
        if vector.has_body_of_v2:
            assert "v1 with the body of v2" in wire.identify(vector.data).reason


def test_a_damaged_message_is_named_by_what_it_reads_furthest_as() -> None:
    (vector,) = (v for v in VECTORS if v.release == "3.9.0-rc3" and v.label == "SUB v7")
    guess = wire.identify(vector.data[:-1])
    assert (guess.kind, guess.nearest) == ("", wire.SUBSCRIPTION_INFO)
    assert wire.decode(vector.data[:-1]).problem.name == "task_offset_sums[1].partitions"


def test_an_envelope_is_taken_apart_with_the_payload_inside() -> None:
    payload = wire.encode_assignment_info(sample.assignment_info(11, common=11))
    envelope = wire.encode_assignment(Assignment((TopicPartition("t1", 0),), payload), version=3)
    decoded = wire.decode(envelope)
    assert (decoded.kind, decoded.inner.kind, decoded.problem) == (wire.CONSUMER_ASSIGNMENT, wire.ASSIGNMENT_INFO, None)
    for field in decoded.inner.fields:
        if field.name == "version":
            assert envelope[field.offset : field.offset + field.length] == b"\0\0\0\13"
    assert decoded.inner.fields[-1].offset + decoded.inner.fields[-1].length == len(envelope)


def test_envelopes_inside_envelopes_are_not_followed() -> None:
    nested = b""
    for _ in range(3000):
        nested = wire.encode_subscription(Subscription((), nested), version=0)
    assert wire.identify(nested).kind == wire.CONSUMER_SUBSCRIPTION


@given(st.binary(max_size=80))
def test_noise_is_identified_with_a_reason(data: bytes) -> None:
    guess = wire.identify(data)
    assert guess.reason
    assert guess.kind in ("", *KINDS)
    for kind in (guess.kind, *guess.others):
        if kind:
            DECODERS[kind](data)


@given(sample.messages())
def test_a_legal_message_is_among_what_is_guessed_or_told(message: tuple[str, bytes]) -> None:
    kind, data = message
    guess = wire.identify(data)
    assert kind in (guess.kind, *guess.others) or f"as {kind} it" in guess.reason
