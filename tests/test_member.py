"""A member, held against the answers of Kafka's own assignors, and by itself."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from protocol import wire
from protocol.member import Heeded, Reception, configure, heed, receive, rejoin_lines, subscribe
from protocol.messages import NO_REBALANCE, AssignmentInfo, SubscriptionInfo, TaskId
from protocol.releases import Binary, release
from protocol.strategies import MEMBER_RULES, NOTES
from protocol.trace import Failure, LogLine
from protocol.versions import UNKNOWN

GOLDEN = Path(__file__).parent / "golden"

with (GOLDEN / "member_matrix.tsv").open() as lines:
    ROWS = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def take(binary: Binary, *, used: int, received: int, common: int, code: int = 0) -> Reception:
    """One assignment, through its bytes where the member can read them."""
    info = AssignmentInfo(received, common if received >= 3 else UNKNOWN, error_code=code)
    if received > binary.latest:
        # What a newer release's bytes look like past the first int is no business of this one.
        data = received.to_bytes(4) + common.to_bytes(4, signed=True) + bytes(40)
    else:
        data = wire.encode_assignment_info(info)
    read = wire.read_assignment_info(data, dialect=binary.dialect)
    if read.failure is not None:
        return Reception.failed(used=used, failure=read.failure, log=read.log)
    return receive(binary, used=used, assignment=read.value)


def signal(binary: Binary, reception: Reception) -> str:
    """How the assignor tells its thread, in the words of the golden rows."""
    if reception.error_code:
        return f"assignmentErrorCode={reception.error_code}"
    if not reception.rejoin:
        return "none"
    if binary.rejoin == "enforce":
        return f"nextScheduledRebalanceMs={reception.next_rebalance_ms}"
    return "VERSION_PROBING_FLAG" if binary.latest == 3 else "assignmentErrorCode=2"


def next_subscription(binary: Binary, used: int) -> str:
    info = subscribe(binary, used=used)
    if isinstance(info, Failure):
        return f"EXC {info}"
    return f"v{info.version}" + (f"/latest{info.latest_supported_version}" if info.version >= 3 else "")


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=" ".join([row["tag"], *(row[name] for name in list(row)[2:6])])) for row in ROWS],
)
def test_a_member_takes_an_assignment_as_kafkas_own_class_does(row: dict[str, str]) -> None:
    binary = release(row["tag"]).binary
    assert binary.latest == int(row["member_latest"])
    reception = take(
        binary,
        used=int(row["used"]),
        received=int(row["received"]),
        common=int(row["common_or_leader_supported"]),
        code=int(row["err_in"]),
    )
    ours = {
        "result": f"EXC {reception.failure}" if reception.failure else "OK",
        "used_after": str(reception.used),
        "probing_signal": signal(binary, reception),
        "next_subscription": next_subscription(binary, reception.used),
        "logs": " || ".join(f"{line.level} {line.text}" for line in reception.log),
    }
    assert ours == {name: row[name] for name in ours}


# What it starts with.


def texts(log: tuple[LogLine, ...]) -> list[str]:
    return [f"{line.level} {line.text}" for line in log]


@pytest.mark.parametrize(
    ("tag", "value", "used", "protocol", "log"),
    [
        ("0.11.0.0", "0.10.0", 2, "EAGER", []),
        ("1.1.1", None, 2, "EAGER", []),
        ("1.1.1", "0.10.0", 1, "EAGER", ["INFO Downgrading metadata version from 2 to 1 for upgrade from 0.10.0.x."]),
        ("2.0.0", None, 3, "EAGER", []),
        ("2.0.0", "0.10.0", 1, "EAGER", ["INFO Downgrading metadata version from 3 to 1 for upgrade from 0.10.0.x."]),
        ("2.3.1", "0.11.0", 2, "EAGER", ["INFO Downgrading metadata version from 4 to 2 for upgrade from 0.11.0.x."]),
        ("2.4.0", None, 5, "COOPERATIVE", ["INFO Cooperative rebalancing enabled now"]),
        ("2.4.0", "2.3", 5, "EAGER", ["INFO Eager rebalancing enabled now for upgrade from 2.3.x"]),
        (
            "2.6.0",
            "1.1",
            2,
            "EAGER",
            [
                "INFO Downgrading metadata version from 7 to 2 for upgrade from 1.1.x.",
                "INFO Eager rebalancing enabled now for upgrade from 1.1.x",
            ],
        ),
        ("3.0.2", None, 10, "COOPERATIVE", ["INFO Cooperative rebalancing enabled now"]),
        ("3.1.0", None, 10, "COOPERATIVE", ["INFO Cooperative rebalancing protocol is enabled now"]),
        (
            "3.2.0",
            "2.0",
            11,
            "EAGER",
            [
                "INFO Eager rebalancing protocol is enabled now for upgrade from 2.0.x",
                "WARN The eager rebalancing protocol is deprecated and will stop being supported in a future release."
                " Please be prepared to remove the 'upgrade.from' config soon.",
            ],
        ),
        ("3.3.0", "3.2", 11, "COOPERATIVE", ["INFO Cooperative rebalancing protocol is enabled now"]),
        (
            "c310bf37670",
            "1.1",
            2,
            "EAGER",
            [
                "INFO Downgrading metadata version from 5 to 2 for upgrade from 1.1.x.",
                "INFO Turning off cooperative rebalancing for upgrade from 1.1.x",
            ],
        ),
    ],
)
def test_upgrade_from_sets_the_first_version_and_the_protocol_and_says_so(
    tag: str, value: str | None, used: int, protocol: str, log: list[str]
) -> None:
    configured = configure(release(tag).binary, value)
    assert (configured.used, configured.protocol, configured.failure) == (used, protocol, None)
    assert texts(configured.log) == log


def test_since_3_8_the_line_about_upgrade_from_names_the_wrong_thing() -> None:
    first = {tag: configure(release(tag).binary, "0.10.0").log[0].text for tag in ("3.7.0", "3.8.0")}
    assert first == {
        "3.7.0": "Downgrading metadata version from 11 to 1 for upgrade from 0.10.0.x.",
        "3.8.0": "Downgrading metadata.version from 11 to 1 for upgrade from 0.10.0.x.",
    }


@pytest.mark.parametrize(("tag", "value"), [("3.5.0", "3.4"), ("c310bf37670", "2.3")])
def test_a_value_that_only_the_settings_know_ends_the_start(tag: str, value: str) -> None:
    configured = configure(release(tag).binary, value)
    text = f"Unknown configuration value for parameter 'upgrade.from': {value}"
    assert configured.failure == Failure("IllegalArgumentException", text)
    assert configured.log == ()


def test_since_4_0_an_upgrade_from_the_eager_days_is_refused_and_the_others_say_nothing() -> None:
    binary = release("4.0.0").binary
    refused, accepted = configure(binary, "2.3"), configure(binary, "3.9")
    assert refused.failure is not None
    assert refused.failure.exception == "ConfigException"
    assert texts(refused.log) == [f"ERROR {refused.failure.text}"]
    assert (accepted.used, accepted.protocol, accepted.failure, accepted.log) == (11, "COOPERATIVE", None, ())
    assert configure(binary).log == ()


def test_a_value_that_nobody_knows_is_refused_with_the_allowed_ones() -> None:
    failure = configure(release("2.0.0").binary, "2.0").failure
    assert failure == Failure(
        "ConfigException",
        "Invalid value 2.0 for configuration upgrade.from: "
        "String must be one of: null, 0.10.0, 0.10.1, 0.10.2, 0.11.0, 1.0, 1.1",
    )


# What it sends.


def test_a_subscription_carries_what_its_version_can() -> None:
    binary = release("3.9.0").binary
    running, kept = TaskId(0, 0), TaskId(0, 1)
    more = {"tasks": [running], "standby": [kept], "unique_field": 5, "error_code": 4}
    old, new = subscribe(binary, used=2, **more), subscribe(binary, used=11, **more)
    assert isinstance(old, SubscriptionInfo)
    assert isinstance(new, SubscriptionInfo)
    assert (old.prev_tasks, old.standby_tasks, old.latest_supported_version) == ((running,), (kept,), UNKNOWN)
    assert (new.unique_field, new.error_code, new.latest_supported_version) == (5, 4, 11)
    assert new.offset_sums() == {running: -2, kept: 0}


@pytest.mark.parametrize(("tag", "used"), [("2.0.0", 4), ("2.1.0", 5), ("3.9.0", 12), ("3.9.0", -1)])
def test_a_version_that_the_jar_does_not_know_is_the_end_at_the_next_subscription(tag: str, used: int) -> None:
    binary = release(tag).binary
    text = f"version must be between 1 and {binary.latest}; was: {used}"
    assert subscribe(binary, used=used) == Failure("IllegalArgumentException", text)


# What it takes.


def test_kafka_8649_kills_one_rebalance_after_its_cause() -> None:
    binary = release("2.0.0").binary
    reception = take(binary, used=3, received=3, common=4)
    assert (reception.failure, reception.used, reception.rejoin) == (None, 4, False)
    assert isinstance(subscribe(binary, used=reception.used), Failure)


def test_a_fixed_member_dies_of_the_same_answer_at_once() -> None:
    reception = take(release("2.3.1").binary, used=4, received=4, common=5)
    assert reception.failure == Failure(
        "TaskAssignmentException", "Can't upgrade to metadata version greater than we support"
    )


@pytest.mark.parametrize(("tag", "typo"), [("2.2.2", False), ("2.3.1-rc1", True), ("2.3.1", True), ("2.4.0", False)])
def test_a_space_is_missing_in_the_2_3_line_only(tag: str, typo: bool) -> None:
    binary = release(tag).binary
    line = take(binary, used=3, received=3, common=binary.latest + 1).log[0]
    assert ("ouractual" in line.text) is typo


def test_up_to_2_3_a_member_that_probes_takes_no_tasks_and_later_it_does() -> None:
    processed = {
        tag: take(release(tag).binary, used=4, received=3, common=3).processed
        for tag in ("2.1.0", "2.3.1", "2.4.0", "2.6.0")
    }
    assert processed == {"2.1.0": False, "2.3.1": False, "2.4.0": True, "2.6.0": True}


def test_a_member_of_the_proposal_skips_its_tasks_whenever_it_changes_its_version() -> None:
    binary = release("c310bf37670").binary
    assert not take(binary, used=3, received=4, common=5).processed
    assert not take(binary, used=5, received=4, common=4).processed
    assert take(binary, used=4, received=4, common=5).processed


def test_the_release_candidates_of_the_fix_do_not_name_the_version_they_go_down_to() -> None:
    lines = {tag: take(release(tag).binary, used=4, received=3, common=3).log[0].text for tag in ("2.2.2-rc1", "2.2.2")}
    assert "to commonly supported version and trigger" in lines["2.2.2-rc1"]
    assert "to commonly supported version 3 and trigger" in lines["2.2.2"]


def test_a_silent_upgrade_keeps_its_tasks() -> None:
    assert take(release("2.1.0").binary, used=3, received=3, common=4).processed


def follow_up(tag: str, next_rebalance_ms: int) -> Reception:
    binary = release(tag).binary
    info = AssignmentInfo(binary.latest, binary.latest, next_rebalance_ms=next_rebalance_ms)
    return receive(binary, used=binary.latest, assignment=info)


def test_a_member_from_whom_tasks_are_withheld_comes_back_at_once() -> None:
    reception = follow_up("2.6.0", 0)
    assert (reception.rejoin, reception.next_rebalance_ms, reception.processed) == (True, 0, True)
    assert texts(reception.log) == [
        "INFO Requested to schedule immediate rebalance for new tasks to be safely revoked from current owner."
    ]


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("2.8.0", "Requested to schedule probing rebalance for 1700000000123 ms."),
        (
            "3.4.0",
            "Requested to schedule next probing rebalance at 2023-11-14 22:13:20,123 Z"
            " to try for a more balanced assignment.",
        ),
    ],
)
def test_a_probing_rebalance_has_nothing_to_do_with_versions_and_comes_later(tag: str, text: str) -> None:
    reception = follow_up(tag, 1_700_000_000_123)
    assert (reception.rejoin, reception.next_rebalance_ms) == (False, 1_700_000_000_123)
    assert texts(reception.log) == [f"INFO {text}"]


def test_a_change_of_version_goes_before_any_other_follow_up() -> None:
    binary = release("3.9.0").binary
    info = AssignmentInfo(10, 10, next_rebalance_ms=1_700_000_000_123)
    reception = receive(binary, used=11, assignment=info)
    assert (reception.next_rebalance_ms, reception.log[-1].text) == (
        0,
        "Requested to schedule immediate rebalance due to version probing.",
    )


def test_the_error_code_is_looked_at_before_the_versions() -> None:
    reception = take(release("2.4.0").binary, used=4, received=5, common=5, code=1)
    assert (reception.failure, reception.error_code, reception.processed) == (None, 1, False)
    assert reception.next_rebalance_ms == NO_REBALANCE


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("1.1.1", "Unknown assignment data version: 12"),
        ("2.0.0", "Unable to decode assignment data: used version: 12; latest supported version: 3"),
    ],
)
def test_a_version_that_the_jar_cannot_read_ends_the_thread(tag: str, text: str) -> None:
    binary = release(tag).binary
    reception = receive(binary, used=binary.latest, assignment=AssignmentInfo(12, 12))
    assert reception.failure == Failure("TaskAssignmentException", text)


@pytest.mark.parametrize("rule", MEMBER_RULES)
def test_a_note_of_a_reception_can_be_said_in_plain_words(rule: str) -> None:
    for row in (one for one in ROWS if release(one["tag"]).binary.member_rule == rule):
        used, received = int(row["used"]), int(row["received"])
        reception = take(
            release(row["tag"]).binary, used=used, received=received, common=int(row["common_or_leader_supported"])
        )
        assert reception.failure is not None or reception.note in NOTES


# What its thread does.


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("2.0.0", "Version probing detected. Triggering new rebalance."),
        ("2.5.0", "Version probing detected. Triggering new rebalance."),
        ("2.6.0", "Triggering the followup rebalance scheduled for 0 ms."),
        ("3.3.2", "Triggering the followup rebalance scheduled for 0 ms."),
        ("3.4.0", "Triggering the followup rebalance scheduled for 1970-01-01 00:00:00,000 Z."),
    ],
)
def test_a_thread_says_that_it_comes_back(tag: str, text: str) -> None:
    assert rejoin_lines(release(tag).binary) == (LogLine("", "INFO", "StreamThread", text),)


def test_before_probing_no_thread_comes_back_by_itself() -> None:
    assert rejoin_lines(release("1.1.1").binary) == ()


SHUTDOWN = "A Kafka Streams client in this Kafka Streams application is requesting to shutdown the application"
UNEXPECTED = Failure("TaskAssignmentException", "Hit an unexpected exception during task assignment phase of rebalance")
UNRECOGNIZED = Failure("TaskAssignmentException", "Hit an unrecognized exception during rebalance")
MISSING = Failure("MissingSourceTopicException", "One or more source topics were missing during rebalance")


@pytest.mark.parametrize(
    ("tag", "code", "stops", "failure", "log"),
    [
        ("2.1.0", 1, True, None, []),
        ("2.2.0", 1, True, None, ["ERROR Received error code 1 - shutdown"]),
        ("2.4.0", 1, True, None, ["ERROR Received error code 1 - shutdown"]),
        ("2.6.0", 1, True, None, ["ERROR Received error code 1 - shutdown"]),
        ("2.6.0", 3, False, None, []),
        ("2.6.0", 4, False, None, []),
        ("2.7.0", 1, True, MISSING, ["ERROR Received error code INCOMPLETE_SOURCE_TOPIC_METADATA"]),
        ("2.7.0", 2, False, None, ["INFO Received version probing code VERSION_PROBING"]),
        ("2.7.0", 3, True, UNEXPECTED, ["ERROR Received error code ASSIGNMENT_ERROR"]),
        ("2.7.0", 4, True, UNRECOGNIZED, ["ERROR Received unknown error code 4"]),
        ("2.8.0", 4, True, None, [f"ERROR {SHUTDOWN}"]),
        ("3.9.0", 9, True, UNRECOGNIZED, ["ERROR Received unknown error code 9"]),
        (
            "3.8.0",
            1,
            True,
            MISSING,
            [
                "ERROR Received error code INCOMPLETE_SOURCE_TOPIC_METADATA."
                " Missing metadata for source topics. Check the group leader logs for details."
            ],
        ),
    ],
)
def test_a_thread_heeds_an_error_code_as_its_release_does(
    tag: str, code: int, stops: bool, failure: Failure | None, log: list[str]
) -> None:
    heeded = heed(release(tag).binary, code)
    assert (heeded.stops, heeded.failure, texts(heeded.log)) == (stops, failure, log)


def test_without_an_error_code_a_thread_goes_on() -> None:
    assert heed(release("3.9.0").binary, 0) == Heeded(False)


@pytest.mark.parametrize("name", ["0.10.0.0", "1.1.1", "2.0.1"])
def test_before_2_1_there_is_no_error_code_to_heed(name: str) -> None:
    for code in (0, 1, 2, 3, 4):
        heeded = heed(release(name).binary, code)
        assert (heeded.stops, heeded.failure, heeded.log) == (False, None, ())
    assert heed(release("2.2.0").binary, 1).stops
