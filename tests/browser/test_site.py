"""The book in a real browser: every page on its own, every chapter made live, presented, printed, and from a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built_site import CHAPTERS, ROOT, site
from pages import axe
from playwright.sync_api import Locator, Page, expect

__all__ = ["site"]

PROSE = sorted(path.stem for path in (ROOT / "book").glob("*.md"))
FIRST = next(name for name in CHAPTERS if name.startswith("01"))
SHORT = next(name for name in CHAPTERS if name.startswith("02"))
PLAIN = ".live-output > .text_plain, .live-output > .live-text"
SAID = f"""() => [...document.querySelectorAll('article div.cell')].map((cell) =>
  [...cell.querySelectorAll('{PLAIN}')].map((one) => one.textContent.trim()))"""
LONG = 240_000
"""How long, in ms, a live page may take where the machine is busy."""


@pytest.fixture
def at(site: Path, serve: Callable[[Path], str]) -> Callable[[str], str]:
    """The address of a page, somewhere below the root of a server."""
    address = serve(site.parent)
    return lambda name: f"{address}/{site.name}/{name}.html"


def step_forward(page: Page, player: Locator) -> None:
    """One step on, by the keyboard; what the player says changes."""
    slider = player.get_by_role("slider").first
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before or "")


def make_live(page: Page) -> None:
    """Make the page live, and wait until all of its cells have run."""
    page.locator("[data-key=go]").click()
    page.wait_for_function("() => ['ready', 'failed'].includes(document.documentElement.dataset.live)", timeout=LONG)
    said = page.locator(".live-said").inner_text()
    errors = page.locator(".live-error").all_inner_texts()
    assert page.locator("html").get_attribute("data-live") == "ready", (said, errors)
    assert not errors


def ended(page: Page, state: str) -> None:
    page.wait_for_function(f"() => document.documentElement.dataset.live === {state!r}", timeout=LONG)


# Without Python


@pytest.mark.parametrize("name", [*CHAPTERS, *PROSE, "search"])
def test_a_page_opens_without_a_complaint_or_a_request_to_elsewhere(
    page: Page, at: Callable[[str], str], name: str
) -> None:
    page.goto(at(name), wait_until="networkidle")
    expect(page.locator("main h1:visible").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", [FIRST, "glossary", "releases"])
@pytest.mark.parametrize("page", ["light-420", "dark-420"], indirect=True)
def test_a_page_fits_a_phone(page: Page, at: Callable[[str], str], name: str, shot: Any) -> None:
    page.goto(at(name), wait_until="networkidle")
    shot(page, f"site-{name[:8]}-{page.evaluate('document.documentElement.dataset.theme')}-420")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", [FIRST, *PROSE])
def test_a_page_keeps_nobody_out(page: Page, at: Callable[[str], str], name: str) -> None:
    """In the dark only the colours are others."""
    page.goto(at(name), wait_until="networkidle")
    found = axe(page, preload=False)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_timeout(400)  # colours fade over
    assert found + axe(page, least=1, preload=False, runOnly=["color-contrast"]) == []


def test_a_player_plays_from_a_file(page: Page, site: Path) -> None:
    page.goto((site / f"{FIRST}.html").as_uri())
    step_forward(page, page.locator(".vp-host").first)
    expect(page.get_by_text("To make this page live")).to_be_visible()


def test_a_player_plays_without_python(page: Page, at: Callable[[str], str]) -> None:
    page.goto(at(FIRST))
    step_forward(page, page.locator(".vp-host").first)


@pytest.mark.parametrize("page", ["dark-1280"], indirect=True)
def test_in_the_dark_a_player_is_dark(page: Page, at: Callable[[str], str], shot: Any) -> None:
    page.goto(at(FIRST))
    host = page.locator(".vp-host").first
    host.scroll_into_view_if_needed()
    around = host.evaluate("one => getComputedStyle(one.closest('.text_html')).backgroundColor")
    assert around in ("rgba(0, 0, 0, 0)", "transparent")
    shot(page, "site-player-dark")


def test_the_search_finds_a_page(page: Page, at: Callable[[str], str]) -> None:
    page.goto(at("search") + "?q=coordinator", wait_until="networkidle")
    expect(page.locator("#search-results li a").first).to_be_visible()


def test_the_catalogue_is_filtered_as_one_types(page: Page, at: Callable[[str], str]) -> None:
    page.goto(at("releases"))
    page.get_by_role("searchbox", name="Filter the table").fill("2.3.1")
    rows = page.locator(".filtered tbody tr:visible")
    expect(rows.first).to_contain_text("2.3.1")
    assert rows.count() < 10


COLAB = "https://colab.research.google.com/github/somebody/version-probing/blob/main/notebooks/02-the-group.ipynb"


def test_before_colab_the_reader_is_told_what_to_install_there(page: Page, at: Callable[[str], str]) -> None:
    page.goto(at(SHORT))
    page.evaluate(f"document.querySelector('article').insertAdjacentHTML('afterbegin', '<a href={COLAB}>Colab</a>')")
    page.get_by_role("link", name="Colab", exact=True).click()
    box = page.get_by_role("dialog", name="Open in Colab")
    expect(box).to_contain_text("%pip install anywidget graphviz git+https://github.com/somebody/version-probing@main")
    expect(box.get_by_role("link", name="Open Colab")).to_have_attribute("href", COLAB)
    box.get_by_role("button", name="Close").click()
    expect(box).to_have_count(0)


# How far the reader is


@pytest.mark.parametrize("from_a_file", [False, True])
def test_what_a_reader_marks_and_guesses_is_kept_in_the_browser_until_it_is_forgotten(
    page: Page, site: Path, at: Callable[[str], str], shot: Any, from_a_file: bool
) -> None:
    def address(name: str) -> str:
        return (site / f"{name}.html").as_uri() if from_a_file else at(name)

    mark = page.locator(".bd-links .progress-mark")
    page.goto(address(SHORT))
    expect(page.get_by_role("button", name="Forget my progress")).to_be_hidden()
    quiz = page.locator("#quiz").get_by_label("Your answer to question 2")
    quiz.fill("never at once")
    page.get_by_label("Exercise 1 done").check()
    page.get_by_label("Quiz done").check()
    expect(mark).to_have_text("2/4")
    shot(page.locator("#quiz"), "site-quiz")

    page.wait_for_timeout(500)  # the next page may be another process, to which Chromium carries it
    page.goto(address("index"))
    row = page.locator(".toctree-wrapper li", has_text="The group")
    expect(row.locator(".progress-mark")).to_have_text("2/4")
    shot(page, "site-progress")

    page.goto(address(SHORT))
    expect(quiz).to_have_value("never at once")
    expect(page.get_by_label("Quiz done")).to_be_checked()
    page.get_by_label("Exercise 2 done").check()
    page.get_by_label("I have read this chapter").check()
    expect(mark).to_have_text("✓")
    page.get_by_role("button", name="Forget my progress").click()
    expect(mark).to_have_count(0)
    expect(page.get_by_label("Quiz done")).not_to_be_checked()
    expect(quiz).to_have_value("")
    page.reload()
    expect(page.get_by_label("Quiz done")).not_to_be_checked()
    assert not page.evaluate("Object.keys(localStorage).filter((one) => one.startsWith('version-probing'))")


def test_where_nothing_can_be_kept_nothing_is_offered(page: Page, at: Callable[[str], str]) -> None:
    page.add_init_script(
        "const set = Storage.prototype.setItem; Storage.prototype.setItem = function (key, value) {"
        " if (key.startsWith('version-probing')) throw new Error('not here'); set.call(this, key, value); }"
    )
    page.goto(at(SHORT))
    expect(page.locator(".vp-host[data-ready]").first).to_be_attached()
    expect(page.get_by_label("Quiz done")).to_have_count(0)


# Presented and printed


def test_a_chapter_is_presented_one_section_a_screen(page: Page, at: Callable[[str], str], shot: Any) -> None:
    page.goto(at(FIRST))
    page.locator("[data-key=present]").click()
    expect(page.locator("article.bd-article h1")).to_be_visible()
    expect(page.locator("article.bd-article h2:visible")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(page.locator("article.bd-article h1")).to_be_hidden()
    expect(page.locator("article.bd-article h2:visible")).to_have_count(1)
    page.keyboard.press("End")
    expect(page.get_by_role("toolbar", name="Presentation")).to_contain_text(re.compile(r"\b(\d\d?) of \1\b"))
    while not page.locator(".vp-host:visible").count():
        page.keyboard.press("ArrowLeft")
    shot(page, "site-present")
    step_forward(page, page.locator(".vp-host:visible").first)
    page.get_by_role("button", name="Leave", exact=True).click()
    expect(page.locator("article.bd-article h1")).to_be_visible()


def test_print_leaves_the_controls_out(page: Page, at: Callable[[str], str]) -> None:
    page.goto(at(FIRST))
    page.emulate_media(media="print")
    for what in (".book-bar", ".bd-sidebar-primary", ".bd-header-article"):
        expect(page.locator(what).first).to_be_hidden()
    assert len(page.pdf(format="A4")) > 50_000


# With Python in the browser


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """What the outputs of a committed cell say in plain text, where that is all that they have."""
    told = [one["data"] if "data" in one else {"text/plain": one["text"]} for one in outputs]
    return ["".join(one["text/plain"]).strip() for one in told if set(one) == {"text/plain"}]


def pick(page: Page, shot: Any) -> None:
    """On the live page of the first chapter, let another member lead."""
    bench = page.locator("div.cell", has=page.get_by_role("radio", name="B", exact=True)).locator(".live-widget")
    title = bench.get_by_role("slider").first
    title.scroll_into_view_if_needed()
    chosen = bench.get_by_role("radio", name="B", exact=True)
    assert not chosen.is_checked()
    before = bench.evaluate("one => one.firstElementChild.shadowRoot?.textContent ?? one.textContent")
    chosen.check(force=True)
    page.wait_for_function(
        "([one, before]) => (one.firstElementChild.shadowRoot?.textContent ?? one.textContent) !== before",
        arg=[bench.element_handle(), before],
    )
    expect(bench.get_by_role("radio", name="B", exact=True)).to_be_checked()
    shot(page, "site-live-bench")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_made_live_runs_to_its_end_and_says_what_it_said(
    page: Page, at: Callable[[str], str], shot: Any, name: str
) -> None:
    """And the first chapter's bench then takes a pick."""
    page.goto(at(name))
    make_live(page)
    said = page.evaluate(SAID)
    assert page.locator('div.cell[data-ran="well"]').count() == len(said)
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and cell["source"]]
    shown = [cell for cell in code if "remove-cell" not in cell["metadata"].get("tags", [])]
    assert said == [texts(cell["outputs"]) for cell in shown]
    if name == FIRST:
        pick(page, shot)


