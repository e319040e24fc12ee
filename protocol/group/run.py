"""One run of a group: the operator's bounces, the threads, the broker, and what each makes of the other.

What a thread writes and reads is in `thread`, when things happen in `timetable`, what a step says in
`words`, how a run ends in `watch`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from .. import leader, member
from ..coordinator import Coordinator, Seat
from ..machine import MEMBER
from ..messages import TaskId
from ..trace import Death, Failure, LogLine, Sent, Trace
from ..versions import EARLIEST_PROBEABLE
from . import words
from .clock import Clock
from .plan import Pinned, Plan
from .recorder import Recorder, name_of
from .thread import Thread, read_subscription, write_assignment
from .watch import PATIENCE, Watch

Moves = tuple[tuple[str, str], ...]


class Run:
    """The run while it goes; `play` returns the trace."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.time = plan.timetable
        self.draw = random.Random(plan.seed)
        self.clock = Clock()
        instances = {instance: i for i, instance in enumerate(dict.fromkeys(p.instance for p in plan.places), start=1)}
        self.threads = {
            place.name: Thread(
                place.name,
                place.instance,
                instances[place.instance].to_bytes(16, "big"),
                (place.binary, place.upgrade_from),
                plan.static,
            )
            for place in plan.places
        }
        self.answers = {name: Sent("JoinGroup answer", words.COORDINATOR, name) for name in self.threads}
        self.tasks = plan.tasks or tuple(TaskId(0, i) for i in range(len(plan.places)))
        self.broker = Coordinator(Pinned(plan.leader, plan.succession) if plan.leader else plan.succession)
        self.record = Recorder(self.threads, self.broker)
        self.watch = Watch()
        self.bounce = 0
        self.was_empty = True
        self.over = False
        self.unquiet_since = 0.0
        self.elections = 0
        self.deaths: list[Death] = []
        self.errors: set[int] = set()
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

    # ---------------------------------------------------------------- the operator

    def play(self) -> Trace:
        """Run until nothing is left to happen, a loop is certain, or time is up."""
        for place in self.plan.places:
            self.clock.at(0.0, "start", place.name)
        self._drain()
        steps = self.record.steps
        # A start at which something happens is part of the story; with released jars of one kind nothing does.
        prelude = 0 if self.plan.show_start or any(step.tag for step in steps) else len(steps)
        origin = 0.0
        for bounce in self.plan.bounces:
            if self.over:
                break
            self.bounce += 1
            when = self.time.close_at(self.clock.now, self.draw)
            for thread in self._of(bounce.instance):
                thread.image = (bounce.binary, bounce.upgrade_from)
                self.clock.at(when, "close" if thread.alive else "start", thread.name)
            self.watch.forget()
            self.unquiet_since = when
            if self.bounce == 1 and prelude:
                origin = when
            self._drain(origin)
        outcome = self.watch.outcome(
            self.threads.values(),
            tuple(replace(death, step=death.step - prelude) for death in self.deaths),
            self.errors,
            over=self.over,
            until=self.plan.until,
        )
        first = steps[prelude - 1].after if prelude else steps[0].before
        return Trace(first, self.record.since(prelude, origin), outcome)

    def _drain(self, origin: float = 0.0) -> None:
        """Let everything happen that is due; the operator waits for that before the next bounce."""
        until = self.plan.until
        while self.clock and not self.over:
            waited = self.clock.due - (self.unquiet_since if until is None else origin)
            if waited > (PATIENCE if until is None else until):
                self.over = True
                return
            kind, who = self.clock.batch()
            self.handlers[kind](who)
            self.over = bool(self.watch.loop) and until is None

    def _of(self, instance: str) -> list[Thread]:
        return [thread for thread in self.threads.values() if thread.instance == instance]

    def _close(self, who: list[str]) -> None:
        """An instance stops; its ids linger at the broker, or leave at once."""
        threads = [self.threads[name] for name in who]
        moves = self._move(threads, "close")
        first = threads[0]
        leaves = first.binary.closing_leaves if self.plan.leaves is None else self.plan.leaves
        leaves = leaves and not first.static
        timeout = first.binary.session_timeout_ms / 1000
        for thread in threads:
            thread.tasks = ()
            if leaves:
                self._remove(thread.member_id)
            else:
                self.clock.at(self.clock.now + timeout, "expire", thread.member_id)
            self.clock.at(self.clock.now + self.plan.restart, "start", thread.name)
        self._step(
            "close",
            threads,
            f"{first.instance} stops",
            words.closing(leaves=leaves, static=first.static, timeout=timeout),
            words.thread(first.binary, "completeShutdown"),
            moves=moves,
            messages=tuple(Sent("LeaveGroup", name, words.COORDINATOR) for name in who) if leaves else (),
        )
        self._go_on()

    def _start(self, who: list[str]) -> None:
        """Processes start; each sends its first JoinGroup."""
        threads = [self.threads[name] for name in who]
        moves = self._move(threads, "start")
        log = tuple(line for thread in threads for line in thread.start())
        doomed = [(thread, thread.failure) for thread in threads if thread.failure]
        sent = self._send_join(thread for thread in threads if not thread.failure)
        title, why = words.starting(threads, self.record.in_order(threads), everyone=len(self.threads))
        source = words.assignor(threads[0].binary, "configure")
        self._step("start", threads, title, why, source, moves=moves, messages=sent, log=log)
        self._die(doomed, "cannot encode", how="start")
        self._die([one for one in self._mute(threads) if one not in doomed], "cannot encode")
        self._after_join()

    # ---------------------------------------------------------------- joining

    def _send_join(self, threads: Iterable[Thread], *, known: bool = False) -> tuple[Sent, ...]:
        """JoinGroup requests reach the broker; a member that cannot build its own has a failure instead."""
        sent = []
        parked: dict[str, bytes] = {}
        for thread in threads:
            data = thread.subscribe()
            if isinstance(data, Failure):
                thread.failure = data
                continue
            if known:
                parked[thread.member_id] = data
            else:
                self._admit(thread, data)
            supported = None if thread.used < EARLIEST_PROBEABLE else thread.binary.latest
            message = Sent("JoinGroup", thread.name, words.COORDINATOR, thread.used, supported, thread.tasks, data=data)
            sent.append(message)
        if parked:
            self.broker = self.broker.rejoin_all(parked)
        return tuple(sent)

    def _admit(self, thread: Thread, data: bytes) -> None:
        """A JoinGroup with an empty id: a new member, or a static one that is back."""
        if thread.static and (old := self.broker.static(thread.name)):
            self.broker = self.broker.replace_static(
                thread.name, member_id=thread.new_id(), rank=self.draw.random(), metadata=data
            )
            self.clock.cancel("expire", old.id)
            return
        instance = thread.name if thread.static else ""
        seat = Seat(thread.new_id(), self.draw.random(), data, instance=instance, standing=thread.binary.latest)
        self.broker = self.broker.admit(seat)
        if self.plan.leader == thread.name and thread.ids == 1:
            self.broker = self.broker.led_by(seat.id)

    def _mute(self, threads: Iterable[Thread]) -> list[tuple[Thread, Failure]]:
        """Those that could not build their subscription."""
        return [(thread, thread.failure) for thread in threads if thread.failure]

    def _after_join(self) -> None:
        """What follows a JoinGroup: a rebalance, or for a member that changed nothing, its stored assignment."""
        self._go_on()
        still = [
            thread
            for thread in self.threads.values()
            if thread.state == "JOINING" and (seat := self.broker.seats.get(thread.member_id)) and not seat.waiting
        ]
        if still:
            title, why = words.resuming(self.record.in_order(still), static=still[0].static)
            moves = self._move(still, "resume")
            action = "replace" if still[0].static else "resume"
            self._step(action, still, title, why, f"{words.BROKER}#doJoinGroup", moves=moves)
            self._deliver(still)

    def _go_on(self) -> None:
        """A rebalance that is being prepared: the others hear of it, and it completes when all are there."""
        if self.broker.state != "PreparingRebalance":
            return
        now = self.clock.now
        for thread in self.threads.values():
            if thread.noticed or thread.state not in ("STABLE", "SYNCING") or thread.member_id not in self.broker.seats:
                continue
            thread.noticed = True
            due = self.time.tick(thread.phase, now, self.draw) if thread.state == "STABLE" else now
            self.clock.at(due, "notice", thread.name)
        if not self.broker.barrier:
            return
        if not self.was_empty or not self.broker.seats:
            self._complete([])
        elif not self.clock.waits_for("complete"):
            self.clock.at(now + self.time.initial_delay, "complete")

    def _notice(self, who: list[str]) -> None:
        """A heartbeat is answered with REBALANCE_IN_PROGRESS: the member builds its subscription and joins again."""
        threads = [self.threads[name] for name in who]
        threads = [thread for thread in threads if thread.noticed and thread.state in ("STABLE", "SYNCING")]
        if not threads:
            return
        for thread in threads:
            thread.noticed = False
        moves = self._move(threads, "rebalance")
        sent = self._send_join(threads, known=True)
        names = self.record.in_order(threads)
        title = words.noticing(names, everyone=len(self.threads), joined=bool(sent))
        source = "3.9.0 AbstractCoordinator#joinGroupIfNeeded"
        self._step("rebalance", threads, title, words.NOTICE, source, moves=moves, messages=sent)
        self._die(self._mute(threads), "cannot encode")
        self._after_join()

    def _rejoin(self, who: list[str]) -> None:
        """Members that were told to change their version join again: under a new id up to 2.5, the same later."""
        threads, moves, log = self._set_out(who)
        if not threads:
            return
        sent: list[Sent] = []
        for thread in threads:
            seated = thread.member_id in self.broker.seats
            leaves = thread.binary.rejoin == "leave"
            if leaves and not thread.static:
                if seated:
                    self._remove(thread.member_id)
                sent.append(Sent("LeaveGroup", thread.name, words.COORDINATOR))
            sent += self._send_join([thread], known=seated and not leaves)
        title, why = words.rejoining(threads, self.record.in_order(threads), everyone=len(self.threads))
        source = words.thread(threads[0].binary, "runOnce")
        self._step("rejoin", threads, title, why, source, tag="probing", moves=moves, messages=tuple(sent), log=log)
        self._die(self._mute(threads), "cannot encode")
        self._after_join()

    def _leave(self, who: list[str]) -> None:
        """Outside lockstep a member that leaves to join again is away for a moment."""
        threads, moves, log = self._set_out(who)
        if not threads:
            return
        for thread in threads:
            if thread.member_id in self.broker.seats:
                self._remove(thread.member_id)
            if thread.binary.two_step:
                self.clock.at(self.clock.now + self.time.first_join, "first join", thread.name)
            self.clock.at(self.clock.now + self.time.second_join, "join", thread.name)
        title, why = words.leaving(threads, self.record.in_order(threads))
        source = words.thread(threads[0].binary, "runOnce")
        sent = tuple(Sent("LeaveGroup", thread.name, words.COORDINATOR) for thread in threads)
        self._step("leave", threads, title, why, source, tag="probing", moves=moves, messages=sent, log=log)
        self._go_on()

    def _set_out(self, who: list[str]) -> tuple[list[Thread], Moves, tuple[LogLine, ...]]:
        threads = [self.threads[name] for name in who if self.threads[name].state in ("PROBING", "UPGRADING")]
        log = tuple(line for thread in threads for line in thread.lines(member.rejoin_lines(thread.binary)))
        return threads, self._move(threads, "rejoin"), log

    def _first_join(self, who: list[str]) -> None:
        """The first JoinGroup of two: an id is minted, and holds the barrier open."""
        for name in who:
            self.broker = self.broker.expect(f"{name}#{self.threads[name].ids + 1}")

    def _join(self, who: list[str]) -> None:
        """The JoinGroup that is admitted."""
        threads = [self.threads[name] for name in who]
        sent = self._send_join(threads)
        title = words.joining(threads, self.record.in_order(threads))
        self._step("join", threads, title, words.ADMITTED, f"{words.BROKER}#doJoinGroup", messages=sent)
        self._die(self._mute(threads), "cannot encode")
        self._after_join()

    # ---------------------------------------------------------------- the broker

    def _remove(self, member_id: str) -> None:
        self.elections += member_id == self.broker.leader
        self.broker = self.broker.remove(member_id)

    def _expire(self, ids: list[str]) -> None:
        """Sessions time out: the ghosts go, and with them perhaps the leader."""
        ids = [member_id for member_id in ids if member_id in self.broker.seats]
        if not ids:
            return
        led = self.broker.leader in ids
        for member_id in ids:
            self._remove(member_id)
        ghosts = [self.threads[name_of(member_id)] for member_id in ids]
        title, why = words.expiring(self.record.in_order(ghosts), led=led, leads=name_of(self.broker.leader))
        self._step("expire", ghosts, title, why, f"{words.BROKER}#onExpireHeartbeat")
        self._go_on()

    def _complete(self, _: list[str]) -> None:
        """The join barrier is satisfied: generation plus one."""
        if not self.broker.barrier:
            return
        before = self.broker.leader
        self.broker = self.broker.complete()
        self.elections += self.broker.leader != before
        self.was_empty = not self.broker.seats
        threads = self._joined()
        moves = self._move(threads, "joined")
        lead = name_of(self.broker.leader)
        title, why = words.completing(self.broker.generation, lead)
        sent = tuple(self.answers[thread.name] for thread in threads)
        source = f"{words.BROKER}#onCompleteJoin"
        self._step("complete join", threads, title, why, source, moves=moves, messages=sent)
        if lead:
            self.clock.at(self.clock.now + self.time.assign, "assign", str(self.broker.generation))

    def _joined(self) -> list[Thread]:
        """The living members of the group, in join order."""
        threads = (self.threads[name_of(member_id)] for member_id in self.broker.ids)
        return [thread for thread in threads if thread.alive and thread.member_id in self.broker.seats]

    # ---------------------------------------------------------------- the leader

    def _assign(self, who: list[str]) -> None:
        """The leader reads every subscription and answers each member."""
        if self.broker.state != "CompletingRebalance" or str(self.broker.generation) not in who:
            return
        lead = self.threads[name_of(self.broker.leader)]
        binary = lead.binary
        log: tuple[LogLine, ...] = ()
        seen: list[leader.Seen] = []
        for seat in self.broker.seats.values():
            one, read = read_subscription(seat.id, seat.metadata, binary.dialect)
            if read.log:
                log += lead.lines(read.log)
            if one is None:
                self._die(
                    [(lead, read.failure or Failure("NullPointerException", "null"))], "refuse", how="leading", log=log
                )
                return
            seen.append(one)
        decision = leader.assign(binary, seen, tasks=self.tasks)
        log += lead.lines(decision.log)
        failure = decision.failure
        self.leading = {}
        sent = []
        for answer in decision.answers:
            written = write_assignment(answer, binary.dialect)
            if isinstance(written, Failure):
                failure = failure or written
                continue
            data, version, second = written
            self.leading[answer.member], self.heads[data] = data, (version, second)
            message = Sent("SyncGroup", lead.name, words.COORDINATOR, version, second, answer.active, data=data)
            sent.append(message)
        if failure is not None:
            self._die([(lead, failure)], "refuse", how="leading", log=log)
            return
        rows = [(name_of(one.member), row) for one, row in zip(decision.answers, decision.rows, strict=False)]
        title, why = words.assigning(lead.name, binary, sent, probing=decision.probing, rows=rows)
        source, tag = words.assignor(binary, "assign"), "probing" if decision.probing else ""
        self._step("assign", [lead], title, why, source, tag=tag, messages=tuple(sent), log=log)
        self.clock.at(self.clock.now + self.time.sync, "sync", who[0])

    def _sync(self, who: list[str]) -> None:
        """The leader's SyncGroup arrives, and all parked members are answered at the same instant."""
        if self.broker.state != "CompletingRebalance" or str(self.broker.generation) not in who:
            return
        threads = self._joined()
        self.broker = self.broker.sync(self.leading)
        self._deliver(threads)
        if self.clock:
            members = tuple((t.name, t.binary.name, t.used, t.state) for t in self.threads.values())
            state = (members, name_of(self.broker.leader), tuple(map(name_of, self.broker.ids)))
            scripted = self.broker.succession.every_generation
            self.watch.look(state, generation=self.broker.generation, elections=self.elections, scripted=scripted)

    def _deliver(self, threads: list[Thread]) -> None:
        """SyncGroup answers: each member applies its rule to the two ints."""
        told: list[words.Told] = []
        moves: list[tuple[str, str]] = []
        sent: dict[str, Sent] = {}
        log: list[LogLine] = []
        dead: list[tuple[Thread, Failure]] = []
        for thread in threads:
            seat = self.broker.seats[thread.member_id]
            before = thread.used
            reception = thread.receive(seat.assignment, generation=self.broker.generation)
            version, second = self.heads.get(seat.assignment, (None, None))
            log += reception.log
            thread.phase, thread.noticed = self.clock.now, False
            self.errors |= {reception.error_code} - {0}
            sent[thread.name] = Sent(
                "SyncGroup answer",
                words.COORDINATOR,
                thread.name,
                version,
                second,
                thread.given,
                probing=reception.rejoin,
                data=seat.assignment,
            )
            if reception.failure is not None:
                dead.append((thread, reception.failure))
                continue
            told.append(words.Told(thread.name, thread.binary, before, thread.used, version, second, reception.rejoin))
            moves += self._move([thread], words.event(told[-1]))
            if reception.rejoin:
                away = thread.binary.rejoin == "leave" and not thread.static and not self.time.lockstep
                due = self.time.rejoin_at(self.clock.now, self.draw)
                self.clock.at(due, "leave" if away else "rejoin", thread.name)
        fallen = {thread.name for thread, _ in dead}
        if told:
            title, why, tag = words.telling(sorted(told, key=lambda t: self.record.place[t.name]), len(self.threads))
            first = next((one for one in told if one.changed), told[0])
            self._step(
                "sync",
                [self.threads[one.name] for one in told],
                title,
                why,
                words.assignor(first.binary, "onAssignment"),
                tag=tag,
                moves=tuple(moves),
                messages=tuple(sent[one.name] for one in told),
                log=tuple(line for line in log if line.member not in fallen),
            )
        heard = tuple(sent[name] for name in fallen)
        self._die(dead, "refuse", heard=heard, log=tuple(line for line in log if line.member in fallen))

    # ---------------------------------------------------------------- death

    def _die(
        self,
        dead: Sequence[tuple[Thread, Failure]],
        event: str,
        *,
        how: str = "refusal",
        heard: tuple[Sent, ...] = (),
        log: tuple[LogLine, ...] = (),
    ) -> None:
        """Stream threads end with an exception; up to 3.1 their ids linger as ghosts."""
        if not dead:
            return
        threads = [thread for thread, _ in dead]
        now, generation = self.clock.now, self.broker.generation
        left: tuple[Sent, ...] = ()
        for thread, failure in dead:
            thread.failure, thread.tasks = failure, ()
            cause = thread.poisoned_by or generation
            number = len(self.record.steps) + 1
            why = "poison" if thread.poisoned_by else how
            self.deaths.append(Death(thread.name, thread.binary.name, failure, generation, cause, number, why))
            if thread.member_id in self.broker.seats:
                if thread.binary.dying_leaves and not thread.static:
                    left += (Sent("LeaveGroup", thread.name, words.COORDINATOR),)
                    self._remove(thread.member_id)
                else:
                    self.clock.at(now + thread.binary.session_timeout_ms / 1000, "expire", thread.member_id)
        moves = self._move(threads, event)
        if self.plan.supervisor is not None:
            for instance in dict.fromkeys(thread.instance for thread in threads):
                if not any(thread.alive for thread in self._of(instance)):
                    for thread in self._of(instance):
                        self.clock.at(now + self.plan.supervisor, "start", thread.name)
        title, why = words.dying(threads, self.record.in_order(threads))
        source = words.thread(threads[0].binary, "run")
        self._step("die", threads, title, why, source, tag="death", moves=moves, messages=heard + left, log=log)
        self._go_on()

    # ---------------------------------------------------------------- bookkeeping

    def _move(self, threads: Iterable[Thread], event: str) -> Moves:
        """Move tokens along the rows of the table; a move that the table does not know is our mistake."""
        moves = []
        ways: dict[str, tuple[str, str]] = {}
        for thread in threads:
            way = ways.get(thread.state)
            if way is None:
                row = MEMBER.row(thread.state, event)
                assert row is not None, (thread.state, event)
                way = ways[thread.state] = row.target, row.key
            thread.state = way[0]
            moves.append((thread.name, way[1]))
        return tuple(moves)

    def _step(
        self,
        action: str,
        threads: Sequence[Thread],
        title: str,
        why: str,
        source: str,
        *,
        tag: str = "",
        moves: Moves = (),
        messages: tuple[Sent, ...] = (),
        log: tuple[LogLine, ...] = (),
    ) -> None:
        self.record.step(
            self.broker,
            action=action,
            who=self.record.in_order(threads),
            at=self.clock.now,
            bounce=self.bounce,
            title=title,
            why=why,
            source=source,
            tag=tag,
            moves=moves,
            messages=messages,
            log=log,
        )
