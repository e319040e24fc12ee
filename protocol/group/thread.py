"""One stream thread: the member that a group sees, with the bytes that it writes and reads.

When it does so, and what the broker makes of it, is in `run`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from .. import leader, member, wire
from ..messages import Assignment, AssignmentInfo, Subscription, SubscriptionInfo, TaskId
from ..releases import Binary
from ..trace import Failure, LogLine, MemberView
from ..versions import EARLIEST_PROBEABLE, Dialect

_UNIQUE_FIELD, _GENERATION_ID = 8, 2
"""The first versions, of the subscription and of the envelope, that carry a number which grows."""

TOPIC = "topic1"
"""The source topic of the only subtopology: task 0_1 reads its partition 1."""


def read_subscription(member_id: str, metadata: bytes, dialect: Dialect) -> tuple[leader.Seen | None, wire.Read]:
    """A JoinGroup's bytes as a leader of that dialect reads them; None where it cannot."""
    envelope = _read_envelope(metadata)
    one, read = _read_payload(member_id, envelope.user_data or b"", dialect)
    if one is not None and envelope.owned_partitions:
        one = replace(one, owned=envelope.owned_partitions)
    return one, read


_read_envelope = lru_cache(maxsize=4096)(wire.decode_subscription)


@lru_cache(maxsize=4096)
def _read_payload(member_id: str, payload: bytes, dialect: Dialect) -> tuple[leader.Seen | None, wire.Read]:
    read = wire.read_subscription_info(payload, dialect=dialect)
    return leader.Seen.of(member_id, read.value) if isinstance(read.value, SubscriptionInfo) else None, read


@lru_cache(maxsize=4096)
def read_assignment(data: bytes, dialect: Dialect) -> wire.Read:
    """A SyncGroup answer's bytes as a member of that dialect reads them."""
    return wire.read_assignment_info(wire.decode_assignment(data).user_data or b"", dialect=dialect)


@lru_cache(maxsize=4096)
def write_assignment(answer: leader.Answer, dialect: Dialect) -> tuple[bytes, int, int | None] | Failure:
    """An answer's bytes as a leader of that dialect writes them, and the two ints at their head."""
    info = AssignmentInfo(
        answer.version,
        answer.supported,
        answer.active,
        tuple((task, (leader.partition_of(task),)) for task in answer.standby),
        error_code=answer.error_code,
        next_rebalance_ms=answer.next_rebalance_ms,
    )
    payload = wire.write_assignment_info(info, dialect=dialect)
    if isinstance(payload, Failure):
        return payload
    data = wire.encode_assignment(Assignment(answer.partitions, payload), version=dialect.envelope)
    second = wire.decode_assignment_info(payload).commonly_supported_version
    return data, answer.version, second if answer.version >= EARLIEST_PROBEABLE else None


