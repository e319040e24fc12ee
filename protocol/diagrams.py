"""A state machine as a picture: DOT text from its rows, and the SVG that Graphviz lays out of it.

What moves over the pictures is in `player` (a live page) and `film` (an animated SVG); the rows are in `machine`.

The finished layouts of the two machines are shipped in `layouts/`, each with the SHA-256 of the DOT text
that it was made from, so that nobody needs Graphviz to look at them and every machine shows the same picture.
"""

from __future__ import annotations

import functools
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from .errors import VersionProbingError
from .machine import GROUP, MEMBER, Machine, Row

try:
    import graphviz
except ImportError:  # the shipped layouts need no Graphviz, neither the program nor the binding
    graphviz = None

ABREAST = 4
"""How many tokens stand side by side in a box; more make it higher, never wider."""

PITCH = 27
"""Points from one row of tokens to the next."""

_PYGRAPHVIZ = threading.Lock()


class NoLayoutEngineError(VersionProbingError, RuntimeError):
    """A diagram that is not among the shipped layouts, and nothing here that could lay it out."""

    def __init__(self) -> None:
        super().__init__(
            "this diagram is not among the shipped layouts and there is no Graphviz to lay it out: "
            "install the program `dot` (Debian, conda, Homebrew: graphviz) or `pip install pygraphviz`"
        )


class _Line(NamedTuple):
    """How an edge is declared: the end that dot ranks first, the other, and whether that is against the arrow."""

    first: str
    second: str
    against: bool = False


# Edges that lead back are declared forwards with dir=back: so dot ranks the detours between JOINING and SYNCING.
_WIDE = {
    "JOINING-cannot encode-CRASHED": _Line("CRASHED", "JOINING:s", True),
    "SYNCING-refuse-CRASHED": _Line("CRASHED", "SYNCING:s", True),
    "CRASHED-start-JOINING": _Line("CRASHED:n", "JOINING"),
    "STABLE-close-STOPPED": _Line("STOPPED:n", "STABLE:n", True),
    "STABLE-rebalance-JOINING": _Line("JOINING:n", "STABLE:n", True),
    "PROBING-rejoin-JOINING": _Line("JOINING:s", "PROBING:w", True),
    "UPGRADING-rejoin-JOINING": _Line("JOINING:s", "UPGRADING:w", True),
    "SYNCING-probe-PROBING": _Line("PROBING:e", "SYNCING:s", True),
    "SYNCING-upgrade-UPGRADING": _Line("UPGRADING:e", "SYNCING:s", True),
    "Stable-join-PreparingRebalance": _Line("PreparingRebalance:n", "Stable:n", True),
    "Stable-leave-PreparingRebalance": _Line("PreparingRebalance:s", "Stable:s", True),
    "PreparingRebalance-nobody left-Empty": _Line("Empty:n", "PreparingRebalance:n", True),
}
_TALL = {
    "JOINING-cannot encode-CRASHED": _Line("JOINING:sw", "CRASHED:n"),
    "SYNCING-refuse-CRASHED": _Line("CRASHED", "SYNCING:w", True),
    "CRASHED-start-JOINING": _Line("JOINING:w", "CRASHED:nw", True),
    "STABLE-close-STOPPED": _Line("STOPPED:e", "STABLE:e", True),
    "STABLE-rebalance-JOINING": _Line("JOINING:e", "STABLE:e", True),
    "PROBING-rejoin-JOINING": _Line("JOINING", "PROBING:n", True),
    "UPGRADING-rejoin-JOINING": _Line("JOINING", "UPGRADING:n", True),
    "SYNCING-probe-PROBING": _Line("PROBING:s", "SYNCING", True),
    "SYNCING-upgrade-UPGRADING": _Line("UPGRADING:s", "SYNCING", True),
}
_LINES: Mapping[bool, Mapping[str, _Line]] = MappingProxyType({False: _WIDE, True: _TALL})

