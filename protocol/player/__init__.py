"""The player in Python: a widget for a notebook, a fragment for a static page, one file to mail.

What it plays is made in `frames`, on the layouts of `diagrams`; how it looks and moves is in the JavaScript
module of the files beside this one, and in `player.css`.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..diagrams import layout, slots
from ..film import KINDS as FILMS
from ..film import ExportError, made
from ..frames import frames
from ..machine import GROUP, MEMBER
from ..trace import Trace

KINDS = ("html", *FILMS, "json")
"""What a run can be exported to."""

PARTS = ("elements", "run", "diagram", "spacetime", "panel", "mount", "entry")
"""The files of the player's module, each after those that it imports."""

ENTRY = "export { mount, start, unfold };\nexport default { render: attach };\n"


@functools.cache
def module() -> str:
    """The JavaScript module, with its style sheet inside: the same text in a notebook, a page and a file.

    Comments and indentation stay behind in the files beside this one.
    """
    return joined({__package__: PARTS}, ENTRY)


def joined(parts: Mapping[str, Sequence[str]], entry: str) -> str:
    """The files of packages as one module that ends in `entry`, each package's style sheet where its name stands."""
    script = ""
    for package, names in parts.items():
        folder = resources.files(package)
        text = "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in names)
        sheet = f"{package.rpartition('.')[2]}.css"
        script += text.replace(f'"@{sheet}@"', json.dumps(_style((folder / sheet).read_text(encoding="utf-8"))))
    script = re.sub(r"^import [^;]*;\n", "", script, flags=re.MULTILINE)
    script = re.sub(r"^export (?=async |const |function )", "", script, flags=re.MULTILINE)
    script = re.sub(r"^\s*/\*\*.*?\*/\n", "", script, flags=re.DOTALL | re.MULTILINE)
    script = re.sub(r"(^|\s)//(?![^\n]*[\"'`]).*$", "", script, flags=re.MULTILINE)
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line) + f"\n{entry}"


def _style(sheet: str) -> str:
    sheet = re.sub(r"\s*([{};,!>])\s*", r"\1", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
    return re.sub(r"\s+", " ", sheet.replace(": ", ":").replace(";}", "}")).strip()


def playable(trace: Trace) -> dict[str, Any]:
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

    _begin = "start();"

    def __init__(self, trace: Trace | Mapping[str, Any], index: int = 0) -> None:
        super().__init__(data=_playable(trace), index=index)
        self._trace = trace if isinstance(trace, Trace) else None

    def show(self, trace: Trace | Mapping[str, Any], index: int = 0) -> None:
        """Put another run in, in one message."""
        self._trace = trace if isinstance(trace, Trace) else None
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
        return self._piece(self.data)

    def html(self, title: str = "") -> str:
        """The run as a whole page: one file to keep or to mail; `#step=17` in its address opens it there."""
        return self._page(self.data, title)

    def _piece(self, data: Mapping[str, Any]) -> str:
        return f"{_host(data, self.index)}\n{self._script()}"

    def _page(self, data: Mapping[str, Any], title: str) -> str:
        heading = escape(title or f"{data['meta']['title']}: a rolling upgrade, step by step")
        return (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f'<title>{heading}</title>\n<link rel="icon" href="data:,">\n<style>{_PAGE}</style>\n'
            f"<main>\n<h1>{heading}</h1>\n{_host(data, self.index, file=True)}\n</main>\n{self._script()}\n</html>\n"
        )

    def _script(self) -> str:
        return f'<script type="module">\n{self._esm}{self._begin}\n</script>'

    def export(self, kind: str) -> tuple[str, bytes]:
        """The run as a file, and the file's name: `html`, `svg`, `gif`, `webp`, `mmd` or `json`.

        Raises:
            ExportError: a kind that is not known, or one that needs the extra `export`.
        """
        if kind not in KINDS:
            raise ExportError(f"no export is called {kind[:20]!r}", ", ".join(KINDS))
        text = self.html() if kind == "html" else json.dumps(self._plain(), indent=1) if kind == "json" else None
        data = text.encode() if text is not None else made(self._run(), kind)
        return f"{_file_name(self.data['meta']['title'])}.{kind}", data

    def save(self, path: str | Path) -> Path:
        """Write the run to a file, of the kind that its name ends in; an interrupted one leaves the old file.

        Raises:
            ExportError: as `export`, or the file cannot be written.
        """
        path = Path(path)
        _, data = self.export(path.suffix.removeprefix("."))
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            draft.write_bytes(data)
            draft.replace(path)
        except (OSError, ValueError) as error:
            reason = f"{path.name[:60]!r} cannot be written: {getattr(error, 'strerror', None) or error}"
            raise ExportError(reason, "a name and a folder with room, where you may write") from None
        finally:
            with contextlib.suppress(OSError, ValueError):
                draft.unlink(missing_ok=True)
        return path

    def _plain(self) -> dict[str, Any]:
        """The data without what only the page needs."""
        return {key: value for key, value in self.data.items() if key not in ("layouts", "slots", "bench", "runs")}

    def _run(self) -> Trace:
        if self._trace is None:
            raise ExportError("a player that was made of data has no trace to film", "Player(trace)")
        return self._trace


_PAGE = (
    ":root{color-scheme:light dark}"
    "body{margin:0;padding:22px;background:#fff;color:#15181c;font:15px/1.5 ui-sans-serif,system-ui,sans-serif;"
    "overflow-wrap:anywhere}"
    "main{max-width:1320px;margin:auto}h1{font-size:20px;margin:0 0 14px}"
    "@media(max-width:620px){body{padding:10px}}"
    "@media(prefers-color-scheme:dark){body{background:#0b0d10;color:#eaedf1}}"
    "@media print{body{background:#fff;color:#15181c}}"
)


def _playable(trace: Trace | Mapping[str, Any]) -> dict[str, Any]:
    return playable(trace) if isinstance(trace, Trace) else dict(trace)


def _host(data: Mapping[str, Any], index: int, *, file: bool = False) -> str:
    """The element that the player goes into, with its data; the sentence in it stands where no script runs.

    In a file that is mailed the data are packed; in a notebook they are plain, so that the same run has the same bytes.
    """
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    kind, text = "application/json", plain.replace("<", "\\u003c")
    if file:
        kind, text = "application/gzip", b64encode(gzip.compress(plain.encode(), mtime=0)).decode()
    outcome = data["meta"]["outcome"]["text"]
    start = f' data-start="{index}"' if index else ""
    own = ' data-kind="bench"' if "bench" in data else ""  # a page's players leave a bench to its own script
    return (
        f'<div class="vp-host"{own}{start}{" data-address" if file else ""}>'
        f"<p>{escape(str(data['meta']['title']))}: {_size(data)}. {escape(str(outcome))}</p>"
        f'<script type="{kind}">{text}</script></div>'
    )


def _file_name(title: str) -> str:
    """A title in characters that every file system takes."""
    return "-".join(re.findall(r"[\w.]+", title.replace("→", "to")))[:60] or "run"
