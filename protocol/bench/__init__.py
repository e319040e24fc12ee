"""The pickers around the player: pick a scenario, and its run is on the screen.

What the picks mean is in `scenario`, how a run is played in `player`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import ipywidgets as w

from .errors import ImpossibleScenarioError, VersionProbingError
from .player import Player
from .releases import Binary, release, releases, teaching
from .scenario import CLOSINGS, Scenario, member_names, simulate
from .strategies import STRATEGIES
from .trace import Trace

LEAST, MOST = 2, 12
"""Members that the bench shows: a diagram of more is no longer looked at."""

MOST_TOKENS = 24
"""Threads in all that the diagrams have room for."""

OLD_JAR, NEW_JAR = 10, 11
"""The versions of the two teaching jars."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A question worth asking, and the picks that ask it."""

    title: str
    scenario: Scenario


PRESETS: Mapping[str, Preset] = {
    "probing": Preset("Old leader: true probing", Scenario(old="2.0.0", new="2.1.0", leader="A", order="C,B,A")),
    "kafka-8649": Preset(
        "New leader: KAFKA-8649", Scenario(old="2.0.0", new="2.1.0", leader="A", order="A,B,C", succession="newest")
    ),
    "fixed": Preset(
        "New leader, as fixed", Scenario(old="2.0.0", new="2.3.1", leader="A", order="A,B,C", succession="newest")
    ),
}
"""The buttons above the pickers."""


