"""A member: how its setting starts it, what it subscribes with, and what it makes of its assignment.

How the bytes are made and read is in `wire`; how a version is followed is in `strategies`; when a member
joins, leaves or dies is in `group`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .messages import LATEST_OFFSET, NO_REBALANCE, AssignmentInfo, SubscriptionInfo, TaskId
from .releases import Binary
from .strategies import REFUSALS, Reaction, member_rule
from .trace import Failure, LogLine

EAGER = "EAGER"
COOPERATIVE = "COOPERATIVE"


@dataclass(frozen=True, slots=True)
class Configured:
    """A member at its start: the version it sends first, and how it gives partitions up."""

    used: int
    protocol: str
    """`EAGER` or `COOPERATIVE`; empty after a failure."""
    failure: Failure | None = None
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """What a member made of an assignment."""

    used: int
    """The version that it sends next; above what its jar supports, that is its death at the next rebalance."""
    rejoin: bool
    """Whether it comes back at once, for another version or for tasks that were withheld from it."""
    failure: Failure | None = None
    log: tuple[LogLine, ...] = ()
    processed: bool = True
    """Whether the tasks of the assignment are its own now."""
    error_code: int = 0
    """The assignment's error code: what it does to the thread is in `heed`."""
    next_rebalance_ms: int = NO_REBALANCE
    note: str = ""
    """A key of `strategies.NOTES` or, with a failure, of `strategies.REFUSALS`; or a row of a rule of one's own."""

    @classmethod
    def failed(cls, *, used: int, failure: Failure, log: tuple[LogLine, ...] = (), note: str = "") -> Reception:
        """The end of the thread: what it sends next does not matter any more."""
        return cls(used=used, rejoin=False, failure=failure, log=log, processed=False, note=note)


@dataclass(frozen=True, slots=True)
class Heeded:
    """What an error code did to a stream thread."""

    stops: bool
    """Whether the thread ends: with a failure it dies, without one it shuts down."""
    failure: Failure | None = None
    log: tuple[LogLine, ...] = ()


# How it starts.


def configure(binary: Binary, upgrade_from: str | None = None) -> Configured:
    """A member with this value of `upgrade.from`; a release without the setting does not look at it.

    >>> from protocol.releases import release
    >>> configure(release("2.3.1").binary, "1.0").used
    2

    Source: 1.1.1 StreamPartitionAssignor#configure; 2.0.0 StreamsPartitionAssignor#configure;
    2.4.0, 3.1.0, 3.8.0 AssignorConfiguration#configuredMetadataVersion, #rebalanceProtocol.
    """
    if upgrade_from is None or not binary.upgrade_from:
        protocol = COOPERATIVE if binary.cooperative else EAGER
        return Configured(binary.latest, protocol, None, _protocol_lines(binary, protocol, upgrade_from))
    for row in binary.upgrade_from:
        if row.value != upgrade_from:
            continue
        if row.rejected:
            # 4.0.0 and later say it before they throw it.
            said = (_config_line(binary, "ERROR", row.rejected),) if row.exception == "ConfigException" else ()
            return Configured(binary.latest, row.protocol, Failure(row.exception, row.rejected), said)
        log: tuple[LogLine, ...] = ()
        if row.used is not None:
            # A search for "metadata version" that went too far in 3.8.0.
            what = "metadata.version" if binary.log == "3.8" else "metadata version"
            text = f"Downgrading {what} from {binary.latest} to {row.used} for upgrade from {upgrade_from}.x."
            log = (_config_line(binary, "INFO", text),)
        log += _protocol_lines(binary, row.protocol, upgrade_from)
        return Configured(binary.latest if row.used is None else row.used, row.protocol, None, log)
    allowed = ", ".join(["null", *[row.value for row in binary.upgrade_from]])
    text = f"Invalid value {upgrade_from} for configuration upgrade.from: String must be one of: {allowed}"
    return Configured(binary.latest, "", Failure("ConfigException", text))


