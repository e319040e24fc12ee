"""What is wrong, or only looks wrong: each with its evidence, its cure, and a scenario that shows it.

The members that it is told of are in `history`; causes outside version probing are in `causes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..releases import releases
from ..scenario import Scenario
from .causes import CAUSES
from .events import Event
from .history import History, Life
from .meaning import meaning
from .shapes import Releases, latest_versions, span

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"

_OFTEN = 4
"""How often one line must repeat in one process before it is called a loop; a roll repeats it once a bounce."""
_MOST_EVIDENCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A disease, a false alarm, or a cause elsewhere."""

    name: str
    """One of NAMES."""
    title: str
    certainty: str
    """`certain`, `likely` or `possible`; the last two say in `decides` what would settle it."""
    grave: bool
    """Whether members died or will, or the group does no work."""
    what: str
    evidence: tuple[Event, ...]
    cure: str
    decides: str = ""
    scenario: Scenario | None = None
    """The picks that show the same in the bench; None where no scenario can."""
    source: str = ""


NAMES = (
    "KAFKA-8649",
    "poisoned member",
    "rebalance loop",
    "pre-2.0 member beside a future one",
    "old leader cannot read",
    "unfixed leader answers old members",
    "error assignment hides its cause",
    "cached assignment of a static member",
    "unreadable assignment",
    "unfixed second int",
    "upgrade.from rejected",
    "second bounce is missing",
    "eager beside cooperative",
    "follow-up loop",
    "warm-up probing",
    "broker restarts the rebalance",
    "not a Streams group",
    "not version probing",
    "shutdown requested",
)
"""Every name that a diagnosis can have."""


@dataclass(slots=True)
class Noted:
    """A line that came once or more often, told once."""

    event: Event
    times: int = 1
    last: float | None = None


def diagnoses(noted: Sequence[Noted], history: History) -> tuple[Diagnosis, ...]:
    """Everything that the lines show, the grave and the certain first."""
    lines = _Lines(noted)
    found: list[Diagnosis] = []
    for look in (
        _killed,
        _poisoned,
        _loops,
        _too_old,
        _old_readers,
        _undecodable,
        _second_int,
        _settings,
        _protocols,
        _followups,
        _warm_ups,
        _broker,
        _foreign,
    ):
        found += look(lines, history)
    rank = {CERTAIN: 0, LIKELY: 1, POSSIBLE: 2}
    return tuple(sorted(found, key=lambda one: (not one.grave, rank[one.certainty])))


class _Lines:
    """The noted lines by their kind."""

    def __init__(self, noted: Sequence[Noted]) -> None:
        self.by_kind: dict[str, list[Noted]] = {}
        for one in noted:
            self.by_kind.setdefault(one.event.kind, []).append(one)

    def of(self, *kinds: str) -> list[Event]:
        return [one.event for kind in kinds for one in self.by_kind.get(kind, ())]

    def times(self, *kinds: str) -> int:
        return sum(one.times for kind in kinds for one in self.by_kind.get(kind, ()))


def _shown(events: Iterable[Event]) -> tuple[Event, ...]:
    """A few lines of evidence, in the order of the log, no line twice."""
    kept: dict[tuple[str, int], Event] = {}
    for event in events:
        kept.setdefault((event.file, event.line), event)
    return tuple(kept.values())[:_MOST_EVIDENCE]


def _names(events: Iterable[Event | Life]) -> str:
    who = list(dict.fromkeys(one.member for one in events if one.member))
    if not who:
        return "a member"
    return ", ".join(who) if len(who) <= 4 else f"{len(who)} members"


# KAFKA-8649.

_CURE_8649 = (
    "Bring every member to 2.2.2, 2.3.1, or 2.4.0 and later (across 2.4 with upgrade.from): a fixed leader tells "
    "nobody "
    "a version that somebody cannot speak. If the target must be 2.1 to 2.3.0, bounce the group leader last, or stop "
    "all old members and start them new."
)


