"""Logs as the field has them: public reports in the layouts of their releases, each with what an expert would say.

The cases with a number are in `test_field_cases`; the texts were read at the release's tag.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.logbook import Diagnosis, Explanation, explain, meaning, read, written
from protocol.logbook.shapes import told as told_releases
from protocol.scenario import Scenario, simulate

IDS = [f"1a2b3c4d-0000-4000-8000-00000000000{i}" for i in range(9)]


def thread(instance: int, number: int = 1) -> str:
    return f"app-{IDS[instance]}-StreamThread-{number}"


def line(instance: int, second: int, text: str, level: str = "INFO") -> str:
    """A line of the default layout of Kafka's log4j."""
    at = f"2024-05-01 12:{second // 60:02}:{second % 60:02},000"
    return f"[{at}] {level} stream-thread [{thread(instance)}-consumer] {text} (org.apache.kafka.streams.Assignor)"


def joined(instance: int, second: int, generation: int) -> str:
    who = f"Generation{{generationId={generation}, memberId='{thread(instance)}-consumer-9', protocol='stream'}}"
    at = f"2024-05-01 12:{second // 60:02}:{second % 60:02},000"
    client = f"[Consumer clientId={thread(instance)}-consumer, groupId=app]"
    return f"[{at}] INFO {client} Successfully joined group with generation {who} (AbstractCoordinator)"


def probed(used: int, received: int, common: int) -> str:
    return (
        f"Sent a version {used} subscription and got version {received} assignment back (successful version probing). "
        f"Downgrade subscription metadata to commonly supported version {common} and trigger new rebalance."
    )


def ended(used: int, common: int) -> str:
    return (
        f"Sent a version {used} subscription and group's latest commonly supported version is {common} (successful "
        f"version probing and end of rolling upgrade). Upgrading subscription metadata version to {common} for next "
        "rebalance."
    )


SILENT = (
    "Sent a version 3 subscription and group leader's latest supported version is 4. Upgrading subscription metadata "
    "version to 4 for next rebalance."
)
DIES = "Encountered the following exception during processing and the thread is going to shut down:"


def names(told: Explanation) -> list[str]:
    return [one.name for one in told.diagnoses]


def named(told: Explanation, name: str) -> Diagnosis:
    return next(one for one in told.diagnoses if one.name == name)


# One line each: whose fault it is not, or is.


