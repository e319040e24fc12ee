"""A link to a scenario: the picks as text that survives a chat, a mail and an address line.

What the picks mean is in `scenario`; which step and which pinned run a link opens is read here, too.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..errors import ImpossibleScenarioError
from ..releases import Binary, teaching
from ..scenario import Scenario

LONGEST = 8000
"""Characters of a link that are looked at: one with two runs, of two jars with long rules of their own, has 6000."""

_WORD = 80
"""Characters of a name in a link."""

_RULE = 500
"""Characters of a rule in a link: a little more than a rule has."""


class Linked(NamedTuple):
    """What a link opens."""

    scenario: Scenario
    step: int
    pinned: Scenario | None


def token(scenario: Scenario) -> str:
    """The picks of a scenario as one word of letters, digits, `-` and `_`.

    >>> read_link("#run=" + token(Scenario(leader="A", order="C,B,A"))).scenario.leader
    'A'
    """
    plain = json.dumps(scenario.picks(), ensure_ascii=False, separators=(",", ":"))
    return urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def link(scenario: Scenario, step: int = 0, pinned: Scenario | None = None) -> str:
    """The end of an address that opens a scenario at a step: it goes behind the bench's page or notebook."""
    compared = f"&with={token(pinned)}" if pinned else ""
    return f"#run={token(scenario)}{compared}&step={step}"


def read_link(text: str) -> Linked:
    """What a link opens: everything in it is looked at before anything is made of it.

    Raises:
        ImpossibleScenarioError: it is too long, cut short, or says something that no scenario says.
    """
    if len(text) > LONGEST:
        raise _damaged(f"it has {len(text)} characters", f"at most {LONGEST}")
    parts = dict(part.partition("=")[::2] for part in text.partition("#")[2].split("&"))
    if "run" not in parts:
        raise _damaged("there is no `#run=` in it", "what “Copy link” gives")
    step = parts.get("step", "0")
    return Linked(
        _scenario(parts["run"]),
        int(step) if re.fullmatch(r"[0-9]{1,5}", step) else 0,
        _scenario(parts["with"]) if "with" in parts else None,
    )


def _damaged(reason: str, allowed: str = "") -> ImpossibleScenarioError:
    return ImpossibleScenarioError("link", reason, allowed)


def _scenario(word: str) -> Scenario:
    try:
        picks = json.loads(urlsafe_b64decode(word + "=" * (-len(word) % 4)))
    except (ValueError, RecursionError):
        raise _damaged("it is cut short or was changed on the way", "the whole of what “Copy link” gives") from None
    if not isinstance(picks, dict):
        raise _damaged("it holds no picks", "what “Copy link” gives")
    return Scenario(**{str(pick): _pick(str(pick), value) for pick, value in picks.items()})  # type: ignore[arg-type]


def _pick(pick: str, value: object) -> object:
    if pick not in _READ:
        raise _damaged(f"no pick is called {pick[:_WORD]!r}", ", ".join(_READ))
    try:
        return _READ[pick](value)
    except (TypeError, KeyError):
        raise _damaged(f"{pick} cannot be {json.dumps(value)[:_WORD]}") from None


def _word(value: object) -> str:
    if not isinstance(value, str) or len(value) > _WORD:
        raise TypeError(value)
    return value


def _rule(value: object) -> str:
    """A rule's name or its rows: `teaching` reads them, and refuses what says neither."""
    if not isinstance(value, str) or len(value) > _RULE:
        raise TypeError(value)
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 10**6:
        raise TypeError(value)
    return value


def _yes(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list) or len(value) > 200:
        raise TypeError(value)
    return value


def _jar(value: object) -> str | Binary:
    if not isinstance(value, Mapping):
        return _word(value)
    return teaching(
        _word(value["name"]),
        latest=_whole(value["latest"]),
        leader_rule=_rule(value["leader_rule"]),
        member_rule=_rule(value["member_rule"]),
    )


def jar_text(jar: Binary, *, latest: int | None = None) -> str:
    """A teaching jar spelled out, or its like of another version, as a picker holds it."""
    plain = {
        "name": jar.name,
        "latest": latest or jar.latest,
        "leader_rule": jar.leader_rule,
        "member_rule": jar.member_rule,
    }
    return json.dumps(plain, ensure_ascii=False)


def jar_of(text: str) -> Binary:
    """The jar that was spelled out.

    Raises: ImpossibleScenarioError for a text that is none.
    """
    try:
        jar = _jar(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError):
        jar = ""
    if isinstance(jar, str):
        raise ImpossibleScenarioError("strategy", f"{text[:40]!r} is no jar", "what the picker offers")
    return jar


def _words(value: object) -> str | tuple[str, ...]:
    return value if isinstance(value, str) and len(value) <= LONGEST else tuple(map(_word, _list(value)))


def _either(value: object) -> str | float:
    return _word(value) if isinstance(value, str) else _number(value)


def _bounces(value: object) -> tuple[tuple[str, str | Binary], ...]:
    return tuple((_word(_list(pair)[0]), _jar(_list(pair)[1])) for pair in _list(value) if len(_list(pair)) == 2)


_READ: Mapping[str, Callable[[object], object]] = {
    "old": lambda value: tuple(map(_jar, value)) if isinstance(value, list) and len(value) <= 200 else _jar(value),
    "new": _jar,
    "members": _whole,
    "leader": _word,
    "order": _words,
    "succession": _words,
    "closing": _word,
    "restart": _either,
    "static": _yes,
    "threads": _whole,
    "upgrade_from": _word,
    "second_bounce": _yes,
    "rollback": _whole,
    "bounces": _bounces,
    "supervisor": _number,
    "timing": _word,
    "seed": _whole,
    "until": _number,
}
