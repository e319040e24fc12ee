"""The advice for one pair of releases: verdict, reasons, rounds, costs, signs, and the way back.

What the version does is asked of `negotiation`; the other reasons are in `reasons`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import ImpossibleScenarioError
from ..releases import Release, release, releases
from ..scenario import Scenario
from ..trace import Trace
from ..upgrade import Report
from .costs import SAMPLE, Cost, cost_of
from .negotiation import reasons_of_members, versions
from .reason import FEATURES, Reason, number, takes
from .reasons import reasons, stopovers
from .rounds import Round, rounds
from .settings import reasons_of_setting, setting_of
from .signs import Sign, done, signs, wrong
from .witness import danger, planned

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
    headline: str
    conditions: tuple[str, ...]
    half: str
    """How to turn round half way; empty where that is no matter."""

    @property
    def ok(self) -> bool:
        """Whether there is a way back online."""
        return self.verdict in (SAFE, SAFE_IF)


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
    danger: Scenario | None
    """A run that fails, to look at; None where none does."""
    run: Scenario | None
    """A run that goes as planned, of a few of the instances; None where none does."""
    leaves: bool = False
    uses: frozenset[str] | None = None
    """What the application was said to use; None where nothing was said."""

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
    setting = setting_of(old, new, found, asked)
    todo = rounds(old, new, found, setting, has)
    found += reasons_of_setting(old, new, found, asked, setting)
    report, of_versions = versions(old, new, members, threads, setting, static)
    found = [of_versions, *reasons_of_members(old, new, threads, static), *found]
    impossible = [one for one in found if one.effect == "impossible"]
    if impossible:  # what only a roll would need is no reason of this pair
        found = [one for one in found if one is of_versions or one.effect not in ("setting", "condition")]
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
    if tried and back:
        cost, trace = cost_of(old, todo, members, threads, static, leaves, report, optional=optional)
        shown = _signs(trace, todo, old, new, min(members, SAMPLE))
    survival = None if report is None or report.survival is None else float(report.survival)
    shows = back and of_versions.effect == "unsafe"
    return Advice(
        old=old.name,
        new=new.name,
        members=members,
        threads=threads,
        static=static,
        upgrade_from=setting,
        verdict=verdict,
        headline=_headline(verdict, impossible or unsafe, conditions, of_versions, todo),
        conditions=conditions,
        reasons=tuple(found),
        rounds=() if impossible else todo,
        cost=cost,
        survival=survival if survival is not None and survival < 1 else None,
        distribution=_distribution(report),
        depends=_depends(report, survival),
        signs=shown,
        instead=_instead(old, new, impossible or unsafe, verdict, has, asked) if back else (),
        way_back=_way_back(old, new, members, threads, static, has, todo if conditions or verdict == SAFE else ())
        if back
        else None,
        bounds=(*(() if report is None else report.verdict.bounds), *_LEFT_OUT),
        danger=danger(old, new, members=members, threads=threads, static=static, setting=setting) if shows else None,
        run=planned(
            old,
            new,
            todo,
            members=members,
            threads=threads,
            static=static,
            leaves=leaves,
            setting=setting,
        )
        if back and not impossible
        else None,
        leaves=leaves,
        uses=has,
    )


_LEFT_OUT = (
    "not looked at: changes of the API, of your topology and of your own configuration; the upgrade guides of all "
    "releases between the two list the first",
)


def _starts(todo: Sequence[Round]) -> bool:
    """Whether a process of each round starts with its configuration."""
    return all(one.upgrade_from is None or takes(release(one.release), one.upgrade_from) for one in todo)


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
        elif one.effect == "condition" and not (one.name == "foreign-key joins" and setting == "3.4"):
            told.append(f"where {one.condition}: {one.todo or one.title}")
    return tuple(dict.fromkeys(told))


def _headline(
    verdict: str, worst: Sequence[Reason], conditions: Sequence[str], of_versions: Reason, todo: Sequence[Round]
) -> str:
    if worst:
        return f"{verdict}: {worst[0].title}"
    if not conditions:
        bounces = "one rolling bounce" if len(todo) == 1 else f"{_COUNTS[len(todo)]} rolling bounces"
        return f"{SAFE}: {bounces}; {of_versions.title}"
    first, more = conditions[0], len(conditions) - 1
    told = f"safe, but {first}" if first.startswith("where ") else f"safe if {first}"
    return told + (f" (and {more} more)" if more else "")


_COUNTS = {2: "two", 3: "three"}


def _depends(report: Report | None, survival: float | None) -> str:
    if report is None or survival is None or not 0 < survival < 1:
        return ""
    return (
        "On who leads when: the broker picks the next leader by chance, upgraded members included. "
        f"Nobody dies with {survival:.0%} chance, over random bounce orders and elections."
    )


def _distribution(report: Report | None) -> tuple[tuple[int, int, float], ...]:
    if report is None or len(report.costs) < 2:
        return ()
    return tuple((cost, dead, float(share)) for cost, dead, _, share in report.costs if share is not None)


def _signs(trace: Trace, todo: Sequence[Round], old: Release, new: Release, members: int) -> tuple[Sign, ...]:
    return (
        *signs(trace, todo, members=members),
        *done(trace, new, changes=old.latest != new.latest),
        *wrong(old, new),
    )


def _instead(
    old: Release,
    new: Release,
    worst: Sequence[Reason],
    verdict: str,
    has: frozenset[str] | None,
    asked: str | None,
) -> tuple[str, ...]:
    if verdict in (SAFE, SAFE_IF):
        return ()
    told: list[str] = []
    same: list[str] = []
    if asked is not None:
        unasked = _advise(old, new, 3, 1, None, False, False, has, back=False)
        if unasked.ok and unasked.upgrade_from != asked:
            same.append(f"upgrade.from={unasked.upgrade_from or 'none'} in place of {asked}: {unasked.headline}")
    if same and (takes(new, str(asked)) or not any(takes(row, str(asked)) for row in _better(old, new, has))):
        return tuple(same)
    for name in stopovers(old, new):
        first = _advise(old, release(name), 3, 1, None, False, False, has, back=False)
        then = _advise(release(name), new, 3, 1, None, False, False, has, back=False)
        if first.ok and then.ok:
            legs = [f"{one.release} with {one.configuration}" for leg in (first, then) for one in leg.rounds]
            told.append(f"by {name}: {', then '.join(legs)}")
    cached = next((one for one in worst if one.name == "cached assignment"), None)
    if cached:
        told.append("each instance is kept down for longer than session.timeout.ms, or without group.instance.id")
    elif not any(way.startswith("by ") for way in told):
        for row in _better(old, new, has):
            better = _advise(old, row, 3, 1, None, False, False, has, back=False)
            told.append(f"{row.name} in place of {new.name}: {SAFE if better.verdict == SAFE else better.headline}")
    told += same
    told.append(
        "offline: stop every instance, then start them all on the new jar; the application does no work meanwhile"
    )
    return tuple(told)


def _better(old: Release, new: Release, has: frozenset[str] | None) -> list[Release]:
    """The nearest releases after the wished one that are safe to go to; on the way down, not as far down."""
    found: list[Release] = []
    up = number(new) > number(old)
    later = sorted((row for row in releases() if row.released and number(row) > number(new)), key=number)
    for row in later if up else (row for row in later if number(row) < number(old)):
        if len(found) == 2:
            break
        if _advise(old, row, 2, 1, None, False, False, has, back=False).ok:
            found.append(row)
    return found


def _way_back(
    old: Release,
    new: Release,
    members: int,
    threads: int,
    static: bool,
    has: frozenset[str] | None,
    ahead: Sequence[Round],
) -> WayBack:
    """The same roll in reverse, from the end."""
    home = _advise(new, old, min(members, 3), threads, None, static, False, has, back=False)
    blocks = tuple(one for one in home.reasons if one.effect not in ("note", "versions"))
    text = f"From {new.name} to {old.name}: {home.headline}."
    turn = ""
    if home.ok and ahead and number(new) > number(old):
        half = "Half way through the first round" if len(ahead) > 1 else "Half way"
        turn = f"{half}, bounce the upgraded instances back, in any order; the others need nothing."
        if any(one.before_start for one in home.rounds):
            turn += " What is to be deleted from disk is to be deleted then, too."
        if len(ahead) > 1 and (held := home.upgrade_from):
            turn += f" Once the second round has begun, set upgrade.from={held} everywhere again first."
    return WayBack(
        verdict=home.verdict,
        text=f"{text} {turn}".rstrip(),
        blocks=blocks,
        rounds=home.rounds,
        headline=home.headline,
        conditions=home.conditions,
        half=turn,
    )
