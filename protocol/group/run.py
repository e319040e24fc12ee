"""One run of a group: the operator's bounces, the threads, the broker, and the clock between them.

What a thread writes and reads is in `thread`, when things happen in `timetable`, what a step says in `words`.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import leader, member
from ..coordinator import Coordinator, Seat, Succession
from ..errors import ImpossibleScenarioError
from ..machine import MEMBER
from ..messages import AssignmentInfo, TaskId
from ..releases import Binary
from ..trace import Death, Failure, GroupView, LogLine, Outcome, Sent, Step, Trace, View
from ..versions import EARLIEST_PROBEABLE
from . import words
from .thread import Thread, read_assignment, read_subscription, write_assignment
from .timetable import Timetable


@dataclass(frozen=True, slots=True)
class Place:
    """A member as it is before the first step."""

    name: str
    instance: str
    binary: Binary
    upgrade_from: str | None = None


@dataclass(frozen=True, slots=True)
class Bounce:
    """One stop and start of an instance, all its threads at once."""

    instance: str
    binary: Binary
    upgrade_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a run needs to know; `scenario` makes one of an operator's picks."""

    places: tuple[Place, ...]
    bounces: tuple[Bounce, ...]
    succession: Succession
    leader: str = ""
    """Who leads first; empty: the first to join."""
    timetable: Timetable = Timetable()
    leaves: bool = False
    """Whether a closing member sends LeaveGroup; Streams does not."""
    restart: float = 2.0
    """Seconds from a close to the start of the next process."""
    static: bool = False
    supervisor: float | None = None
    """Seconds after which a dead instance is started again, on the same jar."""
    tasks: tuple[TaskId, ...] = ()
    seed: int = 0
    until: float | None = None
    """Seconds after which the run is cut off, loop or not."""
    show_start: bool = False
    """Whether the first generations are steps; else the trace starts when they are over."""


PATIENCE = 600.0
"""Seconds of unrest after which a run is called a loop, where no limit is given."""


class _Pinned:
    """The member that was picked leads while its id lives; then the succession goes on."""

    def __init__(self, name: str, then: Succession) -> None:
        self.first, self.then = f"{name}#1", then
        self.every_generation = then.every_generation

    def pick(self, seats: tuple[Seat, ...]) -> str:
        if any(seat.id == self.first for seat in seats):
            return self.first
        return self.then.pick(seats)


def name_of(member_id: str) -> str:
    """The member whose id this is, or was."""
    return member_id.rsplit("#", 1)[0]


