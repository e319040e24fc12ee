"""Rolling upgrades explored: verdicts, costs and counts against tables, closed forms, and one another."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from itertools import permutations, product

import pytest

from protocol.errors import ImpossibleScenarioError, UnknownReleaseError
from protocol.explorer import discover
from protocol.machine import ACTIONS
from protocol.scenario import Scenario, endings, simulate
from protocol.strategies import LEADER_RULES, MEMBER_RULES, LeaderRule, MemberRule, Reaction, Verdict
from protocol.upgrade import (
    MODES,
    Exploration,
    Jar,
    Modes,
    Upgrade,
    behaviours,
    examples,
    explore,
    explored,
    formulas,
    jar,
    matrix,
    release_pairs,
    rule_jar,
    strategies_matrix,
    strategy_jar,
    upgrade,
    why,
)
from protocol.upgrade.named import Named
from protocol.upgrade.plain import Plain
from protocol.upgrade.sweep import LEADERS, MEMBERS
from protocol.upgrade.telling import told

RULES = {
    "pre": ("leader's version", "leader's version"),
    "fix8649": ("smallest supported, not yet encoded", "smallest supported"),
    "fix9053": ("smallest supported", "smallest supported"),
    "mirror": ("mirror", "mirror"),
    "proposal": ("proposal", "proposal"),
}
"""The five pairs of rules, by short names."""


def made(name: str, latest: int) -> Jar:
    return rule_jar(*RULES[name], latest=latest)


def pair(old: str, new: str, members: int | None = 3, modes: Modes | str | None = None) -> Upgrade:
    return upgrade(made(old, 10), made(new, 11), members=members, modes=modes)


def facts(exploration: Exploration) -> tuple[object, ...]:
    verdict = exploration.verdict
    return (
        verdict.kind,
        verdict.silent,
        verdict.ends_upgraded,
        frozenset(verdict.loops),
        verdict.rebalances,
        verdict.rebalances_without_deaths,
    )


# What is true of whom: verdicts for two versions, all orders and leaders, N >= 2.

VERDICTS = {
    ("pre", "pre"): ("deaths", 1),
    ("pre", "fix8649"): ("deaths", 1),
    ("pre", "fix9053"): ("ok", 0),
    ("pre", "mirror"): ("deaths", 2),
    ("fix8649", "pre"): ("deaths", 1),
    ("fix8649", "fix8649"): ("deaths", 1),
    ("fix8649", "fix9053"): ("ok", 0),
    ("fix8649", "mirror"): ("deaths", 1),
    ("fix9053", "pre"): ("deaths", 1),
    ("fix9053", "fix8649"): ("deaths", 1),
    ("fix9053", "fix9053"): ("ok", 0),
    ("fix9053", "mirror"): ("deaths", 1),
    ("mirror", "pre"): ("loop", 0),
    ("mirror", "fix8649"): ("loop", 0),
    ("mirror", "fix9053"): ("ok", 0),
    ("mirror", "mirror"): ("ok", 0),
}
"""(verdict, by how much the most dead at once falls short of all members)."""


@pytest.mark.parametrize(("old", "new"), VERDICTS)
def test_which_rule_may_follow_which(old: str, new: str) -> None:
    kind, spared = VERDICTS[old, new]
    for members in (3, 4, 6):
        verdict = explored(pair(old, new, members)).verdict
        assert verdict.kind == kind
        assert verdict.most_dead == (members - spared if kind == "deaths" else 0)
    assert explored(pair(old, new, None)).verdict.kind == kind


def test_two_members_survive_what_kills_three_by_a_poison_that_waits() -> None:
    assert explored(pair("pre", "mirror", 2)).verdict.kind == "ok"
    verdict = explored(pair("pre", "mirror", 3)).verdict
    assert verdict.kind == "deaths" and verdict.silent
    assert not explored(pair("pre", "pre", 3)).verdict.silent


@pytest.mark.parametrize("mode", ["interleaved", "leader gives up", "stop and start"])
@pytest.mark.parametrize(("old", "new"), VERDICTS)
def test_the_verdicts_are_the_same_in_other_modes_but_a_leader_that_gives_up_can_leave_a_loop(
    old: str, new: str, mode: str
) -> None:
    kind, _ = VERDICTS[old, new]
    if kind == "loop" and mode == "leader gives up":
        kind = "escapable loop"
    assert explored(pair(old, new, 4, mode)).verdict.kind == kind
    assert explored(pair(old, new, None, mode)).verdict.kind == kind


CUBE = {
    ("pre", "pre"): ("deaths 1", "deaths 1", "deaths 0"),
    ("pre", "fix"): ("deaths 1", "deaths 1", "deaths 0"),
    ("pre", "proposal"): ("loop", "loop", "deaths 1"),
    ("fix8649", "pre"): ("deaths 1", "deaths 1", "deaths 0"),
    ("fix8649", "fix"): ("deaths 1", "deaths 1", "deaths 0"),
    ("fix8649", "proposal"): ("loop", "loop", "deaths 1"),
    ("fix9053", "pre"): ("ok", "ok", "deaths N-1"),
    ("fix9053", "fix"): ("ok", "ok", "deaths N-1"),
    ("fix9053", "proposal"): ("ok", "ok", "deaths N-1"),
    ("proposal", "pre"): ("deaths 1", "deaths 1", "deaths 2"),
    ("proposal", "fix"): ("deaths 1", "deaths 1", "deaths 1"),
    ("proposal", "proposal"): ("deaths 1", "deaths 1", "ok"),
}
"""New leader and old member, against a new member that is pre, fix and proposal; `deaths k`: N - k at once."""


@pytest.mark.parametrize(("leader", "old"), CUBE)
def test_the_cube_of_new_leader_old_member_and_new_member(leader: str, old: str) -> None:
    before = {"pre": "pre", "fix": "fix9053", "proposal": "proposal"}[old]
    for after, expected in zip(("pre", "fix9053", "proposal"), CUBE[leader, old], strict=True):
        new = rule_jar(RULES[leader][0], RULES[after][1], latest=11)
        for members in (3, 5):
            verdict = explored(upgrade(made(before, 10), new, members=members)).verdict
            kind, _, spared = expected.partition(" ")
            assert verdict.kind == kind, (leader, old, after)
            if spared:
                assert verdict.most_dead == (1 if spared == "N-1" else members - int(spared))


def test_the_text_of_the_proposal_is_milder_than_its_code_in_a_jar_that_mixes_the_rules() -> None:
    """Where the code dies of "not the leader's version", the text goes down and never up again: nobody dies."""
    code = rule_jar("smallest supported", "proposal", latest=11)
    text = rule_jar("smallest supported", "mirror", latest=11)
    assert explored(upgrade(made("fix9053", 10), code)).verdict.kind == "deaths"
    assert explored(upgrade(made("fix9053", 10), text)).verdict.kind == "stops half-way"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("fix9053", "fix9053", "fix9053"), "ok"),
        (("pre", "fix9053", "fix9053"), "ok"),
        (("proposal", "fix9053", "fix9053"), "ok"),
        (("proposal", "proposal", "proposal"), "deaths"),
        (("pre", "pre", "fix9053"), "deaths"),
        (("fix9053", "fix8649", "fix9053"), "deaths"),
    ],
)
def test_three_releases_at_once(path: tuple[str, ...], kind: str) -> None:
    jars = tuple(made(name, latest) for name, latest in zip(path, (9, 10, 11), strict=True))
    for members in (2, 3):
        verdict = explored(upgrade(*jars, members=members)).verdict
        assert verdict.kind == kind
        if kind == "ok":
            assert verdict.rebalances is not None
            assert verdict.rebalances[1] == 4 * members
    assert explored(upgrade(*jars, members=None)).verdict.kind == kind


def test_the_texts_mirror_stands_three_releases_that_kill_the_proposals_code() -> None:
    jars = tuple(made("mirror", latest) for latest in (9, 10, 11))
    assert explored(upgrade(*jars, members=3)).verdict.kind == "ok"
    code = tuple(made("proposal", latest) for latest in (9, 10, 11))
    (example,) = examples(explored(upgrade(*code, members=2)))
    assert example.bounced == (("A", "v10 proposal"), ("B", "v11 proposal"))


def test_a_lossy_group_on_the_shipped_fix_has_a_livelock_that_only_an_unfair_run_stays_in() -> None:
    fix = explored(pair("fix9053", "fix9053", 3, "lossy")).verdict
    assert fix.kind == "ok" and set(fix.loops) == {"unfair"} and fix.ends_upgraded
    assert explored(pair("mirror", "mirror", 3, "lossy")).verdict.loops == ()
    assert set(explored(pair("fix9053", "fix9053", None, "lossy")).verdict.loops) == {"unfair"}


def test_a_supervisor_that_restarts_the_old_image_keeps_a_group_of_the_leaders_version_busy_for_ever() -> None:
    verdict = explored(pair("pre", "pre", 3, "supervisor")).verdict
    assert verdict.most_dead == 2 and "loop" in verdict.loops and not verdict.ends_upgraded
    (example, *_) = examples(explored(pair("pre", "pre", 3, "supervisor")), "no loop")
    assert [action.name for action in example.path.actions][-1] in ("restart", "rebalance")
    assert "loop" in explored(pair("pre", "pre", 3, Modes(supervisor=True, relead="anyone"))).verdict.loops


@pytest.mark.parametrize("members", [2, 3, 5])
def test_a_full_rollback_at_the_worst_moment_costs_3n_plus_1_and_at_the_best_a_bounce_or_two(members: int) -> None:
    fix = explored(pair("fix9053", "fix9053", members, "rollback")).verdict
    mirror = explored(pair("mirror", "mirror", members, "rollback")).verdict
    assert fix.kind == mirror.kind == "ok"
    assert fix.rebalances == (3, 3 * members + 1)
    assert mirror.rebalances == (2, 3 * members + 1)
    assert explored(pair("pre", "fix9053", members, "rollback")).verdict.kind == "ok"


def test_a_crash_of_its_own_at_any_point_does_not_make_the_shipped_fix_unsafe() -> None:
    for members in (2, 3, 4):
        assert explored(pair("pre", "fix9053", members, Modes(crashes=2, interleaved=True))).verdict.kind == "ok"


def test_threads_of_one_instance_get_the_same_tasks_while_an_early_leader_probes() -> None:
    early = explored(upgrade("2.0.0", "2.3.1", modes=Modes(threads=2))).verdict
    assert early.two_owners and early.kind == "ok"
    assert not explored(upgrade("2.0.0", "2.3.1", modes=Modes(threads=1))).verdict.two_owners
    assert not explored(upgrade("2.3.1", "2.4.0", modes=Modes(threads=2))).verdict.two_owners


# Costs: closed forms.


@pytest.mark.parametrize("members", [2, 3, 4, 10, 30, 60])
def test_closed_forms_hold(members: int) -> None:
    first = formulas.first_new_leader(members=members)
    fix = explored(pair("fix9053", "fix9053", members))
    assert fix.rebalances == (2 * members, 2 * members) == (formulas.smallest_supported(members=members),) * 2
    assert fix.runs == formulas.runs(members=members)
    mirror = explored(pair("mirror", "mirror", members))
    assert mirror.rebalances == (members, 2 * members)
    assert mirror.runs == formulas.runs(members=members)
    spread: dict[tuple[int, int], Fraction] = {}
    for p, share in enumerate(first, 1):
        key = (formulas.mirror(members=members, first=p), 0)
        spread[key] = spread.get(key, Fraction(0)) + share
    assert mirror.distribution(chance=True) == spread
    assert fix.expected_rebalances is not None and mirror.expected_rebalances is not None
    assert fix.expected_rebalances - mirror.expected_rebalances == formulas.expected_saved(members=members)
    pre = explored(pair("pre", "pre", members))
    assert pre.survival == formulas.survival(members=members)
    assert pre.distribution(chance=True) == {
        (formulas.leaders_version(members=members, first=p), members - p): share for p, share in enumerate(first, 1)
    }
    ends = pre.endings()
    assert ends is not None
    assert sum(ends["upgraded", 0].values()) == formulas.runs_without_deaths(members=members)
    slow = explored(pair("pre", "pre", members, "stop and start"))
    assert slow.survival == formulas.survival_slow(members=members)


def test_stop_and_start_costs_3n_for_the_shipped_fix_and_down_to_2n_plus_2_for_the_proposal() -> None:
    for members in (2, 3, 6):
        assert explored(pair("fix9053", "fix9053", members, "stop and start")).rebalances == (3 * members, 3 * members)
        assert explored(pair("mirror", "mirror", members, "stop and start")).rebalances == (
            2 * members + 2,
            3 * members,
        )


def test_interleaved_bounces_cost_1_to_2n() -> None:
    for name in ("fix9053", "mirror"):
        assert explored(pair(name, name, 4, "interleaved")).rebalances == (1, 8)


def test_one_member_alone_needs_one_rebalance() -> None:
    assert explored(pair("fix9053", "fix9053", 1)).rebalances == (1, 1)


@pytest.mark.parametrize(
    ("name", "representation", "sizes"),
    [
        ("fix9053", "named", (2, 3, 6, 8)),
        ("fix9053", "counted", (2, 3, 10, 100)),
        ("fix9053", "presence", (2, 3, 10, 100)),
        ("mirror", "named", (2, 3, 6)),
        ("mirror", "counted", (2, 3, 10, 40)),
        ("mirror", "presence", (2, 3, 10, 100)),
    ],
)
def test_state_counts_match_their_closed_forms(name: str, representation: str, sizes: tuple[int, ...]) -> None:
    strategy = {"fix9053": "smallest supported", "mirror": "mirror"}[name]
    for members in sizes:
        found = len(explored(pair(name, name, members), representation=representation).graph)
        assert found == formulas.states(strategy, representation, members=members)


@pytest.mark.parametrize(
    ("name", "modes", "states"),
    [
        ("fix9053", "settled", 39),
        ("mirror", "settled", 65),
        ("fix9053", "interleaved", 59),
        ("mirror", "interleaved", 71),
        ("pre", "settled", 41),
        ("fix8649", "settled", 39),
    ],
)
def test_every_size_at_once_takes_few_states(name: str, modes: str, states: int) -> None:
    assert len(explored(pair(name, name, None, modes)).graph) == states


@pytest.mark.parametrize("members", [3, 5, 9])
def test_interleaved_state_counts_match_their_closed_forms(members: int) -> None:
    n = members
    counted = {name: len(explored(pair(name, name, n, "interleaved")).graph) for name in ("fix9053", "mirror")}
    assert counted == {"fix9053": (3 * n * n + 7 * n - 4) // 2, "mirror": (5 * n * n - n + 2) // 2}
    seen = {
        name: len(explored(pair(name, name, n, "interleaved"), representation="presence").graph)
        for name in ("fix9053", "mirror")
    }
    assert seen == {"fix9053": 9 * n - 7, "mirror": 10 * n - 10}


def test_the_leaders_version_has_13288_states_with_eight_members_by_name() -> None:
    assert len(explored(pair("pre", "pre", 8), reduction=False).graph) == 13288


# One model in several representations.

OTHER_MODES: Mapping[str, Modes] = {
    **MODES,
    "others": Modes(relead="others"),
    "lossy and interleaved": Modes(lossy=True, interleaved=True),
    "lossy, leader gives up": Modes(lossy=True, relead="anyone"),
    "supervisor, leader gives up": Modes(supervisor=True, relead="anyone"),
    "two crashes, slow restarts": Modes(crashes=2, restart="after"),
    "leader first": Modes(order="leader first"),
    "leader last": Modes(order="leader last"),
    "rollback and interleaved": Modes(rollback=True, interleaved=True),
}


def sample(count: int) -> list[tuple[str, str, str]]:
    """Some rule combinations, others every day; all of them where VERIFY_ALL is set."""
    every = list(product(LEADERS, MEMBERS, MEMBERS))
    return every if os.environ.get("VERIFY_ALL") else random.Random(os.environ.get("CI") and 8649).sample(every, count)


def sizes(mode: str) -> range:
    """2 to 6 members where VERIFY_ALL is set, which takes minutes; else what takes seconds."""
    most = 6 if os.environ.get("VERIFY_ALL") else 3 if "lossy" in mode or "crash" in mode or "rollback" in mode else 5
    return range(2, most + 1)


@pytest.mark.parametrize("mode", OTHER_MODES)
def test_counts_and_names_agree_on_verdict_costs_and_runs(mode: str) -> None:
    for leader, old, new in sample(5):
        jars = rule_jar(old, old, latest=10), rule_jar(leader, new, latest=11)
        for members in sizes(mode):
            one = upgrade(*jars, members=members, modes=OTHER_MODES[mode])
            counted, named = explored(one), explored(one, reduction=False)
            assert facts(counted) == facts(named), (leader, old, new, members)
            assert counted.most_dead == named.most_dead
            assert counted.runs == named.runs
            assert counted.distribution() == named.distribution()
            assert len(counted.graph) <= len(named.graph)
            assert facts(explored(one, representation="presence")) == facts(counted)


@pytest.mark.parametrize("mode", OTHER_MODES)
def test_every_size_at_once_is_the_union_of_small_sizes(mode: str) -> None:
    for leader, old, new in sample(4):
        jars = rule_jar(old, old, latest=10), rule_jar(leader, new, latest=11)
        whole = explored(upgrade(*jars, members=None, modes=OTHER_MODES[mode])).verdict
        sizes = [explored(upgrade(*jars, members=n, modes=OTHER_MODES[mode])).verdict for n in range(2, 7)]
        assert (whole.kind == "deaths") == any(one.kind == "deaths" for one in sizes), (leader, old, new)
        assert whole.silent == any(one.silent for one in sizes)
        assert set(whole.loops) == {kind for one in sizes for kind in one.loops}
        assert whole.ends_upgraded == all(one.ends_upgraded for one in sizes)


def test_successions_that_read_identity_cannot_be_counted() -> None:
    with pytest.raises(ImpossibleScenarioError, match="tells members of one class apart"):
        explored(pair("pre", "pre", 3, Modes(succession="lowest")), representation="counted")


@pytest.mark.parametrize(
    ("succession", "safe"),
    [("oldest", 4320), ("newest", 720), ("bounced", 720), ("lowest", 1320), ("next", 1956)],
)
def test_a_test_bed_whose_oldest_member_leads_never_sees_kafka_8649(succession: str, safe: int) -> None:
    """Six members, all orders and first leaders: the share of runs in which nobody dies."""
    found = explored(pair("pre", "pre", 6, Modes(succession=succession)))
    assert found.survival == Fraction(safe, 4320)


def test_join_order_as_places_agrees_with_a_walk_over_every_order() -> None:
    """The second method for `oldest` and `newest`: play each order by hand."""
    for succession in ("oldest", "newest"):
        members, safe = 4, 0
        for order in permutations(range(members)):
            for first in range(members):
                joined = list(range(members))
                leader, new = first, set()
                alive = True
                for i in order:
                    joined.remove(i)
                    joined.append(i)
                    new.add(i)
                    if i == leader:
                        leader = joined[0] if succession == "oldest" else joined[-1]
                    alive = alive and (leader not in new or len(new) == members)
                safe += alive
        assert explored(pair("pre", "pre", members, Modes(succession=succession))).survival == Fraction(
            safe, 24 * members
        )


# The broker's ranks.


def test_the_brokers_ranks_change_the_odds_a_little() -> None:
    uniform = explored(pair("pre", "pre", 3)).survival
    ranked = explored(pair("pre", "pre", 3, Modes(succession="broker"))).survival
    assert (uniform, ranked) == (Fraction(16, 27), Fraction(7, 12))


def test_the_brokers_ranks_agree_with_every_order_of_all_ranks_that_are_drawn() -> None:
    """The second method: three members and three newcomers have six ranks, so try all 720 orders of them."""
    members, safe, total = 3, 0, 0
    for ranks in permutations(range(2 * members)):
        for order in permutations(range(members)):
            for first in range(members):
                held = dict(zip(range(members), ranks, strict=False))
                leader, new, alive = first, set(), True
                for number, i in enumerate(order):
                    held[i] = ranks[members + number]
                    new.add(i)
                    if i == leader:
                        leader = min(held, key=lambda one: held[one])
                    alive = alive and (leader not in new or len(new) == members)
                safe, total = safe + alive, total + 1
    assert explored(pair("pre", "pre", members, Modes(succession="broker"))).survival == Fraction(safe, total)


def test_leader_first_then_leader_again_kills_as_often_as_the_ranks_say() -> None:
    modes = Modes(succession="broker", relead="by jar", order="leader first")
    exploration = explored(upgrade("2.0.0", "2.1.0", members=3, modes=modes))
    assert not exploration.verdict.silent
    found = exploration.distribution(chance=True)
    assert found == {(4, 2): Fraction(1, 3), (5, 1): Fraction(8, 15), (6, 0): Fraction(2, 15)}


def test_the_exact_odds_lie_within_the_sampling_error_of_the_simulator() -> None:
    draw = random.Random(8649)
    seeds, dead = 400, {0: 0, 1: 0, 2: 0}
    for seed in range(seeds):
        order = draw.sample("ABC", 3)
        trace = simulate(Scenario(old="2.0.0", new="2.1.0", leader=draw.choice("ABC"), order=order, seed=seed))
        dead[len({death.member for death in trace.outcome.deaths})] += 1
    exact = explored(upgrade("2.0.0", "2.1.0", modes=Modes(succession="broker", relead="by jar"))).endings(chance=True)
    assert exact is not None
    for (_, most), costs in exact.items():
        share = float(sum(costs.values()))
        assert abs(dead[most] / seeds - share) < 4 * (share * (1 - share) / seeds) ** 0.5


# Counterexamples.


def test_the_shortest_way_to_kafka_8649_is_one_bounce_and_two_rebalances() -> None:
    (example,) = examples(explored(upgrade("2.0.0", "2.1.0", modes=Modes(relead="by jar"))))
    assert [str(action) for action in example.path.actions] == [
        "start(leader=A)",
        "bounce(member=A, then leads=A)",
        "rebalance(then leads=B)",
        "rebalance(led by=A)",
    ]
    assert [holds["no member dies"] for holds in example.path.holding(example.properties)] == [True, True, True, False]
    assert "✗ no member dies" in example.text()
    trace = example.trace()
    assert trace.outcome.kind == "deaths" and {death.member for death in trace.outcome.deaths} == {"B", "C"}
    assert trace.picks["order"] == ["A"]
    assert any(message.data for step in trace for message in step.messages)


def test_several_counterexamples_tell_different_stories() -> None:
    found = examples(explored(pair("pre", "pre", 5)), most=4)
    assert len(found) == 4
    assert len({example.bounced for example in found}) == 4
    assert [len(example.path) for example in found] == sorted(len(example.path) for example in found)


def test_a_loop_is_shown_as_a_cycle_of_named_members() -> None:
    (example,) = examples(explored(pair("mirror", "pre", 2)), "no loop")
    assert example.path.loop == 1 and len(example.path.states) == 2
    assert example.trace().outcome.kind == "loop"
    assert "leads back to 1" in example.text()
    assert 's1 -->|"rebalance()"| s1' in example.mermaid()
    assert example.itf()["loop"] == 1
    assert "1 -> 1" in example.dot()


def test_a_counterexample_for_every_size_is_the_one_of_the_smallest_group_that_has_any() -> None:
    (example,) = examples(explored(pair("pre", "mirror", None)))
    assert example.members == ("A", "B", "C")


@pytest.mark.parametrize("mode", MODES)
def test_every_counterexample_becomes_a_trace_that_ends_as_the_path_does(mode: str) -> None:
    for old, new in (("pre", "pre"), ("fix9053", "fix8649"), ("pre", "mirror"), ("mirror", "pre"), ("proposal", "pre")):
        exploration = explored(pair(old, new, 3, mode))
        for name, kind in (("no member dies", "deaths"), ("no loop", "loop")):
            for example in examples(exploration, name, most=2):
                json.dumps(example.itf())
                for trace in (example.trace(), told(example)):
                    assert trace.outcome.kind == kind
                    assert {step.action for step in trace} <= set(ACTIONS)
                    for before, after in zip(trace.steps, trace.steps[1:], strict=False):
                        assert before.after == after.before


def test_a_told_trace_and_the_simulators_tell_the_same_deaths_and_generations() -> None:
    for example in examples(explored(pair("pre", "pre", 4)), most=3):
        real, written = example.trace(), told(example)
        assert real.picks.get("old"), "the simulator can walk this way"
        assert {d.member for d in real.outcome.deaths} == {d.member for d in written.outcome.deaths}
        assert {d.cause for d in real.outcome.deaths} == {d.cause for d in written.outcome.deaths}
        assert real.rebalances == written.rebalances == example.path.cost


@pytest.mark.parametrize(
    ("old", "new"),
    [("2.0.0", "2.1.0"), ("2.0.0", "2.3.1"), ("2.3.0", "2.4.0"), ("2.6.0", "3.9.0"), ("2.0.0", "c310bf37670")],
)
def test_whatever_the_simulator_can_end_with_the_explorer_has_found(old: str, new: str) -> None:
    known = {(ending.kind == "deaths", ending.dead) for ending in explore(old, new).endings}
    for leader, order in product("AB", ("A,B,C", "B,C,A")):
        found, complete = endings(Scenario(old=old, new=new, leader=leader, order=order))
        assert complete
        for ending in found:
            dead = {death.member for death in ending.outcome.deaths}
            assert (bool(dead), len(dead)) in known, (leader, order, ending.outcome.text)


def test_each_witness_ends_as_it_says_when_the_simulator_plays_it() -> None:
    for old, new in (("2.0.0", "2.1.0"), ("2.0.0", "2.3.1"), ("2.3.1", "2.3.1-rc1"), ("2.6.0", "2.7.0")):
        for ending in explore(old, new).endings:
            assert ending.witness is not None
            trace = simulate(ending.witness.scenario())
            assert trace.outcome.kind == ending.kind
            assert len({death.member for death in trace.outcome.deaths}) == ending.dead
            assert ending.rebalances is not None
            if not jar(new).leaves or ending.kind == "deaths":
                assert ending.rebalances[0] <= trace.rebalances <= ending.rebalances[1]


@pytest.mark.parametrize("succession", ["oldest", "newest", "broker"])
@pytest.mark.parametrize("relead", ["never", "by jar"])
def test_a_run_by_places_in_an_order_is_a_run_by_name_that_keeps_its_elections(succession: str, relead: str) -> None:
    exploration = explored(upgrade("2.0.0", "2.3.1", modes=Modes(succession=succession, relead=relead)))
    (example,) = examples(exploration, "can end upgraded")
    assert example.model.upgraded(example.path.states[-1]) and len(example.bounced) == 3
    if succession == "oldest" and relead == "never":
        joined = list(example.members)
        leader, elected = example.leader, list(example.elected)
        for member, _ in example.bounced:
            joined.remove(member)
            joined.append(member)
            if member == leader:
                leader = elected.pop(0)
                assert leader == joined[0]


def test_the_tables_of_the_plain_modes_walk_as_the_general_way_does() -> None:
    for old, new in product(RULES, RULES):
        for modes in (Modes(), Modes(interleaved=True)):
            one = pair(old, new, 4, modes)
            quick, slow = Plain(one), Named(one)
            assert [str(action) for action, _ in quick.initial()] == [str(action) for action, _ in slow.initial()]
            for state in discover(slow).states:
                assert {(str(a), a.weight, s) for a, s in quick.moves(state)} == {
                    (str(a), a.weight, s) for a, s in slow.moves(state)
                }


# Planted bugs.


def test_a_planted_member_that_never_moves_is_found_as_a_loop_one_bounce_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def stubborn(*, latest: int, used: int, received: int, common: int) -> Reaction:
        return Reaction(used, received < used, None, "same version")

    rule = MemberRule("smallest supported", "planted", stubborn, "nowhere")
    monkeypatch.setattr("protocol.upgrade.classes.member_rule", {**MEMBER_RULES, rule.name: rule}.__getitem__)
    exploration = explored(pair("fix9053", "fix9053", 3))
    assert exploration.verdict.kind == "loop"
    (example, *_) = examples(exploration, "no loop")
    assert len(example.path.states) == 2 and example.path.loop == 1


def test_a_planted_leader_that_forgets_the_last_member_is_found_with_the_shortest_way_to_a_death(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgetful(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
        kept = [one for one in said if one[1] == max(supported for _, supported in said)]
        honest = LEADER_RULES["smallest supported"].answer
        return Verdict((honest(kept, latest=latest).replies[0],) * len(said), False, None, latest, latest, -1)

    rule = LeaderRule("smallest supported", "planted", forgetful, "nowhere")
    monkeypatch.setattr("protocol.upgrade.classes.leader_rule", {**LEADER_RULES, rule.name: rule}.__getitem__)
    exploration = explored(pair("fix9053", "fix9053", 4))
    assert exploration.verdict.kind == "deaths"
    (example,) = examples(exploration)
    assert len(example.path) == 2, "one bounce, one rebalance"


# Answers for the command line.


def test_explore_tells_every_ending_with_a_count_a_chance_and_a_witness() -> None:
    report = explore("2.0.0", "2.1.0", members=3)
    assert not report.ok
    data = json.loads(json.dumps(report.to_json()))
    assert data["schema"] == 1 and data["from"] == "2.0.0" and data["to"] == "2.1.0"
    assert data["verdict"] == "deaths" and data["rebalances"] == {"min": 4, "max": 6}
    assert [(one["kind"], one["dead"]) for one in data["outcomes"]] == [("upgraded", 0), ("deaths", 1), ("deaths", 2)]
    assert sum(one["count"] for one in data["outcomes"]) == data["runs"]
    assert sum(one["probability"] for one in data["outcomes"]) == pytest.approx(1)
    for one in data["outcomes"]:
        assert one["witness"]["scenario"]["old"] == "2.0.0" and one["witness"]["python"].startswith("Scenario(")
    assert data["survival"] == pytest.approx(16 / 27)
    assert "members can die" in report.text() and "16/27" in report.text()


def test_explore_of_every_size_counts_nothing_and_says_so() -> None:
    report = explore("2.0.0", "2.3.1", members=None)
    assert report.ok and report.runs is None
    assert report.to_json()["members"] is None
    assert "any number of members: safe" in report.text()


@pytest.mark.parametrize("members", [20, 150, 1000])
def test_explore_of_a_large_group_merges_the_numbers_of_dead_and_stays_small(members: int) -> None:
    report = explore("2.0.0", "2.1.0", members=members)
    assert [(ending.kind, ending.dead) for ending in report.endings] == [("upgraded", 0), ("deaths", members - 1)]
    assert len(json.dumps(report.to_json())) < 200_000


def test_a_loop_is_an_ending_with_a_count() -> None:
    report = explore(made("mirror", 10), made("pre", 11), members=2)
    loop = next(ending for ending in report.endings if ending.kind == "loop")
    assert loop.runs and loop.witness is not None and loop.witness.path.loop is not None


def test_a_limit_of_states_returns_a_partial_answer_that_says_so() -> None:
    report = explore("2.0.0", "2.3.1", members=6, reduction=False, limit=100)
    assert report.verdict.kind == "unknown" and report.verdict.stopped == "limit"
    assert not report.to_json()["complete"] and report.to_json()["rebalances"] is None
    assert any("the rest is not known" in bound for bound in report.verdict.bounds)
    assert explore("2.0.0", "2.1.0", members=6, reduction=False, limit=400).verdict.kind == "deaths"


def test_every_verdict_states_its_bounds() -> None:
    bounds = " / ".join(explored(pair("pre", "pre", 3, Modes(lossy=True, crashes=1, supervisor=True))).verdict.bounds)
    for words in ("3 members", "every bounce order", "miss", "crash", "supervisor", "static members"):
        assert words in bounds


@pytest.mark.parametrize(
    ("picks", "error"),
    [
        ({"path": ("2.0.0", "2.9.9")}, UnknownReleaseError),
        ({"path": ("2.0.0",)}, ImpossibleScenarioError),
        ({"path": ("2.0.0", "2.1.0"), "members": 0}, ImpossibleScenarioError),
        ({"path": ("2.0.0", "2.1.0"), "modes": "hurried"}, ImpossibleScenarioError),
        ({"path": ("2.0.0", "2.1.0"), "members": 121, "reduction": False}, ImpossibleScenarioError),
    ],
)
def test_impossible_questions_are_refused(picks: dict[str, object], error: type[Exception]) -> None:
    path = picks.pop("path")
    with pytest.raises(error):
        explore(*path, **picks)  # type: ignore[misc, arg-type]


def test_chances_are_refused_where_nobody_knows_them() -> None:
    with pytest.raises(ImpossibleScenarioError, match="nobody knows how often"):
        _ = explored(pair("pre", "pre", 3, "rollback")).survival


# Many at once.


def test_every_ordered_pair_of_releases_is_judged_and_the_unsafe_ones_are_explained() -> None:
    found = release_pairs()
    kinds = {cell.key: cell.verdict.kind for cell in found}
    assert kinds["2.0.0", "2.1.0"] == kinds["2.0.1", "2.3.0"] == "deaths"
    assert {kinds["2.0.0", new] for new in ("2.2.2", "2.3.1", "2.4.0", "3.9.0")} == {"ok"}
    assert {kinds["2.3.0", new] for new in ("2.3.1", "2.4.0", "3.9.0")} == {"ok"}
    assert kinds["2.2.2", "2.3.0"] == "ok", "both speak v4"
    for cell in found:
        assert bool(why(*cell.key, cell.verdict)) == (cell.verdict.kind != "ok")
    everywhere = {cell.key: cell.verdict.kind for cell in release_pairs(members=None)}
    assert {key for key, kind in everywhere.items() if kind == "ok"} <= {
        key for key, kind in kinds.items() if kind == "ok"
    }


def test_releases_that_behave_alike_are_explored_once() -> None:
    groups = behaviours()
    assert "2.0.1" in groups["2.0.0"]
    assert sum(map(len, groups.values())) == len({name for group in groups.values() for name in group})
    told_of: list[tuple[int, int]] = []
    found = release_pairs(["2.0.0", "2.0.1", "2.1.0"], progress=lambda done, asked: told_of.append((done, asked)))
    assert told_of[-1] == (6, 6) and len(told_of) == 3 and len(found) == 6


SMALL = {name: MODES[name] for name in ("settled", "leader gives up", "lossy")}


def test_processes_and_threads_give_the_same_answers() -> None:
    alone = matrix(modes=SMALL, sizes=(2, 3))
    with ThreadPoolExecutor(2) as threads:
        assert matrix(modes=SMALL, sizes=(2, 3), executor=threads) == alone
    with ProcessPoolExecutor(2) as processes:
        assert matrix(modes=SMALL, sizes=(2, 3), executor=processes) == alone


def test_a_cluster_gives_the_same_answers() -> None:
    distributed = pytest.importorskip("distributed")
    alone = release_pairs(["2.0.0", "2.1.0", "2.3.1", "3.9.0"])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        assert release_pairs(["2.0.0", "2.1.0", "2.3.1", "3.9.0"], executor=executor) == alone


def test_ctrl_c_keeps_the_cells_that_are_done() -> None:
    def stop(done: int, asked: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    found = strategies_matrix(modes=SMALL, progress=stop)
    assert found.stopped == "interrupted" and 10 <= len(found) < found.asked


def test_the_matrix_of_strategies_says_who_may_follow_whom() -> None:
    found = strategies_matrix(modes={"settled": MODES["settled"]})
    assert json.loads(json.dumps(found.to_json()))["complete"]
    for cell in found:
        witness = cell.witness()
        assert (witness is None) == cell.verdict.ok
    safe = {cell.key[:2] for cell in found if cell.verdict.ok}
    shipped = "smallest supported"
    names = {cell.key[0] for cell in found}
    assert safe == {(old, shipped) for old in names} | {("mirror", "mirror")}
    assert strategy_jar("mirror", latest=11).leader_rule == "mirror"
