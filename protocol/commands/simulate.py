"""`simulate`: one rolling bounce, step by step, and how else it could have ended.

The run is made in `protocol.scenario`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..logbook import written
from ..scenario import CLOSINGS, SUCCESSIONS, TIMINGS, Ending, Scenario, endings, simulate
from ..trace import Death, MemberView, Sent, Step, Trace
from .answer import Unusable, print_json

TEXT = "One rolling bounce, step by step."
EXAMPLE = "simulate --from 2.0.0 --to 2.1.0 --members 3 --leader A --order C,B,A --succession newest"


def arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument(
        "--from",
        dest="old",
        required=True,
        metavar="RELEASE[,RELEASE…]",
        help="what runs at first: one release for all, or one for each instance",
    )
    command.add_argument("--to", dest="new", metavar="RELEASE", help="what each instance is bounced to")
    command.add_argument("--members", type=int, default=3, metavar="N", help="instances (default 3)")
    command.add_argument("--leader", metavar="NAME", help="who leads first")
    command.add_argument(
        "--order", metavar="NAME,…", help="which instances are bounced, in order (default: all, from A)"
    )
    command.add_argument(
        "--succession",
        default="broker",
        metavar="RULE|NAME,…",
        help=f"who leads next: {', '.join(SUCCESSIONS)}, or names, one for each vacancy",
    )
    command.add_argument(
        "--closing",
        choices=CLOSINGS,
        help="whether a closed member's id lingers until the session timeout, or leaves (default: as the release does)",
    )
    command.add_argument(
        "--restart",
        default="before",
        metavar="before|after|SECONDS",
        help="from stop to start: before or after the session timeout",
    )
    command.add_argument("--static", action="store_true", help="members have a group.instance.id")
    command.add_argument("--threads", type=int, default=1, metavar="N", help="stream threads an instance")
    command.add_argument(
        "--upgrade-from", metavar="VALUE", help="two rolling bounces: with this upgrade.from, then without"
    )
    command.add_argument("--one-bounce", dest="second_bounce", action="store_false", help="leave the second one out")
    command.add_argument("--rollback", type=int, metavar="N", help="after N bounces bring those instances back")
    command.add_argument(
        "--bounce", action="append", metavar="NAME=RELEASE", help="the bounces one by one, instead of --to"
    )
    command.add_argument("--supervisor", type=float, metavar="SECONDS", help="restart a dead instance on its old image")
    command.add_argument(
        "--timing", default="lockstep", choices=TIMINGS, help="whether moments are left to chance, too"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of what is left to chance (default 0)")
    command.add_argument("--until", type=float, metavar="SECONDS", help="cut the run off")
    command.add_argument("--log", action="store_true", help="print only the log lines that the releases would print")


def _scenario(options: argparse.Namespace) -> Scenario:
    old = [part.strip() for part in options.old.split(",")]
    bounces = None
    if options.bounce:
        bounces = tuple(tuple(part.split("=", 1)) for part in options.bounce)
        if wrong := next((pair for pair in bounces if len(pair) != 2), None):
            raise Unusable(f"--bounce {wrong[0]}: a bounce is written NAME=RELEASE")
    elif options.new is None:
        raise Unusable("say where to: --to RELEASE, or --bounce NAME=RELEASE for each bounce")
    succession: str | tuple[str, ...] = options.succession
    if (options.succession not in SUCCESSIONS and "," in options.succession) or options.succession.isupper():
        succession = tuple(name.strip() for name in options.succession.split(","))
    restart: str | float = options.restart
    if restart not in ("before", "after"):
        try:
            restart = float(options.restart)
        except ValueError:
            raise Unusable(f"--restart {options.restart}: before, after, or seconds") from None
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


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status."""
    scenario = _scenario(options)
    trace = simulate(scenario)
    others, complete = ((), True) if options.log else endings(scenario, limit=200)
    if options.format == "json":
        print_json(_trace_json(trace, others, complete))
    elif options.log:
        for line in written(trace):
            print(line)
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
