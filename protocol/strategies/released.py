"""The rules that were written in Java, released or proposed, and the strategies that are made of them.

Rules of a reader's own are in `own`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from ..versions import EARLIEST_PROBEABLE, UNKNOWN
from .signatures import LeaderRule, MemberRule, Reaction, Refusal, Strategy, Verdict

_Row = TypeVar("_Row", LeaderRule, MemberRule, Strategy)


# What leaders do.


def survey(said: Sequence[tuple[int, int]], latest: int) -> tuple[int, int, int, int]:
    """Smallest used and smallest supported of the readable members; smallest supported of all; the version ahead."""
    lowest = common = common_of_all = latest
    future = UNKNOWN
    for used, supported in said:
        if supported < common_of_all:
            common_of_all = supported
        if used > latest:
            future = used
            continue
        if used < lowest:
            lowest = used
        if supported < common:
            common = supported
    return lowest, common, common_of_all, future


def _alike(said: Sequence[tuple[int, int]], lowest: int, second: int, common: int, future: int) -> Verdict:
    """Everybody in the smallest used version, with the same second int; v1 and v2 carry none."""
    if lowest < EARLIEST_PROBEABLE:
        if future != UNKNOWN:
            return too_old(lowest, common, future)
        second = UNKNOWN
    return Verdict(((lowest, second),) * len(said), future != UNKNOWN, None, lowest, common, future)


def too_old(lowest: int, common: int, future: int) -> Verdict:
    """Nobody is answered: who is ahead of the leader cannot be told to go down to v1 or v2."""
    return Verdict((), True, Refusal("too old to probe", future, lowest), lowest, common, future)


def _cannot_read(lowest: int, latest: int, future: int) -> Verdict:
    return Verdict((), False, Refusal("cannot read the subscription", future, lowest), lowest, latest, future)


def _own_version(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer everybody in the leader's own latest version."""
    lowest, _, _, future = survey(said, latest)
    if future != UNKNOWN:
        return _cannot_read(lowest, latest, future)
    return _alike(said, latest, latest, latest, UNKNOWN)


