"""A run as an animated SVG: one self-contained file that also plays inside an image, with no script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from ..diagrams import edge_id, layout, slots, state_id
from ..frames import sides
from ..machine import MEMBER
from ..scenario import Scenario, simulate
from ..trace import MemberView, Trace, View

_SVG = "{http://www.w3.org/2000/svg}"
_HEAD = 76
_FOOT = 62
_MARGIN = 18
_MOVE = 0.42
"""Which part of a step its tokens travel; the rest of it they stand, to be looked at."""

# Literal colours on a card of its own: an image has no page whose theme it could follow.
_INK, _MUTED, _EDGE, _PANEL, _CARD, _BAD = "#15181c", "#566070", "#7d8897", "#f5f6f8", "#ffffff", "#b3261e"
_RING = {"old": "#0a5fa8", "new": "#b14a00", "third": "#00695c"}
_FILL = {"old": "#d9e9f8", "new": "#c25508", "third": "#b9e4dc"}
_TEXT = {"old": "#063f6f", "new": "#ffffff", "third": "#003d36"}

Point = tuple[float, float]


class _Board(NamedTuple):
    """The laid-out machine: where boxes are, and the points along each edge."""

    width: float
    height: float
    boxes: dict[str, tuple[float, float, float, float]]
    ways: dict[str, tuple[Point, ...]]
    root: ElementTree.Element


def animated(trace: Trace, *, seconds: float = 1.6) -> str:
    """The members' state diagram with travelling tokens and a sentence a step, so many seconds a step, for ever.

    Plays wherever an SVG is shown: in a page, in `<img>`, in a README.
    """
    board = _board(len(trace.first.members))
    views = [trace.first, *(step.after for step in trace)]
    beat = _Beat(len(views) + 1, seconds)  # the last view stands twice as long
    width, height = board.width + 2 * _MARGIN, board.height + _HEAD + _FOOT
    names = [member.name for member in trace.first.members]
    parts = [
        f'<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="14" fill="{_CARD}"'
        ' stroke="#dde1e7"/>',
        *_captions(trace, views, beat, width),
        f'<g transform="translate({_MARGIN} {_HEAD + _MARGIN / 2:.0f})">',
        *_machine(trace, board, beat),
        *(part for place in range(len(names)) for part in _token(trace, views, board, beat, place)),
        "</g>",
        *_legend(trace, height - 28),
        f'<rect x="{_MARGIN}" y="{height - 13:.0f}" width="0" height="3" rx="1.5" fill="{_INK}">'
        f'<animate attributeName="width" from="0" to="{width - 2 * _MARGIN:.0f}" dur="{beat.total}s"'
        ' repeatCount="indefinite"/></rect>',
    ]
    said = f"{' to '.join(sides(trace))}: {trace.outcome.text}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}" role="img"'
        f" aria-label={quoteattr(said)}"
        ' font-family="Inter,system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,Helvetica,Arial,sans-serif">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


class _Beat(NamedTuple):
    """The clock of the film: so many views of so many seconds."""

    views: int
    seconds: float

    @property
    def total(self) -> str:
        return f"{self.views * self.seconds:.2f}".rstrip("0").rstrip(".")

    def at(self, view: float) -> str:
        return f"{min(1.0, view / self.views):.4f}".rstrip("0").rstrip(".") or "0"

    def held(self, attribute: str, values: Iterable[str]) -> str:
        """An attribute that jumps from value to value, one a view; nothing where it never changes."""
        times: list[str] = []
        kept: list[str] = []
        for view, value in enumerate(values):
            if not kept or kept[-1] != value:
                times.append(self.at(view))
                kept.append(value)
        if len(kept) < 2:
            return ""
        return (
            f'<animate attributeName="{attribute}" values="{";".join(kept)}" keyTimes="{";".join(times)}"'
            f' calcMode="discrete" dur="{self.total}s" repeatCount="indefinite"/>'
        )


def _board(tokens: int) -> _Board:
    root = ElementTree.fromstring(layout(MEMBER, tokens=tokens))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    boxes, ways = {}, {}
    for part in root.iter(f"{_SVG}g"):
        box, path = part.find(f"{_SVG}rect"), part.find(f"{_SVG}path")
        if box is not None:
            left, top, wide, high = (float(box.get(side, "0")) for side in ("x", "y", "width", "height"))
            boxes[part.get("id", "")] = (left, top, wide, high)
        elif path is not None:
            ways[part.get("id", "")] = tuple(_along(path.get("d", "")))
    return _Board(width, height, boxes, ways, root)


def _along(path: str, each: int = 6) -> Iterable[Point]:
    """Points along a path of cubic curves, as dot draws them."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", path)]
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    yield points[0]
    for start in range(0, len(points) - 3, 3):
        a, b, c, d = points[start : start + 4]
        for step in range(1, each + 1):
            t = step / each
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            yield (
                sum(weight * point[0] for weight, point in zip(weights, (a, b, c, d), strict=True)),
                sum(weight * point[1] for weight, point in zip(weights, (a, b, c, d), strict=True)),
            )


