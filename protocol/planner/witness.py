"""Runs to look at: one in which the danger of an upgrade shows, and one that goes as planned.

What the danger is, is proved in `upgrade` and told in `negotiation`; how a run is shown is the bench's.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ImpossibleScenarioError
from ..releases import Release
from ..scenario import Scenario, member_names, simulate
from .negotiation import every_way, explored
from .reason import number
from .rounds import Round

FEW, FEW_THREADS = 5, 2
"""More instances, or threads of each, are not put into a run to look at."""


def danger(
    old: Release, new: Release, *, members: int, threads: int, static: bool, setting: str | None
) -> Scenario | None:
    """A run in which as many members die as can; None where all runs end well, whatever the order and the leader."""
    count = min(members, FEW)
    if static:
        ways, _ = every_way(old.name, new.name, min(count, 3), None, static=True)
        bad = [way for way in ways if not way.outcome.ok and way.outcome.kind != "old version"]
        return max(bad, key=lambda way: len(way.outcome.deaths)).witness if bad else None
    if setting is not None:
        return None
    report = explored(old.name, new.name, count, min(threads, FEW_THREADS))
    ends = [end for end in report.endings if end.kind != "upgraded" and end.witness is not None]
    for end in sorted(ends, key=lambda end: -end.dead):
        assert end.witness is not None
        try:
            return end.witness.scenario()
        except ImpossibleScenarioError:
            continue
    return None


def planned(
    old: Release,
    new: Release,
    todo: Sequence[Round],
    *,
    members: int,
    threads: int,
    static: bool,
    leaves: bool,
    setting: str | None,
) -> Scenario | None:
    """A run of the bounces that change the jar; None where no such run goes well, or none can be picked on the bench.

    On the way down a setting is taken out together with the newer jar, so the run begins after the round that sets it.
    """
    count = min(members, FEW)
    names = member_names(count)
    up = number(old) <= number(new)
    picked = Scenario(
        old=old.name,
        new=new.name,
        members=count,
        threads=min(threads, FEW_THREADS),
        static=static,
        closing="leaves" if leaves else None,
        leader="A",
        order=(*names[1:], "A"),
        upgrade_from=setting if up else None,
    )
    if not todo:
        return None
    try:
        ends = simulate(picked).outcome
    except ImpossibleScenarioError:
        return None
    return picked if not ends.deaths and ends.kind not in ("loop", "error assignment") else None
