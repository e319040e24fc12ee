"""`releases`: the catalogue, or one release of it.

The rows are in `protocol.releases`.
"""

from __future__ import annotations

import argparse

from ..releases import Release, UpgradeFrom, release, releases
from .answer import print_json

TEXT = "The catalogue, or one release."
EXAMPLE = "releases 2.3.1"


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument("release", nargs="?", metavar="RELEASE")


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    if options.release is None:
        rows = releases()
        if options.format == "json":
            print_json({"releases": [_release_json(row) for row in rows]})
            return 0
        print(f"{'release':14} {'date':10}  latest  leader rule")
        for row in rows:
            mark = "" if row.released else "  (never released)"
            print(f"{row.name:14} {row.date:10}  v{row.binary.latest:<6} {row.binary.leader_rule}{mark}")
        return 0
    row = release(options.release)
    told = _release_json(row)
    if options.format == "json":
        print_json({"release": told})
        return 0
    told["upgrade_from"] = [_upgrade_from(one) for one in row.upgrade_from]
    for key, value in told.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        print(f"{key.replace('_', ' '):26} {_yes_or_no(shown)}")
    return 0


def _upgrade_from(one: UpgradeFrom) -> str:
    if one.rejected:
        return f"{one.value} (rejected)"
    return one.value if one.used is None else f"{one.value} (speaks v{one.used})"


def _yes_or_no(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _release_json(row: Release) -> dict[str, object]:
    jar = row.binary
    return {
        "name": row.name,
        "date": str(row.date),
        "released": row.released,
        "latest_supported_version": jar.latest,
        "leader_rule": jar.leader_rule,
        "member_rule": jar.member_rule,
        "previous_tasks": jar.previous_tasks,
        "future_tasks": jar.future_tasks,
        "rejoin": jar.rejoin,
        "dying_thread_leaves": jar.dying_leaves,
        "closing_member_leaves": jar.closing_leaves,
        "two_step_join": jar.two_step,
        "session_timeout_ms": jar.session_timeout_ms,
        "error_assignment": jar.error_assignment,
        "rebalance_protocols": list(row.rebalance_protocols),
        "envelope_version": jar.dialect.envelope,
        "upgrade_from": [
            {"value": one.value, "used_version": one.used, "protocol": one.protocol, "rejected": one.rejected}
            for one in jar.upgrade_from
        ],
        "fixes": list(row.fixes),
        "codec": jar.dialect.codec,
        "log_dialect": jar.log,
        "source": row.source,
        "note": row.note,
    }