def _captions(trace: Trace, views: list[View], beat: _Beat, width: float) -> Iterable[str]:
    titles = ["The group is stable", *(step.title for step in trace)]
    reasons = [f"{views[0].group.leader} leads.", *(step.why for step in trace)]
    reasons[-1] = trace.outcome.text
    for view, (title, why) in enumerate(zip(titles, reasons, strict=True)):
        shown = beat.held("visibility", ("visible" if other == view else "hidden" for other in range(len(views))))
        last = view == len(views) - 1
        bad = any(member.poisoned for member in views[view].members) or (last and trace.outcome.deaths)
        yield (
            f'<g visibility="hidden">{shown}'
            f'<text x="{_MARGIN + 4}" y="38" font-size="21" font-weight="650" fill="{_BAD if bad else _INK}">'
            f"{escape(_cut(title, 62))}</text>"
            f'<text x="{_MARGIN + 4}" y="63" font-size="14" fill="{_MUTED}">{escape(_cut(why, 125))}</text>'
            f'<text x="{width - _MARGIN - 4:.0f}" y="38" font-size="14" text-anchor="end" fill="{_MUTED}">'
            f"generation {views[view].group.generation}</text></g>"
        )


def _legend(trace: Trace, y: float) -> Iterable[str]:
    latest = {member.binary: member.latest for step in trace for member in step.after.members}
    words = "ring: the jar it runs, fill: the version it speaks"
    yield f'<text x="{_MARGIN + 4}" y="{y + 4:.0f}" font-size="12.5" fill="{_MUTED}">{words}</text>'
    for place, (name, side) in enumerate(sides(trace).items()):
        x = 380 + 170 * place
        yield (
            f'<circle cx="{x}" cy="{y:.0f}" r="7" fill="{_FILL[side]}" stroke="{_RING[side]}" stroke-width="2.4"/>'
            f'<text x="{x + 14}" y="{y + 4:.0f}" font-size="12.5" fill="{_MUTED}">{escape(_cut(name, 10))}, speaks'
            f" v{latest.get(name, '')}</text>"
        )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _machine(trace: Trace, board: _Board, beat: _Beat) -> Iterable[str]:
    used = [set[str](), *({edge_id(key) for _, key in step.moves} for step in trace)]
    full = [{state_id(member.state) for member in view.members} for view in (trace.first, *(s.after for s in trace))]
    for part in board.root.iter(f"{_SVG}g"):
        name = part.get("id", "")
        words = "".join(
            f'<text x="{text.get("x")}" y="{text.get("y")}" font-size="12" text-anchor="middle"'
            f' fill="{_INK if name in board.boxes else _MUTED}"{_weight(name in board.boxes)}>'
            f"{escape(text.text or '')}</text>"
            for text in part.iter(f"{_SVG}text")
        )
        if name in board.boxes:
            left, top, wide, high = board.boxes[name]
            lit = beat.held("stroke", (_INK if name in states else "#868f9d" for states in full))
            yield (
                f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" rx="12" fill="{_PANEL}" stroke="#868f9d"'
                f' stroke-width="1.4">{lit}</rect>{words}'
            )
        elif name in board.ways:
            lit = beat.held("stroke", (_INK if name in edges else _EDGE for edges in used))
            heavy = beat.held("stroke-width", ("2.4" if name in edges else "1.2" for edges in used))
            path, head = part.find(f"{_SVG}path"), part.find(f"{_SVG}polygon")
            assert path is not None and head is not None
            yield (
                f'<path d="{path.get("d")}" fill="none" stroke="{_EDGE}" stroke-width="1.2">{lit}{heavy}</path>'
                f'<polygon points="{head.get("points")}" fill="{_EDGE}"/>{words}'
            )