_SHORT_WORDS = ("2.4", "2.6", "2.7", "2.8")
"""The dialects that say `rebalancing` where 3.1.0 and later say `rebalancing protocol is`."""


def _protocol_lines(binary: Binary, protocol: str, upgrade_from: str | None) -> tuple[LogLine, ...]:
    if binary.log == "c310":
        text = f"Turning off cooperative rebalancing for upgrade from {upgrade_from}.x"
        return (_config_line(binary, "INFO", text),) if upgrade_from else ()
    if not binary.cooperative or binary.log == "4.0":
        return ()
    short = binary.log in _SHORT_WORDS
    words = "rebalancing" if short else "rebalancing protocol is"
    if protocol == COOPERATIVE:
        return (_config_line(binary, "INFO", f"Cooperative {words} enabled now"),)
    info = _config_line(binary, "INFO", f"Eager {words} enabled now for upgrade from {upgrade_from}.x")
    text = (
        "The eager rebalancing protocol is deprecated and will stop being supported in a future release. "
        "Please be prepared to remove the 'upgrade.from' config soon."
    )
    return (info,) if short else (info, _config_line(binary, "WARN", text))


def _config_line(binary: Binary, level: str, text: str) -> LogLine:
    if binary.log == "1.1":
        return LogLine("", level, "StreamPartitionAssignor", text)
    own_class = binary.cooperative or binary.log == "c310"
    return LogLine("", level, "AssignorConfiguration" if own_class else "StreamsPartitionAssignor", text)


# What it says.


def subscribe(
    binary: Binary,
    *,
    used: int,
    process_id: bytes = bytes(16),
    tasks: Sequence[TaskId] = (),
    standby: Sequence[TaskId] = (),
    user_end_point: str | None = None,
    unique_field: int = 0,
    error_code: int = 0,
) -> SubscriptionInfo | Failure:
    """The payload of a member's next JoinGroup, or the failure that ends its thread.

    A COOPERATIVE member of 2.4 and 2.5 lists no active task, for its envelope names the partitions it owns.
    Before 2.0 no version is checked here and nothing changes it while the thread runs, so there is no such failure.

    >>> from protocol.releases import release
    >>> subscribe(release("2.0.0").binary, used=4)
    Failure(exception='IllegalArgumentException', text='version must be between 1 and 3; was: 4')

    Source: 2.0.0 StreamsPartitionAssignor#subscription, SubscriptionInfo (the constructor);
    3.9.0 StreamsPartitionAssignor#subscriptionUserData.
    """
    if not 1 <= used <= binary.latest:
        return Failure("IllegalArgumentException", f"version must be between 1 and {binary.latest}; was: {used}")
    return SubscriptionInfo.of(
        {**dict.fromkeys(standby, 0), **dict.fromkeys(tasks, LATEST_OFFSET)},
        version=used,
        latest_supported_version=binary.latest,
        process_id=process_id,
        user_end_point=user_end_point,
        unique_field=unique_field,
        error_code=error_code,
    )


# What it makes of the answer.


def receive(binary: Binary, *, used: int, assignment: AssignmentInfo) -> Reception:
    """What a member that sent version `used` makes of an assignment.

    Source: 2.0.0, 2.3.1, 3.9.0 StreamsPartitionAssignor#onAssignment; 2.6.0 #maybeScheduleFollowupRebalance.
    """
    received, common = assignment.version, assignment.commonly_supported_version
    code = assignment.error_code
    if code and received <= binary.latest:
        return Reception(used=used, rejoin=False, processed=False, error_code=code)
    reaction = member_rule(binary.member_rule).react(latest=binary.latest, used=used, received=received, common=common)
    if reaction.refusal is not None:
        failure, log = _die(binary, reaction.refusal, used, received, common)
        return Reception.failed(used=used, failure=failure, log=log, note=reaction.refusal)
    log = _note_lines(binary, reaction, used, received, common)
    again = NO_REBALANCE
    rejoin = reaction.rejoin
    if binary.rejoin == "enforce":
        again = 0 if rejoin else assignment.next_rebalance_ms
        log += (_assignor_line("INFO", _schedule(binary, rejoin, again)),)
        rejoin = again == 0
    return Reception(
        used=reaction.used,
        rejoin=rejoin,
        log=log,
        processed=binary.processes_probing or not reaction.rejoin,
        next_rebalance_ms=again,
        note=reaction.note,
    )


