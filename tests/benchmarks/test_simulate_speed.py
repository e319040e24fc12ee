"""How long a run takes: figures to read, and ratios inside one run that a busy machine cannot bend."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from protocol import Scenario, simulate

SIZES = (3, 12, 100)


@pytest.mark.parametrize("members", SIZES)
@pytest.mark.parametrize("new", ["2.3.1", "3.9.0"])
def test_a_run_of(benchmark: BenchmarkFixture, members: int, new: str) -> None:
    benchmark.group = f"simulate 2.0.0 to {new}"
    trace = benchmark.pedantic(simulate, [Scenario(old="2.0.0", new=new, members=members)], rounds=3, warmup_rounds=1)
    assert trace.outcome.kind == "upgraded"
    assert trace.rebalances == 2 * members


def test_the_work_grows_with_the_square_of_the_members_and_no_faster() -> None:
    """Each of N bounces tells N members something twice: N = 40 is 16 times N = 10, give or take what is fixed."""
    import time

    def cost(members: int) -> float:
        begun = time.process_time()
        simulate(Scenario(old="2.0.0", new="2.3.1", members=members))
        return time.process_time() - begun

    cost(10)
    ten = min(cost(10) for _ in range(5))
    forty = min(cost(40) for _ in range(3))
    assert forty < 40 * ten
