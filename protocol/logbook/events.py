"""What one line of a log says: its kind, its numbers, and the releases that could have printed it.

What a kind means to an engineer is in `meaning`; what many lines say together is in `history` and `diseases`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ..releases import Release, releases
from . import others, own
from .record import Record
from .shapes import NUMBER, Reading, Releases, Shape, blank, everything, named, span, told

LEADER = frozenset(
    {
        "unreadable subscription",
        "old leader cannot read",
        "future member, empty answer",
        "future member, real answer",
        "smallest used",
        "smallest supported",
        "smallest so far",
        "warm-up planned",
        "pre-2.0 beside future",
        "pre-2.0 beside future, answered",
        "error assignment",
        "task withheld",
        "followup for withheld tasks",
        "stable assignment",
        "unstable assignment",
        "leads",
    }
)
"""Kinds that only a group leader prints."""

CAUSES = frozenset(kind for kind, _ in others.CAUSES)
"""Kinds that name a cause which has nothing to do with metadata versions, or need not."""

DEADLY = frozenset(
    {"poisoned", "higher than sent", "cannot upgrade", "not the leader's version", "unreadable assignment"}
    | {"pre-2.0 beside future", "old leader cannot read", "told of an error", "missing topic", "upgrade.from rejected"}
    | {"mispaired tasks", "foreign bytes"}
)
"""Kinds after which the stream thread is gone, when they come as an exception."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line that matters."""

    kind: str
    numbers: tuple[tuple[str, int], ...]
    """What the line says in numbers, by name: `used`, `received`, `common`, `latest`, `future` and others."""
    words: tuple[tuple[str, str], ...]
    """What it says in words: `value`, `task`, `when`, `release` and others."""
    text: str
    """What was printed, without the layout around it."""
    possible: Releases
    """The releases whose text and numbers these are."""
    other: tuple[tuple[str, Releases], ...] = ()
    """Names that the last number has in other releases: (name, releases)."""
    exception: str = ""
    member: str = ""
    time: float | None = None
    level: str = ""
    logger: str = ""
    file: str = ""
    line: int = 0
    fits: bool = True
    """Whether some release of the catalogue prints this text with these numbers."""
    simulated: bool = False
    elsewhere: bool = False
    """Whether the release that was named does not print it, and another does."""

    def number(self, name: str) -> int | None:
        """A number by its name; None where the line has it not."""
        return next((value for key, value in self.numbers if key == name), None)

    def word(self, name: str) -> str:
        """A word by its name; empty where the line has it not."""
        return next((value for key, value in self.words if key == name), "")

    @property
    def releases(self) -> tuple[str, ...]:
        """The names of the releases that could have printed it, in catalogue order."""
        return named(self.possible)

    @property
    def dialects(self) -> tuple[str, ...]:
        """The log dialects of those releases."""
        return tuple(dict.fromkeys(row.log for i, row in enumerate(releases()) if self.possible >> i & 1))

    @property
    def printed_by(self) -> str:
        """Those releases as a reader says them."""
        return told(self.possible)

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"


def events(record: Record, *, file: str = "", line: int = 0, within: Releases | None = None) -> Iterator[Event]:
    """What the line says, mostly one event or none; a stack trace in one JSON line may say several.

    `within` are the releases that the log can be of; None is all of them.
    """
    texts = [piece for text in record.text.split("\n", 400) for piece in _pieces(text)]
    seen: set[tuple[str, object]] = set()
    for text in texts:
        event = _event(text, record, file, line, everything() if within is None else within)
        if event is not None and (event.kind, event.numbers) not in seen:
            seen.add((event.kind, event.numbers))
            yield event


_NUMBER = re.compile(NUMBER, re.ASCII)
_PIECE, _OVERLAP = 8192, 1024


def _pieces(text: str) -> Iterator[str]:
    """A very long text in pieces that overlap, so that the time it takes grows with its length and no faster."""
    yield text[:_PIECE]
    for at in range(_PIECE - _OVERLAP, len(text) - _OVERLAP, _PIECE - _OVERLAP):
        yield text[at : at + _PIECE]


def _event(text: str, record: Record, file: str, line: int, within: Releases) -> Event | None:
    for shape in _shapes():
        found = shape.match(text)
        if found is not None:
            if shape.exception and shape.exception not in text:
                shape, found = _exact(shape, text) or (shape, found)
            event = _made(shape, found, record, file, line, within)
            return _narrowed(event, text) if shape.exception else event
    return None


def _narrowed(event: Event, text: str) -> Event:
    """An exception behind the thread's last words on one line: only releases that print both."""
    for shape in _shapes():
        reading = shape.readings[0]
        if reading.kind == "dies" and event.possible & reading.releases and shape.match(text):
            return replace(event, possible=event.possible & reading.releases)
    return event


def _exact(shape: Shape, text: str) -> tuple[Shape, tuple[tuple[Reading, dict[str, str]], ...]] | None:
    """The shape with the same words whose exception the text names, if there is one."""
    for other in _shapes():
        if other.exception and other.exception in text and blank(other.words) == blank(shape.words):
            found = other.match(text)
            if found is not None:
                return other, found
    return None


