"""The logbook: what simulated releases print is read back without loss, and real logs in all their layouts."""

from __future__ import annotations

import gzip
import io
import json
import random
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import ImpossibleScenarioError, UnknownReleaseError
from protocol.logbook import NAMES, Event, Explanation, Progress, explain, meaning, own, read, written
from protocol.logbook.causes import CAUSES
from protocol.logbook.events import CAUSES as CAUSE_KINDS
from protocol.logbook.history import History
from protocol.logbook.meaning import _TELLING
from protocol.logbook.moments import moment
from protocol.logbook.others import shapes as other_shapes
from protocol.logbook.record import record
from protocol.logbook.search import needles
from protocol.logbook.shapes import filled, named, span, told
from protocol.releases import releases
from protocol.scenario import Scenario, simulate
from protocol.trace import LogLine, Trace

NAMES_OF_RELEASES = [row.name for row in releases()]
STREAMS = "app-5f0c-StreamThread-1"
PROBED = (
    "Sent a version 4 subscription and got version 3 assignment back (successful version probing). "
    "Downgrading subscription metadata to received version and trigger new rebalance."
)


def diagnosed(explanation: Explanation) -> list[str]:
    return [one.name for one in explanation.diagnoses]


def only(text: str, **options: str) -> Event:
    (event,) = read([text], **options)  # type: ignore[arg-type]
    return event


# The table.


def test_every_line_of_every_rule_has_a_shape_and_every_shape_a_meaning() -> None:
    kinds = {reading.kind for shape in (*own.shapes(), *other_shapes()) for reading in shape.readings}
    assert kinds - set(_TELLING) <= CAUSE_KINDS <= set(CAUSES)


def test_every_shape_can_be_found_by_an_anchor() -> None:
    for shape in (*own.shapes(), *other_shapes()):
        words = filled(shape.words, dict.fromkeys(shape.readings[0].slots, 7)).encode()
        assert any(needle.encode() in words for needle in needles()), shape.words


@pytest.mark.parametrize("row", releases(), ids=lambda row: row.name)
def test_every_release_is_in_the_table(row: object) -> None:
    index = releases().index(row)  # type: ignore[arg-type]
    assert any(reading.releases >> index & 1 for shape in own.shapes() for reading in shape.readings)


def test_sets_of_releases_are_told_as_ranges() -> None:
    assert told(span("2.2.2", "2.2.2") | span("2.3.1", "2.4.1")) == "2.2.2, 2.3.1–2.4.1"
    assert told(span()) == "every release"
    assert named(span("4.4.0")) == ("4.4.0",)


# The round trip.


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    names = st.sampled_from(NAMES_OF_RELEASES)
    count = draw(st.integers(2, 4))
    mixed = draw(st.booleans())
    old = tuple(draw(st.lists(names, min_size=count, max_size=count))) if mixed else draw(names)
    options: dict[str, object] = {
        "old": old,
        "new": draw(names),
        "members": count,
        "seed": draw(st.integers(0, 99)),
        "succession": draw(st.sampled_from(["broker", "oldest", "newest", "highest version"])),
        "threads": draw(st.integers(1, 2)),
        "timing": draw(st.sampled_from(["lockstep", "timetable"])),
        "restart": draw(st.sampled_from(["before", "after"])),
        "supervisor": draw(st.sampled_from([None, None, 15.0])),
        "until": 400.0,
    }
    values = [row.value for row in releases()[NAMES_OF_RELEASES.index(str(options["new"]))].upgrade_from]
    if values and draw(st.booleans()):
        options["upgrade_from"] = draw(st.sampled_from(values))
    return Scenario(**options)  # type: ignore[arg-type]


def printed(trace: Trace) -> Iterator[tuple[float, LogLine]]:
    for step in trace:
        yield from ((step.at, line) for line in step.log)


@settings(max_examples=60, deadline=None)
@given(scenarios())
def test_what_a_simulated_release_prints_is_read_back_without_loss(scenario: Scenario) -> None:
    try:
        trace = simulate(scenario)
    except ImpossibleScenarioError:
        return
    lines = list(written(trace))
    found = list(read(lines))
    assert len(found) == len(lines), set(range(1, len(lines) + 1)) - {event.line for event in found}
    said = iter(printed(trace))
    jars = {view.name: view.binary for view in trace.first.members}
    deaths = [step for step in trace if step.action == "die"]
    for event in found:
        if event.exception or event.kind == "dies":
            assert any(event.member in step.members for step in deaths)
            continue
        at, line = next(said)
        assert (event.member, event.level, event.logger, event.text) == (
            line.member,
            line.level,
            line.logger,
            line.text,
        )
        assert event.time == pytest.approx(at)
        assert event.fits, event.text
    assert next(said, None) is None
    assert set(jars) >= {event.member for event in found}


