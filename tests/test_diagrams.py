from __future__ import annotations

import re
import shutil
import threading
from xml.etree import ElementTree

import pytest
from sample_trace import crash, probing

from protocol import diagrams
from protocol.diagrams import NoLayoutEngineError, dot, edge_id, layout, layout_name, shipped_layouts, slots, state_id
from protocol.machine import GROUP, MEMBER, Machine, Row

SVG = "{http://www.w3.org/2000/svg}"
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="there is no Graphviz on the PATH")
SHIPPED = list(shipped_layouts())


def parts(svg: str, kind: str) -> dict[str, list[str]]:
    root = ElementTree.fromstring(svg)
    return {
        part.get("id", ""): [text.text or "" for text in part.iter(f"{SVG}text")]
        for part in root.iter(f"{SVG}g")
        if part.get("class") == kind
    }


@pytest.mark.parametrize("tall", [False, True])
@pytest.mark.parametrize("machine", [MEMBER, GROUP], ids=lambda machine: machine.name)
def test_the_dot_text_has_every_state_and_every_frequent_row_once(machine: Machine, tall: bool) -> None:
    source = dot(machine, tokens=3, tall=tall)
    ids = re.findall(r'id="([^"]+)"', source)
    assert ids == [
        *(state_id(state) for state in machine.states),
        *(edge_id(row.key) for row in machine if not row.rare),
    ]


def test_the_dot_text_has_no_colour_and_no_html_label() -> None:
    source = dot(MEMBER, tokens=12)
    assert "color" not in source and "label=<" not in source
    assert "fixedsize=true" in source and "Helvetica" in source


def test_boxes_grow_higher_and_never_wider() -> None:
    sizes = [re.search(r"width=([\d.]+) height=([\d.]+)", dot(MEMBER, tokens=n)) for n in (2, 4, 5, 8, 9, 24)]
    widths = {size[1] for size in sizes if size}
    heights = [float(size[2]) for size in sizes if size]
    assert widths == {"1.5"} and heights[0] == heights[1] < heights[2] == heights[3] < heights[4] < heights[5]


@pytest.mark.parametrize("tokens", range(1, 25))
def test_every_token_has_a_place_of_its_own_inside_the_box(tokens: int) -> None:
    places = slots(tokens)
    assert len(set(places)) == tokens
    root = ElementTree.fromstring(layout(MEMBER, tokens=tokens))
    box = next(root.iter(f"{SVG}rect"))
    half, height = float(box.get("width", "0")) / 2, float(box.get("height", "0"))
    assert all(abs(x) + 12 <= half and 12 < y <= height - 12 for x, y in places)


def test_a_name_of_anything_stays_a_name_in_dot() -> None:
    odd = Machine("m", ('a"b', "c\\"), (Row('a"b', "<b>", "c\\", "x"),))
    assert '"a\\"b" -> "c\\\\"' in dot(odd)


@pytest.mark.parametrize(("machine", "tokens", "tall"), SHIPPED)
def test_the_shipped_layouts_are_those_of_the_rows(machine: Machine, tokens: int, tall: bool) -> None:
    svg = layout(machine, tokens=tokens, tall=tall)
    assert list(parts(svg, "node")) and set(parts(svg, "node")) == {state_id(state) for state in machine.states}
    labels = {name: " ".join(words) for name, words in parts(svg, "edge").items()}
    assert labels == {edge_id(row.key): row.label for row in machine if not row.rare}


@pytest.mark.parametrize(("machine", "tokens", "tall"), SHIPPED)
def test_a_shipped_layout_needs_no_graphviz(
    machine: Machine, tokens: int, tall: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagrams, "render", lambda source: pytest.fail("Graphviz was asked"))
    assert layout(machine, tokens=tokens, tall=tall).startswith("<svg")


@needs_dot
@pytest.mark.parametrize(("machine", "tokens", "tall"), SHIPPED)
def test_the_shipped_layouts_are_what_graphviz_draws_today(machine: Machine, tokens: int, tall: bool) -> None:
    """Nodes, edges, ids and words: not bytes, which differ from one Graphviz to the next."""
    fresh = diagrams.plain(diagrams.render(dot(machine, tokens=tokens, tall=tall)))
    shipped = layout(machine, tokens=tokens, tall=tall)
    assert parts(fresh, "node") == parts(shipped, "node")
    assert parts(fresh, "edge") == parts(shipped, "edge")


@pytest.mark.parametrize("tall", [False, True])
def test_every_edge_runs_from_its_source_to_its_target(tall: bool) -> None:
    root = ElementTree.fromstring(layout(MEMBER, tokens=3, tall=tall))
    boxes, ways = {}, {}
    for part in root.iter(f"{SVG}g"):
        box, path = part.find(f"{SVG}rect"), part.find(f"{SVG}path")
        if box is not None:
            x, y, wide, high = (float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
            boxes[part.get("id", "")] = (x - 9, y - 9, x + wide + 9, y + high + 9)
        elif path is not None:
            numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", path.get("d", ""))]
            ways[part.get("id", "")] = (numbers[:2], numbers[-2:])
    for row in MEMBER:
        if row.rare:
            continue
        for (x, y), state in zip(ways[edge_id(row.key)], (row.source, row.target), strict=True):
            left, top, right, bottom = boxes[state_id(state)]
            assert left <= x <= right and top <= y <= bottom, row.key


def test_a_changed_diagram_without_graphviz_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagrams, "graphviz", None)
    monkeypatch.setitem(__import__("sys").modules, "pygraphviz", None)
    toy = Machine("toy", ("ON", "OFF"), (Row("ON", "press", "OFF", "press"),))
    with pytest.raises(NoLayoutEngineError, match="pip install pygraphviz"):
        layout(toy)


@needs_dot
def test_a_diagram_of_ones_own_is_laid_out_here() -> None:
    toy = Machine("toy", ("ON", "OFF"), (Row("ON", "press", "OFF", "press"), Row("OFF", "press", "ON", "again")))
    assert set(parts(layout(toy), "edge")) == {"ed-ON-press-OFF", "ed-OFF-press-ON"}
    assert layout_name(toy) == "toy.svg"


@needs_dot
def test_threads_that_lay_out_at_once_get_the_same_picture() -> None:
    source, drawn = dot(MEMBER, tokens=5), []
    threads = [threading.Thread(target=lambda: drawn.append(diagrams.render(source))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 4 and len(set(drawn)) == 1


def test_the_sample_runs_only_use_edges_of_the_machine() -> None:
    keys = {row.key for row in MEMBER}
    assert all(key in keys for trace in (probing(), crash()) for step in trace for _, key in step.moves)
