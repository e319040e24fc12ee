"""What is upgraded and how: jars reduced to what a rebalance can tell apart, and the modes of a roll.

The models that are made of them are in `classes`, `named` and `counted`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ..errors import ImpossibleScenarioError
from ..releases import Binary, release
from ..strategies import STRATEGIES, is_own, own_leader_rule, own_member_rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """A binary as an abstract group sees it; two jars that differ in the name only behave alike."""

    name: str
    latest: int
    leader_rule: str
    """A key of `strategies.LEADER_RULES`, or the text of a rule of one's own."""
    member_rule: str
    """A key of `strategies.MEMBER_RULES`, or the text of a rule of one's own."""
    leaves: bool = False
    """Whether a member that probes leaves the group and joins it again under a new id (2.0 to 2.5)."""
    error_assignment: bool = False
    """Whether a leader that cannot answer shuts everybody down (2.7.0 and later) instead of dying alone."""
    shares: bool = False
    """Whether a probing leader gives every thread of an instance the tasks of all its threads (2.0.0 to 2.3.0)."""

    @property
    def behaviour(self) -> tuple[object, ...]:
        """All but the name."""
        return (self.latest, self.leader_rule, self.member_rule, self.leaves, self.error_assignment, self.shares)


def jar(binary: str | Binary | Jar) -> Jar:
    """The jar of a release, or of a binary.

    >>> jar("2.0.0").latest, jar("2.3.1").leader_rule, jar("2.6.0").leaves
    (3, 'smallest supported', False)

    Raises: UnknownReleaseError.
    """
    if isinstance(binary, Jar):
        return binary
    found = release(binary).binary if isinstance(binary, str) else binary
    return Jar(
        name=found.name,
        latest=found.latest,
        leader_rule=found.leader_rule,
        member_rule=found.member_rule,
        leaves=found.rejoin == "leave",
        error_assignment=found.error_assignment,
        shares=found.previous_tasks == "client",
    )


def strategy_jar(strategy: str, *, latest: int, leader_rule: str | None = None, member_rule: str | None = None) -> Jar:
    """A jar that nobody published: a strategy and a number; either rule may be another, by its name or as rows.

    >>> strategy_jar("mirror", latest=11).name
    'v11 mirror'
    """
    rules = STRATEGIES[strategy]
    leader = own_leader_rule(leader_rule or rules.leader_rule)
    member = own_member_rule(member_rule or rules.member_rule)
    name = f"v{latest} {strategy}"
    if leader_rule or member_rule:
        name = f"v{latest} {title(leader)} / {title(member)}"
    return Jar(name=name, latest=latest, leader_rule=leader, member_rule=member)


def title(rule: str) -> str:
    """What to call a rule: its name, or that it is one of a reader's own."""
    return "own" if is_own(rule) else rule


SUCCESSIONS = ("any", "broker", "oldest", "newest", "lowest", "next", "bounced")
"""Who leads when the leader's id is gone.

`any`: whoever is worst, newcomer included; its chances are those of a uniform draw at each election. `broker`:
the first by the random ranks that ids are given when they join, exactly. `oldest` and `newest` go by join order,
`lowest` and `next` by name, `bounced` keeps the lead where it was.
"""

ORDERS = ("any", "leader first", "leader last")
"""Whom the operator bounces next: anybody, the leader if it is still to do, or the leader only when nobody else is."""

