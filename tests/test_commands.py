"""The command line: what it answers, in which form, and with which exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from protocol.__main__ import COMMANDS, main
from protocol.commands.answer import SCHEMA

ROOT = Path(__file__).resolve().parent.parent
CRASH = "simulate --from 2.0.0 --to 2.1.0 --members 3 --leader A --order A,B,C --succession newest"
FINE = "simulate --from 2.0.0 --to 2.1.0 --members 3 --leader A --order C,B,A --succession newest"
SUBSCRIPTION = "0000000c0000000c"


def run(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    try:
        status = main(words.split())
    except SystemExit as stop:
        status = int(stop.code or 0)
    told = capsys.readouterr()
    return status, told.out, told.err


def answer(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict]:  # type: ignore[type-arg]
    """Exit status, and the JSON answer."""
    status, out, _ = run(f"{words} --format json", capsys)
    told = json.loads(out)
    assert told["schema"] == SCHEMA
    return status, told


def test_simulate_tells_the_design_keys(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = answer(FINE, capsys)
    assert status == 0
    assert (told["outcome"], told["rebalances"], told["generation"]) == ("upgraded", 6, 7)
    assert {"name", "binary", "used_version", "alive", "reason"} <= told["members"][0].keys()
    assert {"number", "action", "member", "generation", "log"} <= told["steps"][0].keys()
    assert [member["used_version"] for member in told["members"]] == [4, 4, 4]


def test_a_group_that_fails_is_exit_status_one_with_who_when_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = answer(CRASH, capsys)
    assert status == 1
    assert told["outcome"] == "deaths"
    assert [(death["member"], death["cause"]) for death in told["deaths"]] == [("B", 2), ("C", 2)]
    assert "version must be between 1 and 3; was: 4" in told["deaths"][0]["reason"]


def test_where_the_election_decides_all_endings_are_told_with_a_witness(capsys: pytest.CaptureFixture[str]) -> None:
    _, told = answer("simulate --from 2.0.0 --to 2.1.0 --leader A", capsys)
    assert {len(ending["deaths"]) for ending in told["endings"]} == {0, 1, 2}
    assert all(ending["witness"]["succession"] for ending in told["endings"])
    _, out, _ = run("simulate --from 2.0.0 --to 2.1.0 --leader A", capsys)
    assert "This is one of 3 endings" in out


def test_the_log_is_the_real_releases_log_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(f"{FINE} --log", capsys)
    assert "INFO StreamThread - Version probing detected. Triggering new rebalance." in out
    assert all(line.startswith("[") for line in out.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        "--from 2.3.0 --to 2.4.0 --static",
        "--from 2.0.0 --to 2.3.1 --rollback 2",
        "--from 1.1.1 --to 2.3.1 --upgrade-from 1.1",
        "--from 1.1.1 --to 2.3.1 --upgrade-from 1.1 --one-bounce",
        "--from 2.0.0,2.3.1,2.4.0 --to 2.4.0 --order A,B",
        "--from 2.0.0 --bounce C=2.3.1 --bounce C=2.0.0",
        "--from 2.4.0 --to 3.9.0 --threads 2 --timing timetable --seed 3",
        "--from 2.0.0 --to 2.3.1 --closing leaves --restart 5",
        "--from 2.0.0 --to 2.3.1 --succession A,B,C",
    ],
)
def test_every_option_is_a_scenario(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, told = answer(f"simulate {words}", capsys)
    assert status == 0
    assert told["outcome"] in ("upgraded", "rolled back", "old version")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("simulate --from 2.0.0", "say where to"),
        ("simulate --from 2.1.2 --to 2.3.1", "the nearest known are 2.1.1"),
        ("simulate --from 2.0.0 --to 2.1.0 --order A,A", "A is bounced twice"),
        ("simulate --from 2.0.0 --to 2.1.0 --leader Q", "no member is called Q"),
        ("simulate --from 2.0.0 --to 2.1.0 --restart soon", "before, after, or seconds"),
        ("simulate --from 2.0.0 --to 2.1.0 --static", "group.instance.id"),
        ("simulate --from 2.0.0 --bounce C", "NAME=RELEASE"),
        ("releases 9.9", "no Kafka Streams release"),
        ("decode", "say which bytes"),
        ("decode 0g", "no hex digit"),
        ("decode 000", "odd number of hex digits"),
        ("decode --file /nowhere/at/all", "No such file"),
        ("decode ffffffffffffffff", "version"),
        ("decode 0000000400000004 --release 2.1.2", "the nearest known"),
    ],
)
def test_unusable_input_is_one_sentence_and_exit_status_two(
    words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(words, capsys)
    assert status == 2
    assert says in err and len(err.splitlines()) == 1 and "Traceback" not in err


def test_releases_lists_the_catalogue_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    _, told = answer("releases", capsys)
    names = [row["name"] for row in told["releases"]]
    assert names[0] == "0.10.0.0" and {"2.3.1", "3.9.0", "4.0.0", "c310bf37670"} <= set(names)
    _, told = answer("releases 2.3.1", capsys)
    assert told["release"]["latest_supported_version"] == 4
    assert {"KAFKA-8649", "KAFKA-9053"} <= set(told["release"]["fixes"])
    _, out, _ = run("releases 2.3.1", capsys)
    assert "smallest supported" in out


def test_decode_tells_each_field_and_what_a_release_sees(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = answer(f"decode {SUBSCRIPTION} --release 2.3.1", capsys)
    assert status == 0
    assert [(field["name"], field["value"]) for field in told["fields"]] == [
        ("version", 12),
        ("latest_supported_version", 12),
    ]
    assert "future subscription" in told["reader"]["sees"]
    assert told["reader"]["log"] == [
        "INFO SubscriptionInfo - Unable to decode subscription data: used version: 12; latest supported version: 12"
    ]


def test_damaged_bytes_are_explained_up_to_the_damage(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("decode 000000040000000400112233445566778899aabbccddeeff00000002", capsys)
    assert status == 2
    assert "latest_supported_version = 4" in out
    assert "prev_tasks" in err and "byte 24" in err


def test_an_envelope_is_taken_apart_with_its_payload(capsys: pytest.CaptureFixture[str]) -> None:
    _, told = answer(FINE, capsys)
    joins = [message for step in told["steps"] for message in step["messages"] if message["kind"] == "JoinGroup"]
    status, layers = answer(f"decode {joins[0]['bytes']}", capsys)
    assert status == 0
    assert (layers["kind"], layers["payload"]["kind"]) == ("consumer subscription", "subscription info")
    assert layers["payload"]["fields"][0]["value"] == joins[0]["version"]


def test_a_file_and_standard_input_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes.fromhex(SUBSCRIPTION))
    assert answer(f"decode --file {path}", capsys)[1]["kind"] == "subscription info"
    told = subprocess.run(
        [sys.executable, "-m", "protocol", "decode", "-"],
        input=f"0x{SUBSCRIPTION}\n",
        text=True,
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    assert "subscription info, 8 bytes" in told.stdout


def test_a_pipe_that_closes_early_is_no_error() -> None:
    shell = f'"{sys.executable}" -m protocol {FINE} --format json | head -n 1'
    told = subprocess.run(["sh", "-c", shell], text=True, capture_output=True, cwd=ROOT, check=True)
    assert told.stdout.strip() == "{" and told.stderr == ""


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        status, out, _ = run(f"{command} --help", capsys)
        assert status == 0 and f"python -m protocol {command}" in out.split("example:")[1]


def test_explore_tells_the_design_keys_and_finds_what_kills(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = answer("explore --from 2.0.0 --to 2.1.0 --members 3", capsys)
    assert status == 1
    assert {"states", "outcomes", "rebalances"} <= told.keys()
    assert {"min", "max"} == told["rebalances"].keys()
    assert all(ending["witness"] for ending in told["outcomes"])
    assert {ending["dead"] for ending in told["outcomes"]} == {0, 1, 2}
    status, told = answer("explore --from 2.0.0 --to 2.3.1 --members any", capsys)
    assert (status, told["verdict"], told["members"]) == (0, "ok", None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--from 2.0.0 --to 9.9", "no Kafka Streams release"),
        ("--from 2.0.0 --to 2.1.0 --members few", "a number, or any"),
    ],
)
def test_explore_refuses_in_one_sentence(words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(f"explore {words}", capsys)
    assert status == 2 and says in err and len(err.splitlines()) == 1