def test_a_chapter_opens_in_jupyterlite_and_runs_to_its_end(page: Page, at: Callable[[str], str], shot: Any) -> None:
    page.goto(at(SHORT))
    page.goto(page.get_by_role("link", name="Open in JupyterLite").get_attribute("href") or "")
    cells = "window.jupyterapp?.shell.currentWidget?.content?.widgets?.filter((one) => one.model.type === 'code')"
    page.wait_for_function(f"() => {cells}?.length && {cells}.every((one) => one.model.executionCount)", timeout=LONG)
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    told = page.evaluate(f"() => {cells}.flatMap((one) => one.model.outputs.toJSON())")
    assert told and not [one for one in told if one["output_type"] == "error"]
    expect(page.locator(".vp-host").first).to_be_attached()
    shot(page, "site-lite")


def test_a_cell_is_edited_run_stopped_and_reset(page: Page, at: Callable[[str], str]) -> None:
    page.goto(at(FIRST))
    cell = page.locator("div.cell").nth(1)
    before = cell.locator(".cell_output").inner_text()
    assert before
    make_live(page)
    cell.get_by_role("button", name="Edit").click()
    editor = cell.get_by_role("textbox")

    editor.fill("print('spoken')\n6 * 7")
    editor.press("Shift+Enter")
    expect(cell.locator(".cell_output")).to_contain_text("42")
    expect(cell.locator(".stdout")).to_have_text("spoken\n")

    editor.fill("1 / 0")
    cell.get_by_role("button", name="Run").click()
    expect(cell.locator(".live-error")).to_contain_text("ZeroDivisionError")
    ended(page, "failed")

    editor.fill("while True: pass")
    cell.get_by_role("button", name="Run").click()
    ended(page, "running")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".live-said")).to_contain_text("Stopped")

    editor.fill("'anew'")
    cell.get_by_role("button", name="Run").click()
    ended(page, "ready")
    expect(cell.locator(".cell_output")).to_contain_text("anew")

    cell.get_by_role("button", name="Reset").click()
    expect(cell.locator(".cell_output")).to_have_text(before)
    expect(cell.get_by_role("textbox")).to_have_count(0)
    page.get_by_role("button", name="Reset page").click()
    expect(page.locator("[data-key=go]")).to_be_visible()
    expect(page.locator(".live-output")).to_have_count(0)
