"""The player in Python: a widget for a notebook, a fragment for a static page, one file to mail.

What it plays is made in `frames`, on the layouts of `diagrams`; how it looks and moves is in `player.js`, `player.css`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

import anywidget
import traitlets

from .diagrams import layout, slots
from .frames import frames
from .machine import GROUP, MEMBER
from .trace import Trace


@functools.cache
def module() -> str:
    """The JavaScript module, with its style sheet inside: the same text in a notebook, a page and a file.

    Comments and indentation stay behind in `player.js`.
    """
    folder = resources.files(__package__)
    style = (folder / "player.css").read_text(encoding="utf-8")
    style = re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    style = re.sub(r"\s+", " ", style.replace(": ", ":")).strip()
    script = (folder / "player.js").read_text(encoding="utf-8")
    script = re.sub(r"^\s*/\*\*.*?\*/\n", "", script, flags=re.DOTALL | re.MULTILINE)
    script = re.sub(r"(^|\s)//(?![^\n]*[\"'`]).*$", "", script, flags=re.MULTILINE)
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line).replace('"@player.css@"', json.dumps(style)) + "\n"


def playable(trace: Trace) -> dict[str, object]:
    """The frames of a trace, with the layouts to play them on: what `mount` in `player.js` takes."""
    tokens = len(trace.first.members)
    return {
        **frames(trace),
        "layouts": {
            "members": layout(MEMBER, tokens=tokens),
            "members_tall": layout(MEMBER, tokens=tokens, tall=True),
            "group": layout(GROUP),
        },
        "slots": [list(slot) for slot in slots(tokens)],
    }


def _size(data: Mapping[str, Any]) -> str:
    members, steps = len(data["meta"]["members"]), len(data["frames"])
    return f"{members} member{'' if members == 1 else 's'}, {steps} step{'' if steps == 1 else 's'}"


class Player(anywidget.AnyWidget):
    """One run of a group, to step through: `Player(simulate(scenario))`.

    `index` is the step that the reader has come to; the browser reports it once it has rested there for 150 ms.
    """

    _esm = module()
    data = traitlets.Dict().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)

    def __init__(self, trace: Trace | Mapping[str, Any], index: int = 0) -> None:
        super().__init__(data=_playable(trace), index=index)

    def show(self, trace: Trace | Mapping[str, Any], index: int = 0) -> None:
        """Put another run in, in one message."""
        with self.hold_sync():
            self.index = index
            self.data = _playable(trace)

    def __repr__(self) -> str:
        return f"Player({_size(self.data)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle, "text/html": self.fragment()}, metadata

    def fragment(self) -> str:
        """The run as a piece of a page, which plays without a kernel and without a network."""
        return f"{_host(self.data)}\n{_script()}"

    def html(self, title: str = "") -> str:
        """The run as a whole page: one file to keep or to mail; `#step=17` in its address opens it there."""
        heading = escape(title or f"{self.data['meta']['title']}: a rolling upgrade, step by step")
        return (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f'<title>{heading}</title>\n<link rel="icon" href="data:,">\n<style>{_PAGE}</style>\n'
            f"<main>\n<h1>{heading}</h1>\n{_host(self.data, address=True)}\n</main>\n{_script()}\n</html>\n"
        )


_PAGE = (
    ":root{color-scheme:light dark}"
    "body{margin:0;padding:22px;background:#fff;color:#15181c;font:15px/1.5 ui-sans-serif,system-ui,sans-serif}"
    "main{max-width:1320px;margin:auto}h1{font-size:20px;margin:0 0 14px}"
    "@media(max-width:620px){body{padding:10px}}"
    "@media(prefers-color-scheme:dark){body{background:#0b0d10;color:#eaedf1}}"
)


def _playable(trace: Trace | Mapping[str, Any]) -> dict[str, Any]:
    return playable(trace) if isinstance(trace, Trace) else dict(trace)


def _host(data: Mapping[str, Any], *, address: bool = False) -> str:
    """The element that the player goes into, with its data; the sentence in it stands where no script runs."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    outcome = data["meta"]["outcome"]["text"]
    return (
        f'<div class="vp-host"{" data-address" if address else ""}>'
        f"<p>{escape(str(data['meta']['title']))}: {_size(data)}. {escape(str(outcome))}</p>"
        f'<script type="application/json">{plain}</script></div>'
    )


def _script() -> str:
    return f'<script type="module">\n{module()}start();\n</script>'