_ROAD = ("STOPPED", "JOINING", "SYNCING", "STABLE", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable")
"""The states of an undisturbed rebalance, which stand in one line."""


def state_id(state: str) -> str:
    """The id of a state's box in the SVG.

    >>> state_id("JOINING")
    'st-JOINING'
    """
    return f"st-{state}"


def edge_id(key: str) -> str:
    """The id of a row's edge in the SVG.

    >>> edge_id("JOINING-cannot encode-CRASHED")
    'ed-JOINING-cannot_encode-CRASHED'
    """
    return "ed-" + key.replace(" ", "_")


def rows_of_tokens(tokens: int) -> int:
    """How many rows of tokens a box holds.

    >>> [rows_of_tokens(n) for n in (0, 4, 5, 12)]
    [1, 1, 2, 3]
    """
    return max(1, -(-tokens // ABREAST))


def slots(tokens: int) -> tuple[tuple[float, float], ...]:
    """Where each token stands in a box, from the middle of its upper edge: its own place in every state.

    >>> slots(3)
    ((-33.0, 42.0), (0.0, 42.0), (33.0, 42.0))
    """
    abreast = max(1, -(-tokens // rows_of_tokens(tokens)))
    apart = 33 if tokens < ABREAST else 25
    return tuple(
        ((place % abreast - (abreast - 1) / 2) * apart, 42.0 + place // abreast * PITCH) for place in range(tokens)
    )


def dot(machine: Machine, *, tokens: int = 0, tall: bool = False) -> str:
    """The machine as DOT text, with boxes that hold so many tokens; `tall` runs downwards, for a phone.

    No colours, no HTML labels, boxes of a fixed size: so every Graphviz draws the same, and a page can paint it.
    """
    height = (0.8 if tokens else 0.64) + (rows_of_tokens(tokens) - 1) * PITCH / 72
    text = 15 if tall else 12
    lines = [
        f"digraph {_quoted(machine.name)} {{",
        f"  graph [rankdir={'TB' if tall else 'LR'} nodesep={0.14 if tall else 0.32} ranksep={0.34 if tall else 0.42}"
        " pad=0.06 fontname=Helvetica]",
        f"  node [shape=box style=rounded fixedsize=true width=1.5 height={height:.3f} fontname=Helvetica"
        f" fontsize={text} labelloc={'t' if tokens else 'c'}]",
        f"  edge [fontname=Helvetica fontsize={text} arrowsize=0.65]",
    ]
    lines += [f"  {_node(machine, state, tokens)}" for state in machine.states]
    lines += [f"  {_edge(row, tall)}" for row in machine if not row.rare]
    return "\n".join([*lines, "}", ""])


def _node(machine: Machine, state: str, tokens: int) -> str:
    label = state if tokens else re.sub(r"(?<=[a-z])(?=[A-Z])", r"\\n", state)
    road = " group=road" if state in _ROAD else ""
    return f'{_quoted(state)} [id={_quoted(state_id(state))} label="{label}"{road}]'


def _edge(row: Row, tall: bool) -> str:
    line = _LINES[tall].get(row.key, _Line(row.source, row.target))
    ends = " -> ".join(":".join(_quoted(part) for part in end.split(":")) for end in line[:2])
    against = " dir=back" if line.against else ""
    weight = " weight=20" if {row.source, row.target} <= set(_ROAD) and row.key not in _LINES[tall] else ""
    return f'{ends} [id={_quoted(edge_id(row.key))} label=" {row.label} "{against}{weight}]'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def layout(machine: Machine, *, tokens: int = 0, tall: bool = False) -> str:
    """The machine laid out, as a plain SVG in which every edge runs from its source to its target.

    The shipped layout if its DOT text is still this one; else Graphviz, if there is one.

    Raises:
        NoLayoutEngineError: the diagram has changed and there is no Graphviz.
    """
    source = dot(machine, tokens=tokens, tall=tall)
    shipped = _shipped(layout_name(machine, tokens=tokens, tall=tall))
    if shipped.startswith(f"<!-- {_digest(source)} -->\n"):
        return shipped.partition("\n")[2]
    return _fresh(machine, source, tall)


def layout_name(machine: Machine, *, tokens: int = 0, tall: bool = False) -> str:
    """The name of the shipped file: all numbers of tokens that fill as many rows share one.

    >>> layout_name(MEMBER, tokens=3), layout_name(MEMBER, tokens=12, tall=True)
    ('member-4.svg', 'member-12-tall.svg')
    """
    size = f"-{rows_of_tokens(tokens) * ABREAST}" if tokens else ""
    return f"{machine.name}{size}{'-tall' if tall else ''}.svg"


def shipped_layouts() -> Iterator[tuple[Machine, int, bool]]:
    """What is shipped: the group, and the members for up to 24 tokens, wide and tall."""
    yield GROUP, 0, False
    for tokens in range(ABREAST, 24 + ABREAST, ABREAST):
        yield MEMBER, tokens, False
        yield MEMBER, tokens, True


def write_layouts(folder: Path) -> tuple[Path, ...]:
    """Lay out every shipped diagram anew, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for machine, tokens, tall in shipped_layouts():
        source = dot(machine, tokens=tokens, tall=tall)
        path = folder / layout_name(machine, tokens=tokens, tall=tall)
        path.write_text(f"<!-- {_digest(source)} -->\n{_fresh(machine, source, tall)}", encoding="utf-8")
        written.append(path)
    return tuple(written)


@functools.cache
def _shipped(name: str) -> str:
    try:
        return (resources.files(__package__) / "layouts" / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def render(source: str) -> str:
    """DOT text to SVG by the `dot` on this machine, or by pygraphviz.

    Raises:
        NoLayoutEngineError: there is neither.
    """
    if graphviz is not None:
        try:
            return str(graphviz.Source(source).pipe(format="svg", engine="dot", encoding="utf-8"))
        except graphviz.ExecutableNotFound:
            pass
    try:
        import pygraphviz  # loads Graphviz itself, so only when there is no other way
    except ImportError:
        raise NoLayoutEngineError from None
    with _PYGRAPHVIZ:  # not thread-safe: two threads mix their graphs
        drawn: bytes = pygraphviz.AGraph(string=source).draw(format="svg", prog="dot")
    return drawn.decode()


@functools.lru_cache(maxsize=64)
def _fresh(machine: Machine, source: str, tall: bool) -> str:
    return plain(render(source), against={edge_id(key) for key, line in _LINES[tall].items() if line.against})


_SVG = "{http://www.w3.org/2000/svg}"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def plain(svg: str, *, against: set[str] | frozenset[str] = frozenset()) -> str:
    """What Graphviz wrote, less all that its versions differ in: boxes, paths, arrow heads and words are left.

    The paths of the edges in `against`, which dot drew against their arrow, are turned round.
    """
    root = ElementTree.fromstring(svg)
    graph = root.find(f"{_SVG}g[@class='graph']")
    assert graph is not None
    across, down = map(float, _NUMBER.findall(graph.get("transform", "").partition("translate")[2])[:2])
    width, height = map(float, root.get("viewBox", "0 0 0 0").split()[2:])

    def points(text: str) -> list[tuple[float, float]]:
        numbers = [float(number) for number in _NUMBER.findall(text)]
        return [(x + across, y + down) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]

    def words(part: ElementTree.Element, *, lower: float = 0) -> str:
        return "".join(
            f'<text x="{_short(float(word.get("x", "0")) + across)}"'
            f' y="{_short(float(word.get("y", "0")) + down + lower)}"'
            f' font-size="{_short(float(word.get("font-size", "12")))}" fill="currentColor" stroke="none">'
            f"{escape((word.text or '').strip())}</text>"
            for word in part.iter(f"{_SVG}text")
        )

    parts, top, bottom = [], 0.0, 0.0
    for part in graph.iter(f"{_SVG}g"):
        path, kind = part.find(f"{_SVG}path"), part.get("class", "").partition(" ")[0]
        if path is None or kind not in ("node", "edge"):
            continue
        corners = points(path.get("d", ""))
        if kind == "node":
            (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*corners, strict=True))
            shape = (
                f'<rect x="{_short(left)}" y="{_short(top)}" width="{_short(right - left)}"'
                f' height="{_short(bottom - top)}" rx="12"/>'
            )
        else:
            way = corners[::-1] if part.get("id") in against else corners
            start, *curve = (f"{_short(x)},{_short(y)}" for x, y in way)
            head = part.find(f"{_SVG}polygon")
            tip = [] if head is None else points(head.get("points", ""))
            corner_text = " ".join(f"{_short(x)},{_short(y)}" for x, y in tip)
            shape = f'<path d="M{start}C{" ".join(curve)}"/><polygon points="{corner_text}" fill="currentColor"/>'
        # dot sets the name of a box with room for tokens right under its upper edge
        text = words(part, lower=8 if kind == "node" and bottom - top > 50 else 0)
        parts.append(f'<g id={quoteattr(part.get("id", ""))} class="{kind}">{shape}{text}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_short(width)} {_short(height)}"'
        f' width="{_short(width)}" height="{_short(height)}" font-family="Helvetica,Arial,sans-serif"'
        ' text-anchor="middle" fill="none" stroke="currentColor">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


if __name__ == "__main__":
    for written in write_layouts(Path(__file__).with_name("layouts")):
        print(written.name)
