"""The book in Debian's Firefox: the static page plays, a bench is picked from, and a chapter is made live."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from built_site import CHAPTERS, site
from firefox import Firefox

__all__ = ["site"]

SHOTS = Path(__file__).resolve().parent / "shots"
NAMES = ("firefox-esr", "firefox")
FIRST = next(name for name in CHAPTERS if name.startswith("01"))
LIVE = next(name for name in CHAPTERS if name.startswith("02"))
BENCHES = [name for name in CHAPTERS if name[:2] in ("01", "90")]
HOST = "document.querySelector('.vp-host')"
INSIDE = f"{HOST}.shadowRoot.querySelector"
LEADER = '[data-key="leader:B"]'
ROOTS = "[...document.querySelectorAll('.vp-host')].map((one) => one.shadowRoot)"
BENCH = f"{ROOTS}.find((one) => one?.querySelector('{LEADER}'))"
LONG = 240
"""How long, in seconds, a live page may take where the machine is busy."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """One Firefox for all tests here; without one, they are skipped by name."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("there is no Firefox on the PATH (Debian: apt install firefox-esr)")
    firefox = Firefox(program, tmp_path_factory.mktemp("firefox") / "profile")
    yield firefox
    firefox.close()


@pytest.fixture
def firefox(browser: Firefox) -> Iterator[Firefox]:
    """The browser; an error on a page, or a request to another machine, fails the test."""
    browser.problems.clear()
    yield browser
    browser.open("about:blank")
    assert not browser.problems


@pytest.fixture(params=["from a file", "served"])
def first(request: pytest.FixtureRequest, site: Path, serve: Callable[[Path], str], firefox: Firefox) -> Firefox:
    """The first chapter's static page, its player ready."""
    served = request.param == "served"
    address = f"{serve(site.parent)}/{site.name}/{FIRST}.html" if served else (site / f"{FIRST}.html").as_uri()
    firefox.open(address)
    firefox.wait_for(f"'ready' in {HOST}.dataset")
    return firefox


def at(firefox: Firefox) -> int:
    step: int = firefox.evaluate(f"{HOST}.player.index")
    return step


def test_a_static_page_s_player_steps_on_and_back_and_plays(first: Firefox) -> None:
    told = f"{INSIDE}('h2.title').textContent"
    opening = first.evaluate(told)
    first.evaluate(f"{INSIDE}('[aria-label=\"Step on\"]').click()")
    assert at(first) == 1 and first.evaluate(told) != opening
    first.evaluate(f"{INSIDE}('[aria-label=\"Step back\"]').click()")
    assert at(first) == 0 and first.evaluate(told) == opening
    first.evaluate(f"{INSIDE}('input[type=range]').focus()")
    first.press("ArrowRight")
    assert at(first) == 1
    first.evaluate(f"{INSIDE}('[aria-label=\"Play\"]').click()")
    first.wait_for(f"{HOST}.player.index >= 3")
    first.evaluate(f"{INSIDE}('[aria-label=\"Pause\"]').click()")


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_is_picked_from_without_python(site: Path, firefox: Firefox, name: str) -> None:
    firefox.open((site / f"{name}.html").as_uri())
    firefox.wait_for(f"!!{BENCH}")
    before = firefox.evaluate(f"{BENCH}.querySelector('.stage').textContent")
    assert not firefox.evaluate(f"{BENCH}.querySelector('{LEADER}').checked")
    firefox.evaluate(f"{BENCH}.querySelector('{LEADER}').click()")
    firefox.wait_for(f"{BENCH}.querySelector('{LEADER}').checked")
    assert "leads" in firefox.evaluate(f"{BENCH}.querySelector('.stage').textContent") != before


def test_a_page_fits_a_phone(site: Path, firefox: Firefox) -> None:
    firefox.open((site / f"{FIRST}.html").as_uri(), width=420)
    firefox.wait_for(f"'ready' in {HOST}.dataset")
    firefox.evaluate(f"{HOST}.scrollIntoView({{ block: 'start' }})")
    firefox.shot(SHOTS / "firefox-420.png")
    assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_error_and_a_request_to_another_machine_are_noticed(tmp_path: Path, firefox: Firefox) -> None:
    text = "<img src=https://other.example/x.png><script>throw new Error('thrown')</script>"
    (tmp_path / "bad.html").write_text(text, encoding="utf-8")
    firefox.open((tmp_path / "bad.html").as_uri())
    assert sorted(firefox.problems) == [
        "javascript: Error: thrown",
        "request to another machine: https://other.example/x.png",
    ]
    firefox.problems.clear()


def test_a_chapter_is_made_live_and_runs_to_its_end(site: Path, serve: Callable[[Path], str], firefox: Firefox) -> None:
    firefox.open(f"{serve(site.parent)}/{site.name}/{LIVE}.html?live")
    state = firefox.wait_for(
        "['ready', 'failed'].find((one) => one === document.documentElement.dataset.live)", seconds=LONG
    )
    errors = firefox.evaluate("[...document.querySelectorAll('.live-error')].map((one) => one.textContent)")
    assert (state, errors) == ("ready", [])
    shown = "JSON.parse(document.querySelector('#live-cells').textContent).cells.filter((one) => one.shown).length"
    assert firefox.evaluate(f"document.querySelectorAll('div.cell[data-ran=well]').length === {shown}")
    firefox.shot(SHOTS / "firefox-live.png")
