from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.bench import PRESETS, Bench, link, read_link
from protocol.bench.picks import changed, choices, form, scenario
from protocol.errors import ImpossibleScenarioError, VersionProbingError
from protocol.releases import teaching
from protocol.scenario import Scenario, simulate


def asked(bench: Bench, **what: Any) -> list[Any]:
    """What the bench answers to the page."""
    said: list[Any] = []
    bench.send = lambda content, buffers=None: said.append((content, buffers))  # type: ignore[method-assign]
    bench._heard(bench, what, [])
    return said


def word(picks: object) -> str:
    return urlsafe_b64encode(json.dumps(picks).encode()).decode().rstrip("=")


def test_the_repr_is_the_python_that_makes_it() -> None:
    assert repr(Bench()) == "Bench(Scenario(old='2.0.0', new='2.1.0', leader='A', order='C,B,A'))"


def test_a_pick_is_run_and_shown() -> None:
    bench = Bench()
    assert asked(bench, pick={"members": 5}) == [({"told": ""}, None)]
    assert bench.scenario.instances == ("A", "B", "C", "D", "E") and bench.scenario.bounced == ("C", "B", "A", "D", "E")
    assert bench.data["bench"]["picked"]["members"] == 5


@pytest.mark.parametrize(
    ("pick", "reason"),
    [
        ({"static": True}, "the client of 2.0.0 knows no group.instance.id"),
        ({"members": 13}, "members: 13 is out of reach (allowed: 2 to 12)"),
        ({"members": "many"}, "members: no picker offers that"),
        ({"new": "nine"}, "no Kafka Streams release is called 'nine'"),
        ({"jar": "x"}, "jar: no picker offers that"),
        ({"leader": "Z"}, "no member is called Z"),
        ({"order": ["A", "A"]}, "A is bounced twice"),
    ],
)
def test_an_impossible_pick_is_explained_and_changes_nothing(pick: dict[str, object], reason: str) -> None:
    bench = Bench()
    before = (bench.scenario, bench.trace, dict(bench.data))
    ((answer, _),) = asked(bench, pick=pick)
    assert reason in answer["told"] and answer["told"].startswith("This cannot be.")
    assert (bench.scenario, bench.trace, bench.data) == before


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_one_click(name: str) -> None:
    bench = Bench()
    asked(bench, preset=name)
    assert (bench.scenario, bench.pinned) == (PRESETS[name].scenario, PRESETS[name].pinned)
    assert bench.data["bench"]["preset"] == name and ("pinned" in bench.data) == (bench.pinned is not None)


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.pinned])
def test_the_runs_of_a_comparison_differ_in_one_pick(name: str) -> None:
    preset = PRESETS[name]
    assert preset.pinned is not None
    here, there = form(preset.scenario), form(preset.pinned)
    assert len([pick for pick in here if here[pick] != there[pick]]) == 1


def test_the_old_leader_probes_and_the_new_one_kills() -> None:
    preset = PRESETS["both"]
    assert preset.pinned is not None
    assert [len(simulate(one).outcome.deaths) for one in (preset.scenario, preset.pinned)] == [2, 0]


def test_a_run_is_pinned_while_another_pick_is_made_and_the_two_can_be_swapped() -> None:
    bench = Bench()
    first = bench.scenario
    asked(bench, pin=True)
    asked(bench, pick={"new": "2.3.1"})
    assert bench.pinned == first and bench.scenario.new == "2.3.1"
    asked(bench, swap=True)
    assert bench.scenario == first
    asked(bench, pin=False)
    assert "pinned" not in bench.data


@pytest.mark.parametrize("kind", ["html", "svg", "mmd", "json"])
def test_an_export_is_handed_to_the_page(kind: str) -> None:
    ((answer, buffers),) = asked(Bench(), export=kind)
    assert answer == {"file": f"2.0.0-to-2.1.0.{kind}"} and len(buffers[0]) > 1000


def test_an_export_of_no_kind_is_refused() -> None:
    ((answer, _),) = asked(Bench(), export="mp4")
    assert "no export is called 'mp4'" in answer["told"]


SCENARIOS = [
    *(preset.scenario for preset in PRESETS.values()),
    Scenario(old="2.4.0", new="3.9.0", members=5, threads=2, static=True, seed=7),
    Scenario(old="2.0.0", new="2.3.1", rollback=2, closing="leaves", timing="timetable"),
    Scenario(
        old=teaching("v10 jar", latest=10, leader_rule="mirror", member_rule="mirror"),
        new=teaching("v11 jar", latest=11, leader_rule="smallest supported", member_rule="smallest supported"),
    ),
]


@pytest.mark.parametrize("one", SCENARIOS)
def test_the_pickers_say_what_is_on_the_screen(one: Scenario) -> None:
    assert simulate(scenario(form(one))).steps == simulate(one).steps


@pytest.mark.parametrize("one", SCENARIOS)
def test_every_offer_is_a_choice_that_can_be_told(one: Scenario) -> None:
    picked = form(one)
    for name, _, options in choices(picked)["more"]:  # type: ignore[attr-defined]
        for value, _ in options if options and isinstance(options[0], list) else []:
            assert isinstance(changed(picked, {name: value})[name], str)


@pytest.mark.parametrize("one", SCENARIOS)
def test_a_link_opens_the_scenario_the_step_and_what_is_pinned(one: Scenario) -> None:
    text = f"https://lab.example/lab/tree/01.ipynb{link(one, 17, SCENARIOS[0])}"
    linked = read_link(text)
    assert (linked.step, linked.scenario.picks(), linked.pinned) == (17, one.picks(), SCENARIOS[0])
    assert len(text) < 1000 and Bench(text).trace.steps == simulate(one).steps


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no `#run=` in it"),
        ("#run=", "cut short or was changed"),
        (link(SCENARIOS[0])[:30], "cut short or was changed"),
        ("#run=%00", "cut short or was changed"),
        ("#run=" + word([1]), "it holds no picks"),
        ("#run=" + "A" * 9000, "it has 9005 characters"),
        ("#run=" + word({"members": "lots"}), 'members cannot be "lots"'),
        ("#run=" + word({"__class__": 1}), "no pick is called '__class__'"),
        ("#run=" + word({"old": {"name": "x"}}), "old cannot be"),
        ("#run=" + word({"leader": "<img src=x onerror=alert(1)>"}), "no member is called <img"),
        ("#run=" + word({"members": 100}), "100 members in all (allowed: 24 on the bench)"),
    ],
)
def test_a_damaged_or_hostile_link_is_refused_with_a_sentence(text: str, reason: str) -> None:
    with pytest.raises(ImpossibleScenarioError) as caught:
        Bench(text)
    assert reason in str(caught.value)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_whatever_a_link_holds_there_is_a_sentence(value: object) -> None:
    for picks in (value, {"old": value}, {"order": value, "new": value}, {"bounces": value}, {"restart": value}):
        try:
            simulate(read_link("#run=" + word(picks)).scenario)
        except VersionProbingError as error:
            assert str(error)


def test_the_page_can_pick_among_what_was_run_beforehand() -> None:
    runs = Bench()._runs()
    assert len(runs) == 18 and len({json.dumps(run["bench"]["picked"]) for run in runs.values()}) == 18


def test_sizes_stay_small() -> None:
    six = Bench(Scenario(members=6, old="2.0.0", new="2.1.0"))
    assert len(six.html()) < 120_000 and len(Bench().html()) < 120_000