def _shapes() -> tuple[Shape, ...]:
    return _ALL or _load()


_ALL: tuple[Shape, ...] = ()


def _load() -> tuple[Shape, ...]:
    global _ALL
    _ALL = (*own.shapes(), *others.shapes())
    return _ALL


def _made(
    shape: Shape,
    found: tuple[tuple[Reading, dict[str, str]], ...],
    record: Record,
    file: str,
    line: int,
    within: Releases,
) -> Event:
    reading, slots = found[0]
    possible: Releases = 0
    alternatives: list[tuple[str, Releases]] = []
    chosen = False
    anywhere: Releases = 0
    for one, said in found:
        every = _fitting(one.kind, tuple(said.items()), one.releases)
        anywhere |= every
        fitting = every & within
        if fitting and not chosen:
            reading, slots, chosen = one, said, True
        possible |= fitting
        if fitting and one.slots:
            alternatives.append((one.slots[-1], fitting))
    fits = bool(possible)
    elsewhere = bool(anywhere) and not possible
    if elsewhere:
        possible = anywhere
    elif not possible:
        possible = sum({one.releases for one, _ in found}) if len(found) > 1 else found[0][0].releases
    names = {name for name, _ in alternatives}
    numbers, words = [], []
    for name, value in slots.items():
        if name == "":
            continue
        if _NUMBER.fullmatch(value) and name not in ("value", "when", "member", "task", "release", "group"):
            numbers.append((name, int(value)))
        else:
            words.append((name, value))
    return Event(
        kind=reading.kind,
        numbers=tuple(numbers),
        words=tuple(words),
        text=slots[""],
        possible=possible,
        other=tuple(alternatives) if len(names) > 1 else (),
        exception=shape.exception,
        member=record.member,
        time=record.time,
        level=record.level or shape.level or ("ERROR" if shape.exception else ""),
        logger=record.logger or shape.logger,
        file=file,
        line=line,
        fits=fits,
        simulated=record.simulated,
        elsewhere=elsewhere,
    )


@lru_cache(maxsize=4096)
def _fitting(kind: str, said: tuple[tuple[str, str], ...], chosen: Releases) -> Releases:
    """Those of the releases in which these numbers can stand in that line."""
    numbers = {name: int(value) for name, value in said if _NUMBER.fullmatch(value)}
    words = dict(said)
    if kind == "version":
        return release_of(words.get("release", "")) or chosen
    return sum(1 << i for i, row in enumerate(releases()) if chosen >> i & 1 and _fits(kind, numbers, row))


def _fits(kind: str, said: Mapping[str, int], row: Release) -> bool:
    latest, nothing = row.latest, -2
    if said.get("latest", latest) != latest:
        return False
    used, common = said.get("used", nothing), said.get("common", nothing)
    received, future = said.get("received", nothing), said.get("future", nothing)
    match kind:
        case "poisoned":
            return not 1 <= used <= latest
        case "unreadable assignment":
            return not 1 <= received <= latest
        case "unreadable subscription":
            supported = said.get("supported")
            return not 1 <= future <= latest and (supported is None or supported >= future)
        case "future member, empty answer" | "future member, real answer" | "pre-2.0 beside future":
            return future > latest and said.get("supported", latest) <= latest
        case "old leader cannot read":
            return not 1 <= future <= latest
        case "pre-2.0 beside future, answered":
            return future > latest
        case "cut answer":
            return 3 <= received < used <= latest
        case "smallest used":
            return said["smallest"] < latest
        case "smallest supported":
            return said["supported"] < latest
        case "upgrade in silence":
            return used <= latest and common > used
        case "end of upgrade":
            return used < common <= latest
        case "cannot upgrade":
            return common > latest if "common" in said else True
        case "downgrade":
            return 3 <= received < used <= latest and common <= latest
        case "set to leader's":
            return 3 <= received < used <= latest
        case "higher than sent":
            return used < received <= latest
        case "upgrade.from lowers":
            return used < latest
    return True


_CONFLUENT = {5: 2, 6: 2, 7: 3, 8: 4}
"""The major version of Kafka in a major version of Confluent Platform; 6.0 is Kafka 2.6, so 6 adds six."""


@lru_cache(maxsize=512)
def release_of(name: str) -> Releases:
    """The rows of the catalogue that a version line stands for; a distribution's own number is translated.

    >>> told(release_of("2.3.0")), told(release_of("5.3.1-ccs")), told(release_of("6.2.0-ce"))
    ('2.3.0', '2.3.0–2.3.1', '2.8.0–2.8.2')
    """
    exact = sum(1 << i for i, row in enumerate(releases()) if name in (row.name, *row.aliases))
    if exact:
        return exact
    parts = name.split("-")[0].split(".")
    if len(parts) < 3 or not all(part.isdigit() for part in parts):
        return 0
    major, minor = int(parts[0]), int(parts[1])
    if name.endswith(("-ccs", "-ce")) and major in _CONFLUENT:
        major, minor = _CONFLUENT[major], minor + (6 if major == 6 else 0)
    elif "SNAPSHOT" not in name and "-" not in name and len(parts) == 3:
        return 0
    line = f"{major}.{minor}"
    return span(f"{line}.0", f"{line}.99")
