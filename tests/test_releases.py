"""The catalogue says what the facts say, row by row, and refuses what it does not hold."""

from __future__ import annotations

import csv
import dataclasses
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocol
from protocol.errors import ImpossibleScenarioError, UnknownReleaseError
from protocol.releases import LOGS, Binary, Release, UpgradeFrom, release, releases, teaching
from protocol.strategies import LEADER_RULES, MEMBER_RULES
from protocol.versions import CODECS, EARLIEST_PROBEABLE

GOLDEN = Path(__file__).parent / "golden"
NAMES = tuple(row.name for row in releases())
PUBLISHED = tuple(row for row in releases() if row.released)
UNRELEASED = ("2.2.2-rc1", "2.3.1-rc1", "c310bf37670")

PRE_2_0 = ("0.10.0", "0.10.1", "0.10.2", "0.11.0", "1.0", "1.1")
BACKPORTS = ("0.10.2.2", "0.11.0.3", "1.0.2", "1.1.1")
"""The releases before 2.0 that answer with the smallest version received."""


def numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split("-")[0].split(".")))


def line(row: Release) -> str:
    return row.name.rpartition(".")[0]


def between(first: str, last: str) -> tuple[Release, ...]:
    return tuple(row for row in PUBLISHED if numbers(first) <= numbers(row.name) <= numbers(last))


def names(rows: tuple[Release, ...]) -> list[str]:
    return [row.name for row in rows]


# ------------------------------------------------------------------ the file


def test_every_row_of_the_file_loads() -> None:
    with (Path(protocol.__file__).parent / "releases.csv").open(newline="", encoding="utf-8") as file:
        cells = list(csv.reader(file))
    assert [row[0] for row in cells[1:]] == list(NAMES)
    assert {len(row) for row in cells} == {len(cells[0])}


def test_a_release_has_a_field_for_every_column() -> None:
    with (Path(protocol.__file__).parent / "releases.csv").open(newline="", encoding="utf-8") as file:
        columns = next(csv.reader(file))
    fields = {field.name for field in dataclasses.fields(Release)}
    assert {"name" if column == "release" else column for column in columns} | {"binary"} == fields


def test_the_catalogue_is_read_on_first_use_and_once() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, protocol; r = sys.modules['protocol.releases']; print(r._catalogue.cache_info().currsize)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "0\n"
    assert releases() is releases()
    assert release("2.3.1") is release("2.3.1")


def test_the_catalogue_goes_from_0_10_0_0_to_4_4_0_without_a_gap_in_a_line() -> None:
    assert (NAMES[0], NAMES[-1], len(PUBLISHED)) == ("0.10.0.0", "4.4.0", 80)
    lines: dict[str, list[int]] = {}
    for row in PUBLISHED:
        lines.setdefault(line(row), []).append(numbers(row.name)[-1])
    assert all(patches == list(range(len(patches))) for patches in lines.values())


def test_rows_stand_in_the_order_of_versions() -> None:
    assert names(PUBLISHED) == sorted(names(PUBLISHED), key=numbers)
    for candidate, final in (("2.2.2-rc1", "2.2.2"), ("2.3.1-rc1", "2.3.1"), ("c310bf37670", "2.4.0")):
        assert NAMES.index(candidate) == NAMES.index(final) - 1


def test_names_and_aliases_are_unique() -> None:
    every = [name for row in releases() for name in (row.name, *row.aliases)]
    assert len(every) == len(set(every))


def test_dates_do_not_go_back_within_a_line() -> None:
    for row, following in pairwise(PUBLISHED):
        assert len(row.date) == 10
        if line(row) == line(following):
            assert row.date <= following.date


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("0.10.0.0", "2016-05-17"),
        ("1.1.1", "2018-07-18"),
        ("2.3.1", "2019-10-24"),
        ("2.7.2", "2021-10-12"),
        ("3.3.1", "2022-09-29"),
        ("3.4.1", "2023-05-26"),
        ("3.8.1", "2024-10-17"),
        ("3.9.0", "2024-10-21"),
        ("4.4.0", "2026-10-06"),
    ],
)
def test_a_date_is_that_of_the_tag_or_the_commit_or_the_jar(name: str, date: str) -> None:
    assert release(name).date == date