def _weight(bold: bool) -> str:
    return ' font-weight="650"' if bold else ""


def _token(trace: Trace, views: list[View], board: _Board, beat: _Beat, place: int) -> Iterable[str]:
    side, name = sides(trace), trace.first.members[place].name
    across, down = slots(len(trace.first.members))[place]
    latest = {member.latest: side[member.binary] for view in views for member in view.members}
    seen = [view.members[place] for view in views]

    def stand(state: str) -> Point:
        left, top, wide, _ = board.boxes[state_id(state)]
        return left + wide / 2 + across, top + down

    def says(member: MemberView) -> str:
        own = member.used == member.latest
        return side[member.binary] if own else latest.get(member.used, side[member.binary])

    def held(attribute: str, value: Callable[[MemberView], str]) -> tuple[str, str]:
        values = [value(member) for member in seen]
        return values[0], beat.held(attribute, values)

    here = stand(seen[0].state)
    times, points = ["0"], [here]
    for view, step in enumerate(trace, start=1):
        key = next((key for who, key in step.moves if who == name), "")
        there = stand(seen[view].state)
        if there == here:
            continue
        way = [here, *board.ways.get(edge_id(key), ()), there]
        for reached, point in enumerate(way):
            times.append(beat.at(view + _MOVE * reached / (len(way) - 1)))
            points.append(point)
        here = there
    times.append("1")
    points.append(here)
    travel = (
        f'<animateTransform attributeName="transform" type="translate" dur="{beat.total}s" repeatCount="indefinite"'
        f' keyTimes="{";".join(times)}" values="{";".join(f"{x:.0f} {y:.0f}" for x, y in points)}"/>'
    )
    ring, ring_changes = held("stroke", lambda member: _RING[side[member.binary]])
    weight, weight_changes = held("stroke-width", lambda member: "4" if side[member.binary] == "new" else "2.6")
    fill, fill_changes = held("fill", lambda member: _FILL[says(member)])
    text, text_changes = held("fill", lambda member: _TEXT[says(member)])
    dead, dies = held("visibility", lambda member: "visible" if member.state == "CRASHED" else "hidden")
    ill, sickens = held("visibility", lambda member: "visible" if member.poisoned else "hidden")
    crowns = ["visible" if view.group.leader_id == view.members[place].member_id != "" else "hidden" for view in views]
    yield (
        f'<g transform="translate({points[0][0]:.0f} {points[0][1]:.0f})">{travel}'
        f'<circle r="11" fill="{_CARD}" stroke="{ring}" stroke-width="{weight}">{ring_changes}{weight_changes}</circle>'
        f'<circle r="11" fill="none" stroke="{_BAD}" stroke-width="3" stroke-dasharray="3.4 3.5" visibility="{ill}">'
        f"{sickens}</circle>"
        f'<circle r="7.6" fill="{fill}">{fill_changes}</circle>'
        f'<text y="4" font-size="11" font-weight="750" text-anchor="middle" fill="{text}">{text_changes}'
        f"{escape(name[:2])}</text>"
        f'<g visibility="{dead}">{dies}<path d="M-9-9 9 9M9-9-9 9" stroke="{_CARD}" stroke-width="6"/>'
        f'<path d="M-9-9 9 9M9-9-9 9" stroke="{_BAD}" stroke-width="3"/></g>'
        f'<path d="M-5.5-8.5-7-15.2l3.6 2.2L0-17l3.4 4L7-15.2 5.5-8.5z" fill="{_INK}" visibility="{crowns[0]}">'
        f"{beat.held('visibility', crowns)}</path></g>"
    )


def front_page() -> str:
    """The film on the front page: KAFKA-8649, in which the new leader's word kills the old members."""
    return animated(simulate(Scenario(old="2.0.0", new="2.1.0", leader="A", order="A,B,C", succession="newest")))
