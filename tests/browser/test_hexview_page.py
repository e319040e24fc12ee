"""The hex view on a page of its own, in a real browser: pointed at, with the keyboard, light, dark, small, on paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages import axe
from playwright.sync_api import Locator, Page, expect

from protocol import wire
from protocol.hexview import HexView
from protocol.messages import AssignmentInfo, Subscription

sys.path.append(str(Path(__file__).resolve().parent.parent))
from test_paste import ANSWER, ENVELOPE, SUBSCRIPTION, record

POISON = wire.encode_assignment_info(AssignmentInfo(3, 4))
PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<title>Bytes</title><link rel="icon" href="data:,"><style>:root{color-scheme:light dark}body{background:#fff}'
    "@media(prefers-color-scheme:dark){body{background:#0b0d10;color:#eee}}</style><main><h1>Bytes</h1>"
)
LIT = """(kind) => [...document.querySelector('.vp-host').shadowRoot.querySelectorAll(`.byte.${kind}[data-at]`)]
  .map((one) => Number(one.dataset.at))"""
CONTRAST = """(pairs) => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return pairs.map((select) => {
    const hosts = [...document.querySelectorAll('.vp-host')];
    const one = hosts.map((host) => host.shadowRoot.querySelector(select)).find(Boolean);
    if (!one) return [select, 0];
    let ground = one;
    const painted = (node) => getComputedStyle(node).backgroundColor;
    while (painted(ground) === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
    const [a, b] = [light(getComputedStyle(one).color), light(painted(ground))];
    return [select, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}"""


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Callable[..., Page]:
    """Opens a page with these views, as a file."""

    def opened(*views: HexView) -> Page:
        path = tmp_path / "bytes.html"
        path.write_text(PAGE + "\n".join(view.fragment() for view in views) + "</main>", encoding="utf-8")
        page.goto(path.as_uri())
        page.locator(".vp-bytes[data-ready]").last.wait_for(state="attached")
        return page

    return opened


def byte(page: Page, at: int) -> Locator:
    return page.locator(f".byte[data-at='{at}']").first


def field(page: Page, name: str) -> Locator:
    return page.get_by_role("treeitem").filter(has_text=name).first


def test_a_byte_lights_its_field_and_the_field_its_bytes(show: Callable[..., Page]) -> None:
    page = show(HexView(ENVELOPE))
    byte(page, 23).hover()
    expect(field(page, "latest_supported_version")).to_have_class("row lit")
    assert page.evaluate(LIT, "lit") == [22, 23, 24, 25]
    assert page.evaluate(LIT, "around") == [i for i in range(18, 18 + len(SUBSCRIPTION)) if not 22 <= i < 26]
    expect(field(page, "user_data")).to_have_class("row around")
    expect(page.locator(".said")).to_contain_text("bytes 22–25 subscription info › latest_supported_version = 5")
    field(page, "process_id").hover()
    assert page.evaluate(LIT, "lit") == list(range(26, 42))
    page.mouse.move(2, 2)
    assert page.evaluate(LIT, "lit") == []


@pytest.mark.parametrize("page", ["light-320"], indirect=True)
def test_no_byte_is_cut_on_the_smallest_phone(show: Callable[..., Page]) -> None:
    page = show(HexView(ENVELOPE))
    assert page.locator(".hex").evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_a_click_keeps_it_and_a_second_one_lets_go(show: Callable[..., Page]) -> None:
    page = show(HexView(ENVELOPE))
    byte(page, 19).click()
    page.mouse.move(2, 2)
    assert page.evaluate(LIT, "pinned") == [18, 19, 20, 21]
    index = page.evaluate("() => document.querySelector('.vp-host').player.index")
    assert page.get_by_role("treeitem", selected=True).get_attribute("data-row") == str(index)
    byte(page, 50).hover()
    assert page.evaluate(LIT, "pinned") == [18, 19, 20, 21] != page.evaluate(LIT, "lit")
    byte(page, 20).click()
    assert page.evaluate(LIT, "pinned") == []


def test_all_of_it_is_reached_with_the_keyboard(show: Callable[..., Page]) -> None:
    page = show(HexView(ENVELOPE))
    page.evaluate("() => { window.heard = []; addEventListener('keydown', (event) => heard.push(event.key)); }")
    page.locator("h1").click()
    page.keyboard.press("Tab")
    focused = "() => document.querySelector('.vp-host').shadowRoot.activeElement.dataset"
    for key, at in [("ArrowRight", 1), ("ArrowDown", 17), ("End", len(ENVELOPE) - 1), ("Home", 0), ("ArrowLeft", 0)]:
        page.keyboard.press(key)
        assert page.evaluate(f"({focused})().at") == str(at), key
    page.keyboard.press("ArrowRight")
    assert page.evaluate(LIT, "lit") == [0, 1]
    page.keyboard.press("Tab")
    for key, row in [("ArrowDown", 1), ("ArrowDown", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", -1)]:
        page.keyboard.press(key)
        last = page.get_by_role("treeitem").count() - 1
        assert page.evaluate(f"({focused})().row") == str(row if row >= 0 else last), key
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.evaluate(LIT, "pinned") != []
    page.keyboard.press("Escape")
    assert page.evaluate(LIT, "pinned") == []
    page.keyboard.press("d")
    assert page.evaluate("() => heard") == ["Tab", "Tab"] or page.evaluate("() => heard") == ["Tab"]


def test_bytes_and_fields_have_names_for_those_who_do_not_see_them(show: Callable[..., Page]) -> None:
    page = show(HexView(ENVELOPE))
    expect(byte(page, 21)).to_have_accessible_name("04, byte 21, version")
    expect(page.get_by_role("grid")).to_have_accessible_name(f"{len(ENVELOPE)} bytes")
    name = "version = 4, bytes 18–21, the version that the member speaks (used)"
    assert page.get_by_role("treeitem", name=name).count() == 1


def test_another_reader_can_be_picked_without_python(show: Callable[..., Page]) -> None:
    page = show(HexView(POISON, release="2.0.0"))
    expect(page.locator(".answer")).to_contain_text("throws IllegalArgumentException: version must be between 1 and 3")
    page.get_by_label("Release of the reader").select_option(label="2.4.0 – 2.4.1")
    expect(page.locator(".answer")).to_contain_text("it goes on with v4 and rejoins at once")


@pytest.mark.parametrize("cut", [22, 36])
def test_damaged_bytes_are_shown_and_the_place_is_marked(show: Callable[..., Page], cut: int) -> None:
    page = show(HexView(SUBSCRIPTION[:cut], kind="subscription info"))
    expect(page.locator(".byte[data-at]")).to_have_count(cut)
    expect(page.locator(".hex .byte.here")).to_have_count(1)
    expect(page.get_by_role("treeitem").filter(has_text="cannot be read")).to_have_count(1)


def test_bytes_that_end_where_a_field_begins_have_a_mark_too(show: Callable[..., Page]) -> None:
    page = show(HexView(SUBSCRIPTION[:24]), HexView(POISON[:16]))
    assert page.locator(".byte.none").count() == 2


@pytest.mark.parametrize("page", ["light-1280", "dark-420"], indirect=True)
def test_a_hostile_name_is_text_everywhere(show: Callable[..., Page]) -> None:
    hostile = "<img src=x onerror=document.title='owned'>"
    data = wire.encode_subscription(Subscription((hostile,), SUBSCRIPTION), version=1)
    page = show(HexView(data, title=hostile))
    byte(page, 12).hover()
    expect(page.locator(".said")).to_contain_text(hostile)
    assert page.title() == "Bytes" and page.locator("img").count() == 0


@pytest.mark.parametrize("page", ["light-1280", "dark-1280", "light-420", "dark-420"], indirect=True)
def test_it_can_be_read_in_every_look(show: Callable[..., Page], request: pytest.FixtureRequest, shot: Any) -> None:
    page = show(
        HexView(ENVELOPE[:60], title="A member joins", field="latest_supported_version"),
        HexView(POISON, release="2.0.0"),
    )
    scheme, width = request.node.callspec.params["page"].split("-")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= int(width)
    expect(page.locator(".line").first.locator(".byte")).to_have_count(8 if width == "420" else 16)
    parts = [".byte.lit", ".byte.around", ".byte.envelope", ".byte.payload:not(.around, .lit)", ".row.lit .says"]
    parts += [".byte.bad", ".row.bad .says", ".row.around .means", ".row .place", ".row .raw", ".offset", ".legend"]
    parts += [".said .of", ".aside", ".answer .log", ".notes li"]
    assert {name: ratio for name, ratio in page.evaluate(CONTRAST, parts) if ratio < 4.5} == {}
    if (scheme, width) in (("light", "420"), ("dark", "1280")):
        assert axe(page) == []
    shot(page.locator("main"), f"hexview-{scheme}-{width}")


def test_on_paper_nothing_is_hidden_in_a_scroller(show: Callable[..., Page]) -> None:
    page = show(HexView(record(version=3)))
    page.emulate_media(media="print")
    hidden = "(one) => { const box = document.querySelector('.vp-host').shadowRoot.querySelector(one);"
    for box in (".hex", ".tree"):
        assert page.evaluate(f"{hidden} return box.scrollHeight - box.clientHeight; }}", box) <= 0


def test_in_a_notebook_the_kernel_hears_what_is_pinned(lab: Any, page: Page, shot: Any) -> None:
    sources = (
        "from protocol.hexview import HexView",
        f"view = HexView('{ANSWER.hex()}')\nview",
        "print('pinned:', view.index, view.data['parts'][0]['rows'][view.index][3])",
    )
    cells = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
        for n, source in enumerate(sources)
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    text = json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})
    (lab.folder / "bytes.ipynb").write_text(text, encoding="utf-8")
    panel = lab.open(page, "bytes.ipynb")
    lab.run_all(page)
    page.locator(".vp-host[data-ready]").first.wait_for(state="attached")
    field(page, "commonly_supported_version").click()
    for key in ("a", "d", "d", "x"):
        page.keyboard.press(key)
    page.wait_for_timeout(400)  # the kernel hears where the reader came to rest
    panel.locator(".jp-CodeCell .jp-InputPrompt").last.click()
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    expect(panel.locator(".jp-OutputArea-output").last).to_have_text("pinned: 6 commonly_supported_version")
    assert panel.locator(".jp-CodeCell").count() == len(sources)
    shot(page, "hexview-lab")
