"""Reading one log from its first line to its last: the lines that matter, one by one, in bounded memory.

Several logs together, and what they show, are in `explanation`.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import BinaryIO

from ..releases import release
from .events import Event, events
from .moments import moment
from .plain import plain
from .record import record
from .search import CHUNK, Hit, Progress, hits
from .shapes import Releases, one

Source = str | os.PathLike[str] | BinaryIO | Iterable[str]
Tick = Callable[[Progress], object]
"""Told of each piece that was read; what it returns, if true, ends the reading there."""

_DAY = 86400
_BUFFERED = 2_000
"""How many events are waited for to see whether a log is told backwards."""


def read(
    source: Source, *, release_name: str | None = None, name: str = "", progress: Progress | None = None,
    tick: Tick | None = None, chunk: int = CHUNK,
) -> Iterator[Event]:  # fmt: skip
    """The lines of one log that matter, one by one, in bounded memory.

    >>> [event.kind for event in read(["INFO StreamThread - Version probing detected. Triggering new rebalance."])]
    ['rejoins to probe']
    """
    within = known_releases(release_name)
    stream, found, closes = _opened(source, name)
    seen = progress or Progress(found)
    seen.name = seen.name or found
    try:
        if seen.size is None and isinstance(source, str | os.PathLike):
            status = os.fstat(stream.fileno())
            seen.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        matched = False
        for event in _next_days(_told(hits(stream, seen, tick=tick, chunk=chunk), found, within)):
            matched = True
            yield event
    finally:
        if closes:
            stream.close()
    if seen.binary and not matched:
        seen.problems.append(f"{seen.name}: it is no text, and nothing in it reads as a log")


def known_releases(name: str | None) -> Releases | None:
    """The releases that a log can be of, if one is named; None for all.

    Raises: UnknownReleaseError.
    """
    return None if name is None else one(release(name).name)


def _told(found: Iterator[Hit], file: str, within: Releases | None) -> Iterator[Event]:
    joined = 0
    for hit in found:
        told = tuple(events(record(hit.text, hit.before, hit.after), file=file, line=hit.number, within=within))
        if told and told[0].kind != "cut answer":
            yield from told
        elif hit.number > joined and len(hit.text) < _WIDEST:
            before, after = _continued(hit)
            for whole in _glued((*before, hit.text, *after)) if before or after else ():
                glued = tuple(events(record(whole), file=file, line=hit.number - len(before), within=within))
                if glued and not any(event.text in line for event in glued for line in (*before, hit.text, *after)):
                    told = glued
                    joined = hit.number + len(after)
                    break
            yield from told


_WIDEST = 1000
_MOST_PARTS = 5
_NO_REST = re.compile(
    r"\s*(?:at |[\w.$]+(?:Exception|Error)\b|Caused by: |\.\.\. \d+|\{|\[\d|"
    r"(?:\[[^\]]*\]\s+)?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR)\b)"
)


def _continued(hit: Hit) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines before and behind that are one with the hit, where a terminal or a mail broke a line."""
    before: list[str] = []
    after: list[str] = []
    line = hit.text
    for earlier in islice(hit.before, _MOST_PARTS):
        if not _goes_on(line) or len(earlier) > _WIDEST:
            break
        before.insert(0, earlier)
        line = earlier
    for later in islice(hit.after, _MOST_PARTS):
        if not _goes_on(later):
            break
        after.append(later)
    return tuple(before), tuple(after)


def _goes_on(line: str) -> bool:
    """Whether a line can be the rest of another: no time, no line of a stack trace."""
    return 0 < len(line.strip()) < _WIDEST and not _NO_REST.match(line) and moment(plain(line[:60])) is None


def _glued(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines as one: a mail breaks between words, a terminal anywhere."""
    mark = "> " if all(line.startswith(">") for line in lines) else " \t"
    words = [line.strip(mark + "\r") for line in lines]
    return " ".join(words), "".join(line.rstrip("\r\n").removeprefix("> ") for line in lines)


def _next_days(found: Iterator[Event]) -> Iterator[Event]:
    """The events, with a day more on times without a day each time that midnight has passed."""
    days, latest = 0, 0.0
    for event in found:
        if event.time is None or event.time >= _DAY or event.simulated:
            yield event
            continue
        if event.time < latest - _DAY / 2:
            days += 1
        latest = event.time
        yield replace(event, time=event.time + days * _DAY) if days else event


def forwards(found: Iterator[Event], progress: Progress) -> Iterator[Event]:
    """The events from the oldest on, for an export that begins with the newest; a longer one is taken as it is."""
    first = list(islice(found, _BUFFERED))
    times = [event.time for event in first if event.time is not None]
    falls = sum(later < earlier for earlier, later in pairwise(times))
    rises = sum(later > earlier for earlier, later in pairwise(times))
    if falls >= 2 and falls > 4 * rises:
        first.reverse()
        if len(first) == _BUFFERED:
            progress.problems.append(f"{progress.name}: the newest line comes first; turn the file round and ask again")
    yield from first
    yield from found


def _opened(source: Source, name: str) -> tuple[BinaryIO, str, bool]:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return open(path, "rb"), name or plain(os.path.basename(path)), True
    if hasattr(source, "read"):
        return source, name or str(getattr(source, "name", "")).strip("<>"), False  # type: ignore[return-value]
    text = "\n".join(line.rstrip("\n") for line in source)
    return io.BytesIO(text.encode("utf-8", errors="surrogateescape")), name, True
