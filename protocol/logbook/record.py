"""One line of a log as the program that wrote it meant it: when, who, how loud, and what.

Plain lines of any layout, JSON lines, and the lines of `simulate --log`. The ways to print a time are in `moments`;
what the words mean is in `events`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from .moments import moment
from .plain import plain

_SIMULATED = re.compile(r"\[ *(\d+\.\d+)\] ([A-Z]+(?:-\d+)?): (\w+) ([\w.$]+) - ")
_TRACE = re.compile(
    r"\s*(?:INFO|WARNING|SEVERE|FINE): |\t|\s+at |"
    r"\s*(?:Caused by: |Suppressed: |at |\.\.\. )?\s*[\w.$]*\w(?:Exception|Error)\b"
)
"""A line whose time stands on a line before it: of a stack trace, of a block, or the second of java.util.logging."""
_LEVEL = re.compile(r"\b(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE)\b")
_THREADS = (
    re.compile(r"stream-thread \[([^\]\s]{1,300})\]"),
    re.compile(r"([\w.-]{1,250}-StreamThread-\d+)"),
    re.compile(r"clientId=([^,\]\s]{1,300})"),
)
_CLIENT = re.compile(r"stream-client \[([^\]\s]{1,300})\]")
_POD = (re.compile(r"^\[?pod/([\w.-]+)"), re.compile(r"^([\w.-]+) +\| "))
_SUFFIX = re.compile(r"-(?:restore-)?consumer$|-producer$|-admin$")

_TIME_KEYS = (
    *("@timestamp", "timestamp", "Timestamp", "ts", "time", "instant", "datetime", "date", "timeMillis", "eventTime"),
    *("_time", "asctime", "timeUnixNano", "observedTimeUnixNano", "__REALTIME_TIMESTAMP", "TimeGenerated"),
    *("TimeGenerated [UTC]", "receiveTimestamp"),
)
_LEVEL_KEYS = (
    *("level", "severity", "log.level", "loglevel", "levelname", "lvl", "severityText", "SeverityText", "Level"),
    *("priority", "PRIORITY"),
)
_LOGGER_KEYS = ("logger_name", "logger", "loggerName", "log.logger", "class", "name", "category")
_THREAD_KEYS = ("thread_name", "thread", "threadName", "process.thread.name", "thread.name")
_TEXT_KEYS = (
    *("message", "msg", "log", "text", "@message", "textPayload", "MESSAGE", "formatted_message", "body", "Body"),
    *("line", "_raw", "short_message", "full_message", "stringValue", "LogEntry", "LogMessage", "event.original"),
)
_TRACE_KEYS = (
    *("stack_trace", "stacktrace", "exception", "throwable", "thrown", "error.stack_trace", "error", "stack"),
    *("extendedStackTrace", "exception.stacktrace", "stackTrace"),
)
_HOST_KEYS = (
    *("host", "hostname", "pod", "pod_name", "kubernetes.pod_name", "container_name", "HOSTNAME", "instance"),
    *("_HOSTNAME", "logStreamName", "PodName"),
)
_NUMBERED_LEVELS = {"60": "ERROR", "50": "ERROR", "40": "WARN", "30": "INFO", "20": "DEBUG", "10": "TRACE"} | {
    "0": "ERROR", "1": "ERROR", "2": "ERROR", "3": "ERROR", "4": "WARN", "5": "INFO", "6": "INFO", "7": "DEBUG"
}  # fmt: skip
"""Of Bunyan and Pino, and of syslog."""


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
    place: str = ""
    """The pod or host, as far as one is named."""


def record(line: str, before: Iterable[str] = (), after: Iterable[str] = ()) -> Record:
    """The line taken apart; a line of a stack trace or of a block belongs to the line that began it.

    >>> record("[    2.000] A: INFO StreamThread - Version probing detected.").member
    'A'
    """
    line = plain(line)
    field = _FIELD.match(line)
    if field:
        return _of_object(line, before, after)
    made = _of(line)
    known = made.member and made.member != made.place
    if (known and made.time is not None) or not _TRACE.match(_RUNTIME.sub("", made.text)):
        return made
    for earlier in islice(before, 64):
        if moment(plain(earlier[:200])) is None and not earlier.lstrip().startswith("{"):
            continue
        head = _of(plain(earlier))
        if head.place != made.place or (made.time is not None and _TRACE.match(_RUNTIME.sub("", head.text))):
            continue  # another pod's line, or one more of the same trace
        return replace(
            made,
            time=head.time if made.time is None else made.time,
            member=made.member if known else head.member or made.member,
            level=made.level or head.level,
            logger=made.logger or head.logger,
            simulated=head.simulated,
        )
    return made


_RUNTIME = re.compile(r"^(?:\S{10,40} (?:stdout|stderr) [FP] |\[pod/[^\]\s]*\] |[\w.-]+ +\| )+")
"""What a container runtime writes before each line, of a stack trace too."""


_FIELD = re.compile(r'\s*"(?:@?message|msg|log|textPayload|MESSAGE|line|stack_?[tT]race|exception)"\s*:\s*"')


def _of_object(line: str, before: Iterable[str], after: Iterable[str]) -> Record:
    """A line of a JSON object that is printed over several lines."""
    found = [line]
    for one in islice(before, 80):
        found.insert(0, one)
        if one.strip() == "{":
            break
    indent = len(found[0]) - len(found[0].lstrip())
    for one in islice(after, 80):
        found.append(one)
        if one.strip().startswith("}") and len(one) - len(one.lstrip()) <= indent:
            break
    whole = "\n".join(found)
    made = _json(plain(whole.strip().rstrip(",")))
    return made or _of(line)


def _of(line: str) -> Record:
    bare = line.lstrip()
    if bare.startswith(("{", "[{", "[ {")):
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
    place = _place(line)
    said = _level(level.group()) if level else ""
    return Record(line, moment(line[:200]), _member(line) or place, said, place=place)


def _level(word: str) -> str:
    word = word.strip()
    if not word.isalpha():
        return _NUMBERED_LEVELS.get(word, "")
    return {"WARNING": "WARN", "SEVERE": "ERROR", "FATAL": "ERROR"}.get(word.upper(), word.upper())


def _member(text: str) -> str:
    found = _THREADS[0].search(text)
    if found:
        return _SUFFIX.sub("", found.group(1))
    names = _THREADS[1].findall(text)
    if names:  # Spring Boot cuts the name of the thread; the client's id behind it is whole
        return str(max(names, key=len))
    found = _THREADS[2].search(text)
    if found:
        return _SUFFIX.sub("", found.group(1))
    found = _CLIENT.search(text)
    return found.group(1) if found else ""


def _place(text: str) -> str:
    return next((found.group(1) for pattern in _POD if (found := pattern.search(text))), "")


def _json(line: str) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    for _ in range(2):  # of an export with one line in it
        if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), list):
            (value,) = value.values()
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
    if not isinstance(value, dict):
        return None
    flat = _flat(value)
    text = plain(_first(flat, _TEXT_KEYS)).rstrip("\n")
    trace = plain(_first(flat, _TRACE_KEYS))
    if not text and not trace:
        return None
    whole = f"{text}\n{trace}" if trace and trace not in text else text
    inner = _of(text)
    thread = plain(_first(flat, _THREAD_KEYS))
    at = _time(flat)
    place = plain(_first(flat, _HOST_KEYS)) or inner.place
    named = inner.member if inner.member != inner.place else ""
    return Record(
        text=whole if text.lstrip()[:1] not in ("{", "[") or inner.text == text else inner.text,
        time=inner.time if at is None else at,
        member=_member(thread) or named or place,
        level=_level(_first(flat, _LEVEL_KEYS)) or inner.level,
        logger=plain(_first(flat, _LOGGER_KEYS)) or inner.logger,
        simulated=inner.simulated,
        place=place,
    )


def _time(flat: Mapping[str, str]) -> float | None:
    if flat.get("epochSecond", "").isdigit():  # the instant of Log4j 2
        return int(flat["epochSecond"]) + int(flat.get("nanoOfSecond") or 0) / 1e9
    return next((at for key in _TIME_KEYS if (at := moment(flat.get(key, ""))) is not None), None)


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
