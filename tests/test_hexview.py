"""The data and the page of a hex view: every byte has its field, nothing pasted becomes markup, and it stays small."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_wire import assignment_infos, subscription_infos
from test_paste import ANSWER, ENVELOPE, SUBSCRIPTION, record

import protocol.player
from protocol import wire
from protocol.errors import DecodeError, UnknownReleaseError
from protocol.hexview import MOST, HexView, module
from protocol.messages import Assignment, AssignmentInfo, Subscription, TaskId, TopicPartition
from protocol.paste import NotBytes, read_paste
from protocol.releases import releases

POISON = wire.encode_assignment_info(AssignmentInfo(3, 4))
HOSTILE = "</script><img src=x onerror=alert(1)>"


def rows(pasted: str | bytes) -> list[list[Any]]:
    found: list[list[Any]] = HexView(pasted).data["parts"][0]["rows"]
    return found


def uncovered(part: dict[str, Any]) -> set[int]:
    """The bytes that no field holds; the rows of layers hold all of theirs."""
    free = set(range(part["size"]))
    for _, start, end, *_, sort in part["rows"]:
        if not sort:
            free -= set(range(start, end))
    return free


@pytest.mark.parametrize(
    "data",
    [SUBSCRIPTION, ENVELOPE, ANSWER, POISON, record(version=0), record(version=3), ENVELOPE[:40], SUBSCRIPTION[:33]],
)
def test_every_byte_lies_in_a_field(data: bytes) -> None:
    assert uncovered(HexView(data).data["parts"][0]) == set()


@given(st.one_of(subscription_infos(), assignment_infos()), st.data())
def test_every_byte_of_any_letter_lies_in_a_field_whole_or_cut(info: Any, data: st.DataObject) -> None:
    if isinstance(info, AssignmentInfo):
        kind, letter = wire.ASSIGNMENT_INFO, wire.encode_assignment_info(info)
    else:
        kind, letter = wire.SUBSCRIPTION_INFO, wire.encode_subscription_info(info)
    cut = letter[: data.draw(st.integers(1, len(letter)))]
    (layer,) = read_paste(cut.hex(), kind=kind)
    part = HexView(layer).data["parts"][0]
    assert uncovered(part) == set() or part["size"] > MOST
    assert [row[6] for row in part["rows"] if row[6]] == ([layer.problem.problem] if layer.problem else [])


def test_a_row_lies_inside_the_row_it_belongs_to() -> None:
    above: list[list[Any]] = []
    for row in rows(record(version=3)):
        while above and above[-1][0] >= row[0]:
            above.pop()
        assert not above or above[-1][1] <= row[1] <= row[2] <= above[-1][2]
        above.append(row)


def test_three_layers_lie_in_one_another() -> None:
    layers = [(row[0], row[3], row[7]) for row in rows(record(version=3)) if row[7]]
    assert layers == [
        (0, "group record", "record"),
        (3, "subscription of a-1: consumer subscription", "envelope"),
        (5, "subscription info", "payload"),
        (3, "assignment of a-1: consumer assignment", "envelope"),
        (5, "assignment info", "payload"),
    ]


def test_an_element_is_named_within_its_list() -> None:
    names = [(row[0], row[3]) for row in rows(ENVELOPE)]
    assert (1, "topics") in names and (2, "[0]") in names and (4, "[0].partition") in names


def test_what_cannot_be_read_is_a_row_with_the_reason() -> None:
    *_, last = rows(SUBSCRIPTION[:26])
    assert (last[1:3], last[3], last[6]) == ([24, 26], "prev_tasks", "needs 4 bytes, 2 are left")


def test_the_letter_of_a_cut_envelope_is_read_as_far_as_it_goes() -> None:
    told = rows(ENVELOPE[:40])
    assert [row[3] for row in told if row[6]] == ["user_data", "process_id"]
    assert {"version", "latest_supported_version"} <= {row[3] for row in told if row[0] == 3}


def test_every_release_is_asked_once_and_those_that_agree_are_one() -> None:
    readers = HexView(POISON).data["parts"][0]["readers"]
    named = [name for one in readers for name in one["names"]]
    assert named == [row.name for row in releases() if row.released]
    assert all(a != {**b, "names": a["names"]} for a, b in pairwise(readers))


def test_the_reader_to_begin_with_is_the_one_asked_for() -> None:
    part = HexView(POISON, release="2.0.1").data["parts"][0]
    assert "2.0.1" in part["readers"][part["reader"]]["names"]
    assert "dies" in part["notes"][-1] and "version must be between 1 and 3; was: 4" in part["readers"][1]["then"]
    assert HexView(POISON).data["parts"][0]["reader"] == len(part["readers"]) - 1


def test_the_field_that_is_asked_for_is_lit_and_it_is_the_innermost_of_its_name() -> None:
    view = HexView(ENVELOPE, field="version")
    assert rows(ENVELOPE)[view.index][:3] == [3, 18, 22]
    assert f'data-index="{view.index}"' in view.fragment() and HexView(ENVELOPE).index == -1


def test_a_view_of_a_groups_description_has_a_part_for_each_message() -> None:
    members = [{"metadata": ENVELOPE.hex(), "assignment": ANSWER.hex()}]
    view = HexView(json.dumps({"protocol": "stream", "members": members}))
    assert [part["label"] for part in view.data["parts"]] == ["members[0].metadata", "members[0].assignment"]


def test_more_than_is_shown_is_cut_with_a_sentence() -> None:
    many = tuple(TaskId(0, n) for n in range(2000))
    part = HexView(wire.encode_assignment_info(AssignmentInfo(3, 3, active_tasks=many))).data["parts"][0]
    assert len(part["hex"]) == 2 * MOST and part["cut"].startswith(f"The first {MOST} of 16020 bytes")
    assert all(row[1] < MOST for row in part["rows"])
    assert HexView(POISON).data["parts"][0]["cut"] == ""


def test_of_a_large_group_the_first_messages_are_shown_with_a_sentence() -> None:
    view = HexView(json.dumps({"protocol": "stream", "members": [{"metadata": ENVELOPE.hex()}] * 100}))
    assert len(view.data["parts"]) == 12 and view.data["more"] == "The first 12 of 100 messages are shown."
    assert HexView(ENVELOPE).data["more"] == ""


@pytest.mark.parametrize(
    ("pasted", "options", "error"),
    [
        ("no bytes here!", {}, NotBytes),
        ("ff", {}, DecodeError),
        (POISON, {"release": "9.9"}, UnknownReleaseError),
        (POISON, {"field": "second"}, ValueError),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(
    pasted: str | bytes, options: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        HexView(pasted, **options)  # type: ignore[arg-type]


# The page


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_what_bytes_say_never_becomes_markup() -> None:
    hostile = wire.encode_subscription(Subscription((HOSTILE,), SUBSCRIPTION), version=1)
    assert Tags(HexView(hostile, title=HOSTILE).fragment()).seen == ["div", "pre", "script", "script"]
    assert '"</script><img src=x onerror=alert(1)>"' in {row[4] for row in rows(hostile)}


def test_nothing_can_hide_in_a_value() -> None:
    odd = wire.encode_assignment(Assignment((TopicPartition("a\u202e\nb", 0),), POISON), version=1)
    (layer,) = read_paste(odd, kind=wire.CONSUMER_ASSIGNMENT)
    assert '"a\\u202e\\nb"' in {row[4] for row in HexView(layer).data["parts"][0]["rows"]}


def test_where_no_script_runs_the_fields_are_text() -> None:
    text = HexView(POISON).fragment().partition("<script")[0]
    assert re.search(r" 4 +4 +commonly_supported_version = 4 +\(what everybody supports", text)


def test_the_output_is_alive_with_a_kernel_and_without_and_always_the_same() -> None:
    bundle, _ = HexView(POISON)._repr_mimebundle_()
    assert bundle["text/plain"] == "HexView(20 bytes: assignment info)"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == HexView(POISON).fragment() and module() in bundle["text/html"]
    assert HexView(POISON)._esm == module()


def test_the_module_holds_its_style_sheet_and_nothing_that_ends_a_script() -> None:
    assert "@hexview.css@" not in module() and "--old-fill" in module()
    assert "</" not in module() and "<!--" not in module()


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js on the PATH")
def test_the_module_is_javascript(tmp_path: Path) -> None:
    path = tmp_path / "hexview.mjs"
    path.write_text(module(), encoding="utf-8")
    subprocess.run(["node", "--check", path], check=True)


def test_sizes_stay_small() -> None:
    assert len(gzip.compress(module().encode(), mtime=0)) < 10_000
    assert len(json.dumps(HexView(ENVELOPE).data)) < 12_000


def test_the_colours_are_the_player_s() -> None:
    def palettes(path: Path) -> list[dict[str, str]]:
        blocks = re.findall(r"\{([^}]*--page:[^}]*)\}", path.read_text(encoding="utf-8"))
        return [dict(re.findall(r"(--[\w-]+): ?([^;]+);", block)) for block in blocks]

    folder = Path(protocol.player.__file__).parent
    ours, theirs = palettes(folder.parent / "hexview" / "hexview.css"), palettes(folder / "player.css")
    assert len(ours) == len(theirs) == 2
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.items() <= other.items()