class Bench(w.VBox):  # type: ignore[misc]
    """The pickers and the player; `scenario` and `trace` are what is on the screen.

    A pick that contradicts another is explained, and changes nothing.
    """

    def __init__(self, scenario: Scenario | None = None) -> None:
        self.scenario = scenario or PRESETS["probing"].scenario
        self.trace: Trace = simulate(self.scenario)
        self.player = Player(self.trace)
        self._quiet = False
        self._make()
        self._show(self.scenario)
        super().__init__([self._presets, self._main, self._more, self._told, self.player])
        self.add_class("vp-bench")

    def __repr__(self) -> str:
        return f"Bench({self.scenario.python()})"

    # ---------------------------------------------------------------- the pickers

    def _make(self) -> None:
        names = member_names(self.scenario.members)
        catalogue = [row.name for row in releases()]
        strategies = list(STRATEGIES)
        self.members = w.BoundedIntText(value=3, min=LEAST, max=MOST, description="Members")
        self.leader = w.Dropdown(options=names, description="Leader", tooltip="who leads first")
        self.order = w.TagsInput(value=names, allowed_tags=names, allow_duplicates=False)
        self.jars = w.ToggleButtons(options=["Releases", "Strategies"], description="Jars")
        self.old = w.Dropdown(options=catalogue, value="2.0.0", description="from")
        self.new = w.Dropdown(options=catalogue, value="2.1.0", description="to")
        self.old_strategy = w.Dropdown(options=strategies, description=f"v{OLD_JAR} jar")
        self.new_strategy = w.Dropdown(options=strategies, description=f"v{NEW_JAR} jar")
        self.succession = w.Dropdown(
            options=[
                ("the broker's draw", "broker"),
                *((f"the {name} member", name) for name in ("oldest", "newest")),
                ("the highest version", "highest version"),
            ],
            description="Next leader",
        )
        self.closing = w.Dropdown(options=CLOSINGS, description="A closed id")
        self.restart = w.Dropdown(
            options=[("before the timeout", "before"), ("after the timeout", "after")], description="It returns"
        )
        self.static = w.Checkbox(description="static members", indent=False)
        self.threads = w.BoundedIntText(value=1, min=1, max=4, description="Threads")
        self.upgrade_from = w.Dropdown(options=[("not set", "")], description="upgrade.from")
        self.rollback = w.BoundedIntText(value=0, min=0, max=MOST, description="Turn back after")
        self.timing = w.Dropdown(
            options=[("in lockstep", "lockstep"), ("by the timetable", "timetable")], description="Members act"
        )
        self.seed = w.BoundedIntText(value=0, min=0, max=9999, description="Seed")
        self._told = w.HTML()
        self._presets = w.HBox([self._button(preset) for preset in PRESETS.values()])
        releases_row = w.HBox([self.old, self.new])
        strategies_row = w.HBox([self.old_strategy, self.new_strategy])
        self._stack = w.Stack([releases_row, strategies_row], selected_index=0)
        order = w.HBox([w.Label("Bounce order (drag)"), self.order])
        self._main = w.VBox(
            [w.HBox([self.members, self.leader, self.succession]), order, w.HBox([self.jars, self._stack])]
        )
        self._more = w.Accordion(
            [
                w.VBox(
                    [
                        w.HBox([self.closing, self.restart, self.static]),
                        w.HBox([self.threads, self.upgrade_from, self.rollback]),
                        w.HBox([self.timing, self.seed]),
                    ]
                )
            ],
            titles=("More",),
        )
        for picker in self._pickers():
            picker.observe(self._picked, "value")

    def _pickers(self) -> Sequence[w.Widget]:
        return (
            self.members,
            self.leader,
            self.order,
            self.jars,
            self.old,
            self.new,
            self.old_strategy,
            self.new_strategy,
            self.succession,
            self.closing,
            self.restart,
            self.static,
            self.threads,
            self.upgrade_from,
            self.rollback,
            self.timing,
            self.seed,
        )

    def _button(self, preset: Preset) -> w.Button:
        button = w.Button(description=preset.title, layout=w.Layout(width="auto"))
        button.on_click(lambda _: self.show(preset.scenario))
        return button

    # ---------------------------------------------------------------- picking

    def _picked(self, change: Mapping[str, object]) -> None:
        """A picker moved: run what is picked now, or say why that cannot be."""
        if self._quiet:
            return
        if change["owner"] is self.members:
            self._rename()
        self._stack.selected_index = self.jars.index
        self.show(self.picked)

    @property
    def picked(self) -> Scenario:
        """What the pickers say."""
        if self.jars.value == "Releases":
            old, new = self.old.value, self.new.value
        else:
            old, new = _jar(OLD_JAR, self.old_strategy.value), _jar(NEW_JAR, self.new_strategy.value)
        return Scenario(
            old=old,
            new=new,
            members=self.members.value,
            leader=self.leader.value,
            order=tuple(self.order.value),
            succession=self.succession.value,
            closing=self.closing.value,
            restart=self.restart.value,
            static=self.static.value,
            threads=self.threads.value,
            upgrade_from=self.upgrade_from.value or None,
            rollback=self.rollback.value or None,
            timing=self.timing.value,
            seed=self.seed.value,
        )

    def show(self, scenario: Scenario) -> None:
        """Run a scenario and put it on the screen; an impossible one is explained, and changes nothing."""
        try:
            if len(scenario.names) > MOST_TOKENS:
                raise ImpossibleScenarioError(
                    "threads", f"{len(scenario.names)} members in all", f"{MOST_TOKENS} on the bench"
                )
            trace = simulate(scenario)
        except VersionProbingError as error:
            self._tell(f"This cannot be: {error}. What you see is still the run before.", wrong=True)
            return
        self.scenario, self.trace = scenario, trace
        self.player.show(trace)
        self._show(scenario)

    def _show(self, scenario: Scenario) -> None:
        """Set the pickers to what is on the screen, without running it again."""
        self._quiet = True
        try:
            self.members.value = len(scenario.instances)
            self._rename()
            self.leader.value = scenario.leader or scenario.instances[0]
            self.order.value = scenario.bounced
            jars = [scenario.before[0].name, scenario.new if isinstance(scenario.new, str) else scenario.new.name]
            self.jars.value = "Releases" if isinstance(scenario.new, str) else "Strategies"
            if self.jars.value == "Releases":
                self.old.value, self.new.value = jars
                known = [one.value for one in release(jars[1]).binary.upgrade_from]
                self.upgrade_from.options = [("not set", ""), *((value, value) for value in known)]
            self._stack.selected_index = self.jars.index
            self.upgrade_from.value = scenario.upgrade_from or ""
            if isinstance(scenario.succession, str):
                self.succession.value = scenario.succession
            self.closing.value, self.static.value, self.threads.value = (
                scenario.closing,
                scenario.static,
                scenario.threads,
            )
            if isinstance(scenario.restart, str):
                self.restart.value = scenario.restart
            self.rollback.value, self.timing.value, self.seed.value = (
                scenario.rollback or 0,
                scenario.timing,
                scenario.seed,
            )
        finally:
            self._quiet = False
        self._tell(f"{self.trace.rebalances} rebalances. {self.trace.outcome.text}", wrong=not self.trace.outcome.ok)

    def _rename(self) -> None:
        """The names follow the number of members; the order keeps what it can."""
        names = member_names(self.members.value)
        quiet, self._quiet = self._quiet, True
        kept = [name for name in self.order.value if name in names]
        self.order.allowed_tags = list(names)
        self.order.value = [*kept, *(name for name in names if name not in self.order.value)]
        leader = self.leader.value
        self.leader.options = names
        self.leader.value = leader if leader in names else names[0]
        self._quiet = quiet

    def _tell(self, text: str, *, wrong: bool) -> None:
        mark = "⚠ " if wrong else ""
        self._told.value = f"<p role='status' style='margin:4px 2px'>{mark}{escape(text)}</p>"


def _jar(version: int, strategy: str) -> Binary:
    """The teaching jar of that version that follows a strategy."""
    rules = STRATEGIES[strategy]
    return teaching(
        f"v{version} jar", latest=version, leader_rule=rules.leader_rule, member_rule=rules.member_rule
    )
