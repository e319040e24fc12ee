"""The simulated group against the real one: every rolling trace of the real assignors, step by step."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from protocol import group
from protocol.releases import release
from protocol.scenario import Scenario
from protocol.trace import LogLine, Sent, Step, Trace

GOLDEN = Path(__file__).parent / "golden" / "rolling_traces.txt"


@dataclass
class Generation:
    """One generation, as the golden file writes it."""

    members: list[tuple[str, str, int]]
    leader: str
    leader_log: list[str] = field(default_factory=list)
    told: dict[str, tuple[str, int, int, bool, str]] = field(default_factory=dict)
    """Versions, used before and after, whether it rejoins, exception.

    The tasks are not compared: the script that made the golden file let each member claim the task of its
    place in the list, where a real one, and ours, claims what it had.
    """
    log: dict[str, list[str]] = field(default_factory=dict)
    deaths: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Story:
    """One golden trace: its title, who leads, the bounces, the generations."""

    title: str
    policy: str
    bounces: list[tuple[str, str]] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    final: list[tuple[str, str, int]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.title} ({self.policy})"


LEFT_OUT = ("Finished stable assignment", "Finished unstable assignment", "No followup rebalance was requested")
"""Lines of 2.6.0 and later that the golden traces leave out; the golden matrices have them."""

MEMBER = re.compile(r"(\w+)\[(\S+) used=(-?\d+)\]")
ASSIGNED = re.compile(
    r"   (\w+): assigned (v-?\d+(?:/common -?\d+)?) tasks=\[(.*?)\] -> used (-?\d+)->(-?\d+)( REJOIN)?(?:  EXC (.*))?$"
)


def stories() -> list[Story]:
    """The golden file, read."""
    told: list[Story] = []
    for line in GOLDEN.read_text().splitlines():
        if title := re.match(r"=== (.*) \[leader policy: (\w+) member\]", line):
            told.append(Story(title[1], title[2]))
        elif head := re.match(r"gen \d+: members (.*); leader=(\w+)", line):
            told[-1].generations.append(Generation(_members(head[1]), head[2]))
        elif bounce := re.match(r"-- bounce (\w+) to (\S+)", line):
            told[-1].bounces.append((bounce[1], bounce[2]))
        elif log := re.match(r"   leader \w+: (.*)", line):
            told[-1].generations[-1].leader_log.append(log[1])
        elif one := ASSIGNED.match(line):
            told[-1].generations[-1].told[one[1]] = (one[2], int(one[4]), int(one[5]), bool(one[6]), one[7] or "")
        elif log := re.match(r"      (\w+) log: (.*)", line):
            told[-1].generations[-1].log.setdefault(log[1], []).append(log[2])
        elif death := re.match(r"   (\w+): subscription\(\) THROWS EXC (.*) -> stream thread dies", line):
            told[-1].generations[-1].deaths.append((death[1], death[2]))
        elif final := re.match(r"final: (.*)", line):
            told[-1].final = _members(final[1])
    return told


def _members(text: str) -> list[tuple[str, str, int]]:
    return [(name, release(tag).name, int(used)) for name, tag, used in MEMBER.findall(text)]


def played(story: Story) -> Trace:
    """The same story, simulated."""
    scenario = Scenario(
        old=[tag for _, tag, _ in sorted(story.generations[0].members)],
        bounces=story.bounces,
        succession=story.policy,
    )
    return group.play(replace(scenario.plan(), show_start=True))


def generations(trace: Trace) -> list[Generation]:
    """A trace, as the golden file would write it."""
    told: list[Generation] = []
    for step in trace.steps:
        if step.action == "complete join" and step.members:
            view = step.after
            members = [view.member(group.name_of(i)) for i in view.group.members]
            told.append(Generation([(m.name, m.binary, m.used) for m in members], view.group.leader))
        elif step.action == "assign":
            told[-1].leader_log += [_said(line) for line in step.log if not line.text.startswith(LEFT_OUT)]
        elif step.action == "sync":
            for sent in step.messages:
                told[-1].told[sent.receiver] = _heard(sent, step)
            for line in step.log:
                if not line.text.startswith(LEFT_OUT):
                    told[-1].log.setdefault(line.member, []).append(_said(line))
        elif step.action == "die":
            for name in step.members:
                failure = str(step.after.member(name).failure)
                if step.before.member(name).state == "JOINING":
                    told[-1].deaths.append((name, failure))
                else:
                    sent = next(m for m in step.messages if m.receiver == name)
                    told[-1].told[name] = (*_heard(sent, step)[:4], failure)
                    told[-1].log.setdefault(name, []).extend(_said(line) for line in step.log if line.member == name)
    return told


def _said(line: LogLine) -> str:
    return f"{line.level} {line.text}"


def _heard(sent: Sent, step: Step) -> tuple[str, int, int, bool, str]:
    second = "" if sent.supported is None else f"/common {sent.supported}"
    before, after = step.before.member(sent.receiver), step.after.member(sent.receiver)
    rejoins = after.state in ("PROBING", "UPGRADING")
    return f"v{sent.version}{second}", before.used, after.used, rejoins, ""


@pytest.mark.parametrize("story", stories(), ids=str)
def test_a_rolling_trace_of_the_real_assignors_is_reproduced_step_by_step(story: Story) -> None:
    trace = played(story)
    ours = generations(trace)
    for number, (theirs, mine) in enumerate(zip(story.generations, ours, strict=False), 1):
        assert mine == theirs, f"generation {number}"
    assert len(ours) == len(story.generations)
    alive = [m for m in map(trace.last.member, map(group.name_of, trace.last.group.members)) if m.alive]
    assert [(m.name, m.binary, m.used) for m in alive] == story.final


@pytest.mark.parametrize(("old", "twice"), [("2.0.0", True), ("2.3.0", True), ("2.3.1", False), ("2.4.0", False)])
def test_up_to_2_3_0_a_probing_leader_gives_each_thread_the_tasks_of_its_whole_process(old: str, twice: bool) -> None:
    scenario = Scenario(old=old, new="2.5.0", members=2, threads=2, leader="A", order="B")
    probing = next(step for step in group.play(scenario.plan()) if step.action == "assign" and step.tag == "probing")
    of_one_process = [message.tasks for message in probing.messages][:2]
    assert all(of_one_process)
    assert (of_one_process[0] == of_one_process[1]) is twice
