"""One line of a log as the program that wrote it meant it: when, who, how loud, and what.

Plain lines of any layout, JSON lines, and the lines of `simulate --log`. What the words mean is in `events`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

_SIMULATED = re.compile(r"\[ *(\d+\.\d+)\] ([A-Z]+(?:-\d+)?): (\w+) ([\w.$]+) - ")
_ISO = re.compile(
    r"(?<!scheduled for )(?<!rebalance at )(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)"
    r"(?:[.,:](\d{1,9}))? ?(Z|[+-]\d\d:?\d\d)?"
)
_CLOCK = re.compile(r"(?:^|(?<!\d-\d\d)[\s\[|])(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\b")
_SHORT = re.compile(r"(?:^|[\s\[|])(\d\d)[/.-](\d\d)[/.-](\d\d) (\d\d):(\d\d):(\d\d)\b")
_EPOCH = re.compile(r"^\D{0,20}(1\d{9})(\d{3})?\b")
_SYSLOG = re.compile(r"^<?\d*>?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d{1,2}) (\d\d):(\d\d):(\d\d)")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_TRACE = re.compile(r"\s*(?:Caused by: |Suppressed: |at |\.\.\. )?\s*[\w.$]*\w(?:Exception|Error)\b|\s+at ")
_LEVEL = re.compile(r"\b(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE)\b")
_THREADS = (
    re.compile(r"stream-thread \[([^\]\s]{1,300})\]"),
    re.compile(r"([\w.-]{1,250}-StreamThread-\d+)"),
    re.compile(r"clientId=([^,\]\s]{1,300})"),
)
_CLIENT = re.compile(r"stream-client \[([^\]\s]{1,300})\]")
_POD = (re.compile(r"^\[?pod/([\w.-]+)"), re.compile(r"^([\w.-]+) +\| "))
_SUFFIX = re.compile(r"-(?:restore-)?consumer$|-producer$|-admin$")

_TIME_KEYS = ("@timestamp", "timestamp", "ts", "time", "instant", "datetime", "date", "timeMillis", "eventTime")
_LEVEL_KEYS = ("level", "severity", "log.level", "loglevel", "levelname", "lvl")
_LOGGER_KEYS = ("logger_name", "logger", "loggerName", "log.logger", "class", "name", "category")
_THREAD_KEYS = ("thread_name", "thread", "threadName", "process.thread.name", "thread.name")
_TEXT_KEYS = ("message", "msg", "log", "text", "@message", "textPayload", "MESSAGE", "formatted_message", "body")
_TRACE_KEYS = ("stack_trace", "stacktrace", "exception", "throwable", "thrown", "error.stack_trace", "error", "stack")
_HOST_KEYS = ("host", "hostname", "pod", "pod_name", "kubernetes.pod_name", "container_name", "HOSTNAME", "instance")


@dataclass(frozen=True, slots=True)
class Record:
    """A line, taken apart as far as its layout allows."""

    text: str
    time: float | None = None
    """Seconds since 1970, or since the start of a simulated run; None where none is printed."""
    member: str = ""
    """A stream thread, as far as one is named; else a client, a pod, or empty."""
    level: str = ""
    logger: str = ""
    simulated: bool = False


def record(line: str, before: Iterable[str] = ()) -> Record:
    """The line taken apart; a line of a stack trace belongs to the line that began it.

    >>> record("[    2.000] A: INFO StreamThread - Version probing detected.").member
    'A'
    """
    made = _of(line)
    if made.time is not None or made.member or not _TRACE.match(line):
        return made
    for distance, earlier in enumerate(before):
        if distance >= 64:
            break
        if moment(earlier[:200]) is not None:
            head = _of(earlier)
            return Record(
                made.text, head.time, head.member, made.level or head.level, made.logger or head.logger, head.simulated
            )
    return made


def _of(line: str) -> Record:
    bare = line.lstrip()
    if bare.startswith("{"):
        found = _json(bare)
        if found is not None:
            return found
    simulated = _SIMULATED.match(bare)
    if simulated:
        at, name, level, logger = simulated.groups()
        return Record(bare[simulated.end() :], float(at), name, level, logger, True)
    start = line.find(" {")
    if 0 <= start < 120 and line.rstrip().endswith("}"):  # a JSON line behind the prefix of a container runtime
        found = _json(line[start + 1 :])
        if found is not None:
            return found if found.time is not None else replace(found, time=moment(line[:start]))
    level = _LEVEL.search(line[:400])
    return Record(line, moment(line[:200]), _member(line), _level(level.group()) if level else "")


def _level(word: str) -> str:
    return {"WARNING": "WARN", "SEVERE": "ERROR", "FATAL": "ERROR"}.get(word.upper(), word.upper())


def _member(text: str) -> str:
    for pattern in _THREADS:
        found = pattern.search(text)
        if found:
            return _SUFFIX.sub("", found.group(1))
    for pattern in (_CLIENT, *_POD):
        found = pattern.search(text)
        if found:
            return found.group(1)
    return ""


def _json(line: str) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    flat = _flat(value)
    text = _first(flat, _TEXT_KEYS)
    trace = _first(flat, _TRACE_KEYS)
    if not text and not trace:
        return None
    whole = f"{text}\n{trace}" if trace and trace not in text else text
    inner = _of(text) if text.lstrip()[:1] in ("{", "[") or moment(text[:40]) is not None else None
    thread = _first(flat, _THREAD_KEYS)
    said = _first(flat, _TIME_KEYS)
    return Record(
        text=whole if inner is None else inner.text,
        time=moment(said) if said else (inner.time if inner else None),
        member=_member(thread) or _member(text) or (inner.member if inner else "") or _first(flat, _HOST_KEYS),
        level=_level(_first(flat, _LEVEL_KEYS)) or (inner.level if inner else ""),
        logger=_first(flat, _LOGGER_KEYS) or (inner.logger if inner else ""),
        simulated=bool(inner and inner.simulated),
    )


def _flat(value: Mapping[str, object], prefix: str = "", depth: int = 0) -> dict[str, str]:
    """Nested keys joined with dots, and by their last part where that is free."""
    found: dict[str, str] = {}
    for key, one in value.items():
        if isinstance(one, dict) and depth < 4:
            for inner, text in _flat(one, f"{prefix}{key}.", depth + 1).items():
                found.setdefault(inner, text)
        elif isinstance(one, str | int | float):
            found[f"{prefix}{key}"] = str(one)
            if prefix:
                found.setdefault(str(key), str(one))
    return found


def _first(flat: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((flat[key] for key in keys if flat.get(key)), "")


def moment(text: str) -> float | None:
    """The first moment in a text, in seconds; without a zone it is taken for UTC, without a day for 1 January 1970.

    >>> moment("2024-05-01 12:00:00,250 INFO"), moment("12:00:01.5 [main]"), moment("no time")
    (1714564800.25, 43201.5, None)
    """
    try:
        return _moment(text)
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> float | None:
    iso = _ISO.search(text)
    if iso:
        year, month, day, hour, minute, second = [int(part) for part in iso.groups()[:6]]
        fraction, zone = iso.groups()[6:]
        at = datetime(year, month, day, hour, minute, second, tzinfo=_zone(zone))
        return at.timestamp() + _fraction(fraction)
    short = _SHORT.search(text)
    if short:
        year, month, day, hour, minute, second = [int(part) for part in short.groups()]
        return datetime(2000 + year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    epoch = _EPOCH.match(text)
    if epoch:
        return int(epoch.group(1)) + int(epoch.group(2) or 0) / 1000
    syslog = _SYSLOG.match(text)
    if syslog:
        name, *rest = syslog.groups()
        day, hour, minute, second = map(int, rest)
        return datetime(1970, _MONTHS.index(name) + 1, day, hour, minute, second, tzinfo=UTC).timestamp()
    clock_only = _CLOCK.search(text)
    if clock_only:
        hour, minute, second = map(int, clock_only.groups()[:3])
        if hour > 23 or minute > 59 or second > 60:
            return None
        return hour * 3600 + minute * 60 + second + _fraction(clock_only.group(4))
    return None


def _fraction(digits: str | None) -> float:
    return int(digits) / 10 ** len(digits) if digits else 0.0


def _zone(zone: str | None) -> timezone:
    if not zone or zone == "Z":
        return UTC
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
