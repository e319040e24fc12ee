"""Many upgrades at once: the matrix of rules and modes, and every ordered pair of releases.

Any `concurrent.futures.Executor` may do the work: threads, processes, or a cluster's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from itertools import islice

from ..releases import releases
from ..strategies import STRATEGIES
from .exploration import Verdict, explored
from .jars import MODES, Jar, Modes, Upgrade, distinct, jar, title
from .lifting import Example, examples

LEADERS = (
    "leader's version",
    "smallest supported, not yet encoded",
    "smallest supported",
    "smallest supported of all",
    "mirror",
    "proposal",
)
"""Leader rules of the matrix: those that probe."""

MEMBERS = ("leader's version", "smallest supported", "mirror", "proposal")
"""Member rules of the matrix: those that probe."""

_LED_BY = {
    "leader's version": "leader's version",
    "smallest supported": "smallest supported",
    "mirror": "mirror",
    "proposal": "proposal",
}
"""What an old binary with a member rule leads by."""

Task = tuple[tuple[str, ...], Upgrade]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Cell:
    """One upgrade of a sweep: what it is called, and what is true of it."""

    key: tuple[str, ...]
    """For the matrix (leader rule of the new jar, member rule of the old, member rule of the new, mode); for the
    pairs (old release, new release)."""
    upgrade: Upgrade
    verdict: Verdict

    @property
    def members(self) -> int | None:
        """How many members; None: every number from 2 up."""
        return self.upgrade.members

    def witness(self) -> Example | None:
        """The shortest run that goes wrong, of named members; None where none does."""
        claims = {"deaths": "no member dies", "loop": "no loop", "escapable loop": "no loop"}
        claim = claims.get(self.verdict.kind, "ends upgraded")
        found = () if self.verdict.ok else examples(explored(self.upgrade), claim)
        return found[0] if found else None

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        verdict = self.verdict
        return {
            "key": list(self.key),
            "members": self.members,
            "verdict": verdict.kind,
            "most_dead": verdict.most_dead,
            "silent": verdict.silent,
            "loops": list(verdict.loops),
            "ends_upgraded": verdict.ends_upgraded,
            "rebalances": None if verdict.rebalances is None else list(verdict.rebalances),
            "states": verdict.states,
        }


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep found, in the order in which it was asked."""

    cells: tuple[Cell, ...]
    asked: int
    stopped: str = ""
    """`interrupted` if Ctrl-C ended it; then `cells` has what was done."""

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def to_json(self) -> dict[str, object]:
        """Plain data with documented keys; `schema` 1."""
        return {
            "schema": 1,
            "asked": self.asked,
            "complete": not self.stopped,
            "cells": [cell.to_json() for cell in self.cells],
        }

    def cell(self, *key: str, members: int | None = None) -> Cell:
        """The cell of that key, and of that size if there are several; KeyError for a stranger."""
        for cell in self.cells:
            if cell.key == key and (members is None or cell.members == members):
                return cell
        raise KeyError(key)


def sweep(tasks: Sequence[Task], *, executor: Executor | None = None, progress: Progress | None = None) -> Sweep:
    """Explore many upgrades; those that differ in names only are explored once.

    Ctrl-C keeps what is done.
    """
    wanted: dict[tuple[object, ...], list[int]] = {}
    for i, (_, upgrade) in enumerate(tasks):
        behaviour = tuple(one.behaviour for one in upgrade.jars)
        wanted.setdefault((behaviour, upgrade.members, upgrade.modes), []).append(i)
    unique = [tasks[places[0]][1] for places in wanted.values()]
    places = list(wanted.values())
    found: dict[int, Verdict] = {}
    stopped = ""
    try:
        for number, verdict in _verdicts(unique, executor):
            for i in places[number]:
                found[i] = verdict
            if progress is not None:
                progress(len(found), len(tasks))
    except KeyboardInterrupt:
        stopped = "interrupted"
    cells = tuple(Cell(key, upgrade, found[i]) for i, (key, upgrade) in enumerate(tasks) if i in found)
    return Sweep(cells, len(tasks), stopped)