@pytest.mark.parametrize("row", releases(), ids=NAMES)
def test_a_row_says_where_it_was_read(row: Release) -> None:
    where = row.source.split()[0]
    assert where in (row.name, *row.aliases) or where.startswith(f"kafka-streams-{row.name}")
    assert "#" in row.source


def test_only_what_has_no_tag_was_read_in_a_jar() -> None:
    jars = {row.name for row in releases() if row.source.startswith("kafka-streams-")}
    assert jars == {"3.7.2", "3.9.1", "3.9.2", *names(between("4.0.0", "4.4.0"))}


@pytest.mark.parametrize("row", releases(), ids=NAMES)
def test_a_release_and_its_binary_agree_and_are_frozen(row: Release) -> None:
    assert hash(row) == hash(dataclasses.replace(row))
    assert row.latest == row.latest_supported_version == row.binary.latest
    assert (row.envelope, row.codec) == (row.binary.dialect.envelope, row.binary.dialect.codec)
    assert ("COOPERATIVE" in row.rebalance_protocols) == row.binary.cooperative
    shared = {f.name for f in dataclasses.fields(Release)} & {f.name for f in dataclasses.fields(Binary)}
    assert all(getattr(row, field) == getattr(row.binary, field) for field in shared)
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.latest_supported_version = 0


def test_every_word_in_a_row_is_one_that_the_other_rooms_know() -> None:
    for row in releases():
        assert row.leader_rule in LEADER_RULES
        assert row.member_rule in MEMBER_RULES
        assert row.previous_tasks in ("client", "consumer", "assigned")
        assert row.future_tasks in ("refused", "empty", "real")
        assert row.rejoin in ("none", "leave", "enforce")
        assert row.codec in CODECS
        assert row.log in LOGS
        assert row.envelope in (0, 1, 3)


def test_every_codec_and_log_dialect_is_spoken_first_in_its_turn() -> None:
    assert tuple(dict.fromkeys(row.log for row in releases())) == LOGS
    assert {row.codec for row in releases()} <= set(CODECS)


@pytest.mark.parametrize("matrix", ["leader_matrix.tsv", "member_matrix.tsv"])
def test_the_latest_version_is_that_of_the_golden_data(matrix: str) -> None:
    rows = [text.split("\t")[:2] for text in (GOLDEN / matrix).read_text(encoding="utf-8").splitlines()[1:]]
    assert rows
    assert all(release(tag).latest == int(latest) for tag, latest in rows)


# ------------------------------------------------------------------ versions, rules, fixes


@pytest.mark.parametrize(
    ("first", "last", "latest"),
    [
        ("0.10.0.0", "0.10.0.1", 1),
        ("0.10.1.0", "1.1.1", 2),
        ("2.0.0", "2.0.1", 3),
        ("2.1.0", "2.3.1", 4),
        ("2.4.0", "2.4.1", 5),
        ("2.5.0", "2.5.1", 6),
        ("2.6.0", "2.6.0", 7),
        ("2.6.1", "2.7.2", 8),
        ("2.8.0", "2.8.2", 9),
        ("3.0.0", "3.1.2", 10),
        ("3.2.0", "4.4.0", 11),
    ],
)
def test_the_latest_supported_version_by_release_line(first: str, last: str, latest: int) -> None:
    assert names(between(first, last)) == [row.name for row in PUBLISHED if row.latest == latest]


def test_the_latest_supported_version_of_what_was_never_released() -> None:
    assert [row.name for row in releases() if not row.released] == list(UNRELEASED)
    assert [release(name).latest for name in UNRELEASED] == [4, 4, 5]


def test_the_latest_supported_version_never_falls() -> None:
    assert [row.latest for row in PUBLISHED] == sorted(row.latest for row in PUBLISHED)


