"""What each release's own code makes of bytes, and writes: Kafka's classes are the judge."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_wire as sample
from hypothesis import given
from hypothesis import strategies as st
from sample_wire import DIALECTS, PROCESS, READERS, VECTORS, Vector

from protocol import wire
from protocol.errors import DecodeError
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
from protocol.trace import Failure, LogLine
from protocol.versions import CODECS, UNKNOWN, Dialect

ANSWERS = Path(__file__).parent / "answers" / "readers.tsv"
RELEASES = sorted({release for release, _ in sample.lines()})

each_release = pytest.mark.parametrize("release", RELEASES)
each_info = pytest.mark.parametrize(
    "vector",
    [vector for vector in VECTORS if "info" in vector.kind],
    ids=lambda vector: f"{vector.release} {vector.label}",
)
dialects = st.sampled_from(sorted(DIALECTS)).map(DIALECTS.__getitem__)


def int32(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "big", signed=True) for value in values)


def write(value: object, dialect: Dialect) -> bytes | Failure:
    if isinstance(value, SubscriptionInfo):
        return wire.write_subscription_info(value, dialect=dialect)
    assert isinstance(value, AssignmentInfo)
    return wire.write_assignment_info(value, dialect=dialect)


# ------------------------------------------------------- what a release wrote


@each_info
def test_a_release_writes_its_bytes(vector: Vector) -> None:
    assert write(vector.value, DIALECTS[vector.release]) == vector.data


@each_info
def test_a_release_reads_its_own_bytes(vector: Vector) -> None:
    read = READERS[vector.kind](vector.data, dialect=DIALECTS[vector.release])
    assert (read.failure, read.log) == (None, ())
    assert read.value.version == (2 if vector.release == "0.10.1.0" and "ASG" in vector.label else vector.version)
    strict = sample.DECODERS[vector.kind](vector.data)
    for field in ("active_tasks", "standby_tasks", "prev_tasks", "task_offset_sums", "client_tags", "error_code"):
        assert getattr(read.value, field, None) == getattr(strict, field, None)


@pytest.mark.parametrize("version", range(1, 12))
def test_every_reader_sees_the_same_in_the_bytes_of_any_writer(version: int) -> None:
    """A version is spelt alike by all; of a future one a reader of 2.0.0 or later sees the head."""
    for vector in VECTORS:
        if vector.kind != wire.SUBSCRIPTION_INFO or vector.version != version:
            continue
        for dialect in DIALECTS.values():
            read = wire.read_subscription_info(vector.data, dialect=dialect)
            if version <= dialect.latest:
                assert read.value == wire.decode_subscription_info(vector.data)
            elif dialect.latest >= 3:
                assert (read.value.version, read.value.head_only) == (version, True)
                assert read.value.latest_supported_version == vector.value.latest_supported_version
            else:
                assert read.failure == Failure(
                    "TaskAssignmentException", f"unable to decode subscription data: version={version}"
                )


# ------------------------------------------------ DEC, EXC and OK lines


def damaged_input(label: str, latest: int) -> tuple[str, bytes]:
    """The kind and the bytes that a DEC line names."""
    kind = wire.SUBSCRIPTION_INFO if label.startswith("SUB") else wire.ASSIGNMENT_INFO
    rest = label[4:]
    if rest == "future L+1/L+1":
        return kind, int32(latest + 1, latest + 1)
    if rest == "future 4 bytes":
        return kind, int32(latest + 1)
    if rest == "4 bytes v1":
        return kind, int32(1)
    version = re.fullmatch(r"v(L\+1|-?\d+) 64 zero bytes", rest)[1]
    return kind, int32(latest + 1 if version == "L+1" else int(version)) + bytes(64)


def dec_lines() -> Iterator[tuple[str, str, str]]:
    for release, line in sample.lines():
        if line.startswith("DEC "):
            label, answer = line.removeprefix("DEC ").split(" -> ")
            yield release, label, answer


@pytest.mark.parametrize(("release", "label", "answer"), tuple(dec_lines()), ids=lambda part: part[:40])
def test_a_decoder_does_with_odd_input_what_the_real_one_did(release: str, label: str, answer: str) -> None:
    dialect = DIALECTS[release]
    kind, data = damaged_input(label, dialect.latest)
    read = READERS[kind](data, dialect=dialect)
    if answer.startswith("EXC "):
        assert f"EXC {read.failure}" == re.sub(r"EXC [a-z.]+\.", "EXC ", answer)
        return
    assert read.failure is None
    version, second = re.search(
        r"version=(-?\d+)(?:, (?:supported v|latestSupportedV)ersion=(-?\d+))?", answer
    ).groups()
    assert read.value.version == int(version)
    if second is not None:
        assert (read.value.latest_supported_version, read.value.head_only) == (int(second), True)
    elif "active tasks=0" in answer:
        assert (read.value.active_tasks, read.value.standby_tasks) == ((), ())


DIALECT_39 = DIALECTS["3.9.0-rc3"]
V3, V5, V6, V7 = (wire.encode_subscription_info(sample.subscription_info(v, latest=11)) for v in (3, 5, 6, 7))
A3 = wire.encode_assignment_info(sample.assignment_info(3, common=11))
ENVELOPE = wire.encode_subscription(sample.SPECIAL["ENVSUB v3"], version=3)
GIVEN_39 = {
    "SUB empty buffer": b"",
    "SUB 4 bytes future v12": int32(12),
    "SUB v0": int32(0) + bytes(64),
    "SUB v-1": int32(-1) + bytes(64),
    "SUB future 12/latest 11": int32(12, 11),
    "SUB future 12/latest -1": int32(12, -1),
    "SUB future 12/latest 12": int32(12, 12),
    "SUB v5 latest 4": V5[:4] + int32(4) + V5[8:],
    "SUB v7 truncated by 1": V7[:-1],
    "SUB v7 trailing 3 bytes": V7 + bytes(3),
    "SUB v3 prevTasks len -1": V3[:24] + int32(-1) + V3[28:],
    "SUB v3 prevTasks len huge": V3[:24] + int32(2**31 - 1) + V3[28:],
    "ASG empty": b"",
    "ASG v12": int32(12) + bytes(40),
    "ASG v0": int32(0) + bytes(40),
    "ASG v3 truncated": A3[:-1],
    "ASG v3 trailing": A3 + bytes(3),
    "ASG ctor v12": AssignmentInfo(12, 11),
    "ASG ctor v0": AssignmentInfo(0, 11),
    "ASG ctor v3 common -1": AssignmentInfo(3, -1),
    "ASG v6 next": wire.encode_assignment_info(sample.assignment_info(6, common=11)),
    "ASG v5 standbyByHost": wire.encode_assignment_info(sample.assignment_info(5, common=11)),
    "SUB ctor v12/L": SubscriptionInfo(12, 11),
    "SUB ctor v12/12": None,  # only the constructor was called, and it is content
    "SUB encode v12/12": SubscriptionInfo(12, 12),
    "ENV v5 sub": b"\0\5" + ENVELOPE[2:],
    "ENV v-1 sub": b"\xff\xff" + ENVELOPE[2:],
}
"""What each EXC and OK line of 3.9.0 was about: bytes that were read, or a message that was written."""


def blocks_39() -> dict[str, tuple[str, list[str]]]:
    """Each label's verdict, and the lines before it."""
    found: dict[str, tuple[str, list[str]]] = {}
    before: list[str] = []
    for release, line in sample.lines():
        if release != "3.9.0-rc3":
            continue
        if verdict := re.fullmatch(r"(EXC|OK)\s+(.+?)(?: -> (.+))?", line):
            kind, label, text = verdict.groups()
            found[label] = (f"{kind} {text or ''}".strip(), before)
            before = []
        elif line.startswith(("[main]", "   ")):
            before.append(line)
    return found