@pytest.mark.parametrize(
    ("text", "releases", "title"),
    [
        ("Missing source topic orders durign assignment. Returning error 1.", "2.2.0–2.3.1", "missing"),
        ("Missing source topic orders during assignment. Returning error 1.", "2.4.0–2.5.1", "missing"),
        ("Source topic orders is missing/unknown during rebalance, please make sure", "2.6.0–2.7.2", "missing"),
        ("The following source topics are missing/unknown: [orders]. Please make", "2.8.0–3.1.2", "missing"),
        ("Subtopology 0 was missing source topics [orders] and will be excluded", "3.2.0–3.6.2", "missing"),
        ("Subtopology 0 has missing source topics [orders] and will be excluded", "3.7.0–4.4.0", "missing"),
        ("Failed to fetch end offsets for changelogs, will return previous assignment to", None, "end offsets"),
        ("Active task(s) got corrupted. Triggering a rebalance.", None, "corrupted"),
        ("TaskCorruptedException: Tasks [0_1] are corrupted and hence need to be re-initialized", None, "corrupted"),
        (
            "IllegalStateException: There are insufficient bytes available to read assignment from the sync-group "
            "response (actual byte size 0) , this is not expected",
            None,
            "no bytes",
        ),
        ("LockException: task [0_0] Failed to lock the state directory for task 0_0", None, "lock"),
        ("CommitFailedException: Commit cannot be completed since the group has already rebalanced", None, "commit"),
        ("java.lang.NoSuchMethodError: 'void org.apache.kafka.clients.Metadata.x()'", None, "class path"),
        ("java.lang.NoClassDefFoundError: org/apache/kafka/streams/Topology", None, "class path"),
        (
            "StreamsException: Existing internal topic a-repartition has invalid partitions: expected: "
            "4; actual: 8. Use",
            None,
            "internal topic",
        ),
        (
            "IllegalStateException: Assignor supporting the COOPERATIVE protocol violates its requirements",
            None,
            "owned",
        ),
        ("GroupAuthorizationException: Not authorized to access group: app", None, "may not use"),
        ("StreamsGroupHeartbeatRequest failed due to UNSUPPORTED_VERSION: The cluster does not", None, "KIP-1071"),
        (
            "WARN Detected that the thread is being fenced. This implies that this thread missed",
            "2.6.0–4.4.0",
            "put out",
        ),
        ("Attempt to heartbeat failed for since member id app-1 is not valid.", "1.0.0–2.5.1", "put out"),
        ("Member app-1 in group app has failed, removing it from the group", None, "no sign"),
    ],
)
def test_a_cause_elsewhere_is_told_with_the_releases_that_print_it(text: str, releases: str | None, title: str) -> None:
    told = explain([text])
    first = told.diagnoses[0]
    assert first.name == "not version probing" and title in first.title
    assert releases is None or told.events[0].printed_by == releases
    assert first.certainty == "certain" or first.decides


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Request joining group due to: need to revoke partitions [a-0] as indicated", "cooperative"),
        ("Request joining group due to: group is already rebalancing", "somebody else"),
        ("Request joining group due to: triggered followup rebalance scheduled for 0", "follow-up"),
        (
            "Request joining group due to: rebalance failed due to 'The group member needs to have a "
            "valid member id before "
            "actually entering a consumer group.' (MemberIdRequiredException)",
            "harmless",
        ),
        (
            "Member a sending LeaveGroup request to coordinator b:9092 (id: 1 rack: null) due to the "
            "consumer unsubscribed "
            "from all topics",
            "2.0 to 2.5",
        ),
        ("\tgroup.instance.id = app-1", "Static membership"),
        ("\tgroup.instance.id = null", "dynamic"),
        ("\tupgrade.from = 2.3", "to be gone after it"),
        ("Replacing thread in the streams uncaught exception handler", "new member"),
        (
            "Preparing to rebalance group app in state STABLE with old generation 5 (reason: Adding "
            "new member a with group "
            "instance id null; client reason: x).",
            "Adding new member",
        ),
        ("Static member which joins during Stable stage and doesn't affect selectProtocol", "cached assignment"),
        ("Sent a version 5 subscription and got version 4 assignment back (successful version pro...", "cut"),
        ("Downgrade the current minimum supported version 4 to the smaller seen supported version 3", "v3 at most"),
        ("Current minimum supported version remains at 4, last seen supported version was 4", "leader"),
        (
            "Requesting followup rebalance be scheduled by a-1 for 1661915609131 ms to probe for caught-up replica",
            "KIP-441",
        ),
        (
            "Requesting followup rebalance be scheduled for 1661915609131 ms to probe for caught-up replica tasks",
            "KIP-441",
        ),
        ("org.apache.kafka.streams.errors.StreamsException: stream-thread [a] Failed to rebalance.", "ends"),
    ],
)
def test_a_line_of_the_clients_around_the_assignor_has_its_meaning(text: str, words: str) -> None:
    (event,) = read([text])
    assert words in meaning(event)


# Whole logs.


def test_a_true_probe_is_the_middle_of_a_roll_and_nothing_is_wrong() -> None:
    told = explain(
        [
            line(0, 1, "Received a future (version probing) subscription (version: 5). Sending empty assignment back "
                 "(with supported version 4)."),
            line(1, 2, probed(5, 4, 4)),
        ]
    )  # fmt: skip
    assert not told.sick and names(told) == ["roll is not finished"]
    assert "as it should be" in told.diagnoses[0].what and thread(0) in told.diagnoses[0].title


