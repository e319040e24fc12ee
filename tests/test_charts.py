"""The pictures of verdicts: what they show, and that they are pictures for everybody."""

from __future__ import annotations

from xml.etree import ElementTree

from protocol.charts import SHAPES, heat_map

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["2.0.0", "2.1.0", "2.3.1"]


def kinds(row: str, column: str) -> str | None:
    return None if row == column else "deaths" if (row, column) == ("2.0.0", "2.1.0") else "ok"


def test_every_pair_is_a_cell_that_says_in_words_how_it_ends() -> None:
    root = ElementTree.fromstring(heat_map(NAMES, NAMES, kinds, title="All pairs").svg)
    told = [title.text for title in root.iter(f"{SVG}title")]
    assert len(told) == 1 + 6
    assert "from 2.0.0 to 2.1.0: members can die" in told


def test_the_text_that_stands_for_it_counts_the_verdicts() -> None:
    chart = heat_map(NAMES, NAMES, kinds, title="All pairs")
    assert repr(chart) == "All pairs: 6 pairs, 5 safe, 1 members can die"
    assert chart._repr_svg_() == chart.svg


def test_no_verdict_is_told_by_colour_alone() -> None:
    shapes = [shape for _, shape in SHAPES.values()]
    assert len(set(shapes)) == len(SHAPES)


def test_a_name_never_becomes_markup() -> None:
    evil = '"><img onerror=alert(1)>'
    svg = heat_map([evil], ["b"], lambda row, column: "ok", title=evil).svg
    assert "<img" not in svg
    ElementTree.fromstring(svg)
