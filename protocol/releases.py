"""The catalogue: what every Kafka Streams release, and a few unreleased commits, does in a rebalance.

One row a release in `releases.csv`; what the names of the rules mean is in `strategies`, of the codecs in `versions`.

The column `upgrade_from` is a list of groups, `VALUES: EFFECT; VALUES: EFFECT`. VALUES are values of the
setting, `2.0-2.3` for all minors from one to the other. EFFECT is the version that the member then sends
first (`v1`, or `latest` as without the setting) with its rebalance protocol, or the class of the exception
that stops the assignor: `0.10.0: v1 EAGER; 2.0-2.3: latest EAGER; 3.4: IllegalArgumentException`.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from os.path import dirname, join

from .errors import ImpossibleScenarioError, UnknownReleaseError
from .strategies import own_leader_rule, own_member_rule
from .versions import CODECS, FIRST, LATEST, Dialect

LOGS = (
    "0.10.0",
    "1.1",
    "2.0",
    "2.2",
    "2.2.2-rc1",
    "2.2.2",
    "2.3.1-rc1",
    "2.3.1",
    "c310",
    "2.4",
    "2.6",
    "2.7",
    "2.8",
    "3.1",
    "3.4",
    "3.8",
    "4.0",
)
"""Dialects of the log, in catalogue order, each named after a release that prints it.

`1.1` is that of 0.10.1.0 to 1.1.1. `2.2` raised the line about a missing source topic from debug to
error. `2.3.1-rc1` and `2.3.1` lack a space (`ouractual`) that `2.2.2-rc1`, `2.2.2` and `2.4` have.
`3.1` rewords the lines about the rebalance protocol, `3.8` those about `upgrade.from`; `4.0` has neither.
"""

_REJECTED = {
    "IllegalArgumentException": "Unknown configuration value for parameter 'upgrade.from': {}",
    "ConfigException": (
        "The eager rebalancing protocol is no longer supported in 4.0 which means live upgrades from 2.3 or below"
        " are not possible. Please see the Streams upgrade guide for the bridge releases and recommended upgrade"
        " path. Got upgrade.from='{}'"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeFrom:
    """What a binary makes of one value of `upgrade.from`."""

    value: str
    used: int | None
    """The version it then sends first; None: its latest, as without the setting."""
    protocol: str
    """`EAGER` or `COOPERATIVE`; empty where the value is rejected."""
    rejected: str = ""
    """The exception's text where the assignor chokes on a value that StreamsConfig accepts; else empty."""
    exception: str = ""
    """The class of that exception, without its package; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """What a process runs, as far as a rebalance can tell: one jar."""

    name: str
    dialect: Dialect
    leader_rule: str
    """A key of `strategies.LEADER_RULES`, or the text of a rule of one's own."""
    member_rule: str
    """A key of `strategies.MEMBER_RULES`, or the text of a rule of one's own."""
    previous_tasks: str
    """What non-future members get while probing: `client`, `consumer` (their previous tasks) or `assigned`."""
    future_tasks: str
    """What future members get: `refused` (the leader throws), `empty` or `real`."""
    rejoin: str
    """How a probing member comes back: `leave` (and join under a new id) or `enforce` (same id); `none` before 2.0."""
    dying_leaves: bool
    """Whether a dying stream thread sends LeaveGroup (3.2.0 to 4.1.2)."""
    closing_leaves: bool = False
    """Whether a closing member sends LeaveGroup (up to 0.10.2.1)."""
    two_step: bool
    """Whether the client joins in two steps (KIP-394, 2.2.0 and later)."""
    session_timeout_ms: int
    """The client's default: 30 000 in 0.10.0, then 10 000, and 45 000 from 3.0.0."""
    error_assignment: bool
    """Whether the leader answers a TaskAssignmentException with an error assignment (2.7.0 and later)."""
    cooperative: bool
    """Whether the assignor supports COOPERATIVE (2.4.0 and later); EAGER too until 3.9."""
    log: str
    """The dialect of its log lines: one of `LOGS`."""
    upgrade_from: tuple[UpgradeFrom, ...] = ()
    processes_probing: bool = False
    """Whether a member that rejoins to probe takes the tasks of that assignment first (2.4.0 and later)."""

    @property
    def latest(self) -> int:
        """The latest supported metadata version."""
        return self.dialect.latest


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One row of the catalogue; a field that is not explained here is explained in `Binary`."""

    name: str
    aliases: tuple[str, ...]
    """Other names that `release` takes: the tag of the release candidate that became the release."""
    released: bool
    """Whether it was published; a release candidate and the proposal's commit were not."""
    date: str
    """The day of its tag, else of its commit, else of the newest entry of its jar: `2019-10-24`."""
    latest_supported_version: int
    fixes: tuple[str, ...]
    """What it has of this, in the order of history.

    `min-version` (the smallest version received, before 2.0), `KAFKA-6054` (version probing), `KAFKA-8649`,
    `KAFKA-9053` (the bytes hold the common version), `KIP-429` (cooperative rebalancing), `KIP-441` (probing
    rebalances), `KAFKA-10455` (the unique field), and the error codes `ASSIGNMENT_ERROR` and `SHUTDOWN_REQUESTED`.
    """
    leader_rule: str
    member_rule: str
    previous_tasks: str
    future_tasks: str
    rejoin: str
    processes_probing: bool
    rebalance_protocols: tuple[str, ...]
    """What the assignor supports without `upgrade.from`: `EAGER`, `COOPERATIVE` or both."""
    upgrade_from: tuple[UpgradeFrom, ...]
    error_assignment: bool
    two_step: bool
    dying_leaves: bool
    closing_leaves: bool
    """Whether a stream thread that is closed sends LeaveGroup: before KAFKA-4965, thus 0.10.0.0 to 0.10.2.1."""
    session_timeout_ms: int
    envelope: int
    codec: str
    log: str
    source: str
    """Where the row was read: a Kafka tag or a published jar, and class#method."""
    note: str
    """What else a reader should know; mostly empty."""
    binary: Binary

    @property
    def latest(self) -> int:
        """The latest supported metadata version, by its short name."""
        return self.latest_supported_version


