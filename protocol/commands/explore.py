"""`explore`: every order, every leader, every interruption of an upgrade.

The search is done in `protocol.upgrade`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace

from ..upgrade import MODES, Modes, explore
from .answer import Unusable

TEXT = "Every order, every leader, every interruption of an upgrade."
EXAMPLE = "explore --from 2.0.0 --to 2.1.0 --members 3"


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument("--from", dest="old", required=True, metavar="RELEASE", help="what runs at first")
    command.add_argument("--via", action="append", default=[], metavar="RELEASE", help="a release that some stop at")
    command.add_argument("--to", dest="new", required=True, metavar="RELEASE", help="what all are bounced to")
    command.add_argument(
        "--members", default="3", metavar="N|any", help="how many, or every number at once (default 3)"
    )
    command.add_argument(
        "--mode", action="append", default=[], choices=tuple(MODES), help="a switch of the roll; several add up"
    )
    command.add_argument(
        "--no-reduction", dest="reduction", action="store_false", help="name every member: a cross-check"
    )
    command.add_argument("--limit", type=int, metavar="STATES", help="stop after so many states, and say so")


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    modes = Modes(relead="by jar")
    for name in options.mode:
        switched = {pick: value for pick, value in _switches(MODES[name]).items() if value != _switches(Modes())[pick]}
        modes = replace(modes, **switched)  # type: ignore[arg-type]
    report = explore(
        *(options.old, *options.via, options.new),
        members=_members(options.members),
        modes=modes,
        reduction=options.reduction,
        limit=options.limit,
        progress=_progress if sys.stderr.isatty() else None,
    )
    if options.format == "json":
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=1))
    else:
        print(report.text())
    return 0 if report.ok else 1


def _switches(modes: Modes) -> dict[str, object]:
    return {name: getattr(modes, name) for name in Modes.__dataclass_fields__}


def _members(text: str) -> int | None:
    if text == "any":
        return None
    try:
        return int(text)
    except ValueError:
        raise Unusable(f"--members {text}: a number, or any") from None


def _progress(done: int, waiting: int) -> None:
    print(f"\r{done:,} states, {waiting:,} waiting", end="\r", file=sys.stderr, flush=True)
