"""The broker's side of a group, transition by transition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.coordinator import BrokerSuccession, Coordinator, HighestVersion, Newest, Oldest, Seat


def group(*ids: str, state: str = "Stable", succession: object = None) -> Coordinator:
    """A group of these ids, led by the first; the rank of an id is its place from the end."""
    broker = Coordinator(succession or BrokerSuccession())  # type: ignore[arg-type]
    for place, member_id in enumerate(ids):
        broker = broker.admit(Seat(member_id, 1.0 - place / 10, b"v3", standing=place))
    if state == "PreparingRebalance":
        return broker
    broker = broker.complete()
    return broker if state == "CompletingRebalance" else broker.sync(dict.fromkeys(ids, b"tasks"))


def test_the_first_member_to_join_an_empty_group_leads_it() -> None:
    broker = group("A", "B", state="PreparingRebalance")
    assert (broker.state, broker.leader, broker.generation) == ("PreparingRebalance", "A", 0)


def test_a_generation_begins_when_every_id_has_joined_and_not_before() -> None:
    broker = group("A", "B").admit(Seat("C", 0.5, b"v4"))
    assert not broker.barrier
    broker = broker.rejoin("A", metadata=b"v3").rejoin("B", metadata=b"v3")
    assert broker.barrier
    assert broker.complete().generation == 2


def test_a_ghost_blocks_the_barrier_until_its_session_times_out() -> None:
    broker = group("A", "B", "C").admit(Seat("C2", 0.1, b"v4"))
    broker = broker.rejoin("A", metadata=b"v3").rejoin("B", metadata=b"v3")
    assert not broker.barrier
    assert broker.remove("C").barrier


def test_an_id_that_was_handed_out_holds_the_barrier_open() -> None:
    broker = group("A").expect("B")
    broker = broker.rejoin("A", metadata=b"v3")
    assert not broker.barrier
    assert broker.admit(Seat("B", 0.5, b"v4")).barrier


def test_the_leader_is_sticky_across_generations() -> None:
    broker = group("A", "B", "C").rejoin("C", metadata=b"new")
    broker = broker.rejoin("B", metadata=b"v3").rejoin("A", metadata=b"v3").complete()
    assert broker.leader == "A"


def test_the_smallest_rank_leads_when_the_leader_goes_just_joined_members_included() -> None:
    broker = group("A", "B", "C").admit(Seat("N", 0.01, b"v4"))
    assert broker.remove("A").leader == "N"
    assert group("A", "B", "C").remove("A").leader == "C"


def test_a_member_that_is_not_the_leader_can_go_without_an_election() -> None:
    assert group("A", "B", "C").remove("C").leader == "A"


def test_a_follower_with_the_same_metadata_starts_no_rebalance() -> None:
    broker = group("A", "B")
    assert broker.rejoin("B", metadata=b"v3") is broker


@pytest.mark.parametrize(("who", "metadata"), [("A", b"v3"), ("B", b"v4")])
def test_the_leader_or_changed_metadata_starts_a_rebalance(who: str, metadata: bytes) -> None:
    broker = group("A", "B").rejoin(who, metadata=metadata)
    assert broker.state == "PreparingRebalance"
    assert broker.seats[who].waiting == "join"


def test_in_completing_rebalance_even_the_leader_needs_changed_metadata() -> None:
    broker = group("A", "B", state="CompletingRebalance")
    assert broker.rejoin("A", metadata=b"v3") is broker
    again = broker.rejoin("B", metadata=b"v4")
    assert (again.state, again.seats["A"].waiting) == ("PreparingRebalance", "")


def test_the_leaders_sync_answers_all_at_once_and_gives_the_forgotten_nothing() -> None:
    broker = group("A", "B", state="CompletingRebalance").sync({"A": b"0_0"})
    assert broker.state == "Stable"
    assert {member_id: seat.assignment for member_id, seat in broker.seats.items()} == {"A": b"0_0", "B": b""}


def test_a_static_member_that_returns_in_time_changes_nothing_but_its_id() -> None:
    broker = Coordinator(BrokerSuccession()).admit(Seat("A#1", 0.5, b"v3", instance="A"))
    broker = broker.admit(Seat("B#1", 0.2, b"v3", instance="B")).complete().sync({"A#1": b"0_0", "B#1": b"0_1"})
    after = broker.replace_static("A", member_id="A#2", rank=0.9, metadata=b"v4")
    assert (after.state, after.generation, after.leader) == ("Stable", broker.generation, "A#2")
    assert after.seats["A#2"].assignment == b"0_0"
    assert after.ids == ("A#2", "B#1")


def test_a_group_that_everybody_left_is_empty_and_a_generation_older() -> None:
    broker = group("A").remove("A")
    assert broker.barrier
    assert (broker.complete().state, broker.complete().generation) == ("Empty", 2)


@pytest.mark.parametrize(
    ("succession", "leads"), [(Oldest(), "A"), (Newest(), "C"), (HighestVersion(), "C"), (BrokerSuccession(), "A")]
)
def test_a_scripted_coordinator_picks_in_every_generation_the_broker_does_not(succession: object, leads: str) -> None:
    broker = group("A", "B", "C", succession=succession)
    assert broker.leader == leads


EVENTS = st.lists(
    st.tuples(st.sampled_from(["admit", "rejoin", "remove", "complete", "sync"]), st.integers(0, 5)), max_size=40
)


@given(EVENTS)
def test_the_leader_is_a_member_and_generations_only_grow_by_completing(events: list[tuple[str, int]]) -> None:
    broker, made = Coordinator(BrokerSuccession()), 0
    for event, number in events:
        before = broker
        ids = broker.ids
        if event == "admit":
            made += 1
            broker = broker.admit(Seat(f"M{made}", number / 7, bytes([number])))
        elif event in ("rejoin", "remove") and ids:
            who = ids[number % len(ids)]
            broker = broker.rejoin(who, metadata=bytes([number])) if event == "rejoin" else broker.remove(who)
        elif event == "complete" and broker.barrier:
            broker = broker.complete()
        elif event == "sync" and broker.state == "CompletingRebalance":
            broker = broker.sync({})
        assert broker.leader in broker.seats or (not broker.leader and not broker.seats)
        assert broker.generation - before.generation == (event == "complete" and before.barrier)
