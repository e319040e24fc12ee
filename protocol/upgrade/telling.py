"""A run of named members written down as the steps of a trace, where no scenario can make the simulator walk it.

It tells versions, answers and deaths; bytes and log lines are the simulator's alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..machine import MEMBER
from ..strategies import leader_rule, member_rule, quoted, sentence
from ..trace import Death, Failure, GroupView, MemberView, Outcome, Sent, Step, Trace, View
from ..versions import EARLIEST_PROBEABLE, UNKNOWN
from .named import NOBODY, PENDING, Named

if TYPE_CHECKING:
    from .lifting import Example

_SOURCE = "3.9.0 GroupCoordinator#onCompleteJoin"
_SECONDS = 3.0


def told(example: Example) -> Trace:
    """The run as steps, each with its before and after."""
    writer = _Writer(example)
    for before, action, after in example.moments():
        writer.follow(before, action, after)
    return writer.trace()


class _Writer:
    """Keeps the view while the steps are written."""

    def __init__(self, example: Example) -> None:
        self.example = example
        self.model: Named = example.model
        self.names = example.members
        self.steps: list[Step] = []
        self.deaths: list[Death] = []
        self.bounce = 0
        self.clock = 0.0
        self.turns = dict.fromkeys(self.names, 1)
        self.poison: dict[str, int] = {}
        first = example.path.states[0]
        members = tuple(self._member(name, first[i]) for i, name in enumerate(self.names))
        leader = example.leader
        ids = tuple(f"{name}#1" for name in self.names)
        self.first = View(members, GroupView("Stable", 1, leader, f"{leader}#1", ids))
        self.view = self.first

    def _member(self, name: str, number: int) -> MemberView:
        one = self.model.classes.all[number]
        jar = self.model.upgrade.jars[one.jar]
        return MemberView(name, "STABLE", jar.name, jar.latest, one.used, member_id=f"{name}#{self.turns[name]}")

    # ---------------------------------------------------------------- one action of the path

    def follow(self, before: bytes, action: Any, after: bytes) -> None:
        """Write the steps of one action."""
        parameters = dict(action.parameters)
        leader = self.names[after[-2] - 128] if after[-2] != NOBODY else ""
        if action.name == "rebalance":
            self._rebalance(before, parameters, after, leader)
            return
        if action.name == "turn back":
            return
        name = str(parameters["member"])
        number = after[self.names.index(name)]
        if action.name in ("bounce", "stop"):
            self.bounce += 1
        if action.name in ("bounce", "stop", "crash") and self.view.member(name).state not in ("STOPPED", "CRASHED"):
            why = "A process goes for reasons of its own." if action.name == "crash" else "The operator stops it."
            self._step(
                "close",
                [name],
                f"{name} {'crashes' if action.name == 'crash' else 'stops'}",
                why,
                events={name: "close"},
            )
        if action.name in ("bounce", "start", "restart"):
            jar = self.model.upgrade.jars[self.model.classes.jar[number]]
            self.turns[name] += 1
            self.poison.pop(name, None)
            to = {
                "binary": jar.name,
                "latest": jar.latest,
                "used": jar.latest,
                "failure": None,
                "member_id": f"{name}#{self.turns[name]}",
            }
            sent = Sent("JoinGroup", name, "coordinator", jar.latest, jar.latest)
            self._step(
                "start",
                [name],
                f"{name} starts on {jar.name}",
                f"A fresh process speaks the latest version that its jar supports, v{jar.latest}.",
                events={name: "start"},
                to={name: to},
                messages=(sent,),
                state="PreparingRebalance",
                leader=leader,
            )
        elif leader != self.view.group.leader:
            self._step(
                "expire",
                [],
                f"{leader or 'nobody'} leads",
                "The leader's id is gone.",
                leader=leader,
                state="PreparingRebalance" if leader else "Empty",
            )

    def _rebalance(self, before: bytes, parameters: dict[str, object], after: bytes, leader: str) -> None:
        classes = self.model.classes
        alive = [i for i in range(len(self.names)) if classes.alive[before[i]]]
        names = [self.names[i] for i in alive]
        waiting = [name for name in names if self.view.member(name).state != "JOINING"]
        if waiting:
            events = {
                name: "rejoin" if self.view.member(name).state in ("PROBING", "UPGRADING") else "rebalance"
                for name in waiting
            }
            self._step(
                "rebalance",
                waiting,
                f"{', '.join(waiting)} join again",
                "A rebalance is due, so every member builds its subscription anew.",
                events=events,
                state="PreparingRebalance",
            )
        doomed = [i for i in alive if before[i] in classes.poisoned]
        if doomed:
            self._die(
                [self.names[i] for i in doomed],
                "cannot encode",
                {
                    self.names[i]: Failure(
                        "IllegalArgumentException",
                        f"version must be between 1 and {self.view.member(self.names[i]).latest}; "
                        f"was: {self.view.member(self.names[i]).used}",
                    )
                    for i in doomed
                },
            )
        joined = [i for i in alive if i not in doomed]
        if not joined:
            self._step(
                "complete join",
                [],
                "the group is empty",
                "Nobody is left to join.",
                state="Empty",
                leader="",
                generation=1,
            )
            return
        head = str(parameters.get("led by") or self.names[before[-2] - 128])
        who = [self.names[i] for i in joined]
        self._step(
            "complete join",
            who,
            f"generation {self.view.group.generation + 1}",
            "All who are left have joined.",
            events=dict.fromkeys(who, "joined"),
            state="CompletingRebalance",
            leader=head,
            generation=1,
        )
        self._answer(joined, head, before, parameters, after, leader)

    def _answer(
        self, joined: list[int], head: str, before: bytes, parameters: dict[str, object], after: bytes, leader: str
    ) -> None:
        classes, jars = self.model.classes, self.model.upgrade.jars
        boss = jars[classes.jar[before[self.names.index(head)]]]
        said = []
        for i in joined:
            used, latest = classes.all[before[i]].used, jars[classes.jar[before[i]]].latest
            said.append((used, latest if used >= EARLIEST_PROBEABLE else UNKNOWN))
        rule = leader_rule(boss.leader_rule)
        verdict = rule.answer(said, latest=boss.latest)
        if verdict.refusal is not None:
            fallen = [self.names[i] for i in joined if after[i] in classes.killed]
            failure = Failure("IllegalStateException", sentence(verdict.refusal.key))
            self._die(fallen, "refuse", dict.fromkeys(fallen, failure), state="PreparingRebalance", leader=leader)
            return
        sent = tuple(
            Sent("SyncGroup", head, self.names[i], version, second)
            for i, (version, second) in zip(joined, verdict.replies, strict=True)
        )
        self._step(
            "assign",
            [head],
            f"{head} answers",
            " ".join(map(quoted, sorted(set(verdict.rows)))) or f"{rule.title}.",
            messages=sent,
            source=rule.source,
            tag="probing" if verdict.probing else "",
        )
        missed = set(parameters.get("missed by", ()))  # type: ignore[call-overload]
        events: dict[str, str] = {}
        changes: dict[str, dict[str, object]] = {}
        refusals: dict[str, Failure] = {}
        whys: list[str] = []
        for i, (version, second) in zip(joined, verdict.replies, strict=True):
            name, jar = self.names[i], jars[classes.jar[before[i]]]
            used = classes.all[before[i]].used
            if name in missed:
                events[name] = "rebalance"
                continue
            reaction = member_rule(jar.member_rule).react(latest=jar.latest, used=used, received=version, common=second)
            if reaction.refusal is not None:
                refusals[name] = Failure("TaskAssignmentException", sentence(reaction.refusal))
                continue
            changes[name] = {"used": reaction.used}
            if reaction.used > jar.latest:
                self.poison.setdefault(name, self.view.group.generation)
            up = reaction.used > used or reaction.note.startswith("upgrade")
            events[name] = ("upgrade" if up else "probe") if reaction.rejoin else "assigned"
            if reaction.note not in whys:
                whys.append(reaction.note)
        why = " ".join(sentence(note) for note in whys) or "It never hears the answer."
        tag = (
            "poison"
            if any(name in self.poison for name in changes)
            else "upgrading"
            if "upgrade" in events.values()
            else ("probing" if "probe" in events.values() else "")
        )
        if events:
            heard = tuple(
                Sent(
                    "SyncGroup answer",
                    "coordinator",
                    one.receiver,
                    one.version,
                    one.supported,
                    probing=events[one.receiver] in ("probe", "upgrade"),
                )
                for one in sent
                if one.receiver in events and one.receiver not in missed
            )
            self._step(
                "sync",
                list(events),
                f"{', '.join(events)} are answered",
                why,
                events=events,
                to=changes,
                messages=heard,
                tag=tag,
                state="Stable",
                source=member_rule(boss.member_rule).source,
            )
        if refusals:
            self._die(list(refusals), "refuse", refusals)
        if after[-1] & PENDING:
            self._step(
                "rejoin",
                [],
                "another rebalance",
                "Somebody asked to rejoin, or is gone.",
                leader=leader,
                state="PreparingRebalance",
            )
        elif leader != self.view.group.leader:
            self._step("expire", [], f"{leader or 'nobody'} leads", "The leader's id is gone.", leader=leader)

    # ---------------------------------------------------------------- writing

    def _die(
        self, names: list[str], event: str, failures: dict[str, Failure], *, state: str = "", leader: str | None = None
    ) -> None:
        generation = self.view.group.generation
        for name in names:
            member = self.view.member(name)
            cause = self.poison.get(name, generation)
            self.deaths.append(Death(name, member.binary, failures[name], generation, cause, len(self.steps) + 1))
        self._step(
            "die",
            names,
            f"{', '.join(names)} {'dies' if len(names) == 1 else 'die'}",
            str(failures[names[0]]),
            events=dict.fromkeys(names, event),
            to={name: {"failure": failures[name]} for name in names},
            tag="death",
            state=state,
            leader=leader,
            source="3.9.0 StreamThread#run",
        )

    def _step(
        self,
        action: str,
        names: Iterable[str],
        title: str,
        why: str,
        *,
        events: dict[str, str] | None = None,
        to: dict[str, dict[str, object]] | None = None,
        messages: tuple[Sent, ...] = (),
        state: str = "",
        leader: str | None = None,
        generation: int = 0,
        tag: str = "",
        source: str = _SOURCE,
    ) -> None:
        before = self.view
        moves = []
        changes: dict[str, dict[str, Any]] = {name: dict(fields) for name, fields in (to or {}).items()}
        for name, event in (events or {}).items():
            row = MEMBER.row(before.member(name).state, event)
            assert row is not None, (name, before.member(name).state, event)
            moves.append((name, row.key))
            changes.setdefault(name, {})["state"] = row.target
        members = tuple(one._replace(**changes.get(one.name, {})) for one in before.members)
        group = before.group
        leads = group.leader if leader is None else leader
        alive = tuple(one.member_id for one in members if one.alive)
        self.view = View(
            members,
            replace(
                group,
                state=state or group.state,
                generation=group.generation + generation,
                leader=leads,
                leader_id=f"{leads}#{self.turns[leads]}" if leads else "",
                members=alive,
            ),
        )
        self.clock += _SECONDS
        number = len(self.steps) + 1
        self.steps.append(
            Step(
                number,
                action,
                tuple(names),
                before,
                self.view,
                self.clock,
                self.bounce,
                title,
                why,
                source,
                tag,
                tuple(moves),
                messages,
            )
        )

    def trace(self) -> Trace:
        """All steps, and how it ended."""
        path = self.example.path
        last = path.states[-1]
        if path.loop is not None:
            outcome = Outcome(
                "loop", f"State {path.loop} of the path comes back, and so on for ever.", tuple(self.deaths)
            )
        elif self.deaths:
            dead = ", ".join(dict.fromkeys(death.member for death in self.deaths))
            outcome = Outcome("deaths", f"{dead} died of what they were told.", tuple(self.deaths))
        elif self.model.upgraded(last):
            outcome = Outcome("upgraded", "All speak the last jar's version.")
        else:
            outcome = Outcome("cut off", "The path ends here.")
        jars = [jar.name for jar in self.model.upgrade.jars]
        return Trace(self.first, tuple(self.steps), outcome, {"path": [str(one) for one in path.actions], "jars": jars})
