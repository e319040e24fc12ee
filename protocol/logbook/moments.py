"""When a line was written, in the ways in which programs and log shippers print it.

Where in a line that stands is in `record`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"(\d\d?):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?(?: ?([AaPp])\.?[Mm]\b)?"
_ZONE = r"(?: ?(Z\b|UTC|GMT|[+-]\d\d:?\d\d\b))?"
_NEXT = r"(?<!scheduled for )(?<!rebalance at )(?<!\d)"
"""Not a moment of which the line itself tells: when a follow-up is due."""

_EPOCH = re.compile(r"^\D{0,20}(1\d{9})(\d{3}|\d{6}|\d{9})?(?:\.(\d{1,9}))?(?!\d)")

_Numbers = tuple[str, str, str]
"""Year, month and day."""
_Way = tuple[re.Pattern[str], Callable[[tuple[str, ...]], _Numbers]]


def _compiled(
    date: str, order: Callable[[tuple[str, ...]], _Numbers]
) -> tuple[re.Pattern[str], Callable[..., _Numbers]]:
    return re.compile(f"{_NEXT}{date}{_CLOCK}{_ZONE}"), order


def _two_numbers(said: tuple[str, ...]) -> _Numbers:
    """Of `05/01/2024` the month comes first, unless the numbers say otherwise; with dots the day does."""
    first, mark, second, year = said
    day_first = mark == "." or int(first) > 12
    return (year, second, first) if day_first else (year, first, second)


_ISO = _compiled(r"(\d{4})[-/.](\d\d)[-/.](\d\d)[T ]+", lambda said: (said[0], said[1], said[2]))
_DATED = (
    _ISO,
    _compiled(r"(\d\d)/(\d\d)/(\d\d) ", lambda said: (f"20{said[0]}", said[1], said[2])),
    _compiled(rf"(\d\d?)[/ -]{_MONTH}[/ -](\d{{4}})[: ]", lambda said: (said[2], said[1], said[0])),
    _compiled(rf"{_MONTH} (\d\d?), (\d{{4}}),? (?:at )?", lambda said: (said[2], said[0], said[1])),
    _compiled(r"(\d\d?)([/.])(\d\d?)[/.](\d{4}|\d\d),? ", _two_numbers),
    _compiled(rf"{_MONTH} +(\d\d?) ", lambda said: ("1970", said[0], said[1])),
)
_COMPACT = re.compile(rf"{_NEXT}(\d{{4}})(\d\d)(\d\d)[T ](\d\d):?(\d\d):?(\d\d)(?:[.,](\d{{1,9}}))?{_ZONE}")
_UNIX_DATE = re.compile(rf"\b{_MONTH} +(\d\d?) {_CLOCK} (?:[A-Z]{{3,5}} )?(\d{{4}})\b")
_LIKELY = re.compile(r"\d:\d\d:\d\d|T\d{6}|\d{8} \d{6}")
"""A clock is in the text: most lines without one are not searched for each way to print it."""
_CLOCK_ONLY = re.compile(rf"(?:^|(?<!\d-\d\d)[\s\[|]){_CLOCK}\b")


def moment(text: str) -> float | None:
    """The first moment in a text, in seconds; without a zone it is taken for UTC, without a day for 1 January 1970.

    >>> moment("2024-05-01 12:00:00,250 INFO"), moment("12:00:01.5 [main]"), moment("no time")
    (1714564800.25, 43201.5, None)
    >>> moment("[01/May/2024:14:00:00 +0200]"), moment("5/1/24, 12:00:00 PM"), moment("20240501T120000Z")
    (1714564800.0, 1714564800.0, 1714564800.0)
    """
    try:
        return _moment(text)
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> float | None:
    epoch = _EPOCH.match(text)
    if epoch:
        seconds, more, fraction = epoch.groups()
        return int(seconds) + _fraction(more) + _fraction(fraction)
    if not _LIKELY.search(text):
        return None
    first: tuple[int, float] | None = None
    for pattern, order in _DATED:
        found = pattern.search(text)
        if found and (first is None or found.start() < first[0]):
            *date, hour, minute, second, fraction, half, zone = found.groups()
            first = (found.start(), _at(order(tuple(date)), (hour, minute, second, fraction, half), zone))
            if pattern is _ISO[0]:
                break
    if first is None or first[1] < 365 * 86400:
        unix, compact = _UNIX_DATE.search(text), _COMPACT.search(text)
        if unix:
            month, day, *clock, year = unix.groups()
            return _at((year, month, day), clock, None)
        if compact:
            year, month, day, *clock, zone = compact.groups()
            return _at((year, month, day), (*clock, None), zone)
    if first:
        return first[1]
    bare = _CLOCK_ONLY.search(text)
    return _seconds(bare.groups()) if bare else None


def _at(date: _Numbers, clock: list[str | None] | tuple[str | None, ...], zone: str | None) -> float:
    year, month, day = date
    number = int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1
    full = int(year) + (2000 if len(year) == 2 else 0)
    midnight = datetime(full, number, int(day), tzinfo=_zone(zone))
    return midnight.timestamp() + _seconds(clock)


def _seconds(clock: list[str | None] | tuple[str | None, ...]) -> float:
    hour, minute, second, fraction, half = clock
    assert hour and minute and second
    hours = int(hour)
    if half:
        hours = hours % 12 + (12 if half in "Pp" else 0)
    if hours > 23 or int(minute) > 59 or int(second) > 60:
        raise ValueError(f"{hour}:{minute}:{second} is no time")
    return hours * 3600 + int(minute) * 60 + int(second) + _fraction(fraction)


def _fraction(digits: str | None) -> float:
    return int(digits) / 10 ** len(digits) if digits else 0.0


def _zone(zone: str | None) -> tzinfo:
    if not zone or zone in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