def _assignor_line(level: str, text: str) -> LogLine:
    return LogLine("", level, "StreamsPartitionAssignor", text)


def _note_lines(binary: Binary, reaction: Reaction, used: int, received: int, common: int) -> tuple[LogLine, ...]:
    probing = f"Sent a version {used} subscription and got version {received} assignment back"
    probing += " (successful version probing)."
    next_one = f"Upgrading subscription metadata version to {reaction.used} for next rebalance."
    level = "INFO"
    match reaction.note:
        case "downgrade to received":
            text = f"{probing} Downgrading subscription metadata to received version and trigger new rebalance."
        case "set to leader's":
            text = (
                f"{probing} Setting subscription metadata to leaders supported version {common}"
                " and trigger new rebalance."
            )
        case "downgrade to common":
            # The release candidates have not got the number yet.
            number = "" if binary.log in ("2.2.2-rc1", "2.3.1-rc1") else f" {common}"
            text = (
                f"{probing} Downgrade subscription metadata to commonly supported version{number}"
                " and trigger new rebalance."
            )
        case "upgrade in silence":
            text = (
                f"Sent a version {used} subscription and group leader's latest supported version is {common}."
                f" {next_one}"
            )
        case "upgrade to common":
            text = (
                f"Sent a version {used} subscription and group's latest commonly supported version is {common}"
                f" (successful version probing and end of rolling upgrade). {next_one}"
            )
        case "three versions":
            # The two missing spaces are Kafka's.
            level = "WARN"
            text = (
                f"Received an assignment version {received} greater than the used subscription version {used} but not"
                f" equalto the leader's supported version {common}. This should not happen and indicates members of"
                " the groupmay be on 3 or more different versions."
            )
        case _:
            return ()
    return (_assignor_line(level, text),)


def _schedule(binary: Binary, probing: bool, again: int) -> str:
    if probing:
        return "Requested to schedule immediate rebalance due to version probing."
    if again == 0:
        return "Requested to schedule immediate rebalance for new tasks to be safely revoked from current owner."
    if again == NO_REBALANCE:
        return "No followup rebalance was requested, resetting the rebalance schedule."
    if _prints_dates(binary):
        return f"Requested to schedule next probing rebalance at {_date(again)} to try for a more balanced assignment."
    return f"Requested to schedule probing rebalance for {again} ms."


def _die(binary: Binary, refusal: str, used: int, received: int, common: int) -> tuple[Failure, tuple[LogLine, ...]]:
    if refusal not in REFUSALS:
        return Failure("IllegalStateException", f"its rule, {refusal}"), ()
    trusting = binary.member_rule == "leader's version"
    match refusal:
        case "cannot read the assignment":
            if binary.rejoin == "none":
                return Failure("TaskAssignmentException", f"Unknown assignment data version: {received}"), ()
            text = f"Unable to decode assignment data: used version: {received}; latest supported version: "
            text += str(binary.latest)
            return Failure("TaskAssignmentException", text), (LogLine("", "ERROR", "AssignmentInfo", text),)
        case "higher than sent":
            text = f"Sent a version {used} subscription but got an assignment with higher version {received}."
            if trusting:
                return Failure("IllegalStateException", text), ()
            line = f"Leader sent back an assignment with version {received} which was greater than our used version "
            return Failure("TaskAssignmentException", text), (_assignor_line("ERROR", f"{line}{used}"),)
        case "cannot upgrade":
            # A space is missing between `our` and `actual` in the 2.3 line only.
            space = "" if binary.log in ("2.3.1-rc1", "2.3.1") else " "
            line = (
                f"Leader sent back assignment with commonly supported version {common} that is greater than"
                f" our{space}actual latest supported version {binary.latest}"
            )
            text = "Can't upgrade to metadata version greater than we support"
            return Failure("TaskAssignmentException", text), (_assignor_line("ERROR", line),)
        case _:
            # The two versions are swapped in Kafka's call.
            line = (
                f"Received an assignment with version {used} lower than our used subscription version {received} but"
                f" not equal to the leader's supported version {common} as should happen in successful version probing."
            )
            text = "Received version probing assignment version but did not match leader's version"
            return Failure("IllegalStateException", text), (_assignor_line("ERROR", line),)