@pytest.mark.parametrize(
    ("fix", "have"),
    [
        ("min-version", list(BACKPORTS)),
        ("KAFKA-6054", names(between("2.0.0", "4.4.0"))),
        ("KAFKA-8649", ["2.2.2", "2.3.1", *names(between("2.4.0", "4.4.0"))]),
        ("KAFKA-9053", ["2.2.2", "2.3.1", *names(between("2.4.0", "4.4.0"))]),
        ("KIP-429", names(between("2.4.0", "4.4.0"))),
        ("KIP-441", names(between("2.6.0", "4.4.0"))),
        ("KAFKA-10455", names(between("2.6.1", "4.4.0"))),
        ("ASSIGNMENT_ERROR", names(between("2.7.0", "4.4.0"))),
        ("SHUTDOWN_REQUESTED", names(between("2.8.0", "4.4.0"))),
    ],
)
def test_a_fix_is_in_these_releases_and_in_no_other(fix: str, have: list[str]) -> None:
    assert [row.name for row in PUBLISHED if fix in row.fixes] == have


def test_8649_without_9053_was_never_released() -> None:
    alone = [row.name for row in releases() if "KAFKA-8649" in row.fixes and "KAFKA-9053" not in row.fixes]
    assert alone == ["2.2.2-rc1", "2.3.1-rc1"]


def test_the_proposal_has_version_probing_and_none_of_the_fixes() -> None:
    assert release("c310bf37670").fixes == ("KAFKA-6054",)


@pytest.mark.parametrize(
    ("leader_rule", "member_rule", "previous", "future", "have"),
    [
        (
            "own version",
            "no check",
            "assigned",
            "refused",
            [row.name for row in between("0.10.0.0", "1.1.1") if row.name not in BACKPORTS],
        ),
        ("smallest used", "no check", "assigned", "refused", list(BACKPORTS)),
        (
            "leader's version",
            "leader's version",
            "client",
            "empty",
            ["2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.2.0", "2.2.1", "2.3.0"],
        ),
        (
            "smallest supported, not yet encoded",
            "smallest supported",
            "consumer",
            "empty",
            ["2.2.2-rc1", "2.3.1-rc1"],
        ),
        ("smallest supported", "smallest supported", "consumer", "empty", ["2.2.2", "2.3.1"]),
        ("proposal", "proposal", "client", "empty", ["c310bf37670"]),
        (
            "smallest supported of all",
            "smallest supported",
            "assigned",
            "real",
            names(between("2.4.0", "4.4.0")),
        ),
    ],
)
def test_a_generation_has_one_algorithm(
    leader_rule: str, member_rule: str, previous: str, future: str, have: list[str]
) -> None:
    rows = [row for row in releases() if row.leader_rule == leader_rule]
    assert [row.name for row in rows] == have
    assert {(row.member_rule, row.previous_tasks, row.future_tasks) for row in rows} == {
        (member_rule, previous, future)
    }


def test_the_rule_follows_from_the_fixes() -> None:
    for row in releases():
        probes = row.latest >= EARLIEST_PROBEABLE
        assert ("KAFKA-6054" in row.fixes) == probes == (row.rejoin != "none")
        assert (row.future_tasks == "refused") == (not probes)
        assert (row.member_rule == "smallest supported") == ("KAFKA-8649" in row.fixes)
        assert row.leader_rule.startswith("smallest supported") == ("KAFKA-8649" in row.fixes)
        assert (row.leader_rule == "smallest supported of all") == ("KIP-429" in row.fixes) == row.processes_probing
        assert (row.rejoin == "enforce") == ("KIP-441" in row.fixes)
        assert row.error_assignment == ("ASSIGNMENT_ERROR" in row.fixes)
        assert ("KIP-429" in row.fixes) == row.binary.cooperative


def test_the_second_int_is_written_as_told_since_9053() -> None:
    for row in releases():
        if row.latest >= EARLIEST_PROBEABLE:
            assert (row.codec == "2.0") == ("KAFKA-9053" not in row.fixes)


