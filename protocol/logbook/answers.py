"""Looks for answers of a leader that a member cannot use: not decodable, too high, wrongly paired, foreign.

What a leader's answer poisons without a word is in `diseases`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..releases import releases
from ..scenario import Scenario
from .diagnosis import CERTAIN, LIKELY, POSSIBLE, Diagnosis, Lines, deaths_of, does, names_of, shown
from .history import History
from .meaning import meaning
from .shapes import span


def _undecodable(lines: Lines, history: History) -> Iterator[Diagnosis]:
    blind = [event for event in lines.of("unreadable assignment") if event.number("latest") is not None]
    if not blind:
        return
    first = blind[0]
    received, latest = first.number("received") or 0, first.number("latest") or 0
    seen = f"Members whose jar supports v{latest} were answered in v{received} and died of it."
    errors = lines.of("error assignment", "told of an error", "missing topic")
    static = lines.of("static member back")
    evidence = shown([*errors, *static, *blind])
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
            title=f"{names_of(blind)} reported an undecodable assignment; the real error is the leader's",
            certainty=CERTAIN,
            what=f"{seen} {hidden}",
            cure=look,
            evidence=evidence,
            grave=True,
            source=source,
        )
        return
    repeated = any(deaths_of(history, event.member, event.kind) >= 2 for event in blind)
    if static or repeated:
        yield Diagnosis(
            name="cached assignment of a static member",
            title=f"{names_of(blind)} {does(blind, 'was', 'were')} rolled back and served the cached assignment "
            "of a newer self",
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
        title=f"{names_of(blind)} could not read its assignment: v{received} on a jar of v{latest}",
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
    return Scenario(old=new[0], new=old[0], static=True, bounces=(("C", old[0]),))


def _second_int(lines: Lines, history: History) -> Iterator[Diagnosis]:
    told = lines.of("cannot upgrade")
    if told:
        yield Diagnosis(
            name="unfixed second int",
            title=f"{names_of(told)} refused a version that its jar cannot speak",
            certainty=CERTAIN,
            grave=True,
            what=meaning(told[0]),
            evidence=shown(told),
            cure="Find the leader's build: replace it by a release (2.2.2, 2.3.1, 2.4.0 or later).",
            scenario=Scenario(old="2.3.1", new="c310bf37670", leader="A", order="A,B,C", succession="newest"),
            source="KAFKA-9053; 2.3.1 StreamsPartitionAssignor#validateMetadataVersions",
        )
    higher = lines.of("higher than sent", "three versions", "not the leader's version")
    if higher:
        yield Diagnosis(
            name="unfixed second int",
            title=f"{names_of(higher)} was answered as no released leader answers",
            certainty=LIKELY,
            grave=True,
            what=meaning(higher[0]),
            evidence=shown(higher),
            cure="Find the leader's build and replace it by a release.",
            decides="The `Kafka version` line of the instance that led.",
            source="2.3.1 StreamsPartitionAssignor#validateMetadataVersions; pull request 7413",
        )


_UNFIXED = span("2.0.0", "2.2.1") | span("2.3.0", "2.3.0")


def _told_of_an_error(lines: Lines, history: History) -> Iterator[Diagnosis]:
    told = lines.of("told of an error", "error assignment", "unknown error code")
    if not told or lines.of("pre-2.0 beside future, answered") or lines.of("unreadable assignment"):
        return
    leader = lines.of("error assignment")
    yield Diagnosis(
        name="error assignment hides its cause",
        title=f"{names_of(leader)} could not assign and sent everybody an error"
        if leader
        else f"{names_of(told)} {does(told, 'was', 'were')} told that the leader could not assign",
        certainty=LIKELY,
        grave=True,
        what="The leader caught an exception while it assigned, and answered everybody with an error code, at which "
        "each thread ends. The code does not say what went wrong."
        + (" It stands behind the leader's line." if leader else " That stands in the leader's log only."),
        evidence=shown([*leader, *told]),
        cure="Look for `Caught an error in the task assignment` in the logs of all instances, repair what stands "
        "behind it, and restart the threads that ended.",
        decides="The exception behind the leader's line"
        + ("." if leader else ", in the log of the instance that led at that moment."),
        source="2.7.0, 3.8.0 StreamsPartitionAssignor#assign, StreamsRebalanceListener#onPartitionsAssigned",
    )


def _mispaired(lines: Lines, history: History) -> Iterator[Diagnosis]:
    found = lines.of("mispaired tasks")
    if not found:
        return
    probing = lines.of("future member, empty answer", "downgrade")
    known = all(not life.possible & ~_UNFIXED for life in history.now() if life.member in {e.member for e in found})
    yield Diagnosis(
        name="mispaired tasks",
        title=f"{names_of(found)} got more or fewer task ids than partitions, and died",
        certainty=LIKELY if probing or known else POSSIBLE,
        grave=True,
        what="While it probes, a leader of 2.0.0 to 2.2.1 or 2.3.0 hands each consumer the former tasks of its whole "
        "instance, one id a task. Where a subtopology reads several topics, ids and partitions do not match, and the "
        "member dies; where an instance has several threads, each gets the tasks of all.",
        evidence=shown([*probing, *found]),
        cure="Upgrade over 2.2.2, 2.3.1 or later as the leader, or stop all members and start them new.",
        decides="Whether the leader was of 2.0.0 to 2.2.1 or 2.3.0 and probed at that moment: `Sending empty "
        "assignment back` in its log. If not, the topology of the members differs.",
        source="2.0.0, 2.3.0 StreamsPartitionAssignor#versionProbingAssignment",
    )


def _foreign_bytes(lines: Lines, history: History) -> Iterator[Diagnosis]:
    found = [
        *lines.of("foreign bytes"),
        *(event for event in lines.of("poisoned") if (event.number("used") or 0) < 1),
        *(event for event in lines.of("unreadable assignment") if (event.number("received") or 0) < 1),
    ]
    if found:
        yield Diagnosis(
            name="foreign bytes",
            title=f"{names_of(found)} met bytes that no released Kafka Streams writes",
            certainty=LIKELY,
            grave=True,
            what="A version of 0 or less, one above the sender's own, or bytes that end too early: a custom build, a "
            "client that speaks the protocol `stream` itself, or damaged bytes. Version probing does not reach there.",
            evidence=shown(found),
            cure="Find who else is in the group: compare its members with the instances that you know.",
            decides="The bytes themselves: `kafka-console-consumer` on __consumer_offsets, then "
            "`python -m protocol decode`.",
            source="2.4.0, 2.5.0, 3.9.0 SubscriptionInfo#decode, AssignmentInfo#decode",
        )


LOOKS = (_undecodable, _told_of_an_error, _second_int, _mispaired, _foreign_bytes)
"""Every look of this room, in the order in which they are told."""
