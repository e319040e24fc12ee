"""Verdicts as pictures: a table of pairs in which each cell shows how it ends.

The verdicts are made in `upgrade`; pictures of the state machines are in `diagrams`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

CELL, LABEL, CHARACTER = 22, 12, 7.2
"""Sizes in pixels: a cell, the text of a label, the width of one character of it."""

SHAPES = {
    "ok": ("safe", '<circle r="2.4" fill="currentColor" opacity=".55"/>'),
    "deaths": ("members can die", '<path d="M-5-5 5 5M5-5-5 5" stroke="#c5352c" stroke-width="2.6" fill="none"/>'),
    "loop": ("rebalances for ever", '<circle r="5.4" stroke="#8a4fd0" stroke-width="2.4" fill="none"/>'),
    "escapable loop": (
        "rebalances until luck ends it",
        '<circle r="5.4" stroke="#8a4fd0" stroke-width="2.4" stroke-dasharray="3 3" fill="none"/>',
    ),
    "stops half-way": ("stops half-way", '<path d="M-5.5 0h11" stroke="#b06a00" stroke-width="3"/>'),
    "unknown": ("not known", '<text text-anchor="middle" dy="4" font-size="12" fill="currentColor">?</text>'),
}
"""How a verdict looks: a shape of its own, so that no reader needs the colour."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture that a notebook shows; its text stands for it where none can be shown."""

    svg: str
    text: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    verdict: Callable[[str, str], str | None],
    *,
    title: str,
    down: str = "from",
    across: str = "to",
) -> Chart:
    """A table of pairs: `verdict` gives a key of SHAPES for a row and a column, or None for an empty cell.

    >>> chart = heat_map(["a"], ["a", "b"], lambda row, column: None if row == column else "ok", title="A pair")
    >>> chart
    A pair: 1 pairs, 1 safe
    """
    left = 14 + CHARACTER * max(map(len, (*rows, f"{down} ↓ {across} →")))
    top = 14 + CHARACTER * max(map(len, (*columns, "")))
    counts: dict[str, int] = {}
    cells = []
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            kind = verdict(row, column)
            place = f"translate({left + CELL * (x + 0.5):.0f} {top + CELL * (y + 0.5):.0f})"
            if kind is None:
                cells.append(f'<g transform="{place}"><path d="M-3 0h6" stroke="currentColor" opacity=".25"/></g>')
                continue
            counts[kind] = counts.get(kind, 0) + 1
            words, shape = SHAPES[kind]
            told = escape(f"{down} {row} {across} {column}: {words}")
            cells.append(f'<g transform="{place}"><title>{told}</title>{shape}</g>')
    seen = [kind for kind in SHAPES if kind in counts]
    legend = 20 + CELL + CHARACTER * max((len(f"{counts[kind]} {SHAPES[kind][0]}") for kind in seen), default=0)
    width = left + max(CELL * len(columns) + 14, legend)
    height = top + CELL * (len(rows) + len(seen)) + 26
    said = ", ".join(f"{counts[kind]} {SHAPES[kind][0]}" for kind in seen)
    summary = f"{title}: {sum(counts.values())} pairs, {said or 'none told'}"
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(summary, {chr(34): "&quot;"})}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" font-family="ui-sans-serif,system-ui,sans-serif" '
        f'font-size="{LABEL}" color="#15181c" fill="currentColor" style="max-width:100%;height:auto">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" rx="8" fill="#fff"/>',  # black on white, whatever is behind it
        _grid(left, top, columns=len(columns), rows=len(rows)),
        _down(f"{down} ↓ {across} →", left - 8, top - 8),
        *(_down(row, left - 8, top + CELL * (y + 0.5) + 4) for y, row in enumerate(rows)),
        *(_across(column, left + CELL * (x + 0.5) + 4, top - 8) for x, column in enumerate(columns)),
        *cells,
        *_legend(seen, counts, left, top + CELL * len(rows) + 22),
        "</svg>",
    ]
    return Chart("".join(svg), summary)


def _grid(left: float, top: float, *, columns: int, rows: int) -> str:
    width, height = CELL * columns, CELL * rows
    lines = [f"M{left:.0f} {top + CELL * y:.0f}h{width}" for y in range(rows + 1)]
    lines += [f"M{left + CELL * x:.0f} {top:.0f}v{height}" for x in range(columns + 1)]
    return f'<path d="{"".join(lines)}" stroke="currentColor" opacity=".14" fill="none"/>'


def _down(text: str, x: float, y: float) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="end">{escape(text)}</text>'


def _across(text: str, x: float, y: float) -> str:
    return f'<text transform="translate({x:.0f} {y:.0f}) rotate(-90)">{escape(text)}</text>'


def _legend(seen: Sequence[str], counts: dict[str, int], left: float, top: float) -> list[str]:
    told = []
    for line, kind in enumerate(seen):
        words, shape = SHAPES[kind]
        y = top + CELL * line
        told.append(f'<g transform="translate({left + CELL / 2:.0f} {y:.0f})">{shape}</g>')
        told.append(f'<text x="{left + CELL + 6:.0f}" y="{y + 4:.0f}">{counts[kind]} {escape(words)}</text>')
    return told
