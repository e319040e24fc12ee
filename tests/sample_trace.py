"""Two runs built by hand, for tests that need a trace and no simulator: what they show is in the group's own tests."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

from protocol.messages import TaskId
from protocol.trace import Death, Failure, GroupView, LogLine, MemberView, Outcome, Sent, Step, Trace, View

NAMES = ("A", "B", "C")
ASSIGNOR = "StreamsPartitionAssignor"


def stable(names: tuple[str, ...] = NAMES, *, leader: int = 0) -> View:
    members = tuple(
        MemberView(name, "STABLE", "2.0.0", 3, 3, (TaskId(0, place),), f"{name}#1") for place, name in enumerate(names)
    )
    ids = tuple(member.member_id for member in members)
    return View(members, GroupView("Stable", 1, names[leader], ids[leader], ids))


@dataclass
class Recorder:
    """Writes steps down: each call changes some members and the group."""

    view: View
    steps: list[Step] = field(default_factory=list)
    bounce: int = 0
    clock: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.view.members)

    def step(
        self,
        action: str,
        who: tuple[str, ...],
        title: str,
        why: str,
        *,
        moves: tuple[tuple[str, str], ...] = (),
        to: dict[str, dict[str, object]] | None = None,
        group: dict[str, object] | None = None,
        messages: tuple[Sent, ...] = (),
        log: tuple[LogLine, ...] = (),
        tag: str = "",
        source: str = f"2.0.0 {ASSIGNOR}#onAssignment",
        seconds: float = 0.01,
    ) -> None:
        before, changes = self.view, {name: dict(fields) for name, fields in (to or {}).items()}
        for name, key in moves:
            changes.setdefault(name, {})["state"] = key.split("-")[-1]
        members = tuple(member._replace(**changes.get(member.name, {})) for member in before.members)
        self.view = View(members, replace(before.group, **(group or {})))  # type: ignore[arg-type]
        self.clock += seconds
        self.steps.append(
            Step(
                len(self.steps) + 1,
                action,
                who,
                before,
                self.view,
                self.clock,
                self.bounce,
                title,
                why,
                source,
                tag,
                moves,
                messages,
                log,
            )
        )

    def used(self, name: str) -> int:
        return self.view.member(name).used

    def subscribe(self, name: str, *, latest: int) -> Sent:
        used = self.used(name)
        data = struct.pack(">ii16s", used, latest, name.encode() * 8)
        return Sent("JoinGroup", name, "coordinator", used, latest, self.view.member(name).tasks, data=data)

    def answer(self, name: str, *, version: int, supported: int, tasks: tuple[TaskId, ...], probing: bool) -> Sent:
        data = struct.pack(">iii", version, supported, len(tasks))
        return Sent("SyncGroup answer", "coordinator", name, version, supported, tasks, probing, data)

    def close(self, name: str) -> None:
        self.bounce += 1
        member = self.view.member(name)
        self.step(
            "close",
            (name,),
            f"{name} stops",
            "Streams sends no LeaveGroup: the broker keeps its old id until the session timeout.",
            moves=((name, "STABLE-close-STOPPED"),),
            to={name: {"member_id": "", "tasks": ()}},
            group={"ghosts": (*self.view.group.ghosts, member.member_id)},
            source="2.0.0 KafkaStreams#close",
        )

    def start(self, name: str, number: int) -> None:
        self.step(
            "start",
            (name,),
            f"{name} comes back on 2.1.0",
            "It subscribes with v4, the latest version its jar supports.",
            moves=((name, "STOPPED-start-JOINING"),),
            to={name: {"binary": "2.1.0", "latest": 4, "used": 4}},
            source="2.1.0 StreamThread#run",
            seconds=2,
        )
        self.step(
            "join",
            (name,),
            f"{name} sends JoinGroup",
            "A new member opens a rebalance; the others learn of it at their next heartbeat.",
            to={name: {"member_id": f"{name}#{number}"}},
            group={"state": "PreparingRebalance", "members": (*self.view.group.members, f"{name}#{number}")},
            messages=(self.subscribe(name, latest=4),),
            source="3.9.0 GroupCoordinator#doJoinGroup",
        )

    def rejoin(self, who: tuple[str, ...], event: str = "rebalance") -> None:
        self.step(
            "rebalance",
            who,
            f"{', '.join(who)} rejoin",
            "Their heartbeat is answered with REBALANCE_IN_PROGRESS: they give up their tasks and subscribe again.",
            moves=tuple((name, f"STABLE-{event}-JOINING") for name in who),
            to={name: {"tasks": ()} for name in who},
            messages=tuple(self.subscribe(name, latest=self.view.member(name).latest) for name in who),
            source="2.0.0 AbstractCoordinator#joinGroupIfNeeded",
            seconds=3,
        )

    def barrier(self, *, expires: str = "", leader: str = "") -> None:
        group = self.view.group
        if expires:
            members = tuple(member for member in group.members if member != expires)
            ghosts = tuple(member for member in group.ghosts if member != expires)
            self.step(
                "expire",
                (expires.split("#")[0],),
                f"{expires} expires",
                "Its session timeout is over: the broker forgets it, and nobody is missing any more.",
                group={"members": members, "ghosts": ghosts},
                source="3.9.0 GroupCoordinator#onExpireHeartbeat",
                seconds=5,
            )
        living = {member.member_id: member.name for member in self.view.members if member.alive}
        lead = leader or group.leader
        lead_id = next(key for key, name in living.items() if name == lead)
        joined = tuple(name for name in self.names if name in living.values())
        self.step(
            "complete join",
            joined,
            f"Everyone has joined: generation {group.generation + 1}",
            f"The coordinator closes the barrier and tells {lead} what each member subscribed.",
            moves=tuple((name, "JOINING-joined-SYNCING") for name in joined),
            group={
                "state": "CompletingRebalance",
                "generation": group.generation + 1,
                "leader": lead,
                "leader_id": lead_id,
            },
            messages=tuple(Sent("JoinGroup answer", "coordinator", name) for name in joined),
            source="3.9.0 GroupCoordinator#onCompleteJoin",
        )


def probing(names: tuple[str, ...] = NAMES) -> Trace:
    """The leader is old and truly probes: each new member is told an older version and comes back with it."""
    run = Recorder(stable(names))
    leader, followers = names[0], names[1:]
    for name in reversed(followers):
        run.close(name)
        run.start(name, 2)
        run.rejoin(tuple(other for other in run.names if other != name))
        run.barrier(expires=f"{name}#1")
        everyone = run.names
        run.step(
            "assign",
            (leader,),
            f"Leader {leader} assigns and probes",
            f"It reads v4 from {name}, which it cannot decode: {name} gets no tasks and an answer in v3.",
            messages=(Sent("SyncGroup", leader, "coordinator"),),
            log=(
                LogLine(
                    leader,
                    "INFO",
                    ASSIGNOR,
                    "Unable to decode subscription data: used version: 4; latest supported version: 3",
                ),
                LogLine(
                    leader,
                    "INFO",
                    ASSIGNOR,
                    "Received a future (version probing) subscription (version: 4). Sending empty assignment back"
                    " (with supported version 3).",
                ),
            ),
            tag="probing",
            source=f"2.0.0 {ASSIGNOR}#assign",
        )
        tasks = {other: (TaskId(0, place),) for place, other in enumerate(everyone)}
        tasks[name] = ()
        run.step(
            "sync",
            everyone,
            f"{name} is told to speak v3",
            f"{name} asked with v4 and was answered in v3: it keeps the new jar, and speaks the older version.",
            moves=tuple(
                (other, "SYNCING-probe-PROBING" if other == name else "SYNCING-assigned-STABLE") for other in everyone
            ),
            to={other: {"tasks": tasks[other], **({"used": 3} if other == name else {})} for other in everyone},
            group={"state": "Stable"},
            messages=tuple(
                run.answer(other, version=3, supported=3, tasks=tasks[other], probing=other == name)
                for other in everyone
            ),
            log=(
                LogLine(
                    name,
                    "INFO",
                    ASSIGNOR,
                    "Sent a version 4 subscription and got version 3 assignment back (successful version probing)."
                    " Downgrading subscription metadata to received version and trigger new rebalance.",
                ),
            ),
            tag="probing",
        )
        ids = tuple(member for member in run.view.group.members if member != f"{name}#2")
        run.step(
            "rejoin",
            (name,),
            f"{name} leaves and comes back",
            "To rejoin, it unsubscribes: it leaves the group and joins under a new id, now with v3.",
            moves=((name, "PROBING-rejoin-JOINING"),),
            to={name: {"member_id": f"{name}#3"}},
            group={"state": "PreparingRebalance", "members": (*ids, f"{name}#3")},
            messages=(Sent("LeaveGroup", name, "coordinator"), run.subscribe(name, latest=4)),
            source="2.1.0 StreamThread#enforceRebalance",
        )
        run.rejoin(tuple(other for other in run.names if other != name))
        run.barrier()
        run.step(
            "assign",
            (leader,),
            f"Leader {leader} assigns in v3",
            "Everyone speaks v3, so everyone gets tasks.",
            messages=(Sent("SyncGroup", leader, "coordinator"),),
            source=f"2.0.0 {ASSIGNOR}#assign",
        )
        run.step(
            "sync",
            everyone,
            f"Generation {run.view.group.generation} is stable",
            "The coordinator answers all parked SyncGroups at once.",
            moves=tuple((other, "SYNCING-assigned-STABLE") for other in everyone),
            to={other: {"tasks": (TaskId(0, place),)} for place, other in enumerate(everyone)},
            group={"state": "Stable"},
            messages=tuple(
                run.answer(other, version=3, supported=3, tasks=(TaskId(0, place),), probing=False)
                for place, other in enumerate(everyone)
            ),
        )
    outcome = Outcome("old version", f"{leader} still runs 2.0.0, so everyone speaks v3. Nobody was lost.")
    return Trace(
        run.view.__class__(stable(names).members, stable(names).group),
        tuple(run.steps),
        outcome,
        {"old": "2.0.0", "new": "2.1.0", "members": len(names), "leader": leader, "order": tuple(reversed(followers))},
    )


def crash() -> Trace:
    """KAFKA-8649: the leader goes first, the new one leads, and the old members die one rebalance later."""
    first = stable(leader=2)
    run = Recorder(first)
    run.close("C")
    run.start("C", 2)
    run.rejoin(("A", "B"))
    run.barrier(expires="C#1", leader="C")
    run.step(
        "assign",
        ("C",),
        "Leader C assigns in v3 and advertises v4",
        "All speak at least v3, so it answers in v3; the second int is its own latest version, whatever they support.",
        messages=(Sent("SyncGroup", "C", "coordinator"),),
        log=(LogLine("C", "INFO", ASSIGNOR, "Downgrading metadata to version 3. Latest supported version is 4."),),
        source=f"2.1.0 {ASSIGNOR}#assign",
    )
    run.step(
        "sync",
        NAMES,
        "A and B take v4 for granted",
        "They sent v3 and got v3 with 4 beside it: they believe that all support v4, and will subscribe with it.",
        moves=(
            ("A", "SYNCING-assigned-STABLE"),
            ("B", "SYNCING-assigned-STABLE"),
            ("C", "SYNCING-upgrade-UPGRADING"),
        ),
        to={
            "A": {"used": 4, "tasks": (TaskId(0, 0),)},
            "B": {"used": 4, "tasks": (TaskId(0, 1),)},
            "C": {"tasks": (TaskId(0, 2),)},
        },
        group={"state": "Stable"},
        messages=tuple(
            run.answer(name, version=3, supported=4, tasks=(TaskId(0, place),), probing=name == "C")
            for place, name in enumerate(NAMES)
        ),
        log=(
            *(
                LogLine(
                    name,
                    "INFO",
                    ASSIGNOR,
                    "Sent a version 3 subscription and group leader's latest supported version is 4. Upgrading"
                    " subscription metadata version to 4 for next rebalance.",
                )
                for name in ("A", "B")
            ),
            LogLine(
                "C",
                "INFO",
                ASSIGNOR,
                "Sent a version 4 subscription and got version 3 assignment back (successful version probing). Setting"
                " subscription metadata to leaders supported version 4 and trigger new rebalance.",
            ),
        ),
        tag="poison",
        source=f"2.0.0 {ASSIGNOR}#onAssignment",
    )
    run.step(
        "rejoin",
        ("C",),
        "C leaves and comes back",
        "To rejoin, it leaves the group and joins under a new id; A leads meanwhile.",
        moves=(("C", "UPGRADING-rejoin-JOINING"),),
        to={"C": {"member_id": "C#3", "tasks": ()}},
        group={
            "state": "PreparingRebalance",
            "members": ("A#1", "B#1", "C#3"),
            "leader": "A",
            "leader_id": "A#1",
        },
        messages=(Sent("LeaveGroup", "C", "coordinator"), run.subscribe("C", latest=4)),
        source="2.1.0 StreamThread#enforceRebalance",
    )
    run.step(
        "rebalance",
        ("A", "B"),
        "A, B start to rejoin",
        "Their heartbeat is answered with REBALANCE_IN_PROGRESS: they give up their tasks.",
        moves=(("A", "STABLE-rebalance-JOINING"), ("B", "STABLE-rebalance-JOINING")),
        to={"A": {"tasks": ()}, "B": {"tasks": ()}},
        source="2.0.0 AbstractCoordinator#joinGroupIfNeeded",
        seconds=3.1,
    )
    failure = Failure("IllegalArgumentException", "version must be between 1 and 3; was: 4")
    run.step(
        "die",
        ("A", "B"),
        "A, B die",
        "They must write a v4 subscription, and their jar knows v3 at most. They send nothing, not even LeaveGroup.",
        moves=(("A", "JOINING-cannot encode-CRASHED"), ("B", "JOINING-cannot encode-CRASHED")),
        to={name: {"failure": failure, "member_id": ""} for name in ("A", "B")},
        group={"ghosts": ("A#1", "B#1")},
        log=tuple(LogLine(name, "ERROR", "StreamThread", f"Encountered the error: {failure}") for name in "AB"),
        tag="death",
        source="2.0.0 SubscriptionInfo#encode",
    )
    run.step(
        "expire",
        ("A", "B"),
        "A#1, B#1 expire",
        "Ten seconds later the broker forgets them; C leads alone.",
        group={"members": ("C#3",), "ghosts": (), "leader": "C", "leader_id": "C#3"},
        source="3.9.0 GroupCoordinator#onExpireHeartbeat",
        seconds=10,
    )
    run.barrier(leader="C")
    run.step(
        "sync",
        ("C",),
        "C owns everything",
        "One member is left, and it speaks v4.",
        moves=(("C", "SYNCING-assigned-STABLE"),),
        to={"C": {"tasks": (TaskId(0, 0), TaskId(0, 1), TaskId(0, 2))}},
        group={"state": "Stable"},
        messages=(run.answer("C", version=4, supported=4, tasks=tuple(TaskId(0, p) for p in range(3)), probing=False),),
    )
    died = next(step.number for step in run.steps if step.tag == "death")
    deaths = tuple(Death(name, "2.0.0", failure, generation=2, cause=2, step=died) for name in ("A", "B"))
    outcome = Outcome("deaths", "A and B died: generation 2 told them v4, which 2.0.0 cannot speak.", deaths)
    return Trace(
        first,
        tuple(run.steps),
        outcome,
        {"old": "2.0.0", "new": "2.1.0", "members": 3, "leader": "C", "order": ("C", "B", "A")},
    )
