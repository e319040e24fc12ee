"""The advice for one pair of releases: verdict, reasons, rounds, costs, signs, and the way back.

The reasons beside the version are in `reasons`; the proof about the version is asked of `upgrade`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .. import member
from ..errors import ImpossibleScenarioError
from ..releases import Release, release, releases
from ..scenario import Ending, Scenario, endings
from ..trace import Trace
from ..upgrade import Modes, Report, explore
from ..versions import EARLIEST_PROBEABLE
from .costs import SAMPLE, Cost, of_run, run
from .reasons import FEATURES, Reason, minor, number, reasons, stopovers, takes
from .rounds import Round, rounds, wanted
from .signs import Sign, done, signs, wrong

SAFE, SAFE_IF, UNSAFE, IMPOSSIBLE = VERDICTS = ("safe", "safe if", "unsafe", "impossible online")

MOST_MEMBERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """How to return when the upgrade is done, or half done."""

    verdict: str
    text: str
    blocks: tuple[Reason, ...]
    """What the way back finds, beside the versions."""
    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What an upgrade will do."""

    old: str
    new: str
    members: int
    threads: int
    static: bool
    upgrade_from: str | None
    """The setting of the first round; None for none."""
    verdict: str
    """One of VERDICTS."""
    headline: str
    conditions: tuple[str, ...]
    """What must be so for it to be safe; empty where it is safe anyway."""
    reasons: tuple[Reason, ...]
    rounds: tuple[Round, ...]
    cost: Cost | None
    """Of all rounds; None where nobody should try."""
    survival: float | None
    """The chance that nobody dies, over bounce orders and the broker's choice of leaders; None where it is certain or
    not known."""
    distribution: tuple[tuple[int, int, float], ...]
    """(rebalances, most dead at once, chance) where elections decide; empty where they do not."""
    depends: str
    """On what it depends, with the odds; empty where nothing is open."""
    signs: tuple[Sign, ...]
    instead: tuple[str, ...]
    """Better ways, where this one is not safe."""
    way_back: WayBack | None
    bounds: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the advice is not `do not`."""
        return self.verdict in (SAFE, SAFE_IF)


def plan(
    old: str,
    new: str,
    *,
    members: int = 3,
    threads: int = 1,
    upgrade_from: str | None = None,
    static: bool = False,
    leaves: bool = False,
    uses: Iterable[str] | None = None,
) -> Advice:
    """What an upgrade, or a downgrade, will do, and how to do it.

    `upgrade_from` is what you mean to set in a first round; None leaves it to the plan, and `none` says that you
    will set nothing. `uses` are the keys of FEATURES that the application has; None says nothing of it.

    >>> plan("2.0.1", "2.1.1").verdict, plan("2.6.0", "2.6.1").cost.rebalances
    ('unsafe', (6, 6))

    Raises: UnknownReleaseError; ImpossibleScenarioError for picks that cannot be.
    """
    before, after = release(old), release(new)
    has = _features(uses)
    _check(before, after, members=members, threads=threads, static=static, leaves=leaves)
    return _advise(before, after, members, threads, upgrade_from, static, leaves, has, back=True)


def _features(uses: Iterable[str] | None) -> frozenset[str] | None:
    if uses is None:
        return None
    has = frozenset(uses)
    if unknown := sorted(has - set(FEATURES)):
        raise ImpossibleScenarioError("uses", f"{unknown[0]!r} is not known", ", ".join(FEATURES))
    return has


def _check(old: Release, new: Release, *, members: int, threads: int, static: bool, leaves: bool) -> None:
    if not 2 <= members <= MOST_MEMBERS:
        raise ImpossibleScenarioError("members", f"{members} instances", f"2 to {MOST_MEMBERS}")
    if not 1 <= threads <= 64:
        raise ImpossibleScenarioError("threads", f"{threads} threads an instance", "1 to 64")
    if static and min(number(old), number(new)) < (2, 3):
        raise ImpossibleScenarioError("static", "a client before 2.3.0 knows no group.instance.id", "2.3.0 and later")
    if static and leaves:
        raise ImpossibleScenarioError("leaves", "a static member never sends LeaveGroup", "static or leaves")


def _advise(
    old: Release,
    new: Release,
    members: int,
    threads: int,
    asked: str | None,
    static: bool,
    leaves: bool,
    has: frozenset[str] | None,
    *,
    back: bool,
) -> Advice:
    found = list(reasons(old, new, uses=has))
    setting = _setting(old, new, found, asked)
    todo = rounds(old, new, found, setting)
    found += _of_setting(old, new, found, asked, setting)
    report, versions = _versions(old, new, members, threads, setting, static)
    found = [versions, *_of_members(old, new, threads, static), *found]
    impossible = [one for one in found if one.effect == "impossible"]
    unsafe = [one for one in found if one.effect == "unsafe" and (not one.feature or has is not None)]
    maybe = [one for one in found if one.effect == "unsafe" and one not in unsafe]
    if impossible:
        verdict = IMPOSSIBLE
    elif unsafe:
        verdict = UNSAFE
    else:
        conditions = _conditions(old, new, found, maybe, setting, asked)
        verdict = SAFE_IF if conditions else SAFE
    conditions = _conditions(old, new, found, maybe, setting, asked) if verdict == SAFE_IF else ()
    tried = verdict in (SAFE, SAFE_IF) or (report is not None and not impossible and _starts(todo))
    needs = [one for one in found if one.effect == "setting"]
    optional = len(todo) > 1 and has is None and bool(needs) and all(one.feature for one in needs)
    cost: Cost | None = None
    shown: tuple[Sign, ...] = ()
    if tried:
        cost, shown = _costs(old, new, todo, members, threads, static, leaves, report, optional=optional)
    survival = None if report is None or report.survival is None else float(report.survival)
    return Advice(
        old=old.name,
        new=new.name,
        members=members,
        threads=threads,
        static=static,
        upgrade_from=setting,
        verdict=verdict,
        headline=_headline(verdict, impossible or unsafe, conditions),
        conditions=conditions,
        reasons=tuple(found),
        rounds=() if impossible else todo,
        cost=cost,
        survival=survival if survival is not None and survival < 1 else None,
        distribution=_distribution(report),
        depends=_depends(report, survival),
        signs=shown,
        instead=_instead(old, new, impossible or unsafe, verdict, has) if back else (),
        way_back=_way_back(old, new, members, threads, static, has) if back else None,
        bounds=() if report is None else report.verdict.bounds,
    )


def _starts(todo: Sequence[Round]) -> bool:
    """Whether a process of each round starts with its configuration."""
    return all(one.upgrade_from is None or takes(release(one.release), one.upgrade_from) for one in todo)


# The setting.


def _setting(old: Release, new: Release, found: Sequence[Reason], asked: str | None) -> str | None:
    if asked is None:
        return wanted(old, new, found)
    return None if asked.lower() in ("none", "null", "") else asked


def _of_setting(
    old: Release, new: Release, found: Sequence[Reason], asked: str | None, setting: str | None
) -> list[Reason]:
    """What is to be said of the setting that the plan has, or that was asked for."""
    low, high = sorted((old, new), key=number)
    needed = wanted(old, new, found)
    told: list[Reason] = []
    if any(one.effect == "impossible" for one in found):
        return told
    if setting is not None and not takes(high, setting):
        started = member.configure(high.binary, setting)
        if not high.upgrade_from:
            text = f"{high.name} knows no upgrade.from: it cannot be told to speak an older version."
            closed = low.latest < EARLIEST_PROBEABLE
            targets = ", ".join(row.name for row in _targets(low, high))
            return [
                Reason(
                    name="no upgrade.from",
                    title=f"{high.name} cannot be started as an older release",
                    text=f"{text} {'Stop all instances and start them new, or go to ' + targets if targets else ''}.",
                    source="KAFKA-6054; 0.10.2.2, 0.11.0.3, 1.0.2, 1.1.1 StreamsConfig",
                    effect="impossible" if closed and asked is None else "unsafe",
                )
            ]
        failure = started.failure
        reason = Reason(
            name="upgrade.from rejected",
            title=f"{high.name} does not start with upgrade.from={setting}",
            text=f"{failure}." if failure else "The value is rejected.",
            source="StreamsConfig#UPGRADE_FROM_CONFIG"
            if failure and failure.exception == "ConfigException"
            else "3.5.0 AssignorConfiguration#rebalanceProtocol; KAFKA-15281",
            effect="unsafe",
            feature="" if asked is not None else _only_feature(found),
        )
        if not any(one.name.startswith("3.5.0 and 3.5.1") for one in found) or asked is not None:
            told.append(reason)
        return told
    if asked is None:
        return told
    if setting is None and needed is not None:
        for one in found:
            if one.effect == "setting":
                told.append(
                    Reason(
                        name=f"without upgrade.from: {one.name}",
                        title="the versions are negotiated well, and the roll is unsafe all the same"
                        if one.name.startswith(("eager", "cooperative"))
                        else f"nothing keeps {high.name} to the old format",
                        text=one.text,
                        source=one.source,
                        feature=one.feature,
                        effect="unsafe",
                    )
                )
    if setting is not None and needed is None:
        told.append(
            Reason(
                name="upgrade.from without need",
                title=f"upgrade.from={setting} is not needed here",
                text="It does no harm, and costs a second round of bounces to take it out again."
                if _used(high, setting) is None
                else f"It makes the whole group speak v{_used(high, setting)} until it is taken out again.",
                source="KIP-268, KIP-429",
                effect="note",
            )
        )
    if setting is not None and needed is not None and not _does(high, setting, needed):
        told.append(
            Reason(
                name="upgrade.from of another line",
                title=f"upgrade.from={setting} does not do what {needed} does",
                text=f"The older release is of {minor(low)}: set upgrade.from={needed}.",
                source="AssignorConfiguration#rebalanceProtocol, #configuredMetadataVersion",
                effect="unsafe",
            )
        )
    return told


def _only_feature(found: Sequence[Reason]) -> str:
    needs = [one for one in found if one.effect == "setting"]
    return needs[0].feature if needs and all(one.feature for one in needs) else ""


def _used(row: Release, value: str) -> int | None:
    return next((one.used for one in row.upgrade_from if one.value == value), None)


def _does(row: Release, value: str, needed: str) -> bool:
    """Whether one value has the effects of another on version and protocol, and is of no younger line."""
    mine, wished = (next((one for one in row.upgrade_from if one.value == name), None) for name in (value, needed))
    if mine is None or wished is None:
        return mine is not None and takes(row, value)
    same = (mine.used, mine.protocol) == (wished.used, wished.protocol)
    return same and _line(value) <= max(_line(needed), (3, 4))


def _line(value: str) -> tuple[int, ...]:
    return tuple(int(part) for part in value.split(".") if part.isdigit())


def _targets(low: Release, high: Release) -> list[Release]:
    """Releases near the target that can be started as the older one."""
    value = minor(low)
    rows = [row for row in releases() if row.released and takes(row, value) and number(row) > number(low)]
    same = [row for row in rows if number(row)[:-1] == number(high)[:-1]]
    return (same or [row for row in rows if number(row) >= number(high)] or rows)[:3]


# The versions.


@lru_cache(maxsize=256)
def _explored(old: str, new: str, members: int, threads: int, order: str = "any") -> Report:
    modes = Modes(relead="by jar", threads=threads, order=order)
    return explore(old, new, members=members, modes=modes)


@lru_cache(maxsize=256)
def _ways(
    old: str, new: str, members: int, setting: str | None, *, static: bool = False, restart: str = "before"
) -> tuple[tuple[Ending, ...], bool]:
    """Every ending over all successions of leaders, for what `explore` leaves out; and whether that is all of them."""
    scenario = Scenario(old=old, new=new, members=members, upgrade_from=setting, static=static, restart=restart)
    return endings(scenario, limit=300)


def _versions(
    old: Release, new: Release, members: int, threads: int, setting: str | None, static: bool
) -> tuple[Report | None, Reason]:
    """What the metadata version does in this upgrade, proved over every order and leader."""
    name, source = "metadata version", "KIP-268; `explore` over every order and leader"
    numbers = f"{old.name} supports v{old.latest}, {new.name} v{new.latest}"
    low, high = sorted((old, new), key=number)
    if min(old.latest, new.latest) < EARLIEST_PROBEABLE and old.latest != new.latest:
        held = setting is not None and takes(high, setting) and (_used(high, setting) or 99) <= low.latest
        if held and number(old) < number(new):
            ways, complete = _ways(old.name, new.name, min(members, 3), setting)
            bad = [way for way in ways if not way.outcome.ok]
            if not bad:
                return None, Reason(
                    name=name,
                    title=f"{numbers}: held at v{_used(high, str(setting))} in the first round",
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
                title=f"{numbers}: held at v{_used(high, str(setting))} before the old jar comes",
                text="The setting makes the newer jar speak the version that the older one can read.",
                source=source,
                effect="setting",
            )
        report = _explored(old.name, new.name, members, threads)
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
    report = _explored(old.name, new.name, members, threads)
    if report.ok:
        if old.latest == new.latest:
            text = "The versions are the same: nothing is negotiated, and a bounce is one rebalance."
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
            name=name, title=f"{numbers}: negotiated well", text=text, source=source, effect="versions"
        )  # fmt: skip
    last = _explored(old.name, new.name, members, threads, "leader last")
    hint = ""
    if last.ok:
        hint = " If the instance that leads is bounced last, nobody dies; but the broker does not tell who leads."
    return report, Reason(
        name="KAFKA-8649" if report.verdict.most_dead else name,
        title=f"{numbers}: {_KINDS[report.verdict.kind]}",
        text=f"{_deaths(report)} An upgraded leader of {new.name} tells its own v{new.latest} to members whose "
        "jar cannot "
        f"speak it; they die one rebalance later.{hint}"
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


def _deaths(report: Report) -> str:
    most = report.verdict.most_dead
    odds = "" if report.survival is None else f"; with {float(1 - report.survival):.0%} chance somebody does"
    return f"Up to {most} of {report.verdict.members} members are dead at once{odds}."


def _static(old: Release, new: Release, members: int, threads: int, numbers: str) -> tuple[Report | None, Reason]:
    """Static members come back to a cached assignment, which `explore` leaves out: every succession is run."""
    count = min(members, 3)
    ways, complete = _ways(old.name, new.name, count, None, static=True)
    bad = [way for way in ways if way.outcome.deaths or way.outcome.kind in ("loop", "error assignment")]
    covered = "every succession" if complete else "the first 300 successions"
    source = "KIP-345; `simulate` over all successions; 3.8.0 GroupCoordinator#updateStaticMemberAndRebalance"
    if bad:
        slow, _ = _ways(old.name, new.name, count, None, static=True, restart="after")
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
    text = f"No member dies, over {covered} of {count} static members that are back in time."
    if waits:
        text += " The group may still speak the old version at the end: the next rebalance takes it up."
    return None, Reason(
        name="metadata version", title=f"{numbers}: negotiated well", text=text, source=source, effect="versions"
    )  # fmt: skip


def _of_members(old: Release, new: Release, threads: int, static: bool) -> list[Reason]:
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


# The verdict in words.


def _conditions(
    old: Release,
    new: Release,
    found: Sequence[Reason],
    maybe: Sequence[Reason],
    setting: str | None,
    asked: str | None,
) -> tuple[str, ...]:
    """What must be so, each as a clause: of every application first, then of those that use something."""
    told = []
    needs = [one for one in found if one.effect == "setting"]
    high = max((old, new), key=number)
    if setting is not None and needs:
        way = f"upgrade.from={setting} is set on {high.name} in the first of two rounds, and taken out in the second"
        if all(one.feature for one in needs):
            features = ", or ".join(dict.fromkeys(one.condition for one in needs))
            told.append(f"where {features}: {way}; elsewhere one round without it will do")
        else:
            told.append(way)
    elif needs and asked is not None:
        told += [f"where {one.condition}: do not do this" for one in needs if one.feature]
    told += [f"where {one.condition}: do not do this, for {one.title}" for one in maybe]
    for one in found:
        if one.effect == "wipe":
            told.append(f"where {one.condition}: the local state of each instance is deleted before it starts")
        elif one.effect == "condition":
            told.append(f"where {one.condition}: {one.title}")
    return tuple(dict.fromkeys(told))


def _headline(verdict: str, worst: Sequence[Reason], conditions: Sequence[str]) -> str:
    if worst:
        return f"{verdict}: {worst[0].title}"
    if not conditions:
        return SAFE
    first, more = conditions[0], len(conditions) - 1
    told = f"safe, but {first}" if first.startswith("where ") else f"safe if {first}"
    return told + (f" (and {more} more)" if more else "")


def _depends(report: Report | None, survival: float | None) -> str:
    if report is None or survival is None or survival >= 1:
        return ""
    return (
        "On who leads when: the broker picks the next leader by chance, upgraded members included. "
        f"Nobody dies with {survival:.0%} chance, over random bounce orders and elections."
    )


def _distribution(report: Report | None) -> tuple[tuple[int, int, float], ...]:
    if report is None or len(report.costs) < 2:
        return ()
    return tuple((cost, dead, float(share)) for cost, dead, _, share in report.costs if share is not None)


# Costs, signs.


def _costs(
    old: Release,
    new: Release,
    todo: Sequence[Round],
    members: int,
    threads: int,
    static: bool,
    leaves: bool,
    report: Report | None,
    *,
    optional: bool,
) -> tuple[Cost, tuple[Sign, ...]]:
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
    if proved is not None:
        # The proof's own numbers hold for restarts within the session; later rounds change no version.
        more = members * (len(todo) - 1)
        least = proved[0] + more
        most = max(most if report is not None and not report.ok else least, (proved[1] or proved[0]) + more)
    if optional:
        least, seconds = min(cost for cost, _ in costs[0]), [min(cost for _, cost in costs[0]), *seconds]
    low, high = round(min(seconds), 1), round(max(seconds), 1)
    return Cost(rebalances=(least, most), seconds=(low, high)), _signs(runs[0], todo, old, new, count)


def _signs(trace: Trace, todo: Sequence[Round], old: Release, new: Release, members: int) -> tuple[Sign, ...]:
    return (
        *signs(trace, todo, members=members),
        *done(trace, new, changes=old.latest != new.latest),
        *wrong(old, new),
    )


# Other ways.


def _instead(
    old: Release, new: Release, worst: Sequence[Reason], verdict: str, has: frozenset[str] | None
) -> tuple[str, ...]:
    if verdict in (SAFE, SAFE_IF):
        return ()
    told = []
    via = stopovers(old, new)
    for name in via:
        first = _advise(old, release(name), 3, 1, None, False, False, has, back=False)
        then = _advise(release(name), new, 3, 1, None, False, False, has, back=False)
        if first.ok and then.ok:
            setting = f" with upgrade.from={first.upgrade_from}, then without it" if first.upgrade_from else ""
            told.append(f"by {name}: {old.name} to {name}{setting}; then {name} to {new.name}")
    cached = next((one for one in worst if one.name == "cached assignment"), None)
    if cached:
        told.append("each instance is kept down for longer than session.timeout.ms, or without group.instance.id")
    elif not via:
        for row in _better(old, new, has):
            told.append(
                f"{row.name} in place of {new.name}: "
                f"{_advise(old, row, 3, 1, None, False, False, has, back=False).headline}"
            )
    told.append(
        "offline: stop every instance, then start them all on the new jar; the application does no work meanwhile"
    )
    return tuple(told)


def _better(old: Release, new: Release, has: frozenset[str] | None) -> list[Release]:
    """The nearest releases that are safe to go to: of the same line, or the next ones after it."""
    found: list[Release] = []
    up = number(new) > number(old)
    rows = [row for row in releases() if row.released and (number(row) > number(new)) == up and row.name != new.name]
    for row in rows if up else reversed(rows):
        if len(found) == 2:
            break
        if number(row) == number(old):
            continue
        if _advise(old, row, 2, 1, None, False, False, has, back=False).ok:
            found.append(row)
    return found


def _way_back(
    old: Release, new: Release, members: int, threads: int, static: bool, has: frozenset[str] | None
) -> WayBack:
    """The same roll in reverse, from the end."""
    home = _advise(new, old, min(members, 3), threads, None, static, False, has, back=False)
    blocks = tuple(one for one in home.reasons if one.effect not in ("note", "versions"))
    text = f"From {new.name} to {old.name}: {home.headline}."
    if home.verdict in (SAFE, SAFE_IF) and number(new) > number(old):
        text += " Half way, bounce the upgraded instances back in any order; the others need nothing."
    return WayBack(verdict=home.verdict, text=text, blocks=blocks, rounds=home.rounds)