@dataclass(slots=True)
class Thread:
    """A stream thread; it outlives its processes, as a name on the operator's list does."""

    name: str
    instance: str
    process: bytes
    image: tuple[Binary, str | None]
    """The jar, and the `upgrade.from`, of the next start."""
    static: bool = False
    binary: Binary = field(init=False)
    first: Binary = field(init=False)
    """The jar of its first process."""
    strayed: bool = False
    """Whether it ever ran another jar than that."""
    upgrade_from: str | None = None
    used: int = 0
    state: str = "STOPPED"
    member_id: str = ""
    ids: int = 0
    tasks: tuple[TaskId, ...] = ()
    given: tuple[TaskId, ...] = ()
    """The tasks of the last assignment, taken or not."""
    written: dict[object, bytes | Failure] = field(default_factory=dict, repr=False)
    """The payloads that this process has written, by what they say."""
    enveloped: dict[tuple[bytes, int], bytes] = field(default_factory=dict, repr=False)
    """The same in the consumer's envelope, which since 3.4 holds the generation."""
    unique: int = 0
    generation: int = -1
    phase: float = 0.0
    failure: Failure | None = None
    poisoned_by: int = 0
    """The generation that gave it a version its jar cannot speak; 0 if none did."""
    noticed: bool = False
    """Whether a heartbeat that will tell it of a rebalance is on the clock."""

    def __post_init__(self) -> None:
        self.binary = self.first = self.image[0]

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self.state not in ("STOPPED", "CRASHED")

    def start(self) -> tuple[LogLine, ...]:
        """The process starts on its image: its used version is the jar's latest, or what `upgrade.from` says."""
        self.binary, self.upgrade_from = self.image
        self.strayed |= self.binary != self.first
        configured = member.configure(self.binary, self.upgrade_from)
        self.used, self.failure = configured.used, configured.failure
        self.state, self.tasks, self.generation = "JOINING", (), -1
        self.unique, self.poisoned_by, self.noticed, self.written = 0, 0, False, {}
        return self.lines(configured.log)

    def new_id(self) -> str:
        """The id that the broker mints when it is joined with an empty one."""
        self.ids += 1
        self.member_id = f"{self.name}#{self.ids}"
        return self.member_id

    def subscribe(self) -> bytes | Failure:
        """The bytes of its next JoinGroup, or the exception that building them throws."""
        self.unique = (self.unique + 1 + 128) % 256 - 128
        # What the version does not carry must not miss what was written before.
        key = (self.used, self.tasks, self.unique if self.used >= _UNIQUE_FIELD else 0)
        payload = self.written.get(key)
        if payload is None:
            payload = self.written[key] = self._payload()
        if isinstance(payload, Failure):
            return payload
        version = self.binary.dialect.envelope
        generation = self.generation if version >= _GENERATION_ID else -1
        metadata = self.enveloped.get((payload, generation))
        if metadata is None:
            envelope = Subscription((TOPIC,), payload, generation_id=generation)
            metadata = self.enveloped[payload, generation] = wire.encode_subscription(envelope, version=version)
        return metadata

    def _payload(self) -> bytes | Failure:
        info = member.subscribe(
            self.binary, used=self.used, process_id=self.process, tasks=self.tasks, unique_field=self.unique
        )
        return info if isinstance(info, Failure) else wire.write_subscription_info(info, dialect=self.binary.dialect)

    def receive(self, data: bytes, *, generation: int) -> member.Reception:
        """The SyncGroup answer arrives; the used version and the tasks change as the jar's rule says."""
        read = read_assignment(data, self.binary.dialect)
        self.given = ()
        if not isinstance(read.value, AssignmentInfo):
            return member.Reception(
                used=self.used, rejoin=False, failure=read.failure, log=self.lines(read.log), processed=False
            )
        reception = member.receive(self.binary, used=self.used, assignment=read.value)
        self.used, self.generation, self.given = reception.used, generation, read.value.active_tasks
        heeded = member.heed(self.binary, reception.error_code)
        if heeded.stops:
            failure = heeded.failure or Failure("shutdown", f"error code {reception.error_code}")
            reception = replace(reception, failure=failure)
        if reception.failure is None:
            self.tasks = read.value.active_tasks if reception.processed else ()
        if not 1 <= self.used <= self.binary.latest and not self.poisoned_by:
            self.poisoned_by = generation
        log = read.log + reception.log + heeded.log
        if not log:
            return reception
        # Five times as fast as dataclasses.replace, and this happens for every member in every generation.
        return member.Reception(
            used=reception.used,
            rejoin=reception.rejoin,
            failure=reception.failure,
            log=self.lines(log),
            processed=reception.processed,
            error_code=reception.error_code,
            next_rebalance_ms=reception.next_rebalance_ms,
            note=reception.note,
        )

    def lines(self, log: tuple[LogLine, ...]) -> tuple[LogLine, ...]:
        """The lines with this thread's name on them."""
        return tuple(LogLine(self.name, line.level, line.logger, line.text) for line in log)

    def view(self) -> MemberView:
        """What an onlooker sees."""
        return MemberView(
            self.name,
            self.state,
            self.binary.name,
            self.binary.latest,
            self.used,
            self.tasks,
            self.member_id,
            self.failure,
        )
