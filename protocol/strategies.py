"""The rules by which a leader picks versions and a member answers them: arithmetic on integers.

No member, task or byte is known here: who sends what is in `leader` and `member`, which release has which
rule is in `releases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeVar

from .versions import EARLIEST_PROBEABLE, UNKNOWN

# Verdict and Reaction are tuples with names, not dataclasses: an explorer makes 10^5 a second, and a frozen
# dataclass takes twice as long to make.


class Refusal(NamedTuple):
    """Why a leader answers nobody: a key of `REFUSALS`, with the two versions that its exception names."""

    key: str
    future: int
    """The subscription version that it could not read."""
    smallest: int
    """The smallest used version of those that it could."""


class Verdict(NamedTuple):
    """What a leader makes of the versions that it was told."""

    replies: tuple[tuple[int, int], ...]
    """(version, second int) for each member, in the order of `said`; empty after a refusal."""
    probing: bool
    """Whether a member is ahead of the leader: version probing in the sense of KIP-268."""
    refusal: Refusal | None
    min_used: int
    """The smallest used version that counts, at most the leader's latest."""
    min_supported: int
    """The smallest supported version that counts; -1 beside a v1 or v2 member, the leader's latest by other rules."""
    future_version: int
    """The last used version above the leader's latest; UNKNOWN where there is none."""


class Reaction(NamedTuple):
    """What a member makes of the two ints of its assignment."""

    used: int
    """The version that it sends next; more than it supports is a death at its next subscription."""
    rejoin: bool
    refusal: str | None
    """A key of `REFUSALS`: the member dies of this assignment."""
    note: str
    """A key of `NOTES`; empty after a refusal."""


