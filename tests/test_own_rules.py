"""Rules of a reader's own, from their text to the simulator, the explorer and a link."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import ImpossibleScenarioError
from protocol.machine import ACTIONS
from protocol.releases import Binary, teaching
from protocol.scenario import Scenario, simulate
from protocol.strategies import (
    LEADER_RULES,
    LEADERS_AS_ROWS,
    MEMBER_RULES,
    MEMBERS_AS_ROWS,
    leader_rule,
    member_rule,
    own_leader_rule,
    own_member_rule,
)
from protocol.strategies.language import LONGEST, MOST_ROWS
from protocol.strategies.own import LEADER, MEMBER
from protocol.trace import Trace, View
from protocol.upgrade import Modes, explored, upgrade
from protocol.versions import UNKNOWN

SOUND = ("otherwise -> smallest_used, smallest_supported", "second != used -> second, rejoin; otherwise -> used")


def jars(leader: str = SOUND[0], member: str = SOUND[1]) -> tuple[Binary, Binary]:
    made = [teaching(f"v{n} mine", latest=n, leader_rule=leader, member_rule=member) for n in (10, 11)]
    return made[0], made[1]


# The language is rich enough: what was written in Java can be written as rows.

SAID = st.integers(1, 12).flatmap(
    lambda used: st.tuples(st.just(used), st.integers(used, 12) if used >= 3 else st.just(UNKNOWN))
)


def test_every_released_rule_is_written_as_rows_of_a_few_words() -> None:
    assert LEADERS_AS_ROWS.keys() == LEADER_RULES.keys() and MEMBERS_AS_ROWS.keys() == MEMBER_RULES.keys()
    for rows in (*LEADERS_AS_ROWS.values(), *MEMBERS_AS_ROWS.values()):
        assert rows.count(";") < 4 and len(rows) < 160


@pytest.mark.parametrize("name", LEADER_RULES)
@given(said=st.lists(SAID, min_size=1, max_size=6), latest=st.integers(1, 11))
def test_a_leaders_rule_as_rows_answers_as_its_function_does(
    name: str, said: list[tuple[int, int]], latest: int
) -> None:
    rows = leader_rule(LEADERS_AS_ROWS[name]).answer(said, latest=latest)
    function = LEADER_RULES[name].answer(said, latest=latest)
    assert rows.replies == function.replies
    assert (rows.refusal is None) == (function.refusal is None)
    if function.refusal is None or function.refusal.key == "too old to probe":
        assert (rows.probing, rows.future_version) == (function.probing, function.future_version)
        assert rows.refusal == function.refusal


@pytest.mark.parametrize("name", MEMBER_RULES)
@given(latest=st.integers(1, 11), used=st.integers(1, 11), received=st.integers(1, 12), common=st.integers(-1, 12))
def test_a_members_rule_as_rows_reacts_as_its_function_does(
    name: str, latest: int, used: int, received: int, common: int
) -> None:
    heard = {"latest": latest, "used": min(used, latest), "received": received}
    heard["common"] = common if received >= 3 else UNKNOWN
    rows, function = member_rule(MEMBERS_AS_ROWS[name]).react(**heard), MEMBER_RULES[name].react(**heard)
    assert rows[:2] == function[:2] and (rows.refusal is None) == (function.refusal is None)


# The frame around the rows.


def test_a_group_that_is_too_old_to_probe_is_refused_whatever_the_rows_say() -> None:
    verdict = leader_rule("otherwise -> latest, latest").answer([(2, UNKNOWN), (11, 11)], latest=10)
    assert verdict.refusal is not None and verdict.refusal.key == "too old to probe"


def test_below_v3_an_answer_has_no_second_number_whatever_the_rows_say() -> None:
    verdict = leader_rule("otherwise -> smallest_used, latest").answer([(2, UNKNOWN), (4, 4)], latest=4)
    assert verdict.replies == ((2, UNKNOWN),) * 2


def test_a_member_cannot_read_what_is_above_its_jar_whatever_the_rows_say() -> None:
    reaction = member_rule("otherwise -> used").react(latest=4, used=4, received=5, common=5)
    assert reaction.refusal == "cannot read the assignment"


def test_an_answer_in_v1_or_v2_changes_nothing_whatever_the_rows_say() -> None:
    reaction = member_rule("otherwise -> 1, rejoin").react(latest=4, used=4, received=2, common=UNKNOWN)
    assert reaction == (4, False, None, "before probing")


@pytest.mark.parametrize("version", ["0", "99", "-5", "latest + 1", "used - used", "90 + 90"])
def test_a_leader_that_is_to_write_an_impossible_version_dies_and_nobody_is_answered(version: str) -> None:
    verdict = leader_rule(f"otherwise -> {version}, latest").answer([(10, 10), (10, 10)], latest=10)
    assert not verdict.replies
    assert verdict.refusal is not None and verdict.refusal.key == "cannot write the assignment"
    trace = simulate(Scenario(old=jars(f"otherwise -> {version}, latest")[0], new="2.4.0"))
    assert trace.outcome.deaths[0].failure.text.startswith("version must be between 1 and 10; was: ")
    assert {death.how for death in trace.outcome.deaths} == {"leading"}


@pytest.mark.parametrize("version", ["0", "99", "-5", "latest + 1"])
def test_a_member_that_is_to_speak_an_impossible_version_dies_at_its_next_subscription(version: str) -> None:
    old, new = jars(member=f"received < used -> {version}, rejoin; otherwise -> used")
    trace = simulate(Scenario(old=old, new=new, leader="B"))
    death = trace.outcome.deaths[0]
    assert (death.member, death.how) == ("A", "poison") and death.failure.text.startswith("version must be between 1 ")
    assert any(step.tag == "poison" for step in trace)


def test_a_version_that_kills_later_is_told_where_nothing_comes_later() -> None:
    old, new = jars(member="received == 11 -> 0; second != used -> second, rejoin; otherwise -> used")
    trace = simulate(Scenario(old=old, new=new, leader="A", members=2, order="A,B"))
    assert "told to speak v0, which no such jar can" in trace.outcome.text
    assert explored(upgrade(old, new, members=2)).verdict.silent


# What is refused, and how.

REFUSED = [
    ("mirrorr", "'mirrorr' is not known (allowed: own version"),
    ("", "'' is not known"),
    ("used > 3 -> 3, 3", "row 1: `otherwise` is for the last row, and the last row does not say it"),
    ("otherwise -> 3, 3; otherwise -> 4, 4", "row 1: `otherwise` is for the last row, and it is not the last row"),
    ("used -> 3, 3; otherwise -> 4, 4", "row 1: “used” is not a condition"),
    ("smallest < 3 -> die; otherwise -> 4, 4", "row 1: “smallest” is not known (allowed: used, supported, latest"),
    ("otherwise -> used", "row 1: “used” is no answer (allowed: version, second number; or die)"),
    ("otherwise -> used, used, used", "“used, used, used” is no answer"),
    ("otherwise -> used > 3, 3", "“used > 3” is not a number"),
    ("otherwise -> used * 2, 3", "'*' means nothing here"),
    ("otherwise -> 100, 3", "“100” is not a number"),
    ("otherwise -> 5x, 3", "“5x, 3” glues a number to something"),
    ("otherwise -> used, (", "“used, (” cannot be read"),
    ("used > 3 otherwise 4", "'used > 3 otherwise 4' is not known"),
    ("used > 3 -> 3 -> 3; otherwise -> 1, 1", "does not have exactly one arrow"),
    ("otherwise -> min(used), 3", "“min(used)” is not a number"),
    ("otherwise -> abs(used), 3", "“abs(used)” is not a number"),
    ("otherwise -> __import__(os), 3", "is not a number"),
    ("otherwise -> (lambda), 3", "cannot be read"),
    ("otherwise -> used.real, 3", "'.' means nothing here"),
    ("<img src=x onerror=alert(1)> -> 1, 1; otherwise -> 1, 1", "row 1: “<img src=x onerror=alert(1)>” cannot be read"),
    ("used <b> used -> 1, 1; otherwise -> 1, 1", "“b” is not known"),
    ("otherwise -> " + "-" * 400 + "1, 1", "it is nested too deep"),
    ("otherwise -> " + "(" * 400 + "1" + ")" * 400 + ", 1", "cannot be read"),
    ("otherwise -> " + "1 + " * 150 + "1, 1", "it is nested too deep"),
    ("used > 1 -> 1, 1;" * MOST_ROWS + "otherwise -> 1, 1", f"it has {MOST_ROWS + 1} rows (allowed: 1 to {MOST_ROWS})"),
    ("# nothing ->", "it has 0 rows"),
    ("otherwise -> max(" + ", ".join(["smallest_supported_of_all"] * 30) + "), 1", f"(allowed: at most {LONGEST})"),
    ("->" * 10000, "it has 20000 characters"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_no_rule_is_refused_in_one_sentence_that_says_where_and_what_is_allowed(text: str, reason: str) -> None:
    with pytest.raises(ImpossibleScenarioError) as caught:
        teaching("mine", latest=11, leader_rule=text, member_rule="mirror")
    assert reason in str(caught.value) and str(caught.value).startswith("leader rule")
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60) | st.text("adefiunosrtlh_0123456789()+-<>=!, ;\n", max_size=120))
def test_whatever_the_text_it_is_a_rule_or_a_sentence(text: str) -> None:
    for rows in (text, f"otherwise -> {text}", f"{text} -> 3, 3; otherwise -> used, latest"):
        try:
            said = own_leader_rule(rows)
        except ImpossibleScenarioError as error:
            assert str(error).startswith("leader rule")
        else:
            assert own_leader_rule(said) == said


def test_rows_may_stand_below_one_another_with_remarks_and_one_spelling_is_kept() -> None:
    text = "  used>latest -> latest,latest   # ahead of the leader\n\n otherwise → smallest_used , latest"
    assert own_leader_rule(text) == "used > latest -> latest, latest; otherwise -> smallest_used, latest"
    assert own_leader_rule(text) == own_leader_rule(text.splitlines())
    assert own_leader_rule("mirror") == "mirror" and own_member_rule("no check") == "no check"


# Rules that nobody thought of.

NAMES = {LEADER: [name for name in LEADER.numbers if name != "future"], MEMBER: list(MEMBER.numbers)}


def numbers(names: list[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(names) | st.sampled_from(names) | st.integers(-1, 13).map(str),
        lambda inner: (
            st.builds("{} + {}".format, inner, st.integers(0, 2))
            | st.builds("{} - {}".format, inner, st.integers(0, 2))
            | st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner)
        ),
        max_leaves=3,
    )


def conditions(names: list[str], yes: list[str]) -> st.SearchStrategy[str]:
    compared = st.builds(
        "{} {} {}".format, numbers(names), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers(names)
    )
    plain = st.sampled_from(yes) | compared if yes else compared
    return plain | st.builds("not {}".format, plain) | st.builds("{} and {}".format, plain, plain)


def rules(when: st.SearchStrategy[str], outcome: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    rows = st.lists(st.builds("{} -> {}".format, when, outcome), max_size=3)
    return st.builds(lambda some, last: "; ".join([*some, f"otherwise -> {last}"]), rows, outcome)


LEADERS = rules(
    conditions(NAMES[LEADER], ["future"]),
    st.builds("{}, {}".format, numbers(NAMES[LEADER]), numbers(NAMES[LEADER])) | st.just("die"),
)
MEMBERS = rules(
    conditions(NAMES[MEMBER], []),
    numbers(NAMES[MEMBER]) | st.builds("{}, rejoin".format, numbers(NAMES[MEMBER])) | st.just("die"),
)
SANE_LEADERS = LEADERS | st.sampled_from([SOUND[0], *LEADERS_AS_ROWS.values(), *LEADER_RULES])
SANE_MEMBERS = MEMBERS | st.sampled_from([SOUND[1], *MEMBERS_AS_ROWS.values(), *MEMBER_RULES])
RULES = st.tuples(SANE_LEADERS, SANE_MEMBERS)


def quiet(trace: Trace) -> Iterator[tuple[object, ...]]:
    """Who runs and speaks what, and who leads, whenever the operator acts, and at the end."""
    views = [step.before for step in trace if step.action == "close"]
    if trace.outcome.kind != "loop":
        views.append(trace.last)
    for view in views:
        yield _seen(view)


def _seen(view: View) -> tuple[object, ...]:
    told = {one.name: (one.binary, one.used if one.alive else "dead") for one in view.members}
    return (*told.items(), view.group.leader if any(one.alive for one in view.members) else "")


@given(old=RULES, new=RULES, data=st.data())
@settings(max_examples=60, deadline=None)
def test_wherever_the_simulator_comes_the_explorer_has_been(
    old: tuple[str, str], new: tuple[str, str], data: st.DataObject
) -> None:
    one = teaching("v10", latest=10, leader_rule=old[0], member_rule=old[1])
    two = teaching("v11", latest=11, leader_rule=new[0], member_rule=new[1])
    exploration = explored(upgrade(one, two, modes=Modes(relead="by jar")), reduction=False)
    model = exploration.model
    known = set()
    for state in exploration.graph.states:
        if not state[-1] & 1:
            classes = [model.classes.all[number] for number in state[:-2]]
            who = [
                (model.upgrade.jars[one.jar].name, one.used if one.status == "alive" else one.status) for one in classes
            ]
            leader = model.names[state[-2] - 128] if state[-2] != 255 else ""
            known.add((*zip(model.names, who, strict=True), leader))
    order = data.draw(st.permutations("ABC"), label="order")
    leader, seed = data.draw(st.sampled_from("ABC"), label="leader"), data.draw(st.integers(0, 99), label="seed")
    trace = simulate(Scenario(old=one, new=two, leader=leader, order=order, seed=seed))
    for seen in quiet(trace):
        assert seen in known, trace.outcome
    assert trace.outcome.kind != "loop" or exploration.loops
    assert {step.action for step in trace} <= set(ACTIONS)