def test_every_line_of_every_golden_file_is_accounted_for() -> None:
    blocks = blocks_39()
    assert blocks.keys() == GIVEN_39.keys()
    known = {(vector.release, vector.data.hex()) for vector in VECTORS}
    for release, line in sample.lines():
        if (release, line.rsplit(" ", 1)[-1]) in known or line.startswith("DEC ") or release == "3.9.0-rc3":
            continue
        # a constructor of 2.0.0 and 2.1.0 that only the decoder calls leaves the lists null
        assert line.startswith("ASGempty v3 common3 EXC java.lang.NullPointerException"), (release, line)


@pytest.mark.parametrize("label", GIVEN_39)
def test_3_9_does_what_it_did(label: str) -> None:
    given_, (verdict, before) = GIVEN_39[label], blocks_39()[label]
    if given_ is None:
        return
    if not isinstance(given_, bytes):
        written = write(given_, DIALECT_39)
        if verdict != "OK":
            assert str(written) == re.sub(r"^EXC [a-z.]+\.", "", verdict)
        else:
            assert isinstance(written, bytes)
        return
    if label.startswith("ENV"):
        read = wire.read_subscription(given_, dialect=DIALECT_39)
    elif label.startswith("SUB"):
        read = wire.read_subscription_info(given_, dialect=DIALECT_39)
    else:
        read = wire.read_assignment_info(given_, dialect=DIALECT_39)
    assert (
        f"EXC {read.failure}" == re.sub(r"^EXC [a-z.]+\.(?=[A-Z])", "EXC ", verdict)
        if read.failure
        else verdict == "OK"
    )
    logged = [re.sub(r"^\[main\] (\w+) [a-z.]+\.(\w+)", r"\1 \2", line) for line in before if line.startswith("[main]")]
    assert [str(line) for line in read.log] == logged
    said = " ".join(line for line in before if line.startswith("   "))
    if label == "ASG v6 next":
        assert f"next={read.value.next_rebalance_ms}" in said
    if label == "SUB future 12/latest 12":
        assert "processId=00000000-0000-0000-0000-000000000000" in said
        assert read.value == SubscriptionInfo(12, 12, head_only=True)
    if label == "ENV v5 sub":
        assert read.value == sample.SPECIAL["ENVSUB v3"]


