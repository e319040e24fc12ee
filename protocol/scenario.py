"""What an operator does: which releases, who leads, in which order the instances are bounced, and how.

The mechanics that follow from it are in `group`; what it looks like is in `diagrams` and the player.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from . import group
from .coordinator import BrokerSuccession, HighestVersion, Newest, Oldest, Seat, Succession
from .errors import ImpossibleScenarioError, UnknownReleaseError
from .group import name_of
from .messages import TaskId
from .releases import Binary, release
from .trace import Outcome, Trace

SUCCESSIONS: Mapping[str, Succession] = {
    "broker": BrokerSuccession(),
    "oldest": Oldest(),
    "newest": Newest(),
    "highest version": HighestVersion(),
}
"""Who leads when the leader's id is gone: the broker's rule, and three scripted ones that pick in every generation."""

CLOSINGS = ("lingers", "leaves")
RESTARTS = ("before", "after")
TIMINGS = ("lockstep", "timetable")
MOST_MEMBERS = 200


def member_names(count: int) -> tuple[str, ...]:
    """A, B, C … Z, AA, AB …

    >>> member_names(3), member_names(28)[-2:]
    (('A', 'B', 'C'), ('AA', 'AB'))
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return tuple(letters[i] if i < 26 else letters[i // 26 - 1] + letters[i % 26] for i in range(count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The picks. Whatever contradicts itself is refused with an ImpossibleScenarioError that says why.

    >>> simulate(Scenario(old="2.0.0", new="2.3.1", leader="A", order="C,B,A")).outcome.kind
    'upgraded'
    """

    old: str | Binary | Sequence[str | Binary] = "2.0.0"
    """What runs at first: one release or jar for all, or one for each instance."""
    new: str | Binary = "2.3.1"
    members: int = 3
    """Instances, 1 to 200; ignored where `old` has one entry for each."""
    leader: str | None = None
    """Who leads first, while its id lives; by default the succession decides, which for the broker's rule is A."""
    order: str | Sequence[str] | None = None
    """Which instances are bounced, in order; by default all, from A."""
    succession: str | Sequence[str] = "broker"
    """A key of SUCCESSIONS, or the names of the members that lead next, one for each time the leader's id goes."""
    closing: str | None = None
    """`lingers`: the id stays until the session times out; `leaves`: LeaveGroup at once; None: as the jar does,
    which since 0.10.2.2 and 0.11.0.0 is to linger."""
    restart: str | float = "before"
    """Seconds from stop to start, or `before` or `after` the session timeout (with `leaves`: the next heartbeats)."""
    static: bool = False
    """Whether the members have a `group.instance.id` (KIP-345)."""
    threads: int = 1
    """Stream threads an instance; each is a member of the group, named A-1, A-2 …"""
    upgrade_from: str | None = None
    """Bounce all with this `upgrade.from`, then bounce all a second time without."""
    second_bounce: bool = True
    """Whether that second round happens."""
    rollback: int | None = None
    """After so many bounces turn round and bring those instances back to what they ran."""
    bounces: Sequence[tuple[str, str | Binary]] | None = None
    """The bounces one by one, (instance, release) each, instead of `new`, `order` and `rollback`."""
    supervisor: float | None = None
    """Seconds after which a supervisor starts a dead instance again, on the image that it had."""
    timing: str = "lockstep"
    """`lockstep`: only elections are left to chance; `timetable`: so are the moments at which members act."""
    seed: int = 0
    """Of the ranks that the broker draws, and of the timetable's jitter."""
    until: float | None = None
    """Seconds after the first close at which to cut off, loop or not."""

    # ---------------------------------------------------------------- what the picks mean

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of the instances."""
        return member_names(self.members if isinstance(self.old, str | Binary) else len(self.old))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members: an instance's own, or one for each of its threads."""
        return tuple(name for instance in self.instances for name in self._threads_of(instance))

    def _threads_of(self, instance: str) -> tuple[str, ...]:
        return (instance,) if self.threads == 1 else tuple(f"{instance}-{i + 1}" for i in range(self.threads))

    @property
    def before(self) -> tuple[Binary, ...]:
        """What each instance runs at first."""
        if isinstance(self.old, str | Binary):
            return (_binary(self.old),) * len(self.instances)
        return tuple(_binary(one) for one in self.old)

    @property
    def bounced(self) -> tuple[str, ...]:
        """The instances to bounce, in order."""
        if self.order is None:
            return self.instances
        if isinstance(self.order, str):
            return tuple(name.strip() for name in self.order.split(",") if name.strip())
        return tuple(self.order)

    def plan(self) -> group.Plan:
        """The picks as the mechanics need them; ImpossibleScenarioError if they contradict one another."""
        self._check()
        before = dict(zip(self.instances, self.before, strict=True))
        places = tuple(
            group.Place(name, instance, before[instance])
            for instance in self.instances
            for name in self._threads_of(instance)
        )
        return group.Plan(
            places=places,
            bounces=tuple(self._bounces(before)),
            succession=self._succession(),
            leader=self._first_leader(),
            timetable=group.Timetable(lockstep=self.timing == "lockstep"),
            leaves=None if self.closing is None else self.closing == "leaves",
            restart=self._restart(),
            static=self.static,
            supervisor=self.supervisor,
            tasks=tuple(TaskId(0, i) for i in range(len(places))),
            seed=self.seed,
            until=self.until,
            show_start=len({binary.name for binary in self.before}) > 1,
        )

    def _bounces(self, before: Mapping[str, Binary]) -> Iterator[group.Bounce]:
        if self.bounces is not None:
            for instance, binary in self.bounces:
                yield group.Bounce(instance, _binary(binary), self.upgrade_from)
            return
        new = _binary(self.new)
        forward = self.bounced if self.rollback is None else self.bounced[: self.rollback]
        for instance in forward:
            yield group.Bounce(instance, new, self.upgrade_from)
        if self.rollback is not None:
            for instance in reversed(forward):
                yield group.Bounce(instance, before[instance])
        elif self.upgrade_from is not None and self.second_bounce:
            for instance in forward:
                yield group.Bounce(instance, new)

    def _succession(self) -> Succession:
        if isinstance(self.succession, str):
            return SUCCESSIONS[self.succession]
        return Script(tuple(self.succession))

    def _first_leader(self) -> str:
        if self.leader is None:
            return ""
        return self.leader if self.leader in self.names else self._threads_of(self.leader)[0]

    def _restart(self) -> float:
        if not isinstance(self.restart, str):
            return float(self.restart)
        timetable = group.Timetable()
        if self.restart == "before":
            return timetable.heartbeat * 2 / 3
        if self.closing == "leaves" and not self.static:
            return timetable.heartbeat * 2
        jars = [*self.before, _binary(self.new)]
        return max(jar.session_timeout_ms for jar in jars) / 1000 + timetable.heartbeat * 2

    # ---------------------------------------------------------------- what is refused

    def _check(self) -> None:
        """Every pick against every other; the first contradiction is told."""
        refuse = ImpossibleScenarioError
        instances = self.instances
        if not 1 <= len(instances) <= MOST_MEMBERS:
            raise refuse("members", f"{len(instances)} instances", f"1 to {MOST_MEMBERS}")
        if not 1 <= self.threads <= 64 or self.threads * len(instances) > MOST_MEMBERS:
            raise refuse(
                "threads",
                f"{self.threads} threads for each of {len(instances)} instances",
                f"1 to 64, and {MOST_MEMBERS} members in all",
            )
        known = ", ".join(instances if len(instances) < 9 else (*instances[:3], "…", instances[-1]))
        if self.leader is not None and self.leader not in (*instances, *self.names):
            raise refuse("leader", f"no member is called {self.leader}", known)
        self._check_bounces(known)
        for pick, value, allowed in (
            ("closing", self.closing, CLOSINGS),
            ("timing", self.timing, TIMINGS),
        ):
            if value is not None and value not in allowed:
                raise refuse(pick, f"{value!r} is not known", " or ".join(allowed))
        if isinstance(self.succession, str):
            if self.succession not in SUCCESSIONS:
                raise refuse(
                    "succession", f"{self.succession!r} is not known", ", ".join(SUCCESSIONS) + ", or a list of names"
                )
        elif unknown := [name for name in self.succession if name not in self.names]:
            raise refuse("succession", f"no member is called {unknown[0]}", known)
        if isinstance(self.restart, str) and self.restart not in RESTARTS:
            raise refuse("restart", f"{self.restart!r} is not known", "before, after, or seconds")
        for pick, seconds in (("restart", self.restart), ("supervisor", self.supervisor), ("until", self.until)):
            if isinstance(seconds, int | float) and not 0 < seconds <= 86400:
                raise refuse(pick, f"{seconds} seconds", "more than 0, at most 86400")
        jars = (
            *self.before,
            *(bounce.binary for bounce in self._bounces(dict(zip(instances, self.before, strict=True)))),
        )
        if self.static and (old := next((jar for jar in jars if not _can_be_static(jar)), None)):
            raise refuse("static", f"the client of {old.name} knows no group.instance.id", "2.3.0 and later")
        if self.static and self.closing == "leaves":
            raise refuse("closing", "a static member never sends LeaveGroup", "lingers")
        if self.upgrade_from is not None:
            self._check_upgrade_from()

    def _check_bounces(self, known: str) -> None:
        refuse = ImpossibleScenarioError
        if self.bounces is not None:
            if stranger := next((name for name, _ in self.bounces if name not in self.instances), None):
                raise refuse("bounces", f"no instance is called {stranger}", known)
            if self.order is not None or self.rollback is not None:
                raise refuse(
                    "bounces", "the bounces are given one by one, so order and rollback say nothing", "one or the other"
                )
            return
        order = self.bounced
        if stranger := next((name for name in order if name not in self.instances), None):
            raise refuse("order", f"no instance is called {stranger}", known)
        if twice := next((name for name in order if order.count(name) > 1), None):
            raise refuse("order", f"{twice} is bounced twice", "each instance once; `bounces` takes any list")
        if self.rollback is not None and not 1 <= self.rollback <= len(order):
            raise refuse("rollback", f"after {self.rollback} bounces", f"1 to {len(order)}")
        if self.rollback is not None and self.upgrade_from is not None:
            raise refuse(
                "rollback",
                "a rollback starts the old jar, which was not given upgrade.from",
                "rollback or upgrade_from",
            )

    def _check_upgrade_from(self) -> None:
        targets = [_binary(self.new)] if self.bounces is None else [_binary(jar) for _, jar in self.bounces]
        for jar in targets:
            values = [one.value for one in jar.upgrade_from]
            if self.upgrade_from not in values:
                raise ImpossibleScenarioError(
                    "upgrade_from",
                    f"StreamsConfig of {jar.name} refuses {self.upgrade_from!r}"
                    if values
                    else f"{jar.name} knows no upgrade.from",
                    ", ".join(values),
                )

    # ---------------------------------------------------------------- the picks as plain data

    def picks(self) -> dict[str, object]:
        """What was picked, as plain data; defaults are left out.

        >>> Scenario(old="2.0.0", new="2.1.0", leader="A").picks()
        {'old': '2.0.0', 'new': '2.1.0', 'leader': 'A'}
        """
        told: dict[str, object] = {"old": _plain(self.old), "new": _plain(self.new)}
        for pick in fields(self):
            value = getattr(self, pick.name)
            if pick.name not in told and value != pick.default:
                told[pick.name] = _plain(value)
        return told

    def python(self) -> str:
        """The picks as the Python that makes them.

        >>> Scenario(old="2.0.0", new="2.1.0", leader="A").python()
        "Scenario(old='2.0.0', new='2.1.0', leader='A')"
        """
        shown = (f"{pick}={_python(getattr(self, pick))}" for pick in self.picks())
        return f"Scenario({', '.join(shown)})"


class Script:
    """The named members lead next, one for each time the leader's id goes; then the broker's rule goes on."""

    every_generation = False

    def __init__(self, names: tuple[str, ...]) -> None:
        self.left = list(names)

    def pick(self, seats: tuple[Seat, ...]) -> str:
        """The next name's id; ImpossibleScenarioError if that member is not in the group then."""
        if not self.left:
            return BrokerSuccession().pick(seats)
        name = self.left.pop(0)
        for seat in seats:
            if name_of(seat.id) == name:
                return seat.id
        there = ", ".join(name_of(seat.id) for seat in seats)
        raise ImpossibleScenarioError("succession", f"{name} is not in the group when its turn comes", there)


def simulate(scenario: Scenario) -> Trace:
    """Run a scenario; the same scenario gives the same trace, always."""
    return replace(group.play(scenario.plan()), picks=scenario.picks())


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a scenario can end, with a scenario that ends so."""

    outcome: Outcome
    rebalances: int
    runs: int
    """How many of the successions end so."""
    witness: Scenario


def endings(scenario: Scenario, *, limit: int = 1000) -> tuple[tuple[Ending, ...], bool]:
    """Every way in which a scenario can end, over all successions; and whether that is all of them.

    Only elections under the broker's rule branch: a scripted succession has one ending. Two runs end alike
    if they have the same kind of outcome, the same dead, and the same number of rebalances.
    """
    if scenario.succession != "broker":
        trace = simulate(scenario)
        return (Ending(trace.outcome, trace.rebalances, 1, scenario),), True
    found: dict[tuple[object, ...], Ending] = {}
    todo: list[tuple[int, ...]] = [()]
    runs = 0
    while todo and runs < limit:
        branch = _Branch(todo.pop())
        trace = replace(group.play(replace(scenario.plan(), succession=branch)), picks=scenario.picks())
        runs += 1
        for i in range(len(branch.prefix), len(branch.taken)):
            todo += [(*branch.taken[:i], other) for other in range(1, branch.options[i])]
        key = (trace.outcome.kind, tuple(sorted({d.member for d in trace.outcome.deaths})), trace.rebalances)
        old = found.get(key)
        witness = old.witness if old else replace(scenario, succession=tuple(branch.names))
        found[key] = Ending(
            old.outcome if old else trace.outcome, trace.rebalances, (old.runs if old else 0) + 1, witness
        )
    return tuple(sorted(found.values(), key=lambda ending: (-ending.runs, ending.rebalances))), not todo


class _Branch:
    """A succession that follows a list of choices, and says where it could have gone another way."""

    every_generation = False

    def __init__(self, prefix: tuple[int, ...]) -> None:
        self.prefix = prefix
        self.taken: tuple[int, ...] = ()
        self.options: list[int] = []
        self.names: list[str] = []

    def pick(self, seats: tuple[Seat, ...]) -> str:
        at = len(self.taken)
        choice = self.prefix[at] if at < len(self.prefix) else 0
        self.taken = (*self.taken, choice)
        self.options.append(len(seats) if at < 64 else 1)
        self.names.append(name_of(seats[choice].id))
        return seats[choice].id


def _binary(jar: str | Binary) -> Binary:
    return jar if isinstance(jar, Binary) else release(jar).binary


def _can_be_static(jar: Binary) -> bool:
    """Clients know `group.instance.id` since 2.3.0; a teaching jar is as new as need be."""
    try:
        numbers = release(jar.name).name.split("-")[0].split(".")
    except UnknownReleaseError:
        return True
    return not numbers[0].isdigit() or tuple(map(int, numbers[:2])) >= (2, 3)


def _plain(value: object) -> object:
    if isinstance(value, Binary):
        return {
            "name": value.name,
            "latest": value.latest,
            "leader_rule": value.leader_rule,
            "member_rule": value.member_rule,
        }
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [_plain(one) for one in value]


def _python(value: object) -> str:
    if isinstance(value, Binary):
        return (
            f"teaching({value.name!r}, latest={value.latest}, leader_rule={value.leader_rule!r}, "
            f"member_rule={value.member_rule!r})"
        )
    if isinstance(value, str) or not isinstance(value, Sequence):
        return repr(value)
    items = ", ".join(_python(one) for one in value)
    return f"({items},)" if len(value) == 1 else f"({items})"
