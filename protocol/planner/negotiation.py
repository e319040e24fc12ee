"""What the metadata version does in an upgrade: proved over every order and leader, or run over all successions.

What else there is to an upgrade is in `reasons`.
"""

from __future__ import annotations

from functools import lru_cache

from ..releases import Release
from ..scenario import Ending, Scenario, endings
from ..upgrade import Modes, Report, explore
from ..versions import EARLIEST_PROBEABLE
from .reason import Reason, number, takes
from .settings import used_with


@lru_cache(maxsize=256)
def explored(old: str, new: str, members: int, threads: int, order: str = "any") -> Report:
    """The proof, or the counterexamples, for one pair."""
    modes = Modes(relead="by jar", threads=threads, order=order)
    return explore(old, new, members=members, modes=modes)


@lru_cache(maxsize=256)
def every_way(
    old: str, new: str, members: int, setting: str | None, *, static: bool = False, restart: str = "before"
) -> tuple[tuple[Ending, ...], bool]:
    """Every ending over all successions of leaders, for what `explore` leaves out; and whether that is all of them."""
    scenario = Scenario(old=old, new=new, members=members, upgrade_from=setting, static=static, restart=restart)
    return endings(scenario, limit=300)


def versions(
    old: Release, new: Release, members: int, threads: int, setting: str | None, static: bool
) -> tuple[Report | None, Reason]:
    """What the metadata version does in this upgrade, proved over every order and leader."""
    name, source = "metadata version", "KIP-268; `explore` over every order and leader"
    numbers = f"{old.name} supports v{old.latest}, {new.name} v{new.latest}"
    if old.latest == new.latest:
        numbers = f"{old.name} and {new.name} both support v{new.latest}"
    low, high = sorted((old, new), key=number)
    if min(old.latest, new.latest) < EARLIEST_PROBEABLE and old.latest != new.latest:
        held = setting is not None and takes(high, setting) and (used_with(high, setting) or 99) <= low.latest
        if held and number(old) < number(new):
            ways, complete = every_way(old.name, new.name, min(members, 3), setting)
            bad = [way for way in ways if not way.outcome.ok]
            if not bad:
                return None, Reason(
                    name=name,
                    title=f"{numbers}: held at v{used_with(high, str(setting))} in the first round",
                    text="Before 2.0 there is no version probing: the setting makes the new jar speak the old "
                    "version, and "
                    "the second round takes it up. "
                    f"{'Every' if complete else 'No'} succession of leaders of 3 instances"
                    f"{' ends well' if complete else ' of the first 300 ends badly'}.",
                    source=source,
                    effect="setting",
                )
            return None, Reason(
                name=name, title=numbers, text=bad[0].outcome.text, source=source, effect="unsafe"
            )  # fmt: skip
        if held:
            return None, Reason(
                name=name,
                title=f"{numbers}: held at v{used_with(high, str(setting))} before the old jar comes",
                text="The setting makes the newer jar speak the version that the older one can read.",
                source=source,
                effect="setting",
            )
        report = explored(old.name, new.name, members, threads)
        return report, Reason(
            name=name,
            title=f"{numbers}: members die",
            text=_deaths(report)
            + " Before 2.0 there is no version probing: an old leader dies of a newer subscription, and an old "
            "member of "
            "a newer assignment.",
            source=f"KAFKA-6054; {source}",
            effect="unsafe",
        )
    if static:
        return _static(old, new, members, threads, numbers)
    report = explored(old.name, new.name, members, threads)
    if report.ok:
        if old.latest == new.latest:
            text = "The versions are the same: nothing is negotiated, and a bounce is one rebalance."
            numbers = numbers.replace(f"{old.name} and {old.name} both support", f"{old.name} supports")
        else:
            text = (
                f"Version probing: the group speaks v{min(old.latest, new.latest)} until the last "
                f"{'old instance is gone' if old.latest < new.latest else 'instance is back'}. No order and no "
                "leader makes a "
                "member die."
            )
            if number(old)[:-1] == number(new)[:-1]:
                text += " A patch release, and a new version all the same."
        return report, Reason(
            name=name, title=f"{numbers}: {_KINDS['ok'] if old.latest != new.latest else 'nothing to negotiate'}",
            text=text, source=source, effect="versions"
        )  # fmt: skip
    last = explored(old.name, new.name, members, threads, "leader last")
    hint = ""
    if last.ok:
        hint = " If the instance that leads is bounced last, nobody dies; but the broker does not tell who leads."
    return report, Reason(
        name="KAFKA-8649" if report.verdict.most_dead else name,
        title=f"{numbers}: {_KINDS[report.verdict.kind]}",
        text=f"{_deaths(report)} {_told(old, new)}; they die one rebalance later.{hint}"
        if report.verdict.most_dead
        else _KINDS[report.verdict.kind],
        source=f"KAFKA-8649; {source}",
        effect="unsafe",
    )