# What its thread does then.


def rejoin_lines(binary: Binary, *, next_rebalance_ms: int = 0) -> tuple[LogLine, ...]:
    """What a thread logs when it sets out to rejoin; dates are in UTC, as on most servers.

    Source: 2.0.0 StreamThread#runLoop; 2.6.0, 3.4.0 StreamThread#runLoop.
    """
    if binary.rejoin == "none":
        return ()
    if binary.rejoin == "leave":
        return (_thread_line("INFO", "Version probing detected. Triggering new rebalance."),)
    when = _date(next_rebalance_ms) if _prints_dates(binary) else f"{next_rebalance_ms} ms"
    return (_thread_line("INFO", f"Triggering the followup rebalance scheduled for {when}."),)


def heed(binary: Binary, error_code: int) -> Heeded:
    """What a thread does about the error code of its assignment; nothing before 2.1.0, where assignments have none.

    Source: 2.2.0 StreamThread.RebalanceListener#onPartitionsAssigned;
    2.4.0, 2.7.0, 2.8.0, 3.8.0 StreamsRebalanceListener#onPartitionsAssigned.
    """
    if not error_code:
        return Heeded(False)
    if not binary.error_assignment:
        if error_code != 1 or binary.latest < 4:
            return Heeded(False)
        # 2.1 says it at debug level.
        line = _thread_line("ERROR", "Received error code 1 - shutdown")
        return Heeded(True, None, () if binary.log == "2.0" else (line,))
    name = f"Received error code {_CODES.get(error_code, '')}"
    match error_code:
        case 1:
            text = "One or more source topics were missing during rebalance"
            failure: Failure | None = Failure("MissingSourceTopicException", text)
            if binary.log in ("3.8", "4.0"):
                name += ". Missing metadata for source topics. Check the group leader logs for details."
        case 2:
            line = _thread_line("INFO", "Received version probing code VERSION_PROBING")
            return Heeded(False, None, (line,))
        case 3:
            text = "Hit an unexpected exception during task assignment phase of rebalance"
            failure = Failure("TaskAssignmentException", text)
        case 4 if binary.log != "2.7":
            failure = None
            name = "A Kafka Streams client in this Kafka Streams application is requesting to shutdown the application"
        case _:
            failure = Failure("TaskAssignmentException", "Hit an unrecognized exception during rebalance")
            name = f"Received unknown error code {error_code}"
    return Heeded(True, failure, (_thread_line("ERROR", name),))


_CODES = {1: "INCOMPLETE_SOURCE_TOPIC_METADATA", 3: "ASSIGNMENT_ERROR"}


def _thread_line(level: str, text: str) -> LogLine:
    return LogLine("", level, "StreamThread", text)


def _prints_dates(binary: Binary) -> bool:
    return binary.log not in ("2.6", "2.7", "2.8", "3.1")


def _date(milliseconds: int) -> str:
    """A time as 3.4.0 and later log it.

    >>> _date(0)
    '1970-01-01 00:00:00,000 Z'

    Source: 3.4.0 Utils#toLogDateTimeFormat.
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%d %H:%M:%S},{rest:03} Z"
