"""A second opinion: the same upgrades written by hand in Promela, and checked by Spin."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from protocol.releases import releases
from protocol.upgrade import Modes, explored, jar, rule_jar, upgrade

MODEL = Path(__file__).parent / "spin" / "upgrade.pml"
RULES = (
    ("leader's version", "leader's version"),
    ("smallest supported, not yet encoded", "smallest supported"),
    ("smallest supported", "smallest supported"),
    ("mirror", "mirror"),
    ("proposal", "proposal"),
)
MODES = (Modes(), Modes(interleaved=True), Modes(relead="anyone"))
MOST_MEMBERS = (6, 5, 5)

Row = tuple[int, int, int, int]
Rows = Mapping[Row, Row]

pytestmark = pytest.mark.needs("spin", "gcc")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """(members, old rule, new rule, mode) to (least, most, dead, loop), as Spin found them."""
    there = tmp_path_factory.mktemp("spin")

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=there, check=True, capture_output=True, text=True, timeout=300).stdout

    (there / MODEL.name).write_text(MODEL.read_text(encoding="utf-8"), encoding="utf-8")
    run("spin", "-a", MODEL.name)
    run("gcc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
    told = run("./pan", "-m100000")
    assert "errors: 0" in told and "Search not completed" not in told, told[:2000]
    found = [tuple(map(int, line.split()[1:])) for line in told.splitlines() if line.startswith("row ")]
    return {(n, a, z, m): (least, most, dead, loop) for n, a, z, m, least, most, dead, loop in found}


@pytest.mark.parametrize(
    ("members", "mode"), [(n, mode) for mode, most in enumerate(MOST_MEMBERS) for n in range(3, most + 1)]
)
def test_spin_agrees_on_deaths_loops_and_costs_for_every_pair_of_rules(rows: Rows, members: int, mode: int) -> None:
    for old, before in enumerate(RULES):
        for new, after in enumerate(RULES):
            jars = rule_jar(*before, latest=10), rule_jar(*after, latest=11)
            verdict = explored(upgrade(*jars, members=members, modes=MODES[mode])).verdict
            least, most, dead, loop = rows[members, old, new, mode]
            assert verdict.most_dead == dead, (before, after)
            assert bool(verdict.loops) == bool(loop), (before, after)
            assert verdict.rebalances is not None
            assert verdict.rebalances[0] == least, (before, after)
            assert verdict.rebalances[1] == (None if loop else most), (before, after)


def test_spin_agrees_on_every_upgrade_between_releases_that_probe(rows: Rows) -> None:
    numbers = {rules: number for number, rules in enumerate(RULES)}
    numbers["smallest supported of all", "smallest supported"] = 2
    known = [jar(row.name) for row in releases()]
    probing = {one.behaviour: one for one in known if (one.leader_rule, one.member_rule) in numbers}
    assert len(probing) > 8
    pairs = 0
    for old in probing.values():
        for new in probing.values():
            if old.latest >= new.latest:
                continue
            least, most, dead, loop = rows[
                3, numbers[old.leader_rule, old.member_rule], numbers[new.leader_rule, new.member_rule], 0
            ]
            verdict = explored(upgrade(old, new, members=3)).verdict
            assert (verdict.most_dead, bool(verdict.loops)) == (dead, bool(loop)), (old.name, new.name)
            assert verdict.rebalances == (least, None if loop else most), (old.name, new.name)
            pairs += 1
    assert pairs > 30
