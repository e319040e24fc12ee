"""`plan`: what an upgrade will do, and how to do it.

The advice is made in `protocol.planner`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator

from ..planner import FEATURES, Advice, Reason, Round, Sign, plan
from .answer import print_json

TEXT = "What an upgrade or a downgrade will do: verdict, reasons, bounces, costs, what to grep for, the way back."
EXAMPLE = "plan 2.3.1 3.9.1 --members 5 --upgrade-from 2.3"


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument("old", metavar="FROM", help="the release that runs")
    command.add_argument("new", metavar="TO", help="the release to go to, newer or older")
    command.add_argument("--members", type=int, default=3, metavar="N", help="instances, 2 to 100 (default 3)")
    command.add_argument("--threads", type=int, default=1, metavar="N", help="stream threads an instance (default 1)")
    command.add_argument(
        "--upgrade-from",
        metavar="VALUE|none",
        help="what you mean to set in a first round; by default what the plan needs",
    )
    command.add_argument("--static", action="store_true", help="members have a group.instance.id")
    command.add_argument("--leaves", action="store_true", help="a closing instance sends LeaveGroup, as yours may do")
    command.add_argument(
        "--uses",
        metavar="FEATURE,…",
        help=f"what the application has, of: {', '.join(FEATURES)}; by default nothing is assumed, none for nothing",
    )


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    uses = None
    if options.uses is not None:
        uses = [part.strip() for part in options.uses.split(",") if part.strip() and part.strip() != "none"]
    advice = plan(
        options.old,
        options.new,
        members=options.members,
        threads=options.threads,
        upgrade_from=options.upgrade_from,
        static=options.static,
        leaves=options.leaves,
        uses=uses,
    )
    if options.format == "json":
        print_json(_json(advice))
    else:
        for line in _text(advice):
            print(line)
    return 0 if advice.ok else 1


# For people.

_MARKS = {
    "impossible": "impossible",
    "unsafe": "unsafe",
    "setting": "two rounds",
    "wipe": "wipe disk",
    "condition": "heed",
    "versions": "versions",
    "note": "note",
}


def _text(advice: Advice) -> Iterator[str]:
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def bold(text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if colour else text

    def wrapped(text: str, indent: int, first: str = "") -> Iterator[str]:
        lines = textwrap.wrap(text, max(30, width - indent), break_long_words=False, break_on_hyphens=False) or [""]
        yield from (f"{first.ljust(indent) if i == 0 else ' ' * indent}{line}" for i, line in enumerate(lines))

    yield bold(f"{advice.old} → {advice.new}, {advice.members} instances: {advice.verdict}")
    yield from wrapped(advice.headline, 0)
    if len(advice.conditions) > 1:
        for condition in advice.conditions:
            yield from wrapped(condition, 2, "- ")
    if advice.depends:
        yield from wrapped(advice.depends, 0)
    yield ""
    yield bold("why")
    for reason in advice.reasons:
        mark = _MARKS[reason.effect]
        yield from wrapped(f"{reason.title}", 14, f"  {mark}")
        where = f" Applies where {reason.condition}." if reason.feature else ""
        yield from wrapped(reason.text + where, 14)
        yield from wrapped(f"source: {reason.source}", 14)
    if advice.rounds and advice.ok:
        yield ""
        yield bold("what to do")
        yield from _rounds(advice, wrapped)
    if advice.cost is not None:
        yield ""
        yield bold("what it costs")
        yield from wrapped(_cost(advice), 2, "  ")
        for cost, dead, chance in advice.distribution:
            yield f"  {chance:6.1%}  {cost} rebalances" + (
                f", {dead} dead" if dead > 0 else ", a loop" if dead < 0 else ""
            )
    if advice.signs and advice.ok:
        yield ""
        yield bold("what to grep for")
        for sign in advice.signs:
            where = f"round {sign.round}: " if sign.round and len(advice.rounds) > 1 else ""
            meaning = f"   ({where}{sign.meaning})" if sign.meaning else f"   ({where[:-2]})" if where else ""
            yield from wrapped(f"{sign.who}: {sign.grep}{meaning}", 14, f"  {sign.when}")
    for number, way in enumerate(advice.instead):
        if not number:
            yield ""
            yield bold("instead")
        yield from wrapped(way, 4, "  - ")
    if advice.way_back is not None:
        yield ""
        yield bold("the way back")
        yield from wrapped(advice.way_back.text, 2, "  ")
        for reason in advice.way_back.blocks:
            where = f" (where {reason.condition})" if reason.feature else ""
            yield from wrapped(f"{reason.title}{where}. {reason.text}", 4, "  - ")
    for number, bound in enumerate(advice.bounds):
        if not number:
            yield ""
            yield bold("what the proof covers")
        yield from wrapped(bound, 4, "  - ")


def _rounds(advice: Advice, wrapped: object) -> Iterator[str]:
    assert callable(wrapped)
    for one in advice.rounds:
        yield from wrapped(
            f"bounce each of the {advice.members} instances, one by one, to {one.release} with "
            f"{one.configuration}: {one.why}",
            5,
            f"  {one.number}. ",
        )
        if one.before_start:
            yield from wrapped(f"before each start: {one.before_start}", 5)
        yield from wrapped("wait after each bounce until the group is quiet", 5)
        if one.after:
            yield from wrapped(f"go on when {one.after}", 5)


def _cost(advice: Advice) -> str:
    assert advice.cost is not None
    low, high = advice.cost.rebalances
    quick, slow = advice.cost.seconds
    count = f"{low} rebalances" if low == high else f"{low} to {high} rebalances"
    late = f" ({advice.cost.late} if every instance comes back after its session timed out)" if advice.cost.late else ""
    return (
        f"{count}{late}, {quick:.0f} to {slow:.0f} s in which the group rebalances or waits for an old member id; "
        "fewest and shortest if each instance is back before its session times out. Cooperative rebalances to move "
        "tasks, and warm-up checks (2.6 and later), come on top."
    )


# For programs.


def _json(advice: Advice) -> dict[str, object]:
    return {
        "from": advice.old,
        "to": advice.new,
        "members": advice.members,
        "threads": advice.threads,
        "static": advice.static,
        "upgrade_from": advice.upgrade_from,
        "verdict": advice.verdict,
        "ok": advice.ok,
        "headline": advice.headline,
        "conditions": list(advice.conditions),
        "reasons": [_reason_json(reason) for reason in advice.reasons],
        "bounces": [_round_json(one, advice) for one in advice.rounds],
        "rebalances": None if advice.cost is None else dict(zip(("min", "max"), advice.cost.rebalances, strict=True)),
        "late_rebalances": None if advice.cost is None else advice.cost.late,
        "seconds": None if advice.cost is None else dict(zip(("min", "max"), advice.cost.seconds, strict=True)),
        "survival": advice.survival,
        "distribution": [
            {"rebalances": cost, "dead": dead, "probability": chance} for cost, dead, chance in advice.distribution
        ],
        "depends": advice.depends,
        "grep": [_sign_json(sign) for sign in advice.signs],
        "instead": list(advice.instead),
        "way_back": None
        if advice.way_back is None
        else {
            "verdict": advice.way_back.verdict,
            "text": advice.way_back.text,
            "blocks": [_reason_json(reason) for reason in advice.way_back.blocks],
            "bounces": [_round_json(one, advice) for one in advice.way_back.rounds],
        },
        "bounds": list(advice.bounds),
        "danger": None if advice.danger is None else advice.danger.python(),
        "run": None if advice.run is None else advice.run.python(),
    }


def _reason_json(reason: Reason) -> dict[str, object]:
    return {
        "name": reason.name,
        "title": reason.title,
        "text": reason.text,
        "source": reason.source,
        "effect": reason.effect,
        "applies": reason.condition or "in any case",
    }


def _round_json(one: Round, advice: Advice) -> dict[str, object]:
    return {
        "round": one.number,
        "release": one.release,
        "instances": advice.members,
        "upgrade_from": one.upgrade_from,
        "configuration": one.configuration,
        "why": one.why,
        "settings": list(one.more),
        "before_start": one.before_start,
        "after": one.after,
    }


def _sign_json(sign: Sign) -> dict[str, object]:
    return {"when": sign.when, "who": sign.who, "round": sign.round, "grep": sign.grep, "meaning": sign.meaning}
