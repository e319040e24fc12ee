"""What to look for in the logs of a roll: that a step is done, that all is done, and that something is wrong.

The texts are those of a simulated run, so they are the texts of the releases; what they mean is in `logbook`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import member
from ..messages import AssignmentInfo
from ..releases import Release, release
from ..trace import Failure, Trace
from .reason import number
from .rounds import Round


@dataclass(frozen=True, slots=True)
class Sign:
    """One text, and where it stands."""

    when: str
    """`start`, `each bounce`, `last bounce`, `done` or `wrong`."""
    who: str
    """`the bounced instance`, `the others`, `every instance`, `the leader` or `any instance`."""
    grep: str
    """Words for `grep -F`; numbers are those of this upgrade."""
    meaning: str = ""
    round: int = 0
    """The number of the round in which it stands there; 0 for any."""


def signs(trace: Trace, todo: Sequence[Round], *, members: int) -> tuple[Sign, ...]:
    """What the instances print in each round, from one run that goes well; nothing twice."""
    found: dict[tuple[object, ...], Sign] = {}

    def add(when: str, who: str, grep: str, meaning: str, nth: int) -> None:
        found.setdefault((when, who, grep, nth), Sign(when, who, grep, meaning, nth))

    for one in todo:
        row = release(one.release)
        add("start", _BOUNCED, _version_line(row), "it runs the jar of the plan", one.number)
        for line in member.configure(row.binary, one.upgrade_from).log:
            if line.level == "INFO":
                add("start", _BOUNCED, line.text, "it took its configuration", one.number)
    for step in trace:
        nth = (step.bounce - 1) // members + 1
        for line in step.log:
            if line.logger not in ("StreamsPartitionAssignor", "StreamThread") or line.level != "INFO":
                continue
            when = "last bounce" if step.bounce % members == 0 else "each bounce"
            bounced = line.member.split("-")[0] == _bounced(trace, step.bounce)
            who = _BOUNCED if bounced else "the others"
            if line.text.startswith(("Sent a version", "Version probing detected", "Requested to schedule immediate")):
                add(when, who, line.text, "", nth)
            elif line.text.startswith("Received a future"):
                add(when, "the leader", line.text, "the leader is older than a member: a true probe", nth)
    return tuple(found.values())


_BOUNCED = "the bounced instance"


def _bounced(trace: Trace, bounce: int) -> str:
    step = next((step for step in trace if step.bounce == bounce and step.action == "close"), None)
    return step.member.split("-")[0] if step else ""


def _version_line(row: Release) -> str:
    space = " " if number(row) < (2, 2) else ""
    return f"Kafka version{space}: {row.name}"


def done(trace: Trace, new: Release, *, changes: bool) -> tuple[Sign, ...]:
    """How to know that the whole upgrade is done."""
    found = [Sign("done", "every instance", _version_line(new), "and none with another version after it")]
    found.append(Sign("done", "every instance", "State transition from REBALANCING to RUNNING", "its last state"))
    ends = [line for step in trace for line in step.log if "end of rolling upgrade" in line.text]
    ends = ends or [line for step in trace for line in step.log if "group leader's latest supported" in line.text]
    if ends:
        found.append(
            Sign(
                "done",
                "the others",
                ends[-1].text,
                "printed by those that were bounced earlier; the last one does not print it",
            )
        )
    if not changes:
        found.append(
            Sign(
                "done",
                "any instance",
                "successful version probing",
                "must not be there: no version changes in this upgrade",
            )
        )
    return tuple(found)


def wrong(old: Release, new: Release) -> tuple[Sign, ...]:
    """What says that the roll must stop."""
    found = []
    for row in (old, new):
        doomed = member.subscribe(row.binary, used=row.latest + 1)
        if isinstance(doomed, Failure) and row.member_rule == "leader's version":
            found.append(
                Sign(
                    "wrong",
                    "any instance",
                    f"version must be between 1 and {row.latest}",
                    "KAFKA-8649: this thread died",
                )
            )
        blind = member.receive(row.binary, used=row.latest, assignment=AssignmentInfo(row.latest + 1, row.latest + 1))
        if blind.failure is not None:
            text = blind.failure.text.split(":")[0]
            found.append(Sign("wrong", "any instance", text, "look at the leader's log first"))
    found.append(Sign("wrong", "any instance", "State transition from RUNNING to ERROR", ""))
    return tuple(dict.fromkeys(found))