# ------------------------------------------------------------------ how a member lives


def switches(column: str) -> list[tuple[str, object]]:
    """The releases at which a column changes, in the order of versions, with what it changes to."""
    found: list[tuple[str, object]] = []
    for row in PUBLISHED:
        value = getattr(row, column)
        if not found or found[-1][1] != value:
            found.append((row.name, value))
    return found


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("rejoin", [("0.10.0.0", "none"), ("2.0.0", "leave"), ("2.6.0", "enforce")]),
        ("two_step", [("0.10.0.0", False), ("2.2.0", True)]),
        ("session_timeout_ms", [("0.10.0.0", 30_000), ("0.10.1.0", 10_000), ("3.0.0", 45_000)]),
        ("dying_leaves", [("0.10.0.0", False), ("3.2.0", True), ("4.2.0", False)]),
        ("closing_leaves", [("0.10.0.0", True), ("0.10.2.2", False)]),
        ("error_assignment", [("0.10.0.0", False), ("2.7.0", True)]),
        ("processes_probing", [("0.10.0.0", False), ("2.4.0", True)]),
        ("envelope", [("0.10.0.0", 0), ("2.4.0", 1), ("3.4.0", 3)]),
        (
            "rebalance_protocols",
            [("0.10.0.0", ("EAGER",)), ("2.4.0", ("EAGER", "COOPERATIVE")), ("4.0.0", ("COOPERATIVE",))],
        ),
    ],
)
def test_a_habit_changes_at_these_releases(column: str, expected: list[tuple[str, object]]) -> None:
    assert switches(column) == expected


def test_the_proposal_joins_in_two_steps_in_an_envelope_with_owned_partitions() -> None:
    row = release("c310bf37670")
    assert (row.two_step, row.envelope, row.rebalance_protocols, row.rejoin) == (True, 1, ("EAGER",), "leave")


def test_codecs_change_where_kafkas_code_changed() -> None:
    by_codec: dict[str, list[str]] = {}
    for row in releases():
        by_codec.setdefault(row.codec, []).append(row.name)
    assert by_codec["0.10.0"] == ["0.10.0.0", "0.10.0.1"]
    assert by_codec["0.10.2.2"] == list(BACKPORTS)
    assert by_codec["2.2.2"] == ["2.2.2", "2.3.1", "2.4.0", "2.4.1"]
    assert by_codec["2.5"][0] == "2.5.0"
    assert by_codec["2.5"][-1] == "3.2.1"
    assert [name for name in by_codec["2.8.2"] if numbers(name) < (3, 2, 2)] == ["2.8.2", "3.0.2", "3.1.2"]
    assert {*names(between("3.2.2", "3.9.2"))} <= {*by_codec["2.8.2"]}


# ------------------------------------------------------------------ upgrade.from


TO_2_3 = (*PRE_2_0, "2.0", "2.1", "2.2", "2.3")
TO_3_2 = ("2.4", "2.5", "2.6", "2.7", "2.8", "3.0", "3.1", "3.2")


def until(last: str) -> tuple[str, ...]:
    """The values from 2.4 to this one."""
    every = (*TO_3_2, *(f"3.{n}" for n in range(3, 10)), *(f"4.{n}" for n in range(4)))
    return every[: every.index(last) + 1]


