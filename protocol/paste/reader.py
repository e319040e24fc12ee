"""What a binary of one release sees in a Streams payload, and what it does next.

The rules that it follows are in `leader`, `member` and `strategies`; the bytes are taken apart in `layers`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import member, wire
from ..messages import AssignmentInfo, SubscriptionInfo
from ..releases import Release
from ..strategies import LEADER_RULES
from .layers import HEAD, Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a reader of one release makes of bytes."""

    release: str
    sees: str
    failure: str
    """The Java exception that it throws; empty where it reads."""
    log: tuple[str, ...]
    then: str
    """What it does next."""


_READERS = {
    wire.SUBSCRIPTION_INFO: wire.read_subscription_info,
    wire.ASSIGNMENT_INFO: wire.read_assignment_info,
    wire.CONSUMER_SUBSCRIPTION: wire.read_subscription,
    wire.CONSUMER_ASSIGNMENT: wire.read_assignment,
}


def seen_by(layer: Layer, reader: Release, *, used: int | None = None) -> Sight | None:
    """What that release's own code makes of the payload, or of the envelope where there is none; None for a record.

    `used` is the version that the reading member spoke; by default its latest.
    """
    payload = layer.payload or layer
    if payload.kind == HEAD:
        version, second = (int(str(field.value)) for field in payload.fields)
        return _assigned(reader, AssignmentInfo(version, second), (), used, head=True)
    if payload.kind not in _READERS:
        return None
    read = _READERS[payload.kind](payload.data, dialect=reader.binary.dialect)
    log = tuple(str(line) for line in read.log)
    if read.failure is not None:
        leads = payload.kind == wire.SUBSCRIPTION_INFO
        then = "Its stream thread dies" + (", and the next leader that cannot read it dies too." if leads else ".")
        return Sight(release=reader.name, sees=f"throws {read.failure}", failure=str(read.failure), log=log, then=then)
    if isinstance(read.value, SubscriptionInfo):
        return _subscribed(reader, read.value, log)
    if isinstance(read.value, AssignmentInfo):
        return _assigned(reader, read.value, log, used)
    return Sight(release=reader.name, sees="reads the envelope", failure="", log=log, then="")


def _subscribed(reader: Release, info: SubscriptionInfo, log: tuple[str, ...]) -> Sight:
    latest = reader.latest
    if info.head_only:
        sees = f"sees a future subscription: v{info.version}, supports v{info.latest_supported_version}"
    else:
        sees = f"reads v{info.version} in full"
    verdict = LEADER_RULES[reader.leader_rule].answer(
        [(latest, latest), (info.version, info.latest_supported_version)], latest=latest
    )
    if verdict.refusal is not None or not verdict.replies:
        then = "As the leader it refuses the whole group."
    else:
        (mine, _), (version, second) = verdict.replies[0], verdict.replies[-1]
        told = f"v{version}" if second < 0 else f"v{version}/{second}"
        empty = verdict.probing and reader.binary.future_tasks == "empty"
        then = f"As the leader, with its own v{latest} beside it, it answers this member {told}"
        then += ", with no task: a probe" if empty else ", a probe with tasks" if verdict.probing else ""
        then += f"; the others get v{mine}." if mine != version or verdict.probing else "."
    return Sight(release=reader.name, sees=sees, failure="", log=log, then=then)


def _assigned(
    reader: Release, info: AssignmentInfo, log: tuple[str, ...], used: int | None, *, head: bool = False
) -> Sight:
    spoke = reader.latest if used is None else used
    sees = (
        f"reads v{info.version} in full" if not head else f"sees v{info.version} and {info.commonly_supported_version}"
    )
    if info.version > reader.latest:
        refused = wire.read_assignment_info(info.version.to_bytes(4, "big") + bytes(64), dialect=reader.binary.dialect)
        log += tuple(str(line) for line in refused.log)
        failure = str(refused.failure)
        return Sight(
            release=reader.name, sees=f"throws {failure}", failure=failure, log=log, then="Its stream thread dies."
        )
    heard = member.receive(reader.binary, used=spoke, assignment=info)
    log += tuple(str(line) for line in heard.log)
    if heard.failure is not None:
        return Sight(
            release=reader.name, sees=sees, failure=str(heard.failure), log=log, then=f"It dies: {heard.failure}."
        )
    if heard.error_code:
        heeded = member.heed(reader.binary, heard.error_code)
        log += tuple(str(line) for line in heeded.log)
        end = (
            f"It dies: {heeded.failure}." if heeded.failure else "It shuts down." if heeded.stops else "It ignores it."
        )
        return Sight(release=reader.name, sees=f"{sees}, error code {heard.error_code}", failure="", log=log, then=end)
    if heard.used > reader.latest:
        doomed = member.subscribe(reader.binary, used=heard.used)
        return Sight(
            release=reader.name,
            sees=sees,
            failure="",
            log=log,
            then=(
                f"Crash at the next rebalance: having sent v{spoke} it will speak v{heard.used}, and its next "
                "subscription "
                f"throws {doomed} (KAFKA-8649). Until then it works."
            ),
        )
    then = f"Having sent v{spoke}, it goes on with v{heard.used}"
    if heard.rejoin:
        then += " and rejoins at once"
        then += ", taking the tasks first" if heard.processed else "; it does not take these tasks"
    return Sight(release=reader.name, sees=sees, failure="", log=log, then=then + ".")
