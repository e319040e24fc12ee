"""What `explore` answers: every way in which an upgrade can end, how often, at what cost, with a witness for each.

How it is explored is in `exploration`; how a witness becomes concrete is in `lifting`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from ..errors import ImpossibleScenarioError
from ..explorer import Path
from ..releases import Binary
from .exploration import Exploration, Verdict, explored
from .jars import Jar, Modes, upgrade
from .lifting import Example, examples, lifted
from .named import MOST_NAMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One way in which the upgrade can end."""

    kind: str
    """`upgraded`, `deaths`, `stops half-way` or `loop`."""
    dead: int
    """The most members that are dead at once on the way."""
    least_dead: int
    """The same number, or where there are too many numbers to tell apart, the smallest of them."""
    runs: int | None
    """How many runs end so; None where they were not counted: of every size at once, or more than 200 who may die."""
    chance: Fraction | None
    """How likely that is, for a random bounce order and the broker's draw; None where nobody knows."""
    rebalances: tuple[int, int] | None
    """The least and the most that such a run costs; for a loop, until it is in it."""
    witness: Example | None

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        told: dict[str, object] = {
            "kind": self.kind,
            "dead": self.dead,
            "least_dead": self.least_dead,
            "count": self.runs,
            "probability": None if self.chance is None else float(self.chance),
            "rebalances": None if self.rebalances is None else dict(zip(("min", "max"), self.rebalances, strict=True)),
            "witness": None,
        }
        if self.witness is not None:
            told["witness"] = _witness(self.witness)
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The answer of `explore`."""

    jars: tuple[Jar, ...]
    modes: Modes
    verdict: Verdict
    endings: tuple[Ending, ...]
    runs: int | None
    """Bounce orders times choices of leader; None where they are endless or not counted."""
    costs: tuple[tuple[int, int, int, Fraction | None], ...]
    """(rebalances, most dead at once, runs, chance) for each combination that occurs."""
    expected_rebalances: Fraction | None
    survival: Fraction | None
    """The chance that nobody dies."""

    @property
    def ok(self) -> bool:
        """Whether no order, leader or timing within the bounds makes the group fail."""
        return self.verdict.ok

    def to_json(self) -> dict[str, Any]:
        """Plain data with documented keys; `schema` 1."""
        verdict = self.verdict
        return {
            "schema": 1,
            "from": self.jars[0].name,
            "to": self.jars[-1].name,
            "path": [jar.name for jar in self.jars],
            "members": verdict.members,
            "modes": {one.name: _plain(getattr(self.modes, one.name)) for one in fields(self.modes)},
            "verdict": verdict.kind,
            "ok": verdict.ok,
            "states": verdict.states,
            "representation": verdict.representation,
            "complete": not verdict.stopped,
            "runs": self.runs,
            "rebalances": _pair(verdict.rebalances),
            "rebalances_without_deaths": _pair(verdict.rebalances_without_deaths),
            "expected_rebalances": None if self.expected_rebalances is None else float(self.expected_rebalances),
            "survival": None if self.survival is None else float(self.survival),
            "most_dead": verdict.most_dead,
            "silent": verdict.silent,
            "loops": list(verdict.loops),
            "ends_upgraded": verdict.ends_upgraded,
            "two_owners": verdict.two_owners,
            "outcomes": [ending.to_json() for ending in self.endings],
            "costs": [
                {
                    "rebalances": cost,
                    "dead": dead,
                    "count": runs,
                    "probability": None if share is None else float(share),
                }
                for cost, dead, runs, share in self.costs
            ],
            "bounds": list(verdict.bounds),
        }

    def text(self) -> str:
        """The answer for people."""
        verdict = self.verdict
        size = "any number of members" if verdict.members is None else f"{verdict.members} members"
        lines = [f"{' → '.join(jar.name for jar in self.jars)}, {size}: {_VERDICTS[verdict.kind]}"]
        if verdict.most_dead:
            most = f"{verdict.most_dead} or more" if verdict.members is None else str(verdict.most_dead)
            lines.append(
                f"  dead at once, at most: {most}{'; the poison waits in a quiet group' if verdict.silent else ''}"
            )
        if verdict.rebalances is not None:
            low, high = verdict.rebalances
            lines.append(f"  rebalances: {low} to {'no end' if high is None else high}")
        if self.runs is not None:
            lines.append(f"  runs covered: {self.runs:,} (bounce orders and leaders), in {verdict.states:,} states")
        else:
            lines.append(f"  states: {verdict.states:,} ({verdict.representation})")
        if self.survival is not None:
            lines.append(f"  nobody dies with probability {float(self.survival):.4f} ({self.survival})")
        if self.expected_rebalances is not None:
            lines.append(f"  rebalances on average: {float(self.expected_rebalances):.3f}")
        if "unfair" in verdict.loops:
            lines.append(
                "  warning: members that miss answers again and again can keep the group busy; a fair run ends"
            )
        for ending in self.endings:
            lines += ["", _headline(ending)]
            if ending.witness is not None and ending.witness.model.n <= _MOST_TOLD:
                lines += ["  " + line for line in ending.witness.text().splitlines()]
        lines += ["", "bounds:", *(f"  - {bound}" for bound in verdict.bounds)]
        return "\n".join(lines)


_VERDICTS = {
    "ok": "safe",
    "deaths": "members can die",
    "loop": "the group can rebalance for ever",
    "escapable loop": "the group can rebalance until luck ends it",
    "stops half-way": "the group can stop half-way",
    "unknown": "not known: the search stopped early",
}


def _headline(ending: Ending) -> str:
    what = f"{ending.dead} dead" if ending.kind == "deaths" else ending.kind
    if ending.kind == "deaths" and ending.least_dead < ending.dead:
        what = f"{ending.least_dead or 1} to {ending.dead} dead"
    told = [] if ending.runs is None else [f"{ending.runs:,} runs"]
    told += [] if ending.chance is None else [f"probability {float(ending.chance):.4f}"]
    if ending.rebalances is not None:
        low, high = ending.rebalances
        told.append(f"{low} rebalances" if low == high else f"{low} to {high} rebalances")
    return f"{what}: {', '.join(told)}" if told else what


def _pair(pair: tuple[int, int | None] | None) -> dict[str, int | None] | None:
    return None if pair is None else {"min": pair[0], "max": pair[1]}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _witness(example: Example) -> dict[str, object]:
    told: dict[str, object] = {"scenario": None, "python": None}
    try:
        scenario = example.scenario()
        told = {"scenario": scenario.picks(), "python": scenario.python()}
    except ImpossibleScenarioError as why:
        told["reason"] = str(why)
    told["steps"] = [
        {
            "action": action.name,
            "parameters": {key: _plain(value) for key, value in action.parameters},
            **({"state": dict(example.model.describe(state))} if example.model.n <= _MOST_TOLD else {}),
            "holds": dict(holds),
        }
        for action, state, holds in zip(
            example.path.actions, example.path.states, example.path.holding(example.properties), strict=False
        )
    ]
    if example.path.loop is not None:
        told["loop"] = example.path.loop
    return told


def explore(
    *path: str | Binary | Jar,
    members: int | None = 3,
    modes: Modes | str | None = None,
    reduction: bool = True,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Explore an upgrade along releases, binaries or jars: every order, every leader, every interruption of its modes.

    Without `modes`, leaders of 2.0 to 2.5 give up the lead when they probe, as they really do. `members=None`
    asks for every number of members at once. `reduction=False` names every member.

    >>> report = explore("2.0.0", "2.1.0")
    >>> report.verdict.kind, report.runs, [(ending.kind, ending.dead) for ending in report.endings]
    ('deaths', 156, [('upgraded', 0), ('deaths', 1), ('deaths', 2)])

    Raises: UnknownReleaseError, ImpossibleScenarioError.
    """
    chosen = modes if modes is not None else Modes(relead="by jar")
    return report(
        explored(upgrade(*path, members=members, modes=chosen), reduction=reduction, limit=limit, progress=progress)
    )