class Answering(Protocol):
    """Takes (used version, supported version) of each member, and the leader's own latest."""

    def __call__(self, said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
        """The versions that go back."""


class Reacting(Protocol):
    """Takes a member's own latest and used version, and the two ints that it received."""

    def __call__(self, *, latest: int, used: int, received: int, common: int) -> Reaction:
        """What the member does now."""


@dataclass(frozen=True, slots=True)
class LeaderRule:
    """How a leader picks the version and the second int of every assignment.

    >>> LEADER_RULES["smallest supported"].answer([(3, 3), (4, 4)], latest=4).replies
    ((3, 3), (3, 3))
    """

    name: str
    title: str
    answer: Answering
    source: str


@dataclass(frozen=True, slots=True)
class MemberRule:
    """How a member takes the version and the second int of its assignment.

    >>> MEMBER_RULES["leader's version"].react(latest=3, used=3, received=3, common=4)
    Reaction(used=4, rejoin=False, refusal=None, note='upgrade in silence')
    """

    name: str
    title: str
    react: Reacting
    source: str


@dataclass(frozen=True, slots=True)
class Strategy:
    """A leader rule and a member rule that were meant for each other."""

    name: str
    title: str
    leader_rule: str
    """A key of `LEADER_RULES`."""
    member_rule: str
    """A key of `MEMBER_RULES`."""
    summary: str
    source: str


_Row = TypeVar("_Row", LeaderRule, MemberRule, Strategy)


# What leaders do.


def _survey(said: Sequence[tuple[int, int]], latest: int) -> tuple[int, int, int, int]:
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
            return _too_old(lowest, common, future)
        second = UNKNOWN
    return Verdict(((lowest, second),) * len(said), future != UNKNOWN, None, lowest, common, future)


def _too_old(lowest: int, common: int, future: int) -> Verdict:
    return Verdict((), True, Refusal("too old to probe", future, lowest), lowest, common, future)


def _cannot_read(lowest: int, latest: int, future: int) -> Verdict:
    return Verdict((), False, Refusal("cannot read the subscription", future, lowest), lowest, latest, future)


def _own_version(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer everybody in the leader's own latest version."""
    lowest, _, _, future = _survey(said, latest)
    if future != UNKNOWN:
        return _cannot_read(lowest, latest, future)
    return _alike(said, latest, latest, latest, UNKNOWN)


def _smallest_used(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer everybody in the smallest version that anybody used."""
    lowest, _, _, future = _survey(said, latest)
    if future != UNKNOWN:
        return _cannot_read(lowest, latest, future)
    return _alike(said, lowest, latest, latest, UNKNOWN)


def _leaders_version(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer in the smallest used version, and tell the leader's own latest as if all could speak it."""
    lowest, _, _, future = _survey(said, latest)
    verdict = _alike(said, lowest, latest, latest, future)
    if future == UNKNOWN or verdict.refusal is not None:
        return verdict
    ahead, known = (latest, latest), (lowest, latest)
    return verdict._replace(replies=tuple([ahead if used > latest else known for used, _ in said]))


def _not_yet_encoded(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Find the smallest supported version, and put the leader's own latest on the wire all the same."""
    lowest, common, _, future = _survey(said, latest)
    return _alike(said, lowest, latest, common, future)


def _smallest_supported(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """Answer in the smallest used version, and tell the smallest version that the readable members support."""
    lowest, common, _, future = _survey(said, latest)
    return _alike(said, lowest, common, common, future)


def _smallest_supported_of_all(said: Sequence[tuple[int, int]], *, latest: int) -> Verdict:
    """As `smallest supported`, but count those ahead of the leader too."""
    lowest, _, common, future = _survey(said, latest)
    return _alike(said, lowest, common, common, future)


def _each_its_own(said: Sequence[tuple[int, int]], latest: int, threshold: int) -> Verdict:
    """Each member in its own version, one who is ahead in the leader's; the second int is the leader's latest.

    The exception: all get the version that all support, where somebody uses less and it reaches the threshold.
    """
    lowest, common, _, future = _survey(said, latest)
    if future == UNKNOWN:
        if lowest < common and common >= threshold:
            everybody = (common, latest if common >= EARLIEST_PROBEABLE else UNKNOWN)
            return Verdict((everybody,) * len(said), False, None, lowest, common, UNKNOWN)
    elif lowest < EARLIEST_PROBEABLE:
        return _too_old(lowest, common, future)
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

NOTES: Mapping[str, str] = MappingProxyType(
    {
        "same version": "It was answered in the version that it sent, so it takes its tasks and stays.",
        "no check": "A release before 2.0 reads any version that it knows and compares it with nothing.",
        "before probing": "An answer in v1 or v2 means that a member from before 2.0 is in the group: "
        "no probing, and the version it sends stays.",
        "downgrade to received": "It was answered in an older version, so somebody cannot speak its own: "
        "it goes down to the version it received and rejoins.",
        "set to leader's": "It was answered in an older version than the leader supports: "
        "it takes the leader's latest for its own next version and rejoins.",
        "upgrade in silence": "The leader's latest is above what it sends: it will send that version next time, "
        "whether its jar supports it or not, and does not rejoin.",
        "upgrade to common": "All support more than it sends, so the roll is over: it goes up to that and rejoins.",
        "downgrade to common": "It was answered in an older version than it sent: "
        "it goes to the version that all support and rejoins.",
        "upgrade to received": "It was answered in a newer version than it sent, so all support that: "
        "it goes up to it and rejoins.",
        "upgrade to leader's": "It was answered in a newer version, which is the leader's latest: "
        "it goes up to it and rejoins, without a line in the log.",
        "three versions": "It was answered in a newer version that is not the leader's latest: "
        "it warns of a third version, goes to the leader's latest and rejoins.",
    }
)
"""What a member's reaction means, one sentence for each `Reaction.note`."""

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "cannot read the subscription": "The leader is from before version probing and cannot read a newer "
        "subscription, so its thread dies.",
        "too old to probe": "A member ahead of the leader cannot be told to go down to v1 or v2, "
        "so a group that needs both gets no assignment.",
        "cannot read the assignment": "The assignment is in a version above all that this jar can read, "
        "so the thread dies.",
        "higher than sent": "No leader should answer above the version that a member sent, so the member gives up.",
        "cannot upgrade": "The group is said to support more than this jar does; "
        "rather than die later, the member dies now.",
        "not the leader's version": "An older answer must be in the leader's own latest version; "
        "with three versions in the group it is not, and the member dies.",
    }
)
"""Why a leader or a member gives up, one sentence for each refusal."""
