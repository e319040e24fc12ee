"""One upgrade explored: its graph, and what the graph says of deaths, loops, ends and costs.

The models are in `named`, `ordered` and `counted`; concrete counterexamples are in `lifting`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..errors import ImpossibleScenarioError
from ..explorer import (
    Action,
    Chances,
    Graph,
    Loop,
    Path,
    Property,
    always,
    chances,
    check,
    discover,
    distribution,
    eventually,
    least_and_most,
    loops,
    reachable,
    runs,
)
from .counted import Counted
from .jars import Upgrade
from .named import BACK, PENDING, Named
from .ordered import Ordered
from .plain import Plain

REPRESENTATIONS = ("named", "ordered", "counted", "presence", "every size")
"""Every member named; members in an order; class counts; counts and presence; none, one and more for all sizes."""

Model = Named | Counted

_HALF_WAY, _CAUGHT = 1 << 24, 1 << 25

_MOST_COUNTED = 100

_CONFIRMED_WITH = (2, 3, 4, 5)
"""Numbers of members with which a loop that can be left is looked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is true of an upgrade over every order, leader and timing that its modes allow."""

    kind: str
    """`ok`, `deaths`, `loop`, `escapable loop`, `stops half-way`, or `unknown` where the search stopped early."""
    most_dead: int
    """The most members that are dead at once; for every size at once 2 stands for two or more."""
    silent: bool
    """Whether a member is poisoned in a group that is quiet, so that it dies at any later rebalance."""
    loops: tuple[str, ...]
    """The kind of each set of states in which the group can rebalance for ever: see `explorer.Loop`."""
    ends_upgraded: bool
    """Whether every fair run ends with everybody on the last jar and its version; the dead come back by a bounce."""
    two_owners: bool
    """Whether some generation gives a task to two threads."""
    rebalances: tuple[int, int | None] | None
    """The least and the most that a run costs; the most is None where there is a loop, all of it where nobody knows."""
    rebalances_without_deaths: tuple[int, int | None] | None
    """The same, over the runs in which nobody dies; None where there is no such run."""
    members: int | None
    states: int
    representation: str
    stopped: str
    """Why the search ended early: `limit` or `interrupted`; empty for a whole answer."""
    bounds: tuple[str, ...]
    """What the verdict covers, and what it does not."""

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the upgrade."""
        return self.kind == "ok"


