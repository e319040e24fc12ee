"""The command line: `python -m protocol releases | simulate | decode`.

What the commands do is in the rooms below; here are only their words, their JSON and their exit status:
0 all is well, 1 the group fails, 2 the input cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

from . import wire
from .errors import DecodeError, VersionProbingError
from .messages import AssignmentInfo, SubscriptionInfo
from .releases import Release, UpgradeFrom, release, releases
from .scenario import CLOSINGS, SUCCESSIONS, TIMINGS, Ending, Scenario, endings, simulate
from .trace import Death, MemberView, Sent, Step, Trace

SCHEMA = 1
"""The number in every JSON answer; it grows when a key changes its meaning or goes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except VersionProbingError as error:
        print(f"{options.prog}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"{options.prog}: {error.filename or 'input'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m protocol", description="Kafka Streams version probing: releases, runs and bytes."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, example: str
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: python -m protocol {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run, prog=f"python -m protocol {name}")
        made.add_argument("--format", choices=("text", "json"), default="text", help="for people, or for programs")
        return made

    listing = command("releases", _releases, "The catalogue, or one release.", "releases 2.3.1")
    listing.add_argument("release", nargs="?", metavar="RELEASE")

    running = command(
        "simulate",
        _simulate,
        "One rolling bounce, step by step.",
        "simulate --from 2.0.0 --to 2.1.0 --members 3 --leader A --order C,B,A --succession newest",
    )
    running.add_argument(
        "--from",
        dest="old",
        required=True,
        metavar="RELEASE[,RELEASE…]",
        help="what runs at first: one release for all, or one for each instance",
    )
    running.add_argument("--to", dest="new", metavar="RELEASE", help="what each instance is bounced to")
    running.add_argument("--members", type=int, default=3, metavar="N", help="instances (default 3)")
    running.add_argument("--leader", metavar="NAME", help="who leads first")
    running.add_argument(
        "--order", metavar="NAME,…", help="which instances are bounced, in order (default: all, from A)"
    )
    running.add_argument(
        "--succession",
        default="broker",
        metavar="RULE|NAME,…",
        help=f"who leads next: {', '.join(SUCCESSIONS)}, or names, one for each vacancy",
    )
    running.add_argument(
        "--closing",
        choices=CLOSINGS,
        help="whether a closed member's id lingers until the session timeout, or leaves (default: as the release does)",
    )
    running.add_argument(
        "--restart",
        default="before",
        metavar="before|after|SECONDS",
        help="from stop to start: before or after the session timeout",
    )
    running.add_argument("--static", action="store_true", help="members have a group.instance.id")
    running.add_argument("--threads", type=int, default=1, metavar="N", help="stream threads an instance")
    running.add_argument(
        "--upgrade-from", metavar="VALUE", help="two rolling bounces: with this upgrade.from, then without"
    )
    running.add_argument("--one-bounce", dest="second_bounce", action="store_false", help="leave the second one out")
    running.add_argument("--rollback", type=int, metavar="N", help="after N bounces bring those instances back")
    running.add_argument(
        "--bounce", action="append", metavar="NAME=RELEASE", help="the bounces one by one, instead of --to"
    )
    running.add_argument("--supervisor", type=float, metavar="SECONDS", help="restart a dead instance on its old image")
    running.add_argument(
        "--timing", default="lockstep", choices=TIMINGS, help="whether moments are left to chance, too"
    )
    running.add_argument("--seed", type=int, default=0, metavar="N", help="of what is left to chance (default 0)")
    running.add_argument("--until", type=float, metavar="SECONDS", help="cut the run off")
    running.add_argument("--log", action="store_true", help="print only the log lines that the releases would print")

    decoding = command("decode", _decode, "What bytes say, field by field.", "decode 00000004000000040000")
    decoding.add_argument("hex", nargs="?", metavar="HEX|-", help="the bytes in hex, or - for standard input")
    decoding.add_argument("--file", metavar="FILE", help="a file of the bytes themselves")
    decoding.add_argument("--as", dest="kind", choices=tuple(_READERS), help="which message it is, if you know")
    decoding.add_argument("--release", metavar="RELEASE", help="also say what a reader of this release sees")
    return parser


# -------------------------------------------------------------------- releases


def _releases(options: argparse.Namespace) -> int:
    if options.release is None:
        rows = releases()
        if options.format == "json":
            return _json({"releases": [_release_json(row) for row in rows]})
        print(f"{'release':14} {'date':10}  latest  leader rule")
        for row in rows:
            mark = "" if row.released else "  (never released)"
            print(f"{row.name:14} {row.date:10}  v{row.binary.latest:<6} {row.binary.leader_rule}{mark}")
        return 0
    row = release(options.release)
    told = _release_json(row)
    if options.format == "json":
        return _json({"release": told})
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


# -------------------------------------------------------------------- simulate


def _scenario(options: argparse.Namespace) -> Scenario:
    old = [part.strip() for part in options.old.split(",")]
    bounces = None
    if options.bounce:
        bounces = tuple(tuple(part.split("=", 1)) for part in options.bounce)
        if wrong := next((pair for pair in bounces if len(pair) != 2), None):
            raise _Unusable(f"--bounce {wrong[0]}: a bounce is written NAME=RELEASE")
    elif options.new is None:
        raise _Unusable("say where to: --to RELEASE, or --bounce NAME=RELEASE for each bounce")
    succession: str | tuple[str, ...] = options.succession
    if (options.succession not in SUCCESSIONS and "," in options.succession) or options.succession.isupper():
        succession = tuple(name.strip() for name in options.succession.split(","))
    restart: str | float = options.restart
    if restart not in ("before", "after"):
        try:
            restart = float(options.restart)
        except ValueError:
            raise _Unusable(f"--restart {options.restart}: before, after, or seconds") from None
    return Scenario(
        old=old[0] if len(old) == 1 else tuple(old),
        new=options.new or old[0],
        members=options.members,
        leader=options.leader,
        order=options.order,
        succession=succession,
        closing=options.closing,
        restart=restart,
        static=options.static,
        threads=options.threads,
        upgrade_from=options.upgrade_from,
        second_bounce=options.second_bounce,
        rollback=options.rollback,
        bounces=bounces,
        supervisor=options.supervisor,
        timing=options.timing,
        seed=options.seed,
        until=options.until,
    )


class _Unusable(VersionProbingError):
    """Words on the command line that do not fit together."""


def _simulate(options: argparse.Namespace) -> int:
    scenario = _scenario(options)
    trace = simulate(scenario)
    others, complete = ((), True) if options.log else endings(scenario, limit=200)
    if options.format == "json":
        _json(_trace_json(trace, others, complete))
    elif options.log:
        for step in trace:
            for line in step.log:
                print(f"[{step.at:9.3f}] {line.member}: {line}")
    else:
        _print_trace(trace)
        _print_endings(others, complete)
    return 0 if trace.outcome.ok or trace.outcome.kind == "old version" else 1


def _print_trace(trace: Trace) -> None:
    if len({view.binary for view in trace.first.members}) == 1 and trace.first.group.generation:
        view = trace.first.members[0]
        print(
            f"generation {trace.first.group.generation}: {len(trace.first.members)} members on {view.binary}, "
            f"speaking v{view.used}; {trace.first.group.leader} leads"
        )
    bounce = 0
    for step in trace:
        if step.bounce != bounce:
            bounce = step.bounce
            print(f"\nbounce {bounce}")
        mark = {"poison": " (!)", "death": " (x)"}.get(step.tag, "")
        print(f"{step.number:4}  {step.at:8.2f} s  gen {step.generation:<3} {step.title}{mark}")
        for line in step.log:
            print(f"{'':26} {line.member}: {line.level} {line.text}")
    print(f"\n{trace.outcome.kind}: {trace.outcome.text}")
    print(
        f"{trace.rebalances} rebalances, generation {trace.last.group.generation}, "
        f"{trace.steps[-1].at if trace.steps else 0:.0f} s"
    )


def _print_endings(others: Sequence[Ending], complete: bool) -> None:
    if len(others) < 2:
        return
    total = sum(ending.runs for ending in others)
    of = f"all {total}" if complete else f"the first {total}"
    print(f"\nThis is one of {len(others)} endings over {of} successions of leaders:")
    for ending in others:
        names = ",".join(ending.witness.succession)
        dead = len(ending.outcome.deaths)
        print(
            f"  {ending.runs:5} of {total}: {ending.outcome.kind}"
            + (f", {dead} died" if dead else "")
            + f", {ending.rebalances} rebalances; --succession {names or 'broker'}"
        )


def _trace_json(trace: Trace, others: Sequence[Ending], complete: bool) -> dict[str, object]:
    return {
        "scenario": dict(trace.picks),
        "outcome": trace.outcome.kind,
        "text": trace.outcome.text,
        "deaths": [_death_json(death) for death in trace.outcome.deaths],
        "rebalances": trace.rebalances,
        "generation": trace.last.group.generation,
        "leader": trace.last.group.leader,
        "seconds": trace.steps[-1].at if trace.steps else 0.0,
        "members": [_member_json(view) for view in trace.last.members],
        "steps": [_step_json(step) for step in trace],
        "endings": [
            {
                "outcome": ending.outcome.kind,
                "deaths": sorted({death.member for death in ending.outcome.deaths}),
                "rebalances": ending.rebalances,
                "successions": ending.runs,
                "witness": ending.witness.picks(),
            }
            for ending in others
        ],
        "endings_complete": complete,
    }


def _death_json(death: Death) -> dict[str, object]:
    return {
        "member": death.member,
        "binary": death.binary,
        "generation": death.generation,
        "cause": death.cause,
        "reason": str(death.failure),
        "step": death.step,
    }


def _member_json(view: MemberView) -> dict[str, object]:
    return {
        "name": view.name,
        "binary": view.binary,
        "used_version": view.used,
        "latest_supported_version": view.latest,
        "state": view.state,
        "alive": view.alive,
        "reason": str(view.failure) if view.failure else "",
        "tasks": [str(task) for task in view.tasks],
    }


def _step_json(step: Step) -> dict[str, object]:
    return {
        "number": step.number,
        "action": step.action,
        "member": step.member,
        "members": list(step.members),
        "generation": step.generation,
        "leader": step.after.group.leader,
        "bounce": step.bounce,
        "at": step.at,
        "title": step.title,
        "why": step.why,
        "tag": step.tag,
        "used_versions": {view.name: view.used for view in step.after.members},
        "messages": [_message_json(sent) for sent in step.messages],
        "log": [
            {"member": line.member, "level": line.level, "logger": line.logger, "text": line.text} for line in step.log
        ],
        "source": step.source,
    }


def _message_json(sent: Sent) -> dict[str, object]:
    told: dict[str, object] = {"kind": sent.kind, "from": sent.sender, "to": sent.receiver}
    if sent.version is not None:
        told |= {
            "version": sent.version,
            "second": sent.supported,
            "tasks": [str(task) for task in sent.tasks],
            "bytes": sent.data.hex(),
        }
    return told


# -------------------------------------------------------------------- decode


def _decode(options: argparse.Namespace) -> int:
    data = _bytes(options)
    reader = release(options.release) if options.release else None
    decoded = wire.decode(data, kind=options.kind)
    sees = _seen_by(decoded, reader) if reader else None
    if options.format == "json":
        _json({"bytes": len(data), **_layer_json(decoded), **({"reader": sees} if sees else {})})
    else:
        _print_layer(decoded, "")
        if sees:
            print(f"\na reader of {sees['release']} {sees['sees']}")
            for line in sees["log"]:
                print(f"  {line}")
    if problem := decoded.problem:
        raise DecodeError(problem.problem, offset=problem.offset, field=problem.name)
    return 0


def _print_layer(decoded: wire.Decoded, indent: str) -> None:
    print(f"{indent}{decoded.kind}, {len(decoded.data)} bytes: {decoded.reason}")
    if decoded.others:
        print(f"{indent}it could be as well: {', '.join(decoded.others)}")
    for field in decoded.fields:
        if field.name == "user_data" and decoded.inner:
            print(f"{indent}{field.offset:6} {field.length:6}  {field.name}")
            _print_layer(decoded.inner, indent + "    ")
        else:
            said = f"cannot be read: {field.problem}" if field.problem else _said(field.value)
            print(f"{indent}{field.offset:6} {field.length:6}  {field.name} = {said}")


def _said(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else "none" if value is None else str(value)


def _layer_json(decoded: wire.Decoded) -> dict[str, object]:
    told: dict[str, object] = {
        "kind": decoded.kind,
        "reason": decoded.reason,
        "others": list(decoded.others),
        "fields": [
            {
                "name": field.name,
                "offset": field.offset,
                "length": field.length,
                "value": field.value.hex() if isinstance(field.value, bytes) else field.value,
                **({"problem": field.problem} if field.problem else {}),
            }
            for field in decoded.fields
        ],
    }
    if decoded.inner:
        told["payload"] = _layer_json(decoded.inner)
    return told


def _seen_by(decoded: wire.Decoded, reader: Release) -> _Seen:
    """What that release's own code makes of the Streams payload, or of the envelope where there is none."""
    layer = decoded.inner or decoded
    read = _READERS[layer.kind](layer.data, dialect=reader.binary.dialect)
    log = [str(line) for line in read.log]
    if read.failure is not None:
        return {"release": reader.name, "sees": f"throws {read.failure}", "failure": str(read.failure), "log": log}
    if isinstance(read.value, SubscriptionInfo) and read.value.head_only:
        sees = f"sees a future subscription: v{read.value.version}, supports v{read.value.latest_supported_version}"
    elif isinstance(read.value, SubscriptionInfo | AssignmentInfo):
        sees = f"reads v{read.value.version} in full"
    else:
        sees = "reads the envelope"
    return {"release": reader.name, "sees": sees, "failure": "", "log": log}


class _Seen(TypedDict):
    release: str
    sees: str
    failure: str
    log: list[str]


_READERS: dict[str, Callable[..., wire.Read]] = {
    wire.SUBSCRIPTION_INFO: wire.read_subscription_info,
    wire.ASSIGNMENT_INFO: wire.read_assignment_info,
    wire.CONSUMER_SUBSCRIPTION: wire.read_subscription,
    wire.CONSUMER_ASSIGNMENT: wire.read_assignment,
}


def _bytes(options: argparse.Namespace) -> bytes:
    if options.file is not None:
        return Path(options.file).read_bytes()
    if options.hex is None:
        raise _Unusable("say which bytes: HEX, --file FILE, or - for standard input")
    text = sys.stdin.read() if options.hex == "-" else options.hex
    digits = "".join(text.split()).removeprefix("0x")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        at = next((i for i, c in enumerate(digits) if c not in "0123456789abcdefABCDEF"), len(digits))
        what = (
            f"{digits[at]!r} at digit {at + 1} is no hex digit" if at < len(digits) else "an odd number of hex digits"
        )
        raise _Unusable(f"{what}; bytes are written with two hex digits each") from None


# -------------------------------------------------------------------- words


def _json(answer: dict[str, object]) -> int:
    print(json.dumps({"schema": SCHEMA, **answer}, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
