"""Logs as programs, shippers and people leave them: every layout, wrapped, packed, coloured, cut, turned round."""

from __future__ import annotations

import bz2
import contextlib
import json
import lzma
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.logbook import Event, Progress, explain, read
from protocol.logbook.moments import moment
from protocol.logbook.plain import plain
from protocol.logbook.search import _FREQUENT, needles

MEMBER = "app-5f0c-StreamThread-1"
OTHER = MEMBER.replace("5f0c", "77aa")
TEXT = (
    "Sent a version 5 subscription and got version 4 assignment back (successful version probing). "
    "Downgrade subscription metadata to commonly supported version 4 and trigger new rebalance."
)
SAID = f"stream-thread [{MEMBER}-consumer] {TEXT}"
NOON = 1714564800.0
"""1 May 2024 12:00:00 UTC."""


def only(lines: list[str]) -> Event:
    (event,) = read(lines)
    return event


PLAIN = (
    f"2024-05-01 12:00:00.000  INFO 1 --- [-StreamThread-1] o.a.k.s.p.i.StreamsPartitionAssignor : {SAID}",
    f"2024-05-01T12:00:00.000Z  INFO 1 --- [shop] [{MEMBER}] o.a.k.s.p.i.StreamsPartitionAssignor : {TEXT}",
    f"[01/May/2024:14:00:00 +0200] INFO {SAID}",
    f"01/May/2024:12:00:00 INFO {SAID}",
    f"01-May-2024 12:00:00.000 INFO {SAID}",
    f"01 May 2024 12:00:00,000 INFO {SAID}",
    f"May 1, 2024 12:00:00 PM INFO {SAID}",
    f"01.05.2024 12:00:00,000 INFO {SAID}",
    f"05/01/2024 12:00:00.000 INFO {SAID}",
    f"5/1/24, 12:00:00 PM INFO {SAID}",
    f"2024/05/01 12:00:00 INFO {SAID}",
    f"20240501 12:00:00.000 INFO {SAID}",
    f"20240501T120000Z INFO {SAID}",
    f"Wed May  1 12:00:00 UTC 2024 INFO {SAID}",
    f"[1714564800.000] INFO {SAID}",
    f"<14>1 2024-05-01T12:00:00.000Z host app 1 - - INFO {SAID}",
    f"2024-05-01T12:00:00.000000000Z stdout F 14:00:00.000 [{MEMBER}] INFO x - {TEXT}",
    f"\x1b[36mapp_1  | \x1b[0m\x1b[2m2024-05-01 12:00:00.000\x1b[0;39m \x1b[32m INFO\x1b[0;39m {SAID}\r",
    f"[pod/app-0/main] 2024-05-01 12:00:00,000 INFO {SAID}",
    f'ts=2024-05-01T12:00:00.000Z level=INFO thread={MEMBER} msg="{TEXT}"',
)


@pytest.mark.parametrize("line", PLAIN)
def test_a_line_is_read_whatever_its_clock_and_colour(line: str) -> None:
    event = only([line])
    assert (event.kind, event.member, event.level, event.text) == ("downgrade", MEMBER, "INFO", TEXT)
    assert event.time == pytest.approx(NOON, abs=0.01)


OBJECTS: tuple[dict[str, object], ...] = (
    {"instant": {"epochSecond": 1714564800, "nanoOfSecond": 0}, "thread": MEMBER, "level": "INFO", "message": TEXT},
    {"@timestamp": "2024-05-01T12:00:00.000Z", "log.level": " INFO", "message": SAID, "ecs.version": "1.2.0"},
    {"ts": 1714564800000000000, "level": "info", "thread": MEMBER, "msg": TEXT},
    {"time": 1714564800000000, "level": 30, "thread": MEMBER, "msg": TEXT},
    {"timeUnixNano": "1714564800000000000", "severityText": "INFO", "body": {"stringValue": SAID}},
    {"version": "1.1", "host": "h", "short_message": SAID, "timestamp": 1714564800.0, "level": 6},
    {"__REALTIME_TIMESTAMP": "1714564800000000", "MESSAGE": f"INFO {SAID}", "_HOSTNAME": "h", "PRIORITY": "6"},
    {"labels": {"app": "x"}, "line": f"INFO {SAID}", "timestamp": "2024-05-01T12:00:00Z"},
    {"textPayload": f"[2024-05-01 14:00:00,000] INFO {SAID}", "timestamp": "2024-05-01T12:00:00Z", "severity": "INFO"},
    {"jsonPayload": {"message": TEXT, "thread": MEMBER}, "timestamp": "2024-05-01T12:00:00Z", "severity": "INFO"},
    {"timestamp": 1714564800000, "message": f"INFO {SAID}", "ingestionTime": 1, "logStreamName": "a"},
    {"TimeGenerated [UTC]": "5/1/2024, 12:00:00.000 PM", "LogMessage": f"INFO {SAID}"},
    {"log": json.dumps({"level": "INFO", "message": SAID}) + "\n", "stream": "stdout", "time": "2024-05-01T12:00:00Z"},
    {"_source": {"@timestamp": "2024-05-01T12:00:00.000Z", "message": f"INFO {SAID}"}},
)


