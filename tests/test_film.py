from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sample_trace import crash, probing

from protocol.film import animated, front_page, mermaid, pixels
from protocol.film.raster import stills
from protocol.releases import teaching
from protocol.scenario import Scenario, simulate
from protocol.trace import Trace

SVG = "{http://www.w3.org/2000/svg}"


def test_the_film_is_one_svg_that_needs_nothing_from_outside() -> None:
    film = animated(crash())
    ElementTree.fromstring(film)
    assert "<script" not in film and "href" not in film and "var(" not in film and "url(" not in film


def test_the_film_says_every_step() -> None:
    run = crash()
    words = {text.text for text in ElementTree.fromstring(animated(run)).iter(f"{SVG}text")}
    assert {step.title for step in run} <= words


def test_every_clock_of_the_film_ends_together_and_runs_forward() -> None:
    film = animated(probing())
    assert len(set(re.findall(r'dur="([^"]+)"', film))) == 1
    for times in re.findall(r'keyTimes="([^"]+)"', film):
        numbers = [float(time) for time in times.split(";")]
        assert numbers == sorted(numbers) and numbers[0] == 0 and numbers[-1] <= 1


def test_the_film_has_as_many_values_as_times() -> None:
    for part in ElementTree.fromstring(animated(crash())).iter():
        if part.get("keyTimes"):
            assert part.get("keyTimes", "").count(";") == part.get("values", "").count(";")


def test_a_name_never_becomes_markup() -> None:
    run = crash()
    hostile = replace(run.steps[0], title="<img src=x onerror=alert(1)>", why='"><script>')
    film = animated(Trace(run.first, (hostile, *run.steps[1:]), run.outcome))
    assert {part.tag for part in ElementTree.fromstring(film).iter()} <= {
        f"{SVG}{name}"
        for name in ("svg", "g", "rect", "circle", "path", "polygon", "text", "animate", "animateTransform")
    }
    assert "<img" not in film


def test_a_run_of_no_steps_is_a_still_picture() -> None:
    ElementTree.fromstring(animated(replace(probing(), steps=())))


def test_the_front_page_shows_the_run_as_it_is_simulated_today() -> None:
    """If this fails, a step's words have changed: `python -m protocol.film > book/bench.svg`."""
    committed = Path(__file__).parent.parent / "book" / "bench.svg"
    assert committed.read_text(encoding="utf-8") == front_page()


def test_a_jar_s_long_name_does_not_cover_the_next_one() -> None:
    jars = [teaching(f"{n} " * 20, latest=n, leader_rule="mirror", member_rule="mirror") for n in (10, 11)]
    film = animated(simulate(Scenario(old=jars[0], new=jars[1])))
    assert re.findall(r">(1\d [^<]*), speaks v(\d+)<", film) == [("10 10 10…", "10"), ("11 11 11…", "11")]


def test_the_sequence_diagram_has_every_message_and_takes_names_for_text() -> None:
    run = crash()
    hostile = replace(run.steps[0], title="<img src=x onerror=alert(1)>; %% #quot;\nend")
    text = mermaid(Trace(run.first, (hostile, *run.steps[1:]), run.outcome))
    assert text.startswith("sequenceDiagram\n") and "<" not in text and "%" not in text
    assert text.count("\n") == len(text.splitlines()) and "participant m0 as A" in text
    assert "--)" in mermaid(probing()), "a probing answer is dashed"


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_film_in_pixels_plays_for_ever_and_takes_as_long_as_the_drawn_one(kind: str) -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed: the extra `export`")
    pytest.importorskip("resvg_py", reason="resvg-py is not installed: the extra `export`")
    run = replace(probing(), steps=probing().steps[:2])
    made = image.open(io.BytesIO(pixels(animated(run), kind, width=440)))
    length = 0
    for frame in range(made.n_frames):
        made.seek(frame)
        made.load()
        length += made.info["duration"]
    assert made.n_frames > 3 and made.size[0] == 440 and made.info["loop"] == 0
    assert abs(length - 4 * 1600) < 120


def test_what_stands_is_drawn_once_and_the_tokens_on_it_are_where_the_film_has_them() -> None:
    run = crash()
    shown = list(stills(animated(run, seconds=1.6)))
    assert {len(still.tokens) for still in shown} == {len(run.first.members)}
    assert len({still.ground for still in shown}) < len(shown) / 2
    assert not any("animate" in still.ground or "animate" in token.look for still in shown for token in still.tokens)
    films = ElementTree.fromstring(animated(run, seconds=1.6))
    board = next(part for part in films.iter(f"{SVG}g") if part.get("transform"))
    dx, dy = map(float, re.findall(r"-?[\d.]+", board.get("transform", "")))
    begin = [re.findall(r"-?[\d.]+", part.get("transform", "")) for part in board if part.get("transform")]
    assert [(token.x, token.y) for token in shown[0].tokens] == [(float(x) + dx, float(y) + dy) for x, y in begin]
    widths = [right - left for still in shown for left, _, right, _, _ in still.bars]
    assert widths == sorted(widths) and widths[-1] > widths[0], "the bar grows"
