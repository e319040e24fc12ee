"""Looks for the diseases of the metadata version: deaths, poison, loops, releases that never probed.

Answers that cannot be read are in `answers`, how the roll goes on is in `rolls`, everything else that a log shows
is in `alarms`; the members that they are told of are in `history`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..releases import releases
from ..scenario import Scenario
from . import alarms, answers, rolls
from .diagnosis import (
    CERTAIN,
    LIKELY,
    OFTEN,
    POSSIBLE,
    Diagnosis,
    Lines,
    Noted,
    deaths_of,
    does,
    most_repeats,
    names_of,
    shown,
)
from .events import DEADLY
from .history import History
from .meaning import meaning
from .shapes import Releases, latest_versions


def diagnoses(noted: Sequence[Noted], history: History) -> tuple[Diagnosis, ...]:
    """Everything that the lines show, the grave and the certain first."""
    lines = Lines(noted)
    found: list[Diagnosis] = []
    for look in (*_LOOKS, *answers.LOOKS, *rolls.LOOKS, *alarms.LOOKS):
        found += look(lines, history)
    rank = {CERTAIN: 0, LIKELY: 1, POSSIBLE: 2}
    return tuple(sorted(found, key=lambda one: (not one.grave, rank[one.certainty])))


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


def _killed(lines: Lines, history: History) -> Iterator[Diagnosis]:
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
        title=f"{names_of(deaths)} died of a version that an upgraded leader told",
        certainty=CERTAIN if released else LIKELY,
        grave=True,
        what=(
            f"The jar supports v{latest} at most. One rebalance earlier its member was told v{used} by a leader "
            + ("of 2.1.0 to 2.2.1 or 2.3.0, " if released else "")
            + "which tells its own latest version to everybody; the member took it over unchecked "
            f"and died when it had to build a subscription of v{used}. The failure shows one rebalance after its "
            "cause, and on an instance with nothing wrong."
            + ("" if known else " The line of the cause is not in this log.")
            + ("" if released else f" No released Kafka Streams of v{used} leads so: a snapshot or a custom build did.")
        ),
        evidence=shown([*causes, *deaths]),
        cure=_CURE_8649,
        decides=""
        if released
        else f"No release answers v{used} to a jar of v{latest} that takes it unchecked: find out which build led the "
        "generation before.",
        scenario=_roll_of_8649(latest, used),
        source="KAFKA-8649; 2.0.0 StreamsPartitionAssignor#onAssignment, SubscriptionInfo (the constructor)",
    )


def _poisoned(lines: Lines, history: History) -> Iterator[Diagnosis]:
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
            title=f"{names_of(lives)} {'will' if sure else 'may'} die at the next rebalance",
            certainty=CERTAIN if sure else POSSIBLE,
            grave=sure is True,
            what=(
                f"Told to speak v{common} by the leader, on a jar that supports v{latest}{doubt}. "
                "It works until the next rebalance, whatever its reason; then its thread dies with "
                f"`version must be between 1 and {latest}; was: {common}`."
            ),
            evidence=shown(life.poisoned_by for life in lives if life.poisoned_by),
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


def _loops(lines: Lines, history: History) -> Iterator[Diagnosis]:
    rolling = [
        event
        for event in lines.of("set to leader's")
        if event.number("used") == event.number("common") and most_repeats(history, event) >= OFTEN
    ]
    crashes = [event for event in lines.of(*sorted(DEADLY)) if deaths_of(history, event.member, event.kind) >= 2]
    if rolling:
        first = rolling[0]
        yield Diagnosis(
            name="rebalance loop",
            title=f"{names_of(rolling)} cannot come down to the version of an old member that keeps coming back",
            certainty=CERTAIN if lines.of("poisoned") else LIKELY,
            grave=True,
            what=(
                f"Upgraded members that are told the leader's own v{first.number('common')} stay there and ask "
                "for another "
                f"rebalance, again and again, while a member that speaks v{first.number('received')} is in the group. "
                "In these rebalances nobody creates a task: the application does no work."
            ),
            evidence=shown([*rolling, *lines.of("poisoned")]),
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
            title=f"{names_of(crashes)} {does(crashes, 'is restarted and dies', 'are restarted and die')} again",
            certainty=LIKELY,
            grave=True,
            what="The same death at the same place, one process after the other: a supervisor restarts an image that "
            "cannot stay.",
            evidence=shown(crashes),
            cure="Stop the restarts; bring the member to the release of the others, or the others back to its own.",
            decides="Whether the restarts are a supervisor's: its own log.",
            scenario=Scenario(
                old="2.0.1", new="2.1.1", leader="A", order="A,B", succession="highest version", supervisor=15.0
            )
            if crashes[0].kind == "poisoned"
            else None,
        )
    else:
        again = [event for event in lines.of("downgrade", "end of upgrade") if most_repeats(history, event) >= OFTEN]
        if again:
            often = max(most_repeats(history, event) for event in again)
            yield Diagnosis(
                name="rebalance loop",
                title=f"{names_of(again)} {does(again, 'changes its', 'change their')} version again and again",
                certainty=POSSIBLE,
                grave=False,
                what=(
                    f"One process printed the same change of version {often} times. A roll "
                    "does that once a bounce at most; a group that cannot agree does it for ever."
                ),
                evidence=shown(again),
                cure="See which member joins or dies between the repetitions, and stop that first.",
                decides="The log of the group leader over the same time, or how many bounces were made meanwhile.",
            )


_ONE_STEP = (
    "One step at a time: bring the group from before 2.0 to one release of 2.0 or later with upgrade.from and two "
    "rolling bounces, and only then to a newer one."
)


def _too_old(lines: Lines, history: History) -> Iterator[Diagnosis]:
    mixed = lines.of("pre-2.0 beside future", "pre-2.0 beside future, answered")
    if not mixed:
        return
    first = mixed[0]
    future, smallest = first.number("future") or 0, first.number("smallest") or 0
    if first.kind == "pre-2.0 beside future, answered":
        yield Diagnosis(
            name="pre-2.0 member beside a future one",
            title=f"{names_of(mixed)} sent everybody an error: a member of before 2.0 and one newer than the leader",
            certainty=CERTAIN,
            grave=True,
            what=meaning(first),
            evidence=shown([*mixed, *lines.of("error assignment", "told of an error", "unreadable assignment")]),
            cure=_ONE_STEP,
            scenario=Scenario(
                old=("1.1.1", "2.8.0", "2.8.0"), leader="B", bounces=(("C", "3.0.0"),), succession="oldest"
            )
            if smallest == 2
            else None,
            source="KIP-268; 2.7.0, 3.8.0 StreamsPartitionAssignor#assign",
        )
        return
    yield Diagnosis(
        name="pre-2.0 member beside a future one",
        title=f"{names_of(mixed)} died leading: a member of before 2.0 and one that is newer than the leader",
        certainty=CERTAIN,
        grave=True,
        what=meaning(first)
        + " If a member of before 2.0 leads next, it dies too, with `unable to decode subscription data`. "
        "From 2.7.0 the leader sends everybody an error instead.",
        evidence=shown([*mixed, *lines.of("old leader cannot read")]),
        cure=_ONE_STEP,
        scenario=Scenario(old=("1.1.1", "2.0.0", "2.0.0"), leader="B", bounces=(("C", "2.3.1"),), succession="oldest")
        if (future, smallest) == (4, 2)
        else None,
        source="KIP-268; 2.0.0 StreamsPartitionAssignor#assign",
    )


def _old_readers(lines: Lines, history: History) -> Iterator[Diagnosis]:
    blind = lines.of("old leader cannot read")
    if blind and not lines.of("pre-2.0 beside future"):
        future = blind[0].number("future") or 0
        yield Diagnosis(
            name="old leader cannot read",
            title=f"{names_of(blind)} died reading a subscription of v{future}",
            certainty=CERTAIN,
            grave=True,
            what="There is no version probing before 2.0: a leader that meets a newer version dies, and so does "
            "the next "
            "old one that is elected (KAFKA-6054).",
            evidence=shown(blind),
            cure="Two rolling bounces: the new jar with upgrade.from set to the old line, then without it. Only "
            "0.10.2.2, "
            "0.11.0.3, 1.0.2, 1.1.1 and 2.0.0 to 3.9 can be started so.",
            scenario=Scenario(old="0.10.0.1", new="1.1.1", leader="A", order="C,B,A")
            if future == 2
            else Scenario(old="1.1.1", new="2.0.0", leader="A", order="C,B,A"),
            source="KAFKA-6054; 0.10.0.0, 1.1.1 SubscriptionInfo#decode",
        )
    answered = [event for event in lines.of("unreadable assignment") if event.number("latest") is None]
    errors = [event for event in answered if (event.number("received") or 0) > 2]
    answered = [event for event in answered if event not in errors]
    if errors:
        version = errors[0].number("received")
        yield Diagnosis(
            name="error assignment hides its cause",
            title=f"{names_of(errors)}, of before 2.0, died of an assignment of v{version}: an error of the leader",
            certainty=CERTAIN if lines.of("error assignment") else LIKELY,
            grave=True,
            what="A leader of 2.7.0 or later that cannot assign sends everybody an error in its own latest version; a "
            "member of before 2.0 cannot read that. The usual cause is a member of before 2.0 beside one that is newer "
            "than the leader.",
            evidence=shown([*lines.of("error assignment", "pre-2.0 beside future, answered"), *errors]),
            cure="Look at the leader's log first, and take one step at a time: " + _ONE_STEP[24:],
            decides="The leader's log at that moment.",
            source="2.7.0, 3.8.0 StreamsPartitionAssignor#errorAssignment; 1.1.1 AssignmentInfo#decode",
        )
    if answered:
        yield Diagnosis(
            name="unfixed leader answers old members",
            title=f"{names_of(answered)} died of an assignment of v{answered[0].number('received')}",
            certainty=CERTAIN,
            grave=True,
            what=meaning(answered[0])
            + " A leader of 0.10.1 to 1.1.0 without the fix of KAFKA-6054 answers everybody in v2.",
            evidence=shown([*answered, *lines.of("error assignment")]),
            cure="Use a target with the fix (0.10.2.2, 0.11.0.3, 1.0.2, 1.1.1, or 2.0 and later) and upgrade.from "
            "in the "
            "first of two rolling bounces; or stop everything and start it new.",
            scenario=Scenario(old="0.10.0.1", new="0.10.1.1", leader="A", order="A,B,C", succession="newest"),
            source="KAFKA-6054; 0.10.0.0 AssignmentInfo#decode",
        )


_LOOKS = (_killed, _poisoned, _loops, _too_old, _old_readers)