def _roll_of_8649(latest: int, told: int) -> Scenario | None:
    """An upgrade in which the first that is bounced leads, and tells the others a version too high."""
    if (latest, told) == (3, 4):
        return Scenario(old="2.0.1", new="2.1.1", leader="A", order="A,B,C", succession="newest")
    if (latest, told) == (4, 5):
        return Scenario(old="2.3.0", new="c310bf37670", leader="A", order="A,B,C", succession="newest")
    return None


def _killed(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    deaths = [event for event in lines.of("poisoned") if (event.number("used") or 0) > (event.number("latest") or 0)]
    if not deaths:
        return
    first = deaths[0]
    latest, used = first.number("latest") or 0, first.number("used") or 0
    dead = {event.member for event in deaths}
    causes = [event for event in lines.of("upgrade in silence", "set to leader's") if event.member in dead]
    known = any(event.number("common") == used for event in causes)
    released = (latest, used) == (3, 4)
    yield Diagnosis(
        name="KAFKA-8649",
        title=f"{_names(deaths)} died of a version that an upgraded leader told",
        certainty=CERTAIN if released else LIKELY,
        grave=True,
        what=(
            f"The jar supports v{latest} at most. One rebalance earlier its member was told v{used} by a leader of "
            "2.1.0 to 2.2.1 or 2.3.0, which tells its own latest version to everybody; the member took it over "
            "unchecked "
            f"and died when it had to build a subscription of v{used}. The failure shows one rebalance after its "
            "cause, and on an instance with nothing wrong."
            + ("" if known else " The line of the cause is not in this log.")
        ),
        evidence=_shown([*causes, *deaths]),
        cure=_CURE_8649,
        decides=""
        if released
        else f"No release answers v{used} to a jar of v{latest} that takes it unchecked: find out which build led the "
        "generation before.",
        scenario=_roll_of_8649(latest, used),
        source="KAFKA-8649; 2.0.0 StreamsPartitionAssignor#onAssignment, SubscriptionInfo (the constructor)",
    )


def _poisoned(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    sick = [(life, life.poisoned) for life in history.now() if life.poisoned is not False]
    for sure in (True, None):
        lives = [life for life, known in sick if known is sure]
        if not lives:
            continue
        told = lives[0].poisoned_by
        assert told is not None
        common = told.number("common") or 0
        able = [version for version in latest_versions(lives[0].possible) if version < common]
        latest = able[-1] if able else common - 1
        doubt = "" if sure else f", if it is {_line_of(lives[0].possible, latest)}"
        yield Diagnosis(
            name="poisoned member",
            title=f"{_names(lives)} {'will' if sure else 'may'} die at the next rebalance",
            certainty=CERTAIN if sure else POSSIBLE,
            grave=sure is True,
            what=(
                f"Told to speak v{common} by the leader, on a jar that supports v{latest}{doubt}. "
                "It works until the next rebalance, whatever its reason; then its thread dies with "
                f"`version must be between 1 and {latest}; was: {common}`."
            ),
            evidence=_shown(life.poisoned_by for life in lives if life.poisoned_by),
            cure="Do not restart, scale or bounce anything else first: upgrade these members next, each at once. "
            + _CURE_8649,
            decides=""
            if sure
            else f"The release that these members run: one that supports v{common} is well, and this was the end "
            "of its "
            "upgrade. Its start-up line `Kafka version` says it; or give --release.",
            scenario=_roll_of_8649(latest, common),
            source="KAFKA-8649; 2.0.0, 2.3.0 StreamsPartitionAssignor#onAssignment",
        )


def _line_of(possible: Releases, latest: int) -> str:
    rows = [row.name for i, row in enumerate(releases()) if possible >> i & 1 and row.latest == latest]
    return rows[0] if len(rows) == 1 else f"{rows[0]} to {rows[-1]}" if rows else "an older release"


# Loops.

_VERSION_KINDS = ("downgrade", "set to leader's", "end of upgrade", "rejoins to probe", "rejoins for its version")


def _loops(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    rolling = [
        event
        for event in lines.of("set to leader's")
        if event.number("used") == event.number("common") and _most(history, event) >= _OFTEN
    ]
    crashes = [event for event in lines.of("poisoned", "unreadable assignment") if _deaths(history, event.member) >= 2]
    if rolling:
        first = rolling[0]
        yield Diagnosis(
            name="rebalance loop",
            title=f"{_names(rolling)} cannot come down to the version of an old member that keeps coming back",
            certainty=CERTAIN if lines.of("poisoned") else LIKELY,
            grave=True,
            what=(
                f"Upgraded members that are told the leader's own v{first.number('common')} stay there and ask "
                "for another "
                f"rebalance, again and again, while a member that speaks v{first.number('received')} is in the group. "
                "In these rebalances nobody creates a task: the application does no work."
            ),
            evidence=_shown([*rolling, *lines.of("poisoned")]),
            cure="Take the old image away: stop the supervisor or deployment that restarts the old members, then "
            "upgrade "
            "them. The loop ends when no old member is left, or when one happens to lead.",
            decides="" if lines.of("poisoned") else "The log of the old member: it dies once in each round.",
            scenario=Scenario(
                old="2.0.1", new="2.1.1", leader="A", order="A,B", succession="highest version", supervisor=15.0
            ),
            source="2.1.0, 2.3.0 StreamsPartitionAssignor#onAssignment; KAFKA-8649",
        )
    elif crashes:
        yield Diagnosis(
            name="rebalance loop",
            title=f"{_names(crashes)} is restarted on its old image and dies again",
            certainty=LIKELY,
            grave=True,
            what="The same death under the same name, more than once: a supervisor restarts an image that cannot stay.",
            evidence=_shown(crashes),
            cure="Stop the restarts; bring the member to the release of the others, or the others back to its own.",
            decides="Whether the restarts are a supervisor's: its own log.",
            scenario=Scenario(
                old="2.0.1", new="2.1.1", leader="A", order="A,B", succession="highest version", supervisor=15.0
            )
            if crashes[0].kind == "poisoned"
            else None,
        )
    else:
        again = [event for event in lines.of("downgrade", "end of upgrade") if _most(history, event) >= _OFTEN]
        if again:
            yield Diagnosis(
                name="rebalance loop",
                title=f"{_names(again)} changes its version again and again",
                certainty=POSSIBLE,
                grave=False,
                what=(
                    f"One process printed the same change of version {max(_most(history, event) for event in again)} "
                    "times. A roll does that once a bounce at most; a group that cannot agree does it for ever."
                ),
                evidence=_shown(again),
                cure="See which member joins or dies between the repetitions, and stop that first.",
                decides="The log of the group leader over the same time, or how many bounces were made meanwhile.",
            )


def _most(history: History, event: Event) -> int:
    """How often one process of this member printed the line."""
    key = (event.kind, event.numbers, event.word("value"))
    return max((life.repeats.get(key, 0) for life in history.lives.get(event.member, ())), default=0)


def _deaths(history: History, member: str) -> int:
    return sum(1 for life in history.lives.get(member, ()) if life.dead is not None)


# Before 2.0.


def _too_old(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    mixed = lines.of("pre-2.0 beside future")
    if not mixed:
        return
    first = mixed[0]
    future, smallest = first.number("future") or 0, first.number("smallest") or 0
    yield Diagnosis(
        name="pre-2.0 member beside a future one",
        title=f"{_names(mixed)} died leading: a member of before 2.0 and one that is newer than the leader",
        certainty=CERTAIN,
        grave=True,
        what=meaning(first)
        + " If a member of before 2.0 leads next, it dies too, with `unable to decode subscription data`. "
        "From 2.7.0 the leader sends everybody an error instead.",
        evidence=_shown([*mixed, *lines.of("old leader cannot read")]),
        cure="One step at a time: bring the group from before 2.0 to one release of 2.0 or later with upgrade.from and "
        "two rolling bounces, and only then to a newer one.",
        scenario=Scenario(old=("1.1.1", "2.0.0", "2.0.0"), leader="B", bounces=(("C", "2.3.1"),), succession="oldest")
        if (future, smallest) == (4, 2)
        else None,
        source="KIP-268; 2.0.0 StreamsPartitionAssignor#assign",
    )


def _old_readers(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    blind = lines.of("old leader cannot read")
    if blind and not lines.of("pre-2.0 beside future"):
        future = blind[0].number("future") or 0
        yield Diagnosis(
            name="old leader cannot read",
            title=f"{_names(blind)} died reading a subscription of v{future}",
            certainty=CERTAIN,
            grave=True,
            what="There is no version probing before 2.0: a leader that meets a newer version dies, and so does "
            "the next "
            "old one that is elected (KAFKA-6054).",
            evidence=_shown(blind),
            cure="Two rolling bounces: the new jar with upgrade.from set to the old line, then without it. Only "
            "0.10.2.2, "
            "0.11.0.3, 1.0.2, 1.1.1 and 2.0.0 to 3.9 can be started so.",
            scenario=Scenario(old="0.10.0.1", new="1.1.1", leader="A", order="C,B,A")
            if future == 2
            else Scenario(old="1.1.1", new="2.0.0", leader="A", order="C,B,A"),
            source="KAFKA-6054; 0.10.0.0, 1.1.1 SubscriptionInfo#decode",
        )
    answered = [event for event in lines.of("unreadable assignment") if event.number("latest") is None]
    if answered:
        yield Diagnosis(
            name="unfixed leader answers old members",
            title=f"{_names(answered)} died of an assignment of v{answered[0].number('received')}",
            certainty=CERTAIN,
            grave=True,
            what=meaning(answered[0])
            + (
                " A leader of 0.10.1 to 1.1.0 without the fix of KAFKA-6054 answers everybody in v2."
                if answered[0].number("received") == 2
                else " It is an error assignment of a leader of 2.7 or later, or of a leader that is much newer."
            ),
            evidence=_shown([*answered, *lines.of("error assignment")]),
            cure="Use a target with the fix (0.10.2.2, 0.11.0.3, 1.0.2, 1.1.1, or 2.0 and later) and upgrade.from "
            "in the "
            "first of two rolling bounces; or stop everything and start it new.",
            scenario=Scenario(old="0.10.0.1", new="0.10.1.1", leader="A", order="A,B,C", succession="newest"),
            source="KAFKA-6054; 0.10.0.0 AssignmentInfo#decode",
        )


# Assignments that cannot be read.


def _undecodable(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    blind = [event for event in lines.of("unreadable assignment") if event.number("latest") is not None]
    if not blind:
        return
    first = blind[0]
    received, latest = first.number("received") or 0, first.number("latest") or 0
    seen = f"Members whose jar supports v{latest} were answered in v{received} and died of it."
    errors = lines.of("error assignment", "told of an error", "missing topic")
    static = lines.of("static member back")
    evidence = _shown([*errors, *static, *blind])
    source = "3.8.0 StreamsPartitionAssignor#errorAssignment, GroupCoordinator#updateStaticMemberAndRebalance"
    hidden = (
        "A leader that cannot assign sends everybody an error in its own latest version. Older members cannot read "
        "that version, and report it instead of the cause; newer members report the cause."
    )
    cached = (
        "A static member that comes back in time gets the cached assignment, without a rebalance: a jar that was "
        "rolled back cannot read the version in which it was made, and dies at every restart."
    )
    look = (
        "Look at the leader's log first: repair what it reports (a missing source topic, mostly), "
        "then restart the dead."
    )
    wait = (
        "Keep the instance down for longer than session.timeout.ms, or remove the member by its group.instance.id, or "
        "force any real rebalance; then start it."
    )
    if errors and not (static and not lines.of("missing topic", "error assignment")):
        yield Diagnosis(
            name="error assignment hides its cause",
            title=f"{_names(blind)} reported an undecodable assignment; the real error is the leader's",
            certainty=CERTAIN,
            what=f"{seen} {hidden}",
            cure=look,
            evidence=evidence,
            grave=True,
            source=source,
        )
        return
    repeated = any(_deaths(history, event.member) >= 2 for event in blind)
    if static or repeated:
        yield Diagnosis(
            name="cached assignment of a static member",
            title=f"{_names(blind)} was rolled back and is served the cached assignment of its newer self",
            certainty=CERTAIN if static and repeated else LIKELY,
            what=f"{seen} {cached}",
            cure=wait,
            decides=""
            if static and repeated
            else "Whether group.instance.id is set; if not, the leader's log at that "
            "moment: an error assignment looks the same on an older member.",
            scenario=_static_rollback(received, latest),
            evidence=evidence,
            grave=True,
            source=source,
        )
        return
    yield Diagnosis(
        name="unreadable assignment",
        title=f"{_names(blind)} could not read its assignment: v{received} on a jar of v{latest}",
        certainty=POSSIBLE,
        what=f"{seen} One of two. {hidden} Or: {cached}",
        cure=f"In the first case: {look} In the second: {wait}",
        decides="The leader's log at that moment (an error, or a missing topic), and whether group.instance.id is set.",
        scenario=_static_rollback(received, latest),
        evidence=evidence,
        grave=True,
        source=source,
    )


def _static_rollback(received: int, latest: int) -> Scenario | None:
    """A static member of the newer release that comes back on the older one, in time."""
    modern = span("2.3.1")
    new = [row.name for i, row in enumerate(releases()) if row.latest == received and modern >> i & 1 and row.released]
    old = [row.name for i, row in enumerate(releases()) if row.latest == latest and modern >> i & 1 and row.released]
    if not new or not old or received <= latest:
        return None
    return Scenario(old=new[0], static=True, bounces=(("C", old[0]),))


def _second_int(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    told = lines.of("cannot upgrade")
    if told:
        yield Diagnosis(
            name="unfixed second int",
            title=f"{_names(told)} refused a version that its jar cannot speak",
            certainty=CERTAIN,
            grave=True,
            what=meaning(told[0]),
            evidence=_shown(told),
            cure="Find the leader's build: replace it by a release (2.2.2, 2.3.1, 2.4.0 or later).",
            scenario=Scenario(old="2.3.1", new="c310bf37670", leader="A", order="A,B,C", succession="newest"),
            source="KAFKA-9053; 2.3.1 StreamsPartitionAssignor#validateMetadataVersions",
        )
    higher = lines.of("higher than sent", "three versions", "not the leader's version")
    if higher:
        yield Diagnosis(
            name="unfixed second int",
            title=f"{_names(higher)} was answered as no released leader answers",
            certainty=LIKELY,
            grave=True,
            what=meaning(higher[0]),
            evidence=_shown(higher),
            cure="Find the leader's build and replace it by a release.",
            decides="The `Kafka version` line of the instance that led.",
            source="2.3.1 StreamsPartitionAssignor#validateMetadataVersions; pull request 7413",
        )


# Settings and protocols.


def _settings(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    rejected = lines.of("upgrade.from rejected")
    if rejected:
        value = rejected[0].word("value")
        remedy = "Use a value that the release lists; `python -m protocol releases RELEASE` shows them."
        if "no longer supported" in rejected[0].text:
            remedy = "Go to 3.9 first, with upgrade.from in the first of two bounces; then to 4.0 without it."
        elif "Unknown configuration value" in rejected[0].text and value == "3.4":
            remedy = "Use 3.5.2 or 3.6.0 and later, whose assignor takes 3.4."
        yield Diagnosis(
            name="upgrade.from rejected",
            title=f"the release does not take upgrade.from={value}",
            certainty=CERTAIN,
            grave=True,
            what=meaning(rejected[0]) + f" Releases that say so: {rejected[0].printed_by}.",
            evidence=_shown(rejected),
            cure=remedy,
            source="KAFKA-15281; 3.5.0 AssignorConfiguration#rebalanceProtocol; StreamsConfig"
            if value == "3.4"
            else "StreamsConfig#UPGRADE_FROM_CONFIG",
        )
    left = [life for life in history.now() if life.upgrade_from and life.dead is None]
    held = lines.of("below version probing")
    still = [life for life in left if (life.used is not None and life.used < 3) or life.protocol == "EAGER"]
    if still or held:
        spoken = sorted({life.used for life in still if life.used is not None and life.used < 3})
        version = (
            f" The whole group speaks v{spoken[0]}, without probing, error codes and offset sums." if spoken else ""
        )
        yield Diagnosis(
            name="second bounce is missing",
            title=f"{_names(still or held)} still runs with upgrade.from",
            certainty=LIKELY if still else POSSIBLE,
            grave=False,
            what="In the first of two rolling bounces that is as it should be; after the second it must be gone."
            + version,
            evidence=_shown([*lines.of("upgrade.from lowers", "starts eager", "eager is deprecated"), *held]),
            cure="Once every member runs the new release: take upgrade.from out and bounce each instance once more.",
            decides="Whether the first round is over: all members on the new release.",
            scenario=Scenario(old="1.1.1", new="2.8.0", upgrade_from="1.1", second_bounce=False) if spoken else None,
            source="KIP-268, KIP-429; 3.9 upgrade guide",
        )


_COOPERATIVE = span("2.4.0")


def _protocols(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    lives = history.all()
    old = [life for life in lives if life.possible and not life.possible & _COOPERATIVE]
    able = [
        life
        for life in lives
        if life.protocol == "COOPERATIVE" and any(one.places[1] > life.places[0] for one in old if one is not life)
    ]
    eager = [one for one in old if any(one.places[1] > life.places[0] for life in able)]
    if able and eager:
        yield Diagnosis(
            name="eager beside cooperative",
            title=f"{_names(able)} keeps partitions in a rebalance, and {_names(eager)} does not know of that",
            certainty=CERTAIN,
            grave=True,
            what="The versions are negotiated well and nothing complains, for the protocol's name is `stream` on both "
            "sides. A member of 2.4 or later without upgrade.from keeps its partitions while it joins; a leader before "
            "2.4 does not see that, so a partition may have two owners for a generation.",
            evidence=_shown(lines.of("starts cooperative")),
            cure="Bounce the new members once more with upgrade.from set to the old line, and take it out when no "
            "member before 2.4 is left.",
            source="KIP-429; 2.4.0 AssignorConfiguration#rebalanceProtocol",
        )
    other = [event for event in lines.of("joined") if event.word("protocol") not in ("", "stream", "null")]
    if other:
        yield Diagnosis(
            name="not a Streams group",
            title=f"the group's protocol is {other[0].word('protocol')!r}",
            certainty=CERTAIN,
            grave=False,
            what="Kafka Streams calls its protocol `stream`. Version probing does not apply to other assignors, "
            "and their "
            "two-bounce rules differ by client.",
            evidence=_shown(other),
            cure="Look into the notes of that client and assignor.",
            source="KIP-429",
        )


# Follow-ups, warm-ups and the broker.


def _followups(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    withheld = [event for event in lines.of("rejoins for withheld tasks") if _most(history, event) >= 5]
    if withheld:
        yield Diagnosis(
            name="follow-up loop",
            title=f"{_names(withheld)} rejoins again and again for tasks that are withheld",
            certainty=LIKELY,
            grave=True,
            what="Each such rebalance should end with the task given up. Where it does not, owners do not revoke: on "
            "2.6.0 a follower's rejoin with unchanged bytes is no rebalance (KAFKA-10455), or members come and go.",
            evidence=_shown([*withheld, *lines.of("task withheld")]),
            cure="On 2.6.0 go to 2.6.1 or later. Otherwise see which member keeps joining or leaving.",
            decides="The release, and whether members come and go in the broker's log.",
            source="KAFKA-10455; 2.6.0 StreamsPartitionAssignor#maybeScheduleFollowupRebalance",
        )


def _warm_ups(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    checks = lines.of("warm-up check")
    begun = [event for event in lines.of("followup begins") if "KIP-441" in meaning(event)]
    if not (checks or begun):
        return
    old = any(not event.possible & ~span("2.6.0", "2.6.0") for event in checks + begun)
    yield Diagnosis(
        name="warm-up probing",
        title="probing rebalances of KIP-441: warm-up replicas are not caught up yet",
        certainty=CERTAIN,
        grave=False,
        what=f"{meaning((checks or begun)[0])} {lines.times('warm-up check', 'followup begins')} such lines."
        + (" On 2.6.0 a follower's check may do nothing (KAFKA-10455)." if old else ""),
        evidence=_shown([*checks, *begun]),
        cure="None: they end when the replicas are caught up. acceptable.recovery.lag, max.warmup.replicas and "
        "probing.rebalance.interval.ms set how soon and how often.",
        source="KIP-441; 2.6.0, 3.4.0 StreamsPartitionAssignor#maybeScheduleFollowupRebalance",
    )


def _broker(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    joins = [
        one for one in lines.by_kind.get("broker rebalances", ()) if "Adding new member" in one.event.word("reason")
    ]
    if sum(one.times for one in joins) >= 5:
        yield Diagnosis(
            name="broker restarts the rebalance",
            title="the coordinator prepares a rebalance for a new member again and again",
            certainty=LIKELY,
            grave=True,
            what="Not version probing. Broker 2.3.0 gives a client that speaks JoinGroup v0 a rebalance timeout "
            "of 0, so the "
            "rebalance ends before the others are there and starts again (KAFKA-8653). Clients of other languages "
            "are hit.",
            evidence=_shown(one.event for one in joins),
            cure="Upgrade the broker to 2.3.1, or the client to one that speaks JoinGroup v1.",
            decides="The broker's release, and the JoinGroup version of the client.",
            source="KAFKA-8653",
        )


def _foreign(lines: _Lines, history: History) -> Iterator[Diagnosis]:
    for kind, cause in CAUSES.items():
        shown = lines.of(kind)
        if not shown or (kind == "missing topic" and lines.of("unreadable assignment")):
            continue
        yield Diagnosis(
            name="not version probing",
            title=cause.title,
            certainty=CERTAIN if kind != "fenced producer" else LIKELY,
            grave=kind not in ("fenced producer", "new end point"),
            what=f"Not version probing. {cause.why}",
            evidence=_shown(shown),
            cure=cause.cure,
            decides="" if kind != "fenced producer" else "Whether it repeats.",
            source=cause.source,
        )
    asked = lines.of("told to shut down", "asks to shut down")
    if asked:
        yield Diagnosis(
            name="shutdown requested",
            title="a member asked the whole application to stop",
            certainty=CERTAIN,
            grave=True,
            what="Not version probing: an exception handler answered SHUTDOWN_APPLICATION. The request travels "
            "only while "
            "the group speaks v9 or later; in a mixed group before that it is lost.",
            evidence=_shown(asked),
            cure="Find the exception on the member that asked: it is in its log just before.",
            source="KIP-671; 2.8.0 StreamsPartitionAssignor#assign",
        )