RELEADS = ("never", "by jar", "others", "anyone")
"""Whether a leader that is told to rejoin gives up the lead.

`by jar`: where its jar leaves to rejoin (2.0 to 2.5), and then as `others`. `others`: another member leads, unless
another one rejoins too and leaves after it. `anyone`: every leader gives up, and may be elected again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes:
    """The switches of a roll. The defaults: the operator waits until the group is quiet, and nothing is interrupted."""

    succession: str = "any"
    order: str | tuple[str, ...] = "any"
    """One of ORDERS, or the names of the members in the order in which they are bounced."""
    closing: str = "lingers"
    """`lingers`: the id stays until its session times out; `leaves`: LeaveGroup at once."""
    restart: str = "before"
    """`after`: the group rebalances without the stopped member, and again when it is back."""
    interleaved: bool = False
    """Whether the operator goes on while the group still rebalances."""
    relead: str = "never"
    """One of RELEADS."""
    lossy: bool = False
    """Whether members miss their SyncGroup answer when another member rejoins at once."""
    rollback: bool = False
    """Whether the operator turns round at some point, any point, and brings everybody back."""
    crashes: int = 0
    """How many members may crash for reasons of their own, at any point."""
    supervisor: bool = False
    """Whether a supervisor starts dead members again on the image that they had."""
    threads: int = 1
    """Stream threads an instance, as far as it matters to who owns a task; they are assumed to move together."""

    def __post_init__(self) -> None:
        for pick, value, allowed in (
            ("succession", self.succession, SUCCESSIONS),
            ("closing", self.closing, ("lingers", "leaves")),
            ("restart", self.restart, ("before", "after")),
            ("relead", self.relead, RELEADS),
        ):
            if value not in allowed:
                raise ImpossibleScenarioError(pick, f"{value!r} is not known", ", ".join(allowed))
        if isinstance(self.order, str) and self.order not in ORDERS:
            raise ImpossibleScenarioError("order", f"{self.order!r} is not known", ", ".join(ORDERS) + ", or names")
        if not 0 <= self.crashes <= 7:
            raise ImpossibleScenarioError("crashes", f"{self.crashes} crashes", "0 to 7")
        if self.threads < 1:
            raise ImpossibleScenarioError("threads", f"{self.threads} threads", "1 or more")

    @property
    def by_identity(self) -> bool:
        """Whether members of one class can be told apart, so that only named members will do."""
        return self.succession not in ("any", "bounced") or not isinstance(self.order, str)

    @property
    def by_place(self) -> bool:
        """Whether a member's place in an order matters, and its name does not."""
        return self.succession in ("broker", "oldest", "newest")


MODES: Mapping[str, Modes] = MappingProxyType(
    {
        "settled": Modes(),
        "interleaved": Modes(interleaved=True),
        "leader gives up": Modes(relead="anyone"),
        "stop and start": Modes(restart="after"),
        "leaves at once": Modes(closing="leaves"),
        "lossy": Modes(lossy=True),
        "rollback": Modes(rollback=True),
        "crash": Modes(crashes=1),
        "supervisor": Modes(supervisor=True),
    }
)
"""The modes of the matrix, one switch each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A rolling upgrade: which jars in which order, how many members, and how it goes."""

    jars: tuple[Jar, ...]
    """All start on the first; each bounce may skip some, and all end on the last."""
    members: int | None
    """2 to 200 members by name, any number in counts; None: every number from 2 up, at once."""
    modes: Modes = field(default_factory=Modes)

    def __post_init__(self) -> None:
        if not 2 <= len(self.jars) <= 6:
            raise ImpossibleScenarioError("jars", f"{len(self.jars)} jars", "2 to 6")
        if self.members is not None and self.members < 1:
            raise ImpossibleScenarioError("members", f"{self.members} members", "1 or more")

    def sized(self, members: int | None) -> Upgrade:
        """The same upgrade of another number of members."""
        return replace(self, members=members)


def upgrade(*path: str | Binary | Jar, members: int | None = 3, modes: Modes | str | None = None) -> Upgrade:
    """An upgrade along releases, binaries or jars; `modes` may be a key of MODES.

    >>> [jar.latest for jar in upgrade("2.0.0", "2.1.0").jars]
    [3, 4]
    """
    if isinstance(modes, str):
        if modes not in MODES:
            raise ImpossibleScenarioError("modes", f"{modes!r} is not known", ", ".join(MODES))
        modes = MODES[modes]
    return Upgrade(jars=tuple(jar(one) for one in path), members=members, modes=modes or Modes())


def distinct(jars: Iterable[Jar]) -> Mapping[tuple[object, ...], Jar]:
    """One jar for each behaviour, the first of that kind."""
    found: dict[tuple[object, ...], Jar] = {}
    for one in jars:
        found.setdefault(one.behaviour, one)
    return MappingProxyType(found)