@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: next(iter(value)))
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_line_is_read_whoever_exported_it_on_one_line_or_on_several(
    value: dict[str, object], indent: int | None
) -> None:
    for export in (value, [value], {"events": [value]}):
        event = only(json.dumps(export, indent=indent).split("\n"))
        assert (event.kind, event.member, event.text) == ("downgrade", MEMBER, TEXT)
        if indent is None:
            assert event.time == pytest.approx(NOON, abs=0.01)
            assert event.level == "INFO"


def test_each_element_of_an_exported_array_is_a_line_of_its_own() -> None:
    entries = [
        {"timestamp": 1714564800000 + 1000 * i, "message": SAID.replace("5f0c", f"{i:04}"), "id": {"a": [1, 2]}}
        for i in range(3)
    ]
    for indent in (None, 1):
        found = list(read(json.dumps(entries, indent=indent).split("\n")))
        assert [event.member[4:8] for event in found] == ["0000", "0001", "0002"]
        assert [event.time for event in found] == [NOON, NOON + 1, NOON + 2]


@pytest.mark.parametrize("width", [76, 80, 100, 132])
@pytest.mark.parametrize("mark", ["", "> "])
@pytest.mark.parametrize("words", [True, False])
def test_a_line_that_a_terminal_or_a_mail_broke_is_put_together(width: int, mark: str, words: bool) -> None:
    line = f"2024-05-01 12:00:00,000 INFO {SAID}"
    parts = textwrap.wrap(line, width) if words else [line[i : i + width] for i in range(0, len(line), width)]
    noise = ["2024-05-01 11:59:59,000 INFO a version is kept in balance", "2024-05-01 12:00:01,000 INFO the version x"]
    event = only([mark + part for part in (noise[0], *parts, noise[1])])
    assert (event.line, event.kind, event.member, event.text) == (2, "downgrade", MEMBER, TEXT)


def test_lines_that_stand_alone_are_not_put_together() -> None:
    found = list(read(["the version of this is none", TEXT, "a version", TEXT]))
    assert [event.line for event in found] == [2, 4]


def test_the_two_lines_of_java_util_logging_are_one() -> None:
    event = only(["May 01, 2024 12:00:00 PM org.apache.kafka.streams.Assignor onAssignment", f"INFO: {SAID}"])
    assert (event.time, event.level, event.member) == (NOON, "INFO", MEMBER)


@pytest.mark.parametrize("said", ["group\u2019s", "group&#39;s", "group\u00a0is"])
def test_quotes_and_spaces_of_web_pages_are_read_as_meant(said: str) -> None:
    if "is" in said:
        assert only([f"x {TEXT.replace(' ', chr(0xA0))}"]).text == TEXT
        return
    ended = f"Sent a version 4 subscription and {said} latest commonly supported version is 5 (successful version "
    ended += "probing and end of rolling upgrade). Upgrading subscription metadata version to 5 for next rebalance."
    assert only([ended]).kind == "end of upgrade"


def test_an_export_that_begins_with_the_newest_line_is_turned_round() -> None:
    lines = [f"2024-05-01 12:00:{59 - i:02},000 INFO {SAID.replace('5f0c', str(i))}" for i in range(5)]
    times = [event.time for event in explain(lines).events]
    assert times == sorted(NOON + 59 - i for i in range(5))


def test_a_clock_without_a_day_goes_on_after_midnight() -> None:
    first, second = (event.time for event in read([f"23:59:59 INFO {SAID}", f"00:00:01 INFO {SAID}"]))
    assert first is not None and second == first + 2


@given(st.text(max_size=300))
def test_no_text_of_a_log_can_steer_a_terminal(text: str) -> None:
    made = plain(text)
    assert not [char for char in made if (ord(char) < 32 and char not in "\t\n") or 127 <= ord(char) < 160]
    assert "\u202e" not in made and moment(made) is not NotImplemented


