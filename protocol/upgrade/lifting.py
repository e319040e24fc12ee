"""From a path through counts to a run of named members, and from there to a scenario and a trace.

The steps of a run that no scenario can express are written in `telling`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import ImpossibleScenarioError, UnknownReleaseError
from ..explorer import Path, always, path_dot, path_itf, path_mermaid, path_text
from ..releases import Binary, release, teaching
from ..scenario import Scenario, simulate
from ..trace import Trace
from .exploration import Exploration, explored
from .jars import Jar
from .named import MOST_NAMED, NOBODY, Named
from .ordered import Ordered, with_names
from .telling import told


@dataclass(frozen=True, eq=False)
class Example:
    """One concrete run: members with names, and what happens to each."""

    model: Named
    path: Path[bytes]

    @property
    def members(self) -> tuple[str, ...]:
        """The names."""
        return self.model.names

    @cached_property
    def properties(self) -> tuple[Any, ...]:
        """What is told at each step: whether it holds there."""
        model = self.model
        return (
            always("no member dies", lambda state: not model.dead(state)),
            always("nobody is poisoned", lambda state: not model.poisoned(state)),
            always("no task has two owners", lambda state: not model.twice(state)),
        )

    def text(self) -> str:
        """The run for people."""
        return path_text(self.model, self.path, properties=self.properties)

    def itf(self) -> dict[str, object]:
        """The run in ITF, the trace format of Apalache and Quint."""
        jars = " → ".join(jar.name for jar in self.model.upgrade.jars)
        return path_itf(self.model, self.path, source=jars, properties=self.properties)

    def dot(self) -> str:
        """The run as DOT text; a loop is a cycle."""
        return path_dot(self.model, self.path)

    def mermaid(self) -> str:
        """The run as a Mermaid flowchart."""
        return path_mermaid(self.model, self.path)

    @property
    def leader(self) -> str:
        """Who leads first."""
        return str(dict(self.path.actions[0].parameters)["leader"])

    @property
    def bounced(self) -> tuple[tuple[str, str], ...]:
        """(member, jar that it starts) for each bounce, in order."""
        model, found = self.model, []
        for _, action, after in self.moments():
            if action.name in ("bounce", "stop"):
                member = dict(action.parameters)["member"]
                place = model.names.index(str(member))
                found.append((str(member), model.upgrade.jars[model.classes.jar[after[place]]].name))
        return tuple(found)

    @property
    def elected(self) -> tuple[str, ...]:
        """Who leads next, one name for each time the leader's id goes."""
        names = []
        for _, action, _ in self.moments():
            parameters = dict(action.parameters)
            names += [str(parameters[key]) for key in ("led by", "then leads") if key in parameters]
        return tuple(names)

    def moments(self) -> Iterator[tuple[bytes, Any, bytes]]:
        """(state before, action, state after) for each action after the first; the last closes a loop."""
        states = self.path.states
        for i, action in enumerate(self.path.actions[1:], 1):
            after = states[i] if i < len(states) else states[self.path.loop or 0]
            yield states[i - 1], action, after

    @cached_property
    def dead(self) -> frozenset[str]:
        """Who dies on the way of what it was told."""
        killed, states = self.model.classes.killed, self.path.states
        return frozenset(name for i, name in enumerate(self.members) if any(state[i] in killed for state in states))

    def scenario(self) -> Scenario:
        """The picks that make the simulator walk this way: the same members die, or it goes round in a loop.

        Raises: ImpossibleScenarioError where picks cannot say it.
        """
        if isinstance(self._played, ImpossibleScenarioError):
            raise self._played
        return self._played[0]

    def trace(self) -> Trace:
        """The run as the simulator plays it, with its bytes and log lines; where it cannot, as it is told here."""
        return told(self) if isinstance(self._played, ImpossibleScenarioError) else self._played[1]

    @cached_property
    def _played(self) -> tuple[Scenario, Trace] | ImpossibleScenarioError:
        """Where all members leave at once, the simulator elects fewer than the path: so the last names may go."""
        try:
            picks = self._picks()
        except ImpossibleScenarioError as refusal:
            return refusal
        names = len(self.elected)
        for kept in dict.fromkeys((names, *range(names - 1, max(names - 4, 0), -1), 0)):
            scenario = Scenario(**picks, succession=self.elected[:kept] or "broker")
            try:
                trace = simulate(scenario)
            except ImpossibleScenarioError:
                continue
            dead = frozenset(death.member for death in trace.outcome.deaths)
            if (trace.outcome.kind == "loop") == (self.path.loop is not None) and dead == self.dead:
                return scenario, trace
        return ImpossibleScenarioError("path", "the simulator, which knows more, walks another way")

    def _picks(self) -> dict[str, Any]:
        modes, model = self.model.modes, self.model
        names = [action.name for action in self.path.actions]
        for what, why in (
            ("crash", "nobody picks a crash"),
            ("restart", "nobody picks when a supervisor acts"),
            ("turn back", "a rollback is picked by a number of bounces"),
        ):
            if what in names:
                raise ImpossibleScenarioError("path", why)
        if modes.interleaved or modes.lossy:
            raise ImpossibleScenarioError("path", "the simulator's operator waits, and its answers arrive")
        if not self.bounced:
            raise ImpossibleScenarioError("path", "nobody is bounced")
        binaries = {jar.name: binary_of(jar) for jar in model.upgrade.jars}
        picks: dict[str, Any] = {
            "old": binary_of(model.upgrade.jars[0]),
            "new": binary_of(model.upgrade.jars[-1]),
            "members": model.n,
            "leader": self.leader,
            "closing": modes.closing,
            "restart": modes.restart,
        }
        if len(model.upgrade.jars) == 2:
            picks["order"] = tuple(name for name, _ in self.bounced)
        else:
            picks["bounces"] = tuple((name, binaries[jar]) for name, jar in self.bounced)
        return picks

    def __repr__(self) -> str:
        return f"<{len(self.path)} steps of {', '.join(self.members)}>"


