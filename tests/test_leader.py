"""The leader, held against the answers of Kafka's own assignors, and by itself."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from protocol import leader, wire
from protocol.leader import Answer, Decision, Seen, assign, partition_of
from protocol.messages import LATEST_OFFSET, NO_REBALANCE, SubscriptionInfo, TaskId, TopicPartition
from protocol.releases import Binary, release, teaching
from protocol.trace import Failure
from protocol.versions import UNKNOWN

GOLDEN = Path(__file__).parent / "golden"
TASKS = (TaskId(0, 0), TaskId(0, 1), TaskId(0, 2))


def task(name: str) -> TaskId:
    subtopology, partition = name.split("_")
    return TaskId(int(subtopology), int(partition))


def tasks(names: str) -> tuple[TaskId, ...]:
    return tuple(task(name) for name in names.split(",") if name)


# A golden leader reads bytes first, then assigns: so do we.


@dataclass(frozen=True)
class Told:
    """A member of a golden row: what it writes, and what its envelope says that it owns."""

    member: str
    data: bytes
    future: bool
    owned: tuple[TopicPartition, ...]


def told(text: str) -> Told:
    """`id:process:used:supported:previous:standby[:owned]`; F: only the two ints."""
    member, process, used, supported, previous, standby, *owned = text.split(":")
    head = previous == "F"
    if head:
        data = int(used).to_bytes(4, signed=True) + int(supported).to_bytes(4, signed=True)
    else:
        sums = {**dict.fromkeys(tasks(standby), 7), **dict.fromkeys(tasks(previous), LATEST_OFFSET)}
        info = SubscriptionInfo.of(
            sums,
            version=int(used),
            latest_supported_version=int(supported),
            process_id=int(process).to_bytes(16),
        )
        data = wire.encode_subscription_info(info)
    return Told(member, data, head, tuple(partition_of(one) for one in tasks(owned[0] if owned else "")))


def lead(binary: Binary, group: list[Told]) -> Decision:
    log, seen = [], []
    for one in group:
        read = wire.read_subscription_info(one.data, dialect=binary.dialect)
        log += read.log
        if read.failure is not None:
            return Decision((), read.failure, tuple(log))
        seen.append(Seen.of(one.member, read.value, owned=one.owned))
    decision = assign(binary, seen, tasks=TASKS)
    return replace(decision, log=(*log, *decision.log))


ANSWER = re.compile(
    r"(?P<member>\w+) -> v(?P<version>\d+)(?: common=(?P<common>-?\d+))? active=\[(?P<active>.*?)\]"
    r" partitions=\[(?P<partitions>.*?)\] standbys=(?P<standbys>\d+)(?: err=(?P<err>\d+))?(?: next=(?P<next>\d+))?"
)


def show(answer: Answer, *, err: bool, next_ms: bool) -> str:
    common = f" common={answer.supported}" if answer.version >= 3 else ""
    text = (
        f"{answer.member} -> v{answer.version}{common} active=[{' '.join(map(str, answer.active))}]"
        f" partitions=[{', '.join(map(str, answer.partitions))}] standbys={len(answer.standby)}"
    )
    text += f" err={answer.error_code}" if err else ""
    return text + (f" next={answer.next_rebalance_ms}" if next_ms else "")


def forget_placement(text: str) -> str:
    """An answer without its tasks, which a real leader places at random beside a future member."""
    return re.sub(r"active=\[.*?\] partitions=\[.*?\]", "…", text)


with (GOLDEN / "leader_matrix.tsv").open() as lines:
    ROWS = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['tag']} {row['scenario']}") for row in ROWS])
def test_a_leader_answers_as_kafkas_own_class_does(row: dict[str, str]) -> None:
    binary = release(row["tag"]).binary
    assert binary.latest == int(row["leader_latest"])
    group = [told(text) for text in row["members(id:proc:used:supported:prev:standby[:owned])"].split()]
    decision = lead(binary, group)

    assert " || ".join(f"{line.level} {line.text}" for line in decision.log) == row["logs"]
    expected = row["result"]
    if expected.startswith("EXC "):
        assert f"EXC {decision.failure}" == expected
        assert decision.answers == ()
        return
    assert decision.failure is None
    ours = [show(one, err=" err=" in expected, next_ms=" next=" in expected) for one in decision.answers]
    theirs = expected.split(" ; ")
    if binary.future_tasks == "real" and any(one.future for one in group):
        assert sorted(union(ours)) == sorted(union(theirs))
        ours, theirs = [forget_placement(text) for text in ours], [forget_placement(text) for text in theirs]
    assert ours == theirs


def union(answers: list[str]) -> list[str]:
    """Every task and partition of the answers; one that two members got is there twice."""
    found = [ANSWER.fullmatch(text) for text in answers]
    return [name for one in found if one for name in (one["active"] + " " + one["partitions"].replace(",", "")).split()]


def edges() -> list[tuple[str, list[str], list[str]]]:
    """(tag, members, expected lines) of each call in the file of malformed subscriptions."""
    calls: list[tuple[str, list[str], list[str]]] = []
    tag = ""
    for line in (GOLDEN / "edge_subscriptions.txt").read_text().splitlines():
        if line.startswith("==="):
            tag = line.split()[1]
        elif line.startswith(">> assign"):
            calls.append((tag, line.split()[2:], []))
        elif not line.startswith("#"):
            calls[-1][2].append(line.strip())
    return calls


@pytest.mark.parametrize(
    ("tag", "members", "expected"), [pytest.param(*call, id=f"{call[0]} {call[1][1]}") for call in edges()]
)
def test_a_leader_takes_malformed_subscriptions_as_kafkas_own_class_does(
    tag: str, members: list[str], expected: list[str]
) -> None:
    binary = release(tag).binary
    decision = lead(binary, [told(text) for text in members])
    # That file leaves out the last line that 2.6.0 and later log.
    ours = [str(line) for line in decision.log if not line.text.startswith("Finished ")]
    if decision.failure is not None:
        ours.append(f"EXC {decision.failure}")
    next_ms = any(" next=" in text for text in expected)
    err = any(" err=" in text for text in expected)
    ours += [show(one, err=err, next_ms=next_ms) for one in decision.answers]
    theirs = [text.replace("stream-thread [leader] ", "") for text in expected]
    if binary.future_tasks == "real":
        assert sorted(union(ours)) == sorted(union(theirs))
        ours, theirs = [forget_placement(text) for text in ours], [forget_placement(text) for text in theirs]
    assert ours == theirs


# The placement of tasks in the rolling traces, where every member claims the task of its place in the list.


def traces() -> list[tuple[str, list[tuple[str, str, int]], str, dict[str, str]]]:
    """(title, members, leader, tasks by member) of each generation of each trace."""
    found = []
    title, members, leading, placed = "", [], "", {}
    for line in (GOLDEN / "rolling_traces.txt").read_text().splitlines():
        if line.startswith("==="):
            title = line.strip("= ")
        elif line.startswith("gen "):
            members = [(m[1], m[2], int(m[3])) for m in re.finditer(r"(\w)\[(\S+) used=(\d+)\]", line)]
            leading, placed = line.rsplit("=", 1)[1], {}
            found.append((f"{title} {line.split(':')[0]}", members, leading, placed))
        elif match := re.match(r"   (\w): assigned v\S+/common \S+ tasks=\[(.*?)\]", line):
            placed[match[1]] = match[2]
    return found


@pytest.mark.parametrize(
    ("members", "leading", "placed"), [pytest.param(*generation[1:], id=generation[0]) for generation in traces()]
)
def test_a_leader_places_the_tasks_of_a_rolling_upgrade_as_kafkas_own_class_does(
    members: list[tuple[str, str, int]], leading: str, placed: dict[str, str]
) -> None:
    binary = next(release(tag).binary for name, tag, _ in members if name == leading)
    group = []
    for place, (name, tag, used) in enumerate(members):
        latest = release(tag).binary.latest
        if used > binary.latest:
            text = f"{name}:{place}:{used}:{latest}:F:"
        else:
            text = f"{name}:{place}:{used}:{latest}:0_{place}:"
        group.append(told(text))
    decision = lead(binary, group)
    assert {one.member: " ".join(map(str, one.active)) for one in decision.answers} == placed


# By itself.


def seen(member: str, version: int, supported: int, active: str | None = "", **more: object) -> Seen:
    return Seen(
        member=member,
        process=ord(member[0]).to_bytes(16),
        version=version,
        supported=supported,
        active=None if active is None else tasks(active),
        **more,
    )


def active(decision: Decision) -> dict[str, str]:
    return {one.member: ",".join(map(str, one.active)) for one in decision.answers}


def test_a_subscription_that_was_read_tells_active_tasks_from_standby_ones() -> None:
    info = SubscriptionInfo.of({TASKS[0]: LATEST_OFFSET, TASKS[1]: 42}, version=11, latest_supported_version=11)
    one = Seen.of("A", info)
    assert (one.active, one.standby) == ((TASKS[0],), (TASKS[1],))


def test_of_a_future_subscription_only_the_two_ints_are_known() -> None:
    assert Seen.of("A", SubscriptionInfo(12, 13, head_only=True)).active is None


def test_before_the_backport_a_leader_answers_a_v1_member_in_v2() -> None:
    decision = assign(release("1.1.0").binary, [seen("A", 2, UNKNOWN), seen("B", 1, UNKNOWN)], tasks=TASKS)
    assert [(one.version, one.supported) for one in decision.answers] == [(2, UNKNOWN), (2, UNKNOWN)]
    assert decision.log == ()


def test_with_the_backport_a_leader_answers_everybody_in_v1() -> None:
    decision = assign(release("1.1.1").binary, [seen("A", 2, UNKNOWN), seen("B", 1, UNKNOWN)], tasks=TASKS)
    assert [one.version for one in decision.answers] == [1, 1]


def test_a_leader_from_before_probing_dies_of_a_newer_subscription() -> None:
    decision = assign(release("1.1.0").binary, [seen("A", 2, UNKNOWN), seen("B", 3, 3)], tasks=TASKS)
    assert decision.failure == Failure("TaskAssignmentException", "unable to decode subscription data: version=3")


@pytest.mark.parametrize(("tag", "lines"), [("2.7.0", 0), ("2.8.0", 1), ("3.9.0", 1)])
def test_since_2_7_a_group_that_needs_v2_and_a_future_version_gets_an_error_in_the_leaders_latest(
    tag: str, lines: int
) -> None:
    binary = release(tag).binary
    latest = binary.latest
    decision = assign(binary, [seen("A", 2, UNKNOWN), seen("B", latest + 1, latest + 1, None)], tasks=TASKS)
    assert [(one.version, one.supported, one.error_code, one.active) for one in decision.answers] == [
        (latest, latest, leader.ASSIGNMENT_ERROR, ())
    ] * 2
    assert [line.text for line in decision.log] == [
        "Caught an error in the task assignment. Returning an error assignment."
    ] * lines


@pytest.mark.parametrize("tag", ["2.8.0", "3.9.0"])
def test_one_member_that_wants_to_stop_stops_everybody(tag: str) -> None:
    binary = release(tag).binary
    group = [seen("A", binary.latest, binary.latest), seen("B", 9, binary.latest, error_code=leader.SHUTDOWN_REQUESTED)]
    decision = assign(binary, group, tasks=TASKS)
    assert {(one.version, one.error_code) for one in decision.answers} == {(binary.latest, leader.SHUTDOWN_REQUESTED)}
    assert not any(one.active for one in decision.answers)


def test_up_to_3_7_versions_are_checked_before_a_request_to_stop_is_heeded() -> None:
    group = [seen("A", 2, UNKNOWN), seen("B", 11, 11, error_code=leader.SHUTDOWN_REQUESTED), seen("C", 12, 12, None)]
    codes = {tag: assign(release(tag).binary, group, tasks=TASKS).answers[0].error_code for tag in ("3.7.0", "3.8.0")}
    assert codes == {"3.7.0": leader.ASSIGNMENT_ERROR, "3.8.0": leader.SHUTDOWN_REQUESTED}


def test_up_to_2_3_0_two_threads_of_a_process_both_get_its_tasks_while_probing() -> None:
    group = [
        seen("A1", 4, 4, "0_0"),
        seen("A2", 4, 4, "0_1"),
        seen("B", 5, 5, None),
    ]
    assert active(assign(release("2.3.0").binary, group, tasks=TASKS)) == {"A1": "0_0,0_1", "A2": "0_0,0_1", "B": ""}
    assert active(assign(release("2.3.1").binary, group, tasks=TASKS)) == {"A1": "0_0", "A2": "0_1", "B": ""}


def test_up_to_2_3_1_a_task_whose_owner_is_gone_runs_nowhere_while_probing() -> None:
    group = [seen("A", 4, 4, "0_0"), seen("B", 4, 4, "0_1"), seen("C", 5, 5, None)]
    assert active(assign(release("2.3.1").binary, group, tasks=TASKS)) == {"A": "0_0", "B": "0_1", "C": ""}
    everything = active(assign(release("2.4.0").binary, group, tasks=TASKS))
    assert sorted(everything.values()) == ["0_0", "0_1", "0_2"]


def test_while_probing_up_to_2_3_1_standby_tasks_stay_where_they_are() -> None:
    group = [seen("A", 4, 4, "0_0", standby=tasks("0_2")), seen("B", 5, 5, None)]
    decision = assign(release("2.3.1").binary, group, tasks=TASKS)
    assert [one.standby for one in decision.answers] == [tasks("0_2"), ()]


def test_tasks_go_back_to_their_owners_as_far_as_balance_allows() -> None:
    binary = release("2.3.1").binary
    group = [seen("A", 4, 4, "0_2"), seen("B", 4, 4, ""), seen("C", 4, 4, "0_0,0_1")]
    assert active(assign(binary, group, tasks=TASKS)) == {"A": "0_2", "B": "0_1", "C": "0_0"}


def test_a_task_without_an_owner_goes_where_its_state_is() -> None:
    binary = release("2.3.1").binary
    group = [seen("A", 4, 4, ""), seen("B", 4, 4, "", standby=tasks("0_0"))]
    assert active(assign(binary, group, tasks=TASKS[:2])) == {"A": "0_1", "B": "0_0"}


def test_a_process_with_two_threads_takes_twice_the_tasks() -> None:
    binary = release("2.3.1").binary
    group = [seen("A1", 4, 4), seen("B", 4, 4), seen("A2", 4, 4)]
    everything = tuple(TaskId(0, partition) for partition in range(6))
    assert {
        member: text.count(",") + 1 for member, text in active(assign(binary, group, tasks=everything)).items()
    } == {
        "A1": 2,
        "A2": 2,
        "B": 2,
    }


def owning(member: str, names: str) -> Seen:
    return seen(member, 5, 5, "", owned=tuple(map(partition_of, tasks(names))))


def test_a_cooperative_leader_leaves_tasks_on_the_threads_that_own_them() -> None:
    group = [owning("A1", "0_1"), owning("A2", "0_0"), owning("B", "0_2")]
    assert active(assign(release("2.4.0").binary, group, tasks=TASKS)) == {"A1": "0_1", "A2": "0_0", "B": "0_2"}


def test_a_cooperative_leader_withholds_a_task_until_its_owner_has_given_it_up() -> None:
    group = [owning("A", "0_0,0_1,0_2"), owning("B", "")]
    decision = assign(release("2.4.0").binary, group, tasks=TASKS)
    placed = active(decision)
    assert placed["B"] == ""
    assert len(placed["A"].split(",")) == 2
    assert [one.next_rebalance_ms for one in decision.answers] == [NO_REBALANCE, NO_REBALANCE]
    again = assign(release("2.6.0").binary, group, tasks=TASKS)
    assert [one.next_rebalance_ms for one in again.answers] == [NO_REBALANCE, 0]
    assert again.log[-1].text == "Finished unstable assignment of tasks, a followup rebalance will be scheduled."


def test_an_eager_leader_does_not_look_at_owned_partitions() -> None:
    group = [owning("A", "0_0"), owning("B", "0_1,0_2")]
    group = [replace(one, version=4, supported=4) for one in group]
    assert active(assign(release("2.3.1").binary, group, tasks=TASKS)) == {"A": "0_0,0_2", "B": "0_1"}


def test_processes_are_taken_in_the_order_in_which_java_compares_their_ids() -> None:
    binary = release("2.6.0").binary
    group = [
        replace(seen(member, 7, 7), process=bytes([first, *bytes(15)])) for member, first in (("A", 0x7F), ("B", 0x80))
    ]
    assert active(assign(binary, group, tasks=TASKS[:1])) == {"A": "", "B": "0_0"}


def test_answers_come_in_the_order_of_the_subscriptions() -> None:
    binary = release("3.9.0").binary
    group = [seen("C", 11, 11), seen("A", 11, 11), seen("B", 11, 11)]
    decision = assign(binary, group, tasks=TASKS)
    assert active(decision) == {"C": "0_2", "A": "0_0", "B": "0_1"}
    assert list(active(decision)) == ["C", "A", "B"]


def test_every_task_of_every_subtopology_is_placed_once_with_its_partition() -> None:
    binary = release("2.4.0").binary
    everything = tuple(TaskId(subtopology, partition) for subtopology in range(3) for partition in range(4))
    decision = assign(binary, [seen(member, 5, 5) for member in "ABCDE"], tasks=everything)
    placed = [one for answer in decision.answers for one in zip(answer.active, answer.partitions, strict=True)]
    assert sorted(placed) == sorted((one, partition_of(one)) for one in everything)


@pytest.mark.parametrize(
    ("tag", "lines"),
    [
        ("2.2.0", ["Downgrading metadata to version 3."]),
        ("2.2.2-rc1", ["Downgrading metadata to version 3."]),
        ("2.2.2", ["Downgrade metadata to version 3.", "Downgrade latest supported metadata to version 3."]),
    ],
)
def test_the_fix_rewords_what_a_leader_says_of_a_downgrade(tag: str, lines: list[str]) -> None:
    decision = assign(release(tag).binary, [seen("A", 4, 4), seen("B", 3, 3)], tasks=TASKS)
    assert [line.text for line in decision.log] == [f"{line} Latest supported version is 4." for line in lines]


def test_a_leader_of_the_proposals_text_downgrades_nobody_and_does_not_say_so() -> None:
    jar = teaching("v4 jar", latest=4, leader_rule="mirror", member_rule="mirror")
    decision = assign(jar, [seen("A", 4, 4), seen("B", 3, 3)], tasks=TASKS)
    assert [(one.version, one.supported) for one in decision.answers] == [(4, 4), (3, 4)]
    assert decision.log == ()