@pytest.mark.parametrize("static", [True, False, None])
def test_members_that_stay_on_the_old_version_are_told_with_what_would_decide(static: bool | None) -> None:
    setting = [] if static is None else ["\tgroup.instance.id = " + ("app-1" if static else "null")]
    told = explain(
        [*setting, line(0, 1, probed(5, 4, 4)), line(0, 2, "Version probing detected. Triggering new rebalance.")]
    )
    found = named(told, "roll is not finished")
    assert not told.sick and found.certainty == "possible" and "group.instance.id" in found.decides
    assert ("real rebalance" in found.what) and ("null" in found.decides) == (static is False)
    assert (found.scenario is None) == (static is False)
    if found.scenario is not None:
        trace = simulate(found.scenario)
        assert {(view.used, view.latest) for view in trace.last.members} == {(4, 5)}


def test_a_generation_that_is_joined_twice_was_answered_from_the_cache() -> None:
    told = explain([joined(0, 1, 7), line(0, 2, probed(5, 4, 4)), joined(0, 4, 7)])
    assert named(told, "roll is not finished").certainty == "likely"
    assert "the generation that it had left" in named(told, "roll is not finished").what
    again = explain([joined(0, 1, 7), line(0, 2, probed(5, 4, 4)), joined(0, 4, 8)])
    assert named(again, "roll is not finished").certainty == "possible"


def test_the_simulated_static_roll_over_2_4_is_told_the_same() -> None:
    trace = simulate(Scenario(old="2.3.1", new="2.4.0", static=True))
    assert names(explain(written(trace))) == ["roll is not finished"]
    assert names(explain(written(simulate(Scenario(old="3.0.0", new="3.2.0", static=True))))) == []


def test_the_end_of_a_roll_is_said_in_the_summary() -> None:
    told = explain([line(0, 1, ended(10, 11)), line(1, 1, ended(10, 11)), line(2, 1, probed(11, 10, 11))])
    assert told.diagnoses == () and "every member here speaks v11" in told.summary


def test_a_death_by_a_version_that_no_release_tells_points_at_a_custom_build() -> None:
    told = explain(["java.lang.IllegalArgumentException: version must be between 1 and 4; was: 5"])
    first = told.diagnoses[0]
    assert (first.name, first.certainty) == ("KAFKA-8649", "likely")
    assert "No released Kafka Streams of v5" in first.what and "2.1.0 to 2.2.1" not in first.what


def test_one_place_that_dies_one_process_after_the_other_is_a_loop_and_several_at_once_are_not() -> None:
    death = "org.apache.kafka.streams.errors.TaskAssignmentException: Unable to decode assignment data: used version: "
    death += "9; latest supported version: 8"
    one_by_one = [text for i in range(4) for text in (line(i, 10 * i, DIES, "ERROR"), death)]
    assert {"rebalance loop", "cached assignment of a static member"} <= set(names(explain(one_by_one)))
    at_once = [joined(i, 0, 5) for i in range(3)] + [
        text for i in range(3) for text in (line(i, 10, DIES, "ERROR"), death)
    ]
    assert names(explain(at_once)) == ["unreadable assignment"]
    assert len(explain(at_once).members) == 3


def test_a_leader_of_2_7_and_later_does_not_die_of_a_member_of_before_2_0() -> None:
    mixed = (
        "org.apache.kafka.streams.errors.TaskAssignmentException: Received a future (version probing) subscription "
        "(version: 12) and an incompatible pre Kafka 2.0 subscription (version: 2) at the same time."
    )
    caught = "Caught an error in the task assignment. Returning an error assignment."
    told = explain([line(0, 1, caught, "ERROR"), mixed, line(1, 2, "Received error code ASSIGNMENT_ERROR", "ERROR")])
    first = told.diagnoses[0]
    assert first.name == "pre-2.0 member beside a future one" and "sent everybody an error" in first.title
    assert "dies" not in first.what and told.members[0].dead is None
    assert names(explain([mixed])) == [first.name]
    assert first.scenario is not None and simulate(first.scenario).outcome.kind == "error assignment"


@pytest.mark.parametrize(
    "texts",
    [
        [line(1, 2, "Received error code ASSIGNMENT_ERROR", "ERROR")],
        [line(0, 1, "Caught an error in the task assignment. Returning an error assignment.", "ERROR")],
    ],
)
def test_an_error_without_its_cause_is_not_passed_over(texts: list[str]) -> None:
    told = explain(texts)
    assert told.sick and names(told) == ["error assignment hides its cause"]
    assert "Caught an error in the task assignment" in told.diagnoses[0].cure and told.diagnoses[0].decides