def binary_of(jar: Jar) -> str | Binary:
    """The release of that name, or a teaching binary with the jar's rules."""
    try:
        found = release(jar.name).binary
        if (found.latest, found.leader_rule, found.member_rule) == (jar.latest, jar.leader_rule, jar.member_rule):
            return jar.name
    except UnknownReleaseError:
        pass
    made = teaching(jar.name, latest=jar.latest, leader_rule=jar.leader_rule, member_rule=jar.member_rule)
    return replace(made, rejoin="leave" if jar.leaves else "enforce")


def lifted(exploration: Exploration, path: Path[Any]) -> Example:
    """The first run of named members that the path stands for: each of its steps is a step of the named model.

    For a path through every size at once, the smallest group that has such a run; then it may be another path.
    """
    model = exploration.model
    if isinstance(model, Ordered):
        return Example(*with_names(model, path))
    if isinstance(model, Named):
        return Example(model, path)
    upgrade = exploration.upgrade
    assert upgrade.members is not None, "a path through every size is found again by `examples`"
    named = Named(upgrade)
    wanted = [_lumped(model, state) for state in path.states]
    if path.loop is not None:
        wanted.append(wanted[path.loop])
    action, state = next((a, s) for a, s in named.initial() if _lumped(named, s) == wanted[0])
    actions, states = [action], [state]
    for number, goal in enumerate(wanted[1:], 1):
        name = path.actions[number].name
        action, state = next((a, s) for a, s in named.moves(state) if a.name == name and _lumped(named, s) == goal)
        actions.append(action)
        states.append(state)
    if path.loop is None:
        return Example(named, Path(tuple(states), tuple(actions)))
    return Example(named, _closed(named, states, actions, path, wanted))


def _closed(named: Named, states: list[bytes], actions: list[Any], path: Path[Any], wanted: list[Any]) -> Path[bytes]:
    """Go round until a state of named members comes back: names may be swapped when counts are the same again."""
    assert path.loop is not None
    around = wanted[path.loop + 1 :]
    names = [action.name for action in path.actions[path.loop + 1 :]]
    while states[-1] not in states[:-1]:
        for name, goal in zip(names, around, strict=True):
            action, state = next(
                (a, s) for a, s in named.moves(states[-1]) if a.name == name and _lumped(named, s) == goal
            )
            actions.append(action)
            states.append(state)
            if state in states[:-1]:
                break
    return Path(tuple(states[:-1]), tuple(actions), loop=states.index(states[-1]))


def _lumped(model: Any, state: Any) -> tuple[int, ...]:
    """The leader's class, the bits, and how many members each class has."""
    if not isinstance(model, Named):
        return tuple(state)
    members, leader, control = state[:-2], state[-2], state[-1]
    counts = [members.count(i) for i in range(len(model.classes.all)) if i != model.classes.gone]
    return (members[leader - 128] if leader != NOBODY else -1, control, *counts)


def examples(exploration: Exploration, name: str = "no member dies", *, most: int = 1) -> tuple[Example, ...]:
    """Concrete runs that break a property, shortest first and all different; `no loop` gives loops as cycles.

    Where members are not counted, by presence, for every size, or beyond 120, they are of the smallest group.

    >>> from protocol.upgrade.jars import upgrade
    >>> print(examples(explored(upgrade("2.0.0", "2.1.0")))[0].bounced)
    (('A', '2.1.0'),)
    """
    too_many = (exploration.upgrade.members or 0) > MOST_NAMED
    if exploration.representation in ("every size", "presence") or too_many:
        for members in range(2, min(exploration.upgrade.members or 8, 8) + 1):
            found = examples(explored(exploration.upgrade.sized(members)), name, most=most)
            if found:
                return found
        return ()
    return tuple(lifted(exploration, path) for path in exploration.counterexamples(name, most=most))
