"""The hex view: pasted bytes that light up with their fields, in a notebook and on a page without Python.

In which form they were pasted, and what they say, is in `paste`; how it looks is in `mount.js` and `hexview.css`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import anywidget
import traitlets

from ..paste import Layer, read_paste
from ..player import joined
from ..releases import release as known_release
from .rows import MOST, part_of

__all__ = ["MOST", "HexView", "module"]

MOST_PARTS = 12
"""So many messages of one paste are shown."""

ENTRY = "export { begin, mount };\nexport default { render: attach };\n"


@functools.cache
def module() -> str:
    """The JavaScript module, with its style sheet inside: the same text in a notebook and on a page."""
    return joined({"protocol.player": ("elements", "entry"), __package__: ("bytes", "tree", "reader", "mount")}, ENTRY)


class HexView(anywidget.AnyWidget):
    """Bytes in any form that `paste` knows, to look at: `HexView("0000000c 0000000c")`.

    `release` is the reader to begin with, and `field` what is lit; `index` is the row of what is pinned, or -1.

    Raises:
        NotBytes: there are no bytes in what was pasted.
        DecodeError: the bytes are none of the messages.
        UnknownReleaseError: no release is called so.
        ValueError: no field is called so.

    >>> HexView("0000000c 0000000c", field="latest_supported_version")
    HexView(8 bytes: subscription info)
    """

    _esm = module()
    data = traitlets.Dict().tag(sync=True)
    index = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        pasted: str | bytes | Layer | Sequence[Layer],
        *,
        title: str = "",
        kind: str | None = None,
        release: str = "",
        field: str = "",
    ) -> None:
        if isinstance(pasted, str | bytes):
            layers: Sequence[Layer] = read_paste(pasted, kind=kind)
        else:
            layers = (pasted,) if isinstance(pasted, Layer) else pasted
        reader = known_release(release).name if release else ""
        parts = [part_of(one, reader) for one in layers[:MOST_PARTS]]
        more = f"The first {MOST_PARTS} of {len(layers)} messages are shown." if len(layers) > MOST_PARTS else ""
        names = [row[3] for part in parts for row in part["rows"]]
        if field and field not in names:
            raise ValueError(f"no field is called {field!r} (allowed: {', '.join(dict.fromkeys(names))})")
        # the innermost: an envelope has a version too
        index = len(names) - 1 - names[::-1].index(field) if field else -1
        super().__init__(data={"title": title, "parts": parts, "more": more}, index=index)

    def __repr__(self) -> str:
        return f"HexView({', '.join(_size(part) for part in self.data['parts'])})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle, "text/html": self.fragment()}, metadata

    def fragment(self) -> str:
        """The view as a piece of a page, alive without a kernel and without a network; text where no script runs."""
        text = json.dumps(self.data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        told = "".join(f"<pre>{escape(line)}</pre>" for part in self.data["parts"] for line in [_text(part)])
        return (  # mounted: a player on the same page is not to take this host for one of its own
            f'<div class="vp-host vp-bytes" data-mounted data-index="{self.index}">{told}'
            f'<script type="application/json">{text}</script></div>\n'
            f'<script type="module">\n{self._esm}begin();</script>'
        )


def _size(part: Mapping[str, Any]) -> str:
    return f"{part['size']} byte{'' if part['size'] == 1 else 's'}: {part['kind']}"


def _text(part: Mapping[str, Any]) -> str:
    """The fields of a part as plain text."""
    lines = [f"{part['label']}: {_size(part)}" if part["label"] else _size(part)]
    for depth, start, end, name, value, meaning, problem, _ in part["rows"]:
        said = f"cannot be read: {problem}" if problem else value
        lines.append(
            f"{start:6} {end - start:6}  {'  ' * depth}{name}{f' = {said}' if said else ''}"
            f"{f'   ({meaning})' if meaning else ''}"
        )
    return "\n".join([*lines, *part["notes"]])