class Exploration:
    """The reachable states of one upgrade; everything else is worked out when it is asked for."""

    def __init__(self, upgrade: Upgrade, representation: str, graph: Graph[Any]) -> None:
        self.upgrade = upgrade
        self.representation = representation
        self.graph = graph

    @property
    def model(self) -> Model:
        """The model that was explored."""
        return self.graph.model  # type: ignore[return-value]

    # ---------------------------------------------------------------- properties

    @cached_property
    def properties(self) -> tuple[Property[Any], ...]:
        """What should be true of every run."""
        model = self.model
        return (
            always("no member dies", lambda state: not model.dead(state)),
            always("no task has two owners", lambda state: not model.twice(state)),
            always("nobody is poisoned", lambda state: not model.poisoned(state)),
            eventually("ends upgraded", model.upgraded),
            reachable("can end upgraded", model.upgraded),
        )

    def counterexamples(self, name: str = "no member dies", *, most: int = 1) -> tuple[Path[Any], ...]:
        """The shortest paths that break a property, at most `most`; `no loop` gives each loop as a cycle."""
        if name == "no loop":
            return tuple(loop.path for loop in self.loops if loop.kind != "unfair")[:most]
        claim = next((claim for claim in self.properties if claim.name == name), None)
        if claim is None:
            known = ", ".join([*(claim.name for claim in self.properties), "no loop"])
            raise ImpossibleScenarioError("property", f"{name!r} is not known", known)
        return check(self.graph, [claim], most=most)[0].paths

    @cached_property
    def loops(self) -> tuple[Loop[Any], ...]:
        """Sets of states in which the group, and its supervisor, can go on for ever without the operator."""
        found = loops(self.graph, keep=_unattended)
        if self.representation != "every size" or all(loop.kind == "loop" for loop in found):
            return found
        # "2 or more" may go down for a while and stay "2 or more": a loop of that kind is not one
        kinds = {loop.kind for n in _CONFIRMED_WITH for loop in explored(self.upgrade.sized(n)).loops}
        return tuple(loop for loop in found if loop.kind == "loop" or loop.kind in kinds)

    @cached_property
    def most_dead(self) -> int:
        """The most members that are dead at once."""
        if not self.model.classes.kills:
            return 0
        return max(map(self.model.dead, self.graph.states), default=0)

    @cached_property
    def ends_upgraded(self) -> bool:
        """Whether every end is upgraded, and no loop is without a way out."""
        states, upgraded = self.graph.states, self.model.upgraded
        ends = self.graph.ends()
        return bool(ends) and all(upgraded(states[i]) for i in ends) and all(loop.kind != "loop" for loop in self.loops)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict, with its bounds."""
        model, graph = self.model, self.graph
        kinds = tuple(loop.kind for loop in self.loops)
        silent = model.classes.kills and any(
            model.poisoned(state) and not _control(model, state) & PENDING for state in graph.states
        )
        if self.most_dead:
            kind = "deaths"
        elif "loop" in kinds:
            kind = "loop"
        elif graph.stopped:
            kind = "unknown"
        elif "escapable" in kinds:
            kind = "escapable loop"
        elif not self.ends_upgraded:
            kind = "stops half-way"
        else:
            kind = "ok"
        sized = self.upgrade.members is not None
        return Verdict(
            kind=kind,
            most_dead=self.most_dead,
            silent=silent,
            loops=kinds,
            ends_upgraded=self.ends_upgraded,
            two_owners=model.modes.threads > 1 and any(map(model.twice, graph.states)),
            rebalances=self.rebalances if sized else None,
            rebalances_without_deaths=self.rebalances_without_deaths if sized else None,
            members=self.upgrade.members,
            states=len(graph),
            representation=self.representation,
            stopped=graph.stopped,
            bounds=self.bounds,
        )

    # ---------------------------------------------------------------- costs

    @cached_property
    def rebalances(self) -> tuple[int, int | None] | None:
        """The least and the most rebalances of a run."""
        return least_and_most(self.graph) if self.graph.complete else None

    @cached_property
    def rebalances_without_deaths(self) -> tuple[int, int | None] | None:
        """The same over the runs in which nobody dies."""
        if not self.most_dead or not self.graph.complete:
            return self.rebalances
        dead = self.model.dead
        return least_and_most(self.graph, within=lambda state: not dead(state))

    @cached_property
    def caught(self) -> tuple[bool, ...] | None:
        """For each state whether it is in a loop that nobody can leave, the operator included; None without one."""
        if not any(loop.kind == "loop" for loop in self.loops):
            return None
        inside = {i for loop in loops(self.graph) if loop.kind == "loop" for i in loop.states}
        return tuple(i in inside for i in range(len(self.graph))) if inside else None

    @cached_property
    def runs(self) -> int | None:
        """How many runs are covered: orders times leaders; None where a loop makes them endless.

        A run that comes into a loop without a way out ends there. Presence and every size do not count runs.
        """
        if self.representation in ("presence", "every size", "ordered"):
            return None
        return runs(self.graph, cut=self.caught)

    def distribution(self, *, chance: bool = False) -> dict[tuple[int, int], int | Fraction] | None:
        """How many runs cost how many rebalances and have how many dead at most: {(rebalances, dead): runs}.

        With `chance`, probabilities: of a bounce order drawn at random, and a successor drawn as `Modes.succession`
        says. A run that is caught in a loop counts as -1 dead. None where a loop can be left, or there is no count.
        """
        found = self._spread(chance)
        if found is None:
            return None
        told: dict[tuple[int, int], int | Fraction] = {}
        for (cost, mark), n in found.items():
            dead = -1 if mark & _CAUGHT else mark & ~_HALF_WAY
            told[cost, dead] = told.get((cost, dead), 0) + n
        return told

    def endings(self, *, chance: bool = False) -> dict[tuple[str, int], dict[int, int | Fraction]] | None:
        """How runs end: {(kind, most dead at once): {rebalances: runs}}, or with `chance` their probability.

        A run that stops half-way tells how many are dead then. None where runs are not counted.
        """
        found = self._spread(chance)
        if found is None:
            return None
        told: dict[tuple[str, int], dict[int, int | Fraction]] = {}
        for (cost, mark), n in found.items():
            told.setdefault(_kind_of(mark), {})[cost] = n
        return told

    def run_that_ends(self, kind: str, dead: int) -> Path[Any] | None:
        """A shortest run that ends so."""
        graph, marks = self.graph, self._marks
        ends = set(graph.ends())
        came: dict[tuple[int, int], tuple[tuple[int, int], Action]] = {}
        start: dict[tuple[int, int], Action] = {}
        for action, i in graph.initial:
            start.setdefault((i, marks[i]), action)
        queue = list(start)
        for here in queue:
            i, mark = here
            if i in ends and _kind_of(mark) == (kind, dead):
                states, actions = [graph.states[i]], []
                while here in came:
                    here, action = came[here]
                    states.append(graph.states[here[0]])
                    actions.append(action)
                return Path(tuple(reversed(states)), (start[here], *reversed(actions)))
            for action, target in graph.edges(i):
                there = (target, max(mark, marks[target]))
                if there not in came and there not in start:
                    came[there] = (here, action)
                    queue.append(there)
        return None

    @cached_property
    def _marks(self) -> list[int]:
        """How many are dead in each state, with a bit where a run ends before all are upgraded, or is caught."""
        states, dead, upgraded = self.graph.states, self.model.dead, self.model.upgraded
        marks = list(map(dead, states)) if self.most_dead else [0] * len(states)
        for i in self.graph.ends():
            if not upgraded(states[i]):
                marks[i] |= _HALF_WAY
        for i, here in enumerate(self.caught or ()):
            if here:
                marks[i] |= _CAUGHT
        return marks

    def _spread(self, chance: bool) -> dict[tuple[int, int], int | Fraction] | None:
        if self.representation in ("presence", "every size") or (self.representation == "ordered" and not chance):
            return None
        self._need_chances(chance)
        marks, index = self._marks, self.graph.index
        return distribution(self.graph, gauge=lambda state: marks[index[state]], chance=chance, cut=self.caught)

    def chances(self) -> Chances:
        """Where a random run ends, and what it costs on average."""
        self._need_chances(True)
        return chances(self.graph)

    @property
    def survival(self) -> Fraction:
        """The probability that nobody dies, over random orders and successions."""
        self._need_chances(True)
        if not self.most_dead:
            return Fraction(1)
        dead, states = self.model.dead, self.graph.states
        found = chances(self.graph, stop=lambda state: bool(dead(state)))
        return 1 - sum((share for i, share in found.ends.items() if dead(states[i])), Fraction(0))

    @property
    def expected_rebalances(self) -> Fraction | None:
        """The mean over random orders and successions; None where a run may go on for ever."""
        return self.chances().cost

    def _need_chances(self, asked: bool) -> None:
        modes = self.upgrade.modes
        if asked and (modes.rollback or modes.crashes or modes.supervisor or modes.interleaved or modes.lossy):
            raise ImpossibleScenarioError(
                "chance",
                "nobody knows how often operators turn round, or members crash or miss an answer",
                "settled modes",
            )
        if asked and self.representation in ("presence", "every size"):
            raise ImpossibleScenarioError("chance", f"{self.representation} has no counts", "named, ordered or counted")

    # ---------------------------------------------------------------- bounds

    @property
    def bounds(self) -> tuple[str, ...]:
        """What a verdict on this upgrade covers, one sentence each."""
        modes, n = self.upgrade.modes, self.upgrade.members
        who = {"any": "every choice of leader", "broker": "the broker's own choice of leader"}
        told = [
            "every number of members from 2" if n is None else f"{n} members",
            f"{'every bounce order' if modes.order == 'any' else f'order: {modes.order}'}, "
            f"{who.get(modes.succession, f'succession: {modes.succession}')}",
            f"a stopped member {modes.closing}, and is back {modes.restart} the group has rebalanced without it",
        ]
        told.append("bounces may overlap rebalances" if modes.interleaved else "each bounce waits for a quiet group")
        switches = {
            "never": "a leader that rejoins keeps the lead",
            "by jar": "a leader of 2.0 to 2.5 that rejoins gives up the lead",
            "others": "a leader that rejoins gives up the lead",
            "anyone": "a leader that rejoins is elected again, or not",
        }
        told.append(switches[modes.relead])
        if modes.lossy:
            told.append("any follower may miss any answer while another member rejoins")
        if n is None:
            told.append("a loop that can be left is told if it is there with 2 to 5 members")
        if modes.rollback:
            told.append("the operator turns round once, at any point")
        if modes.crashes:
            told.append(f"at most {modes.crashes} members crash for reasons of their own, at any point")
        if modes.supervisor:
            told.append("a supervisor restarts the dead on the image that they had")
        if self.graph.stopped:
            told.append(f"search stopped ({self.graph.stopped}) after {len(self.graph)} states: the rest is not known")
        told.append("of tasks only this is seen: whether a leader gives one to two threads of an instance")
        told.append("a rebalance is one step; partitions, static members and upgrade.from are left out")
        return tuple(told)


def _unattended(action: Action) -> bool:
    return action.by in ("group", "supervisor")


def _kind_of(mark: int) -> tuple[str, int]:
    if mark & _CAUGHT:
        return "loop", 0
    dead = mark & ~_HALF_WAY
    return ("stops half-way" if mark & _HALF_WAY else "deaths" if dead else "upgraded"), dead


def _control(model: Model, state: Any) -> int:
    control: int = state[-1] if isinstance(model, Named) else state[1]
    return control


def explored(
    upgrade: Upgrade,
    *,
    representation: str | None = None,
    reduction: bool = True,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Exploration:
    """Explore one upgrade, in the smallest representation that its modes allow, or in the one that is asked for.

    `reduction=False` names every member: the cross-check of the other representations. More than 100 members
    are counted by presence where that is exact, and then the runs are not counted.
    """
    modes = upgrade.modes
    if representation is None:
        if modes.by_place and isinstance(modes.order, str):
            representation = "ordered"
        elif modes.by_identity or not reduction:
            representation = "named"
        else:
            representation = "every size" if upgrade.members is None else "counted"
            if (
                upgrade.members is not None
                and upgrade.members > _MOST_COUNTED
                and Counted(upgrade, presence=True).lumped
            ):
                representation = "presence"
    if representation not in REPRESENTATIONS:
        raise ImpossibleScenarioError("representation", f"{representation!r} is not known", ", ".join(REPRESENTATIONS))
    if representation == "ordered" and not (modes.by_place and isinstance(modes.order, str)):
        raise ImpossibleScenarioError(
            "representation", "members are in an order only under such a succession", "broker, oldest, newest"
        )
    if representation == "named" and modes.by_place:
        raise ImpossibleScenarioError("representation", f"under {modes.succession} members are in an order", "ordered")
    if (representation == "every size") != (upgrade.members is None):
        raise ImpossibleScenarioError(
            "representation", f"{representation} with members={upgrade.members}", "every size with None"
        )
    model: Model
    if representation == "named":
        model = Plain(upgrade) if Plain.fits(upgrade) else Named(upgrade)
    elif representation == "ordered":
        model = Ordered(upgrade)
    else:
        model = Counted(upgrade, presence=representation == "presence")
    graph: Graph[Any] = discover(model, limit=limit, progress=progress)
    return Exploration(upgrade, representation, graph)


__all__ = ["BACK", "REPRESENTATIONS", "Exploration", "Verdict", "explored"]