def releases() -> tuple[Release, ...]:
    """Every row, in catalogue order: by version, a release candidate before its release.

    >>> [row.name for row in releases()][:2], releases()[-1].latest
    (['0.10.0.0', '0.10.0.1'], 11)
    """
    return _catalogue()[0]


def release(name: str) -> Release:
    """The row of that name, or of the tag that it was read at.

    >>> release("2.3.1").binary.leader_rule, release("3.9.0-rc3").name
    ('smallest supported', '3.9.0')

    Raises: UnknownReleaseError, with the nearest names; a short name such as `2.1` is not completed.
    """
    asked = name.strip().lower()
    known = _catalogue()[1].get(asked)
    if known is None:
        raise UnknownReleaseError(name, _nearest(asked))
    return known


def teaching(name: str, *, latest: int, leader_rule: str, member_rule: str, like: str | None = None) -> Binary:
    """A jar that nobody published: two rules and a number; in all else it is like one release.

    A rule is a name, or rows of one's own: see `strategies.own_leader_rule`. Without `like` the jar is like the
    release from which the leader rule is best known. It writes today's bytes, and takes `v1`, `v2` ... as values of
    `upgrade.from`.

    >>> jar = teaching("v11 jar", latest=11, leader_rule="mirror", member_rule="mirror")
    >>> jar.latest, jar.rejoin, jar.upgrade_from[-1].value
    (11, 'leave', 'v10')

    Raises: ImpossibleScenarioError for a version that has no bytes, or a rule that says nothing; UnknownReleaseError
    for `like`.
    """
    if not FIRST <= latest <= LATEST:
        raise ImpossibleScenarioError("latest", f"metadata version {latest} has no bytes", f"{FIRST} to {LATEST}")
    leader_rule, member_rule = own_leader_rule(leader_rule), own_member_rule(member_rule)
    model = release(like or _KNOWN_FROM.get(leader_rule, "2.4.0")).binary
    protocol = "COOPERATIVE" if model.cooperative else "EAGER"
    return Binary(
        name=name,
        dialect=Dialect(latest=latest, codec=CODECS[-1], envelope=model.dialect.envelope),
        leader_rule=leader_rule,
        member_rule=member_rule,
        previous_tasks=model.previous_tasks,
        future_tasks=model.future_tasks,
        rejoin=model.rejoin,
        dying_leaves=model.dying_leaves,
        two_step=model.two_step,
        session_timeout_ms=model.session_timeout_ms,
        error_assignment=model.error_assignment,
        cooperative=model.cooperative,
        log=model.log,
        upgrade_from=tuple(UpgradeFrom(value=f"v{n}", used=n, protocol=protocol) for n in range(FIRST, latest)),
        processes_probing=model.processes_probing,
    )