@settings(max_examples=40, deadline=None)
@given(scenarios())
def test_the_release_and_the_version_that_a_line_tells_are_those_of_the_run(scenario: Scenario) -> None:
    try:
        trace = simulate(scenario)
    except ImpossibleScenarioError:
        return
    history = History()
    events = {event.line: event for event in read(written(trace))}
    number = 0
    for step in trace:
        for line in step.log:
            number += 1
            event = events[number]
            life = history.note(event)
            view = step.after.member(line.member)
            assert life is not None
            assert view.binary in event.releases, (view.binary, event.text)
            if life.used is not None and event.number("used") is not None and event.kind != "upgrade.from lowers":
                assert life.used == view.used, event.text
        number += sum(1 for _ in _last_words(step))


def _last_words(step: object) -> Iterator[str]:
    from protocol.logbook.writing import _deaths

    return _deaths(step)  # type: ignore[arg-type]


def test_a_run_that_kills_is_diagnosed_and_the_scenario_of_the_diagnosis_kills_too() -> None:
    trace = simulate(Scenario(old="2.0.1", new="2.1.1", leader="A", order="A,B,C", succession="newest"))
    told_of = explain(written(trace))
    first = told_of.diagnoses[0]
    assert (first.name, first.certainty, told_of.sick) == ("KAFKA-8649", "certain", True)
    assert {event.member for event in first.evidence} == {"B", "C"}
    assert first.scenario is not None
    assert simulate(first.scenario).outcome.kind == "deaths"


def test_a_poisoned_member_is_named_before_it_dies() -> None:
    trace = simulate(Scenario(old="2.0.1", new="2.1.1", leader="A", order="A,B,C", succession="newest"))
    before = [line for line in written(trace) if "version must be" not in line]
    assert "poisoned member" in diagnosed(explain(before))


@pytest.mark.parametrize(
    ("old", "new"), [("2.0.0", "2.3.1"), ("2.3.1", "2.4.1"), ("2.6.0", "2.6.1"), ("3.1.0", "3.9.1"), ("3.9.0", "4.4.0")]
)
def test_an_upgrade_that_goes_well_has_no_grave_diagnosis(old: str, new: str) -> None:
    told_of = explain(written(simulate(Scenario(old=old, new=new))))
    assert not [one for one in told_of.diagnoses if one.grave and one.name != "eager beside cooperative"]


# Layouts.


@pytest.mark.parametrize(
    "line",
    [
        f"2024-05-01 12:00:00,250 INFO  [{STREAMS}] o.a.k.s.p.i.StreamsPartitionAssignor: {PROBED}",
        f"[2024-05-01 12:00:00,250] INFO stream-thread [{STREAMS}] {PROBED} (org.apache.kafka.streams.Assignor)",
        f"2024-05-01T12:00:00.250Z stdout F INFO stream-thread [{STREAMS}-consumer] {PROBED}",
        f"1714564800250 [{STREAMS}] INFO x - {PROBED}",
        json.dumps(
            {"@timestamp": "2024-05-01T12:00:00.250Z", "level": "INFO", "thread_name": STREAMS, "message": PROBED}
        ),
        json.dumps({"timeMillis": 1714564800250, "thread": STREAMS, "level": "INFO", "message": f"x {PROBED}"}),
        json.dumps({"log": f"2024-05-01 12:00:00,250 INFO [{STREAMS}] {PROBED}\n", "stream": "stdout"}),
        '2024-05-01T12:00:00.250Z stdout F {"level":"INFO","thread":"' + STREAMS + '","msg":"' + PROBED + '"}',
        json.dumps({"ts": 1714564800.250, "severity": "info", "process": {"thread": {"name": STREAMS}}, "msg": PROBED}),
    ],
)
def test_a_line_is_read_in_any_layout(line: str) -> None:
    event = only(line)
    assert (event.kind, event.member, event.level, event.text) == ("downgrade", STREAMS, "INFO", PROBED)
    assert event.time == pytest.approx(1714564800.25)


def test_a_line_without_any_layout_is_read_too() -> None:
    assert (only(PROBED).kind, only(PROBED).member, only(PROBED).time) == ("downgrade", "", None)


def test_a_line_of_a_stack_trace_belongs_to_the_thread_that_threw() -> None:
    event = list(
        read(
            [
                f"2024-05-01 12:00:00,000 ERROR [{STREAMS}] x - Encountered the following error during processing:",
                "java.lang.IllegalStateException: outer",
                "\tat a.b.C.d(C.java:1)",
                "Caused by: java.lang.IllegalArgumentException: version must be between 1 and 3; was: 4",
            ]
        )
    )[-1]
    assert (event.kind, event.member, event.level) == ("poisoned", STREAMS, "ERROR")


