"""The field commands as a shell sees them: text, JSON, exit status, and what is said of unusable input."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocol.__main__ import main

DEATH = (
    "2024-05-01 12:00:00 ERROR [a-StreamThread-1] java.lang.IllegalArgumentException: "
    "version must be between 1 and 3; was: 4"
)
PROBED = (
    "2024-05-01 12:00:00 INFO [a-StreamThread-1] Sent a version 5 subscription and got version 4 assignment back "
    "(successful version probing). Downgrade subscription metadata to commonly supported version 5 and trigger new "
    "rebalance."
)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of one call."""
    status = main(arguments)
    said = capsys.readouterr()
    return status, said.out, said.err


# explain


def test_explain_says_what_is_wrong_and_what_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log"
    log.write_text(DEATH + "\n")
    status, out, err = answer(capsys, "explain", str(log))
    assert (status, err) == (1, "")
    assert "certain: KAFKA-8649" in out and "what helps" in out and "app.log:1" in out


def test_explain_says_that_the_downgrade_line_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log"
    log.write_text(PROBED + "\n")
    status, out, _ = answer(capsys, "explain", str(log))
    assert status == 0
    assert "No downgrade happened" in " ".join(out.split())


def test_explain_in_json_has_its_documented_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log.gz"
    log.write_bytes(gzip.compress((PROBED + "\n" + DEATH).encode()))
    status, out, _ = answer(capsys, "explain", "--format", "json", str(log))
    told = json.loads(out)
    assert (status, told["schema"], told["sick"]) == (1, 1, True)
    assert {"summary", "diagnoses", "members", "events", "leader", "generation", "problems", "lines"} <= set(told)
    assert {"name", "certainty", "evidence", "cure", "decides", "scenario", "python"} <= set(told["diagnoses"][0])
    assert told["events"][0]["numbers"] == {"used": 5, "received": 4, "common": 5}
    assert told["events"][0]["releases"][0] == "2.4.0"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("explain", "no-such-file.log"), "no-such-file.log: No such file or directory"),
        (("explain", "."), ".: Is a directory"),
        (("explain", "--release", "2.9.9", os.devnull), "no Kafka Streams release is called '2.9.9'"),
    ],
)
def test_unusable_input_is_refused_in_one_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = answer(capsys, *arguments)
    assert (status, out) == (2, "")
    assert said in err and err.count("\n") == 1 and "Traceback" not in err


def test_a_log_that_breaks_off_is_explained_up_to_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log.gz"
    log.write_bytes(gzip.compress((DEATH + "\n" + os.urandom(5000).hex()).encode())[:-2000])
    status, out, err = answer(capsys, "explain", str(log))
    assert status == 1 and "KAFKA-8649" in out and "read up to there" in err


def run(command: str) -> subprocess.CompletedProcess[str]:
    """A line of shell."""
    python = f"{sys.executable} -m protocol"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("PROTOCOL", python)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_what_simulate_prints_explain_reads_from_a_pipe() -> None:
    done = run(
        "PROTOCOL simulate --from 2.0.1 --to 2.1.1 --leader A --order A,B,C --succession newest --log | PROTOCOL "
        "explain -"
    )
    assert done.returncode == 1 and "certain: KAFKA-8649" in done.stdout and not done.stderr


def test_a_pipe_that_is_closed_early_is_no_error() -> None:
    done = run("PROTOCOL simulate --from 2.0.1 --to 2.1.1 --log | PROTOCOL explain --format json - | head -c 10")
    assert not done.stderr


def test_a_log_of_which_nothing_can_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log.gz"
    log.write_bytes(b"\x1f\x8bno gzip at all")
    status, out, err = answer(capsys, "explain", str(log))
    assert (status, out) == (2, "") and "gzip" in err and err.count("\n") == 1


# plan


def test_plan_says_what_to_do_and_exits_by_its_advice(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = answer(capsys, "plan", "2.3.1", "2.5.1")
    assert (status, err) == (0, "")
    for words in ("safe if", "upgrade.from=2.3", "what to grep for", "the way back", "9 rebalances"):
        assert words in out
    status, out, _ = answer(capsys, "plan", "2.0.1", "2.1.1")
    assert status == 1 and "unsafe" in out and "2.3.1 in place of 2.1.1: safe" in out


def test_plan_in_json_has_its_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = answer(capsys, "plan", "2.0.0", "2.3.1", "--members", "5", "--format", "json")
    told = json.loads(out)
    assert (status, told["schema"], told["verdict"], told["rebalances"]) == (0, 1, "safe", {"min": 10, "max": 10})
    assert {"reasons", "bounces", "grep", "way_back", "seconds", "instead", "survival", "conditions"} <= set(told)
    assert all({"title", "text", "source", "applies"} <= set(reason) for reason in told["reasons"])
    assert told["bounces"] == [{**told["bounces"][0], "round": 1, "release": "2.3.1", "upgrade_from": None}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "2.3.1", "9.9"), "no Kafka Streams release is called"),
        (("plan", "2.3.1", "2.5.1", "--members", "1000"), "2 to 100"),
        (("plan", "2.3.1", "2.5.1", "--uses", "coffee"), "is not known"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_one_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = answer(capsys, *arguments)
    assert (status, out) == (2, "") and said in err and err.count("\n") == 1


# decode


def test_decode_takes_any_form_and_says_what_a_reader_does_next(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = answer(capsys, "decode", "AAAABAAAAAU=", "--release", "2.3.0", "--used", "4")
    assert status == 0
    assert "Crash at the next rebalance" in out and "version must be between 1 and 4; was: 5" in out


def test_decode_explains_the_reply_that_looks_empty(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = answer(
        capsys, "decode", "--format", "json", "00000004 00000004 00000000 00000000 00000000 00000000"
    )
    told = json.loads(out)
    assert status == 0 and told["form"] == "hex" and told["kind"] == "assignment info"
    assert "probe" in told["notes"][0]
    assert told["fields"][1]["bytes"] == "00000004" and told["fields"][1]["meaning"]
