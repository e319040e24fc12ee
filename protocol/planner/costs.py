"""What the rounds of an upgrade cost in rebalances and seconds, from runs of the simulated group.

Over all orders and leaders the numbers of rebalances come from `upgrade`; here are the moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import group
from ..releases import Release, release
from ..scenario import Scenario
from ..trace import Trace
from ..upgrade import Report
from .rounds import Round

SAMPLE = 4
"""More instances than that are not simulated: the bounces between the first and the last cost the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Least and most."""

    rebalances: tuple[int, int | None]
    seconds: tuple[float, float]
    """In which the group rebalances or waits for an old member id; the operator's own pauses not counted."""
    rounds: tuple[tuple[tuple[int, int | None], tuple[float, float]], ...] = ()
    """The same two of each round alone."""
    late: int | None = None
    """Rebalances where every instance comes back after its session timed out; None where those are counted above."""


def run(
    old: Release,
    todo: Sequence[Round],
    *,
    members: int,
    threads: int = 1,
    static: bool = False,
    leaves: bool | None = None,
    restart: str = "before",
    seed: int = 0,
) -> Trace:
    """One run of all the rounds; the first leader is bounced last in each."""
    names = Scenario(old=old.binary, members=members).instances
    newest = release(todo[-1].release).binary
    picked = Scenario(
        old=old.binary,
        new=newest,
        members=members,
        threads=threads,
        static=static,
        leader="A",
        restart=restart,
        closing=None if leaves is None else "leaves" if leaves else "lingers",
        seed=seed,
    )
    order = (*names[1:], names[0])
    bounces = tuple(group.Bounce(name, release(one.release).binary, one.upgrade_from) for one in todo for name in order)
    return group.play(replace(picked.plan(), bounces=bounces))


def of_run(trace: Trace, *, members: int, asked: int, first: int = 1) -> tuple[int, float]:
    """Rebalances and seconds of one round of a run, stretched to the number of instances that was asked for."""
    per_bounce: dict[int, list[float]] = {}
    generations: dict[int, set[int]] = {}
    for step in trace:
        if first <= step.bounce < first + members:
            per_bounce.setdefault(step.bounce, []).append(step.at)
            if step.action == "complete join":
                generations.setdefault(step.bounce, set()).add(step.generation)
    costs = [(len(generations.get(bounce, ())), times[-1] - times[0]) for bounce, times in sorted(per_bounce.items())]
    if not costs:
        return 0, 0.0
    middle = costs[1:-1] or costs[:1]
    more = max(0, asked - len(costs))
    rebalances = sum(cost for cost, _ in costs) + more * round(sum(cost for cost, _ in middle) / len(middle))
    seconds = sum(cost for _, cost in costs) + more * sum(cost for _, cost in middle) / len(middle)
    return rebalances, round(seconds, 1)


def cost_of(
    old: Release,
    todo: Sequence[Round],
    members: int,
    threads: int,
    static: bool,
    leaves: bool,
    report: Report | None,
    *,
    optional: bool,
) -> tuple[Cost, Trace]:
    """What the rounds cost, from the fastest restarts to slow ones; with `optional`, or one of the rounds alone."""
    count, few = min(members, SAMPLE), min(threads, 2)
    runs = [
        run(old, todo, members=count, threads=few, static=static, leaves=leaves or None, restart=restart)
        for restart in ("before", "after")
    ]
    costs = [
        [of_run(trace, members=count, asked=members, first=1 + i * count) for i in range(len(todo))] for trace in runs
    ]
    rebalances = [sum(cost for cost, _ in one) for one in costs]
    seconds = [sum(cost for _, cost in one) for one in costs]
    least, most = min(rebalances), max(rebalances)
    proved = report.verdict.rebalances if report is not None and not static and not leaves and few == 1 else None
    alone = [
        (
            (min(cost[0] for cost in both), max(cost[0] for cost in both)),
            (min(cost[1] for cost in both), max(cost[1] for cost in both)),
        )
        for both in zip(*costs, strict=True)
    ]
    each: list[tuple[tuple[int, int | None], tuple[float, float]]] = [*alone]
    if proved is not None:
        # The proof's own numbers hold for restarts within the session; later rounds change no version.
        more = members * (len(todo) - 1)
        least = proved[0] + more
        most = max(most if report is not None and not report.ok else least, (proved[1] or proved[0]) + more)
        each = [((members, members), seconds_alone) for _, seconds_alone in alone]
        changes = next(i for i, one in enumerate(todo) if one.release == todo[-1].release)
        each[changes] = ((proved[0], most - more), alone[changes][1])
    late = rebalances[1] if proved is not None and rebalances[1] > most else None
    if optional:
        least, seconds = min(cost for cost, _ in costs[0]), [min(cost for _, cost in costs[0]), *seconds]
    low, high = round(min(seconds), 1), round(max(seconds), 1)
    return Cost(rebalances=(least, most), seconds=(low, high), rounds=tuple(each), late=late), runs[0]
