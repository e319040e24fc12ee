from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sample_trace import crash, probing

from protocol.frames import bounces, frames, sides, source_url
from protocol.scenario import Scenario, simulate
from protocol.trace import Trace, View

SCENARIOS = [
    Scenario(old="2.0.0", new="2.1.0", leader="A", order="C,B,A"),
    Scenario(old="2.0.0", new="2.1.0", leader="A", order="A,B,C", succession="newest"),
    Scenario(old="2.4.0", new="3.9.0", members=5, threads=2),
]
RUNS = [probing(), crash(), *(simulate(scenario) for scenario in SCENARIOS)]


def played(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Every view again, from the first and the deltas: what the page does."""
    views = [data["first"]]
    for frame in data["frames"]:
        members = {name: dict(member) for name, member in views[-1]["members"].items()}
        for names, changed in frame.get("members", []):
            for name in names:
                members[name].update(changed)
        views.append({"members": members, "group": {**views[-1]["group"], **frame.get("group", {})}})
    return views


@pytest.mark.parametrize("trace", RUNS)
def test_the_deltas_give_back_every_view(trace: Trace) -> None:
    data: Any = json.loads(json.dumps(frames(trace)))
    views: list[View] = [trace.first, *(step.after for step in trace)]
    for shown, view in zip(played(data), views, strict=True):
        group = view.group
        assert (shown["group"]["state"], shown["group"]["generation"]) == (group.state, group.generation)
        assert (shown["group"]["leader_id"], shown["group"]["ghosts"]) == (group.leader_id, list(group.ghosts))
        for member in view.members:
            drawn = shown["members"][member.name]
            assert (drawn["state"], drawn["jar"], drawn["speaks"]) == (member.state, member.binary, member.used)
            assert drawn["tasks"] == [str(task) for task in member.tasks]


@pytest.mark.parametrize("trace", RUNS)
def test_a_frame_holds_only_what_changed(trace: Trace) -> None:
    data: Any = frames(trace)
    views = played(data)
    for frame, before in zip(data["frames"], views, strict=False):
        for names, changed in frame.get("members", []):
            assert all(before["members"][name][key] != value for name in names for key, value in changed.items())


@pytest.mark.parametrize("trace", RUNS)
def test_every_message_finds_its_bytes_again(trace: Trace) -> None:
    data: Any = frames(trace)
    for step, frame in zip(trace, data["frames"], strict=True):
        assert data["reasons"][frame["why"]] == step.why and data["sources"][frame["source"]][0] == step.source
        for sent, place in zip(step.messages, frame.get("messages", []), strict=True):
            shown = data["messages"][place]
            assert (shown["from"], shown["to"], shown.get("version")) == (sent.sender, sent.receiver, sent.version)
            assert bytes.fromhex(data["payloads"][shown["data"]][0] if "data" in shown else "") == sent.data
    assert len({payload for payload, _ in data["payloads"]}) == len(data["payloads"])


@pytest.mark.parametrize("trace", RUNS[2:])
def test_the_fields_of_a_payload_fill_it(trace: Trace) -> None:
    data: Any = frames(trace)
    for payload, shape in data["payloads"]:
        assert sum(length for _, _, length in data["shapes"][shape]) * 2 == len(payload)
        assert [name for name, _, _ in data["shapes"][shape]].count("version") == 2, "the envelope's and the payload's"


def test_members_to_whom_the_same_happened_share_a_line() -> None:
    data: Any = frames(simulate(SCENARIOS[0]))
    assert data["frames"][2]["changes"][0] == [["A", "B"], "stable → joining"]
    assert data["frames"][6]["changes"] == [
        [["A", "B"], "syncing → stable"],
        [["C"], "syncing → probing, speaks v4 → v3"],
        [["◆"], "completing rebalance → stable"],
    ]


def test_the_legend_tells_every_pair_of_a_jar_and_a_version_that_is_shown() -> None:
    data: Any = frames(simulate(SCENARIOS[0]))
    assert [text for _, text in data["meta"]["legend"]] == [
        "2.0.0, speaks v3",
        "2.1.0, speaks v4",
        "2.1.0 speaking v3",
        "gone, but the broker still waits for it",
        "probing answer",
    ]


def test_poison_is_noted_until_it_kills_and_death_names_its_cause() -> None:
    data: Any = frames(simulate(SCENARIOS[1]))
    notes = [data["reasons"][frame["note"]] if "note" in frame else "" for frame in data["frames"]]
    assert [number for number, note in enumerate(notes, start=1) if note] == [7, 8, 9, 10]
    assert notes[6].startswith("B, C poisoned in generation 2. Told v4, while 2.0.0 speaks at most v3")
    assert notes[9].startswith("The cause is generation 2.")


def test_frames_of_a_run_are_the_same_every_time() -> None:
    assert json.dumps(frames(crash())) == json.dumps(frames(crash()))


def test_a_bounce_is_named_by_who_and_to_which_jar() -> None:
    assert list(bounces(probing())) == [(1, "C", "2.1.0"), (14, "B", "2.1.0")]


def test_the_sides_are_those_of_the_upgrade() -> None:
    assert sides(crash()) == {"2.0.0": "old", "2.1.0": "new"}


def test_a_third_binary_is_on_a_side_of_its_own() -> None:
    run = probing()
    step = run.steps[-1]
    members = (step.after.members[0]._replace(binary="2.0.1"), *step.after.members[1:])
    mixed = replace(run, steps=(*run.steps, replace(step, number=27, after=replace(step.after, members=members))))
    assert sides(mixed) == {"2.0.0": "old", "2.1.0": "new", "2.0.1": "third"}


def test_a_run_of_no_steps_has_frames_too() -> None:
    data: Any = frames(replace(probing(), steps=()))
    assert data["frames"] == [] and data["meta"]["bounces"] == []


def test_the_picks_come_with_the_python_that_makes_them() -> None:
    jar = {"name": "v10 jar", "latest": 10, "leader_rule": "mirror", "member_rule": "mirror"}
    data: Any = frames(replace(probing(), picks={"old": jar, "new": "2.1.0", "order": ["C"]}))
    assert data["meta"]["python"] == (
        "simulate(Scenario(old=teaching('v10 jar', latest=10, leader_rule='mirror', member_rule='mirror'),"
        " new='2.1.0', order=('C',)))"
    )


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("1.1.0 StreamPartitionAssignor#assign", "/1.1.0/streams/src/main/java/org/apache/kafka/streams/processor/"),
        ("3.9.0 GroupCoordinator#doJoinGroup", "/3.9.0/core/src/main/scala/kafka/coordinator/group/"),
        ("2.4.0 AbstractCoordinator#joinGroupIfNeeded", "/2.4.0/clients/src/main/java/org/apache/kafka/clients/"),
    ],
)
def test_a_source_is_found_at_its_tag(source: str, end: str) -> None:
    assert source_url(source).startswith(f"https://github.com/apache/kafka/blob{end}")


def test_a_source_that_is_not_known_has_no_address() -> None:
    assert source_url("the operator") == source_url("2.0.0 Nowhere#at") == ""
