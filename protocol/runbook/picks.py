"""What can be picked on the runbook, and the plan that the picks make.

What a plan is, is in `planner`; how the pickers look is in `sheet.js`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from ..errors import ImpossibleScenarioError
from ..planner import FEATURES, Advice, plan
from ..planner.advice import MOST_MEMBERS
from ..planner.reason import number
from ..releases import release, releases

Form = dict[str, object]
"""The pickers' values, by name: plain data that travels to the page and back."""

_LONGEST = 40
"""Characters of a value that are told back."""


def form(
    old: str,
    new: str,
    *,
    members: int = 3,
    threads: int = 1,
    upgrade_from: str | None = None,
    static: bool = False,
    leaves: bool = False,
    uses: Iterable[str] | None = None,
) -> Form:
    """The pickers' values for the arguments of `plan`."""
    return {
        "old": old,
        "new": new,
        "members": members,
        "threads": threads,
        "upgrade_from": upgrade_from or "",
        "static": static,
        "closing": "leaves" if leaves else "",
        "uses": None if uses is None else [name for name in FEATURES if name in set(uses)],
    }


def changed(before: Form, change: Mapping[str, object]) -> Form:
    """The pickers' values after a pick.

    Raises:
        ImpossibleScenarioError: a pick that no picker offers.
    """
    for pick, value in change.items():
        if pick not in before:
            raise ImpossibleScenarioError(str(pick)[:_LONGEST], "no picker offers that", ", ".join(before))
        if not _fits(pick, value):
            raise ImpossibleScenarioError(pick, f"{str(value)[:_LONGEST]} is not offered", _ALLOWED.get(pick, ""))
    after = {**before, **change}
    if {"old", "new"} & set(change) and "upgrade_from" not in change:
        after["upgrade_from"] = ""
    return after


_ALLOWED = {"closing": "leaves, or nothing", "uses": ", ".join(FEATURES)}


def _fits(pick: str, value: object) -> bool:
    if pick in ("members", "threads"):
        return isinstance(value, int) and not isinstance(value, bool)
    if pick == "static":
        return isinstance(value, bool)
    if pick == "uses":
        return value is None or (isinstance(value, list) and all(one in FEATURES for one in map(str, value)))
    return isinstance(value, str) and len(value) <= _LONGEST and (pick != "closing" or value in ("", "leaves"))


def planned(picked: Form) -> Advice:
    """The plan that the values make.

    Raises:
        VersionProbingError: they contradict one another.
    """
    return plan(
        str(picked["old"]),
        str(picked["new"]),
        members=_whole(picked["members"]),
        threads=_whole(picked["threads"]),
        upgrade_from=str(picked["upgrade_from"]) or None,
        static=bool(picked["static"]),
        leaves=picked["closing"] == "leaves",
        uses=_uses(picked),
    )


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


def _uses(picked: Form) -> list[str] | None:
    uses = picked["uses"]
    return None if uses is None else [str(name) for name in uses]  # type: ignore[attr-defined]


def choices(picked: Form) -> dict[str, object]:
    """What each picker offers beside these values: [value, text] each, or the two ends of a number."""
    high = max((release(str(picked["old"])), release(str(picked["new"]))), key=number)
    settings = [["", "what the plan needs"], ["none", "none at all"]]
    values = [one.value for one in high.binary.upgrade_from]
    asked = str(picked["upgrade_from"])
    if asked and asked not in ("none", *values):
        values.append(asked)
    return {
        "releases": _catalogue(),
        "members": [2, MOST_MEMBERS],
        "threads": [1, 64],
        "upgrade_from": settings + [[value, value] for value in values],
        "closing": [["", "as Kafka Streams does: its id lingers"], ["leaves", "sends LeaveGroup at once"]],
        "uses": [[key, told] for key, told in FEATURES.items()],
    }


@cache
def _catalogue() -> list[list[str]]:
    return [[row.name, f"{row.name} · v{row.latest}"] for row in releases() if row.released]


def python(picked: Form) -> str:
    """The picks as Python.

    >>> python(form("2.3.0", "3.9.0", members=5))
    "plan('2.3.0', '3.9.0', members=5)"
    """
    told = [repr(picked["old"]), repr(picked["new"])]
    told += [f"{pick}={picked[pick]!r}" for pick, usual in (("members", 3), ("threads", 1)) if picked[pick] != usual]
    if picked["upgrade_from"]:
        told.append(f"upgrade_from={picked['upgrade_from']!r}")
    told += [f"{name}=True" for name, on in (("static", picked["static"]), ("leaves", picked["closing"])) if on]
    if picked["uses"] is not None:
        told.append(f"uses={_uses(picked)!r}")
    return f"plan({', '.join(told)})"
