"""What the runbook's page says of a plan, as plain data: every sentence is made here, none in JavaScript.

How it looks is in `sheet.js` and `runbook.css`; the same as text to paste is in `markdown`.
"""

from __future__ import annotations

from typing import Any

from ..planner import Advice, Reason, Round, Sign, WayBack
from .markdown import (
    bounced,
    capital,
    command,
    conditions,
    cost_of_round,
    expected,
    markdown,
    quiet,
    sentence,
    settings,
    title,
    without,
)
from .picks import Form, python
from .sources import parts

_MARKS = {
    "impossible": "impossible",
    "unsafe": "unsafe",
    "setting": "two rounds",
    "wipe": "delete state",
    "condition": "heed",
    "versions": "versions",
    "note": "note",
}
MOST_PARTS = 5
"""Parts of the bar of odds; the rest is one."""


def page(advice: Advice, picked: Form) -> dict[str, Any]:
    """Everything that the page shows of the plan that these picks made."""
    return {
        "title": title(advice),
        "verdict": advice.verdict,
        "sentence": sentence(advice.headline, advice.verdict),
        "conditions": conditions(advice.conditions),
        "odds": _odds(advice),
        "cost": expected(advice),
        "rounds": [_round(one, advice) for one in advice.rounds] if advice.ok else [],
        "done": [_sign(one) for one in advice.signs if one.when == "done"] if advice.ok else [],
        "wrong": [_sign(one) for one in advice.signs if one.when == "wrong"],
        "instead": [_instead(one) for one in advice.instead],
        "back": None if advice.way_back is None else _back(advice.way_back, advice),
        "reasons": [_reason(one) for one in advice.reasons],
        "bounds": list(advice.bounds),
        "watch": _watch(advice),
        "command": command(picked),
        "python": f"from protocol import plan\n\n{python(picked)}",
        "markdown": markdown(advice),
        "file": f"runbook-{advice.old}-to-{advice.new}.md",
    }


def _odds(advice: Advice) -> dict[str, Any] | None:
    """How the elections can go: one part for each number of dead."""
    if not advice.distribution or advice.survival is None:
        return None
    chances: dict[int, float] = {}
    for _, dead, chance in advice.distribution:
        chances[dead] = chances.get(dead, 0.0) + chance
    ranked = sorted(chances.items())
    if len(ranked) > MOST_PARTS:
        kept, rest = ranked[: MOST_PARTS - 1], ranked[MOST_PARTS - 1 :]
        told = [(_dead(dead), dead, chance) for dead, chance in kept]
        told.append((f"{rest[0][0]} or more members die", rest[0][0], sum(chance for _, chance in rest)))
    else:
        told = [(_dead(dead), dead, chance) for dead, chance in ranked]
    return {
        "text": advice.depends,
        "parts": [{"text": text, "bad": dead != 0, "chance": chance} for text, dead, chance in told],
    }


def _dead(dead: int) -> str:
    told = {0: "nobody dies", 1: "1 member dies"}
    return told.get(dead, "a loop" if dead < 0 else f"{dead} members die")


def _round(one: Round, advice: Advice) -> dict[str, Any]:
    return {
        "number": one.number,
        "title": bounced(one, advice.rounds, advice),
        "why": capital(one.why) + ".",
        "settings": settings(one),
        "without": without(one, advice.rounds),
        "release": one.release,
        "before": capital(one.before_start) + "." if one.before_start else "",
        "quiet": quiet(),
        "after": f"Go on when {one.after}." if one.after else "",
        "cost": cost_of_round(one, advice),
        "instances": advice.members,
        "signs": [_sign(sign) for sign in advice.signs if sign.round == one.number],
    }


def _sign(sign: Sign) -> dict[str, str]:
    return {"when": sign.when, "who": sign.who, "grep": sign.grep, "meaning": sign.meaning}


def _instead(way: str) -> dict[str, Any]:
    """A better way; where it is another release, one that can be picked."""
    name, place, _ = way.partition(" in place of ")
    if not place:
        name = way.removeprefix("by ").partition(":")[0] if way.startswith("by ") else ""
    pick = {"upgrade_from": ""} if name.startswith("upgrade.from=") else {"new": name}
    return {"text": capital(way) + ".", "pick": pick if name else None, "name": name}


def _back(back: WayBack, advice: Advice) -> dict[str, Any]:
    return {
        "verdict": back.verdict,
        "pair": f"From {advice.new} to {advice.old}:",
        "sentence": sentence(back.headline, back.verdict),
        "conditions": conditions(back.conditions),
        "half": back.half,
        "blocks": [_reason(one) for one in back.blocks],
        "rounds": [bounced(one, back.rounds, advice) + "." for one in back.rounds] if back.ok else [],
    }


def _reason(one: Reason) -> dict[str, Any]:
    return {
        "effect": one.effect,
        "mark": _MARKS[one.effect],
        "title": capital(one.title),
        "text": one.text,
        "applies": f"Applies where {one.condition}." if one.feature else "",
        "source": [list(part) for part in parts(one.source)],
    }


def _watch(advice: Advice) -> list[list[str]]:
    """The runs that can be watched; where they have fewer instances than the plan, that is said."""
    told = {"danger": "Watch the danger in the bench", "run": "Watch a run in the bench"}
    if advice.danger is not None:
        told["run"] = "Watch a run that goes well"
    runs = {"danger": advice.danger, "run": advice.run}
    found = [(name, scenario) for name, scenario in runs.items() if scenario is not None]
    return [
        [name, f"{told[name]}, with {len(one.instances)} instances" if one.members < advice.members else told[name]]
        for name, one in found
    ]