def _smallest_used(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer everybody in the smallest version that anybody used."""
    lowest, _, _, future = survey(said, latest)
    if future != UNKNOWN:
        return _cannot_read(lowest, latest, future)
    return _alike(said, lowest, latest, latest, UNKNOWN)


def _leaders_version(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer in the smallest used version, and tell the leader's own latest as if all could speak it."""
    lowest, _, _, future = survey(said, latest)
    verdict = _alike(said, lowest, latest, latest, future)
    if future == UNKNOWN or verdict.refusal is not None:
        return verdict
    ahead, known = (latest, latest), (lowest, latest)
    return verdict._replace(replies=tuple([ahead if used > latest else known for used, _ in said]))


def _not_yet_encoded(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Find the smallest supported version, and put the leader's own latest on the wire all the same."""
    lowest, common, _, future = survey(said, latest)
    return _alike(said, lowest, latest, common, future)


def _smallest_supported(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer in the smallest used version, and tell the smallest version that the readable members support."""
    lowest, common, _, future = survey(said, latest)
    return _alike(said, lowest, common, common, future)


def _smallest_supported_of_all(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """As `smallest supported`, but count those ahead of the leader too."""
    lowest, _, common, future = survey(said, latest)
    return _alike(said, lowest, common, common, future)


def _each_its_own(said: Sequence[tuple[int, int]], latest: int, threshold: int) -> Verdict:
    """Each member in its own version, one who is ahead in the leader's; the second int is the leader's latest.

    The exception: all get the version that all support, where somebody uses less and it reaches the threshold.
    """
    lowest, common, _, future = survey(said, latest)
    if future == UNKNOWN:
        if lowest < common and common >= threshold:
            everybody = (common, latest if common >= EARLIEST_PROBEABLE else UNKNOWN)
            return Verdict((everybody,) * len(said), False, None, lowest, common, UNKNOWN)
    elif lowest < EARLIEST_PROBEABLE:
        return too_old(lowest, common, future)
    versions = [latest if used > latest else used for used, _ in said]
    replies = tuple([(version, latest if version >= EARLIEST_PROBEABLE else UNKNOWN) for version in versions])
    return Verdict(replies, future != UNKNOWN, None, lowest, common, future)


def _mirror(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """The leader of the proposal's text.

    An assignment goes back "using the same version as the corresponding subscription", except when all
    support the latest version and some still use an older one: then all get the latest.

    The text leaves three things open, and the plainest reading decides. "The latest version" is the
    leader's own latest. The exception waits while anybody is ahead of the leader, for then the roll goes
    on. The second int stays the leader's own latest: to put the smallest supported version there is what
    the text calls another proposal.
    """
    return _each_its_own(said, latest, latest)


def _proposal(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """The leader of the proposal's code: for the exception it is enough that all support more than somebody uses."""
    return _each_its_own(said, latest, UNKNOWN)


# What members do. A version above a member's own latest cannot be read, whatever the rule.


def _no_check(*, latest: int, used: int, received: int, common: int) -> Reaction:
    """Take what comes; the version that it sends never changes."""
    if received > latest:
        return Reaction(used, False, "cannot read the assignment", "")
    return Reaction(used, False, None, "no check")


def _trust_the_leader(*, latest: int, used: int, received: int, common: int) -> Reaction:
    """Take the second int for a version to speak from now on, without a look at what the jar supports."""
    if received > latest:
        return Reaction(used, False, "cannot read the assignment", "")
    if received > used:
        return Reaction(used, False, "higher than sent", "")
    if received < EARLIEST_PROBEABLE:
        return Reaction(used, False, None, "same version" if received == used else "before probing")
    if received < used:
        if received == common:
            return Reaction(received, True, None, "downgrade to received")
        return Reaction(common, True, None, "set to leader's")
    if common > used:
        return Reaction(common, False, None, "upgrade in silence")
    return Reaction(used, False, None, "same version")


def _checked(*, latest: int, used: int, received: int, common: int) -> Reaction:
    """Follow the commonly supported version both ways, and refuse one that the jar does not support."""
    if received > latest:
        return Reaction(used, False, "cannot read the assignment", "")
    if received > used:
        return Reaction(used, False, "higher than sent", "")
    if common > latest:
        return Reaction(used, False, "cannot upgrade", "")
    if received < EARLIEST_PROBEABLE:
        return Reaction(used, False, None, "same version" if received == used else "before probing")
    if common > used:
        return Reaction(common, True, None, "upgrade to common")
    if received < used:
        return Reaction(common, True, None, "downgrade to common")
    return Reaction(used, False, None, "same version")


def _follow(*, latest: int, used: int, received: int, common: int) -> Reaction:
    """The member of the proposal's text: upgrade or downgrade to the version received, and rejoin.

    The text says "upgrade your subscription version" and not to what: to the version received, for the
    leader sends it only when all support it. It says nothing of the second int, so nobody reads it. Below
    v3 there is no probing to speak of, so a lower version changes nothing there, as in every release.
    """
    if received > latest:
        return Reaction(used, False, "cannot read the assignment", "")
    if received > used:
        return Reaction(received, True, None, "upgrade to received")
    if received == used:
        return Reaction(used, False, None, "same version")
    if received < EARLIEST_PROBEABLE:
        return Reaction(used, False, None, "before probing")
    return Reaction(received, True, None, "downgrade to received")


def _follow_the_leaders_latest(*, latest: int, used: int, received: int, common: int) -> Reaction:
    """The member of the proposal's code: whichever way the version moved, go to the second int."""
    if received > latest:
        return Reaction(used, False, "cannot read the assignment", "")
    if received > used:
        return Reaction(common, True, None, "upgrade to leader's" if received == common else "three versions")
    if received == used:
        return Reaction(used, False, None, "same version")
    if received < EARLIEST_PROBEABLE:
        return Reaction(used, False, None, "before probing")
    if received == common:
        return Reaction(common, True, None, "downgrade to received")
    return Reaction(used, False, "not the leader's version", "")


def _by_name(*rows: _Row) -> Mapping[str, _Row]:
    return MappingProxyType({row.name: row for row in rows})


LEADER_RULES: Mapping[str, LeaderRule] = _by_name(
    LeaderRule("own version", "the leader's own version", _own_version, "1.1.0 StreamPartitionAssignor#assign"),
    LeaderRule("smallest used", "the smallest used version", _smallest_used, "1.1.1 StreamPartitionAssignor#assign"),
    LeaderRule(
        "leader's version",
        "the smallest used version, and with it the leader's own latest",
        _leaders_version,
        "2.3.0 StreamsPartitionAssignor#assign, AssignmentInfo#encode",
    ),
    LeaderRule(
        "smallest supported, not yet encoded",
        "the smallest used version, and with it the leader's own latest, by mistake",
        _not_yet_encoded,
        "2.3.1-rc1 StreamsPartitionAssignor#assign, AssignmentInfo#encode",
    ),
    LeaderRule(
        "smallest supported",
        "the smallest used version, and with it the smallest that the readable members support",
        _smallest_supported,
        "2.3.1 StreamsPartitionAssignor#assign",
    ),
    LeaderRule(
        "smallest supported of all",
        "the smallest used version, and with it the smallest that all members support",
        _smallest_supported_of_all,
        "2.4.0 StreamsPartitionAssignor#assign",
    ),
    LeaderRule(
        "mirror",
        "each member's own version, or the latest once all support it",
        _mirror,
        "KAFKA-8649, PR 7413 (the text)",
    ),
    LeaderRule(
        "proposal",
        "each member's own version, or what all support once that is more",
        _proposal,
        "c310bf37670 StreamsPartitionAssignor#assign",
    ),
)
"""What a leader answers, by the rule's name."""

MEMBER_RULES: Mapping[str, MemberRule] = _by_name(
    MemberRule("no check", "takes what it can read", _no_check, "1.1.1 StreamPartitionAssignor#onAssignment"),
    MemberRule(
        "leader's version",
        "speaks from now on what the leader supports",
        _trust_the_leader,
        "2.3.0 StreamsPartitionAssignor#onAssignment",
    ),
    MemberRule(
        "smallest supported",
        "speaks from now on what all support, if its jar does",
        _checked,
        "3.9.0 StreamsPartitionAssignor#validateMetadataVersions, #maybeUpdateSubscriptionVersion",
    ),
    MemberRule("mirror", "speaks from now on the version it received", _follow, "KAFKA-8649, PR 7413 (the text)"),
    MemberRule(
        "proposal",
        "speaks from now on what the leader supports, and knows two versions at most",
        _follow_the_leaders_latest,
        "c310bf37670 StreamsPartitionAssignor#onAssignment",
    ),
)
"""What a member makes of an answer, by the rule's name."""

STRATEGIES: Mapping[str, Strategy] = _by_name(
    Strategy(
        "leader's version",
        "Leader's version: what 2.0.0 to 2.3.0 shipped",
        "leader's version",
        "leader's version",
        "The leader tells its own latest version as if all could speak it, and members believe it.",
        "KIP-268; 2.0.0 StreamsPartitionAssignor#assign, #onAssignment",
    ),
    Strategy(
        "mirror",
        "Mirror: the proposal, as its text says",
        "mirror",
        "mirror",
        "The leader answers each member in the member's own version until all support the latest.",
        "KAFKA-8649, PR 7413 (the text)",
    ),
    Strategy(
        "smallest supported, not yet encoded",
        "Smallest supported, not yet encoded: the fix without KAFKA-9053",
        "smallest supported, not yet encoded",
        "smallest supported",
        "The leader finds what all support, the encoder writes the leader's own latest in its place.",
        "KAFKA-8649, PR 7423; 2.3.1-rc1 AssignmentInfo#encode",
    ),
    Strategy(
        "smallest supported",
        "Smallest supported: what shipped, 2.2.2, 2.3.1, 2.4.0 and later",
        "smallest supported",
        "smallest supported",
        "The leader tells the version that all support, and members go up or down to it.",
        "KAFKA-8649, KAFKA-9053; 2.3.1 StreamsPartitionAssignor#assign, #onAssignment",
    ),
    Strategy(
        "fixed version",
        "Fixed version: upgrade.from and two rolling bounces",
        "smallest used",
        "no check",
        "Nobody probes: a member speaks one version until it is restarted with another setting.",
        "1.1.1 StreamPartitionAssignor#configure, #assign",
    ),
)
"""The designs to compare, by the name that the pickers show."""
