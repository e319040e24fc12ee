"""The bench on a page without Python: what it holds can be picked, all can use it, nothing in it becomes markup."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages import axe, key
from playwright.sync_api import Page, expect

from protocol.bench import PRESETS, Bench, link
from protocol.releases import teaching
from protocol.scenario import Scenario

HOSTILE = "<img src=x onerror=document.title='owned'>"
LOOKS = ["light-1280", "dark-1280", "light-420", "dark-420", "light-2560"]
OPEN = """() => { const host = document.querySelector('.vp-host'), root = host.shadowRoot; host.player.go(7);
  root.querySelector('[data-key=ladder]').click();
  for (const one of root.querySelectorAll('details')) one.open = true; }"""


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Callable[..., Page]:
    """Opens the mailed file of a bench, as a file."""

    def opened(bench: Bench, hash: str = "") -> Page:
        path = tmp_path / "bench.html"
        path.write_text(bench.html(), encoding="utf-8")
        page.goto(path.as_uri() + hash)
        page.locator(".vp-host[data-ready]").wait_for(state="attached")
        return page

    return opened


def both() -> Bench:
    preset = PRESETS["both"]
    return Bench(preset.scenario, pinned=preset.pinned)


@pytest.mark.parametrize("page", LOOKS, indirect=True)
def test_axe_finds_nothing(show: Callable[..., Page], request: pytest.FixtureRequest, shot: Any) -> None:
    page = show(both())
    assert axe(page) == []
    page.evaluate(OPEN)
    page.wait_for_timeout(700)
    assert axe(page) == []
    shot(page, f"bench-{request.node.callspec.params['page']}")


def test_what_is_picked_is_seen_where_the_colours_are_the_reader_s_own(show: Callable[..., Page]) -> None:
    page = show(both())
    page.emulate_media(forced_colors="active")
    page.evaluate("() => document.querySelector('.vp-host').player.go(7)")
    ground = "(one) => getComputedStyle(one).backgroundColor"
    for picked, other in (
        (".either label:has(:checked)", ".either label:not(:has(:checked))"),
        ('[data-key="pin"]', '[data-key="link"]'),
        (".steps [aria-current]", ".steps button:not([aria-current])"),
    ):
        assert page.locator(picked).first.evaluate(ground) != page.locator(other).first.evaluate(ground)


def test_a_link_of_the_comparison_shows_that_it_has_the_focus(show: Callable[..., Page]) -> None:
    page = show(both())
    page.locator(".range").focus()
    page.keyboard.press("Tab")
    expect(key(page, "swap")).to_be_focused()
    assert key(page, "swap").evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"


def test_leader_and_order_can_be_picked_without_python(show: Callable[..., Page]) -> None:
    page = show(Bench())
    key(page, "leader:B").check()
    key(page, "order:C").focus()
    page.keyboard.press("ArrowRight")
    expect(key(page, "order:C")).to_be_focused()
    expect(page.locator("text.chapter").first).to_have_text("Bounce B to 2.1.0")
    expect(page.locator(".stage")).to_contain_text("B#1 leads")
    expect(key(page, "members+")).to_be_disabled()


def test_a_run_is_pinned_and_compared_without_python(show: Callable[..., Page]) -> None:
    page = show(Bench(PRESETS["kafka-8649"].scenario))
    key(page, "pin").click()
    expect(page.locator(".verdict")).to_contain_text("Both runs are the same.")
    key(page, "leader:C").check()
    expect(page.locator(".verdict")).to_contain_text("They part at step 4")
    expect(page.locator(".verdict")).to_contain_text(
        "6 rebalances, nobody died, v4 at the end. Pinned 4 rebalances, 2 died"
    )
    key(page, "swap").click()
    expect(page.locator(".verdict")).to_contain_text("Here 4 rebalances, 2 died")
    page.locator(".verdict .link").last.click()
    expect(page.locator(".kicker")).to_contain_text("Step 4 of 24")


def test_a_link_opens_what_the_page_holds_at_its_step(show: Callable[..., Page]) -> None:
    page = show(Bench(), link(Scenario(old="2.0.0", new="2.1.0", leader="B", order=("A", "B", "C")), 5))
    expect(page.locator(".kicker")).to_contain_text("Step 5 of")
    expect(key(page, "leader:B")).to_be_checked()
    page.evaluate("(hash) => { location.hash = hash; }", link(Bench().scenario, 2))
    expect(page.locator(".kicker")).to_contain_text("Step 2 of 36")


@pytest.mark.parametrize(
    ("hash", "told"),
    [
        (link(Scenario(members=5)), "opens another run, which this page does not hold"),
        (link(Scenario(members=5))[:17], "cut short or was changed on the way"),
        (f"#run={HOSTILE}", "cut short or was changed on the way"),
        ("#run=__proto__", "cut short or was changed on the way"),
    ],
)
def test_a_link_to_anything_else_is_refused_with_a_sentence(show: Callable[..., Page], hash: str, told: str) -> None:
    page = show(Bench(), hash)
    expect(page.locator(".told")).to_contain_text(told)
    expect(page.locator(".kicker")).to_contain_text("Step 0 of 36")


def test_a_link_to_a_comparison_opens_both_runs(show: Callable[..., Page]) -> None:
    other = Scenario(old="2.0.0", new="2.1.0", leader="B", order=("A", "B", "C"))
    page = show(Bench(), link(other, 5, Bench().scenario))
    expect(key(page, "leader:B")).to_be_checked()
    expect(page.locator(".verdict")).to_contain_text("leader B here, A pinned")
    page.evaluate("(hash) => { location.hash = hash; }", link(other, 5))
    expect(page.locator(".verdict")).to_have_count(0)


def test_runs_of_more_and_fewer_members_part_where_the_same_members_do(show: Callable[..., Page]) -> None:
    few, many = (Scenario(old="2.0.0", new="2.3.1", members=count) for count in (2, 4))
    page = show(Bench(few, pinned=many))
    here, pinned = re.findall(r"(?:here|pinned) “([^”]+)”", page.locator(".verdict").inner_text())
    assert here != pinned
    tall = page.locator(".scroller .spacetime").last.bounding_box()
    line = page.locator(".scroller .spacetime").last.locator(".split").bounding_box()
    assert tall and line and line["height"] >= tall["height"] - 2


def test_a_jar_s_long_name_covers_nothing(show: Callable[..., Page]) -> None:
    jars = [teaching(f"{n}" * 60, latest=n, leader_rule="mirror", member_rule="mirror") for n in (10, 11)]
    page = show(Bench(Scenario(old=jars[0], new=jars[1])))
    key(page, "ladder").click()
    (one, other) = (box for box in (label.bounding_box() for label in page.locator("text.jar").all()) if box)
    assert one["x"] + one["width"] <= other["x"]
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_the_link_that_is_copied_opens_where_it_was_copied(show: Callable[..., Page]) -> None:
    page = show(both())
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("() => document.querySelector('.vp-host').player.go(9)")
    key(page, "link").click()
    expect(key(page, "link")).to_have_text("Copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.endswith(link(PRESETS["both"].scenario, 9, PRESETS["both"].pinned))
    page.goto("about:blank")
    page.goto(copied)
    expect(page.locator(".kicker")).to_contain_text("Step 9 of 24")
    key(page, "export").click()
    key(page, "python").click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('simulate(Scenario(')")


def test_the_trace_is_kept_without_python(show: Callable[..., Page], tmp_path: Path) -> None:
    page = show(both())
    key(page, "export").click()
    with page.expect_download() as download:
        key(page, "export:json").click()
    download.value.save_as(tmp_path / "trace.json")
    kept = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert kept["schema"] == 1 and len(kept["frames"]) == 24 and "layouts" not in kept
    expect(key(page, "export:gif")).to_be_disabled()


def test_without_the_right_to_copy_the_text_is_shown(show: Callable[..., Page]) -> None:
    page = show(Bench())
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    key(page, "link").click()
    expect(page.locator(".copy")).to_have_value(re.compile("#run="))
    expect(page.locator(".copy")).to_be_focused()


def test_a_hostile_name_is_text_everywhere(page: Page, tmp_path: Path) -> None:
    jars = [teaching(f"{HOSTILE}{n}", latest=n, leader_rule="mirror", member_rule="mirror") for n in (10, 11)]
    bench = Bench(Scenario(old=jars[0], new=jars[1]))
    data = json.loads(json.dumps(bench.data).replace('"A"', json.dumps(HOSTILE)).replace("A#1", "<b>#1"))
    data["pinned"] = {**bench._plain(), "bench": data["bench"]}
    text = json.dumps(data).replace("<", "\\u003c")
    host = f'<div class="vp-host" data-kind="bench"><script type="application/json">{text}</script></div>'
    (tmp_path / "page.html").write_text(f"<!doctype html><title>safe</title>{host}{bench._script()}", encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    page.locator(".vp-host[data-ready]").wait_for(state="attached")
    page.evaluate(
        """() => { const { player, shadowRoot } = document.querySelector('.vp-host');
          for (let i = 0; i < player.length; i++) player.go(i);
          for (const one of shadowRoot.querySelectorAll('details')) one.open = true; }"""
    )
    inside = "(tag) => document.querySelector('.vp-host').shadowRoot.querySelectorAll(tag).length"
    assert page.evaluate(inside, "img") == 0 and page.title() == "safe"
    assert page.evaluate(inside, "script,b b") == 0


def test_paper_gets_a_film_strip(show: Callable[..., Page], tmp_path: Path) -> None:
    page = show(both())
    page.evaluate("() => { document.querySelector('.vp-host').player.go(3); dispatchEvent(new Event('beforeprint')); }")
    page.set_viewport_size({"width": 718, "height": 900})  # A4 between its margins
    page.emulate_media(media="print")
    strips = page.locator(".film .timeline")
    assert strips.count() >= 2
    ends = strips.locator(".scroller").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().right)")
    assert max(ends) <= 718, "no lane is cut at the edge of the paper"
    expect(page.locator(".note")).to_contain_text("How it ended")
    boxes = [page.locator(one).bounding_box() for one in (".sentence", ".verdict", ".film")]
    tops = [(box["y"], box["y"] + box["height"]) for box in boxes if box]
    assert all(above[1] <= below[0] + 1 for above, below in itertools.pairwise(tops)), "nothing lies on another"
    cards = page.locator("figure")
    assert cards.count() >= 6 and cards.first.is_visible()
    expect(cards.first).to_contain_text("0. The group is stable.")
    expect(page.locator(".head")).to_be_hidden()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert cards.count() == 0
    expect(page.locator(".kicker")).to_contain_text("Step 3 of 24")
    assert len(page.pdf()) > 10_000


COLOURS = """(names) => {
  const style = getComputedStyle(document.querySelector('.vp-host').shadowRoot.querySelector('.player'));
  const probe = document.body.appendChild(document.createElement('i'));
  const rgb = (name) => {
    probe.style.color = style.getPropertyValue(name);
    return getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
  };
  return Object.fromEntries(names.map((name) => [name, rgb(name)]));
}"""
APART = {
    ("--old", "--new"): (40, 0),
    ("--old-fill", "--new-fill"): (40, 25),
    ("--old-fill", "--third-fill"): (8, 0),
    ("--probe", "--old"): (12, 0),
}
"""How far two colours must be apart (CIE76) with each colour blindness, and in grey.

