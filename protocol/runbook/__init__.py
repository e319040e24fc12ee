"""The runbook: an upgrade is picked, its plan stands there at once, and a run of it opens in the bench below.

What a plan says is in `planner`, how a run is shown in `bench`; here is the page for the change window.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import traitlets

from .. import bench
from ..errors import ImpossibleScenarioError, VersionProbingError
from ..frames import frames
from ..planner import Advice
from ..player import joined
from ..scenario import Scenario, simulate
from .markdown import markdown
from .page import page
from .picks import Form, changed, choices, form, planned, python

__all__ = ["Runbook", "markdown"]

ENTRY = "export { openRunbooks, runbook };\nexport default { render: attachRunbook };\n"


@functools.cache
def module() -> str:
    """The runbook's JavaScript module: the bench's, and the plan above it."""
    below = bench.module()
    return below[: below.rindex("\nexport {") + 1] + joined({__package__: ("badge", "cards", "sheet")}, ENTRY)


class Runbook(bench.Bench):
    """The plan of an upgrade, and the bench that shows a run of it: `Runbook("2.3.0", "3.9.0", members=5)`.

    Takes what `plan` takes; `advice` is what is on the screen. A pick that cannot be is explained, and changes nothing.
    """

    _esm = module()
    _begin = "openRunbooks();"
    sheet = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        old: str = "2.3.0",
        new: str = "3.9.0",
        *,
        members: int = 3,
        threads: int = 1,
        upgrade_from: str | None = None,
        static: bool = False,
        leaves: bool = False,
        uses: Iterable[str] | None = None,
    ) -> None:
        picked = form(
            old,
            new,
            members=members,
            threads=threads,
            upgrade_from=upgrade_from,
            static=static,
            leaves=leaves,
            uses=uses,
        )
        self.advice: Advice = planned(picked)
        self.picked: Form = picked
        super().__init__()
        self.data = {}  # nothing is watched yet, and a notebook keeps what is here in its file
        self.sheet = self._sheet()

    def __repr__(self) -> str:
        return python(self.picked).replace("plan(", "Runbook(", 1)

    def pick(self, **picks: object) -> None:
        """Pick something else, as on the page: `pick(new="3.5.1", upgrade_from="3.4")`.

        Raises:
            VersionProbingError: it cannot be; what is on the screen stays.
        """
        picked = changed(self.picked, picks)
        self.advice = planned(picked)
        self.picked = picked
        self.sheet = self._sheet()

    def watch(self, name: str = "run") -> None:
        """Put a run of the plan into the bench: `danger`, or `run` for one that goes well.

        Raises:
            ImpossibleScenarioError: this plan has no such run.
        """
        scenario = self._runs_of_plan().get(name)
        if scenario is None:
            raise ImpossibleScenarioError("run", f"this plan has no run called {name[:20]!r}", "danger or run")
        self.show(scenario, index=_telling(scenario) if name == "danger" else 0)

    def markdown(self) -> str:
        """The plan as Markdown, to paste into a ticket."""
        return markdown(self.advice)

    def fragment(self, *, runs: bool = True) -> str:
        """The plan as a piece of a page, with its runs; it reads without a kernel, and without a script."""
        data: dict[str, Any] = dict(self.sheet)
        if runs:
            data["runs"] = {name: self._playable(one, name) for name, one in self._runs_of_plan().items()}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        plain = "\n".join(_plain(self.markdown()))
        return (
            f'<div class="vp-host vp-runbook" data-mounted="elsewhere">\n{plain}\n'
            f'<script type="application/json">{text}</script></div>\n{self._script()}'
        )

    def html(self, title: str = "") -> str:
        """The plan and its runs as a whole page: one file to keep or to mail."""
        heading = title or f"From {self.advice.old} to {self.advice.new}: what to do"
        before, _, _ = self._page(self._data(self.scenario, self.trace, None), heading).partition("</h1>\n")
        return f"{before}</h1>\n{self.fragment()}\n</main>\n</html>\n"

    def _sheet(self) -> dict[str, Any]:
        return {**page(self.advice, self.picked), "picked": self.picked, "offers": choices(self.picked)}

    def _playable(self, scenario: Scenario, name: str) -> dict[str, Any]:
        """What the bench below plays without a kernel."""
        data = self._data(scenario, simulate(scenario), None)
        return {**data, "index": _telling(scenario) if name == "danger" else 0}

    def _runs_of_plan(self) -> dict[str, Scenario]:
        named = {"danger": self.advice.danger, "run": self.advice.run}
        return {name: scenario for name, scenario in named.items() if scenario is not None}

    def _heard(self, widget: object, asked: Mapping[str, Any], buffers: Sequence[bytes]) -> None:
        """A pick or a wish to watch a run, asked for on the page; all else is for the bench."""
        if not {"plan", "watch"} & set(asked):
            super()._heard(widget, asked, buffers)
            return
        try:
            if "plan" in asked:
                self.pick(**asked["plan"])
                self.send({"planned": f"{self.sheet['title']}: {self.advice.headline}"})
            else:
                self.watch(str(asked["watch"]))
                self.send({"watched": str(asked["watch"])[:20]})
        except (VersionProbingError, TypeError) as error:
            self.send({"refused": f"This cannot be. {error}. What you see is still the plan before."})


def _plain(text: str) -> Iterator[str]:
    """The Markdown as paragraphs, for where no script runs."""
    for line in text.splitlines():
        if line.startswith("#") and not line.startswith("# upgrade.from"):
            yield f"<p><b>{escape(line.lstrip('# '))}</b></p>"
        elif line and not line.startswith("```"):
            yield f"<p>{escape(line)}</p>"


def _telling(scenario: Scenario) -> int:
    """The step at which a run first shows what is wrong with it."""
    told: Any = frames(simulate(scenario))["frames"]
    tags = [str(one.get("tag", "")) for one in told]
    return next((i + 1 for i, tag in enumerate(tags) if tag in ("poison", "death")), 0)