def _verdicts(upgrades: Sequence[Upgrade], executor: Executor | None) -> Iterator[tuple[int, Verdict]]:
    if executor is None:
        for number, upgrade in enumerate(upgrades):
            yield number, verdict_of(upgrade)
        return
    futures: dict[Future[list[Verdict]], int] = {}
    size = max(1, min(64, len(upgrades) // 32))
    rest = iter(upgrades)
    begin = 0
    while chunk := list(islice(rest, size)):
        futures[executor.submit(verdicts_of, chunk)] = begin
        begin += len(chunk)
    try:
        for future in as_completed(futures):
            for offset, verdict in enumerate(future.result()):
                yield futures[future] + offset, verdict
    finally:
        for future in futures:
            future.cancel()


def verdict_of(upgrade: Upgrade) -> Verdict:
    """The verdict on one upgrade; what a worker is sent is the upgrade, and what it sends back is this."""
    return explored(upgrade).verdict


def verdicts_of(upgrades: Iterable[Upgrade]) -> list[Verdict]:
    """A worker's share."""
    return [verdict_of(upgrade) for upgrade in upgrades]


def rule_jar(leader_rule: str, member_rule: str, *, latest: int) -> Jar:
    """A jar of two rules and a number."""
    leader, member = title(leader_rule), title(member_rule)
    name = leader if leader == member else f"{leader} / {member}"
    return Jar(name=f"v{latest} {name}", latest=latest, leader_rule=leader_rule, member_rule=member_rule)


def matrix_tasks(
    *,
    leaders: Sequence[str] = LEADERS,
    members_rules: Sequence[str] = MEMBERS,
    modes: Mapping[str, Modes] = MODES,
    sizes: Sequence[int | None] = (3,),
) -> list[Task]:
    """Leader rule of the new jar, member rule of the old, member rule of the new, in every mode and size."""
    tasks: list[Task] = []
    for leader in leaders:
        for old in members_rules:
            for new in members_rules:
                jars = (rule_jar(_LED_BY.get(old, old), old, latest=10), rule_jar(leader, new, latest=11))
                for name, mode in modes.items():
                    for size in sizes:
                        tasks.append(((leader, old, new, name), Upgrade(jars=jars, members=size, modes=mode)))
    return tasks


def matrix(
    *,
    modes: Mapping[str, Modes] = MODES,
    sizes: Sequence[int | None] = (3,),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """The full matrix of rules, in every mode.

    >>> one = {"settled": MODES["settled"]}
    >>> matrix(modes=one).cell("smallest supported", "leader's version", "smallest supported", "settled").verdict.kind
    'ok'
    """
    return sweep(matrix_tasks(modes=modes, sizes=sizes), executor=executor, progress=progress)


def strategies_matrix(
    *,
    modes: Mapping[str, Modes] = MODES,
    sizes: Sequence[int | None] = (3,),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Every strategy followed by every strategy: keys are (old, new, mode)."""
    names = [name for name in STRATEGIES if name != "fixed version"]
    tasks: list[Task] = []
    for old in names:
        for new in names:
            jars = tuple(
                Jar(
                    name=f"v{latest} {name}",
                    latest=latest,
                    leader_rule=STRATEGIES[name].leader_rule,
                    member_rule=STRATEGIES[name].member_rule,
                )
                for name, latest in ((old, 10), (new, 11))
            )
            for mode, switches in modes.items():
                tasks += [((old, new, mode), Upgrade(jars=jars, members=size, modes=switches)) for size in sizes]
    return sweep(tasks, executor=executor, progress=progress)


def release_pairs(
    names: Sequence[str] | None = None,
    *,
    members: int | None = 3,
    modes: Modes | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Every ordered pair of releases in the catalogue, under the broker's rules: keys are (old, new).

    Leaders of 2.0 to 2.5 give up the lead when they probe. `members=None` judges every size at once, without costs.

    >>> release_pairs(["2.0.0", "2.1.0", "2.3.1"]).cell("2.0.0", "2.1.0").verdict.kind
    'deaths'
    """
    known = list(names) if names is not None else [row.name for row in releases()]
    jars = {name: jar(name) for name in known}
    chosen = modes or Modes(relead="by jar")
    tasks: list[Task] = [
        ((old, new), Upgrade(jars=(jars[old], jars[new]), members=members, modes=chosen))
        for old in known
        for new in known
        if old != new
    ]
    return sweep(tasks, executor=executor, progress=progress)


def behaviours(names: Sequence[str] | None = None) -> Mapping[str, tuple[str, ...]]:
    """Releases that no rebalance can tell apart, by the first of each kind."""
    known = list(names) if names is not None else [row.name for row in releases()]
    first = {key: one.name for key, one in distinct(jar(name) for name in known).items()}
    groups: dict[str, list[str]] = {}
    for name in known:
        groups.setdefault(first[jar(name).behaviour], []).append(name)
    return {key: tuple(group) for key, group in groups.items()}


def why(old: str, new: str, verdict: Verdict) -> str:
    """Which field case explains a pair that goes wrong; empty where nothing does."""
    if verdict.kind == "ok":
        return ""
    before, after = jar(old), jar(new)
    if not {before.leader_rule, after.leader_rule}.isdisjoint(("own version", "smallest used")):
        return "KIP-268: nobody probes before 2.0; upgrade.from and two rolling bounces are the way"
    if "proposal" in (before.leader_rule, after.leader_rule) or "mirror" in (before.leader_rule, after.leader_rule):
        return "KAFKA-8649, PR 7413: the proposal is safe among its own kind only"
    if after.leader_rule == "smallest supported, not yet encoded":
        return "KAFKA-9053: the smallest supported version is found and not written"
    if after.leader_rule == "leader's version" or before.leader_rule == "leader's version":
        return "KAFKA-8649: the leader tells its own latest version as if all could speak it"
    return "a downgrade, or a mix that no release note describes"