In grey the new jar's ring is heavier, a third one's is dashed, and so is what probes.
"""


@pytest.mark.parametrize("page", ["light-1280", "dark-1280"], indirect=True)
def test_no_two_jars_look_alike_to_anybody(show: Callable[..., Page]) -> None:
    page = show(both())
    found = page.evaluate(COLOURS, sorted({name for pair in APART for name in pair}))
    for sight, matrix in SIGHTS.items():
        seen = {
            name: lab(tuple(sum(a * b for a, b in zip(row, linear(rgb), strict=True)) for row in matrix))
            for name, rgb in found.items()
        }
        for (one, other), (least, in_grey) in APART.items():
            apart = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
            assert apart >= (in_grey if sight == "grey" else least), (sight, one, other, apart)
    page.evaluate("() => document.querySelector('.vp-host').player.go(7)")
    rings = """(one) => parseFloat(getComputedStyle(
      document.querySelector('.vp-host').shadowRoot.querySelector(one)).strokeWidth)"""
    for what in (".token{} .ring", ".ribbon{}"):
        old, new = (page.evaluate(rings, what.format(jar)) for jar in (".jar-old", ".jar-new"))
        assert new > 1.5 * old, "the new jar is the heavier ring, where there is no colour"


SIGHTS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    "grey": ((0.2126, 0.7152, 0.0722),) * 3,
}
"""What is left of linear red, green and blue. Source: Machado, Oliveira and Fernandes 2009, severity 1."""


def linear(rgb: list[float]) -> list[float]:
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in rgb[:3])]


def lab(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    """CIE L*a*b* of linear sRGB, white D65."""
    r, g, b = (max(0.0, part) for part in rgb)
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)
