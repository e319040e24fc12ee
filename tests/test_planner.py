"""The planner: verdicts that agree with the explorer, reasons with sources, rounds that start, costs and signs."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import ImpossibleScenarioError, UnknownReleaseError
from protocol.logbook import explain
from protocol.planner import FEATURES, VERDICTS, Advice, plan
from protocol.planner.costs import run
from protocol.planner.disk import refusal
from protocol.planner.reason import minor, number, takes
from protocol.releases import Release, release, releases
from protocol.scenario import simulate
from protocol.upgrade import Modes, explore

PUBLISHED = [row for row in releases() if row.released]
LINES = [
    rows[-1]
    for _, rows in ((key, list(rows)) for key, rows in itertools.groupby(PUBLISHED, lambda row: number(row)[:2]))
]
NAMES = st.sampled_from([row.name for row in PUBLISHED])


def names(advice: Advice) -> set[str]:
    return {reason.name for reason in advice.reasons}


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("2.0.1", "2.1.1", "unsafe"),
        ("2.0.1", "2.3.1", "safe"),
        ("2.0.1", "2.3.0", "unsafe"),
        ("2.2.0", "2.2.2", "safe"),
        ("2.6.0", "2.6.1", "safe"),
        ("2.3.1", "2.5.0", "safe if"),
        ("2.3.1", "4.0.0", "impossible online"),
        ("4.0.0", "2.3.1", "impossible online"),
        ("0.10.0.1", "0.10.1.1", "impossible online"),
        ("0.10.0.1", "0.10.2.2", "safe if"),
        ("1.1.1", "2.0.0", "safe if"),
        ("3.2.3", "2.8.0", "safe if"),
        ("3.2.0", "3.2.3", "safe"),
        ("3.4.1", "3.5.2", "safe if"),
        ("3.9.0", "4.0.0", "safe if"),
    ],
)
def test_the_verdict_of_a_pair_is_what_is_known_of_it(old: str, new: str, verdict: str) -> None:
    assert plan(old, new).verdict == verdict


@pytest.mark.parametrize("old", LINES, ids=lambda row: row.name)
def test_pairs_of_lines_have_advice_whose_parts_agree(old: Release) -> None:
    for new in LINES[LINES.index(old) % 4 :: 4]:
        advice = plan(old.name, new.name, members=2)
        assert advice.verdict in VERDICTS
        assert bool(advice.conditions) == (advice.verdict == "safe if")
        assert all(reason.source and reason.text and reason.title for reason in advice.reasons)
        assert all(not reason.feature or reason.feature in FEATURES for reason in advice.reasons)
        if advice.ok:
            assert advice.rounds and advice.cost is not None and advice.signs
            assert advice.rounds[-1].release == new.name and advice.rounds[-1].upgrade_from is None
            for one in advice.rounds:
                assert one.upgrade_from is None or takes(release(one.release), one.upgrade_from)
        else:
            assert advice.instead


@pytest.mark.parametrize("old", [row for row in LINES if row.latest >= 3], ids=lambda row: row.name)
def test_a_verdict_about_versions_is_the_explorers(old: Release) -> None:
    for new in (row for row in LINES if row.latest >= 3):
        report = explore(old.name, new.name, members=3, modes=Modes(relead="by jar"))
        versions = plan(old.name, new.name).reasons[0]
        assert (versions.effect == "versions") == report.ok, (old.name, new.name)


@settings(max_examples=25, deadline=None)
@given(NAMES, NAMES)
def test_the_plan_that_is_called_safe_runs_without_a_death(old: str, new: str) -> None:
    advice = plan(old, new)
    if not advice.ok:
        return
    for seed, restart in ((0, "before"), (1, "after")):
        trace = run(release(old), advice.rounds, members=3, restart=restart, seed=seed)
        assert not trace.outcome.deaths, (advice.rounds, trace.outcome.text)
        assert trace.outcome.kind not in ("loop", "error assignment")


@settings(max_examples=10, deadline=None)
@given(NAMES, NAMES)
def test_the_log_of_a_safe_plan_has_the_signs_and_no_grave_diagnosis(old: str, new: str) -> None:
    advice = plan(old, new)
    if not advice.ok:
        return
    lines = [
        f"[{step.at:9.3f}] {line.member}: {line}"
        for step in run(release(old), advice.rounds, members=3)
        for line in step.log
    ]
    text = "\n".join(lines)
    expected = [
        sign.grep for sign in advice.signs if sign.when in ("each bounce", "last bounce") or "rebalancing" in sign.grep
    ]
    assert all(grep in text for grep in expected)
    assert not [sign.grep for sign in advice.signs if sign.when == "wrong" and sign.grep in text]
    assert not [one for one in explain(lines).diagnoses if one.grave and one.name != "eager beside cooperative"]


def test_the_setting_that_a_release_chokes_on_is_unsafe_and_never_advised() -> None:
    asked = plan("3.4.1", "3.5.1", upgrade_from="3.4")
    assert asked.verdict == "unsafe" and "upgrade.from=3.4" in asked.headline
    assert any("3.5.2" in way for way in asked.instead)
    assert plan("3.4.1", "3.5.1").upgrade_from == "3.3"
    assert plan("3.4.1", "3.5.2").upgrade_from == "3.4"


@pytest.mark.parametrize(
    ("old", "new", "asked", "first"),
    [
        ("2.3.1", "3.9.1", "banana", "upgrade.from=2.3 in place of banana: safe if"),
        ("2.3.1", "3.9.1", "0.11.0", "upgrade.from=2.3 in place of 0.11.0: safe if"),
        ("1.1.1", "2.0.0", "none", "upgrade.from=1.1 in place of none: safe if"),
        ("3.4.1", "3.5.1", "3.4", "3.5.2 in place of 3.5.1: safe, but where"),
    ],
)
def test_in_place_of_a_wrong_setting_the_right_one_is_named(old: str, new: str, asked: str, first: str) -> None:
    advice = plan(old, new, upgrade_from=asked)
    assert advice.verdict == "unsafe" and advice.instead[0].startswith(first)
    assert advice.way_back is not None and asked not in advice.way_back.half


def test_without_the_setting_the_roll_over_2_4_is_unsafe_though_the_versions_agree() -> None:
    advice = plan("2.3.1", "2.4.1", upgrade_from="none")
    assert advice.verdict == "unsafe"
    assert advice.reasons[0].effect == "versions"
    assert "without upgrade.from: eager to cooperative" in names(advice)


def test_features_that_are_not_used_are_no_reason() -> None:
    assert plan("3.4.1", "3.5.2", uses=[]).verdict == "safe"
    assert plan("3.2.3", "3.3.2", uses=["foreign-key joins"]).verdict == "unsafe"
    assert plan("3.2.3", "3.3.2", uses=[]).verdict == "safe"
    with pytest.raises(ImpossibleScenarioError, match="not known"):
        plan("3.2.3", "3.3.2", uses=["coffee"])


def test_from_3_3_a_foreign_key_join_must_not_be_held_at_the_old_format() -> None:
    advice = plan("3.3.2", "3.6.0", uses=["foreign-key joins", "table repartition"])
    assert advice.upgrade_from == "3.4"
    assert plan("3.3.2", "3.4.0", uses=["foreign-key joins"]).upgrade_from is None


def test_where_election_decides_the_odds_are_told() -> None:
    advice = plan("2.0.1", "2.1.1")
    assert advice.survival == pytest.approx(16 / 27)
    assert "59%" in advice.depends
    assert sum(chance for *_, chance in advice.distribution) == pytest.approx(1)
    assert [dead for _, dead, _ in advice.distribution] == [2, 1, 0]
    assert plan("2.3.1", "2.5.1").depends == ""


@pytest.mark.parametrize(("members", "rebalances"), [(3, 6), (5, 10), (10, 20), (100, 200)])
def test_an_upgrade_with_a_new_version_costs_two_rebalances_an_instance(members: int, rebalances: int) -> None:
    cost = plan("2.6.0", "2.6.1", members=members).cost
    assert cost is not None and cost.rebalances == (rebalances, rebalances)


@pytest.mark.parametrize(("members", "rebalances"), [(3, 3), (5, 5), (10, 10)])
def test_an_upgrade_without_one_costs_one(members: int, rebalances: int) -> None:
    cost = plan("3.2.0", "3.2.3", members=members).cost
    assert cost is not None and cost.rebalances == (rebalances, rebalances)


@pytest.mark.parametrize(("members", "rebalances"), [(3, 4), (5, 6), (10, 11)])
def test_a_downgrade_over_a_version_costs_one_more_than_its_instances(members: int, rebalances: int) -> None:
    cost = plan("3.2.0", "3.0.0", members=members).cost
    assert cost is not None and cost.rebalances[0] == rebalances


def test_leaving_on_close_costs_a_rebalance_more_and_waits_for_no_session() -> None:
    stays, leaves = plan("3.1.0", "3.2.0").cost, plan("3.1.0", "3.2.0", leaves=True).cost
    assert stays is not None and leaves is not None
    assert leaves.rebalances[1] == 9
    assert leaves.seconds[1] < stays.seconds[0]


def test_static_members_that_are_rolled_back_in_time_die_of_their_cached_assignment() -> None:
    advice = plan("3.2.0", "3.0.0", static=True)
    assert advice.verdict == "unsafe" and "cached assignment" in names(advice)
    assert any("session.timeout.ms" in way for way in advice.instead)
    assert plan("3.0.0", "3.2.0", static=True).ok


def test_the_way_back_says_what_blocks_it() -> None:
    back = plan("2.8.0", "3.2.3").way_back
    assert back is not None and back.verdict == "safe if"
    assert "RocksDB" in {block.name for block in back.blocks}
    back = plan("3.9.0", "4.0.0").way_back
    assert back is not None and any(block.effect == "wipe" for block in back.blocks)


GOLDEN = Path(__file__).parent / "golden"


def test_an_older_rocksdb_opens_or_refuses_what_the_real_one_did() -> None:
    rows = [line.split("\t") for line in (GOLDEN / "rocksdb_back.tsv").read_text().splitlines()[1:]]
    assert len(rows) == 15 * 14 // 2
    for wrote, opens, answer in rows:
        if opens == "5.0.1":  # its exceptions lose their text
            assert bool(refusal(wrote, opens)) == (answer != "opened"), (wrote, opens)
        else:
            assert refusal(wrote, opens) == ("" if answer == "opened" else answer), (wrote, opens)


@pytest.mark.parametrize(
    ("old", "new", "wiped"),
    [
        ("3.2.3", "2.8.0", True),
        ("3.9.2", "3.0.0", False),
        ("4.0.0", "3.9.2", True),
        ("4.2.2", "4.0.0", False),
        ("4.3.1", "4.2.2", True),
        ("2.1.1", "1.0.0", False),
        ("2.3.0", "2.2.2", True),
    ],
)
def test_a_step_back_wipes_the_disk_where_the_older_jar_cannot_open_it(old: str, new: str, wiped: bool) -> None:
    advice = plan(old, new, uses=["persistent stores"])
    assert any(reason.effect == "wipe" for reason in advice.reasons) == wiped
    if advice.ok:
        assert bool(advice.rounds[-1].before_start) == wiped


def test_a_mode_that_the_new_jar_does_not_know_has_a_round_of_its_own_before_it() -> None:
    advice = plan("3.9.1", "4.1.1", uses=["exactly_once"])
    assert [(one.release, one.more) for one in advice.rounds] == [
        ("3.9.1", ("processing.guarantee=exactly_once_v2",)),
        ("4.1.1", ("processing.guarantee=exactly_once_v2",)),
    ]
    assert "first bounce 3.9.1" in advice.headline
    down = plan("3.9.1", "2.5.1", uses=["exactly_once_v2"])
    assert [one.release for one in down.rounds] == ["3.9.1", "2.5.1"]
    assert down.rounds[0].configuration == "no upgrade.from, processing.guarantee=exactly_once"


def test_a_mode_that_only_changed_its_name_changes_with_the_jar() -> None:
    up = plan("3.9.1", "4.1.1", uses=["exactly_once_beta"])
    down = plan("3.2.3", "2.8.0", uses=["exactly_once_v2"])
    assert [one.more for one in up.rounds] == [("processing.guarantee=exactly_once_v2",)]
    assert [one.more for one in down.rounds] == [("processing.guarantee=exactly_once_beta",)]


def test_a_mode_that_no_release_on_the_way_changes_needs_a_stop_over() -> None:
    advice = plan("2.8.2", "4.2.1", uses=["exactly_once"])
    assert advice.verdict == "unsafe"
    assert advice.instead[0].startswith("by 3.9.2: 3.9.2 with no upgrade.from, then 3.9.2")
    assert "processing.guarantee=exactly_once_v2" in advice.instead[0]


def test_from_3_3_the_setting_is_3_4_which_the_join_does_not_heed() -> None:
    advice = plan("3.3.2", "3.6.0")
    assert advice.upgrade_from == "3.4"
    assert not any("leave upgrade.from out" in condition for condition in advice.conditions)
    asked = plan("3.3.2", "3.6.0", upgrade_from="3.3")
    assert any("leave upgrade.from out" in condition for condition in asked.conditions)


def test_no_reason_of_an_impossible_pair_asks_for_a_setting() -> None:
    for old, new in (("2.3.1", "4.0.0"), ("4.4.0", "1.1.1")):
        assert not [one for one in plan(old, new).reasons if one.effect in ("setting", "condition")]


@pytest.mark.parametrize(("new", "better"), [("4.1.0", "4.1.1"), ("4.3.0", "4.3.1")])
def test_a_release_that_leaks_is_named_with_the_one_that_does_not(new: str, better: str) -> None:
    assert any(better in one.title for one in plan("4.0.0", new).reasons)
    assert not any("leaks" in one.title for one in plan("4.0.0", better).reasons)


def test_half_way_back_from_the_second_round_the_setting_comes_first() -> None:
    back = plan("2.3.1", "3.9.1").way_back
    assert back is not None and "upgrade.from=2.3 everywhere again" in back.text
    assert "deleted from disk" in back.text
    back = plan("2.6.0", "2.6.1").way_back
    assert back is not None and "second" not in back.text and "disk" not in back.text


def test_the_costs_of_the_rounds_add_up() -> None:
    for old, new in (("2.3.1", "3.9.1"), ("3.9.1", "2.3.1"), ("1.1.1", "2.0.0"), ("2.6.0", "2.6.1")):
        cost = plan(old, new).cost
        assert cost is not None
        assert sum(rebalances[0] for rebalances, _ in cost.rounds) == cost.rebalances[0]
        assert sum(rebalances[1] or 0 for rebalances, _ in cost.rounds) == cost.rebalances[1]
        assert sum(seconds[0] for _, seconds in cost.rounds) == pytest.approx(cost.seconds[0])


def test_a_sign_of_a_round_says_which() -> None:
    advice = plan("2.3.1", "3.9.1")
    eager = [one.round for one in advice.signs if one.grep.startswith("Eager")]
    assert eager == [1] and {one.round for one in advice.signs if one.when == "done"} == {0}


@settings(max_examples=15, deadline=None)
@given(NAMES, NAMES)
def test_the_run_to_look_at_goes_well_and_the_danger_does_not(old: str, new: str) -> None:
    advice = plan(old, new, members=3)
    if advice.run is not None:
        assert not simulate(advice.run).outcome.deaths
    if advice.danger is not None:
        assert not simulate(advice.danger).outcome.ok
        assert not advice.ok


def test_the_danger_of_kafka_8649_can_be_looked_at() -> None:
    advice = plan("2.0.1", "2.1.1", members=40, threads=2)
    assert advice.danger is not None and len(simulate(advice.danger).outcome.deaths) >= 2
    assert plan("2.3.1", "3.9.1").danger is None
    static = plan("3.2.0", "3.0.0", static=True).danger
    assert static is not None and static.static and simulate(static).outcome.deaths


def test_the_only_way_to_4_0_from_before_2_4_is_a_stop_over() -> None:
    advice = plan("2.3.1", "4.0.0")
    assert advice.rounds == () and advice.cost is None
    assert advice.instead[0].startswith("by 3.9.2: 3.9.2 with upgrade.from=2.3, then 3.9.2 with no upgrade")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"members": 1}, "2 to 100"),
        ({"members": 101}, "2 to 100"),
        ({"threads": 0}, "1 to 64"),
        ({"static": True, "leaves": True}, "static or leaves"),
    ],
)
def test_picks_that_cannot_be_are_refused(options: dict[str, int], why: str) -> None:
    with pytest.raises(ImpossibleScenarioError, match=why):
        plan("3.1.0", "3.2.0", **options)  # type: ignore[arg-type]
    with pytest.raises(UnknownReleaseError):
        plan("2.9", "3.2.0")


def test_a_plan_for_three_instances_is_there_at_once() -> None:
    began = time.process_time()
    plan("2.2.0", "3.7.1")
    plan("2.0.0", "2.2.1")
    plan("1.0.0", "3.1.0")
    assert (time.process_time() - began) / 3 < 2


def test_the_value_of_upgrade_from_is_the_line_of_the_older_release() -> None:
    assert [minor(release(name)) for name in ("0.10.0.1", "0.11.0.3", "1.1.1", "3.9.0")] == [
        "0.10.0",
        "0.11.0",
        "1.1",
        "3.9",
    ]


def test_a_step_back_to_before_a_feature_is_unsafe_where_it_is_used() -> None:
    assert "2.0.1 has no suppress()" in plan("2.3.1", "2.0.1", uses=["suppress"]).headline
    assert "has no foreign-key joins" in plan("3.9.1", "2.3.1", uses=["foreign-key joins"]).headline
    assert plan("2.3.1", "2.1.1", uses=[]).ok


def test_what_is_better_on_the_way_down_is_not_as_far_down() -> None:
    advice = plan("3.9.1", "2.2.2", uses=["suppress"])
    ways = [way.split()[0] for way in advice.instead if " in place of " in way]
    assert ways and all(number(release(name)) > (2, 2, 2) for name in ways)
    assert all(plan("3.9.1", name, uses=["suppress"]).ok for name in ways)
