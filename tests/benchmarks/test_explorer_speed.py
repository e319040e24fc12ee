"""How fast upgrades are explored: figures beside their targets, and the ratio to Spin on the same model in one run."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from protocol.upgrade import Exploration, explored, matrix, release_pairs, rule_jar, upgrade

MODEL = Path(__file__).parent.parent / "spin" / "upgrade.pml"
SHIPPED, MIRROR = "smallest supported", "mirror"


def question(rules: str, members: int | None, **asked: Any) -> Callable[[], Exploration]:
    jars = rule_jar(rules, rules, latest=10), rule_jar(rules, rules, latest=11)

    def answer() -> Exploration:
        exploration = explored(upgrade(*jars, members=members), **asked)
        assert exploration.verdict.ok
        return exploration

    return answer


@pytest.mark.parametrize(
    ("what", "ask", "seconds", "states"),
    [
        ("8 members by name, shipped fix", question(SHIPPED, 8, reduction=False), 0.3, 12280),
        ("10 members by name, shipped fix", question(SHIPPED, 10, reduction=False), 2.0, 71670),
        ("8 members by name, mirror", question(MIRROR, 8, reduction=False), 2.0, 71528),
        ("1000 members counted, shipped fix", question(SHIPPED, 1000, representation="counted"), 0.1, 6997),
        ("1000 members by presence, mirror", question(MIRROR, 1000, representation="presence"), 1.0, 8992),
        ("every size, shipped fix", question(SHIPPED, None), 0.01, 39),
        ("every size, mirror", question(MIRROR, None), 0.01, 65),
    ],
)
def test_a_verdict_is_measured_beside_its_target(
    benchmark: Any, what: str, ask: Callable[[], Exploration], seconds: float, states: int
) -> None:
    benchmark.extra_info["target"] = seconds
    found = benchmark.pedantic(ask, rounds=7, iterations=1, warmup_rounds=1)
    assert len(found.graph) == states, what


def test_the_matrix_in_nine_modes_for_2_to_7_members(benchmark: Any) -> None:
    def run() -> int:
        with ProcessPoolExecutor(2) as processes:
            return len(matrix(sizes=range(2, 8), executor=processes))

    benchmark.extra_info["target"] = 20
    assert benchmark.pedantic(run, rounds=1, iterations=1) == 96 * 9 * 6


def test_the_sweep_of_release_pairs(benchmark: Any) -> None:
    benchmark.extra_info["target"] = 30
    assert benchmark.pedantic(lambda: len(release_pairs()), rounds=1, iterations=1) > 5000


@pytest.mark.needs("spin", "gcc")
def test_spin_from_command_to_verdict(benchmark: Any, tmp_path: Path) -> None:
    """Translate, compile, search; ours must be ten times faster from command to verdict at 8 members."""
    (tmp_path / MODEL.name).write_text(MODEL.read_text(encoding="utf-8"), encoding="utf-8")

    def spin() -> None:
        for command in (
            ["spin", "-a", "-DONLY=8", MODEL.name],
            ["gcc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"],
            ["./pan", "-m100000"],
        ):
            subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    benchmark.pedantic(spin, rounds=1, iterations=1)
    begin = time.perf_counter()
    question(SHIPPED, 8, reduction=False)()
    assert (time.perf_counter() - begin) * 10 < benchmark.stats.stats.min
