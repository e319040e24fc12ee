"""The bench: pickers above the player, and whatever is picked is on the screen at once.

What the picks mean is in `scenario`, how a run is played in `player`, how the pickers look in `header.js`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import ImpossibleScenarioError, VersionProbingError
from ..frames import frames
from ..player import PARTS, Player, joined, playable
from ..scenario import Scenario, simulate
from ..trace import Trace
from .link import link, read_link, token
from .picks import MOST_TOKENS, changed, choices, form, scenario
from .presets import PRESETS, Preset

__all__ = ["PRESETS", "Bench", "Preset", "link", "read_link"]

ENTRY = "export { begin, mount, show, start, unfold };\nexport default { render };\n"


@functools.cache
def module() -> str:
    """The bench's JavaScript module: the player's, and the pickers above it."""
    return joined({"protocol.player": PARTS, __package__: ("compare", "ladder", "header")}, ENTRY)


class Bench(Player):
    """The pickers and the player; `scenario` and `trace` are what is on the screen.

    Takes a scenario, a link that a bench gave, or nothing; `pinned` is a scenario to compare with. A pick that
    contradicts another is explained, and changes nothing.
    """

    _esm = module()
    _begin = "begin();"

    def __init__(
        self, scenario: Scenario | str | None = None, *, pinned: Scenario | None = None, index: int | None = None
    ) -> None:
        if isinstance(scenario, str):
            linked = read_link(scenario)
            scenario, pinned = linked.scenario, pinned or linked.pinned
            index = linked.step if index is None else index
        self.scenario = scenario or PRESETS["probing"].scenario
        self.pinned = pinned
        self.preset = "" if scenario else "probing"
        self.trace = _run(self.scenario)
        super().__init__(self._data(self.scenario, self.trace, pinned), index or 0)
        self._trace = self.trace
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"Bench({self.scenario.python()}{f', pinned={self.pinned.python()}' if self.pinned else ''})"

    # ---------------------------------------------------------------- what is on the screen

    def show(  # type: ignore[override]
        self, scenario: Scenario, *, pinned: Scenario | None = None, index: int | None = None
    ) -> None:
        """Run a scenario and put it on the screen, with `pinned` beside it.

        Raises:
            VersionProbingError: it cannot be; what is on the screen stays.
        """
        trace = _run(scenario)
        data = self._data(scenario, trace, pinned)
        self.scenario, self.trace, self.pinned, self._trace = scenario, trace, pinned, trace
        with self.hold_sync():
            self.index = index or 0
            self.data = data

    def _data(self, shown: Scenario, trace: Trace, pinned: Scenario | None) -> dict[str, Any]:
        """What the page needs: the run, the pinned run, and what the pickers say and offer."""
        picked = form(shown)
        data = playable(trace)
        if pinned is not None:
            data["pinned"] = {**frames(_run(pinned)), "bench": _named(pinned)}
        data["bench"] = {
            "picked": picked,
            "offers": choices(picked),
            "presets": [[name, preset.title] for name, preset in PRESETS.items()],
            "preset": next(
                (name for name, one in PRESETS.items() if (one.scenario, one.pinned) == (shown, pinned)), ""
            ),
            "link": token(shown),
            "with": token(pinned) if pinned else "",
            "plain": scenario(picked) == shown or _simple(shown) == _simple(scenario(picked)),
        }
        return data

    def html(self, title: str = "") -> str:
        """As the player's, with every leader and order to pick from where the members are three or fewer."""
        return self._page({**self.data, "runs": self._runs()} if self._few() else self.data, title)

    def fragment(self, *, runs: bool = False) -> str:
        """As the player's; with `runs`, every leader and order can be picked without a kernel, too."""
        return self._piece({**self.data, "runs": self._runs()} if runs and self._few() else self.data)

    def _few(self) -> bool:
        return len(self.scenario.instances) <= 3

    def _runs(self) -> dict[str, Any]:
        """The runs of this scenario with every leader and order, each by its link."""
        made: dict[str, Any] = {}
        names = self.scenario.instances
        for leader, order in itertools.product(names, itertools.permutations(names)):
            one = replace(self.scenario, leader=leader, order=order)
            try:
                made[token(one)] = {**frames(_run(one)), "bench": _named(one)}
            except VersionProbingError:
                continue
        return made

    # ---------------------------------------------------------------- what the page asks for

    def _heard(self, _: object, asked: Mapping[str, Any], __: Sequence[bytes]) -> None:
        """A pick, a preset, a pin, a link or an export, asked for on the page."""
        try:
            if "export" in asked:
                name, data = self.export(str(asked["export"]))
                self.send({"file": name}, [data])
                return
            self._ask(asked)
            told = ""
        except VersionProbingError as error:
            told = f"This cannot be. {error}. What you see is still the run before."
        self.send({"told": told})

    def _ask(self, asked: Mapping[str, Any]) -> None:
        if "pick" in asked:
            picked = scenario(changed(form(self.scenario), asked["pick"]))
            self.show(picked, pinned=self.pinned, index=self.index if self.pinned else 0)
        elif "preset" in asked and asked["preset"] in PRESETS:
            preset = PRESETS[asked["preset"]]
            self.show(preset.scenario, pinned=preset.pinned)
        elif "pin" in asked:
            self.show(self.scenario, pinned=self.scenario if asked["pin"] else None, index=self.index)
        elif "swap" in asked and self.pinned:
            self.show(self.pinned, pinned=self.scenario, index=self.index)
        elif "link" in asked:
            linked = read_link(str(asked["link"]))
            self.show(linked.scenario, pinned=linked.pinned, index=linked.step)
        else:
            raise ImpossibleScenarioError("bench", "the page asked for something that it does not offer")


def _named(one: Scenario) -> dict[str, object]:
    """What the page must know of a run that it may put in place of another."""
    return {"picked": form(one), "link": token(one), "preset": ""}


def _simple(one: Scenario) -> dict[str, object]:
    """The picks, with every order and leader written out."""
    return {
        **one.picks(),
        "order": [*one.bounced],
        "leader": one.leader or one.instances[0],
        "members": len(one.instances),
    }


def _run(one: Scenario) -> Trace:
    if len(one.names) > MOST_TOKENS:
        raise ImpossibleScenarioError("threads", f"{len(one.names)} members in all", f"{MOST_TOKENS} on the bench")
    return simulate(one)
