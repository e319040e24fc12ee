"""What goes into a rule and what comes out of it.

The rules themselves are in `released` and `own`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

# Verdict and Reaction are tuples with names, not dataclasses: an explorer makes 10^5 a second, and a frozen
# dataclass takes twice as long to make.


class Refusal(NamedTuple):
    """Why a leader answers nobody, with the two versions that its exception names."""

    key: str
    """A key of `REFUSALS`, or the row of a rule of one's own that says so."""
    future: int
    """The subscription version that it could not read."""
    smallest: int
    """The smallest used version of those that it could."""
    version: int | None = None
    """The version that it cannot write, where a row of a reader's own rule asks for one."""
    row: str = ""
    """That row."""


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
    rows: tuple[str, ...] = ()
    """For each reply the row that gave it, where the rule is one of a reader's own."""


class Reaction(NamedTuple):
    """What a member makes of the two ints of its assignment."""

    used: int
    """The version that it sends next; one that it does not support is its death at its next subscription."""
    rejoin: bool
    refusal: str | None
    """A key of `REFUSALS`, or a row of its own rule: the member dies of this assignment."""
    note: str
    """A key of `NOTES`, or a row of its own rule; empty after a refusal."""


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

    >>> from protocol.strategies import LEADER_RULES
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

    >>> from protocol.strategies import MEMBER_RULES
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
