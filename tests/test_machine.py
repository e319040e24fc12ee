"""The tables themselves: that they are whole, and that nothing else moves a token."""

from __future__ import annotations

from itertools import product

import pytest

from protocol.machine import ACTIONS, GROUP, MEMBER, Machine

MACHINES = [pytest.param(machine, id=machine.name) for machine in (MEMBER, GROUP)]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_legal_event_lands_where_the_table_says_and_any_other_leads_nowhere(machine: Machine) -> None:
    table = {(row.source, row.event): row for row in machine}
    for state, event in product(machine.states, machine.events):
        row = table.get((state, event))
        assert machine.row(state, event) is row
        assert machine.target(state, event) == (row.target if row else None)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_state_and_an_event_have_one_row_at_most(machine: Machine) -> None:
    pairs = [(row.source, row.event) for row in machine]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("machine", MACHINES)
def test_the_keys_of_edges_are_unique(machine: Machine) -> None:
    assert len({row.key for row in machine}) == len(machine.rows)


@pytest.mark.parametrize("machine", MACHINES)
def test_rows_name_only_states_of_the_machine_and_each_state_is_in_a_row(machine: Machine) -> None:
    assert {row.source for row in machine} | {row.target for row in machine} == set(machine.states)


def reach(machine: Machine, start: str, *, rare: bool) -> set[str]:
    seen, new = set(), {start}
    while new:
        seen |= new
        new = {row.target for row in machine if row.source in new and (rare or not row.rare)} - seen
    return seen


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rare", [False, True], ids=["in the picture", "with rare rows"])
def test_every_state_is_reached_from_the_first(machine: Machine, rare: bool) -> None:
    assert reach(machine, machine.states[0], rare=rare) == set(machine.states)


@pytest.mark.parametrize("machine", MACHINES)
def test_no_state_is_a_trap(machine: Machine) -> None:
    for state in machine.states:
        assert reach(machine, state, rare=True) == set(machine.states)


@pytest.mark.parametrize("machine", MACHINES)
def test_an_unknown_state_or_event_leads_nowhere(machine: Machine) -> None:
    assert machine.target("NOWHERE", "start") is None
    assert machine.target(machine.states[0], "nothing") is None


@pytest.mark.parametrize("machine", MACHINES)
def test_every_edge_of_a_picture_has_a_label(machine: Machine) -> None:
    assert all(row.label for row in machine)


def test_a_machine_lists_its_events_once_in_the_order_of_the_table() -> None:
    assert GROUP.events[:4] == ("join", "all joined", "leader sync", "leave")
    assert len(MEMBER.events) == len(set(MEMBER.events))


def test_a_member_probes_by_joining_again() -> None:
    assert MEMBER.target("SYNCING", "probe") == "PROBING"
    assert MEMBER.target("PROBING", "rejoin") == "JOINING"


def test_a_dead_member_comes_back_only_by_a_start() -> None:
    assert [row.event for row in MEMBER if row.source == "CRASHED" and row.target != "STOPPED"] == ["start"]


def test_the_actions_of_steps_are_told_apart() -> None:
    assert len(ACTIONS) == len(set(ACTIONS))
