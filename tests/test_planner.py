"""The planner: verdicts that agree with the explorer, reasons with sources, rounds that start, costs and signs."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import ImpossibleScenarioError, UnknownReleaseError
from protocol.logbook import explain
from protocol.planner import FEATURES, VERDICTS, Advice, plan
from protocol.planner.costs import run
from protocol.planner.reasons import minor, number, takes
from protocol.releases import Release, release, releases
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


def test_the_only_way_to_4_0_from_before_2_4_is_a_stop_over() -> None:
    advice = plan("2.3.1", "4.0.0")
    assert advice.rounds == () and advice.cost is None
    assert advice.instead[0].startswith("by 3.9.1: 2.3.1 to 3.9.1 with upgrade.from=2.3")


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