def test_names_in_a_log_cannot_steer_a_terminal() -> None:
    (life,) = explain([f"2024-05-01 12:00:00 INFO stream-thread [\x1b]0;owned\x07a\x9b31m\u202eb\x08] {TEXT}"]).members
    assert life.member == "a\\u202eb\\x08"


def packed(data: bytes, name: str) -> bytes:
    ways: dict[str, Callable[[bytes], bytes]] = {"bz2": bz2.compress, "xz": lzma.compress}
    return ways[name](data)


@pytest.mark.parametrize("name", ["bz2", "xz"])
def test_other_packers_of_the_library_are_unpacked(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(packed(f"x\n{SAID}\n".encode(), name))
    assert [event.line for event in explain(tmp_path / "a").events] == [2]
    whole = packed(os.urandom(50_000) + f"\n{SAID}\n".encode(), name)
    (tmp_path / "b").write_bytes(whole[: len(whole) // 2])
    assert "up to there" in explain(tmp_path / "b").problems[0]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK\x03\x04" + bytes(50), "a zip archive"),
        (b"\x28\xb5\x2f\xfd" + bytes(50), "zstd"),
        (bytes(range(256)) * 9, "no text"),
    ],
)
def test_what_is_no_log_is_refused_in_one_sentence(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    told = explain(tmp_path / "a")
    assert not told.matched and len(told.problems) == 1 and why in told.problems[0]


def test_utf_16_without_its_mark_is_read(tmp_path: Path) -> None:
    for code in ("utf-16-le", "utf-16-be"):
        (tmp_path / "a").write_bytes(f"noise\n{SAID}\n".encode(code))
        assert [event.text for event in explain(tmp_path / "a").events] == [TEXT]


def test_every_hit_of_one_endless_line_is_found() -> None:
    line = "x" * 300_000 + SAID + "y" * 300_000 + SAID.replace("5f0c", "77aa") + "z" * 300_000
    assert [event.member for event in read([line])] == [MEMBER, OTHER]


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text(f"{SAID}\n"))
    writer.start()
    assert [event.text for event in explain(tmp_path / "pipe").events] == [TEXT]
    writer.join()


def test_who_looks_on_can_end_the_reading_and_what_was_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"{SAID}\n" + "noise\n" * 600_000 + f"{SAID}\n")
    told = explain(tmp_path / "a.log", tick=lambda progress: progress.lines > 10)
    assert told.matched == 1 and "the rest was not read" in told.problems[0]


def test_ctrl_c_gives_the_answer_up_to_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    asked = subprocess.Popen(
        [sys.executable, "-m", "protocol", "explain", str(tmp_path / "pipe")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with contextlib.suppress(BrokenPipeError), (tmp_path / "pipe").open("w") as pipe:
        pipe.write(f"{SAID}\n" + "noise\n" * 400_000)
        pipe.flush()
        asked.send_signal(signal.SIGINT)
        with contextlib.suppress(BrokenPipeError):
            pipe.write("noise\n" * 400_000)
            pipe.flush()
    out, err = asked.communicate(timeout=30)
    assert asked.returncode == 130 and "No downgrade" not in out and "v5" in out
    assert "Traceback" not in err and "the rest was not read" in err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(["--lines", "-3", "x"], "no count"), (["-"], "standard input is closed"), (["."], "directory")],
)
def test_the_command_refuses_what_it_cannot_read(arguments: list[str], why: str) -> None:
    asked = subprocess.run(
        f'exec "{sys.executable}" -m protocol explain {" ".join(arguments)} <&-',
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 2 and why in asked.stderr and "Traceback" not in asked.stderr


def test_a_progress_of_a_pipe_has_no_size() -> None:
    progress = Progress("x")
    list(read([SAID], progress=progress))
    assert progress.size is None and progress.lines == 1


@pytest.mark.parametrize(
    "text",
    [
        "Invalid value " + "9" * 9000 + " for configuration upgrade.from: x",
        "Downgrade metadata to version \u0663. Latest supported version is 4.",
        "Member " + "\u00b2" * 5000 + " in group x has failed, removing it from the group",
        "Preparing to rebalance group x in state y with old generation 5 (" * 400,
    ],
)
def test_a_line_that_was_made_to_break_the_reader_costs_itself(text: str) -> None:
    assert [event.text for event in read([text, SAID])][-1] == TEXT


def test_what_every_consumer_prints_day_and_night_does_not_stop_the_search() -> None:
    assert not [needle for needle in needles() if needle in _FREQUENT]
