"""The shape of a log line: its words, its numbers, and which releases could have printed it.

Which shapes there are is in `own` and `others`; finding them in a file is in `search`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from ..releases import Release, releases

NUMBER = r"-?[0-9]{1,19}"
_SLOTS = {
    "task": r"[\w.-]{0,200}?\d{1,9}_\d{1,9}",
    "member": r"\S{1,400}",
    "value": r"[\w.+-]{0,80}\w",
    "when": r"(?:-?\d+ ms|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ?(?:Z|[+-]\d\d(?::?\d\d)?)?)",
    "exception": r"[\w.$]{1,200}",
    "group": r"\S{1,400}",
    "protocol": r"[^']{0,200}",
    "words": r".{0,400}?",
    "reason": r".{0,400}",
    "state": r"[A-Z_]{1,60}",
    "release": r"\d{1,4}\.\d{1,4}\.\d{1,4}(?:\.\d{1,4})?(?:-\w{1,20}){0,4}",
}
"""What a slot of that name takes; a slot of another name takes a number."""

_SLOT = re.compile(r"\{(\w+)\}")

Releases = int
"""A set of releases: bit i stands for the i-th row of the catalogue."""


@dataclass(frozen=True)
class Reading:
    """One thing that a line of this shape can mean."""

    kind: str
    slots: tuple[str, ...]
    """What each number of the line is, in their order."""
    releases: Releases


@dataclass(frozen=True)
class Shape:
    """The words of a line with `{}` where a number is, and what it means in which releases."""

    words: str
    """As printed, each slot in braces by its name in the first reading."""
    readings: tuple[Reading, ...]
    level: str = ""
    """As printed; empty for an exception."""
    logger: str = ""
    exception: str = ""
    """The class of the exception whose text this is; empty for a line of its own."""
    alone: bool = True
    """Whether the text of the exception is told from a line without its class before it."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Finds the line anywhere in a text; group 1 is what was printed."""
        parts = _SLOT.split(self.words)
        body = "".join(
            re.escape(part) if i % 2 == 0 else f"({_SLOTS.get(part, NUMBER)})" for i, part in enumerate(parts)
        )
        head = rf"(?:[\w.$]*\b{self.exception}: )" if self.exception else ""
        head += "?" if head and self.alone else ""
        tail = r"(?!\w)" if self.words.endswith("}") else ""
        return re.compile(f"{head}({body}){tail}")

    @cached_property
    def literal(self) -> str:
        """The longest run of words without a slot: what a quick search looks for."""
        return max(_SLOT.split(self.words)[::2], key=len)

    def match(self, text: str) -> tuple[tuple[Reading, dict[str, str]], ...] | None:
        """What the text means if it has this shape: every reading with its slots; None if it has another."""
        if self.literal not in text:
            return None
        found = self.regex.search(text)
        if found is None:
            return None
        said = found.groups()
        return tuple(
            (reading, {"": said[0], **dict(zip(reading.slots, said[1:], strict=True))}) for reading in self.readings
        )


def slots_of(words: str) -> tuple[str, ...]:
    """The names of the slots, in their order.

    >>> slots_of("Downgrade metadata to version {smallest}. Latest supported version is {latest}.")
    ('smallest', 'latest')
    """
    return tuple(_SLOT.findall(words))


def blank(words: str) -> str:
    """The words with nameless slots: what two readings of one line share.

    >>> blank("used version: {future}; latest supported version: {latest}")
    'used version: {}; latest supported version: {}'
    """
    return _SLOT.sub(lambda slot: slot.group() if slot.group(1) in _SLOTS else "{}", words)


# Sets of releases.


@cache
def everything() -> Releases:
    """All rows of the catalogue."""
    return (1 << len(releases())) - 1


