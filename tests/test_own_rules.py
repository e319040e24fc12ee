"""Rules of a reader's own, from their text to the simulator, the explorer and a link."""

from __future__ import annotations

import json
import pickle
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.bench import Bench, link, read_link
from protocol.bench.picks import changed, choices, form
from protocol.bench.picks import scenario as picked
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
from protocol.upgrade import MODES, Modes, Upgrade, examples, explore, explored, jar, rule_jar, strategy_jar, upgrade
from protocol.upgrade.telling import told
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
    said = trace.outcome.deaths[0].failure.text
    assert said.startswith("version must be between 1 and 10; was: ") and f", by row 1: otherwise -> {version}" in said
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


def with_one_more(
    known: st.SearchStrategy[str], when: st.SearchStrategy[str], outcome: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    """A rule that works, but for one row before the others."""
    return st.builds("{} -> {}; {}".format, when, outcome, known)


LEADS = conditions(NAMES[LEADER], ["future"])
ANSWERS = st.builds("{}, {}".format, numbers(NAMES[LEADER]), numbers(NAMES[LEADER])) | st.just("die")
HEARS = conditions(NAMES[MEMBER], [])
MOVES = numbers(NAMES[MEMBER]) | st.builds("{}, rejoin".format, numbers(NAMES[MEMBER])) | st.just("die")
SOUND_LEADERS = st.sampled_from([SOUND[0], *LEADERS_AS_ROWS.values()])
SOUND_MEMBERS = st.sampled_from([SOUND[1], *MEMBERS_AS_ROWS.values()])
RULES = st.tuples(
    rules(LEADS, ANSWERS)
    | with_one_more(SOUND_LEADERS, LEADS, ANSWERS)
    | SOUND_LEADERS
    | st.sampled_from([*LEADER_RULES]),
    rules(HEARS, MOVES) | with_one_more(SOUND_MEMBERS, HEARS, MOVES) | SOUND_MEMBERS | st.sampled_from([*MEMBER_RULES]),
)


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


@given(old=RULES, new=RULES, mode=st.sampled_from([*MODES]))
@settings(max_examples=25)
def test_members_by_name_by_count_and_of_every_number_tell_the_same(
    old: tuple[str, str], new: tuple[str, str], mode: str
) -> None:
    one, two = rule_jar(*old, latest=10), rule_jar(*new, latest=11)
    named, counted = (
        explored(upgrade(one, two, members=2, modes=mode), reduction=by_count).verdict for by_count in (False, True)
    )
    facts = ("kind", "most_dead", "silent", "ends_upgraded", "rebalances", "rebalances_without_deaths")
    assert [getattr(named, fact) for fact in facts] == [getattr(counted, fact) for fact in facts]
    every = explored(upgrade(one, two, members=None, modes=mode), limit=5000).verdict
    assert every.stopped or every.kind == named.kind or not every.ok
    assert every.kind == "deaths" or named.kind != "deaths" or every.stopped


@given(old=RULES, new=RULES)
@settings(max_examples=15)
def test_a_run_that_goes_wrong_can_be_told_and_played(old: tuple[str, str], new: tuple[str, str]) -> None:
    exploration = explored(upgrade(rule_jar(*old, latest=10), rule_jar(*new, latest=11)))
    for claim, kind in (("no member dies", "deaths"), ("no loop", "loop"), ("ends upgraded", "")):
        for example in examples(exploration, claim):
            assert example.text()
            for trace in (told(example), example.trace()):
                assert trace.outcome.kind == kind or not kind
                assert {step.action for step in trace} <= set(ACTIONS)
                for before, after in zip(trace.steps, trace.steps[1:], strict=False):
                    assert before.after == after.before
    json.dumps(explore(*exploration.upgrade.jars).to_json())


# What the explorer must know of rules that it has not seen.


def test_the_explorer_has_a_class_for_every_version_that_a_rule_can_make_a_member_speak() -> None:
    exploration = explored(upgrade(*jars(member="otherwise -> used - 1"), members=12))
    assert exploration.verdict.kind == "deaths", "eleven bounces bring the first member down to v0"
    spoken = {one.used for one in exploration.model.classes.all if one.status == "alive"}
    assert spoken == set(range(12))


def test_released_rules_have_the_classes_that_they_had() -> None:
    classes = explored(upgrade("2.0.0", "2.3.1")).model.classes
    assert [classes.text(i) for i in classes.living] == ["2.0.0 v3", "2.0.0 v4", "2.3.1 v3", "2.3.1 v4"]


def test_jars_that_are_not_at_rest_among_themselves_are_told_from_their_first_rebalance_on() -> None:
    old, new = jars(member="otherwise -> 99")
    assert explored(upgrade(old, new)).counterexamples()[0].actions[1].name == "rebalance"
    trace = simulate(Scenario(old=old, new=new))
    assert (trace.steps[0].action, trace.steps[0].bounce) == ("start", 0)
    assert simulate(Scenario(old=jars()[0], new=jars()[1])).steps[0].action == "close"


def test_a_group_of_jars_that_never_rest_is_a_loop_from_the_start() -> None:
    old, new = jars(member="otherwise -> used, rejoin")
    trace = simulate(Scenario(old=old, new=new))
    assert trace.outcome.kind == "loop" and len(trace)
    (example,) = examples(explored(upgrade(old, new)), "no loop")
    assert example.path.loop == 0 and not example.bounced
    assert example.trace().outcome.kind == "loop"


def test_two_jars_of_one_name_are_still_two() -> None:
    one, two = (teaching("mine", latest=n, leader_rule=SOUND[0], member_rule="otherwise -> 99") for n in (10, 11))
    (example,) = examples(explored(upgrade(one, two)))
    assert example.trace().outcome.kind == "deaths"


def test_a_jar_of_rows_is_called_own_where_it_has_no_name() -> None:
    assert rule_jar(*SOUND, latest=10).name == "v10 own"
    assert strategy_jar("mirror", latest=10, leader_rule=SOUND[0]).name == "v10 own / mirror"
    assert (
        strategy_jar("mirror", latest=10, leader_rule=" otherwise->used,used").leader_rule == "otherwise -> used, used"
    )


def test_jars_with_rows_travel_to_other_processes_and_stay_equal() -> None:
    one: Upgrade = upgrade(*jars(), modes="crash")
    assert pickle.loads(pickle.dumps(one)) == one and hash(pickle.loads(pickle.dumps(one))) == hash(one)
    assert jar(jars()[0]).behaviour == jar(pickle.loads(pickle.dumps(jars()[0]))).behaviour


# What a step says.


def test_a_step_quotes_the_row_that_fired_for_the_leader_and_for_each_member() -> None:
    old, new = jars(
        "used > latest -> latest, 3; otherwise -> used, latest",
        "received < used -> received, rejoin; otherwise -> used",
    )
    trace = simulate(Scenario(old=old, new=new, leader="B"))
    assign, sync = (next(step for step in trace if step.action == action) for action in ("assign", "sync"))
    assert "It answers v10 with 3 to A. Row 1 of its rule says so: “used > latest -> latest, 3”." in assign.why
    assert "It answers v10 with 10 to B and C. Row 2 of its rule says so: “otherwise -> used, latest”." in assign.why
    assert sync.why.startswith("A sent v11 and got v10 with 3. Row 1 of its rule says so: “received < used -> received")
    assert "B and C sent v10 and got v10 with 10. Row 2 of its rule says so: “otherwise -> used”." in sync.why
    assert {assign.source, sync.source} == {"a rule of one's own"}


def test_a_told_run_quotes_the_rows_too() -> None:
    old, new = jars(member="received < used -> die; otherwise -> used")
    trace = told(examples(explored(upgrade(old, new)))[0])
    assert "“received < used -> die”" in next(step.why for step in trace if step.action == "die")
    assert "“otherwise -> smallest_used, smallest_supported”" in next(s.why for s in trace if s.action == "assign")


def test_a_leader_of_ones_own_logs_nothing_of_versions_for_nobody_has_written_what() -> None:
    old, new = jars()
    lines = [line for step in simulate(Scenario(old=old, new=new, leader="B")) for line in step.log]
    assert not [line for line in lines if "metadata" in line.text or "future" in line.text]


@pytest.mark.parametrize("who", ["leader", "member"])
def test_who_dies_of_a_row_is_told_which(who: str) -> None:
    old, new = (
        jars("future -> die; otherwise -> used, used")
        if who == "leader"
        else jars(member="received < used -> die; otherwise -> used")
    )
    death = simulate(Scenario(old=old, new=new, leader="B")).outcome.deaths[0]
    row = "future -> die" if who == "leader" else "received < used -> die"
    assert str(death.failure) == f"IllegalStateException: its rule, row 1: {row}"
    assert (death.member, death.how) == (("B", "leading") if who == "leader" else ("A", "refusal"))


# Links and pickers.


def test_a_link_and_its_python_twin_hold_the_rows() -> None:
    old, new = jars("used > latest -> latest, latest; otherwise -> used, smallest_supported")
    one = Scenario(old=old, new=new, leader="A", order="A,B,C")
    address = f"https://lab.example/#{link(one, 3, one).lstrip('#')}"
    assert read_link(address) == (one, 3, one)
    assert eval(one.python(), {"Scenario": Scenario, "teaching": teaching}) == one
    assert json.loads(json.dumps(simulate(one).picks["old"]))["leader_rule"] == old.leader_rule
    bench = Bench(address)
    assert bench.scenario == one and bench.pinned == one


def test_the_longest_rules_fit_into_a_link() -> None:
    long = "; ".join(
        ["used > latest -> latest, latest"] * 11 + ["otherwise -> smallest_used, smallest_supported_of_all"]
    )
    rows = own_leader_rule(long)
    assert 400 < len(rows) <= LONGEST
    one = Scenario(old=teaching("v10 jar", latest=10, leader_rule=rows, member_rule=SOUND[1]), new="2.4.0")
    assert read_link(link(one, 0, one)).pinned == one


@pytest.mark.parametrize(
    "rule",
    [
        "otherwise -> __import__(os), 1",
        "<img src=x onerror=alert(1)> -> 1, 1; otherwise -> 1, 1",
        "->" * 400,
        "().__class__ -> 1, 1; otherwise -> 1, 1",
        "mirrorr",
        ["otherwise -> 1, 1"],
        7,
    ],
)
def test_a_link_with_a_hostile_rule_is_refused_with_a_sentence(rule: object) -> None:
    hostile = {"name": "x", "latest": 11, "leader_rule": rule, "member_rule": "mirror"}
    with pytest.raises(ImpossibleScenarioError) as caught:
        read_link("#run=" + urlsafe_b64encode(json.dumps({"old": hostile}).encode()).decode())
    assert str(caught.value) and "\n" not in str(caught.value)


def test_a_pick_keeps_the_readers_own_rules_and_they_can_be_picked_again() -> None:
    old, new = jars()
    first = form(Scenario(old=old, new=new, leader="A", order="A,B,C"))
    assert picked(changed(first, {"leader": "B"})).old == old
    other = changed(first, {"new_strategy": "mirror"})
    offers = dict(choices(other)["new_strategy"])  # type: ignore[call-overload]
    back = next(value for value, text in offers.items() if text == "v11 mine (own rules)")
    assert picked(changed(other, {"new_strategy": back})).new == new
    assert picked(other).old == old and picked(other).new != new


@pytest.mark.parametrize(
    "spelled", ["{", "{}", '{"name": 1}', '{"name": "x", "latest": 11, "leader_rule": "no", "member_rule": "no"}']
)
def test_a_picker_with_no_jar_in_it_is_refused(spelled: str) -> None:
    first = form(Scenario(old=jars()[0], new=jars()[1]))
    with pytest.raises(ImpossibleScenarioError):
        picked(changed(first, {"old_strategy": spelled}))


# The design-review kit.

KIT = Path(__file__).resolve().parent.parent / "notebooks" / "90-design-review.ipynb"
ROWS = 'leader = """'
TAKEN = {
    "good": ("otherwise -> min(used, latest), smallest_supported_of_all", "otherwise -> min(second, latest)", 6),
    "never at rest": (SOUND[0], "received < latest -> received, rejoin; otherwise -> used", 0),
    "deadly": ("future or smallest_used < latest -> die; otherwise -> latest, latest", "otherwise -> used", 0),
    "nonsense": ("used == 10 -> 99, -5; otherwise -> 0, 0", "otherwise -> second - received + 3, rejoin", 0),
}


@pytest.mark.parametrize("name", TAKEN)
def test_every_other_cell_of_the_kit_runs_for_any_strategy(name: str) -> None:
    leader, member, yes = TAKEN[name]
    cells = [cell for cell in json.loads(KIT.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert sum(source.startswith(ROWS) for source in sources) == 1
    names: dict[str, object] = {}
    for source in sources:
        exec(f"leader, member = {(leader, member)!r}" if source.startswith(ROWS) else source, names)
    answers = names["answers"]
    assert isinstance(answers, dict) and sum(answers.values()) == yes
    assert (names["worst"] is None) == (yes == 6)
