"""The runbook in a real browser: read and ticked without Python, picked in JupyterLab, dangers watched in one click."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages import axe, key
from playwright.sync_api import Page, expect

from protocol.runbook import Runbook

HOSTILE = "<img src=x onerror=document.title='owned'>"
LOOKS = ["light-1280", "dark-420", "light-2560"]
ROOT = "document.querySelector('.vp-runbook').shadowRoot"


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Callable[..., Page]:
    """Opens the mailed file of a runbook, as a file."""

    def opened(*pair: str, **options: Any) -> Page:
        path = tmp_path / "runbook.html"
        path.write_text(Runbook(*pair, **options).html(), encoding="utf-8")
        page.goto(path.as_uri())
        page.locator(".vp-runbook[data-ready]").wait_for(state="attached")
        return page

    return opened


@pytest.mark.parametrize("page", LOOKS, indirect=True)
def test_axe_finds_nothing_and_the_page_is_no_wider_than_the_screen(
    show: Callable[..., Page], request: pytest.FixtureRequest, shot: Any
) -> None:
    look = request.node.callspec.params["page"]
    for pair in (("2.3.0", "3.9.0"), ("2.0.1", "2.1.1")):
        page = show(*pair, members=5)
        page.evaluate(f"() => {{ for (const one of {ROOT}.querySelectorAll('details')) one.open = true; }}")
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shot(page, f"runbook-{pair[1]}-{look}")


def test_the_danger_is_one_click_away_without_python(show: Callable[..., Page], shot: Any) -> None:
    page = show("2.0.1", "2.1.1")
    expect(page.locator(".headline")).to_contain_text("unsafe")
    expect(page.locator(".shares")).to_contain_text("59% nobody dies")
    key(page, "watch:danger").click()
    expect(page.locator(".kicker")).to_contain_text("poison")
    page.wait_for_function("() => document.activeElement?.shadowRoot?.activeElement?.matches('.player:not(.runbook)')")
    assert axe(page) == []
    shot(page, "runbook-danger")
    key(page, "watch:run").click()
    expect(page.locator(".kicker")).to_contain_text("Step 0 of")


def test_bounces_are_ticked_with_the_keyboard(show: Callable[..., Page]) -> None:
    page = show("2.3.0", "3.9.0")
    for box in ("tick:1:1", "tick:1:2"):
        key(page, box).focus()
        page.keyboard.press("Space")
    expect(page.locator(".card").first).to_contain_text("2 of 3 bounced")
    expect(page.locator("[role=status].unseen").first).to_have_text("2 of 6 bounces are ticked.")
    page.keyboard.press("Tab")
    expect(key(page, "tick:1:3")).to_be_focused()


def test_the_plan_can_be_taken_along(show: Callable[..., Page], tmp_path: Path) -> None:
    page = show("2.3.0", "3.9.0")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with page.expect_download() as download:
        key(page, "download").click()
    download.value.save_as(tmp_path / "plan.md")
    text = (tmp_path / "plan.md").read_text(encoding="utf-8")
    assert text == Runbook("2.3.0", "3.9.0").markdown() and text.count("- [ ] ") == 6
    for button, copied in (
        ("markdown", "# 2.3.0 → 3.9.0"),
        ("set:1", "upgrade.from=2.3"),
        ("copy:command", "plan 2.3.0"),
    ):
        key(page, button).click()
        page.wait_for_function(f"async () => (await navigator.clipboard.readText()).includes({copied!r})")


def test_on_paper_everything_is_open_and_nothing_asks_to_be_clicked(show: Callable[..., Page]) -> None:
    page = show("3.2.3", "2.8.0")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".runbook .reason.by-note").first).to_be_visible()
    expect(page.locator(".runbook .box")).to_have_count(3)
    assert not page.locator(".runbook button:visible").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".runbook .reason.by-note").first).to_be_hidden()


def test_a_hostile_value_is_text(show: Callable[..., Page]) -> None:
    page = show("3.4.1", "3.5.1", upgrade_from=HOSTILE)
    expect(page.locator(".headline")).to_contain_text("<img src=x")
    assert page.title() != "owned" and not page.evaluate(f"{ROOT}.querySelectorAll('img').length")


@pytest.mark.parametrize("change", [('"title"', "title"), ('"rounds":[', '"rounds":null,"x":[')])
def test_a_file_that_somebody_changed_says_so(page: Page, tmp_path: Path, change: tuple[str, str]) -> None:
    (tmp_path / "plan.html").write_text(Runbook("2.3.0", "3.9.0").html().replace(*change), encoding="utf-8")
    page.goto((tmp_path / "plan.html").as_uri())
    expect(page.get_by_role("alert")).to_contain_text("cut short or changed")


def test_a_source_is_a_link_or_text_never_a_script(page: Page, tmp_path: Path) -> None:
    text = Runbook("2.3.0", "3.9.0").html().replace(',"https://', ',"javascript://')
    (tmp_path / "plan.html").write_text(text, encoding="utf-8")
    page.goto((tmp_path / "plan.html").as_uri())
    expect(page.locator(".reason .source").first).to_be_attached()
    assert page.evaluate(f"{ROOT}.querySelectorAll('a').length") == 0


@pytest.fixture
def live(lab: Any, page: Page) -> Any:
    """A notebook with a runbook in it."""
    source = 'from protocol.runbook import Runbook\nshown = Runbook("2.3.0", "3.9.0")\nshown'
    cell = {"cell_type": "code", "execution_count": None, "id": "c0", "metadata": {}, "outputs": [], "source": source}
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    text = json.dumps({"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})
    (lab.folder / "runbook.ipynb").write_text(text, encoding="utf-8")
    panel = lab.open(page, "runbook.ipynb")
    lab.run_all(page)
    page.locator(".runbook").wait_for()
    yield panel
    (lab.folder / "runbook.ipynb").unlink(missing_ok=True)


TIMED = """async (name) => {
  const root = [...document.querySelectorAll('[data-lm-suppress-shortcuts]')].map((one) => one.shadowRoot)
    .find((one) => one?.querySelector('.runbook'));
  const select = root.querySelector('[data-key=new]'), began = performance.now();
  const frame = () => new Promise(requestAnimationFrame);
  select.value = name; select.dispatchEvent(new Event('change'));
  while (!root.querySelector('.pair').textContent.includes(`→ ${name},`)) await frame();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - began; }"""


def test_in_jupyterlab_a_pick_is_planned_and_its_danger_watched(live: Any, page: Page, shot: Any) -> None:
    key(page, "new").focus()
    took = [page.evaluate(TIMED, name) for name in ("3.8.1", "2.2.2", "2.5.1", "2.3.1")]
    print(f"a pick is painted after {[round(ms) for ms in took]} ms")
    expect(key(page, "new")).to_be_focused()
    assert min(took) < 300, took
    key(page, "old").select_option("2.0.1")
    key(page, "new").select_option("2.1.1")
    expect(page.locator(".headline")).to_contain_text("unsafe")
    expect(page.locator("[role=status].unseen").first).to_contain_text("2.0.1 → 2.1.1, 3 instances: unsafe")
    shot(page, "runbook-lab")
    key(page, "more-of").locator("summary").click()
    key(page, "static").check()
    expect(page.locator(".runbook .told")).to_contain_text("knows no group.instance.id")
    expect(key(page, "static").first).not_to_be_checked()
    key(page, "watch:danger").click()
    expect(page.locator(".kicker")).to_contain_text("poison")
    expect(page.locator(".kicker")).to_be_in_viewport()
    shot(page, "runbook-lab-danger")
    key(page, "leader:B").check()
    expect(page.locator(".stage")).to_contain_text("leads")
    key(page, "instead:0").click()
    expect(page.locator(".headline")).to_contain_text("safe")
    expect(page.locator(".stage")).to_be_hidden()