@cache
def numbered(name: str) -> tuple[int, ...]:
    """The version number of a release, for comparison; a commit's is that of the trunk it was made on."""
    if name.startswith("c310"):
        return (2, 3, 99)
    digits = [int(part) for part in re.findall(r"\d+", name.split("-")[0])]
    return tuple(digits) if digits[0] == 0 else (digits[0], digits[1], *digits[2:])


def where(holds: Callable[[Release], bool]) -> Releases:
    """The releases for which that holds."""
    return sum(1 << i for i, row in enumerate(releases()) if holds(row))


def one(name: str) -> Releases:
    """That release alone; none if the catalogue has it not."""
    return where(lambda row: name in (row.name, *row.aliases))


def span(first: str = "", last: str = "") -> Releases:
    """The releases from one to another, both included; 2.2.2 is not between 2.3.0 and 2.3.1.

    >>> told(span("2.6.0", "2.7.0"))
    '2.6.0–2.7.0'
    """
    low, high = numbered(first) if first else (), numbered(last) if last else (999,)
    return where(lambda row: low <= numbered(row.name) <= high)


def named(chosen: Releases) -> tuple[str, ...]:
    """Their names, in catalogue order."""
    return tuple(row.name for i, row in enumerate(releases()) if chosen >> i & 1)


@cache
def told(chosen: Releases) -> str:
    """A set of releases as a reader says it: ranges of published releases, in catalogue order."""
    rows = [(i, row) for i, row in enumerate(releases()) if row.released]
    if chosen == everything() or all(chosen >> i & 1 for i, _ in rows):
        return "every release"
    ranges: list[list[str]] = []
    before = False
    for i, row in rows:
        inside = bool(chosen >> i & 1)
        if inside and before:
            ranges[-1][1:] = [row.name]
        elif inside:
            ranges.append([row.name])
        before = inside
    unreleased = [row.name for i, row in enumerate(releases()) if not row.released and chosen >> i & 1]
    if not ranges:
        return ", ".join(unreleased) or "no release"
    return ", ".join("–".join(part) for part in ranges)


@cache
def latest_versions(chosen: Releases) -> tuple[int, ...]:
    """The latest supported versions of these releases, without repetition."""
    return tuple(sorted({row.latest for i, row in enumerate(releases()) if chosen >> i & 1}))


@cache
def supporting(version: int, *, exactly: bool = True) -> Releases:
    """The releases whose latest supported version is this, or at least this."""
    return where(lambda row: row.latest == version if exactly else row.latest >= version)


def merged(found: Iterable[tuple[str, str, str, str, str, Releases]]) -> tuple[Shape, ...]:
    """Shapes of (kind, words, level, logger, exception, releases): what reads alike becomes one shape.

    Longer words come first, so that the line of a later release is not taken for its beginning.
    """
    shapes: dict[tuple[str, str], dict[tuple[str, tuple[str, ...]], Releases]] = {}
    first: dict[tuple[str, str], tuple[str, str, str]] = {}
    for kind, words, level, logger, exception, chosen in found:
        key = (blank(words), exception)
        first.setdefault(key, (words, level, logger))
        meanings = shapes.setdefault(key, {})
        meaning = (kind, slots_of(words))
        meanings[meaning] = meanings.get(meaning, 0) | chosen
    made = [
        Shape(
            words=first[key][0],
            readings=tuple(Reading(kind, slots, chosen) for (kind, slots), chosen in meanings.items()),
            level=first[key][1],
            logger=first[key][2],
            exception=key[1],
            alone=not key[1] or (key[0], "") not in shapes,
        )
        for key, meanings in shapes.items()
    ]
    return tuple(sorted(made, key=lambda shape: (not shape.exception, -len(shape.words), shape.words)))


def filled(words: str, numbers: Mapping[str, object]) -> str:
    """The words with their slots filled, for texts made of shapes.

    >>> filled("to version {latest}.", {"latest": 4})
    'to version 4.'
    """
    return _SLOT.sub(lambda slot: str(numbers[slot.group(1)]), words)
