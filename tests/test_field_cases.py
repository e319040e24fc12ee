"""Field cases: public reports and reviews of rolling upgrades, each by its number, asked of the model and the tools.

A case that the model can run is run; one that it cannot is told apart by the logbook, the decoder or the planner.
Where a case's own expectation is not met, a comment beside the test says why, with Kafka's source.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable

import pytest

from protocol import wire
from protocol.leader import Seen, assign
from protocol.logbook import Diagnosis, Event, Explanation, explain, meaning, read, written
from protocol.messages import AssignmentInfo, HostInfo, SubscriptionInfo, TaskId, TopicPartition
from protocol.paste import Layer, Part, Sight, seen_by, taken_apart, unpack
from protocol.planner import Advice, plan
from protocol.releases import release
from protocol.scenario import Scenario, endings, simulate
from protocol.strategies import LEADER_RULES, MEMBER_RULES
from protocol.trace import Trace
from protocol.upgrade import explore


def run(**picks: object) -> Trace:
    return simulate(Scenario(**picks))  # type: ignore[arg-type]


def lines(trace: Trace, member: str = "") -> list[str]:
    return [line.text for step in trace for line in step.log if member in ("", line.member)]


def dead(trace: Trace) -> set[str]:
    return {death.member for death in trace.outcome.deaths}


def said(text: str, **options: str) -> Event:
    (event,) = read([text], **options)  # type: ignore[arg-type]
    return event


def first(told: Explanation) -> Diagnosis:
    return told.diagnoses[0]


def named(told: Explanation) -> set[str]:
    return {one.name for one in told.diagnoses}


def layer(pasted: str, **part: str) -> Layer:
    return taken_apart(Part(data=unpack(pasted).parts[0].data, **part))  # type: ignore[arg-type]


def sight(pasted: str, name: str, *, used: int | None = None) -> Sight:
    seen = seen_by(layer(pasted), release(name), used=used)
    assert seen is not None
    return seen


def why(advice: Advice) -> str:
    return " ".join(f"{reason.name}: {reason.title}. {reason.text}" for reason in advice.reasons)


PROBED = (
    "Sent a version {} subscription and got version {} assignment back (successful version probing). "
    "Downgrade subscription metadata to commonly supported version {} and trigger new rebalance."
)
ENDED = (
    "Sent a version {} subscription and group's latest commonly supported version is {} (successful version "
    "probing and "
    "end of rolling upgrade). Upgrading subscription metadata version to {} for next rebalance."
)
SILENT = (
    "Sent a version 3 subscription and group leader's latest supported version is 4. Upgrading subscription metadata "
    "version to 4 for next rebalance."
)
TOO_HIGH = "Unable to decode assignment data: used version: {}; latest supported version: {}"

SUB_V4 = (
    "00000004000000041da083cfe2874ec8a7083ab5477721280000000000000002000000010000000000000001000000010000000d"
    "6c6f63616c686f73743a393033"
)
EMPTY = "000000040000000400000000000000000000000000000000"


# 2A. Version negotiation proper.


def test_fc_01_the_canonical_roll_of_three() -> None:
    """One version later than here no bytes exist, so 10 to 11 is rolled in place of 11 to 12."""
    trace = run(old="3.1.0", new="3.2.0", leader="A", order="B,C,A")
    assert (trace.outcome.kind, trace.rebalances) == ("upgraded", 6)
    for bounce, rolled in ((1, "B"), (2, "C")):
        steps = [step for step in trace if step.bounce == bounce]
        probed = {line.member for step in steps for line in step.log if line.text == PROBED.format(11, 10, 10)}
        assert probed == {rolled}
        assert not [line for step in steps for line in step.log if "end of rolling upgrade" in line.text]
        assert steps[-1].after.member(rolled).used == 10
    ended = {line.member for step in trace for line in step.log if line.text == ENDED.format(10, 11, 11)}
    assert ended == {"B", "C"}
    assert {view.used for view in trace.last.members} == {11}
    assert len({trace.last.group.generation}) == 1


@pytest.mark.parametrize("order", ["A,B,C", "B,A,C", "C,B,A"])
@pytest.mark.parametrize("succession", ["oldest", "newest", "broker"])
def test_fc_01_any_leader_policy_costs_six(order: str, succession: str) -> None:
    assert run(old="3.1.0", new="3.2.0", order=order, succession=succession).rebalances == 6


def test_fc_03_a_new_leader_kills_old_members() -> None:
    trace = run(old="2.0.1", new="2.1.1", leader="A", order="A,B,C", succession="newest")
    assert any("Setting subscription metadata to leaders supported version 4" in line for line in lines(trace, "A"))
    for member in "BC":
        assert SILENT in lines(trace, member)
    assert dead(trace) == {"B", "C"}
    assert {str(death.failure) for death in trace.outcome.deaths} == {
        "IllegalArgumentException: version must be between 1 and 3; was: 4"
    }
    assert "A" in {view.name for view in trace.last.members if view.alive and (view.used, view.latest) == (4, 4)}
    poison = next(step for step in trace if step.tag == "poison")
    death = next(step for step in trace if step.action == "die")
    assert death.number > poison.number and poison.after.member("B").alive


def test_fc_03_the_log_is_diagnosed_and_the_plan_says_unsafe() -> None:
    trace = run(old="2.0.1", new="2.1.1", leader="A", order="A,B,C", succession="newest")
    told = first(explain(written(trace)))
    assert (told.name, told.certainty) == ("KAFKA-8649", "certain")
    assert "one rebalance after" in told.what
    assert plan("2.0.1", "2.1.1").verdict == "unsafe"


def test_fc_04_the_same_upgrade_with_the_old_leader_bounced_last() -> None:
    trace = run(old="2.0.1", new="2.1.1", leader="A", order="B,C,A")
    assert (trace.outcome.kind, trace.rebalances) == ("upgraded", 6)
    assert {view.used for view in trace.last.members} == {4}
    assert any("Setting subscription metadata to leaders supported version 4" in line for line in lines(trace, "A"))


@pytest.mark.parametrize("succession", ["newest", "oldest", "broker"])
def test_fc_06_skipping_the_middle_release_is_safer(succession: str) -> None:
    trace = run(old="2.0.1", new="2.3.1", leader="A", order="A,B,C", succession=succession)
    assert (trace.outcome.kind, trace.rebalances) == ("upgraded", 6)
    assert plan("2.0.1", "2.3.1").verdict == "safe"
    assert any(way.startswith("2.3.1") for way in plan("2.0.1", "2.1.1").instead)


def test_fc_08_the_downgrade_line_that_is_none() -> None:
    event = said(PROBED.format(5, 4, 5))
    assert "No downgrade happened" in meaning(event) and "One more rebalance follows" in meaning(event)
    assert "last one to be upgraded" in meaning(event)


def test_fc_09_the_fix_without_the_encoders_fix() -> None:
    header = "0000000400000005"
    assert "Can't upgrade to metadata version greater than we support" in sight(header, "2.3.1", used=4).failure
    assert "version must be between 1 and 4; was: 5" in sight(header, "2.3.0", used=4).then
    told = first(explain(["TaskAssignmentException: Can't upgrade to metadata version greater than we support"]))
    assert told.name == "unfixed second int" and "custom build" in told.what


def test_fc_10_an_old_leader_and_a_new_follower() -> None:
    seen = sight("00000005 00000005", "2.3.0")
    assert seen.release == "2.3.0"
    probe = taken_apart(Part(data=bytes.fromhex("0000000500000005")), kind=wire.SUBSCRIPTION_INFO)
    told = seen_by(probe, release("2.3.0"))
    assert told is not None and "future subscription: v5, supports v5" in told.sees
    assert "answers this member v4/4, with no task: a probe" in told.then
    assert wire.decode_assignment_info(bytes.fromhex(EMPTY)) == AssignmentInfo(4, 4)
    assert any("not an error" in note for note in layer(EMPTY).notes)
    old = wire.decode_subscription_info(bytes.fromhex(SUB_V4))
    assert old.user_end_point == "localhost:903"
    assert [str(task) for task in old.prev_tasks + old.standby_tasks] == ["1_0", "1_1"]


def test_fc_10_nulls_do_not_mean_that_the_member_lost_its_state() -> None:
    event = said("Unable to decode subscription data: used version: 5; latest supported version: 4")
    assert "do not mean that the sender lost its state" in meaning(event)


def test_fc_11_the_trigger_that_was_read_as_a_success() -> None:
    seen = sight("00000004 00000005", "2.3.0", used=4)
    assert not seen.failure
    assert seen.then.startswith("Crash at the next rebalance")
    assert "version must be between 1 and 4; was: 5" in seen.then


@pytest.mark.parametrize(
    ("second", "release_name", "whose"),
    [(4, "2.3.0", "latest"), (8, "2.6.0", "supported"), (4, None, "latest"), (9, None, "supported")],
)
def test_fc_13_the_same_sentence_has_two_meanings(second: int, release_name: str | None, whose: str) -> None:
    text = f"INFO Unable to decode subscription data: used version: 8; latest supported version: {second}"
    event = said(text, **({"release_name": release_name} if release_name else {}))
    assert event.number(whose) == second
    assert event.level == "INFO" and "not an error" in meaning(event)


def test_fc_14_the_text_of_the_design_and_what_was_shipped() -> None:
    shipped = LEADER_RULES["leader's version"].answer([(4, 4), (3, 3), (3, 3)], latest=4)
    assert shipped.replies == ((3, 4),) * 3
    reaction = MEMBER_RULES["leader's version"].react(latest=3, used=3, received=3, common=4)
    assert reaction.used == 4
    designed = LEADER_RULES["smallest supported"].answer([(4, 4), (3, 3), (3, 3)], latest=4)
    assert designed.replies == ((3, 3),) * 3


@pytest.mark.parametrize(("name", "shared"), [("2.3.0", True), ("2.2.2", False), ("2.3.1", False)])
def test_fc_15_every_thread_of_an_old_instance_gets_the_whole_instances_tasks(name: str, shared: bool) -> None:
    def thread(member: str, process: bytes, task: TaskId) -> Seen:
        return Seen(member=member, process=process, version=4, supported=4, active=(task,))

    tasks = (TaskId(0, 0), TaskId(0, 1))
    prober = Seen(member="B", process=b"b", version=5, supported=5, active=None)
    two = (thread("A-1", b"a", tasks[0]), thread("A-2", b"a", tasks[1]), prober)
    decision = assign(release(name).binary, two, tasks=tasks)
    assert decision.probing
    given = {answer.member: answer.active for answer in decision.answers}
    assert given["A-1"] == (tasks if shared else tasks[:1]) and given["A-2"] == (tasks if shared else tasks[1:])
    one = (thread("A", b"a", tasks[0]), thread("C", b"c", tasks[1]), prober)
    given = {answer.member: answer.active for answer in assign(release(name).binary, one, tasks=tasks).answers}
    assert (given["A"], given["C"]) == (tasks[:1], tasks[1:]), "with one thread an instance there is no issue"
    assert ("duplicate tasks" in why(plan(name, "2.4.0", threads=2))) == shared
    assert "duplicate tasks" not in why(plan(name, "2.4.0"))


def test_fc_16_a_probing_member_takes_its_tasks_from_2_4_on_only() -> None:
    for name, takes in (("2.3.1", False), ("2.4.0", True)):
        assert release(name).processes_probing == takes
        data = wire.encode_assignment_info(AssignmentInfo(3, 3))
        seen = seen_by(taken_apart(Part(data=data)), release(name))
        assert seen is not None and ("taking the tasks first" in seen.then) == takes
    skipped = said("DEBUG Encountered assignment error during partition assignment: 2. Skipping task initialization")
    assert "pauses" in meaning(skipped) and "2.4.0" not in skipped.releases


def test_fc_18_a_member_of_before_2_0_and_a_future_one() -> None:
    found, _ = endings(Scenario(old=("1.1.1", "2.0.0", "2.0.0"), leader="B", bounces=(("C", "2.3.1"),)))
    assert {ending.outcome.kind for ending in found} == {"deaths"}
    texts = {str(death.failure) for ending in found for death in ending.outcome.deaths}
    assert any("incompatible pre Kafka 2.0 subscription (version: 2)" in text for text in texts)
    assert any("unable to decode subscription data: version=4" in text for text in texts)
    assert any(dead(simulate(ending.witness)) == {"A", "B"} for ending in found), "only the 2.3.1 member survives"
    mixed = run(old=("1.1.1", "2.8.0", "2.8.0"), leader="B", bounces=(("C", "3.0.0"),))
    assert mixed.outcome.kind == "error assignment"
    assert any("Unknown assignment data version: 9" in line for line in written(mixed))


def test_fc_18_its_log_is_diagnosed() -> None:
    text = (
        "Received a future (version probing) subscription (version: 4) and an incompatible pre Kafka 2.0 subscription "
    )
    told = first(explain([text + "(version: 2) at the same time."]))
    assert (told.name, told.certainty) == ("pre-2.0 member beside a future one", "certain")
    assert told.scenario is not None and simulate(told.scenario).outcome.kind == "deaths"


# 2B. Before 2.0.


def test_fc_20_a_group_of_0_10_0() -> None:
    trace = run(old="0.10.0.1", new="1.1.1", leader="A", order="C")
    assert "unable to decode subscription data: version=2" in str(trace.outcome.deaths[0].failure)
    trace = run(old="0.10.0.1", new="1.1.1", upgrade_from="0.10.0")
    assert trace.outcome.kind == "upgraded"
    assert {view.used for view in trace.last.members} == {2}
    trace = run(old="0.10.0.1", new="0.10.1.1", leader="A", order="A,B,C", succession="newest")
    assert {str(death.failure) for death in trace.outcome.deaths} == {
        "TaskAssignmentException: Unknown assignment data version: 2"
    }
    assert first(explain(["unable to decode subscription data: version=2"])).name == "old leader cannot read"
    assert first(explain(["Unknown assignment data version: 2"])).name == "unfixed leader answers old members"
    assert plan("0.10.0.1", "1.1.1").upgrade_from == "0.10.0"
    assert plan("0.10.0.1", "1.1.1", upgrade_from="none").verdict == "unsafe"


@pytest.mark.parametrize("new", ["0.10.1.0", "0.10.1.1"])
def test_fc_21_the_online_upgrade_that_does_not_exist(new: str) -> None:
    advice = plan("0.10.0.1", new)
    assert advice.verdict == "impossible online"
    assert any("0.10.2.2" in way for way in advice.instead) and any("offline" in way for way in advice.instead)


def test_fc_23_the_second_bounce_was_forgotten() -> None:
    trace = run(old="1.1.1", new="2.8.0", upgrade_from="1.1", second_bounce=False)
    assert {view.used for view in trace.last.members} == {2}
    assert any("Downgrading metadata version from 9 to 2" in line for line in lines(trace))
    told = explain(written(trace))
    assert "second bounce is missing" in named(told)
    assert any(life.protocol == "EAGER" and life.used == 2 for life in told.members)


# 2C. Eager to cooperative, and upgrade.from.


def test_fc_24_the_reference_path_of_two_bounces() -> None:
    trace = run(old="2.3.1", new="2.5.1", upgrade_from="2.3")
    assert trace.outcome.kind == "upgraded"
    for member in "ABC":
        assert "Eager rebalancing enabled now for upgrade from 2.3.x" in lines(trace, member)
        assert "Cooperative rebalancing enabled now" in lines(trace, member)
    assert any(PROBED.format(6, 4, 4) == line for line in lines(trace)), "the setting does not lower the version"
    owned = [task for view in trace.last.members for task in view.tasks]
    assert len(owned) == len(set(owned))


def test_fc_25_skipping_the_setting_and_nothing_complains() -> None:
    assert explore("2.3.1", "2.4.1", members=3).ok
    advice = plan("2.3.1", "2.4.1", upgrade_from="none")
    assert advice.verdict == "unsafe"
    assert advice.reasons[0].effect == "versions", "the negotiation is fine"
    assert "two owners" in why(advice)
    told = explain(written(run(old="2.3.1", new="2.4.1", leader="A", order="B")))
    assert "eager beside cooperative" in named(told) and told.sick


def test_fc_27_a_release_that_rejects_the_value_of_its_own_guide() -> None:
    text = "Unknown configuration value for parameter 'upgrade.from': 3.4"
    advice = plan("3.4.1", "3.5.1", upgrade_from="3.4")
    assert advice.verdict == "unsafe" and text in why(advice)
    assert any("3.5.2" in way for way in advice.instead)
    told = first(explain([f"java.lang.IllegalArgumentException: {text}"]))
    assert told.name == "upgrade.from rejected" and "3.5.2" in told.cure and "3.5.0–3.5.1" in told.what


def test_fc_29_from_2_3_to_4_0() -> None:
    advice = plan("2.3.1", "4.0.0")
    assert advice.verdict == "impossible online" and not advice.rounds
    assert "3.9.2 with upgrade.from=2.3, then 3.9.2 with no upgrade.from, then 4.0.0" in advice.instead[0]
    bridge = plan("2.3.1", "3.9.1")
    assert [one.upgrade_from for one in bridge.rounds] == ["2.3", None]
    assert len(plan("3.9.1", "4.0.0").rounds) == 1


def test_fc_30_a_regression_that_has_nothing_to_do_with_versions() -> None:
    told = first(explain(["java.lang.IllegalArgumentException: Number of partitions must be at least 1."]))
    assert told.name == "not version probing" and "2.4.1" in told.cure and "2.4.0" in told.title
    assert "KAFKA-9335" in why(plan("2.3.1", "2.4.0"))
    assert "KAFKA-9335" not in why(plan("2.3.1", "2.4.1"))


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky"])
def test_fc_31_upgrade_pain_of_other_clients(protocol: str) -> None:
    line = (
        "Successfully joined group with generation Generation{generationId=5, memberId='c-1', protocol='"
        + protocol
        + "'}"
    )
    told = first(explain([line]))
    assert told.name == "not a Streams group" and "does not apply" in told.what


# 2D. Static membership, unchanged bytes, follow-ups.


def test_fc_32_a_static_members_probing_line_without_a_probe() -> None:
    trace = run(old="3.0.0", static=True, bounces=(("C", "3.2.0"),))
    assert PROBED.format(11, 10, 10) in lines(trace, "C")
    assert not any(
        "Received a future" in line for line in lines(trace)[: lines(trace).index(PROBED.format(11, 10, 10))]
    )
    assert trace.rebalances == 1 and trace.last.member("C").used == 10
    assert "whether or not a leader really probed" in meaning(said(PROBED.format(11, 10, 10)))


def test_fc_33_a_static_member_rolled_back_dies_of_the_cache() -> None:
    trace = run(old="3.2.0", static=True, bounces=(("C", "3.1.0"),))
    assert TOO_HIGH.format(11, 10) in str(trace.outcome.deaths[0].failure)
    assert run(old="3.2.0", bounces=(("C", "3.1.0"),)).outcome.deaths == (), "dynamic members have no cache"
    assert run(old="3.2.0", static=True, bounces=(("C", "3.1.0"),), restart="after").outcome.deaths == ()
    repeated = [
        f"2024-05-01 12:0{i}:00 ERROR [app-{i}-StreamThread-1] TaskAssignmentException: {TOO_HIGH.format(11, 10)}"
        for i in range(3)
    ]
    told = first(explain(repeated))
    assert told.certainty != "certain" and "group.instance.id" in told.decides
    back = "INFO Static member with groupInstanceId=Some(c) and unknown member id joins group app"
    assert first(explain([back, *repeated])).name == "cached assignment of a static member"
    assert plan("3.2.0", "3.1.0", static=True).verdict == "unsafe"


def test_fc_36_the_rejoin_that_does_nothing() -> None:
    assert "KAFKA-10455" not in release("2.6.0").fixes and "KAFKA-10455" in release("2.6.1").fixes
    trace = run(old="2.6.0", new="2.6.1")
    assert (trace.outcome.kind, trace.rebalances) == ("upgraded", 6)
    advice = plan("2.6.0", "2.6.1")
    assert advice.cost is not None and advice.cost.rebalances == (6, 6)
    assert "A patch release, and a new version all the same" in why(advice) and "KAFKA-10455" in why(advice)
    assert b"\x07" not in wire.encode_subscription_info(SubscriptionInfo(7, 8))[8:]


def test_fc_37_an_end_point_that_changed() -> None:
    told = first(
        explain(["Requested to schedule immediate rebalance to update group with new host endpoint = localhost:9090."])
    )
    assert told.name == "not version probing" and not told.grave


def test_fc_38_a_probing_rebalance_is_not_version_probing() -> None:
    text = "Requested to schedule probing rebalance for 1661915609131 ms."
    assert "31 Aug 2022 03:13:29 UTC" in meaning(said(text))
    told = first(explain([text]))
    assert (
        told.name == "warm-up probing" and "KIP-441" in told.title and "nothing to do with version probing" in told.what
    )


def test_fc_41_an_endless_loop_that_the_broker_makes() -> None:
    line = (
        "[2019-08-01 12:00:{:02},000] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state "
        "PreparingRebalance with old generation {} (__consumer_offsets-1) (reason: Adding new member c-{} with group "
        "instanceid None) (kafka.coordinator.group.GroupCoordinator)"
    )
    told = first(explain(line.format(3 * i, i, i) for i in range(8)))
    assert told.name == "broker restarts the rebalance" and "2.3.1" in told.cure and "JoinGroup v0" in told.what


# 2E. Features lost in a mixed group.


def test_fc_42_named_topologies_before_v10() -> None:
    told = first(explain(["Named topologies are not compatible with older protocol versions"]))
    assert told.name == "not version probing" and "3.0" in told.cure


def test_fc_44_a_shutdown_request_before_v9() -> None:
    data = wire.encode_subscription_info(SubscriptionInfo.of({}, version=8, latest_supported_version=9, error_code=4))
    assert wire.decode_subscription_info(data).error_code == 0
    data = wire.encode_subscription_info(SubscriptionInfo.of({}, version=9, latest_supported_version=9, error_code=4))
    assert wire.decode_subscription_info(data).error_code == 4
    line = "A Kafka Streams client in this Kafka Streams application is requesting to shutdown the application"
    assert first(explain([line])).name == "shutdown requested" and "v9" in first(explain([line])).what


def test_fc_45_an_error_assignment_that_old_members_cannot_read() -> None:
    error = wire.encode_assignment_info(AssignmentInfo(11, 11, error_code=1)).hex()
    assert TOO_HIGH.format(11, 10) in sight(error, "3.0.0").failure
    assert "missing" in sight(error, "3.2.0").then
    told = explain(
        [
            "12:00:00 ERROR [l-StreamThread-1] Missing source topics [orders]. for subtopology 0",
            f"12:00:01 ERROR [o-StreamThread-1] TaskAssignmentException: {TOO_HIGH.format(11, 10)}",
        ]
    )
    assert first(told).name == "error assignment hides its cause" and first(told).certainty == "certain"
    assert "Look at the leader's log first" in first(told).cure
    alone = first(explain([f"TaskAssignmentException: {TOO_HIGH.format(11, 10)}"]))
    assert alone.certainty == "possible" and "leader's log" in alone.decides


def test_fc_47_the_size_of_an_assignment_falls_with_the_dictionary() -> None:
    partitions = tuple(TopicPartition("a-topic-with-a-long-name", i) for i in range(40))
    hosts = tuple((HostInfo(f"host{i}", 80), partitions) for i in range(10))
    sizes = [len(wire.encode_assignment_info(AssignmentInfo(v, v, partitions_by_host=hosts))) for v in (4, 5)]
    assert sizes[1] < sizes[0] / 3
    assert LEADER_RULES["smallest supported of all"].answer([(4, 4), (5, 5)], latest=5).replies[0][0] == 4


# 2F. Downgrade and rollback.


def test_fc_48_a_rollback_of_metadata_alone_works() -> None:
    trace = run(old="3.2.0", new="3.0.0", leader="A", order="B,C,A")
    assert (trace.outcome.kind, trace.rebalances) == ("downgraded", 4)
    downgraded = {
        line.member for step in trace if step.bounce == 1 for line in step.log if "Downgrade sub" in line.text
    }
    assert downgraded == {"A", "C"}, "the members that were not touched yet say it"
    assert PROBED.format(11, 10, 10) in lines(trace, "A")


def test_fc_49_a_real_rollback_breaks_on_local_state() -> None:
    advice = plan("3.2.3", "2.8.0")
    assert advice.verdict == "safe if" and advice.reasons[0].effect == "versions"
    assert any("local state" in condition for condition in advice.conditions)
    line = "RocksDBException: Unknown Footer version. Maybe this file was created with newer version of RocksDB?"
    told = first(explain([line]))
    assert told.name == "not version probing" and "delete its local state" in told.cure
    for old, new in (("4.0.0", "3.9.1"), ("4.3.0", "4.2.1")):
        assert plan(old, new).verdict == "safe if"
    # The case expects upgrade.from=4.2 to be enough. It makes 4.3 write the old .checkpoint file when it closes
    # (4.3.1 LegacyCheckpointingStateStore#maybeDowngradeOffsets), but RocksDBStore of 4.2.1 still meets the column
    # family `offsets`, which it does not open; the upgrade guide now says to delete the state.
    stores = next(one for one in plan("4.3.0", "4.2.1").reasons if one.name == "offsets in the stores")
    assert stores.effect == "wipe" and "upgrade.from=4.2" in stores.text


def test_fc_50_the_changelog_of_suppress() -> None:
    told = first(explain(["java.lang.IllegalArgumentException: Restoring apparently invalid changelog record: x"]))
    assert told.name == "not version probing" and "Finish the roll" in told.cure
    assert "suppress changelog" in why(plan("2.2.2", "2.3.1"))


def test_fc_51_foreign_key_joins_fail_on_3_3_with_the_right_procedure() -> None:
    for setting in (None, "3.2", "none"):
        advice = plan("3.2.3", "3.3.2", upgrade_from=setting, uses=["foreign-key joins"])
        assert advice.verdict == "unsafe" and "Never stop at 3.3" in why(advice)
        assert advice.reasons[0].effect == "versions"
    assert plan("3.2.3", "3.4.0", uses=["foreign-key joins"]).upgrade_from == "3.2"
    told = first(explain(["UnsupportedVersionException: SubscriptionWrapper is of an incompatible version."]))
    assert told.name == "not version probing" and "3.3.x" in told.cure


def test_fc_52_kip_904_both_ways() -> None:
    up = plan("3.4.1", "3.5.2", uses=["table repartition"])
    assert [(one.release, one.upgrade_from) for one in up.rounds] == [("3.5.2", "3.4"), ("3.5.2", None)]
    assert release("3.4.1").latest == release("3.5.2").latest and "does not mean one bounce" in why(up)
    down = plan("3.5.2", "3.4.1", uses=["table repartition"])
    assert [(one.release, one.upgrade_from) for one in down.rounds] == [("3.5.2", "3.4"), ("3.4.1", None)]
    assert "in flight" in down.rounds[0].after


@pytest.mark.parametrize(
    "line",
    [
        'com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException: Unrecognized field "orReplace" (class X)',
        "Unknown field: useOffsetAsQueryId in command topic",
        "This node has found an incompatible entry in its log",
    ],
)
def test_fc_54_ksqldb_upgrade_failures_are_not_the_assignor(line: str) -> None:
    told = first(explain([line]))
    assert told.name == "not version probing" and "command topic" in told.title


# 2G. Blue and green, shared ids, deploying.


def test_fc_55_blue_and_green_in_one_group_of_consumers() -> None:
    generation = "Generation{generationId=5, memberId='consumer-1-x', protocol='range'}"
    line = f"Successfully joined group with generation {generation}"
    assert first(explain([line])).name == "not a Streams group"


def test_fc_56_one_application_id_and_two_topologies() -> None:
    line = (
        "org.apache.kafka.streams.errors.StreamsException: Topic orders is unknown to the topology. This may happen if "
        "different KafkaStreams instances of the same application execute different Topologies."
    )
    told = first(explain([line]))
    assert told.name == "not version probing" and "application.id" in told.cure


def test_fc_58_how_many_rebalances_is_one_bounce() -> None:
    stays, leaves = plan("3.1.0", "3.2.0"), plan("3.1.0", "3.2.0", leaves=True)
    assert stays.cost is not None and leaves.cost is not None
    assert stays.cost.rebalances == (6, 6), "two for each bounce"
    assert leaves.cost.rebalances[1] == 9, "three for each bounce"
    assert stays.cost.seconds[0] > 3 * 40, "the first of the two waits for the dead id, 45 s"
    assert leaves.cost.seconds[1] < 60


def test_fc_59_from_classic_to_the_streams_protocol() -> None:
    text = why(plan("4.1.0", "4.2.0"))
    assert "offline only" in text and "4.2.1" in text


def test_fc_60_a_classic_group_that_cannot_be_converted() -> None:
    told = first(
        explain(["Cannot upgrade the classic group app to consumer group because a custom assignor is in use"])
    )
    assert told.name == "not version probing" and "user data" in told.title


# 2H. Bytes.

LABELLED = (
    "000100000002000d746573742d7772697465722d3000000003000000000000000200000001000d746573742d7772697465722d3100000003"
    "000000000000000200000001ffffffff"
)


def test_fc_61_a_full_public_byte_array_that_was_mislabelled() -> None:
    told = layer(LABELLED, role="subscription")
    assert told.kind == wire.CONSUMER_ASSIGNMENT and told.problem is None and not told.inner
    assignment = wire.decode_assignment(bytes.fromhex(LABELLED))
    assert [str(one) for one in assignment.partitions] == [f"test-writer-{t}-{p}" for t in (0, 1) for p in (0, 2, 1)]
    assert assignment.user_data is None
    assert any("KAFKA-9150" in note for note in told.notes)


def test_fc_63_trailing_bytes_are_owned_partitions_and_may_be_missing() -> None:
    whole = "0001000000010002743100000000" + "0000000100027431000000010000000"
    told = layer(whole + "5")
    assert told.problem is None
    assert [field.value for field in told.fields if field.name.endswith("partitions[0]")][-1] == 5
    short = layer("0001000000010002743100000000")
    assert short.kind == wire.CONSUMER_SUBSCRIPTION and short.problem is None
    assert any("Accepted" in note for note in short.notes)


def test_fc_65_user_data_of_other_assignors_is_not_read_as_streams() -> None:
    sticky = bytes.fromhex("00000001" + "0002" + b"t1".hex() + "00000001" + "00000000" + "00000007")
    envelope = b"\x00\x01" + b"\x00\x00\x00\x01\x00\x02t1" + len(sticky).to_bytes(4, "big") + sticky + bytes(4)
    told = taken_apart(Part(data=envelope, protocol="sticky"))
    assert told.inner[0].kind == "user data of another assignor"
    assert any("generation 7" in note for note in told.inner[0].notes)
    group = {"protocol": "cooperative-sticky", "members": [{"metadata": base64.b64encode(envelope).decode()}]}
    (part,) = unpack(json.dumps(group)).parts
    assert "not read as Streams" in " ".join(taken_apart(part).inner[0].notes)


# The vectors of the cases' first part.

VECTORS: Iterable[tuple[str, str, str]] = (
    ("subscription v3", "0000000300000005" + SUB_V4[16:], wire.SUBSCRIPTION_INFO),
    ("subscription v4", SUB_V4, wire.SUBSCRIPTION_INFO),
    ("the empty answer", EMPTY, wire.ASSIGNMENT_INFO),
    ("an error", "00000005000000050000000000000000000000000000000000000001", wire.ASSIGNMENT_INFO),
    (
        "subscription v11",
        "0000000b0000000b1da083cfe2874ec8a7083ab54777212800000000000000010000000000000001fffffffffffffffeffff07"
        "0000000000000000",
        wire.SUBSCRIPTION_INFO,
    ),
)


@pytest.mark.parametrize(
    ("pasted", "kind"), [(text, kind) for _, text, kind in VECTORS], ids=[name for name, *_ in VECTORS]
)
def test_the_vectors_are_told_apart(pasted: str, kind: str) -> None:
    assert layer(pasted).kind == kind


def test_eight_bytes_given_to_2_4_0() -> None:
    probe = taken_apart(Part(data=bytes.fromhex("0000000b0000000b")), kind=wire.SUBSCRIPTION_INFO)
    seen = seen_by(probe, release("2.4.0"))
    assert seen is not None and "used version: 11; latest supported version: 11" in seen.log[0]
    later = taken_apart(Part(data=bytes.fromhex("0000000600000006" + "00" * 30)), kind=wire.ASSIGNMENT_INFO)
    seen = seen_by(later, release("2.4.0"))
    assert seen is not None and "used version: 6; latest supported version: 5" in seen.failure
