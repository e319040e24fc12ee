"""The rules on bare integers: what they answer, how they react, and what they guarantee."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.strategies import (
    LEADER_RULES,
    MEMBER_RULES,
    NOTES,
    REFUSALS,
    STRATEGIES,
    Reaction,
    Refusal,
    Verdict,
    leader_rule,
)
from protocol.versions import UNKNOWN


def answer(rule: str, *said: tuple[int, int], latest: int) -> Verdict:
    return LEADER_RULES[rule].answer(said, latest=latest)


def react(rule: str, *, latest: int, used: int, received: int, common: int) -> Reaction:
    return MEMBER_RULES[rule].react(latest=latest, used=used, received=received, common=common)


Group = list[tuple[int, int]]
"""(latest supported version, used version) of each member."""


def rebalance(leading: str, following: str, group: Group, leader: int) -> list[Reaction]:
    """One rebalance in which everybody takes part."""
    verdict = answer(leading, *[(used, latest) for latest, used in group], latest=group[leader][0])
    assert verdict.refusal is None
    return [
        react(following, latest=latest, used=used, received=version, common=second)
        for (latest, used), (version, second) in zip(group, verdict.replies, strict=True)
    ]


# Leaders before probing.


def test_before_the_backport_a_leader_answers_everybody_in_its_own_version() -> None:
    assert answer("own version", (1, UNKNOWN), (2, UNKNOWN), latest=2).replies == ((2, UNKNOWN), (2, UNKNOWN))


def test_with_the_backport_a_leader_answers_in_the_smallest_used_version() -> None:
    assert answer("smallest used", (1, UNKNOWN), (2, UNKNOWN), latest=2).replies == ((1, UNKNOWN), (1, UNKNOWN))


@pytest.mark.parametrize("rule", ["own version", "smallest used"])
def test_a_leader_from_before_probing_cannot_read_a_newer_subscription(rule: str) -> None:
    verdict = answer(rule, (2, UNKNOWN), (3, 3), latest=2)
    assert verdict.refusal == Refusal("cannot read the subscription", 3, 2)
    assert (verdict.replies, verdict.probing) == ((), False)


# Leaders that probe.


@pytest.mark.parametrize(
    ("rule", "reply", "future"),
    [
        ("leader's version", (3, 4), (4, 4)),
        ("smallest supported, not yet encoded", (3, 4), (3, 4)),
        ("smallest supported", (3, 3), (3, 3)),
        ("smallest supported of all", (3, 3), (3, 3)),
        ("mirror", (3, 4), (4, 4)),
        ("proposal", (3, 4), (4, 4)),
    ],
)
def test_a_leader_answers_a_future_subscription_with_what_its_rule_says(
    rule: str, reply: tuple[int, int], future: tuple[int, int]
) -> None:
    verdict = answer(rule, (3, 3), (5, 5), latest=4)
    assert (verdict.replies, verdict.probing, verdict.future_version) == ((reply, future), True, 5)


PROBING = [name for name in LEADER_RULES if name not in ("own version", "smallest used")]


@pytest.mark.parametrize("rule", PROBING)
@pytest.mark.parametrize("old", [1, 2])
def test_a_future_member_beside_one_from_before_probing_is_refused(rule: str, old: int) -> None:
    assert answer(rule, (old, UNKNOWN), (5, 5), latest=4).refusal == Refusal("too old to probe", 5, old)


@pytest.mark.parametrize("rule", PROBING)
def test_the_last_future_version_is_the_one_that_is_named(rule: str) -> None:
    assert answer(rule, (5, 5), (6, 6), (5, 5), latest=4).future_version == 5


@pytest.mark.parametrize("rule", [name for name in PROBING if name not in ("mirror", "proposal")])
def test_beside_a_v2_member_everybody_gets_v2_which_has_no_second_int(rule: str) -> None:
    verdict = answer(rule, (2, UNKNOWN), (4, 4), latest=4)
    assert verdict.replies == ((2, UNKNOWN), (2, UNKNOWN))


def test_a_member_that_reports_no_version_pulls_the_smallest_supported_one_to_minus_one() -> None:
    assert answer("smallest supported", (2, UNKNOWN), (4, 4), latest=4).min_supported == UNKNOWN


def test_only_the_later_rule_counts_what_a_future_member_supports() -> None:
    # Malformed on purpose: a member that uses 30 and supports 2.
    assert answer("smallest supported", (3, 3), (30, 2), latest=5).replies == ((3, 3), (3, 3))
    assert answer("smallest supported of all", (3, 3), (30, 2), latest=5).replies == ((3, 2), (3, 2))


@pytest.mark.parametrize("rule", LEADER_RULES)
@given(
    said=st.lists(st.tuples(st.integers(1, 12), st.integers(-1, 12)), min_size=1, max_size=6), latest=st.integers(3, 11)
)
def test_everybody_is_answered_in_a_version_the_leader_can_write_or_nobody_is(
    rule: str, said: list[tuple[int, int]], latest: int
) -> None:
    verdict = LEADER_RULES[rule].answer(said, latest=latest)
    assert len(verdict.replies) == (len(said) if verdict.refusal is None else 0)
    for version, second in verdict.replies:
        assert 1 <= version <= latest
        assert second <= latest
        if version < 3:
            assert second == UNKNOWN


# Members, one rule after the other.


def test_a_member_from_before_probing_never_changes_its_version() -> None:
    assert react("no check", latest=2, used=2, received=1, common=UNKNOWN) == (2, False, None, "no check")


@pytest.mark.parametrize("rule", MEMBER_RULES)
def test_no_member_reads_a_version_that_its_jar_does_not_know(rule: str) -> None:
    assert react(rule, latest=4, used=4, received=5, common=5) == (4, False, "cannot read the assignment", "")


@pytest.mark.parametrize("rule", [name for name in MEMBER_RULES if name != "no check"])
@pytest.mark.parametrize("received", [1, 2])
def test_an_answer_in_v1_or_v2_never_lowers_what_a_member_sends(rule: str, received: int) -> None:
    assert react(rule, latest=4, used=4, received=received, common=UNKNOWN) == (4, False, None, "before probing")


def test_a_trusting_member_takes_a_version_that_it_cannot_speak_and_does_not_even_rejoin() -> None:
    assert react("leader's version", latest=3, used=3, received=3, common=4) == (4, False, None, "upgrade in silence")


def test_a_checking_member_dies_of_that_version_at_once() -> None:
    assert react("smallest supported", latest=3, used=3, received=3, common=4) == (3, False, "cannot upgrade", "")


@pytest.mark.parametrize("rule", ["leader's version", "smallest supported"])
def test_a_shipped_member_gives_up_when_answered_above_what_it_sent(rule: str) -> None:
    assert react(rule, latest=4, used=3, received=4, common=4) == (3, False, "higher than sent", "")


def test_a_checking_member_goes_up_or_down_to_what_all_support() -> None:
    assert react("smallest supported", latest=5, used=3, received=3, common=5) == (5, True, None, "upgrade to common")
    assert react("smallest supported", latest=5, used=5, received=3, common=4) == (4, True, None, "downgrade to common")


def test_the_last_one_bounced_rejoins_without_a_change() -> None:
    assert react("smallest supported", latest=4, used=4, received=3, common=4) == (4, True, None, "downgrade to common")
    assert react("leader's version", latest=4, used=4, received=3, common=4) == (4, True, None, "set to leader's")


# The proposal exists twice: as its text says (mirror), and as its code does (proposal).


def test_the_text_waits_for_the_latest_version_where_the_code_takes_what_all_support() -> None:
    three_versions = ((3, 4), (3, 5))
    assert answer("mirror", *three_versions, latest=5).replies == ((3, 5), (3, 5))
    assert answer("proposal", *three_versions, latest=5).replies == ((4, 5), (4, 5))


@pytest.mark.parametrize("rule", ["mirror", "proposal"])
def test_both_send_the_latest_once_all_support_it_and_some_still_use_an_older_one(rule: str) -> None:
    assert answer(rule, (3, 4), (3, 4), (4, 4), latest=4).replies == ((4, 4),) * 3


@pytest.mark.parametrize("rule", ["mirror", "proposal"])
def test_both_answer_each_member_in_its_own_version_as_long_as_the_roll_goes_on(rule: str) -> None:
    assert answer(rule, (3, 3), (3, 4), (4, 4), latest=4).replies == ((3, 4), (3, 4), (4, 4))


@pytest.mark.parametrize("rule", ["mirror", "proposal"])
def test_both_hold_the_latest_back_while_somebody_is_ahead_of_the_leader(rule: str) -> None:
    assert answer(rule, (3, 4), (5, 5), latest=4).replies == ((3, 4), (4, 4))


@pytest.mark.parametrize("rule", ["mirror", "proposal"])
def test_both_put_the_leaders_own_latest_into_the_second_int(rule: str) -> None:
    replies = answer(rule, (3, 3), (4, 4), latest=4).replies
    assert [second for _, second in replies] == [4, 4]


def test_the_text_goes_down_to_what_it_received_where_the_code_dies_unless_it_is_the_leaders_latest() -> None:
    case = {"latest": 5, "used": 5, "received": 4}
    assert react("mirror", **case, common=5) == (4, True, None, "downgrade to received")
    assert react("proposal", **case, common=5) == (5, False, "not the leader's version", "")
    assert react("mirror", **case, common=4) == react("proposal", **case, common=4)


def test_the_text_goes_up_to_what_it_received_where_the_code_goes_up_to_the_leaders_latest() -> None:
    case = {"latest": 4, "used": 3, "received": 4}
    assert react("mirror", **case, common=5) == (4, True, None, "upgrade to received")
    assert react("proposal", **case, common=5) == (5, True, None, "three versions")


def test_the_code_warns_of_a_third_version_and_the_text_does_not() -> None:
    for common, note in ((4, "upgrade to leader's"), (5, "three versions")):
        assert react("proposal", latest=5, used=3, received=4, common=common).note == note
        assert react("mirror", latest=5, used=3, received=4, common=common).note == "upgrade to received"


def test_with_three_versions_the_code_kills_members_that_the_text_keeps() -> None:
    # Supports 4, 5 and 5; the last one came back from an older release and still uses 3.
    group = [(4, 4), (5, 5), (5, 3)]
    assert [one.refusal for one in rebalance("proposal", "proposal", group, 1)] == [
        None,
        "not the leader's version",
        None,
    ]
    assert rebalance("proposal", "proposal", group, 1)[2].used == 5
    assert [one.refusal for one in rebalance("mirror", "mirror", group, 1)] == [None, None, None]


TWO_VERSIONS = st.lists(st.sampled_from([(3, 3), (4, 3), (4, 4)]), min_size=1, max_size=6)


@given(group=TWO_VERSIONS, data=st.data())
def test_with_two_versions_text_and_code_are_one_rule(group: Group, data: st.DataObject) -> None:
    leader = data.draw(st.integers(0, len(group) - 1))
    said = [(used, latest) for latest, used in group]
    latest = group[leader][0]
    assert answer("mirror", *said, latest=latest).replies == answer("proposal", *said, latest=latest).replies
    text, code = rebalance("mirror", "mirror", group, leader), rebalance("proposal", "proposal", group, leader)
    assert [(one.used, one.rejoin, one.refusal) for one in text] == [
        (one.used, one.rejoin, one.refusal) for one in code
    ]


# What shipped, for any number of versions and any leader.

ANY_GROUP = st.lists(
    st.integers(3, 11).flatmap(lambda latest: st.tuples(st.just(latest), st.integers(3, latest))),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("rule", ["smallest supported", "smallest supported of all"])
@given(group=ANY_GROUP, data=st.data())
def test_with_what_shipped_one_rebalance_brings_all_to_one_version_and_the_next_moves_nobody(
    rule: str, group: Group, data: st.DataObject
) -> None:
    leaders = st.integers(0, len(group) - 1)
    first = rebalance(rule, "smallest supported", group, data.draw(leaders, label="leader"))
    common = min(latest for latest, _ in group)
    assert all(one.refusal is None for one in first)
    assert {one.used for one in first} == {common}

    group = [(latest, one.used) for (latest, _), one in zip(group, first, strict=True)]
    second = rebalance(rule, "smallest supported", group, data.draw(leaders, label="next leader"))
    assert all(one == Reaction(common, False, None, "same version") for one in second)


@given(group=ANY_GROUP, data=st.data())
def test_for_real_members_it_does_not_matter_whether_future_ones_count(group: Group, data: st.DataObject) -> None:
    latest = group[data.draw(st.integers(0, len(group) - 1))][0]
    said = [(used, supported) for supported, used in group]
    assert answer("smallest supported", *said, latest=latest) == answer(
        "smallest supported of all", *said, latest=latest
    )


def test_without_the_encoder_the_fix_kills_those_it_was_meant_to_protect() -> None:
    rule = STRATEGIES["smallest supported, not yet encoded"]
    reactions = rebalance(rule.leader_rule, rule.member_rule, [(4, 4), (3, 3), (3, 3)], 0)
    assert [one.refusal for one in reactions] == [None, "cannot upgrade", "cannot upgrade"]


def test_the_leaders_version_poisons_every_old_member_at_once() -> None:
    rule = STRATEGIES["leader's version"]
    reactions = rebalance(rule.leader_rule, rule.member_rule, [(4, 4), (3, 3), (3, 3)], 0)
    assert [one.used for one in reactions] == [4, 4, 4]
    assert [one.rejoin for one in reactions] == [True, False, False]


# The tables.


def test_a_strategy_is_made_of_rules_that_exist() -> None:
    for strategy in STRATEGIES.values():
        assert strategy.leader_rule in LEADER_RULES
        assert strategy.member_rule in MEMBER_RULES


@pytest.mark.parametrize("table", [LEADER_RULES, MEMBER_RULES, STRATEGIES], ids=["leaders", "members", "strategies"])
def test_everything_has_its_name_a_title_and_a_source(table: dict[str, object]) -> None:
    for name, row in table.items():
        assert row.name == name
        assert row.title
        assert row.source


def test_every_reaction_and_every_refusal_has_a_sentence() -> None:
    notes, refusals = set(), set()
    for rule, latest, used, received, common in product(
        MEMBER_RULES, (2, 4), (2, 3, 4), (1, 2, 3, 4, 5), (-1, 3, 4, 5)
    ):
        reaction = react(rule, latest=latest, used=used, received=received, common=common)
        assert bool(reaction.note) is (reaction.refusal is None)
        notes.add(reaction.note)
        refusals.add(reaction.refusal)
    for rule in LEADER_RULES:
        for old in ((2, -1), (3, 3)):
            verdict = answer(rule, old, (5, 5), latest=4)
            refusals.add(verdict.refusal.key if verdict.refusal else None)
    impossible = leader_rule("otherwise -> 0, 0").answer([(3, 3)], latest=3)
    refusals.add(impossible.refusal.key if impossible.refusal else None)
    assert notes - {""} == set(NOTES)
    assert refusals - {None} == set(REFUSALS)
    assert all(text.endswith(".") for text in (*NOTES.values(), *REFUSALS.values()))
