"""Reading whole logs: one file or several merged by time, told line by line or as one explanation.

What the lines show together is in `diseases`; the words for a terminal are in the command line.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import VersionProbingError
from .diagnosis import Diagnosis, Noted
from .diseases import diagnoses
from .events import Event
from .history import History, Life
from .plain import plain
from .reading import Source, Tick, forwards, known_releases, read
from .search import Progress

MOST_NOTED = 5_000
"""How many different lines an explanation keeps; repetitions are counted, and what is beyond is counted too."""


class NoLog(VersionProbingError, ValueError):
    """Nothing to read: no source was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a log says: its lines that matter, its members, and what is wrong with them."""

    noted: tuple[Noted, ...]
    members: tuple[Life, ...]
    """Each process of each member, in the order of the members' first lines."""
    leader: str
    """Who printed a leader's line last; empty where nobody did."""
    generation: int | None
    diagnoses: tuple[Diagnosis, ...]
    files: tuple[Progress, ...]
    lines: int
    matched: int
    """How many lines matter, repetitions included."""
    dropped: int
    """Different lines beyond MOST_NOTED, and members beyond the limit: read, but not told of."""
    problems: tuple[str, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """The lines that matter, repetitions told once."""
        return tuple(one.event for one in self.noted)

    @property
    def sick(self) -> bool:
        """Whether something grave is certain or likely."""
        return any(one.grave and one.certainty != "possible" for one in self.diagnoses)

    def _ended(self) -> int | None:
        """The version at which a rolling upgrade ended, if it did for every member of the log; else None."""
        living = [life for life in self.members if life.dead is None and not life.closed]
        spoken = {life.used for life in living}
        ends = any(one.event.kind == "end of upgrade" for one in self.noted)
        return next(iter(spoken)) if ends and len(spoken) == 1 else None

    @property
    def summary(self) -> str:
        """One sentence."""
        if not self.matched:
            return f"{self.lines} lines, none of which tells of a rebalance of Kafka Streams or of a known cause."
        grave = [one for one in self.diagnoses if one.grave]
        told = grave or list(self.diagnoses)
        if not told:
            ended = self._ended()
            done = f": a rolling upgrade has ended, every member here speaks v{ended}" if ended else ""
            return f"{self.matched} of {self.lines} lines matter, and nothing is wrong with what they say{done}."
        more = f" and {len(told) - 1} more" if len(told) > 1 else ""
        return (
            f"{self.matched} of {self.lines} lines matter: {told[0].certainty}, {told[0].name}: {told[0].title}{more}."
        )


def explain(
    *sources: Source, release: str | None = None, names: Sequence[str] = (), tick: Tick | None = None
) -> Explanation:
    """What the logs say: a path, a binary stream, or lines of text each; several are merged by time.

    `release` is what the members run, where you know it; the log may be of several releases without it.

    >>> told = explain(["B: java.lang.IllegalArgumentException: version must be between 1 and 3; was: 4"])
    >>> told.diagnoses[0].name
    'KAFKA-8649'

    Raises: OSError for a file that cannot be opened, UnknownReleaseError, and NoLog where nothing was given.
    """
    if not sources:
        raise NoLog("no log was given")
    within = known_releases(release)
    files = [Progress(name) for name in _distinct(sources, names)]
    streams = [
        forwards(read(source, release_name=release, name=files[i].name, progress=files[i], tick=tick), files[i])
        for i, source in enumerate(sources)
    ]
    history = History(within)
    noted: dict[tuple[object, ...], Noted] = {}
    clocks: dict[str, dict[int, float]] = {}
    matched = dropped = 0
    for event in streams[0] if len(streams) == 1 else _merged(streams):
        matched += 1
        history.note(event)
        generation = event.number("generation")
        if event.kind == "joined" and generation is not None and event.time is not None:
            clocks.setdefault(event.file, {}).setdefault(generation, event.time)
        key = (
            event.member,
            event.kind,
            event.numbers,
            event.words,
            event.exception,
            event.text if not event.numbers else "",
        )
        old = noted.get(key)
        if old is not None:
            old.times += 1
            old.last = event.time
        elif len(noted) < MOST_NOTED:
            noted[key] = Noted(event, 1, event.time)
        else:
            dropped += 1
    kept = tuple(noted.values())
    return Explanation(
        noted=kept,
        members=tuple(history.all()),
        leader=history.leader,
        generation=history.generation,
        diagnoses=diagnoses(kept, history),
        files=tuple(files),
        lines=sum(one.lines for one in files),
        matched=matched,
        dropped=dropped + history.forgotten,
        problems=(*(problem for one in files for problem in one.problems), *_clocks(clocks)),
    )


def _distinct(sources: Sequence[Source], names: Sequence[str]) -> list[str]:
    """A name for each log; where two would be the same, the path or a number tells them apart."""
    given = [names[i] if i < len(names) else "" for i in range(len(sources))]
    short = [
        name or (plain(os.path.basename(source)) if isinstance(source, str | os.PathLike) else "")
        for name, source in zip(given, sources, strict=True)
    ]
    return [
        name
        if not name or short.count(name) == 1
        else plain(os.fspath(source))
        if isinstance(source, str | os.PathLike)
        else f"{name} ({place + 1})"
        for place, (name, source) in enumerate(zip(short, sources, strict=True))
    ]


_APART = 60.0
"""Seconds: members join one generation within a few, so clocks that differ by more are wrong."""


def _clocks(joins: Mapping[str, Mapping[int, float]]) -> Iterator[str]:
    """Which logs' clocks are off, by the generations that their members joined together."""
    files = list(joins)
    for other in files[1:]:
        apart = [joins[other][one] - joins[files[0]][one] for one in joins[other] if one in joins[files[0]]]
        if len(apart) < 2:  # one may be a static member's, answered from the cache much later
            continue
        middle = sorted(apart)[len(apart) // 2]
        if abs(middle) > _APART and all(abs(one - middle) < _APART for one in apart):
            side = "ahead of" if middle > 0 else "behind"
            yield (
                f"{other}: its clock is {abs(middle):.0f} s {side} that of {files[0]}, by the generations "
                "that both joined; the lines of the two are not in the order in which they happened"
            )


def _merged(streams: Sequence[Iterator[Event]]) -> Iterator[Event]:
    """Several logs as one, by time; a line without a time stays behind the line before it in its file."""

    def timed(index: int, stream: Iterator[Event]) -> Iterator[tuple[float, int, int, Event]]:
        latest = float("-inf")
        for count, event in enumerate(stream):
            latest = max(latest, event.time) if event.time is not None else latest
            yield latest, index, count, event

    for *_, event in heapq.merge(*(timed(i, stream) for i, stream in enumerate(streams))):
        yield event
