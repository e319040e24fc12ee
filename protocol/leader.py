"""The group leader: what it makes of the subscriptions that it could read, and what it answers each member.

How the bytes of a subscription are read, and how those of an assignment are made, is in `wire`; which
numbers go back is in `strategies`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heapreplace

from .messages import LATEST_OFFSET, NO_REBALANCE, SubscriptionInfo, TaskId, TopicPartition
from .releases import Binary
from .strategies import REFUSALS, Refusal, Verdict, is_own, leader_rule
from .trace import Failure, LogLine

ASSIGNMENT_ERROR = 3
"""The error code of an answer to a group that the leader could not assign (2.7.0 and later)."""

SHUTDOWN_REQUESTED = 4
"""The error code of a member that wants the whole application to stop (2.8.0 and later)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One member's subscription, as far as the leader could read it."""

    member: str
    """The member id; a leader takes the threads of a process in the order of their ids."""
    process: bytes
    version: int
    supported: int
    active: tuple[TaskId, ...] | None
    """Its previous active tasks; None where only the two ints could be read."""
    standby: tuple[TaskId, ...] = ()
    owned: tuple[TopicPartition, ...] = ()
    """What the consumer's envelope says that it still owns (COOPERATIVE only)."""
    error_code: int = 0

    @classmethod
    def of(cls, member: str, info: SubscriptionInfo, owned: tuple[TopicPartition, ...] = ()) -> Seen:
        """The subscription that `wire` read, with its tasks told apart as every leader tells them.

        >>> info = SubscriptionInfo.of({TaskId(0, 1): LATEST_OFFSET}, version=7, latest_supported_version=7)
        >>> Seen.of("A", info).active
        (TaskId(subtopology=0, partition=1, topology=None),)
        """
        sums = info.offset_sums()
        active = tuple(task for task, offset in sums.items() if offset == LATEST_OFFSET)
        return cls(
            member=member,
            process=info.process_id,
            version=info.version,
            supported=info.latest_supported_version,
            active=None if info.head_only else active,
            standby=tuple(task for task, offset in sums.items() if offset != LATEST_OFFSET),
            owned=owned,
            error_code=info.error_code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one member is told."""

    member: str
    version: int
    supported: int
    """The second int; UNKNOWN below v3, which has none."""
    active: tuple[TaskId, ...] = ()
    """One entry for each of `partitions`, in their order."""
    partitions: tuple[TopicPartition, ...] = ()
    standby: tuple[TaskId, ...] = ()
    error_code: int = 0
    next_rebalance_ms: int = NO_REBALANCE
    """0 where tasks were withheld from it until their owner gave them up; v6 and older bytes cannot say it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a leader did: an answer for each member, or a failure that ends its thread."""

    answers: tuple[Answer, ...]
    failure: Failure | None = None
    log: tuple[LogLine, ...] = ()
    probing: bool = False
    """Whether a member was ahead of the leader."""
    rows: tuple[str, ...] = ()
    """For each answer the row that gave it, where the leader's rule is one of a reader's own."""


@dataclass(slots=True)
class _Client:
    """A process on the leader's table."""

    members: list[Seen] = field(default_factory=list)
    before: set[TaskId] = field(default_factory=set)
    standby: set[TaskId] = field(default_factory=set)
    tasks: set[TaskId] = field(default_factory=set)

    @property
    def capacity(self) -> int:
        return len(self.members)

    def roomier(self, other: _Client) -> bool:
        """Whether it has more room than the other: a lower load, or the same load on more threads."""
        mine, others = len(self.tasks) * other.capacity, len(other.tasks) * self.capacity
        return mine < others if mine != others else self.capacity > other.capacity


def partition_of(task: TaskId) -> TopicPartition:
    """The one input partition of a task: subtopology 0 reads `topic1`, 1 reads `topic2`, and so on.

    >>> str(partition_of(TaskId(0, 2)))
    'topic1-2'
    """
    return TopicPartition(f"topic{task.subtopology + 1}", task.partition)


def assign(binary: Binary, seen: Sequence[Seen], *, tasks: Sequence[TaskId]) -> Decision:
    """The leader's turn: pick the versions, place the tasks, answer everybody.

    Tasks are stateless with one input partition each, and there are no standby replicas. Where Kafka walks
    a hash map of processes, they go by their ids here; the client of the unreadable members has a random
    id there and comes last here.

    Source: 1.1.1 StreamPartitionAssignor#assign; 2.0.0, 2.3.1, 2.4.0, 2.6.0, 3.9.0 StreamsPartitionAssignor#assign.
    """
    latest = binary.latest
    asked = latest >= 9 and any(one.error_code == SHUTDOWN_REQUESTED for one in seen)
    if asked and binary.log not in _SHUTS_DOWN_LAST:
        return Decision(_errors(seen, latest, SHUTDOWN_REQUESTED))
    if binary.future_tasks == "empty" and any(one.active is None and one.version <= latest for one in seen):
        text = 'Cannot invoke "java.util.Collection.iterator()" because "c" is null'
        return Decision((), Failure("NullPointerException", text))

    verdict = leader_rule(binary.leader_rule).answer([(one.version, one.supported) for one in seen], latest=latest)
    if verdict.refusal is not None:
        return _refuse(binary, seen, verdict.refusal)
    log = _version_lines(binary, verdict)
    if asked:
        return Decision(_errors(seen, latest, SHUTDOWN_REQUESTED), log=tuple(log))

    clients = _clients(binary, seen, tasks)
    if not clients:
        return Decision((), Failure("ArithmeticException", "/ by zero"), tuple(log), verdict.probing)
    if verdict.min_used < 1:
        text = f"version must be between 1 and {latest}; was: {verdict.min_used}"
        return Decision((), Failure("IllegalArgumentException", text), tuple(log), verdict.probing)

    answers = []
    if verdict.probing and binary.previous_tasks != "assigned":
        for one, (version, supported) in zip(seen, verdict.replies, strict=True):
            active, standby = _previous(binary, one, seen)
            answers.append(_answer(one.member, version, supported, active, standby=standby))
    else:
        placed, withheld = _place(binary, clients, tasks, verdict.probing, log)
        for one, (version, supported) in zip(seen, verdict.replies, strict=True):
            again = one.member in withheld and binary.rejoin == "enforce"
            mine = placed.get(one.member, ())
            answers.append(_answer(one.member, version, supported, mine, next_ms=0 if again else NO_REBALANCE))
    return Decision(tuple(answers), None, tuple(log), verdict.probing, verdict.rows)


# The versions, and what the log says of them.

_SILENT = ("0.10.0", "1.1")
"""The dialects that say nothing of versions."""
_OLD_WORDS = ("2.0", "2.2", "2.2.2-rc1", "2.3.1-rc1", "c310")
"""The dialects that say `Downgrading`, and say nothing of the smallest supported version."""
_SHUTS_DOWN_LAST = ("2.8", "3.1", "3.4")
"""The dialects of the releases that check versions before they heed a request to shut down."""


def _line(level: str, text: str) -> LogLine:
    return LogLine("", level, "StreamsPartitionAssignor", text)


def _version_lines(binary: Binary, verdict: Verdict) -> list[LogLine]:
    log: list[LogLine] = []
    if is_own(binary.leader_rule):  # nobody has written what it logs
        return log
    if verdict.probing:
        told, what = binary.latest, "empty assignment"
        if binary.future_tasks != "empty":
            told, what = verdict.min_supported, "assignment"
        head = f"Received a future (version probing) subscription (version: {verdict.future_version})."
        log.append(_line("INFO", f"{head} Sending {what} back (with supported version {told})."))
    # Nothing is downgraded under the proposal; its code logs that all the same, its text has no log.
    if binary.log in _SILENT or binary.leader_rule == "mirror":
        return log
    rest = f"Latest supported version is {binary.latest}."
    old = binary.log in _OLD_WORDS
    if verdict.min_used < binary.latest:
        verb = "Downgrading" if old else "Downgrade"
        log.append(_line("INFO", f"{verb} metadata to version {verdict.min_used}. {rest}"))
    if verdict.min_supported < binary.latest and not old:
        log.append(_line("INFO", f"Downgrade latest supported metadata to version {verdict.min_supported}. {rest}"))
    return log


def _refuse(binary: Binary, seen: Sequence[Seen], refusal: Refusal) -> Decision:
    if refusal.key == "cannot read the subscription":
        text = f"unable to decode subscription data: version={refusal.future}"
        return Decision((), Failure("TaskAssignmentException", text))
    if refusal.key == "cannot write the assignment":
        text = f"version must be between 1 and {binary.latest}; was: {refusal.version}, by {refusal.row}"
        return Decision((), Failure("IllegalArgumentException", text))
    if refusal.key not in REFUSALS:
        return Decision((), Failure("IllegalStateException", f"its rule, {refusal.key}"))
    if binary.error_assignment:
        log = [_line("ERROR", "Caught an error in the task assignment. Returning an error assignment.")]
        log = [] if binary.log == "2.7" else log
        return Decision(_errors(seen, binary.latest, ASSIGNMENT_ERROR), log=tuple(log), probing=True)
    text = (
        f"Received a future (version probing) subscription (version: {refusal.future}) and an incompatible "
        f"pre Kafka 2.0 subscription (version: {refusal.smallest}) at the same time."
    )
    return Decision((), Failure("IllegalStateException", text), probing=True)


def _errors(seen: Iterable[Seen], latest: int, code: int) -> tuple[Answer, ...]:
    """An error assignment for everybody, in the leader's own latest version, whoever can read that."""
    return tuple(Answer(member=one.member, version=latest, supported=latest, error_code=code) for one in seen)


def _answer(
    member: str,
    version: int,
    supported: int,
    active: Sequence[TaskId],
    *,
    standby: tuple[TaskId, ...] = (),
    next_ms: int = NO_REBALANCE,
) -> Answer:
    return Answer(
        member=member,
        version=version,
        supported=supported,
        active=tuple(active),
        partitions=tuple(map(partition_of, active)),
        standby=standby,
        next_rebalance_ms=next_ms,
    )


# The tasks.


def _clients(binary: Binary, seen: Sequence[Seen], tasks: Sequence[TaskId]) -> list[_Client]:
    """The processes in the order of their ids, each with its members in the order of theirs."""
    known: dict[bytes, _Client] = {}
    unreadable = _Client()
    readers = {partition_of(task): task for task in tasks} if binary.cooperative else {}
    for one in sorted(seen, key=lambda one: one.member):
        if one.version <= binary.latest:
            client = known.setdefault(one.process, _Client())
        elif binary.future_tasks == "empty":
            continue
        else:
            client = unreadable
        client.members.append(one)
        client.before.update(one.active or ())
        client.before.update(readers[held] for held in one.owned if held in readers)
        client.standby.update(one.standby)
    clients = [known[process] for process in sorted(known, key=_as_java_compares)]
    return [*clients, unreadable] if unreadable.members else clients


def _as_java_compares(process: bytes) -> tuple[int, int]:
    """A process id as java.util.UUID compares it: two signed longs."""
    return int.from_bytes(process[:8], signed=True), int.from_bytes(process[8:], signed=True)


def _previous(binary: Binary, one: Seen, seen: Sequence[Seen]) -> tuple[tuple[TaskId, ...], tuple[TaskId, ...]]:
    """What a member gets while nothing moves: its own previous tasks, or up to 2.3.0 those of its whole process.

    Two threads of a process then get the same tasks twice, which was fixed beside KAFKA-8649.

    Source: 2.3.0, 2.3.1 StreamsPartitionAssignor#versionProbingAssignment.
    """
    if one.active is None:
        return (), ()
    whole = binary.previous_tasks == "client"
    group = [other for other in seen if other.process == one.process and other.active is not None] if whole else [one]
    active = {task for other in group for task in other.active or ()}
    standby = {task for other in group for task in other.standby}
    return tuple(sorted(active)), tuple(sorted(standby))


def _place(
    binary: Binary, clients: list[_Client], tasks: Sequence[TaskId], probing: bool, log: list[LogLine]
) -> tuple[dict[str, tuple[TaskId, ...]], set[str]]:
    """The tasks of each member, and the members from whom tasks are withheld."""
    balanced = binary.rejoin == "enforce"
    if balanced:
        _place_evenly(clients, tasks)
    else:
        _place_stickily(clients, tasks)

    owners = {held: one.member for client in clients for one in client.members for held in one.owned}
    owners = owners if binary.cooperative else {}
    placed: dict[str, tuple[TaskId, ...]] = {}
    withheld: set[str] = set()
    interleave = probing or balanced or not owners
    for client in clients:
        shares = None if interleave else _keep_on_threads(client, owners)
        if shares is None:
            # A client that cannot be spared a second rebalance ends the effort for those after it.
            interleave = interleave or any(one.owned for one in client.members)
            shares = _interleave(client)
        for one in client.members:
            mine: list[TaskId] = []
            gone: list[TaskId] = []
            for task in shares[one.member]:
                theirs = owners.get(partition_of(task), one.member) != one.member
                (gone if theirs else mine).append(task)
            placed[one.member] = tuple(sorted(mine, key=partition_of))
            if gone:
                withheld.add(one.member)
            if gone and balanced:
                log.extend(_withholding_lines(binary, one.member, gone))
    if balanced:
        unstable = probing or withheld
        log.append(_line("INFO", _UNSTABLE if unstable else _STABLE))
    return placed, withheld


_STABLE = "Finished stable assignment of tasks, no followup rebalances required."
_UNSTABLE = "Finished unstable assignment of tasks, a followup rebalance will be scheduled."


def _withholding_lines(binary: Binary, member: str, gone: Iterable[TaskId]) -> list[LogLine]:
    rest = "active assignment until it is safely revoked in followup rebalance"
    lines = [_line("INFO", f"Removing task {task} from {member} {rest}") for task in gone]
    by = "" if binary.log == "2.6" else f" by {member}"
    again = f"Requesting followup rebalance be scheduled immediately{by} due to tasks changing ownership."
    return [*lines, _line("INFO", again)]


def _place_evenly(clients: list[_Client], tasks: Iterable[TaskId]) -> None:
    """Each task to the process with the lowest load, whoever had it before.

    Source: 2.6.0 HighAvailabilityTaskAssignor#assignStatelessActiveTasks.
    """
    loads = [(len(client.tasks) / client.capacity, place) for place, client in enumerate(clients)]
    heapify(loads)
    for task in sorted(tasks):
        place = loads[0][1]
        client = clients[place]
        client.tasks.add(task)
        heapreplace(loads, (len(client.tasks) / client.capacity, place))


def _place_stickily(clients: list[_Client], tasks: Iterable[TaskId]) -> None:
    """Tasks go back to who had them, as far as balance allows; the others to the process with most room.

    Source: 2.3.1 StickyTaskAssignor#assignActive, #findClient.
    """
    everything = sorted(tasks)
    quota = len(everything) // sum(client.capacity for client in clients)
    had: dict[TaskId, _Client] = {task: client for client in clients for task in sorted(client.before)}
    left: list[TaskId] = []
    for task in everything:
        owner = had.get(task)
        if owner is not None and len(owner.tasks) < owner.capacity * quota:
            owner.tasks.add(task)
        else:
            left.append(task)
    rest: list[TaskId] = []
    for task in left:
        stores = [client for client in clients if task in client.standby and task not in client.before]
        taker = next((client for client in stores if len(client.tasks) < client.capacity * quota), None)
        if taker is not None:
            taker.tasks.add(task)
        else:
            rest.append(task)
    for task in rest:
        stores = [client for client in clients if task in client.standby and task not in client.before]
        first = had.get(task) or (_roomiest(stores) if stores else None)
        for choice in (first, _roomiest(stores) if stores else None):
            if choice is not None and not _overloaded(choice, clients):
                choice.tasks.add(task)
                break
        else:
            _roomiest(clients).tasks.add(task)


def _roomiest(clients: Sequence[_Client]) -> _Client:
    """The first process without a task, or else the first of those with most room."""
    best = clients[0]
    for client in clients:
        if not client.tasks:
            return client
        if client.roomier(best):
            best = client
    return best


def _overloaded(client: _Client, clients: Iterable[_Client]) -> bool:
    return len(client.tasks) >= client.capacity and any(other.roomier(client) for other in clients)


def _interleave(client: _Client) -> dict[str, list[TaskId]]:
    """A process's tasks, dealt in turn to its threads.

    Source: 2.0.0 StreamsPartitionAssignor#interleaveTasksByGroupId; 2.6.0 #assignTasksToThreads.
    """
    tasks, members = sorted(client.tasks), client.members
    return {one.member: tasks[index :: len(members)] for index, one in enumerate(members)}


def _keep_on_threads(client: _Client, owners: dict[TopicPartition, str]) -> dict[str, list[TaskId]] | None:
    """A process's tasks on the threads that own them, evenly; None where that cannot be.

    Source: 2.4.0 StreamsPartitionAssignor#tryStickyAndBalancedTaskAssignmentWithinClient.
    """
    if not any(one.owned for one in client.members):
        return None
    shares: dict[str, list[TaskId]] = {one.member: [] for one in client.members}
    most = -(-len(client.tasks) // len(shares))
    new: list[TaskId] = []
    for task in sorted(client.tasks):
        owner = owners.get(partition_of(task))
        if owner is None:
            new.append(task)
        elif owner in shares and len(shares[owner]) < most:
            shares[owner].append(task)
        else:
            return None
    while new:
        for share in [share for share in shares.values() if len(share) < most]:
            if new:
                share.append(new.pop(0))
    return shares