@pytest.mark.parametrize(
    ("rows", "accepted"),
    [
        ([row for row in between("0.10.0.0", "1.1.1") if row.name not in BACKPORTS], ()),
        ([release(name) for name in BACKPORTS], ("0.10.0",)),
        (between("2.0.0", "2.3.1"), PRE_2_0),
        (between("2.4.0", "3.2.3"), TO_2_3),
        (between("3.3.0", "3.3.2"), (*TO_2_3, *TO_3_2)),
        (between("3.4.0", "3.4.1"), (*TO_2_3, *until("3.3"))),
        (between("3.5.0", "3.6.1"), (*TO_2_3, *until("3.4"))),
        (between("3.6.2", "3.6.2"), (*TO_2_3, *until("3.5"))),
        (between("3.7.0", "3.7.2"), (*TO_2_3, *until("3.6"))),
        (between("3.8.0", "3.8.1"), (*TO_2_3, *until("3.7"))),
        (between("3.9.0", "3.9.2"), (*TO_2_3, *until("3.8"))),
        (between("4.0.0", "4.0.2"), (*TO_2_3, *until("3.9"))),
        (between("4.1.0", "4.1.2"), (*TO_2_3, *until("4.0"))),
        (between("4.2.0", "4.2.2"), until("4.1")),
        (between("4.3.0", "4.3.1"), until("4.2")),
        (between("4.4.0", "4.4.0"), until("4.3")),
    ],
    ids=lambda value: value[0].name if value and isinstance(value[0], Release) else "",
)
def test_streams_config_accepts_these_values(rows: tuple[Release, ...], accepted: tuple[str, ...]) -> None:
    assert rows
    for row in rows:
        assert tuple(one.value for one in row.upgrade_from) == accepted


def told(name: str, value: str) -> UpgradeFrom:
    (one,) = (one for one in release(name).upgrade_from if one.value == value)
    return one


@pytest.mark.parametrize("row", [row for row in releases() if row.upgrade_from], ids=lambda row: row.name)
def test_a_value_sets_the_first_version_and_the_rebalance_protocol(row: Release) -> None:
    for one in row.upgrade_from:
        if one.rejected:
            assert (one.used, one.protocol) == (None, "")
            continue
        assert one.used == {"0.10.0": 1}.get(one.value, 2 if one.value in PRE_2_0 else None)
        assert one.protocol == ("EAGER" if one.value in TO_2_3 else "COOPERATIVE")
        assert one.protocol in row.rebalance_protocols
        assert one.exception == ""


def test_these_values_pass_streams_config_and_stop_the_assignor() -> None:
    rejected = {row.name: [one.value for one in row.upgrade_from if one.rejected] for row in releases()}
    assert {name: found for name, found in rejected.items() if found} == {
        "c310bf37670": ["2.0", "2.1", "2.2", "2.3"],
        "3.5.0": ["3.4"],
        "3.5.1": ["3.4"],
        **{row.name: list(TO_2_3) for row in between("4.0.0", "4.1.2")},
    }


def test_a_rejected_value_comes_with_its_exception() -> None:
    assert told("3.5.0", "3.4") == UpgradeFrom(
        value="3.4",
        used=None,
        protocol="",
        rejected="Unknown configuration value for parameter 'upgrade.from': 3.4",
        exception="IllegalArgumentException",
    )
    assert told("c310bf37670", "2.3").rejected.endswith("'upgrade.from': 2.3")
    assert told("3.5.2", "3.4") == UpgradeFrom(value="3.4", used=None, protocol="COOPERATIVE")
    gone = told("4.1.2", "2.3")
    assert gone.exception == "ConfigException"
    assert gone.rejected.startswith("The eager rebalancing protocol is no longer supported in 4.0 ")
    assert gone.rejected.endswith(" Got upgrade.from='2.3'")


# ------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("0.11.0.3-rc0", "0.11.0.3"),
        ("3.8.1-rc1", "3.8.1"),
        ("3.9.0-rc3", "3.9.0"),
        ("c310", "c310bf37670"),
        (" 2.3.1\n", "2.3.1"),
        ("C310BF37670", "c310bf37670"),
    ],
)
def test_the_tag_is_another_name_and_white_space_and_case_do_not_matter(alias: str, name: str) -> None:
    assert release(alias).name == name


