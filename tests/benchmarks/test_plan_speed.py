"""How long an advice takes: under two seconds for three instances, for any kind of pair."""

from __future__ import annotations

import time

import pytest

from protocol.planner import plan
from protocol.planner.negotiation import every_way, explored

PAIRS = (("2.0.1", "2.1.1"), ("2.3.1", "3.9.1"), ("1.1.1", "2.8.0"), ("0.10.0.1", "0.10.1.1"), ("3.2.3", "2.8.0"))


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_an_advice_for_three_instances_takes_less_than_two_seconds(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seconds of one core: what else runs on the machine does not count; nothing is remembered from before."""
    explored.cache_clear()
    every_way.cache_clear()
    began = time.process_time()
    advice = plan(old, new)
    took = time.process_time() - began
    with capsys.disabled():
        print(f"\nplan {old} {new}: {advice.verdict}, {took:.2f} s")
    assert took < 2
