"""The four values that travel, before they are bytes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import EncodeError
from protocol.messages import (
    LATEST_OFFSET,
    NO_REBALANCE,
    UNKNOWN_OFFSET_SUM,
    Assignment,
    AssignmentInfo,
    HostInfo,
    Subscription,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
)
from protocol.versions import LATEST, UNKNOWN

numbers = st.integers(0, 9)
plain_tasks = st.builds(TaskId, numbers, numbers, st.none())
named_tasks = st.builds(TaskId, numbers, numbers, st.none() | st.sampled_from(("topA", "topB")))
offsets = st.just(LATEST_OFFSET) | st.integers(-3, 2**62)


def test_a_task_is_written_as_kafka_writes_it() -> None:
    assert str(TaskId(0, 1)) == "0_1"
    assert str(TaskId(3, 12, "topA")) == "topA__3_12"
    assert str(TopicPartition("orders", 2)) == "orders-2"


def test_tasks_sort_by_subtopology_and_partition() -> None:
    assert sorted([TaskId(1, 0), TaskId(0, 10), TaskId(0, 2)]) == [TaskId(0, 2), TaskId(0, 10), TaskId(1, 0)]


@pytest.mark.parametrize(
    "value",
    [
        SubscriptionInfo(3, 3),
        AssignmentInfo(3, 3, (TaskId(0, 1),), partitions_by_host=((HostInfo("h1", 80), ()),)),
        Subscription(("t1",), b"\1"),
        Assignment((TopicPartition("t1", 0),)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_is_a_value(value: SubscriptionInfo | AssignmentInfo | Subscription | Assignment) -> None:
    assert hash(value) == hash(type(value)(*(getattr(value, field.name) for field in fields(value))))
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, None)
    with pytest.raises((AttributeError, TypeError)):
        value.another = 1  # type: ignore[union-attr]


def test_a_subscription_that_says_nothing_more_is_empty() -> None:
    info = SubscriptionInfo(2)
    assert (info.latest_supported_version, info.head_only, info.offset_sums()) == (UNKNOWN, False, {})


def test_an_assignment_asks_for_no_rebalance_unless_told() -> None:
    assert AssignmentInfo(11).next_rebalance_ms == NO_REBALANCE == 0x7FFFFFFFFFFFFFFF


@given(st.dictionaries(plain_tasks, offsets), st.integers(7, 9))
def test_offset_sums_are_nested_by_subtopology_in_v7_to_v9(sums: dict[TaskId, int], version: int) -> None:
    info = SubscriptionInfo.of(sums, version=version, latest_supported_version=LATEST)
    assert info.offset_sums() == sums
    assert len(info.task_offset_sums) == len({task.subtopology for task in sums})


@given(st.dictionaries(named_tasks, offsets), st.integers(10, LATEST))
def test_offset_sums_are_flat_from_v10(sums: dict[TaskId, int], version: int) -> None:
    info = SubscriptionInfo.of(sums, version=version, latest_supported_version=LATEST)
    assert info.task_offset_sums == tuple(sums.items())
    assert info.offset_sums() == sums


@given(st.dictionaries(plain_tasks, offsets), st.integers(1, 6))
def test_below_v7_only_running_or_not_is_left_of_an_offset_sum(sums: dict[TaskId, int], version: int) -> None:
    info = SubscriptionInfo.of(sums, version=version, latest_supported_version=LATEST)
    assert info.task_offset_sums == ()
    assert {*info.prev_tasks, *info.standby_tasks} == set(sums)
    assert info.offset_sums() == {
        task: LATEST_OFFSET if offset == LATEST_OFFSET else UNKNOWN_OFFSET_SUM for task, offset in sums.items()
    }


@pytest.mark.parametrize("version", range(1, LATEST + 1))
def test_a_subscription_holds_only_what_its_version_carries(version: int) -> None:
    info = SubscriptionInfo.of(
        {},
        version=version,
        latest_supported_version=LATEST,
        user_end_point="h1:80",
        unique_field=5,
        error_code=4,
        client_tags=[("zone", "eu-1a")],
    )
    assert info.user_end_point == ("h1:80" if version >= 2 else None)
    assert info.latest_supported_version == (LATEST if version >= 3 else UNKNOWN)
    assert info.unique_field == (5 if version >= 8 else 0)
    assert info.error_code == (4 if version >= 9 else 0)
    assert info.client_tags == ((("zone", "eu-1a"),) if version >= 11 else ())


@pytest.mark.parametrize("version", range(1, 10))
def test_a_named_topology_does_not_fit_below_v10(version: int) -> None:
    with pytest.raises(EncodeError, match=f"task_offset_sums: v{version} has no named topologies, v10 and later have"):
        SubscriptionInfo.of({TaskId(0, 1, "topA"): 5}, version=version, latest_supported_version=LATEST)