@pytest.mark.parametrize("name", NAMES)
def test_every_name_finds_its_row(name: str) -> None:
    assert release(name).name == name


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("2.1.2", ("2.1.1", "2.2.0", "2.1.0")),
        ("3.9", ("3.9.0", "3.9.1", "3.9.2")),
        ("2.1", ("2.1.0", "2.1.1", "2.0.1")),
        ("2.31", ("2.3.1", "2.4.0", "2.3.0")),
        ("v2.3.1", ("2.3.1", "2.4.0", "2.3.0")),
        ("2.3.1-rc", ("2.3.1-rc1", "2.3.1", "2.4.0")),
        ("2.3", ("2.3.0", "2.3.1", "2.3.1-rc1")),
        ("3.10.0", ("3.9.2", "4.0.0", "3.9.1")),
        ("4.5.0", ("4.4.0", "4.3.1", "4.3.0")),
        ("0.9.0.1", ("0.10.0.0", "0.10.0.1", "0.10.1.0")),
        ("c310b", ("c310bf37670",)),
        ("trunk", ()),
        ("", ()),
    ],
)
def test_an_unknown_release_is_refused_with_the_nearest(asked: str, nearest: tuple[str, ...]) -> None:
    with pytest.raises(UnknownReleaseError) as caught:
        release(asked)
    assert (caught.value.name, caught.value.nearest) == (asked, nearest)
    assert repr(asked) in str(caught.value)


@given(st.text() | st.from_regex(r"\s*v?\d{1,30}(\.\d{1,30}){0,5}(-rc\d)?\s*", fullmatch=True))
def test_any_text_is_a_release_or_is_refused_in_one_sentence(text: str) -> None:
    try:
        row = release(text)
    except UnknownReleaseError as error:
        assert set(error.nearest) <= set(NAMES)
        assert len(error.nearest) <= 3
        assert "\n" not in str(error)
    else:
        assert text.strip().lower() in (row.name, *row.aliases)


# ------------------------------------------------------------------ teaching binaries


@pytest.mark.parametrize("leader_rule", [*LEADER_RULES])
@pytest.mark.parametrize("latest", [1, 10, 11])
def test_a_teaching_binary_has_two_rules_and_a_number(leader_rule: str, latest: int) -> None:
    jar = teaching("a jar", latest=latest, leader_rule=leader_rule, member_rule="mirror")
    assert (jar.name, jar.latest, jar.leader_rule, jar.member_rule) == ("a jar", latest, leader_rule, "mirror")
    assert hash(jar) == hash(teaching("a jar", latest=latest, leader_rule=leader_rule, member_rule="mirror"))
    assert [(one.value, one.used) for one in jar.upgrade_from] == [(f"v{n}", n) for n in range(1, latest)]


def test_a_teaching_binary_is_like_the_release_that_its_leader_rule_is_known_from() -> None:
    for row in (release("1.1.1"), release("2.3.0"), release("2.3.1"), release("2.4.0"), release("c310bf37670")):
        jar = teaching("v10 jar", latest=10, leader_rule=row.leader_rule, member_rule=row.member_rule)
        own = {"name": jar.name, "dialect": jar.dialect, "upgrade_from": jar.upgrade_from}
        assert jar == dataclasses.replace(row.binary, **own)


def test_a_teaching_binary_may_be_like_any_release() -> None:
    jar = teaching("v11 jar", latest=11, leader_rule="mirror", member_rule="mirror", like="3.9.0")
    assert (jar.rejoin, jar.dying_leaves, jar.session_timeout_ms, jar.log) == ("enforce", True, 45_000, "3.8")
    with pytest.raises(UnknownReleaseError):
        teaching("v11 jar", latest=11, leader_rule="mirror", member_rule="mirror", like="3.9")


@pytest.mark.parametrize("latest", [0, 12])
def test_a_teaching_binary_speaks_a_version_that_has_bytes(latest: int) -> None:
    with pytest.raises(ImpossibleScenarioError, match=f"latest: metadata version {latest} has no bytes"):
        teaching("a jar", latest=latest, leader_rule="mirror", member_rule="mirror")


def test_the_face_offers_the_function_whatever_was_imported_first() -> None:
    code = "from protocol import Scenario, releases as r; import protocol; print(callable(r), protocol.releases is r)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True"]
