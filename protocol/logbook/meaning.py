"""What a line means to the engineer who reads it, one or two sentences for each kind.

Which kind a line is, is in `events`; what follows from several lines is in `diseases`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from .events import Event
from .shapes import latest_versions, told


def meaning(event: Event) -> str:
    """What the line means, there where it was printed."""
    telling = _TELLING.get(event.kind)
    text = telling(event) if telling else ""
    if event.elsewhere:
        text += f" The release that was named does not print this; {event.printed_by} does."
    elif not event.fits:
        text += " No release that is known here prints these numbers: a custom build, a test, or a later release."
    return text.strip()


def poisons(event: Event) -> bool | None:
    """Whether this answer told its member a version that its jar cannot speak; None if the log does not decide."""
    common = event.number("common")
    if event.kind not in ("upgrade in silence", "set to leader's") or common is None:
        return False
    latest = latest_versions(event.possible)
    if all(one < common for one in latest):
        return True
    return False if all(one >= common for one in latest) else None


def _downgrade(event: Event) -> str:
    used, received, common = event.number("used"), event.number("received"), event.number("common")
    if common is not None and common == used:
        return (
            f"No downgrade happened, whatever the line says: the member sent v{used} and goes on with v{used}. It was "
            f"the last one to be upgraded: the group's assignment was still encoded at v{received}, and everybody "
            f"supports v{common} now. One more rebalance follows."
        )
    goes = received if common is None else common
    return (
        f"Version probing: the member's jar speaks v{used}, and the group speaks v{received}. It speaks v{goes} from "
        "now on, keeps its jar, and rejoins. It says so whether or not a leader really probed."
    )


def _set_to_leaders(event: Event) -> str:
    used, received, common = event.number("used"), event.number("received"), event.number("common")
    if used == common:
        text = (
            f"The member sent v{used}, was answered in v{received} by a leader that supports v{common}, and goes on "
            f"with v{used}: its version does not change. It asks for another rebalance."
        )
        return text + " Where that comes again and again, an old member keeps coming back under an upgraded leader."
    text = f"The member sent v{used}, was answered in v{received}, and takes the leader's own v{common}"
    return text + (" that its jar cannot speak." if poisons(event) else ".")


def _silent(event: Event) -> str:
    used, common = event.number("used"), event.number("common")
    known = poisons(event)
    text = (
        f"The member spoke v{used} and will speak the leader's v{common} at the next rebalance; nobody joins for that."
    )
    if known:
        return (
            f"{text} Its jar supports v{latest_versions(event.possible)[-1]} at most: nothing fails yet, and the next "
            "rebalance, whatever its reason, kills the thread (KAFKA-8649)."
        )
    if known is None:
        able = [version for version in latest_versions(event.possible) if version >= (common or 0)]
        return (
            f"{text} On a jar that supports v{able[0] if able else common} that is the end of the upgrade; on an older "
            "one it is poison, and the next rebalance kills the thread (KAFKA-8649). The release decides."
        )
    return f"{text} Its jar supports v{common}: this is the end of the upgrade."


def _unreadable(event: Event) -> str:
    future = event.number("future")
    second = event.number("supported")
    own = event.number("latest")
    if own is not None:
        number = f"{own} is what this leader supports"
        if event.other:
            number += " if it is older than 2.2.2 or 2.3.1, else what the sender supports"
    else:
        number = f"{second} is what the sender supports"
    return (
        f"The normal path of version probing, not an error: the group leader read a subscription of v{future}, which "
        f"is newer than its jar; {number}. It sees the two numbers only; empty tasks and ids do not mean that the "
        "sender lost its state."
    )


def _empty(event: Event) -> str:
    future, latest = event.number("future"), event.number("latest")
    return (
        f"A true probe: the leader supports v{latest}, and a member sent v{future}. The newcomer gets an empty "
        "assignment and rejoins; the others keep what they had, so the tasks of the bounced member are nobody's for "
        "this one generation."
    )


def _real(event: Event) -> str:
    future = event.number("future")
    return (
        f"A true probe: the leader cannot read v{future}. Since 2.4.0 the newcomer gets tasks all the same, in a "
        "version "
        "that it understands, and rejoins."
    )


def _unreadable_assignment(event: Event) -> str:
    received = event.number("received")
    latest = event.number("latest")
    if latest is None:
        return (
            f"This member, of a release before 2.0, was answered in v{received}, which it cannot read: it dies. "
            "The leader is newer and answers in its own version."
        )
    text = f"The assignment came in v{received}, the jar supports v{latest}: the thread dies. "
    return text + (
        "Look at the leader's log first: an error assignment is always encoded in the leader's own version, so a "
        "missing source topic or any failed assignment shows itself like this on older members. The other way here "
        "is a static member that was rolled back and is served its cached assignment."
        if received and received > latest
        else "No Kafka leader sends that version: another program, or damaged bytes."
    )


def _when(event: Event) -> str:
    """The moment that a line names, as a date."""
    text = event.word("when")
    if text.endswith(" ms"):
        try:
            at = datetime.fromtimestamp(int(text[:-3]) / 1000, tz=UTC)
        except (ValueError, OverflowError, OSError):
            return text
        return f"{at:%d %b %Y %H:%M:%S} UTC"
    return text


def _warm_up(event: Event) -> str:
    return (
        f"A probing rebalance of KIP-441, due {_when(event)}: a check whether warm-up replicas have caught up. It "
        "comes "
        "back every probing.rebalance.interval.ms until they have. It has nothing to do with version probing."
    )


def _followup(event: Event) -> str:
    when = event.word("when")
    if when.startswith(("0 ms", "1970-01-01", "1969-12-31")):
        return (
            "The thread asks for the rebalance that its last assignment called for at once: a new version, tasks that "
            "were withheld, or a new end point. The line before it says which."
        )
    return (
        f"The thread begins a rebalance that was due {_when(event)}: a warm-up check of KIP-441, not version probing."
    )


def _poisoned(event: Event) -> str:
    latest, used = event.number("latest"), event.number("used")
    return (
        f"The thread dies: it was told to speak v{used}, and its jar supports v{latest}. The cause lies one rebalance "
        f"back, when an upgraded leader told it v{used} (KAFKA-8649); nothing is wrong with this instance."
    )


def _joined(event: Event) -> str:
    protocol = event.word("protocol")
    text = f"The member is in generation {event.number('generation')}."
    if protocol and protocol not in ("stream", "null"):
        text += (
            f" Its protocol is {protocol!r}, not 'stream': this is no Kafka Streams group, and version probing does "
            "not apply to it."
        )
    return text


_REASONS = (
    ("already rebalancing", "somebody else began a rebalance, and it follows"),
    ("given member-id", "the second half of every first join; harmless"),
    ("valid member id", "the second half of every first join; harmless"),
    ("MemberIdRequired", "the second half of every first join; harmless"),
    ("need to revoke", "cooperative: it gave partitions up, and they go to their new owner in one more rebalance"),
    (
        "triggered followup",
        "the follow-up that its last assignment asked for: a version, withheld tasks, a warm-up check",
    ),
    ("Shutdown requested", "the whole application was asked to stop, and everybody must hear of it"),
    ("corrupted", "an active task was found corrupted"),
    ("cached metadata has changed", "topics or partitions changed while the leader assigned"),
    ("subscribed topics", "topics or partitions changed"),
    ("does not match the current subscription", "its subscription changed meanwhile"),
    ("offset commit failed", "somebody else began a rebalance, and it follows"),
    ("rebalance failed", "the rebalance was broken off and is tried again"),
)


def _asks_to_join(event: Event) -> str:
    reason = event.word("reason")
    why = next((text for words, text in _REASONS if words in reason), "")
    return f"Why it joins again: {why}." if why else "It joins again, for the reason that the line says."


def _broker_rebalances(event: Event) -> str:
    reason = event.word("reason")
    return f"The broker prepares a rebalance after generation {event.number('generation')}" + (
        f": {reason.rstrip(')')}." if reason else "."
    )


_TELLING: dict[str, Callable[[Event], str]] = {
    "unreadable subscription": _unreadable,
    "old leader cannot read": lambda event: (
        f"A group leader of a release before 2.0 read a subscription of v{event.number('future')} and dies of it; so "
        "will the next old leader, until none is left. The newer member must speak the old version first: "
        "upgrade.from, and two rolling bounces."
    ),
    "future member, empty answer": _empty,
    "future member, real answer": _real,
    "smallest used": lambda event: (
        f"The leader supports v{event.number('latest')} and answers everybody in v{event.number('smallest')}, the "
        "smallest version that anybody sent."
    ),
    "smallest supported": lambda event: (
        "A member before 2.0, or one that upgrade.from holds there, is in the group: it does not say what it supports, "
        "and -1 stands for that."
        if event.number("supported") == -1
        else f"Somebody in the group supports v{event.number('supported')} at most; the leader tells everybody that."
    ),
    "pre-2.0 beside future": lambda event: (
        f"The leader found a member of v{event.number('smallest')} (before 2.0) and one of v{event.number('future')}, "
        "newer than itself, in one group. It can serve no two such members, and its thread dies; so will the next "
        "leader, as long as both are there."
    ),
    "pre-2.0 beside future, answered": lambda event: (
        f"The leader found a member of v{event.number('smallest')} (before 2.0) and one of v{event.number('future')}, "
        "newer than itself, in one group. It can serve no two such members: since 2.7.0 it lives on and sends "
        "everybody an error in its own version, at which all threads end; those of before 2.0 because they cannot read "
        "it."
    ),
    "smallest so far": lambda event: (
        f"The leader reads the subscriptions one by one; here is a member that supports v{event.number('supported')} "
        "at most (-1 for one of before 2.0, which does not say it)."
    ),
    "warm-up planned": lambda event: (
        f"The leader asks for a probing rebalance of KIP-441, due {_when(event)}: warm-up replicas have to catch up. "
        "It has nothing to do with version probing."
    ),
    "cut answer": lambda event: (
        f"The member sent v{event.number('used')} and was answered in v{event.number('received')}. The line is cut: "
        "its end says which version it speaks from now on."
    ),
    "error assignment": lambda event: (
        "The leader could not assign and sends everybody an error, encoded in its own latest version. Members that "
        "cannot read that version report an undecodable assignment instead of the real cause, which is in this log, "
        "just before this line."
    ),
    "stable assignment": lambda event: "The leader's assignment needs no other rebalance.",
    "unstable assignment": lambda event: (
        "Another rebalance will follow: for a version, for withheld tasks, or for warm-up replicas."
    ),
    "task withheld": lambda event: "Cooperative: a task moves only after its owner gave it up; one more rebalance.",
    "followup for withheld tasks": lambda event: "The member that waits for the withheld tasks will rejoin at once.",
    "leads": lambda event: "Only the group leader prints this.",
    "downgrade": _downgrade,
    "set to leader's": _set_to_leaders,
    "upgrade in silence": _silent,
    "end of upgrade": lambda event: (
        f"Everybody in the group supports v{event.number('common')} now: the member goes from v{event.number('used')} "
        f"to v{event.number('common')} and rejoins. Members that were upgraded earlier print this, not the last one."
    ),
    "three versions": lambda event: "A build of the proposal (pull request 7413) met three versions in one group.",
    "not the leader's version": lambda event: "A build of the proposal (pull request 7413): the thread dies.",
    "higher than sent": lambda event: (
        f"The member sent v{event.number('used')} and was answered in v{event.number('received')}; no released leader "
        "does that. The thread dies."
    ),
    "cannot upgrade": lambda event: (
        "The leader told a version that this jar cannot speak, and the jar noticed: the thread dies at once. Only "
        "builds between the fixes of KAFKA-8649 and KAFKA-9053 (October 2019), or an unfixed leader of 2.1.0 to "
        "2.3.0 beside an older fixed member, send that; look for a custom build."
    ),
    "poisoned": _poisoned,
    "unreadable assignment": _unreadable_assignment,
    "rejoins for its version": lambda event: "The member rejoins at once, with the version that it was told.",
    "rejoins for withheld tasks": lambda event: (
        "Cooperative rebalancing: the tasks that it waits for are revoked elsewhere first. Not version probing."
    ),
    "warm-up check": _warm_up,
    "no followup": lambda event: "The assignment asks for no other rebalance.",
    "rejoins to probe": lambda event: (
        "The thread leaves the group and joins again under a new id, with the version that it was told."
    ),
    "followup begins": _followup,
    "upgrade.from lowers": lambda event: (
        f"upgrade.from={event.word('value')} makes this jar of v{event.number('latest')} speak "
        f"v{event.number('used')}, and with it the whole group, until it is restarted without the setting: the second "
        "rolling bounce."
    ),
    "upgrade.from rejected": lambda event: (
        f"The release does not take upgrade.from={event.word('value')}: the thread does not start."
        + (
            " StreamsConfig of 3.5.0 and 3.5.1 accepts 3.4, and their assignor does not; 3.5.2 and 3.6.0 do."
            if event.word("value") == "3.4" and "Unknown configuration" in event.text
            else ""
        )
    ),
    "starts eager": lambda event: (
        f"upgrade.from={event.word('value')} keeps this member EAGER; its version stays what its jar supports, "
        "unless the value is 1.1 or older."
    ),
    "starts cooperative": lambda event: "A process starts, COOPERATIVE: its partitions stay with it in a rebalance.",
    "eager is deprecated": lambda event: "upgrade.from is still set: take it out in the second rolling bounce.",
    "missing topic": lambda event: "A source topic is missing: the threads stop. Not version probing.",
    "code of probing": lambda event: "A marker of releases before 2.6; harmless.",
    "told of an error": lambda event: "The leader could not assign; the real cause is in the leader's log.",
    "told to shut down": lambda event: (
        "A member asked the whole application to stop, and it does. Not version probing."
    ),
    "unknown error code": lambda event: f"Error code {event.number('code')} of a newer leader: the thread dies.",
    "all threads died": lambda event: "No stream thread of this client is left; the cause is in the lines before.",
    "thread replaced": lambda event: (
        "The exception handler puts a new thread in the place of the dead one: a new member joins. Where that dies of "
        "the same, the group rebalances for ever."
    ),
    "lost its place": lambda event: (
        "The group went on without this member: it missed a rebalance or its heartbeats, gives up its tasks and joins "
        "anew. Not version probing."
    ),
    "broker removes": lambda event: (
        f"The broker gave {event.word('member') or 'members'} up: no heartbeat for session.timeout.ms, or no rejoin in "
        "time. After a bounce that is the ghost of the old process; a rebalance waits for it."
    ),
    "asks to join": _asks_to_join,
    "leaves the group": lambda event: (
        "The member leaves"
        + (f": {event.word('reason').rstrip('.')}." if event.word("reason") else ".")
        + (
            " In 2.0 to 2.5 that is how version probing rejoins."
            if "unsubscribed" in event.word("reason") or not event.word("reason")
            else ""
        )
    ),
    "upgrade.from is set": lambda event: (
        "upgrade.from is not set."
        if event.word("value") == "null"
        else f"upgrade.from is {event.word('value')}: right in the first of two bounces, and to be gone after it."
    ),
    "static or not": lambda event: (
        "No group.instance.id: a dynamic member, or one of the consumers beside the main one."
        if event.word("member") == "null"
        else "Static membership: who comes back in time gets its cached assignment, without a rebalance."
    ),
    "mispaired tasks": lambda event: (
        f"The leader sent {event.number('partitions')} partitions and {event.number('tasks')} task ids, and the thread "
        "dies. In 2.0.0 to 2.2.1 and 2.3.0 a leader that probes pairs them wrongly where a subtopology has several "
        "source topics or an instance several threads."
    ),
    "foreign bytes": lambda event: (
        "No released Kafka Streams sends this: a custom build, another program in the group, or damaged bytes."
    ),
    "version": lambda event: f"This process runs Kafka {event.word('release')}.",
    "joined": _joined,
    "closes": lambda event: "The process is closed in an orderly way.",
    "poll timeout": lambda event: (
        "The thread did not poll for max.poll.interval.ms and is put out. Not version probing."
    ),
    "dies": lambda event: "A stream thread ends with the exception that follows.",
    "asks to shut down": lambda event: "This client was told to stop, or asks the others to.",
    "below version probing": lambda event: (
        f"The group still speaks v{event.number('received')}, below version probing; during an upgrade from a release "
        "before 2.0, or while upgrade.from is set, that is normal."
    ),
    "skips tasks": lambda event: (
        "The member probes: it creates no task of this assignment and pauses its partitions until the next rebalance."
        if event.number("code") == 2
        else f"Error code {event.number('code')} in the assignment: no task is created."
    ),
    "new end point": lambda event: (
        "The member's application.server changed and the group must hear of it: one rebalance. Not version probing."
    ),
    "broker rebalances": _broker_rebalances,
    "broker rebalanced": lambda event: f"All members are in generation {event.number('generation')}.",
    "broker assigned": lambda event: f"The leader's assignment of generation {event.number('generation')} arrived.",
    "static member back": lambda event: (
        "A static member came back in time and gets its cached assignment, without a rebalance."
    ),
}


def printed_by(event: Event) -> str:
    """Which releases could have printed the line, and what else its last number could be."""
    if event.other:
        parts = ", ".join(f"{name} in {told(chosen)}" for name, chosen in event.other)
        return f"{event.printed_by} (the last number is: {parts})"
    return event.printed_by
