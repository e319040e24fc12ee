"""What can be picked on the bench, and the scenario that the picks make.

What a scenario does is in `scenario`; how the pickers look is in `header.js`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from ..errors import ImpossibleScenarioError
from ..releases import Binary, release, releases, teaching
from ..scenario import Scenario, member_names
from ..strategies import STRATEGIES
from .link import jar_of, jar_text

LEAST, MOST = 2, 12
"""Members that the bench shows: a diagram of more is no longer looked at."""

MOST_TOKENS = 24
"""Threads in all that the diagrams have room for."""

OLD_JAR, NEW_JAR = 10, 11
"""The versions of the two teaching jars."""

Form = dict[str, object]
"""The pickers' values, by name: plain data that travels to the page and back."""

_JARS = ("jars", "old", "new", "old_strategy", "new_strategy")


def form(scenario: Scenario) -> Form:
    """The pickers' values for a scenario; what no picker shows (`bounces`, `until` …) is left out."""
    old, new = scenario.before[0], scenario.new
    strategies = isinstance(new, Binary)
    succession = scenario.succession if isinstance(scenario.succession, str) else json.dumps([*scenario.succession])
    return {
        "members": len(scenario.instances),
        "leader": scenario.leader or scenario.instances[0],
        "order": list(scenario.bounced),
        "jars": "strategies" if strategies else "releases",
        "old": "2.0.0" if strategies else old.name,
        "new": "2.1.0" if isinstance(new, Binary) else new,
        "old_strategy": _strategy_of(old) if strategies else "leader's version",
        "new_strategy": _strategy_of(new) if isinstance(new, Binary) else "leader's version",
        "succession": succession,
        "closing": scenario.closing or "",
        "restart": scenario.restart if isinstance(scenario.restart, str) else "before",
        "static": scenario.static,
        "threads": scenario.threads,
        "upgrade_from": scenario.upgrade_from or "",
        "rollback": scenario.rollback or 0,
        "supervisor": scenario.supervisor or 0,
        "timing": scenario.timing,
        "seed": scenario.seed,
    }


