"""What an operator picks: what it does to the group, what is refused, and the broker's truth in numbers."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import ImpossibleScenarioError, UnknownReleaseError, group, teaching
from protocol.machine import ACTIONS, GROUP, MEMBER
from protocol.releases import releases
from protocol.scenario import SUCCESSIONS, Scenario, endings, simulate
from protocol.strategies import STRATEGIES
from protocol.trace import Trace

CROSSING = {"old": "2.0.0", "new": "2.1.0", "leader": "A"}
"""The pair that KAFKA-8649 kills."""


def per_bounce(trace: Trace) -> list[int]:
    """Rebalances of each bounce."""
    ends = [trace.first.group.generation]
    for bounce in range(1, trace.bounces + 1):
        ends.append(max(step.generation for step in trace if step.bounce == bounce))
    return [after - before for before, after in itertools.pairwise(ends)]


# ------------------------------------------------------------ facts/kafka-coordinator.md, section 2.10

PAIRS = {
    "same": ("2.0.0", "2.0.1"),
    "R1": ("2.0.0", "2.1.0"),
    "R2 leaving": ("2.3.1", "2.4.0"),
    "R2 enforcing": ("2.5.0", "2.6.0"),
}
MODES = {
    "fast": {},
    "slow": {"restart": "after"},
    "leave fast": {"closing": "leaves", "restart": 0.1},
    "leave slow": {"closing": "leaves", "restart": "after"},
}
CELLS = [
    # mode, pair, rebalances of a bounce while V-only members remain, rebalances of the last bounce
    ("fast", "same", {1}, {1}),
    ("fast", "R1", {2}, {2}),
    ("fast", "R2 leaving", {2}, {2, 3}),
    ("fast", "R2 enforcing", {2}, {2}),
    ("slow", "same", {2}, {2}),
    ("slow", "R1", {3}, {2}),
    ("slow", "R2 leaving", {3}, {3, 4}),
    ("slow", "R2 enforcing", {3}, {3}),
    ("leave slow", "same", {2}, {2}),
    ("leave slow", "R1", {3}, {2}),
    ("leave slow", "R2 leaving", {3}, {3, 4}),
    ("leave slow", "R2 enforcing", {3}, {3}),
]


@pytest.mark.parametrize(("mode", "pair", "while_old", "last"), CELLS)
def test_a_bounce_costs_what_the_broker_makes_it_cost(
    mode: str, pair: str, while_old: set[int], last: set[int]
) -> None:
    old, new = PAIRS[pair]
    seen: list[list[int]] = []
    for seed in range(24):
        picks = {"leader": "A", "order": "C,B,A", "timing": "timetable", "seed": seed, **MODES[mode]}
        seen.append(per_bounce(simulate(Scenario(old=old, new=new, **picks))))
    assert {bounce[0] for bounce in seen} == while_old
    assert {bounce[-1] for bounce in seen} == last


@pytest.mark.parametrize(("pair", "while_old"), [("same", 1), ("R1", 2), ("R2 leaving", 2), ("R2 enforcing", 2)])
def test_a_leaver_that_beats_the_heartbeats_costs_no_more_than_a_ghost(pair: str, while_old: int) -> None:
    # In lockstep it always beats them; by the timetable a heartbeat may come first, and cost one more.
    old, new = PAIRS[pair]
    picks = {"leader": "A", "order": "C,B,A", "closing": "leaves"}
    assert per_bounce(simulate(Scenario(old=old, new=new, **picks)))[0] == while_old


@pytest.mark.parametrize(
    ("old", "new", "while_old", "last"),
    [
        ("2.3.0", "2.3.1", 0, 0),
        ("2.3.1", "2.4.0", 0, 0),
        ("2.4.0", "2.5.0", 0, 0),
        ("2.5.0", "2.6.0", 1, 2),
        ("3.1.0", "3.2.0", 1, 2),
    ],
)
@pytest.mark.parametrize("timing", ["lockstep", "timetable"])
def test_a_static_member_that_is_back_in_time_costs_what_its_rejoin_costs(
    old: str, new: str, while_old: int, last: int, timing: str
) -> None:
    trace = simulate(Scenario(old=old, new=new, static=True, leader="A", order="C,B,A", timing=timing))
    costs = per_bounce(trace)
    assert (costs[0], costs[-1]) == (while_old, last)
    # Up to 2.5 a whole static upgrade takes no rebalance, and everybody still speaks the old version.
    expected = "upgraded" if last or old == "2.3.0" else "old version"
    assert trace.outcome.kind == expected


def test_three_members_that_all_leave_at_the_end_take_two_rebalances_two_times_in_three() -> None:
    runs = 300
    picks = {"old": "2.3.1", "new": "2.4.0", "leader": "A", "order": "C,B,A", "timing": "timetable"}
    counts = Counter(per_bounce(simulate(Scenario(seed=seed, **picks)))[-1] for seed in range(runs))
    assert counts[2] + counts[3] == runs
    assert 0.55 < counts[2] / runs < 0.78


# ------------------------------------------------------------ facts/kafka-coordinator.md, section 3

RUNS = 2000


@cache
def dead(order: str | None, restart: str) -> Counter[int]:
    """How many members an upgrade from 2.0.0 to 2.1.0 kills, over the seeds; every third seed in the timetable."""
    counts: Counter[int] = Counter()
    for seed in range(RUNS):
        bounced = order or ",".join(random.Random(seed).sample("ABC", 3))
        timing = "lockstep" if seed % 3 else "timetable"
        trace = simulate(Scenario(**CROSSING, order=bounced, restart=restart, seed=seed, timing=timing))
        counts[len({death.member for death in trace.outcome.deaths})] += 1
    return counts


def near(count: int, share: float) -> bool:
    """Within four standard deviations of what chance makes of that share."""
    return abs(count / RUNS - share) <= 4 * (share * (1 - share) / RUNS) ** 0.5


def test_a_leader_that_is_bounced_first_kills_with_the_odds_of_the_brokers_draw() -> None:
    # The smallest of three ranks leads: the new A with 1/3, which kills both. An old leader that is bounced next
    # gives way to a new one unless the third member's rank, known to be larger than its own, is the smallest.
    counts = dead("A,B,C", "before")
    assert near(counts[2], 1 / 3)
    assert near(counts[1], 1 / 3 - 1 / 15)
    assert near(counts[0], 2 / 5)


def test_a_leader_that_is_bounced_last_kills_nobody() -> None:
    for seed in range(200):
        trace = simulate(Scenario(**CROSSING, order="B,C,A", seed=seed, timing="timetable"))
        assert trace.outcome.kind == "upgraded"


def test_a_random_order_kills_in_four_of_ten_runs() -> None:
    counts = dead(None, "before")
    assert 0.36 < 1 - counts[0] / RUNS < 0.45


def test_a_restart_slower_than_the_session_spares_the_first_bounce_but_not_the_second() -> None:
    counts = dead("A,B,C", "after")
    assert counts[2] == 0
    assert near(counts[1], 1 / 3)


def loop(supervisor: float, **more: object) -> Trace:
    """Two upgraded members, and a supervisor that starts the old image of the third again and again."""
    old = ("2.1.0", "2.1.0", "2.0.0")
    return simulate(Scenario(old=old, new="2.1.0", order=(), leader="A", supervisor=supervisor, **more))


@pytest.mark.parametrize(("supervisor", "generations", "crashes"), [(15, 61, 30), (30, 35, 17)])
def test_a_supervisor_with_the_old_image_makes_a_loop(supervisor: float, generations: int, crashes: int) -> None:
    trace = loop(supervisor, until=600, timing="timetable")
    assert trace.outcome.kind == "loop"
    assert abs(trace.rebalances - generations) <= 3
    assert abs(len(trace.outcome.deaths) - crashes) <= 2


def test_a_supervisor_that_beats_the_session_ends_the_loop_by_itself() -> None:
    # The new C is among those who may lead when the old C's session times out; then it truly probes.
    kinds = Counter(loop(3, until=600, seed=seed).outcome.kind for seed in range(20))
    assert kinds["loop"] == 0 and kinds["deaths"] + kinds["old version"] == 20


def test_the_crash_walk_of_section_3_1() -> None:
    trace = simulate(Scenario(**CROSSING, order="A", succession=("A",)))
    told = next(step for step in trace if step.tag == "poison")
    died = next(step for step in trace if step.action == "die")
    assert [view.used for view in told.after.members] == [4, 4, 4]
    assert told.generation == died.generation == trace.first.group.generation + 1
    assert died.at - told.at == pytest.approx(3.0, abs=0.2)
    assert [view.name for view in trace.last.members if view.alive] == ["A"]
    assert trace.last.group.generation == trace.first.group.generation + 2
    assert trace.steps[-1].at == pytest.approx(23, abs=1)


# ------------------------------------------------------------ every option does what it says


def test_the_leader_that_is_picked_leads_until_its_id_is_gone() -> None:
    trace = simulate(Scenario(old="2.0.0", new="2.3.1", leader="B", order="C,A,B", succession="newest"))
    leaders = {step.bounce: step.before.group.leader for step in trace if step.action == "close"}
    assert leaders == {1: "B", 2: "B", 3: "B"}


@pytest.mark.parametrize("succession", SUCCESSIONS)
def test_every_succession_ends_the_upgrade_with_the_fix(succession: str) -> None:
    trace = simulate(Scenario(old="2.0.0", new="2.3.1", succession=succession))
    assert (trace.outcome.kind, trace.rebalances) == ("upgraded", 6)


def test_the_highest_version_leads_as_soon_as_it_is_there() -> None:
    trace = simulate(Scenario(old="2.0.0", new="2.3.1", leader=None, order="C,B,A", succession="highest version"))
    first = next(step for step in trace if step.action == "complete join")
    assert first.after.group.leader == "C"


def test_named_successors_lead_in_their_turn_and_a_stranger_is_refused() -> None:
    trace = simulate(Scenario(**CROSSING, order="A", succession=("C",)))
    assert trace.last.group.leader == "C"
    with pytest.raises(ImpossibleScenarioError, match="A is not in the group"):
        simulate(Scenario(**CROSSING, order="A", succession=("A",), closing="leaves", restart=60))


def test_closing_by_leaving_moves_the_leader_before_the_newcomer_is_there() -> None:
    trace = simulate(Scenario(**CROSSING, order="A,B,C", closing="leaves"))
    closed = trace.steps[0]
    assert closed.after.group.ghosts == () and closed.after.group.leader in ("B", "C")
    assert any(message.kind == "LeaveGroup" for message in closed.messages)


def test_releases_before_the_override_leave_by_themselves() -> None:
    leaving = simulate(Scenario(old="0.10.2.1", new="0.10.2.2"))
    staying = simulate(Scenario(old="0.10.2.2", new="0.10.2.2"))
    assert not leaving.steps[0].after.group.ghosts
    assert staying.steps[0].after.group.ghosts


def test_each_thread_is_a_member_and_a_bounce_takes_them_all() -> None:
    trace = simulate(Scenario(old="2.4.0", new="2.5.0", members=2, threads=3))
    assert [view.name for view in trace.first.members] == ["A-1", "A-2", "A-3", "B-1", "B-2", "B-3"]
    assert trace.steps[0].members == ("A-1", "A-2", "A-3")
    assert trace.outcome.kind == "upgraded"


def test_upgrade_from_takes_two_rounds_and_the_old_version_in_between() -> None:
    trace = simulate(Scenario(old="1.1.1", new="2.3.1", upgrade_from="1.1"))
    middle = next(step for step in trace if step.bounce == 4).before
    assert [(view.binary, view.used) for view in middle.members] == [("2.3.1", 2)] * 3
    assert (trace.bounces, trace.outcome.kind) == (6, "upgraded")
    once = simulate(Scenario(old="1.1.1", new="2.3.1", upgrade_from="1.1", second_bounce=False))
    assert once.outcome.kind == "old version" and once.bounces == 3


def test_an_upgrade_from_that_the_assignor_chokes_on_kills_at_the_start() -> None:
    trace = simulate(Scenario(old="3.4.1", new="3.5.1", upgrade_from="3.4", second_bounce=False, order="A"))
    assert [death.how for death in trace.outcome.deaths] == ["start"]
    assert "upgrade.from" in trace.outcome.text


def test_a_rollback_ends_where_it_began() -> None:
    trace = simulate(Scenario(old="2.0.0", new="2.3.1", rollback=2))
    assert (trace.outcome.kind, trace.bounces) == ("rolled back", 4)
    assert [view.binary for view in trace.last.members] == ["2.0.0"] * 3


def test_three_releases_start_with_the_steps_of_their_first_generation() -> None:
    trace = simulate(Scenario(old=("2.0.0", "2.3.1", "2.4.0"), new="2.4.0", order="A,B"))
    assert trace.first.group.state == "Empty" and trace.steps[0].bounce == 0
    assert trace.outcome.kind == "upgraded"


def test_old_and_new_jars_may_follow_different_strategies() -> None:
    old = teaching("v10 jar", latest=10, leader_rule="smallest supported", member_rule="smallest supported")
    new = teaching("v11 jar", latest=11, leader_rule="mirror", member_rule="mirror")
    fine = simulate(
        Scenario(old=old, new=replace(old, name="v11 jar", dialect=new.dialect), leader="A", succession="newest")
    )
    assert fine.outcome.kind == "upgraded"
    bad = simulate(Scenario(old=old, new=new, leader="A", order="A,B,C", succession="newest"))
    assert {death.member for death in bad.outcome.deaths} == {"B", "C"}


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_upgrades_itself_under_an_old_leader_but_the_one_that_cannot_probe(name: str) -> None:
    rules = STRATEGIES[name]
    old, new = (
        teaching(f"v{n} jar", latest=n, leader_rule=rules.leader_rule, member_rule=rules.member_rule) for n in (10, 11)
    )
    trace = simulate(Scenario(old=old, new=new, leader="A", order="C,B,A"))
    assert trace.bounces == 3
    if name == "fixed version":
        assert trace.outcome.deaths
        twice = simulate(Scenario(old=old, new=new, leader="A", order="C,B,A", upgrade_from="v10"))
        assert (twice.outcome.kind, twice.bounces) == ("upgraded", 6)
    else:
        assert (trace.outcome.kind, trace.rebalances) == ("upgraded", 6)


def test_the_proposal_saves_the_rebalances_that_its_text_says() -> None:
    # The seed: no intermediate rebalances under a new leader, and no last one unless the leader is bounced last.
    rules = STRATEGIES["mirror"]
    old, new = (
        teaching(f"v{n} jar", latest=n, leader_rule=rules.leader_rule, member_rule=rules.member_rule) for n in (10, 11)
    )
    costs = {}
    for position, order in enumerate(("A,B,C", "B,A,C", "B,C,A"), 1):
        trace = simulate(Scenario(old=old, new=new, leader="A", order=order, succession="newest"))
        assert trace.outcome.kind == "upgraded"
        costs[position] = trace.rebalances
    assert costs == {1: 3, 2: 5, 3: 6}


def test_the_same_scenario_gives_the_same_trace_and_another_seed_another_draw() -> None:
    picks = {**CROSSING, "order": "A,B,C"}
    assert simulate(Scenario(**picks, seed=4)) == simulate(Scenario(**picks, seed=4))
    assert len({simulate(Scenario(**picks, seed=seed)).outcome.kind for seed in range(12)}) == 2


def test_endings_are_all_there_are_each_with_a_witness() -> None:
    scenario = Scenario(**CROSSING, order="A,B,C")
    found, complete = endings(scenario)
    assert complete and {len(end.outcome.deaths) for end in found} == {0, 1, 2}
    for end in found:
        again = simulate(end.witness)
        assert (again.outcome, again.rebalances) == (end.outcome, end.rebalances)


def test_endings_say_when_they_are_not_all() -> None:
    found, complete = endings(Scenario(**CROSSING, members=5), limit=10)
    assert not complete and sum(end.runs for end in found) == 10


# ------------------------------------------------------------ what is refused

REFUSED = [
    ({"members": 0}, "members"),
    ({"members": 201}, "members"),
    ({"threads": 0}, "threads"),
    ({"members": 100, "threads": 3}, "threads"),
    ({"leader": "D"}, "leader"),
    ({"order": "A,D"}, "order"),
    ({"order": "A,B,A"}, "order"),
    ({"succession": "fastest"}, "succession"),
    ({"succession": ("A", "Q")}, "succession"),
    ({"closing": "slams"}, "closing"),
    ({"timing": "warp"}, "timing"),
    ({"restart": "never"}, "restart"),
    ({"restart": -1.0}, "restart"),
    ({"supervisor": 0.0}, "supervisor"),
    ({"until": 0}, "until"),
    ({"rollback": 4}, "rollback"),
    ({"rollback": 1, "upgrade_from": "2.0", "new": "2.4.0"}, "rollback"),
    ({"static": True}, "static"),
    ({"old": "2.3.0", "new": "2.4.0", "static": True, "closing": "leaves"}, "closing"),
    ({"upgrade_from": "9.9"}, "upgrade_from"),
    ({"old": "1.0.0", "new": "1.0.1", "upgrade_from": "0.10.0"}, "upgrade_from"),
    ({"bounces": (("Q", "2.1.0"),)}, "bounces"),
    ({"bounces": (("A", "2.1.0"),), "order": "A"}, "bounces"),
]


@pytest.mark.parametrize(("picks", "pick"), REFUSED, ids=lambda value: str(value))
def test_an_impossible_scenario_is_refused_with_its_reason(picks: dict[str, object], pick: str) -> None:
    with pytest.raises(ImpossibleScenarioError) as caught:
        simulate(Scenario(**{"old": "2.0.0", "new": "2.1.0", **picks}))  # type: ignore[arg-type]
    assert caught.value.pick == pick
    assert "\n" not in str(caught.value)


def test_an_unknown_release_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownReleaseError, match=r"2\.1\.1"):
        simulate(Scenario(old="2.1.2", new="2.3.1"))


# ------------------------------------------------------------ picks as data


def test_picks_are_plain_data_and_python_makes_the_scenario_again() -> None:
    jar = teaching("v11 jar", latest=11, leader_rule="mirror", member_rule="mirror")
    scenario = Scenario(old=("2.0.0", "2.1.0"), new=jar, order=("A",), succession=("B",), restart=5.0)
    assert scenario.picks()["new"] == {
        "name": "v11 jar",
        "latest": 11,
        "leader_rule": "mirror",
        "member_rule": "mirror",
    }
    again = eval(scenario.python(), {"Scenario": Scenario, "teaching": teaching})
    assert again.python() == scenario.python()
    assert again.plan().bounces == scenario.plan().bounces


# ------------------------------------------------------------ what holds for every run

NAMES = [row.name for row in releases()]
FIXED = [
    row.name
    for row in releases()
    if row.binary.leader_rule.startswith("smallest supported") and "KAFKA-9053" in row.fixes
]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Any scenario that is not refused."""
    members = draw(st.integers(1, 5))
    names = [*"ABCDE"][:members]
    old = draw(st.one_of(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), min_size=members, max_size=members)))
    scenario = Scenario(
        old=old,
        new=draw(st.sampled_from(NAMES)),
        members=members,
        leader=draw(st.one_of(st.none(), st.sampled_from(names))),
        order=draw(st.permutations(names)),
        succession=draw(st.sampled_from(list(SUCCESSIONS))),
        closing=draw(st.sampled_from([None, "lingers", "leaves"])),
        restart=draw(st.sampled_from(["before", "after"])),
        static=draw(st.booleans()),
        threads=draw(st.integers(1, 2)),
        rollback=draw(st.one_of(st.none(), st.integers(1, members))),
        supervisor=draw(st.sampled_from([None, 15.0])),
        timing=draw(st.sampled_from(["lockstep", "timetable"])),
        seed=draw(st.integers(0, 9)),
    )
    try:
        scenario.plan()
    except ImpossibleScenarioError:
        return replace(scenario, static=False)
    return scenario


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_every_run_keeps_to_the_tables(scenario: Scenario) -> None:
    trace = simulate(scenario)
    for step in trace:
        before, after = step.before, step.after
        assert step.action in ACTIONS
        assert after.group.generation - before.group.generation == (step.action == "complete join")
        assert after.group.leader_id in after.group.members or not after.group.leader
        assert {row.source for row in GROUP} >= {after.group.state}
        for name, key in step.moves:
            row = next(row for row in MEMBER if row.key == key)
            assert before.member(name).state == row.source or len([m for m in step.moves if m[0] == name]) > 1
        for name in {view.name for view in after.members} - set(step.members):
            assert before.member(name) == after.member(name)
    assert trace.outcome.text.endswith(".") and "\n" not in trace.outcome.text
    if trace.outcome.kind not in ("loop", "cut off"):
        assert {view.state for view in trace.last.members} <= {"STABLE", "STOPPED", "CRASHED"}
        ghosts_of_sleepers = set(trace.last.group.ghosts)
        assert not ghosts_of_sleepers


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(FIXED), min_size=2, max_size=4), st.sampled_from(FIXED), st.integers(0, 99), st.booleans()
)
def test_fixed_releases_kill_nobody_in_any_mix(old: list[str], new: str, seed: int, by_timetable: bool) -> None:
    timing = "timetable" if by_timetable else "lockstep"
    trace = simulate(Scenario(old=old, new=new, seed=seed, timing=timing))
    assert not trace.outcome.deaths
    assert trace.outcome.kind != "loop"


@settings(max_examples=60, deadline=None)
@given(st.permutations("ABC"), st.integers(0, 999), st.sampled_from(["before", "after"]))
def test_nobody_dies_of_kafka_8649_unless_a_new_jar_led_the_generation_before(
    order: list[str], seed: int, restart: str
) -> None:
    trace = simulate(Scenario(**CROSSING, order=order, seed=seed, restart=restart, timing="timetable"))
    led = {step.generation: step.after.member(step.member).binary for step in trace if step.action == "assign"}
    for death in trace.outcome.deaths:
        assert death.how == "poison"
        assert led[death.cause] == "2.1.0"


def test_the_plan_is_what_group_plays() -> None:
    scenario = Scenario(**CROSSING)
    assert group.play(scenario.plan()).steps == simulate(scenario).steps