_KNOWN_FROM = {
    "own version": "1.1.0",
    "smallest used": "1.1.1",
    "leader's version": "2.3.0",
    "smallest supported, not yet encoded": "2.3.1-rc1",
    "smallest supported": "2.3.1",
    "proposal": "c310bf37670",
}


@cache
def _catalogue() -> tuple[tuple[Release, ...], dict[str, Release]]:
    # A path and not importlib.resources, whose import alone takes longer than to read the file.
    with open(join(dirname(__file__), "releases.csv"), encoding="utf-8", newline="") as file:
        rows = tuple(map(_release, csv.DictReader(file)))
    return rows, {name: row for row in rows for name in (row.name, *row.aliases)}


def _release(row: dict[str, str]) -> Release:
    protocols = tuple(row["rebalance_protocols"].split())
    binary = Binary(
        name=row["release"],
        dialect=Dialect(latest=int(row["latest_supported_version"]), codec=row["codec"], envelope=int(row["envelope"])),
        leader_rule=row["leader_rule"],
        member_rule=row["member_rule"],
        previous_tasks=row["previous_tasks"],
        future_tasks=row["future_tasks"],
        rejoin=row["rejoin"],
        dying_leaves=_yes(row["dying_leaves"]),
        two_step=_yes(row["two_step"]),
        closing_leaves=_yes(row["closing_leaves"]),
        session_timeout_ms=int(row["session_timeout_ms"]),
        error_assignment=_yes(row["error_assignment"]),
        cooperative="COOPERATIVE" in protocols,
        log=row["log"],
        upgrade_from=_upgrade_from(row["upgrade_from"]),
        processes_probing=_yes(row["processes_probing"]),
    )
    return Release(
        name=binary.name,
        aliases=tuple(row["aliases"].split()),
        released=_yes(row["released"]),
        date=row["date"],
        latest_supported_version=binary.latest,
        fixes=tuple(row["fixes"].split()),
        leader_rule=binary.leader_rule,
        member_rule=binary.member_rule,
        previous_tasks=binary.previous_tasks,
        future_tasks=binary.future_tasks,
        rejoin=binary.rejoin,
        processes_probing=binary.processes_probing,
        rebalance_protocols=protocols,
        upgrade_from=binary.upgrade_from,
        error_assignment=binary.error_assignment,
        two_step=binary.two_step,
        dying_leaves=binary.dying_leaves,
        closing_leaves=binary.closing_leaves,
        session_timeout_ms=binary.session_timeout_ms,
        envelope=binary.dialect.envelope,
        codec=binary.dialect.codec,
        log=binary.log,
        source=row["source"],
        note=row["note"],
        binary=binary,
    )


def _yes(cell: str) -> bool:
    return {"yes": True, "no": False}[cell]


@cache
def _upgrade_from(cell: str) -> tuple[UpgradeFrom, ...]:
    found: list[UpgradeFrom] = []
    for group in cell.split("; ") if cell else ():
        values, effect = group.split(": ")
        for value in values.split():
            found += [_one_upgrade_from(one, effect) for one in _minors(value)]
    return tuple(found)


def _one_upgrade_from(value: str, effect: str) -> UpgradeFrom:
    if effect in _REJECTED:
        text = _REJECTED[effect].format(value)
        return UpgradeFrom(value=value, used=None, protocol="", rejected=text, exception=effect)
    version, protocol = effect.split()
    used = None if version == "latest" else int(version.removeprefix("v"))
    return UpgradeFrom(value=value, used=used, protocol=protocol)


def _minors(value: str) -> list[str]:
    first, _, last = value.partition("-")
    if not last:
        return [first]
    major, minor = first.split(".")
    return [f"{major}.{n}" for n in range(int(minor), int(last.split(".")[1]) + 1)]


def _nearest(name: str, *, most: int = 3) -> list[str]:
    """Names that go on where this one ends, else names with its digits; then their neighbours by version."""
    found = re.search(r"(?<![0-9a-uw-z])\d+(?:\.\d+)*", name[:40])
    version = found.group() if found else ""
    known = [row.name for row in releases() if row.released]
    meant = [row.name for row in releases() if name and row.name.startswith(name)]
    meant.sort(key=lambda one: one not in known)
    meant = meant or [one for one in known if version and one.replace(".", "") == version.replace(".", "")]
    if version:
        place = _numbers(meant[0] if meant and meant[0] in known else version)
        after = sum(_numbers(one) <= place for one in known)
        near = sorted(range(len(known)), key=lambda i: after - i - 1 if i < after else i - after)
        meant += [known[i] for i in near if known[i] not in meant]
    return meant[:most]


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split(".")))