def report(exploration: Exploration) -> Report:
    """All that `explore` tells of one exploration."""
    settled = exploration.upgrade.modes
    few = (exploration.upgrade.members or 0) <= _MOST_COUNTED or not exploration.most_dead
    chancy = not (settled.rollback or settled.crashes or settled.supervisor or settled.interleaved or settled.lossy)
    chancy = chancy and exploration.representation not in ("every size", "presence") and exploration.graph.complete
    chancy = chancy and few
    counts = exploration.endings() if exploration.graph.complete and few else None
    shares = exploration.endings(chance=True) if chancy and counts is not None else None
    endings = _uncounted(exploration) if counts is None else _counted(exploration, counts, shares)
    rows: dict[tuple[int, int], int] = {}
    chances: dict[tuple[int, int], Fraction] = {}
    for (_, dead), costs in (counts or {}).items():
        for cost, n in costs.items():
            rows[cost, dead] = rows.get((cost, dead), 0) + int(n)
    for (_, dead), costs in (shares or {}).items():
        for cost, n in costs.items():
            chances[cost, dead] = chances.get((cost, dead), Fraction(0)) + n
    return Report(
        jars=exploration.upgrade.jars,
        modes=settled,
        verdict=exploration.verdict,
        endings=tuple(endings),
        runs=exploration.runs if exploration.graph.complete else None,
        costs=tuple((*key, runs, chances.get(key)) for key, runs in sorted(rows.items())),
        expected_rebalances=exploration.expected_rebalances if chancy else None,
        survival=exploration.survival if chancy else None,
    )