def changed(before: Form, change: Mapping[str, object]) -> Form:
    """The pickers' values after a pick, and what follows from it: names come and go with the number of members.

    Raises:
        ImpossibleScenarioError: a pick that no picker offers.
    """
    for pick, value in change.items():
        if pick not in before or type(value) is not type(before[pick]):
            raise ImpossibleScenarioError(str(pick)[:40], "no picker offers that", ", ".join(before))
    after = {**before, **change}
    names = member_names(_whole(after, "members", LEAST, MOST))
    order = after["order"]
    assert isinstance(order, list)
    if "members" in change:
        kept = [name for name in order if name in names]
        after["order"] = [*kept, *(name for name in names if name not in _names(before))]
        if after["leader"] not in names:
            after["leader"] = names[0]
        after["rollback"] = min(_whole(after, "rollback", 0, MOST), len(names))
        after["threads"] = min(_whole(after, "threads", 1, 4), MOST_TOKENS // len(names))
        if str(after["succession"]).startswith("["):
            after["succession"] = "broker"
    if {"jars", "new"} & set(change):
        after["upgrade_from"] = ""
    return after


def scenario(picked: Form) -> Scenario:
    """The scenario that the pickers' values make; `simulate` says whether it can be."""
    threads, members = _whole(picked, "threads", 1, 4), _whole(picked, "members", LEAST, MOST)
    if threads * members > MOST_TOKENS:
        raise ImpossibleScenarioError("threads", f"{threads * members} members in all", f"{MOST_TOKENS} on the bench")
    old, new = (str(picked[name]) for name in ("old", "new"))
    after = str(picked["succession"])
    return Scenario(
        old=old if picked["jars"] == "releases" else _jar(OLD_JAR, str(picked["old_strategy"])),
        new=new if picked["jars"] == "releases" else _jar(NEW_JAR, str(picked["new_strategy"])),
        members=members,
        leader=str(picked["leader"]),
        order=tuple(str(name) for name in picked["order"]),  # type: ignore[attr-defined]
        succession=tuple(json.loads(after)) if after.startswith("[") else after,
        closing=str(picked["closing"]) or None,
        restart=str(picked["restart"]),
        static=bool(picked["static"]),
        threads=threads,
        upgrade_from=str(picked["upgrade_from"]) or None,
        rollback=_whole(picked, "rollback", 0, MOST) or None,
        supervisor=float(_whole(picked, "supervisor", 0, 86400)) or None,
        timing=str(picked["timing"]),
        seed=_whole(picked, "seed", 0, 9999),
    )


def choices(picked: Form) -> dict[str, object]:
    """What each picker offers beside these values: [value, text] each."""
    names = _names(picked)
    return {
        "members": [LEAST, MOST],
        "names": list(names),
        "old": _catalogue(),
        "new": _catalogue(),
        "old_strategy": _strategies(picked, "old_strategy", OLD_JAR),
        "new_strategy": _strategies(picked, "new_strategy", NEW_JAR),
        "more": _more(picked, names),
    }


def _strategies(picked: Form, mine: str, version: int) -> list[list[str]]:
    """The strategies, and the jar of one's own that is picked here, or one like that which is picked there."""
    offers = [[name, name] for name in STRATEGIES]
    own = [str(picked[name]) for name in (mine, "old_strategy", "new_strategy") if picked[name] not in STRATEGIES]
    if own:
        jar = jar_of(own[0])
        if own[0] != picked[mine]:
            jar = replace(jar, name=re.sub(r"\bv\d+\b", f"v{version}", jar.name))
            jar = jar_of(jar_text(jar, latest=version))
        offers.append([jar_text(jar), f"{jar.name} (own rules)"])
    return offers


def _more(picked: Form, names: tuple[str, ...]) -> list[list[object]]:
    """The options behind “More”: name, caption, and its choices, the two ends of a number, or nothing to tick."""
    settings = [["", "not set"]]
    if picked["jars"] == "strategies":
        settings += [[f"v{n}", f"v{n}"] for n in range(1, NEW_JAR)]
    else:
        settings += [[one.value, one.value] for one in release(str(picked["new"])).binary.upgrade_from]
    return [
        [
            "succession",
            "Who leads next",
            _SUCCESSIONS + [[f'["{name}"]', f"{name}, then the broker"] for name in names],
        ],
        ["closing", "A closed member", _CLOSINGS],
        [
            "restart",
            "It comes back",
            [["before", "before the session timeout"], ["after", "after the session timeout"]],
        ],
        ["upgrade_from", "upgrade.from", settings],
        ["timing", "Members act", [["lockstep", "in lockstep"], ["timetable", "by the timetable"]]],
        ["threads", "Threads each", [1, min(4, MOST_TOKENS // len(names))]],
        ["rollback", "Turn back after", [0, len(names)]],
        ["supervisor", "Restarted after, s", [0, 600]],
        ["seed", "Seed", [0, 9999]],
        ["static", "Static members", None],
    ]


_SUCCESSIONS: list[list[str]] = [
    ["broker", "whom the broker draws"],
    ["oldest", "the oldest member"],
    ["newest", "the newest member"],
    ["highest version", "the highest version"],
]
_CLOSINGS: list[list[str]] = [
    ["", "as the jar does"],
    ["lingers", "lingers until its session ends"],
    ["leaves", "leaves at once"],
]


@cache
def _catalogue() -> list[list[str]]:
    return [[row.name, f"{row.name} · v{row.latest}"] for row in releases()]


def _names(picked: Form) -> tuple[str, ...]:
    return member_names(_whole(picked, "members", LEAST, MOST))


def _whole(picked: Form, name: str, least: int, most: int) -> int:
    value = picked[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ImpossibleScenarioError(name, f"{str(value)[:40]} is out of reach", f"{least} to {most}")
    return value


def _jar(version: int, strategy: str) -> Binary:
    """The teaching jar of that version that follows a strategy, or the jar of one's own that is spelled out."""
    if strategy.startswith("{"):
        return jar_of(strategy)
    if strategy not in STRATEGIES:
        raise ImpossibleScenarioError("strategy", f"{strategy[:40]!r} is not known", ", ".join(STRATEGIES))
    rules = STRATEGIES[strategy]
    return teaching(f"v{version} jar", latest=version, leader_rule=rules.leader_rule, member_rule=rules.member_rule)


def _strategy_of(jar: Binary) -> str:
    """The strategy of a jar; one of somebody's own is spelled out, so that the next pick can keep it."""
    rules = (jar.leader_rule, jar.member_rule)
    known = (name for name, one in STRATEGIES.items() if (one.leader_rule, one.member_rule) == rules)
    return next(known, None) or jar_text(jar)
