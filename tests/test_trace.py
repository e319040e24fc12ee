"""The value that everybody takes: what it can be asked."""

from __future__ import annotations

import pytest

from protocol import Scenario, simulate
from protocol.trace import Failure, LogLine, MemberView, Outcome, Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    return simulate(Scenario(old="2.0.0", new="2.1.0", leader="A", order="A,B,C", succession="newest"))


def test_a_line_reads_as_the_release_prints_it() -> None:
    assert str(LogLine("A", "WARN", "StreamThread", "words")) == "WARN StreamThread - words"
    assert str(Failure("IllegalStateException", "words")) == "IllegalStateException: words"


def test_a_member_is_poisoned_while_it_lives_and_speaks_more_than_its_jar() -> None:
    view = MemberView("A", "STABLE", "2.0.0", 3, 4)
    assert view.poisoned and view.alive
    assert not view._replace(state="CRASHED").poisoned
    assert not view._replace(used=3).poisoned


def test_each_step_begins_where_the_one_before_it_ended(trace: Trace) -> None:
    views = [trace.first, *(step.after for step in trace)]
    assert [step.before for step in trace] == views[:-1]
    assert [step.number for step in trace] == list(range(1, len(trace) + 1))
    assert trace.last is views[-1]


def test_rebalances_are_generations_and_bounces_are_counted(trace: Trace) -> None:
    grown = sum(step.action == "complete join" for step in trace)
    assert (trace.rebalances, trace.bounces) == (grown, 3) == (4, 3)


def test_a_view_knows_its_members_and_no_stranger(trace: Trace) -> None:
    assert trace.last.member("B").name == "B"
    with pytest.raises(KeyError):
        trace.last.member("Z")


def test_a_death_names_the_generation_that_caused_it_and_its_step(trace: Trace) -> None:
    assert {(death.member, death.cause, death.how) for death in trace.outcome.deaths} == {
        ("B", 2, "poison"),
        ("C", 2, "poison"),
    }
    for death in trace.outcome.deaths:
        step = trace.steps[death.step - 1]
        assert step.action == "die" and death.member in step.members


def test_only_an_end_that_the_operator_wanted_is_ok() -> None:
    assert [Outcome(kind, "").ok for kind in ("upgraded", "rolled back", "downgraded")] == [True] * 3
    assert not any(Outcome(kind, "").ok for kind in ("deaths", "loop", "old version", "error assignment", "cut off"))


def test_a_trace_is_one_value_equal_and_hashable(trace: Trace) -> None:
    again = simulate(Scenario(old="2.0.0", new="2.1.0", leader="A", order="A,B,C", succession="newest"))
    assert again == trace and hash(again) == hash(trace)