_KINDS = {
    "deaths": "members can die",
    "loop": "the group can rebalance for ever",
    "escapable loop": "the group can rebalance until luck ends it",
    "stops half-way": "the group can stop half-way",
    "unknown": "not proved, the search stopped early",
    "ok": "negotiated well",
}


def _told(old: Release, new: Release) -> str:
    """Who tells whom what cannot be spoken: on the way up an upgraded leader, on the way down one not yet bounced."""
    if new.latest > old.latest:
        return f"An upgraded leader of {new.name} tells its own v{new.latest} to members whose jar cannot speak it"
    return f"A leader still on {old.name} tells its own v{old.latest} to members that are back on {new.name}"


def _deaths(report: Report) -> str:
    most = report.verdict.most_dead
    odds = "" if report.survival is None else f"; with {float(1 - report.survival):.0%} chance somebody does"
    return f"Up to {most} of {report.verdict.members} members are dead at once{odds}."


def _static(old: Release, new: Release, members: int, threads: int, numbers: str) -> tuple[Report | None, Reason]:
    """Static members come back to a cached assignment, which `explore` leaves out: every succession is run."""
    count = min(members, 3)
    ways, complete = every_way(old.name, new.name, count, None, static=True)
    bad = [way for way in ways if way.outcome.deaths or way.outcome.kind in ("loop", "error assignment")]
    covered = "every succession" if complete else "the first 300 successions"
    source = "KIP-345; `simulate` over all successions; 3.8.0 GroupCoordinator#updateStaticMemberAndRebalance"
    if bad:
        slow, _ = every_way(old.name, new.name, count, None, static=True, restart="after")
        rescued = not any(way.outcome.deaths for way in slow)
        rolled = new.latest < old.latest
        why = (
            "The broker serves a static member that is back in time its cached assignment, in a version that the "
            "older jar "
            "cannot read; every restart repeats it."
            if rolled
            else bad[0].outcome.text
        )
        hint = " Keep each instance down for longer than session.timeout.ms, and nobody dies." if rescued else ""
        return None, Reason(
            name="cached assignment" if rolled else "metadata version",
            title=f"{numbers}: static members that are back in time die",
            text=f"{why}{hint}",
            source=source,
            effect="unsafe",
        )
    waits = any(way.outcome.kind == "old version" for way in ways)
    well = _KINDS["ok"] if old.latest != new.latest else "nothing to negotiate"
    text = f"No member dies, over {covered} of {count} static members that are back in time."
    if waits:
        text += " The group may still speak the old version at the end: the next rebalance takes it up."
    return None, Reason(
        name="metadata version", title=f"{numbers}: {well}", text=text, source=source, effect="versions"
    )  # fmt: skip


def reasons_of_members(old: Release, new: Release, threads: int, static: bool) -> list[Reason]:
    """What more threads, and static members, change."""
    told = []
    if threads > 1 and old.latest != new.latest and old.binary.previous_tasks == "client":
        told.append(
            Reason(
                name="duplicate tasks",
                title=f"a probing leader of {old.name} gives every thread of an instance the tasks of all its threads",
                text=f"With {threads} threads an instance, tasks have two owners inside each old instance until "
                "the next "
                "rebalance: lock conflicts, and stateless tasks processed twice. Fixed in 2.2.2 and 2.3.1.",
                source="pull request 7423; 2.3.0 StreamsPartitionAssignor#versionProbingAssignment",
                effect="note",
            )
        )
    if static:
        told.append(
            Reason(
                name="static members",
                title="a static member that is back before session.timeout.ms gets its place and its cached assignment",
                text="The broker compares the protocol's name only, which is `stream` for every release: no "
                "rebalance by "
                "itself. A member of 2.6 or later then forces one if its version differs; up to 2.5 a whole roll "
                "may go by "
                "without any.",
                source="KIP-345; 3.8.0 GroupCoordinator#updateStaticMemberAndRebalance",
                effect="note",
            )
        )
    return told