def edge_members() -> Iterator[tuple[str, tuple[int, int], list[str]]]:
    """(release, the two ints of the malformed subscription, what the leader said)."""
    release, pair, said = "", None, []
    for line in (sample.GOLDEN / "edge_subscriptions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("===", ">>")):
            if pair is not None:
                yield release, pair, said
            pair, said = None, []
        if line.startswith("==="):
            release = line.removeprefix("=== ")
        elif line.startswith(">>"):
            used, supported = re.search(r"c2:2:(-?\d+):(-?\d+):F", line).groups()
            pair = (int(used), int(supported))
        elif pair is not None:
            said.append(line)
    yield release, pair, said


@pytest.mark.parametrize(("release", "pair", "said"), tuple(edge_members()))
def test_a_leader_reads_a_malformed_head_as_the_real_one_did(
    release: str, pair: tuple[int, int], said: list[str]
) -> None:
    read = wire.read_subscription_info(int32(*pair), dialect=DIALECTS[release])
    assert [str(line) for line in read.log] == [line for line in said if line.startswith("INFO SubscriptionInfo")]
    threw = next((line.strip() for line in said if "EXC" in line), "")
    if read.failure:
        assert threw == f"EXC {read.failure}"
    else:  # whatever was thrown then, the leader threw it after all were read
        assert read.value == SubscriptionInfo(*pair, head_only=True)


# ------------------------------------------------------- recorded answers


def answers() -> list[tuple[str, str, str, str]]:
    rows = ANSWERS.read_text(encoding="utf-8").splitlines()[1:]
    return [tuple(row.split("\t")) for row in rows]  # type: ignore[misc]


def task(value: TaskId) -> list[object]:
    return list(value)


def mapped(pairs: tuple[tuple[tuple[object, ...], tuple[TopicPartition, ...]], ...]) -> dict[str, object]:
    return {"map": [[list(key), {"set": [list(tp) for tp in partitions]}] for key, partitions in pairs]}


def told(value: object, dialect: Dialect) -> dict[str, object]:
    """A message under the names that Kafka's classes have for its fields."""
    if isinstance(value, SubscriptionInfo):
        sums = value.offset_sums()
        prev = value.prev_tasks or [task for task, offset in sums.items() if offset == LATEST_OFFSET]
        standby = value.standby_tasks or [task for task, offset in sums.items() if offset not in (LATEST_OFFSET,)]
        if value.version < 7:
            prev, standby = value.prev_tasks, value.standby_tasks
        known = not (value.head_only and CODECS.index(dialect.codec) < CODECS.index("2.5"))
        return {
            "version": value.version,
            "latestSupportedVersion": value.latest_supported_version,
            "processId": str(uuid.UUID(bytes=value.process_id)) if known else None,
            "prevTasks": {"set": [task(one) for one in prev]} if known else None,
            "standbyTasks": {"set": [task(one) for one in standby]} if known else None,
            "userEndPoint": value.user_end_point,
            "taskOffsetSums": {"map": [[task(one), offset] for one, offset in sums.items()]},
            "errorCode": value.error_code,
            "clientTags": {"map": [list(tag) for tag in value.client_tags]},
        }
    if isinstance(value, AssignmentInfo):
        return {
            "version": value.version,
            "latestSupportedVersion": value.commonly_supported_version,
            "commonlySupportedVersion": value.commonly_supported_version,
            "activeTasks": [task(one) for one in value.active_tasks],
            "standbyTasks": mapped(value.standby_tasks),
            "partitionsByHost": mapped(value.partitions_by_host),
            "standbyPartitionByHost": mapped(value.standby_partitions_by_host),
            "errCode": value.error_code,
            "nextRebalanceMs": value.next_rebalance_ms,
        }
    assert isinstance(value, Subscription | Assignment)
    data = None if value.user_data is None else value.user_data.hex()
    if isinstance(value, Assignment):
        return {"partitions": [list(tp) for tp in value.partitions], "userData": data}
    return {
        "topics": list(value.topics),
        "userData": data,
        "ownedPartitions": [list(tp) for tp in value.owned_partitions],
        "generationId": value.generation_id if value.generation_id >= 0 else None,
        "rackId": value.rack_id,
    }


def plain(value: object) -> object:
    """Sets and maps in one order, so that equal ones are equal."""
    if isinstance(value, dict) and value.keys() in ({"set"}, {"map"}):
        return sorted((plain(element) for element in next(iter(value.values()))), key=repr)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(element) for element in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", READERS)
def test_a_reader_answers_what_the_published_release_answered(kind: str) -> None:
    rows = [row for row in answers() if row[1] == kind]
    assert len(rows) > 100
    for release, _, data, answer in rows:
        dialect = DIALECTS[release]
        read = READERS[kind](bytes.fromhex(data), dialect=dialect)
        if answer.startswith("EXC "):
            assert f"EXC {read.failure}" == answer, (release, data)
            continue
        assert read.failure is None, (release, data, read.failure)
        expected = json.loads(answer.removeprefix("OK ").replace("[null,", '["null",'))
        said = told(read.value, dialect)
        assert plain({name: said[name] for name in expected}) == plain(expected), (release, data)


# ------------------------------------------------------- what a release writes


@pytest.mark.parametrize(("used", "latest"), [(4, 3), (5, 4), (6, 5), (12, 11)])
@pytest.mark.parametrize("codec", CODECS[3:])
def test_a_poisoned_member_dies_when_it_writes(used: int, latest: int, codec: str) -> None:
    dialect = Dialect(latest=latest, codec=codec, envelope=0)
    info = SubscriptionInfo.of({}, version=used, latest_supported_version=latest)
    expected = Failure("IllegalArgumentException", f"version must be between 1 and {latest}; was: {used}")
    assert wire.write_subscription_info(info, dialect=dialect) == expected
    assert wire.write_assignment_info(AssignmentInfo(used, used), dialect=dialect) == expected


@pytest.mark.parametrize("used", [0, -1])
def test_a_member_told_a_version_below_1_dies_when_it_writes(used: int) -> None:
    for release in ("2.0.0", "2.3.1", "2.4.0", "2.6.0", "3.9.0"):
        dialect = DIALECTS[release]
        info = SubscriptionInfo(used, dialect.latest)
        text = f"version must be between 1 and {dialect.latest}; was: {used}"
        assert wire.write_subscription_info(info, dialect=dialect) == Failure("IllegalArgumentException", text)


def test_the_generated_code_wants_a_supported_version() -> None:
    said = wire.write_subscription_info(SubscriptionInfo(5), dialect=DIALECTS["2.6.0"])
    text = "Only versions 1 and 2 are expected to use an UNKNOWN (-1) latest supported version. Got 5."
    assert said == Failure("IllegalArgumentException", text)


@pytest.mark.parametrize(("codec", "second"), [("2.0", 4), ("2.2.2", 3)])
def test_before_kafka_9053_the_second_int_is_the_writers_own_latest(codec: str, second: int) -> None:
    dialect = Dialect(latest=4, codec=codec, envelope=0)
    assignment = wire.write_assignment_info(AssignmentInfo(3, 3), dialect=dialect)
    subscription = wire.write_subscription_info(SubscriptionInfo(3, 3), dialect=dialect)
    assert assignment[4:8] == subscription[4:8] == int32(second)


def test_0_10_1_writes_v1_with_the_body_of_v2_and_all_readers_ignore_the_rest() -> None:
    writer = DIALECTS["1.1.1"]
    info = SubscriptionInfo(1, UNKNOWN, PROCESS, "h1:80", (TaskId(0, 1),))
    data = wire.write_subscription_info(info, dialect=writer)
    assert data.endswith(b"\0\0\0\5h1:80")
    for dialect in DIALECTS.values():
        read = wire.read_subscription_info(data, dialect=dialect)
        assert read.value == SubscriptionInfo(1, UNKNOWN, PROCESS, None, (TaskId(0, 1),))


def test_0_10_0_writes_v1_only() -> None:
    dialect = DIALECTS["0.10.0.0"]
    said = wire.write_subscription_info(SubscriptionInfo(2), dialect=dialect)
    assert said == Failure("TaskAssignmentException", "unable to encode subscription data: version=2")
    said = wire.write_assignment_info(AssignmentInfo(2), dialect=dialect)
    assert said == Failure("TaskAssignmentException", "Unable to encode assignment data: version=2")


def test_a_named_topology_below_v10_ends_the_writer() -> None:
    task = TaskId(0, 1, "topA")
    said = wire.write_subscription_info(SubscriptionInfo(6, 11, prev_tasks=(task,)), dialect=DIALECT_39)
    assert said == Failure(
        "TaskAssignmentException", "Named topologies are not compatible with older protocol versions"
    )
    said = wire.write_assignment_info(AssignmentInfo(9, 11, (task,)), dialect=DIALECT_39)
    assert said == Failure("TaskAssignmentException", "Named topologies are not compatible with protocol version 9")


def test_a_text_that_is_too_long_ends_the_writer() -> None:
    host = ((HostInfo("h" * 65536, 80), ()),)
    for release in ("1.1.1", "2.0.0", "3.9.0"):
        said = wire.write_assignment_info(AssignmentInfo(2, partitions_by_host=host), dialect=DIALECTS[release])
        assert said == Failure("TaskAssignmentException", "Failed to encode AssignmentInfo")
    sums = ((TaskId(0, 1, "t" * 32768), 5),)
    said = wire.write_subscription_info(SubscriptionInfo(10, 11, task_offset_sums=sums), dialect=DIALECT_39)
    assert said == Failure("RuntimeException", "'namedTopology' field is too long to be serialized")


# ------------------------------------------------------- what a release reads


def test_the_backports_report_the_assignments_version_and_0_10_1_does_not() -> None:
    data = int32(1, 0, 0)
    assert wire.read_assignment_info(data, dialect=DIALECTS["0.10.2.1"]).value.version == 2
    assert wire.read_assignment_info(data, dialect=DIALECTS["0.10.2.2"]).value.version == 1


def test_what_the_bytes_name_twice_is_there_once() -> None:
    twice = (TaskId(0, 1), TaskId(0, 1))
    data = wire.encode_subscription_info(SubscriptionInfo(3, 3, PROCESS, None, twice, twice))
    for release in ("2.0.0", "2.4.0", "2.6.0", "3.9.0"):
        read = wire.read_subscription_info(data, dialect=DIALECTS[release])
        assert read.value.prev_tasks == read.value.standby_tasks == (TaskId(0, 1),)
    t1, t2 = TopicPartition("t1", 0), TopicPartition("t2", 0)
    doubled = AssignmentInfo(3, 3, twice, ((twice[0], (t1,)), (twice[0], (t2, t2))))
    read = wire.read_assignment_info(wire.encode_assignment_info(doubled), dialect=DIALECTS["2.0.0"])
    assert read.value.active_tasks == twice
    assert read.value.standby_tasks == ((TaskId(0, 1), (t2,)),)


def test_an_unknown_version_of_an_assignment_is_logged_and_thrown() -> None:
    read = wire.read_assignment_info(int32(5, 5, 0, 0, 0), dialect=DIALECTS["2.0.0"])
    text = "Unable to decode assignment data: used version: 5; latest supported version: 3"
    assert read == wire.Read(
        None, Failure("TaskAssignmentException", text), (LogLine("", "ERROR", "AssignmentInfo", text),)
    )


def test_a_supported_version_read_from_a_future_head_is_logged_by_the_generation() -> None:
    for release, known in (("2.0.0", 3), ("2.3.1", 30), ("3.9.0", 30)):
        read = wire.read_subscription_info(int32(30, 30), dialect=DIALECTS[release])
        text = f"Unable to decode subscription data: used version: 30; latest supported version: {known}"
        assert read.log == (LogLine("", "INFO", "SubscriptionInfo", text),)


def test_the_guard_against_absurd_counts_came_with_2_8_2() -> None:
    data = V3[:24] + int32(1000) + V3[28:]
    for release, failure in (
        ("2.0.0", "BufferUnderflowException: null"),
        ("2.8.0", "BufferUnderflowException: null"),
        ("3.2.0", "BufferUnderflowException: null"),
        (
            "2.8.2",
            "RuntimeException: Tried to allocate a collection of size 1000, but there are only 29 bytes remaining.",
        ),
        (
            "3.3.1",
            "RuntimeException: Tried to allocate a collection of size 1000, but there are only 29 bytes remaining.",
        ),
    ):
        assert str(wire.read_subscription_info(data, dialect=DIALECTS[release]).failure) == failure


def test_the_guard_against_absurd_counts_in_an_assignment_came_with_4_2_2_and_4_3_1() -> None:
    data = int32(11, 11, 1000)
    for release, text in (
        ("3.9.0", "Failed to decode AssignmentInfo"),
        ("4.2.2", "Corrupted user data byte[]."),
        ("4.3.1", "Corrupted user data byte[]."),
    ):
        failure = wire.read_assignment_info(data, dialect=DIALECTS[release]).failure
        assert failure == Failure("TaskAssignmentException", text)


def test_an_old_client_sees_of_a_newer_envelope_what_it_knows() -> None:
    read = wire.read_subscription(ENVELOPE, dialect=DIALECTS["2.0.0"])
    assert read.value == Subscription(("t1", "t2"), b"\1\2\3")
    read = wire.read_subscription(ENVELOPE, dialect=DIALECTS["2.4.0"])
    assert read.value == Subscription(("t1", "t2"), b"\1\2\3", (sample.T1_0, sample.T1_1))


# ------------------------------------------------------------- any bytes


@given(st.data(), dialects)
def test_a_legal_message_is_read_by_every_release_that_knows_it(data: st.DataObject, dialect: Dialect) -> None:
    if dialect.latest >= 3:
        info = data.draw(sample.subscription_infos(data.draw(st.integers(1, dialect.latest))))
        read = wire.read_subscription_info(wire.encode_subscription_info(info), dialect=dialect)
        assert (read.value, read.failure, read.log) == (info, None, ())
    assignment = data.draw(sample.assignment_infos(data.draw(st.integers(1, dialect.latest))))
    read = wire.read_assignment_info(wire.encode_assignment_info(assignment), dialect=dialect)
    assert read.failure is None
    assert read.value.active_tasks == assignment.active_tasks
    assert read.value.next_rebalance_ms == (assignment.next_rebalance_ms if assignment.version >= 7 else NO_REBALANCE)


@given(sample.damaged() | st.tuples(st.sampled_from(sample.KINDS), st.binary(max_size=100)), dialects)
def test_a_reader_never_raises(message: tuple[str, bytes], dialect: Dialect) -> None:
    kind, data = message
    read = READERS[kind](data, dialect=dialect)
    assert (read.value is None) == (read.failure is not None)
    assert all(line.member == "" for line in read.log)


@given(sample.damaged(), dialects)
def test_what_the_strict_codec_reads_no_release_fails_on(message: tuple[str, bytes], dialect: Dialect) -> None:
    """Except for what is not about bytes: a version that it does not know, a supported version below the used one."""
    kind, data = message
    try:
        sample.DECODERS[kind](data)
    except DecodeError:
        return
    failure = READERS[kind](data, dialect=dialect).failure
    assert failure is None or re.search("version|Only versions", failure.text)
