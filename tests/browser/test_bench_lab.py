"""The bench in a real JupyterLab: a pick is on the screen at once, an impossible one explains itself, a link opens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import key
from playwright.sync_api import Page, expect

from protocol.bench import link
from protocol.scenario import Scenario

SOURCES = ("from protocol.bench import Bench\nbench = Bench()\nbench", "import time; time.sleep(6)")

IDLE = "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


@pytest.fixture
def bench(lab: Any, page: Page) -> Any:
    """Opens a notebook with a bench in it, at an address that may end in a link."""

    def opened(hash: str = "", *, cells: int = 1) -> Any:
        made = [
            {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": text}
            for n, text in enumerate(SOURCES[:cells])
        ]
        kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        text = json.dumps({"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})
        (lab.folder / "bench.ipynb").write_text(text, encoding="utf-8")
        page.goto(f"{lab.url}/lab/tree/bench.ipynb?reset{hash}")
        panel = page.locator(".jp-NotebookPanel:visible")
        panel.wait_for()
        page.wait_for_function(IDLE)
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        page.locator(".vp-host[data-ready]").first.wait_for(state="attached")
        return panel

    yield opened
    (lab.folder / "bench.ipynb").unlink(missing_ok=True)


def test_a_pick_is_on_the_screen_at_once(bench: Any, page: Page, shot: Any) -> None:
    bench()
    key(page, "members+").click()
    expect(page.locator(".counts")).to_contain_text("0 of 4")
    for _ in range(2):
        key(page, "members+").click()
    expect(page.locator(".counts")).to_contain_text("0 of 6")
    page.evaluate(
        """() => { const host = document.querySelector('.vp-host'), root = host.shadowRoot; window.took = [];
          window.pick = (leader) => new Promise((done) => { const began = performance.now();
            const seen = () => requestAnimationFrame(() => setTimeout(() => { if (host.shadowRoot.querySelector(
              `[data-key="leader:${leader}"]`)?.checked && host.dataset.ready && host.shadowRoot.querySelector(
              '.ribbon')) done(performance.now() - began); else seen(); }));
            root.querySelector(`[data-key="leader:${leader}"]`).click();
            host.shadowRoot.querySelector(`[data-key="leader:${leader}"]`).checked = false; seen(); }); }"""
    )
    took = sorted(page.evaluate(f"() => pick('{leader}')") for leader in "BCDEFA")
    print(f"a pick of 6 members is painted after {took} ms")
    shot(page, "bench-lab")
    assert took[0] < 500, took  # 100 on a machine that has nothing else to do: tests/benchmarks says what it is


def test_the_order_is_picked_by_keyboard_and_keeps_the_focus(bench: Any, page: Page) -> None:
    bench()
    key(page, "order:C").focus()
    page.keyboard.press("ArrowRight")
    expect(key(page, "order:C")).to_have_attribute("aria-label", re.compile("bounced 2 of 3"))
    expect(key(page, "order:C")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("text.chapter").first).to_have_text("Bounce B to 2.1.0")


def test_the_order_is_picked_by_dragging(bench: Any, page: Page) -> None:
    bench()
    a, c = key(page, "order:A").bounding_box(), key(page, "order:C").bounding_box()
    assert a and c
    page.mouse.move(a["x"] + 19, a["y"] + 19)
    page.mouse.down()
    page.mouse.move(c["x"] + 2, c["y"] + 17, steps=6)
    page.mouse.up()
    expect(page.locator("text.chapter").first).to_have_text("Bounce A to 2.1.0")


def test_an_impossible_pick_explains_itself_and_changes_nothing(bench: Any, page: Page) -> None:
    bench()
    key(page, "more").click()
    key(page, "static").check()
    expect(page.locator(".told")).to_contain_text("the client of 2.0.0 knows no group.instance.id")
    expect(key(page, "static")).not_to_be_checked()
    expect(page.locator("text.chapter").first).to_have_text("Bounce C to 2.1.0")


def test_one_click_compares_the_old_leader_with_the_new(bench: Any, page: Page, shot: Any) -> None:
    bench()
    key(page, "preset:both").click()
    expect(page.locator(".verdict")).to_contain_text("They part at step 4")
    expect(page.locator(".verdict")).to_contain_text("4 rebalances, 2 died")
    expect(page.locator(".verdict")).to_contain_text("6 rebalances, nobody died")
    shot(page, "bench-lab-compare")


def test_a_link_opens_its_scenario_at_its_step(bench: Any, page: Page) -> None:
    bench(link(Scenario(old="2.0.0", new="2.3.1", members=4, leader="B", order="B,A,C,D"), 3))
    expect(page.locator(".kicker")).to_contain_text("Step 3 of")
    expect(page.locator(".name")).to_have_text("2.0.0 → 2.3.1")


def test_a_damaged_link_is_refused_with_a_sentence(bench: Any, page: Page) -> None:
    bench(link(Scenario(members=4))[:20])
    expect(page.locator(".told")).to_contain_text("cut short or was changed on the way")


def test_a_file_is_made_and_handed_to_the_browser(bench: Any, page: Page, tmp_path: Path) -> None:
    bench()
    key(page, "export").click()
    with page.expect_download() as download:
        key(page, "export:mmd").click()
    path = tmp_path / "run.mmd"
    download.value.save_as(path)
    assert download.value.suggested_filename == "2.0.0-to-2.1.0.mmd"
    assert path.read_text(encoding="utf-8").startswith("sequenceDiagram")


def test_while_python_is_busy_that_is_said(bench: Any, page: Page) -> None:
    bench(cells=2)
    key(page, "leader:B").check()
    expect(page.locator(".told")).to_contain_text("Python is busy")
    expect(page.locator(".told")).to_have_text("")
    expect(key(page, "leader:B")).to_be_checked()
