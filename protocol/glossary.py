"""The five numbers that are each called a version: one rebalance as a picture, with each number where it lives.

What they mean is in `book/glossary.md`; pictures of the state machines are in `diagrams`, of verdicts in `charts`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from .scenario import Scenario, simulate
from .trace import LogLine, MemberView, Sent, Step, Trace
from .wire import decode

MARKS = "①②③④⑤"
NAMES = (
    "latest supported version",
    "used version",
    "the leader's latest supported version",
    "received version",
    "commonly supported version",
)
"""Each number's name, in the order of MARKS."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One rebalance in which a member is told to speak another version: who asks, who answers, with which bytes."""

    asks: MemberView
    """The member, as it was when it sent its subscription."""
    leads: MemberView
    subscription: bytes
    """The Streams payload that the member sends."""
    assignment: bytes
    """The Streams payload that it gets."""
    said: tuple[LogLine, ...]
    """What the leader logs while it assigns."""
    heard: tuple[LogLine, ...]
    """What the member logs when it has the answer."""
    then: int
    """The version that the member uses from here on."""

    @property
    def numbers(self) -> tuple[int, int, int, int, int]:
        """The five, in the order of NAMES; the first two and the last two are those in the bytes."""
        used, supported = (int.from_bytes(self.subscription[at : at + 4], "big") for at in (0, 4))
        received, common = (int.from_bytes(self.assignment[at : at + 4], "big") for at in (0, 4))
        return supported, used, self.leads.latest, received, common


def scene(trace: Trace) -> Scene:
    """The first rebalance of a run in which an answer makes a member come again.

    >>> scene(simulate(Scenario(old="2.3.1", new="2.4.0", leader="A", order="C"))).numbers
    (5, 5, 4, 4, 4)

    Raises: ValueError where no answer does.
    """
    sent: dict[str, tuple[MemberView, Sent]] = {}
    led: Step | None = None
    for step in trace:
        for message in step.messages:
            if message.kind == "JoinGroup":
                sent[message.sender] = (step.after.member(message.sender), message)
            elif message.kind == "SyncGroup":
                led = step
            elif message.probing and led is not None:
                asks, subscription = sent[message.receiver]
                return Scene(
                    asks=asks,
                    leads=led.before.member(led.before.group.leader),
                    subscription=_letter(subscription),
                    assignment=_letter(message),
                    said=tuple(line for line in led.log if line.member == led.before.group.leader),
                    heard=tuple(line for line in step.log if line.member == message.receiver),
                    then=step.after.member(message.receiver).used,
                )
    raise ValueError("no member of this run is told to speak another version")


def _letter(message: Sent) -> bytes:
    inner = decode(message.data).inner
    assert inner is not None
    return inner.data


# The picture. It is as wide as a phone, and has no colour but the page's own and one for each jar.

WIDTH, EDGE = 400, 10
_STYLE = (
    ".five-numbers{float:left;margin:0 28px 12px 0}.five-numbers~ol{overflow:hidden}"  # beside what explains it
    "@media(max-width:1400px){.five-numbers{float:none;margin:0 0 12px}}"
    ".five-numbers{--new:#b14a00;--old:#0a5fa8}"
    'html[data-theme="dark"] .five-numbers{--new:#ffab5e;--old:#7cbcff}'
    "@media print{html .five-numbers{--new:#b14a00;--old:#0a5fa8}}"
)
_PHRASES: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"commonly supported version ", (4,)),
    (r"leaders supported version ", (4,)),
    (r"latest supported version is ", (4,)),
    (r"latest supported version: ", (0, 2)),
    (r"with supported version ", (2,)),
    (r"used version: ", (1,)),
    (r"subscription \(version: ", (1,)),
    (r"Sent a version ", (1,)),
    (r"got version ", (3,)),
)
"""What stands before a number in a log line, and which of the five it can be there: releases print different ones."""


def marked(text: str, numbers: tuple[int, ...]) -> str:
    """A log line in which each of the five numbers has its mark behind it.

    >>> marked("Sent a version 5 subscription and got version 4 assignment back", (5, 5, 4, 4, 4))
    'Sent a version 5② subscription and got version 4④ assignment back'
    """
    for phrase, which in _PHRASES:

        def put(match: re.Match[str], which: tuple[int, ...] = which) -> str:
            mark = next((MARKS[one] for one in which if numbers[one] == int(match[2])), "")
            return f"{match[1]}{match[2]}{mark}"

        text = re.sub(rf"({phrase})(\d+)(?!\d)", put, text)
    return text


def told(scene: Scene) -> str:
    """The picture in words, for those who do not see it."""
    supported, used, leads, received, common = scene.numbers
    asks, leader = scene.asks, scene.leads
    return (
        f"One rebalance. {asks.name}, whose jar is {asks.binary}, supports version {supported} (number 1) and uses "
        f"version {used} (2); both stand at the front of its subscription. {leader.name} leads; its jar is "
        f"{leader.binary} and supports version {leads} (3). At the front of its assignment stand the version that it "
        f"is written in, {received} (4), and the version that everybody supports, {common} (5). "
        f"{asks.name} now uses version {scene.then}."
    )