def test_times_without_a_day_a_zone_or_a_year_are_times() -> None:
    assert moment("2024-05-01T14:00:00+02:00") == moment("2024-05-01 12:00:00,000")
    assert moment("Requested to schedule next probing rebalance at 2022-08-31 03:13:29,131 Z") is None
    assert moment("99:99:99") is None
    assert moment("2024-13-45 12:00:00") is None


def test_a_nested_or_broken_json_line_costs_only_itself() -> None:
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    found = list(read(['{"message": "broken ' + PROBED, deep + " rebalance", PROBED]))
    assert [event.line for event in found] == [1, 3]


def relaid(trace: Trace) -> dict[str, list[str]]:
    """The same log as three instances write it: log4j's layout, one file each, names of stream threads, noise."""
    files: dict[str, list[str]] = {}
    for line in written(trace):
        made = record(line)
        assert made.time is not None
        at = datetime.fromtimestamp(1_700_000_000 + made.time, tz=UTC)
        thread = f"app-{made.member.lower()}{made.member.lower()}-StreamThread-1"
        head = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03} {made.level:5} [{thread}]"
        text, _, exception = made.text.partition(": java.lang.")
        own = files.setdefault(made.member, [])
        own += [f"{head} o.a.k.s.p.i.{made.logger} - stream-thread [{thread}] {text}{':' * bool(exception)}"]
        own += [f"java.lang.{exception}", "\tat org.apache.kafka.Some.thing(Some.java:1)"] if exception else []
        own += [f"{head} c.e.App - an order was accepted"]
    return files


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_the_same_log_in_another_layout_and_in_several_files_says_the_same(scenario: Scenario) -> None:
    try:
        trace = simulate(scenario)
    except ImpossibleScenarioError:
        return
    files = relaid(trace)
    if not files:
        return
    there = explain(*files.values(), names=list(files))
    here = explain(written(trace))
    assert {one.name for one in there.diagnoses if one.grave} == {one.name for one in here.diagnoses if one.grave}
    assert {life.runs for life in there.members} == {life.runs for life in here.members}


def test_a_poisoned_member_that_joins_again_or_is_closed_was_not_poisoned() -> None:
    line = f"12:00:02 INFO [{STREAMS}] Sent a version 3 subscription and group leader's latest supported version is 4."
    line += " Upgrading subscription metadata version to 4 for next rebalance."
    joined = f"12:00:09 INFO [{STREAMS}] Successfully joined group with generation 8"
    closed = f"12:00:09 INFO stream-thread [{STREAMS}] State transition from RUNNING to PENDING_SHUTDOWN"
    assert diagnosed(explain([line], release="2.0.1")) == ["poisoned member"]
    assert diagnosed(explain([line, joined], release="2.0.1")) == []
    assert diagnosed(explain([line, closed], release="2.0.1")) == []


def test_old_members_that_are_gone_are_not_beside_cooperative_ones() -> None:
    trace = simulate(Scenario(old="2.3.1", new="2.5.1", upgrade_from="2.3"))
    assert "eager beside cooperative" not in diagnosed(explain(written(trace)))
    trace = simulate(Scenario(old="2.3.1", new="2.5.1", leader="A", order="B"))
    assert "eager beside cooperative" in diagnosed(explain(written(trace)))


def test_a_line_that_the_named_release_does_not_print_says_so() -> None:
    event = only(PROBED, release_name="3.9.0")
    assert event.elsewhere and "The release that was named does not print this" in meaning(event)


# Files.


def test_gzip_utf_16_and_plain_files_say_the_same(tmp_path: Path) -> None:
    text = f"noise\n{PROBED}\nnoise\n"
    for name, data in (
        ("a.log", text.encode()),
        ("b.log.gz", gzip.compress(text.encode())),
        ("c.log", text.encode("utf-16")),
        ("d.log", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()),
    ):
        (tmp_path / name).write_bytes(data)
        told_of = explain(tmp_path / name)
        assert [(event.line, event.text) for event in told_of.events] == [(2, PROBED)]
        assert told_of.lines == 3


def test_several_files_are_merged_by_time(tmp_path: Path) -> None:
    silent = "Sent a version 3 subscription and group leader's latest supported version is 4. Upgrading subscription"
    silent += " metadata version to 4 for next rebalance."
    (tmp_path / "a.log").write_text(f"2024-05-01 12:00:02 INFO [x-StreamThread-1] {PROBED}\n")
    (tmp_path / "b.log").write_text(f"2024-05-01 12:00:01 INFO [y-StreamThread-1] {silent}\n")
    told_of = explain(tmp_path / "a.log", tmp_path / "b.log")
    assert [event.member for event in told_of.events] == ["y-StreamThread-1", "x-StreamThread-1"]


