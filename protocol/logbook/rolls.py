"""Looks at the roll itself: whether it is finished, and whether the group rebalances more than it should.

What kills members is in `diseases` and `answers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..releases import releases
from ..scenario import Scenario
from .diagnosis import LIKELY, POSSIBLE, Diagnosis, Lines, does, names_of, shown
from .events import CAUSES
from .history import History, Life
from .shapes import latest_versions, span


def _unfinished(lines: Lines, history: History) -> Iterator[Diagnosis]:
    """Members that speak less than their jar supports, at the end of the log."""
    lives = [life for life in history.now() if life.dead is None and not life.closed]
    low = [life for life in lives if _speaks_less(life)]
    if not low or lines.of("poisoned", "upgrade.from lowers"):
        return
    spoken = max(life.used or 0 for life in low)
    old = [life for life in lives if life not in low and _is_old(life, spoken)]
    cached = [life for life in low if life.cached]
    evidence = [
        *(event for event in lines.of("downgrade", "set to leader's") if event.member in {life.member for life in low}),
        *(life.cached for life in cached if life.cached),
        *lines.of("static member back", "static or not"),
    ]
    jar = min(min(latest_versions(life.possible)) for life in low)
    above = f"its jar supports v{jar}" if len(low) == 1 else "their jars support more"
    title = f"{names_of(low)} {does(low, 'speaks', 'speak')} v{spoken}, and {above}"
    source = "2.3.1, 2.4.0 StreamsPartitionAssignor#onAssignment; 3.8.0 GroupCoordinator#updateStaticMemberAndRebalance"
    if old:
        yield Diagnosis(
            name="roll is not finished",
            title=f"{title}, as long as {names_of(old)} {does(old, 'is', 'are')} in the group",
            certainty=LIKELY,
            grave=False,
            what=f"That is the middle of a rolling upgrade as it should be: everybody speaks v{spoken}, which the old "
            "members can read. When the last of them is replaced, the line with `end of rolling upgrade` comes.",
            evidence=shown(evidence),
            cure="Bounce the rest. Nothing else has to be done.",
            decides="Whether the roll is still under way: the log ends before it does.",
            source=source,
        )
        return
    what = (
        f"{'All of them' if len(low) > 1 else 'The member'} came down to v{spoken}, and the log has no line with which "
        "the group goes up again"
        f"{'' if len(lives) > 1 else '; it has this one member only'}. One of three: a member of an older release, "
        "whose lines are not here, is in the group still; or the roll goes on behind the end of this log; or no "
        "rebalance has run since, as with static members, which the broker answers from its cache: then the version "
        "goes up at the next real rebalance."
    )
    sure = bool(cached) and history.static is not False
    if sure:
        what = (
            f"The member was answered in v{spoken} and rejoined, and the broker gave it the generation that it had "
            "left, without a rebalance: the answer of a static member that comes back in time. No leader has seen the "
            f"new version. The group speaks v{spoken} until a real rebalance runs."
        )
    yield Diagnosis(
        name="roll is not finished",
        title=title,
        certainty=LIKELY if sure else POSSIBLE,
        grave=False,
        what=what,
        evidence=shown(evidence),
        cure="If all members run the new release: force one rebalance (keep one instance down for longer than "
        "session.timeout.ms, or remove a member). If not: go on with the roll.",
        decides="Whether group.instance.id is set, and whether a member of an older release is in the group: "
        "`kafka-consumer-groups --describe --members` and its host's log."
        + (" This log has group.instance.id set." if history.static else "")
        + (" This log has group.instance.id = null: not static, as far as it goes." if history.static is False else ""),
        scenario=_static_roll(low[0], spoken) if history.static is not False else None,
        source=source,
    )


def _speaks_less(life: Life) -> bool:
    if life.used is None or life.upgrade_from or life.poisoned is not False:
        return False
    came_down = any(key[0] in ("downgrade", "set to leader's") for key in life.repeats)
    return came_down and bool(life.possible) and all(version > life.used for version in latest_versions(life.possible))


def _is_old(life: Life, spoken: int) -> bool:
    return bool(life.possible) and all(version <= spoken for version in latest_versions(life.possible))


def _static_roll(life: Life, spoken: int) -> Scenario | None:
    """Static members of an older release that are rolled to this one and stay on the old version."""
    if life.possible & ~span("2.4.0", "2.5.1"):
        return None  # later members ask for a rebalance that the broker cannot answer from its cache
    modern = span("2.3.1")
    rows = [row for i, row in enumerate(releases()) if modern >> i & 1 and row.released]
    old = [row.name for row in rows if row.latest == spoken]
    new = [row.name for i, row in enumerate(releases()) if life.possible >> i & 1 and row.released]
    return Scenario(old=old[-1], new=new[0], static=True) if old and new and old[-1] != new[0] else None


_MANY, _MINUTES = 10, 5.0
"""So many generations in so many minutes are more than a roll of a small group makes."""


def _many(lines: Lines, history: History) -> Iterator[Diagnosis]:
    times = sorted(at for at in history.joins.values() if at is not None)
    often = [
        (times[i + _MANY - 1] - times[i], i)
        for i in range(len(times) - _MANY + 1)
        if times[i + _MANY - 1] - times[i] < _MINUTES * 60
    ]
    if not often:
        return
    reasons: Counter[str] = Counter()
    for one in (*lines.by_kind.get("asks to join", ()), *lines.by_kind.get("broker rebalances", ())):
        reasons[one.event.word("reason").split(";")[0].rstrip(").")[:80]] += one.times
    most = "; ".join(f"{words} ({count} times)" for words, count in reasons.most_common(3) if words)
    change = lines.of("downgrade", "end of upgrade", "set to leader's")
    yield Diagnosis(
        name="many rebalances",
        title=f"{len(history.joins)} generations, {_MANY} of them within {max(1, round(min(often)[0]))} seconds",
        certainty=POSSIBLE,
        grave=False,
        what="A bounce makes two or three generations. "
        + (f"The reasons that are given: {most}. " if most else "No line here gives the reason. ")
        + (
            "A version changed in this time, so part of it may be a roll."
            if change
            else "No version changes in this log: it is not version probing."
        ),
        evidence=shown([*lines.of("asks to join", "lost its place", "leaves the group"), *lines.of("joined")]),
        cure="Find who comes and goes: the broker's log names each member and reason. With many tasks on 2.4 to 3.3 a "
        "follow-up may break off the rebalance before it (KAFKA-14382, repaired in 3.4.0).",
        decides="The coordinator's log over the same time (`Preparing to rebalance`), and how many instances were "
        "bounced meanwhile.",
        source="KAFKA-14382; 3.9.0 ConsumerCoordinator#requestRejoin",
    )


def _unknown_death(lines: Lines, history: History) -> Iterator[Diagnosis]:
    ends = lines.of("dies", "all threads died")
    if not ends or any(life.dead is not None and life.dead.kind != "dies" for life in history.all()):
        return
    if any(kind in CAUSES for kind in lines.by_kind):
        return
    yield Diagnosis(
        name="unknown death",
        title=f"{names_of(ends)} {does(ends, 'ends', 'end')} with an exception that is not known here",
        certainty=LIKELY,
        grave=True,
        what="A stream thread ended, and no line around it is one of version probing or of a cause that is known here. "
        "So it is probably the application's own.",
        evidence=shown(ends),
        cure="Read the exception behind that line.",
        decides="The exception itself; if its text speaks of versions, subscriptions or assignments, report it.",
        source="3.9.0 StreamThread#run",
    )


LOOKS = (_unfinished, _many, _unknown_death)
"""Every look of this room, in the order in which they are told."""
