"""The five numbers on one picture: they are those of a simulated run, and what the page says of them is so."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.glossary import MARKS, NAMES, marked, picture, scene, told
from protocol.releases import releases
from protocol.scenario import Scenario, simulate
from protocol.wire import decode

SVG = "{http://www.w3.org/2000/svg}"
BOOK = Path(__file__).parent.parent / "book"
PICKS = Scenario(old="2.3.1", new="2.4.0", leader="A", order="C")
LATER = [row.name for row in releases() if row.released and row.latest >= 3]


def words(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_book_shows_the_rebalance_as_it_is_simulated_today() -> None:
    """If this fails, a log line or the drawing has changed: `python -m protocol.glossary > book/five-numbers.svg`."""
    assert (BOOK / "five-numbers.svg").read_text(encoding="utf-8") == picture(scene(simulate(PICKS)))


def test_the_numbers_are_those_of_the_run_and_of_its_bytes() -> None:
    run = simulate(PICKS)
    found = scene(run)
    messages = [message for step in run for message in step.messages]
    asked = decode(next(m.data for m in messages if m.kind == "JoinGroup")).inner
    answered = decode(next(m.data for m in messages if m.probing)).inner
    assert asked is not None and answered is not None
    assert (asked.data, answered.data) == (found.subscription, found.assignment)
    used, supported, received, common = [field.value for part in (asked, answered) for field in part.fields[:2]]
    assert found.numbers == (supported, used, run.first.member("A").latest, received, common) == (5, 5, 4, 4, 4)
    assert run.last.member("C").used == found.then == 4


def test_every_number_stands_where_it_lives() -> None:
    found = scene(simulate(PICKS))
    shown = words(picture(found))
    for mark, name in zip(MARKS, NAMES, strict=True):
        assert mark in "".join(shown) and (name in shown or f"{mark} 4" in shown)
    assert shown.count("00 00 00 05") == shown.count("00 00 00 04") == 2
    line = " ".join("".join(shown).split())
    assert "Sent a version 5② subscription and got version 4④ assignment back" in line
    assert "used version: 5②; latest supported version: 5①" in re.sub(r"version:5", "version: 5", line)


@given(st.sampled_from(LATER), st.sampled_from(LATER), st.sampled_from("ABC"))
def test_whatever_is_rolled_the_numbers_are_what_the_messages_say(old: str, new: str, leader: str) -> None:
    run = simulate(Scenario(old=old, new=new, leader=leader, order="C,B,A"))
    probed = [message for step in run for message in step.messages if message.probing]
    if not probed:
        with pytest.raises(ValueError, match="told to speak another version"):
            scene(run)
        return
    found = scene(run)
    assert found.numbers[3:] == (probed[0].version, probed[0].supported)
    assert found.numbers[:2] == (found.asks.latest, found.asks.used)
    assert not re.findall(r"\d[①-⑤]{2}", marked(" ".join(line.text for line in found.heard), found.numbers))
    ElementTree.fromstring(picture(found))


def test_it_is_a_picture_for_everybody() -> None:
    found = scene(simulate(PICKS))
    root = ElementTree.fromstring(picture(found))
    assert (root.get("role"), root.get("aria-label")) == ("img", told(found))
    assert "href" not in picture(found) and "url(" not in picture(found)
    sizes = [float(text.get("font-size", "0")) for text in root.iter(f"{SVG}text")]
    assert min(sizes) >= 11.5 and float(root.get("width", "0")) <= 400, "on a phone it is as large as it is drawn"


# What the page says


def page() -> str:
    return (BOOK / "glossary.md").read_text(encoding="utf-8")


def test_the_page_names_the_five_in_the_order_of_the_picture() -> None:
    assert re.findall(r"^\d\. \*\*(.+?)\*\*", page(), flags=re.MULTILINE) == list(NAMES)


@pytest.mark.parametrize(
    ("old", "new", "leader", "line"),
    [
        ("2.3.1", "2.4.0", "A", "latest supported version: 5"),
        ("2.3.1", "2.4.0", "A", "used version: 5"),
        ("2.3.1", "2.4.0", "A", "Sent a version 5 subscription"),
        ("2.3.1", "2.4.0", "A", "got version 4 assignment back"),
        ("2.3.1", "2.4.0", "A", "commonly supported version 4"),
        ("2.3.1", "2.4.0", "A", "group's latest commonly supported version is 5"),
        ("2.0.0", "2.1.0", "C", "group leader's latest supported version is 4"),
        ("2.0.0", "2.1.0", "C", "leaders supported version 4"),
    ],
)
def test_a_line_that_the_page_quotes_is_printed(old: str, new: str, leader: str, line: str) -> None:
    run = simulate(Scenario(old=old, new=new, leader=leader, order="C,B,A"))
    assert any(line in said.text for step in run for said in step.log)
    assert f"`{line}`" in page()


@pytest.mark.parametrize(
    ("leader", "whose"),
    [("2.0.0", 3), ("2.2.1", 4), ("2.2.2", 5), ("2.3.0", 4), ("2.3.1", 5)],
)
def test_whose_version_the_undecodable_line_tells_is_as_the_page_says(leader: str, whose: int) -> None:
    run = simulate(Scenario(old=leader, new="2.4.0", leader="A", order="C"))
    text = " ".join(line.text for step in run for line in step.log)
    assert f"used version: 5; latest supported version: {whose}" in text