def test_a_gzip_file_that_breaks_off_is_read_up_to_there(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(100_000).hex().encode() + b"\n"
    whole = gzip.compress(f"{PROBED}\n".encode() + noise)
    (tmp_path / "a.gz").write_bytes(whole[: len(whole) // 2])
    told_of = explain(tmp_path / "a.gz")
    assert [event.kind for event in told_of.events] == ["downgrade"]
    assert len(told_of.problems) == 1 and "up to there" in told_of.problems[0]


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_garbage_around_a_line_does_not_hide_it(before: bytes, after: bytes) -> None:
    data = before + b"\n" + PROBED.encode() + b"\n" + after
    if data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK", b"\x28\xb5", b"\x04\x22", b"\xff\xfe", b"\xfe\xff")):
        return
    assert any(event.text == PROBED for event in read(io.BytesIO(data)))


@settings(max_examples=40, deadline=None)
@given(st.integers(600, 4096), st.integers(0, 2000))
def test_the_size_of_the_pieces_does_not_matter(chunk: int, noise: int) -> None:
    data = b"".join(b"x" * (noise * i % 701) + b"\n" + PROBED.encode() + b"\n" for i in range(20))
    assert [event.line for event in read(io.BytesIO(data), chunk=chunk)] == list(range(2, 41, 2))


def test_a_file_of_one_endless_line_is_read_in_bounded_memory() -> None:
    class Endless(io.RawIOBase):
        left = 64 << 20

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object) -> int:
            size = min(len(buffer), self.left)  # type: ignore[arg-type]
            self.left -= size
            buffer[:size] = b"-" * size  # type: ignore[index]
            return size

    tracemalloc.start()
    progress = Progress("endless")
    assert list(read(io.BufferedReader(Endless()), progress=progress)) == []  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert progress.unpacked >= 64 << 20
    assert peak < 24 << 20


def test_a_log_of_thousands_of_repetitions_is_told_once() -> None:
    told_of = explain([PROBED] * 5_000)
    assert [(one.times, one.event.text) for one in told_of.noted] == [(5_000, PROBED)]
    assert "rebalance loop" in diagnosed(told_of)


def test_nothing_in_a_log_is_no_disease() -> None:
    told_of = explain(["hello"])
    assert (told_of.matched, told_of.diagnoses, told_of.sick) == (0, (), False)
    assert "none of which" in told_of.summary


def test_a_release_that_is_given_decides_what_the_line_leaves_open() -> None:
    line = "Sent a version 3 subscription and group leader's latest supported version is 4. Upgrading subscription"
    line += " metadata version to 4 for next rebalance."
    open_question = explain([line]).diagnoses[0]
    assert (open_question.name, open_question.certainty) == ("poisoned member", "possible")
    assert "release" in open_question.decides
    assert explain([line], release="2.0.1").diagnoses[0].certainty == "certain"
    assert explain([line], release="2.1.1").diagnoses == ()
    with pytest.raises(UnknownReleaseError):
        explain([line], release="2.9.9")


def test_the_version_line_of_a_file_decides_too() -> None:
    line = f"12:00:02 INFO [{STREAMS}] Sent a version 3 subscription and group leader's latest supported version is 4."
    line += " Upgrading subscription metadata version to 4 for next rebalance."
    assert explain(["12:00:00 INFO Kafka version : 2.0.1", line]).diagnoses[0].certainty == "certain"
    assert explain(["12:00:00 INFO Kafka version : 2.1.0", line]).diagnoses == ()


def test_every_diagnosis_has_a_name_of_the_list_evidence_a_cure_and_what_decides_when_it_is_open() -> None:
    texts = [
        filled(shape.words, dict.fromkeys(shape.readings[0].slots, 7)) for shape in (*own.shapes(), *other_shapes())
    ]
    for told_of in (explain([text] * 6) for text in texts):
        for one in told_of.diagnoses:
            assert one.name in NAMES
            assert one.evidence and one.cure and one.what
            assert one.certainty == "certain" or one.decides, one.name
        assert all(meaning(event) or event.kind in CAUSES for event in told_of.events)


def test_a_record_of_a_simulated_run_has_its_own_layout() -> None:
    made = record("[    2.000] A-1: INFO StreamThread - Version probing detected. Triggering new rebalance.")
    assert (made.time, made.member, made.level, made.logger) == (2.0, "A-1", "INFO", "StreamThread")
