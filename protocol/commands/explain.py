"""`explain`: what the log of a real group says, what is wrong, and what helps.

The reading is done in `protocol.logbook`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime

from ..logbook import Diagnosis, Event, Explanation, Life, Noted, Progress, explain, meaning, printed_by
from .answer import Unusable, print_json

TEXT = "What a real log says: each line that matters, the members behind it, what is wrong and what helps."
EXAMPLE = "explain --release 2.3.0 app.log other.log.gz"

_SLOW = 32 << 20
"""Bytes of a file from which on a progress bar is worth its line."""


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument(
        "files",
        nargs="+",
        metavar="FILE|-",
        help="logs, plain or JSON lines, gzip or not; several are merged by time; - is standard input",
    )
    command.add_argument("--release", metavar="RELEASE", help="what the members run, where you know it")
    command.add_argument(
        "--lines", type=_count, default=40, metavar="N", help="how many different lines to tell in text (default 40)"
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no count")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    if "-" in options.files and sys.stdin is None:
        raise Unusable("standard input is closed")
    sources = [sys.stdin.buffer if name == "-" else name for name in options.files]
    names = ["standard input" if name == "-" else _shown(os.path.basename(name)) for name in options.files]
    watch = _Watch(_Bar() if sys.stderr.isatty() and sum(map(_size, options.files)) >= _SLOW else None)
    with watch:
        told = explain(*sources, release=options.release, names=names, tick=watch)
    if told.problems and not told.matched:
        pass  # nothing came out of it: the problem alone is the answer
    elif options.format == "json":
        print_json(_json(told))
    else:
        for line in _text(told, options.lines):
            print(line)
    sys.stdout.flush()
    for problem in told.problems:
        print(f"{options.prog}: {problem}", file=sys.stderr)
    if watch.stopped:
        return 130
    if told.problems and not told.matched:
        return 2
    return 1 if told.sick else 0


def _shown(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name)


class _Watch:
    """Looks on while logs are read: draws the bar, and ends the reading at the first Ctrl-C; the second kills."""

    def __init__(self, bar: _Bar | None) -> None:
        self.bar = bar
        self.stopped = False
        self.before: object = None

    def __call__(self, progress: Progress) -> bool:
        if self.bar:
            self.bar(progress)
        return self.stopped

    def __enter__(self) -> None:
        try:
            self.before = signal.signal(signal.SIGINT, self.stop)
        except ValueError:  # in a thread
            self.before = None

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)  # type: ignore[arg-type]
        if self.bar:
            self.bar.clear()

    def stop(self, *_: object) -> None:
        """Remember the first; the second is the end."""
        if self.stopped:
            raise KeyboardInterrupt
        self.stopped = True


def _size(name: str) -> int:
    try:
        return os.stat(name).st_size
    except OSError:
        return 0


class _Bar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        self.shown = -1

    def __call__(self, progress: Progress) -> None:
        if progress.size:
            percent = min(100, 100 * progress.done // progress.size)
            text = f"{progress.name} [{'#' * (percent // 4):25}] {percent} %"
        else:
            percent = progress.unpacked >> 23
            text = f"{progress.name} {progress.unpacked >> 20} MB"
        if percent != self.shown:
            self.shown = percent
            print(f"\r{text[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.shown >= 0:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


# For people.


def _paint(code: str) -> Callable[[str], str]:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return str
    return lambda text: f"\x1b[{code}m{text}\x1b[0m"


def _text(told: Explanation, most: int) -> Iterator[str]:
    bold, red, yellow, dim = _paint("1"), _paint("31"), _paint("33"), _paint("2")
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)

    def wrapped(text: str, indent: int, first: str = "") -> Iterator[str]:
        lines = textwrap.wrap(text, max(30, width - indent), break_long_words=False, break_on_hyphens=False) or [""]
        yield from (f"{first.ljust(indent) if i == 0 else ' ' * indent}{line}" for i, line in enumerate(lines))

    yield from wrapped(told.summary, 0)
    for one in told.diagnoses:
        colour = red if one.grave else yellow
        yield ""
        yield from (colour(line) for line in wrapped(f"{one.certainty}: {one.name}: {one.title}", 0))
        yield from wrapped(one.what, 4)
        for event in one.evidence:
            yield from (dim(line) for line in wrapped(f"{event.where}  {event.member}  {event.text}", 6))
        yield from wrapped(one.cure, 16, "    what helps")
        if one.decides:
            yield from wrapped(one.decides, 16, "    to decide")
        if one.scenario is not None:
            yield f"    to see it   {one.scenario.python()}"
        if one.source:
            yield dim(f"    source      {one.source}")
    if told.members:
        yield ""
        yield bold("members, as far as the lines allow")
        for life in told.members[:60]:
            yield from wrapped(_life(life, told), 4)
        if len(told.members) > 60:
            yield f"    and {len(told.members) - 60} more"
    if told.noted:
        yield ""
        yield bold("lines")
        for noted in told.noted[:most]:
            yield from _line(noted, wrapped, dim)
        if len(told.noted) > most:
            yield f"    and {len(told.noted) - most} more different lines: --lines, or --format json"
    if told.dropped:
        yield f"    {told.dropped} lines beyond the limit were read but are not told"


def _life(life: Life, told: Explanation) -> str:
    name = life.member or "unnamed"
    name += f" (process {life.number})" if life.number > 1 else ""
    parts = [f"{name}: {life.runs}"]
    if life.used is not None:
        parts.append(f"speaks v{life.used}")
    if life.generation is not None:
        parts.append(f"generation {life.generation}")
    if life.protocol:
        parts.append(life.protocol + (f" (upgrade.from={life.upgrade_from})" if life.upgrade_from else ""))
    if life.member and life.member == told.leader:
        parts.append("led last")
    parts.append(_state(life))
    return ", ".join(parts)


def _state(life: Life) -> str:
    if life.dead is not None:
        return "died"
    if life.closed:
        return "closed"
    return {True: "poisoned", None: "perhaps poisoned", False: "alive"}[life.poisoned]


def _line(noted: Noted, wrapped: Callable[..., Iterator[str]], dim: Callable[[str], str]) -> Iterator[str]:
    event = noted.event
    times = f" ({noted.times} times)" if noted.times > 1 else ""
    at = f" {_when(event)}" if event.time is not None else ""
    yield from wrapped(f"{event.where}{at}  {event.member}  {event.level} {event.text}{times}", 4)
    said = meaning(event)
    if said:
        yield from wrapped(said, 8)
    yield from (dim(line) for line in wrapped(f"printed by {printed_by(event)}", 8))


def _when(event: Event) -> str:
    assert event.time is not None
    if event.simulated:
        return f"{event.time:.3f} s"
    layout = "%H:%M:%S" if event.time < 86400 else "%d %b %H:%M:%S" if event.time < 366 * 86400 else "%Y-%m-%d %H:%M:%S"
    try:
        return datetime.fromtimestamp(event.time, tz=UTC).strftime(layout)
    except (ValueError, OverflowError, OSError):
        return ""


# For programs.


def _json(told: Explanation) -> dict[str, object]:
    return {
        "summary": told.summary,
        "sick": told.sick,
        "lines": told.lines,
        "matched": told.matched,
        "dropped": told.dropped,
        "leader": told.leader or None,
        "generation": told.generation,
        "diagnoses": [_diagnosis_json(one) for one in told.diagnoses],
        "members": [_life_json(life) for life in told.members],
        "events": [_noted_json(noted) for noted in told.noted],
        "files": [
            {key: value for key, value in asdict(one).items() if key in ("name", "size", "unpacked", "lines")}
            for one in told.files
        ],
        "problems": list(told.problems),
    }


def _diagnosis_json(one: Diagnosis) -> dict[str, object]:
    return {
        "name": one.name,
        "title": one.title,
        "certainty": one.certainty,
        "grave": one.grave,
        "what": one.what,
        "cure": one.cure,
        "decides": one.decides,
        "evidence": [_event_json(event) for event in one.evidence],
        "scenario": one.scenario.picks() if one.scenario else None,
        "python": one.scenario.python() if one.scenario else None,
        "source": one.source,
    }


def _life_json(life: Life) -> dict[str, object]:
    return {
        "member": life.member,
        "process": life.number,
        "state": _state(life),
        "used_version": life.used,
        "latest_supported_version": life.latest,
        "releases": life.runs,
        "generation": life.generation,
        "protocol": life.protocol or None,
        "upgrade_from": life.upgrade_from or None,
        "lines": life.lines,
        "first": life.first,
        "last": life.last,
    }


def _noted_json(noted: Noted) -> dict[str, object]:
    return {**_event_json(noted.event), "times": noted.times, "last": noted.last}


def _event_json(event: Event) -> dict[str, object]:
    return {
        "kind": event.kind,
        "file": event.file,
        "line": event.line,
        "time": event.time,
        "member": event.member,
        "level": event.level,
        "logger": event.logger,
        "text": event.text,
        "exception": event.exception or None,
        "numbers": dict(event.numbers),
        "words": dict(event.words),
        "meaning": meaning(event),
        "releases": list(event.releases),
        "printed_by": event.printed_by,
        "dialects": list(event.dialects),
        "known": event.fits,
    }