_MOST_ENDINGS, _MOST_TOLD, _MOST_COUNTED = 9, 12, 200

_RANK = {"upgraded": 0, "deaths": 1, "stops half-way": 2, "loop": 3}


_Spread = dict[tuple[str, int], dict[int, int | Fraction]]


def _counted(exploration: Exploration, counts: _Spread, shares: _Spread | None) -> list[Ending]:
    """One ending for each number of dead, or where there are many such numbers, one for all of them."""
    kinds: dict[str, list[int]] = {}
    for kind, dead in sorted(counts):
        kinds.setdefault(kind, []).append(dead)
    endings = []
    for kind in sorted(kinds, key=lambda kind: _RANK[kind]):
        numbers = kinds[kind]
        for group in [numbers] if len(numbers) > _MOST_ENDINGS else [[dead] for dead in numbers]:
            costs = [cost for dead in group for cost in counts[kind, dead]]
            share = None
            if shares is not None:
                share = sum((Fraction(n) for dead in group for n in shares[kind, dead].values()), Fraction(0))
            endings.append(
                Ending(
                    kind=kind,
                    dead=group[-1],
                    least_dead=group[0],
                    runs=sum(int(n) for dead in group for n in counts[kind, dead].values()),
                    chance=share,
                    rebalances=(min(costs), max(costs)),
                    witness=_example(exploration, kind, group[-1]),
                )
            )
    return endings


def _example(exploration: Exploration, kind: str, dead: int) -> Example | None:
    if (exploration.upgrade.members or 0) > MOST_NAMED:
        return None
    if kind == "loop":
        found = [loop for loop in exploration.loops if loop.kind == "loop"]
        return lifted(exploration, found[0].path) if found else None
    path: Path[Any] | None = exploration.run_that_ends(kind, dead)
    return None if path is None else lifted(exploration, path)


def _uncounted(exploration: Exploration) -> list[Ending]:
    """Endings without counts: of a search that stopped, of too many members, or with loops that luck can leave."""
    named = [("upgraded", "can end upgraded"), ("deaths", "no member dies"), ("loop", "no loop")]
    found = []
    for kind, claim in named:
        shown = examples(exploration, claim)
        if shown:
            dead = exploration.most_dead if kind == "deaths" else 0
            found.append(
                Ending(kind=kind, dead=dead, least_dead=0, runs=None, chance=None, rebalances=None, witness=shown[0])
            )
    return found