class Run:
    """The run while it goes; `play` returns the trace."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.time = plan.timetable
        self.draw = random.Random(plan.seed)
        self.now = 0.0
        self.queue: list[tuple[float, int, int, str, str]] = []
        self.order = 0
        self.threads = {
            place.name: Thread(place.name, place.instance, _process(i), (place.binary, place.upgrade_from), plan.static)
            for i, place in enumerate(plan.places)
        }
        self.tasks = plan.tasks or tuple(TaskId(0, i) for i in range(len(plan.places)))
        succession = _Pinned(plan.leader, plan.succession) if plan.leader else plan.succession
        self.broker = Coordinator(succession)
        self.bounces = list(plan.bounces)
        self.bounce = 0
        self.was_empty = True
        self.over = False
        self.steps: list[Step] = []
        self.deaths: list[Death] = []
        self.errors: set[int] = set()
        self.seen: dict[object, tuple[int, int]] = {}
        self.elections = 0
        self.loop = ""
        self.quiet_since = 0.0
        self.leading: dict[str, bytes] = {}
        self.heads: dict[bytes, tuple[int | None, int | None]] = {}
        self.handlers: Mapping[str, Callable[[list[str]], None]] = {
            "close": self._close,
            "start": self._start,
            "first join": self._first_join,
            "join": self._join,
            "notice": self._notice,
            "rejoin": self._rejoin,
            "leave": self._leave,
            "expire": self._expire,
            "complete": self._complete,
            "assign": self._assign,
            "sync": self._sync,
        }
        self.view = self._look()

    # ---------------------------------------------------------------- the clock

    def play(self) -> Trace:
        """Run until nothing is left to happen, a loop is certain, or time is up."""
        for place in self.plan.places:
            self.at(0.0, "start", place.name)
        self._drain()
        prelude = 0 if self.plan.show_start else len(self.steps)
        start = self.steps[prelude - 1].after if prelude else self.view if not self.steps else self.steps[0].before
        origin = 0.0
        while not self.over and self.bounces:
            when = self._operate()
            if self.bounce == 1 and not self.plan.show_start:
                origin = when
            self._drain(origin)
        return self._trace(start, prelude, origin)

    def _drain(self, origin: float = 0.0) -> None:
        """Let everything happen that is due, in order; events of one kind at one instant are one step."""
        while self.queue and not self.over:
            due, _, _, kind, _ = self.queue[0]
            limit = self.plan.until
            if due - (origin if limit is not None else self.quiet_since) > (PATIENCE if limit is None else limit):
                self.over = True
                return
            self.now = due
            batch = []
            while self.queue and self.queue[0][0] == due and self.queue[0][3] == kind:
                batch.append(heapq.heappop(self.queue)[4])
            self.handlers[kind](batch)
            if self.loop and limit is None:
                self.over = True

    def at(self, due: float, kind: str, who: str = "") -> None:
        """Put an event on the timetable; events of one kind at one instant are one step."""
        self.order += 1
        heapq.heappush(self.queue, (due, _PRIORITY.get(kind, 5), self.order, kind, who))

    def _operate(self) -> float:
        """The operator's next bounce, once the group has been quiet for a while; returns when."""
        bounce = self.bounces.pop(0)
        self.bounce += 1
        when = self.time.close_at(self.now, self.draw)
        for thread in self._of(bounce.instance):
            thread.image = (bounce.binary, bounce.upgrade_from)
            self.at(when, "close" if thread.alive else "start", thread.name)
        self.seen.clear()
        self.quiet_since = when
        return when

    def _of(self, instance: str) -> list[Thread]:
        return [thread for thread in self.threads.values() if thread.instance == instance]

    # ---------------------------------------------------------------- the operator

    def _close(self, who: list[str]) -> None:
        """An instance stops; its ids linger at the broker, or leave at once."""
        threads = [self.threads[name] for name in who]
        moves = self._move(threads, "close")
        instance, binary = threads[0].instance, threads[0].binary
        for thread in threads:
            thread.tasks = ()
            if self.plan.leaves and not thread.static:
                self._remove(thread.member_id)
            else:
                self.at(self.now + binary.session_timeout_ms / 1000, "expire", thread.member_id)
            self.at(self.now + self.plan.restart, "start", thread.name)
        if self.plan.leaves and not self.plan.static:
            why = f"Its LeaveGroup takes {words.names(who)} out of the group at once."
            sent = tuple(Sent("LeaveGroup", name, "coordinator") for name in who)
        else:
            seconds = binary.session_timeout_ms // 1000
            why = (
                f"Kafka Streams sends no LeaveGroup when it closes: the broker keeps the old id until its session "
                f"times out, up to {seconds} s later."
            )
            sent = ()
        self._step("close", who, f"{instance} stops", why, words.thread(binary, "completeShutdown"), moves=moves,
                   messages=sent)
        if self.broker.state == "PreparingRebalance":
            self._spread_the_word()
            self._check_barrier()

    def _start(self, who: list[str]) -> None:
        """Processes start; each sends its first JoinGroup."""
        threads = [self.threads[name] for name in who]
        log: list[LogLine] = []
        moves: list[tuple[str, str]] = []
        for thread in threads:
            moves += self._move([thread], "start")
            log += thread.start()
        first = threads[0]
        doomed = [thread for thread in threads if thread.failure is not None]
        joining = [thread for thread in threads if thread.failure is None]
        sent = self._send_join(joining)
        speaks = f"v{first.used}" if len({t.used for t in threads}) == 1 else "each its own version"
        title = f"{words.names(who, all_of=len(self.threads))} {words.verb(who, 'starts', 'start')}"
        if len({t.binary.name for t in threads}) == 1:
            title += f" on {first.binary.name}"
        why = (
            f"A fresh process speaks the latest version that its jar supports, {speaks}, and joins with an empty id."
            if first.used == first.binary.latest
            else f"upgrade.from={first.upgrade_from} makes the fresh process speak {speaks}, "
            f"although its jar supports v{first.binary.latest}."
        )
        self._step("start", who, title, why, words.assignor(first.binary, "configure"), moves=tuple(moves),
                   messages=sent, log=tuple(log))
        self._die([(thread, thread.failure) for thread in doomed if thread.failure], (), "start")
        self._after_join()

    # ---------------------------------------------------------------- joining

    def _send_join(self, threads: Iterable[Thread], *, known: bool = False) -> tuple[Sent, ...]:
        """JoinGroup requests reach the broker; those that cannot be encoded are not sent."""
        sent = []
        for thread in threads:
            data = thread.subscribe()
            if isinstance(data, Failure):
                thread.failure = data
                continue
            if known:
                self.broker = self.broker.rejoin(thread.member_id, metadata=data)
            elif thread.static and (seat := self.broker.static(thread.name)):
                old = seat.id
                self.broker = self.broker.replace_static(
                    thread.name, member_id=thread.new_id(), rank=self.draw.random(), metadata=data
                )
                self._cancel("expire", old)
            else:
                seat = Seat(
                    thread.new_id(),
                    self.draw.random(),
                    data,
                    instance=thread.name if thread.static else "",
                    standing=thread.binary.latest,
                )
                self.broker = self.broker.admit(seat)
                if self.plan.leader == thread.name and thread.ids == 1:
                    self.broker = replace(self.broker, leader=seat.id)
            info = thread.sent
            assert info is not None
            sent.append(
                Sent("JoinGroup", thread.name, "coordinator", info.version, info.latest_supported_version,
                     thread.tasks, data=data)
            )
        return tuple(sent)

    def _after_join(self) -> None:
        """What follows a JoinGroup: a rebalance, or for a member that changed nothing, its stored assignment."""
        if self.broker.state == "PreparingRebalance":
            self._spread_the_word()
            self._check_barrier()
        still = [
            t for t in self.threads.values()
            if t.state == "JOINING" and (seat := self.broker.seat(t.member_id)) and not seat.waiting
        ]
        if still:
            self._resume(still)

    def _resume(self, threads: list[Thread]) -> None:
        """The broker answers with the current generation: no rebalance, the stored assignment again."""
        who = [thread.name for thread in threads]
        static = all(thread.static for thread in threads)
        why = (
            "A static member that returns in time is given its old place: no rebalance, and the assignment that was "
            "made for its predecessor."
            if static
            else "A follower whose metadata did not change starts no rebalance: the broker answers with the current "
            "generation."
        )
        moves = self._move(threads, "resume")
        self._step("replace" if static else "resume", who, f"{words.names(who)} {words.verb(who, 'is', 'are')} still in",
                   why, f"{words.BROKER}#doJoinGroup", moves=moves)
        self._deliver(threads)

    def _spread_the_word(self) -> None:
        """Each stable member hears of the rebalance at its next heartbeat."""
        for thread in self.threads.values():
            if thread.state in ("STABLE", "SYNCING") and not thread.noticed and self.broker.seat(thread.member_id):
                thread.noticed = True
                due = self.time.tick(thread.phase, self.now, self.draw) if thread.state == "STABLE" else self.now
                self.at(due, "notice", thread.name)

    def _notice(self, who: list[str]) -> None:
        """A heartbeat is answered with REBALANCE_IN_PROGRESS: the member builds its subscription and joins again."""
        threads = [self.threads[name] for name in who if self.threads[name].noticed]
        threads = [thread for thread in threads if thread.state in ("STABLE", "SYNCING")]
        if not threads:
            return
        moves = self._move(threads, "rebalance")
        sent = self._send_join(threads, known=True)
        names = [thread.name for thread in threads]
        self._step("rebalance", names, f"{words.names(names, all_of=len(self.threads))} "
                   f"{words.verb(names, 'rejoins', 'rejoin')}",
                   "A heartbeat is answered with REBALANCE_IN_PROGRESS, and the member joins again with a new "
                   "subscription.", "3.9.0 AbstractCoordinator#joinGroupIfNeeded", moves=moves, messages=sent)
        self._die([(thread, thread.failure) for thread in threads if thread.failure], (), "cannot encode")
        self._after_join()

    def _rejoin(self, who: list[str]) -> None:
        """Members that were told to change their version join again: under a new id up to 2.5, under the same later."""
        threads = [self.threads[name] for name in who if self.threads[name].state in ("PROBING", "UPGRADING")]
        if not threads:
            return
        moves = self._move(threads, "rejoin")
        log = tuple(line for t in threads for line in t.lines(member.rejoin_lines(t.binary)))
        sent: list[Sent] = []
        for thread in threads:
            seat = self.broker.seat(thread.member_id)
            if thread.binary.rejoin == "leave" and not thread.static:
                if seat:
                    self._remove(thread.member_id)
                sent.append(Sent("LeaveGroup", thread.name, "coordinator"))
                sent += self._send_join([thread])
            elif thread.binary.rejoin == "leave" or not seat:
                sent += self._send_join([thread])
            else:
                sent += self._send_join([thread], known=True)
        names = [thread.name for thread in threads]
        first = threads[0].binary
        why = (
            "Up to 2.5 the thread unsubscribes and subscribes again: it leaves the group and comes back under a new "
            "id, and if it led, somebody else leads now."
            if first.rejoin == "leave"
            else "From 2.6 the thread asks its consumer for a rebalance: it joins again under the same id, and if it "
            "leads, it leads on."
        )
        self._step("rejoin", names, f"{words.names(names, all_of=len(self.threads))} "
                   f"{words.verb(names, 'rejoins', 'rejoin')} with {self._versions(threads)}", why,
                   words.thread(first, "runOnce"), moves=moves, messages=tuple(sent), log=log, tag="probing")
        self._die([(thread, thread.failure) for thread in threads if thread.failure], (), "cannot encode")
        self._after_join()

    def _leave(self, who: list[str]) -> None:
        """Outside lockstep a member that leaves to probe is away for a moment."""
        threads = [self.threads[name] for name in who if self.threads[name].state in ("PROBING", "UPGRADING")]
        if not threads:
            return
        moves = self._move(threads, "rejoin")
        log = tuple(line for t in threads for line in t.lines(member.rejoin_lines(t.binary)))
        sent = tuple(Sent("LeaveGroup", t.name, "coordinator") for t in threads)
        for thread in threads:
            if self.broker.seat(thread.member_id):
                self._remove(thread.member_id)
            if thread.binary.two_step:
                self.at(self.now + self.time.first_join, "first join", thread.name)
            self.at(self.now + self.time.second_join, "join", thread.name)
        names = [thread.name for thread in threads]
        self._step("leave", names, f"{words.names(names)} {words.verb(names, 'leaves', 'leave')} to join again with "
                   f"{self._versions(threads)}",
                   "Up to 2.5 the thread unsubscribes first, which sends LeaveGroup; the others may complete the "
                   "rebalance without it.", words.thread(threads[0].binary, "runOnce"), moves=moves, messages=sent,
                   log=log, tag="probing")
        self._spread_the_word()
        self._check_barrier()

    def _first_join(self, who: list[str]) -> None:
        """The first JoinGroup of two: an id is minted, and holds the barrier open."""
        for name in who:
            thread = self.threads[name]
            self.broker = self.broker.expect(f"{name}#{thread.ids + 1}")

    def _join(self, who: list[str]) -> None:
        """The JoinGroup that is admitted."""
        threads = [self.threads[name] for name in who]
        sent = self._send_join(threads)
        self._step("join", who, f"{words.names(who)} {words.verb(who, 'joins', 'join')} with {self._versions(threads)}",
                   "The broker admits it under a new id.", f"{words.BROKER}#doJoinGroup", messages=sent)
        self._die([(thread, thread.failure) for thread in threads if thread.failure], (), "cannot encode")
        self._after_join()

    def _versions(self, threads: Sequence[Thread]) -> str:
        return " and ".join(f"v{v}" for v in sorted({t.used for t in threads}))

    # ---------------------------------------------------------------- the broker

    def _remove(self, member_id: str) -> None:
        if member_id == self.broker.leader:
            self.elections += 1
        self.broker = self.broker.remove(member_id)

    def _expire(self, ids: list[str]) -> None:
        """Sessions time out: the ghosts go, and with them perhaps the leader."""
        ids = [i for i in ids if self.broker.seat(i)]
        if not ids:
            return
        before = self.broker.leader
        for member_id in ids:
            self._remove(member_id)
        names = [name_of(i) for i in ids]
        title = f"The session of {words.names([f'the old {n}' for n in names])} times out"
        why = "Nobody sent heartbeats for that id, so the broker takes it out of the group."
        if before in ids and self.broker.leader:
            title += f"; {name_of(self.broker.leader)} leads"
            why += " It was the leader's id: the next leader is whoever comes first in the broker's map, new or old."
        self._step("expire", names, title, why, f"{words.BROKER}#onExpireHeartbeat")
        self._spread_the_word()
        self._check_barrier()

    def _check_barrier(self) -> None:
        """Complete the join phase as soon as everybody is there; a group that was empty waits for more."""
        if not self.broker.barrier:
            return
        if not self.was_empty or not self.broker.seats:
            self._complete([])
        elif not any(event[3] == "complete" for event in self.queue):
            self.at(self.now + self.time.initial_delay, "complete")

    def _complete(self, _: list[str]) -> None:
        """The join barrier is satisfied: generation plus one."""
        if not self.broker.barrier:
            return
        self.was_empty = False
        old = self.broker.leader
        self.broker = self.broker.complete()
        generation = self.broker.generation
        if not self.broker.seats:
            self.was_empty = True
            self._step("complete join", (), f"Generation {generation}: nobody is left",
                       "Every member left before one came back.", f"{words.BROKER}#onCompleteJoin")
            return
        if self.broker.leader != old:
            self.elections += 1
        threads = self._joined()
        moves = self._move(threads, "joined")
        lead = name_of(self.broker.leader)
        sent = tuple(Sent("JoinGroup answer", "coordinator", t.name) for t in threads)
        self._step("complete join", [t.name for t in threads], f"Generation {generation}: everyone has joined",
                   f"The join barrier is satisfied. The broker hands all subscriptions to the leader, {lead}.",
                   f"{words.BROKER}#onCompleteJoin", moves=moves, messages=sent)
        self.at(self.now + self.time.assign, "assign", str(generation))

    def _joined(self) -> list[Thread]:
        return [t for i in self.broker.ids if (t := self.threads.get(name_of(i))) and t.member_id == i and t.alive]

    # ---------------------------------------------------------------- the leader

    def _assign(self, who: list[str]) -> None:
        """The leader reads every subscription and answers each member."""
        if self.broker.state != "CompletingRebalance" or str(self.broker.generation) not in who:
            return
        lead = self.threads[name_of(self.broker.leader)]
        binary = lead.binary
        log: list[LogLine] = []
        seen = []
        for seat in self.broker.seats:
            envelope, read = read_subscription(seat.metadata, binary.dialect)
            log += read.log
            if read.failure is not None:
                self._die([(lead, read.failure)], lead.lines(tuple(log)), "refuse")
                return
            seen.append(leader.Seen.of(seat.id, read.value, owned=envelope.owned_partitions))
        decision = leader.assign(binary, seen, tasks=self.tasks)
        log += decision.log
        lines = lead.lines(tuple(log))
        if decision.failure is not None:
            self._die([(lead, decision.failure)], lines, "refuse")
            return
        self.leading = {}
        sent = []
        for answer in decision.answers:
            data = write_assignment(answer, binary)
            if isinstance(data, Failure):
                self._die([(lead, data)], lines, "refuse")
                return
            self.leading[answer.member] = data
            version, second = self.heads[data] = _head(data, binary)
            sent.append(Sent("SyncGroup", lead.name, "coordinator", version, second, answer.active, data=data))
        versions = sorted({s.version for s in sent if s.version is not None})
        title = f"{lead.name} leads and assigns: {' and '.join(f'v{v}' for v in versions)}"
        why = words.assigning(binary, sent, probing=decision.probing)
        self._step("assign", [lead.name], title, why, words.assignor(binary, "assign"), messages=tuple(sent), log=lines,
                   tag="probing" if decision.probing else "")
        self.at(self.now + self.time.sync, "sync", who[0])

    def _sync(self, who: list[str]) -> None:
        """The leader's SyncGroup arrives, and all parked members are answered at the same instant."""
        if self.broker.state != "CompletingRebalance" or str(self.broker.generation) not in who:
            return
        threads = self._joined()
        self.broker = self.broker.sync(self.leading)
        self._deliver(threads)
        self._watch_for_loops()

    def _deliver(self, threads: list[Thread]) -> None:
        """SyncGroup answers: each member applies its rule to the two ints."""
        generation = self.broker.generation
        moves: list[tuple[str, str]] = []
        sent: list[Sent] = []
        log: list[LogLine] = []
        dead: list[tuple[Thread, Failure]] = []
        told: list[words.Told] = []
        for thread in threads:
            seat = self.broker.seat(thread.member_id)
            if seat is None or thread.state != "SYNCING":
                continue
            before = thread.used
            reception = thread.receive(seat.assignment, generation=generation)
            version, second = self.heads.get(seat.assignment, (None, None))
            log += reception.log
            thread.phase, thread.noticed = self.now, False
            if reception.error_code:
                self.errors.add(reception.error_code)
            if reception.failure is not None:
                dead.append((thread, reception.failure))
            elif reception.rejoin:
                moves += self._move([thread], "upgrade" if thread.used > before else "probe")
                if self.time.lockstep or thread.binary.rejoin != "leave" or thread.static:
                    self.at(self.time.rejoin_at(self.now, self.draw), "rejoin", thread.name)
                else:
                    self.at(self.time.rejoin_at(self.now, self.draw), "leave", thread.name)
            else:
                moves += self._move([thread], "assigned")
            told.append(words.Told(thread.name, thread.binary, before, thread.used, version, second, reception.rejoin))
            sent.append(Sent("SyncGroup answer", "coordinator", thread.name, version, second, thread.given,
                             probing=reception.rejoin, data=seat.assignment))
        fallen = {thread.name for thread, _ in dead}
        heard = [one for one in told if one.name not in fallen]
        if heard:
            title, why, tag = words.telling(heard, everyone=len(self.threads))
            first = next((one for one in heard if one.changed), heard[0])
            self._step("sync", [one.name for one in heard], title, why, words.assignor(first.binary, "onAssignment"),
                       moves=tuple(moves), messages=tuple(m for m in sent if m.receiver not in fallen),
                       log=tuple(line for line in log if line.member not in fallen), tag=tag)
        self._die(dead, tuple(line for line in log if line.member in fallen), "refuse",
                  tuple(m for m in sent if m.receiver in fallen))

    # ---------------------------------------------------------------- death

    def _die(self, dead: Sequence[tuple[Thread, Failure]], log: tuple[LogLine, ...], event: str,
             heard: tuple[Sent, ...] = ()) -> None:
        """Stream threads end with an exception; up to 3.1 their ids linger as ghosts."""
        if not dead:
            return
        threads = [thread for thread, _ in dead]
        for thread, failure in dead:
            thread.failure = failure
            cause = thread.poisoned_by or self.broker.generation
            self.deaths.append(Death(thread.name, thread.binary.name, failure, self.broker.generation, cause,
                                     len(self.steps) + 1))
        moves = self._move(threads, event if event != "start" else "cannot encode")
        leaving = False
        for thread in threads:
            thread.tasks = ()
            if self.broker.seat(thread.member_id):
                if thread.binary.dying_leaves and not thread.static:
                    leaving = True
                    self._remove(thread.member_id)
                else:
                    self.at(self.now + thread.binary.session_timeout_ms / 1000, "expire", thread.member_id)
            if self.plan.supervisor is not None and not any(t.alive for t in self._of(thread.instance)):
                for other in self._of(thread.instance):
                    self.at(self.now + self.plan.supervisor, "start", other.name)
        names = [thread.name for thread in threads]
        poison = [t for t in threads if t.poisoned_by]
        why = f"{threads[0].failure}."
        if poison:
            why = (
                f"Generation {poison[0].poisoned_by} told {words.names(names)} to speak v{poison[0].used}; the jar "
                f"supports v{poison[0].binary.latest} at most. Nothing failed until this subscription had to be built: "
                f"{poison[0].failure}."
            )
        self._step("die", names, f"{words.names(names)} {words.verb(names, 'dies', 'die')}", why,
                   words.thread(threads[0].binary, "run"), moves=moves, log=log, tag="death",
                   messages=heard + (tuple(Sent("LeaveGroup", n, "coordinator") for n in names) if leaving else ()))
        if self.broker.state == "PreparingRebalance":
            self._spread_the_word()
            self._check_barrier()

    # ---------------------------------------------------------------- bookkeeping

    def _cancel(self, kind: str, who: str = "") -> None:
        self.queue = [event for event in self.queue if not (event[3] == kind and event[4] == who)]
        heapq.heapify(self.queue)

    def _move(self, threads: Iterable[Thread], event: str) -> tuple[tuple[str, str], ...]:
        """Move tokens along the rows of the table; a move that the table does not know is our mistake."""
        moves = []
        for thread in threads:
            row = MEMBER.row(thread.state, event)
            assert row is not None, (thread.state, event)
            thread.state = row.target
            moves.append((thread.name, row.key))
        return tuple(moves)

    def _look(self) -> View:
        """The whole group now."""
        broker = self.broker
        alive = {thread.member_id for thread in self.threads.values() if thread.alive}
        ghosts = tuple(i for i in broker.ids if i not in alive)
        group = GroupView(broker.state, broker.generation, name_of(broker.leader), broker.leader, broker.ids, ghosts)
        return View(tuple(thread.view() for thread in self.threads.values()), group)

    def _step(self, action: str, who: Sequence[str], title: str, why: str, source: str, *, tag: str = "",
              moves: tuple[tuple[str, str], ...] = (), messages: tuple[Sent, ...] = (),
              log: tuple[LogLine, ...] = ()) -> None:
        before, self.view = self.view, self._look()
        self.steps.append(
            Step(len(self.steps) + 1, action, tuple(who), before, self.view, self.now, self.bounce, title, why, source,
                 tag, moves, messages, log)
        )

    def _watch_for_loops(self) -> None:
        """A state that comes back without the operator's doing, and without an election, comes back for ever."""
        state = (
            tuple((t.name, t.binary.name, t.used, t.state) for t in self.threads.values()),
            name_of(self.broker.leader),
            tuple(name_of(i) for i in self.broker.ids),
        )
        if state in self.seen:
            generation, elections = self.seen[state]
            free = self.elections == elections or self.broker.succession.every_generation
            if free and not self._quiet():
                self.loop = f"generation {self.broker.generation} is generation {generation} over again"
        self.seen[state] = (self.broker.generation, self.elections)

    def _trace(self, start: View, prelude: int, origin: float) -> Trace:
        steps = tuple(
            replace(step, number=step.number - prelude, at=round(step.at - origin, 3)) for step in self.steps[prelude:]
        )
        deaths = tuple(replace(death, step=death.step - prelude) for death in self.deaths)
        return Trace(start, steps, self._outcome(deaths))

    def _outcome(self, deaths: tuple[Death, ...]) -> Outcome:
        if self.loop or (self.over and self.plan.until is None):
            text = self.loop or f"no rest for {PATIENCE:.0f} s, and no end in sight"
            return Outcome("loop", f"The group rebalances for ever: {text}.", deaths)
        if self.errors:
            code = min(self.errors)
            return Outcome("error assignment", f"The leader answered everybody with error code {code}.", deaths)
        if deaths:
            return Outcome("deaths", words.mourning(deaths), deaths)
        if self.over:
            return Outcome("cut off", f"Cut off after {self.plan.until:.0f} s.", deaths)
        goal = min(thread.binary.latest for thread in self.threads.values())
        slow = [t.name for t in self.threads.values() if t.used < goal]
        if slow:
            spoken = self._versions([self.threads[n] for n in slow])
            return Outcome("old version", f"{words.names(slow)} still {words.verb(slow, 'speaks', 'speak')} {spoken}, "
                           f"though everyone supports v{goal}.", deaths)
        return Outcome("upgraded", f"Everyone speaks v{goal}.", deaths)


_PRIORITY = {"close": 0, "expire": 1, "leave": 2, "first join": 3, "start": 4, "notice": 5, "rejoin": 5, "sync": 8, "assign": 8}
"""Which of two events at the same instant comes first."""


def _process(index: int) -> bytes:
    return bytes(15) + bytes([index + 1]) if index < 255 else (index + 1).to_bytes(16, "big")


def _head(data: bytes, binary: Binary) -> tuple[int | None, int | None]:
    """The two ints at the head of an assignment; v1 and v2 have one."""
    info = read_assignment(data, binary.dialect).value
    if not isinstance(info, AssignmentInfo):
        return None, None
    return info.version, info.commonly_supported_version if info.version >= EARLIEST_PROBEABLE else None