def picture(scene: Scene) -> str:
    """The rebalance as an SVG to stand in a page: its ink is the page's own."""
    supported, used, leads, received, common = scene.numbers
    asks, leader = scene.asks, scene.leads
    canvas = _Canvas()
    with_numbers = ((0, supported, "a constant in its jar"), (1, used, "in its memory: what it writes in"))
    canvas.card("new", f"{asks.name} was bounced: its jar is {asks.binary}", with_numbers)
    canvas.message("new", f"{asks.name}'s subscription", scene.subscription, {1: used, 0: supported})
    canvas.card("old", f"{leader.name} leads: its jar is {leader.binary}", ((2, leads, "a constant in its jar"),))
    canvas.log("old", f"{leader.name} logs", scene.said, scene.numbers)
    canvas.message("old", f"{leader.name}'s assignment", scene.assignment, {3: received, 4: common})
    canvas.log("new", f"{asks.name} logs", scene.heard, scene.numbers)
    canvas.card("new", f"{asks.name} comes again", ((1, scene.then, "the next subscription is written in it"),))
    return canvas.drawn(told(scene))


class _Canvas:
    """A column of cards, messages and log lines, from above to below."""

    def __init__(self) -> None:
        self.y = 2.0
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, *, size: float = 13, more: str = "") -> None:
        marked = re.sub(rf"[{MARKS}]", r'<tspan font-weight="700">\g<0></tspan>', escape(text))
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{more}>{marked}</text>')

    def card(self, jar: str, title: str, rows: tuple[tuple[int, int, str], ...]) -> None:
        """A member, with the numbers that live in it."""
        height = 32 + 36 * len(rows)
        self.parts.append(
            f'<rect x="{EDGE}" y="{self.y:g}" width="{WIDTH - 2 * EDGE}" height="{height}" rx="9" fill="none"'
            f' stroke="var(--{jar})" stroke-width="{_weight(jar)}"/>'
        )
        self.text(EDGE + 12, self.y + 22, title, more=' font-weight="700"')
        for place, (which, value, where) in enumerate(rows):
            top = self.y + 46 + 36 * place
            self.text(EDGE + 12, top, MARKS[which], size=19, more=f' fill="var(--{jar})"')
            self.text(EDGE + 38, top - 2, NAMES[which], more=' font-weight="600"')
            self.text(EDGE + 38, top + 13, where, size=12, more=' opacity=".8"')
            self.text(WIDTH - EDGE - 14, top + 4, str(value), size=20, more=' font-weight="700" text-anchor="end"')
        self.y += height

    def message(self, jar: str, title: str, letter: bytes, fields: Mapping[int, int]) -> None:
        """The first eight bytes of a letter on their way, each number under its four."""
        top = self.y + 30
        self.parts.append(
            f'<path d="M26 {self.y + 4:g}v{90}" stroke="var(--{jar})" stroke-width="{_weight(jar)}"/>'
            f'<path d="M20 {self.y + 92:g}h12l-6 10z" fill="var(--{jar})"/>'
        )
        self.text(44, self.y + 20, f"{title}, the first eight bytes", more=' font-weight="600"')
        for place, (which, value) in enumerate(fields.items()):
            left = 44 + 126 * place
            self.parts.append(
                f'<rect x="{left}" y="{top:g}" width="112" height="26" rx="3" fill="none" stroke="currentColor"/>'
            )
            hexed = letter[4 * place : 4 * place + 4].hex(" ")
            self.text(left + 56, top + 18, hexed, size=14, more=f' text-anchor="middle" {_MONO}')
            self.text(
                left, top + 46, f"{MARKS[which]} {value}", size=17, more=f' font-weight="700" fill="var(--{jar})"'
            )
            self.text(left, top + 62, _SHORT[which], size=12)
        self.text(44 + 126 * len(fields), top + 18, "…")
        self.y += 108

    def log(self, jar: str, title: str, lines: tuple[LogLine, ...], numbers: tuple[int, ...]) -> None:
        """What is printed, each number with its mark."""
        shown = [row for line in lines for row in _rows(marked(line.text, numbers))]
        if not shown:
            return
        height = 22 + 17 * len(shown)
        self.text(EDGE + 12, self.y + 18, title, size=12, more=' opacity=".8"')
        self.parts.append(
            f'<path d="M{EDGE + 2} {self.y + 8:g}v{height}" stroke="var(--{jar})" stroke-width="{_weight(jar)}"/>'
        )
        for place, row in enumerate(shown):
            self.text(EDGE + 12, self.y + 36 + 17 * place, row, size=11.5, more=f" {_MONO}")
        self.y += height + 14

    def drawn(self, told: str) -> str:
        """The whole as one SVG."""
        height = self.y + 4
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="five-numbers" role="img" aria-label={quoteattr(told)}'
            f' viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" fill="currentColor"'
            ' font-family="ui-sans-serif,system-ui,sans-serif" style="max-width:100%;height:auto">\n'
            f"<style>{_STYLE}</style>\n" + "\n".join(self.parts) + "\n</svg>\n"
        )


_MONO = 'font-family="ui-monospace,Menlo,Consolas,monospace"'
_SHORT = ("latest supported", "used", "", "received", "commonly supported")


def _weight(jar: str) -> str:
    """The new jar's lines are the heavier ones: told apart where there is no colour."""
    return "2.6" if jar == "new" else "1.4"


def _rows(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 52, subsequent_indent="  ")


if __name__ == "__main__":
    print(picture(scene(simulate(Scenario(old="2.3.1", new="2.4.0", leader="A", order="C")))), end="")