def test_a_group_below_version_3_has_an_old_member_or_one_that_is_held() -> None:
    told = explain([line(0, 1, "Downgrade metadata to version 2. Latest supported version is 4.")])
    assert names(told) == ["group below version 3"] and "somebody" in told.diagnoses[0].title


def test_tasks_that_were_paired_wrongly_are_the_probing_of_an_unfixed_leader() -> None:
    text = "org.apache.kafka.streams.errors.TaskAssignmentException: stream-thread [x] Number of assigned partitions 2 "
    text += "is not equal to the number of active taskIds 4, assignmentInfo=[version=3"
    assert explain([text]).diagnoses[0].certainty == "possible"
    assert explain([text], release="2.3.0").diagnoses[0].certainty == "likely"
    assert names(explain([text])) == ["mispaired tasks"]


@pytest.mark.parametrize(
    "text",
    [
        "IllegalArgumentException: version must be between 1 and 5; was: 0",
        "IllegalArgumentException: Only versions 1 and 2 are expected to use an UNKNOWN (-1) latest supported version. "
        "Got 5.",
        "TaskAssignmentException: Failed to decode AssignmentInfo",
        "TaskAssignmentException: Unable to decode assignment data: used version: 0; latest supported version: 5",
    ],
)
def test_bytes_that_no_release_writes_are_called_so(text: str) -> None:
    assert "foreign bytes" in names(explain([text]))


def test_many_generations_in_a_minute_are_told_with_their_reasons() -> None:
    asked = "Request joining group due to: need to revoke partitions [a-0] as indicated by the current assignment"
    told = explain([text for i in range(20) for text in (line(0, i, asked), joined(0, i, i + 5))])
    found = named(told, "many rebalances")
    assert "need to revoke partitions" in found.what and "not version probing" in found.what
    assert names(explain([joined(0, 60 * i, i) for i in range(20)])) == []


def test_a_thread_that_ends_for_a_reason_that_is_not_known_is_not_passed_over() -> None:
    told = explain([line(0, 1, DIES, "ERROR"), "java.lang.OutOfMemoryError: Java heap space"])
    assert names(told) == ["unknown death"] and told.sick
    known = explain([line(0, 1, DIES, "ERROR"), "TaskCorruptedException: Tasks [0_1]"])
    assert "unknown death" not in names(known)


def test_what_a_thread_prints_behind_its_death_is_no_new_process() -> None:
    told = explain(
        [
            line(0, 1, SILENT),
            line(0, 5, "Encountered the following error during processing:", "ERROR"),
            "java.lang.IllegalArgumentException: version must be between 1 and 3; was: 4",
            line(0, 5, "State transition from RUNNING to PENDING_SHUTDOWN"),
        ]
    )
    assert [(life.number, life.dead is not None) for life in told.members] == [(1, True)]


def test_a_distribution_of_its_own_number_is_translated() -> None:
    told = explain(["INFO Kafka version: 7.4.0-ccs", line(0, 1, probed(11, 10, 10))])
    assert told.members[0].runs == "3.4.0–3.4.1"
    assert told_releases(told.members[0].possible) == told.members[0].runs


def test_clocks_that_differ_are_told_by_the_generations(tmp_path: Path) -> None:
    for name, shift in (("a", 0), ("b", 3600), ("c", 2)):
        (tmp_path / name).mkdir()
        lines = [joined(ord(name) - 97, second, generation) for second, generation in ((1, 5), (60, 6), (90, 7))]
        late = [text.replace(" 12:", f" {12 + shift // 3600}:") for text in lines]
        (tmp_path / name / "app.log").write_text("\n".join(late) + "\n")
    paths = [tmp_path / name / "app.log" for name in "abc"]
    told = explain(*paths)
    assert len(told.problems) == 1 and "3600 s ahead" in told.problems[0] and str(paths[1]) in told.problems[0]
    assert [one.name for one in told.files] == [str(path) for path in paths], "one name, three logs"
