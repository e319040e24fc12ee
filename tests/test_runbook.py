"""The runbook: what is picked is planned, a run of it opens below, and nothing that cannot be changes anything."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.__main__ import main
from protocol.errors import ImpossibleScenarioError, VersionProbingError
from protocol.planner import FEATURES, plan
from protocol.releases import releases
from protocol.runbook import Runbook, markdown, module
from protocol.runbook.picks import changed, choices, form, planned, python
from protocol.runbook.sources import parts
from protocol.scenario import simulate

ROOT = Path(__file__).resolve().parent.parent
NAMES = [row.name for row in releases() if row.released]
PICKS = [
    form("2.3.0", "3.9.0"),
    form("2.0.1", "2.1.1", members=5, threads=2),
    form("3.4.1", "3.5.1", upgrade_from="3.4"),
    form("3.2.3", "2.8.0", static=True, uses=["persistent stores", "exactly_once_v2"]),
    form("3.2.3", "2.8.0", leaves=True, uses=()),
    form("2.3.1", "4.0.0", upgrade_from="none"),
]


def asked(runbook: Runbook, **what: Any) -> list[Any]:
    """What the runbook answers to the page."""
    said: list[Any] = []
    runbook.send = lambda content, buffers=None: said.append(content)
    runbook._heard(runbook, what, [])
    return said


def test_the_repr_is_the_python_that_makes_it() -> None:
    assert repr(Runbook("2.0.1", "2.1.1", members=5, static=False)) == "Runbook('2.0.1', '2.1.1', members=5)"
    shown = Runbook("3.2.3", "2.8.0", threads=2, leaves=True, upgrade_from="none", uses=["suppress"])
    assert repr(eval(repr(shown))) == repr(shown)


def test_a_pick_is_planned_and_shown() -> None:
    runbook = Runbook("2.3.0", "3.9.0")
    (answer,) = asked(runbook, plan={"new": "2.2.2", "members": 7})
    assert answer == {"planned": "2.3.0 → 2.2.2, 7 instances: " + runbook.advice.headline}
    assert runbook.sheet["picked"]["members"] == 7 and len(runbook.advice.rounds) == 1


def test_a_pick_of_a_release_forgets_the_setting_that_was_picked_for_another() -> None:
    runbook = Runbook("3.4.1", "3.5.1", upgrade_from="3.4")
    assert runbook.sheet["verdict"] == "unsafe"
    asked(runbook, plan={"new": "3.5.2"})
    assert runbook.picked["upgrade_from"] == "" and runbook.sheet["verdict"] == "safe if"


@pytest.mark.parametrize(
    ("pick", "reason"),
    [
        ({"static": True}, "a client before 2.3.0 knows no group.instance.id"),
        ({"members": 101}, "101 instances (allowed: 2 to 100)"),
        ({"members": "many"}, "members: many is not offered"),
        ({"members": True}, "members: True is not offered"),
        ({"new": "nine"}, "no Kafka Streams release is called 'nine'"),
        ({"new": "<img src=x onerror=alert(1)>"}, "no Kafka Streams release is called '<img"),
        ({"new": "9" * 400}, "is not offered"),
        ({"jar": "x"}, "jar: no picker offers that"),
        ({"uses": ["coffee"]}, "uses: ['coffee'] is not offered"),
        ({"closing": "slams"}, "closing: slams is not offered"),
        ({"threads": 65}, "65 threads an instance"),
    ],
)
def test_an_impossible_pick_is_explained_and_changes_nothing(pick: dict[str, object], reason: str) -> None:
    runbook = Runbook("2.0.1", "2.1.1")
    before = (runbook.advice, dict(runbook.picked), dict(runbook.sheet), runbook.scenario)
    (answer,) = asked(runbook, plan=pick)
    assert reason in answer["refused"] and answer["refused"].startswith("This cannot be.")
    assert (runbook.advice, runbook.picked, runbook.sheet, runbook.scenario) == before


@given(st.dictionaries(st.sampled_from(["old", "new", "members", "uses", "static", "x"]), st.none() | st.text()))
@settings(max_examples=30, deadline=None)
def test_whatever_is_asked_for_there_is_a_sentence(picks: dict[str, Any]) -> None:
    try:
        planned(changed(form("2.0.1", "2.1.1"), picks))
    except VersionProbingError as error:
        assert str(error)


def test_a_run_that_shows_the_danger_opens_at_the_step_that_poisons() -> None:
    runbook = Runbook("2.0.1", "2.1.1", members=5)
    assert asked(runbook, watch="danger") == [{"watched": "danger"}]
    assert runbook.scenario == runbook.advice.danger and simulate(runbook.scenario).outcome.deaths
    poisoned = [i for i, one in enumerate(runbook.data["frames"]) if one.get("tag") == "poison"]
    assert runbook.index == poisoned[0] + 1


def test_a_run_that_goes_well_opens_at_its_beginning() -> None:
    runbook = Runbook("2.3.0", "3.9.0")
    asked(runbook, watch="run")
    assert runbook.index == 0 and runbook.scenario.upgrade_from == "2.3" and runbook.trace.outcome.ok


def test_a_run_that_there_is_not_is_refused() -> None:
    (answer,) = asked(Runbook("2.3.0", "3.9.0"), watch="danger")
    assert "this plan has no run called 'danger'" in answer["refused"]
    with pytest.raises(ImpossibleScenarioError):
        Runbook("2.3.1", "4.0.0").watch()


def test_what_is_for_the_bench_reaches_the_bench() -> None:
    runbook = Runbook("2.3.0", "3.9.0")
    assert asked(runbook, pick={"members": 4}) == [{"told": ""}]
    assert len(runbook.scenario.instances) == 4 and runbook.picked["members"] == 3


@pytest.mark.parametrize("picked", PICKS, ids=python)
def test_the_command_and_the_python_line_give_the_same_plan(
    picked: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    runbook = Runbook("2.3.0", "2.3.1")
    runbook.pick(**picked)
    assert eval(python(picked), {"plan": plan}) == runbook.advice
    words = shlex.split(runbook.sheet["command"])[3:]
    status = main([*words, "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["headline"]) == (runbook.advice.verdict, runbook.advice.headline)
    assert status == (0 if runbook.advice.ok else 1)


@pytest.mark.parametrize("picked", PICKS, ids=python)
def test_every_offer_can_be_picked(picked: dict[str, object]) -> None:
    offers = choices(picked)
    for name in ("upgrade_from", "closing"):
        for value, _ in offers[name]:  # type: ignore[attr-defined]
            assert changed(picked, {name: value})[name] == value
    assert {key for key, _ in offers["uses"]} == set(FEATURES)  # type: ignore[attr-defined]


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(2, 100))
def test_page_and_markdown_say_what_the_plan_says(old: str, new: str, members: int) -> None:
    runbook = Runbook(old, new, members=members)
    shown, advice = runbook.sheet, runbook.advice
    assert json.loads(json.dumps(shown)) == shown
    assert shown["verdict"] == advice.verdict and len(shown["reasons"]) == len(advice.reasons)
    text = markdown(advice)
    assert text == shown["markdown"] and text.startswith(f"# {shown['title']}: {advice.verdict}")
    assert text.count("- [ ] ") == (members * len(advice.rounds) if advice.ok else 0)
    for one in advice.rounds if advice.ok else ():
        assert one.upgrade_from is None or f"upgrade.from={one.upgrade_from}" in text
    for reason in advice.reasons:
        assert reason.source in text and "".join(part for part, _ in parts(reason.source)) == reason.source


def test_a_better_way_can_be_picked() -> None:
    for picked, name in ((PICKS[1], "2.2.2"), (PICKS[2], "3.5.2"), (PICKS[5], "3.9.2")):
        runbook = Runbook("2.3.0", "2.3.1")
        runbook.pick(**picked)
        way = runbook.sheet["instead"][0]
        assert way["name"] == name and way["pick"] == {"new": name}
        asked(runbook, plan=way["pick"])
        assert runbook.advice.ok
    runbook = Runbook("2.3.1", "3.9.1", upgrade_from="banana")
    asked(runbook, plan=runbook.sheet["instead"][0]["pick"])
    assert runbook.advice.ok and runbook.advice.upgrade_from == "2.3"


def test_the_parts_of_the_odds_add_up_and_stay_few() -> None:
    for members in (3, 5, 9):
        odds = Runbook("2.0.1", "2.1.1", members=members).sheet["odds"]
        assert sum(part["chance"] for part in odds["parts"]) == pytest.approx(1)
        assert len(odds["parts"]) <= 5 and odds["parts"][0]["text"] == "nobody dies"
    assert Runbook("2.3.0", "3.9.0").sheet["odds"] is None


def test_a_source_leads_to_where_it_was_read() -> None:
    told = dict(
        parts(
            "KAFKA-12822 (pull request 18988); KIP-268; 3.5.0 ChangedSerializer#configure; 3.0 and 4.0 upgrade guides;"
            " facebook/rocksdb#11989; 2.4.0 AssignorConfiguration#rebalanceProtocol; KIP-9999"
        )
    )
    assert told["KAFKA-12822"] == "https://issues.apache.org/jira/browse/KAFKA-12822"
    assert told["pull request 18988"] == "https://github.com/apache/kafka/pull/18988"
    assert told["KIP-268"].endswith("KIP-268%3A+Simplify+Kafka+Streams+Rebalance+Metadata+Upgrade")
    assert told["3.5.0 ChangedSerializer#configure"].endswith("kstream/internals/ChangedSerializer.java")
    assert told["4.0 upgrade guides"] == "https://kafka.apache.org/40/streams/upgrade-guide"
    assert told["facebook/rocksdb#11989"] == "https://github.com/facebook/rocksdb/issues/11989"
    assert "/blob/2.4.0/" in told["2.4.0 AssignorConfiguration#rebalanceProtocol"]
    assert told["KIP-9999"].endswith("Kafka+Improvement+Proposals")


def test_the_fragment_reads_without_a_script_and_holds_its_runs() -> None:
    text = Runbook("2.0.1", "2.1.1").fragment()
    light = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "2.0.1 supports v3, 2.1.1 v4: members can die." in light and "2.2.2 in place of 2.1.1" in light
    data = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', text, flags=re.DOTALL)[0])
    assert set(data["runs"]) == {"danger", "run"} and data["runs"]["danger"]["index"] > 0


def test_what_was_picked_is_text_in_the_page() -> None:
    text = Runbook("3.4.1", "3.5.1", upgrade_from="</script><b>x</b>").html("<i>")
    assert "<b>x" not in text and "</script><b" not in text and "<i>" not in text.partition("<script")[0]


def test_the_module_is_one_and_its_parts_name_nothing_twice() -> None:
    files = [path for room in ("player", "bench", "runbook") for path in (ROOT / "protocol" / room).glob("*.js")]
    found = (re.findall(r"^(?:export )?(?:async )?(?:const|function) (\w+)", path.read_text(), re.M) for path in files)
    named = [name for names in found for name in names]
    assert len(named) == len(set(named))
    assert module().count("export default") == 1 and "@runbook.css@" not in module()


def test_sizes_stay_small() -> None:
    assert len(Runbook().fragment()) < 230_000
    assert len(module()) < 125_000
