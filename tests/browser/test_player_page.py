"""The player on a page of its own, in a real browser: served, opened as a file, light, dark, small, and still."""

from __future__ import annotations

import gzip
import json
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from protocol.film import animated
from protocol.player import Player, module
from protocol.scenario import Scenario, simulate
from protocol.trace import Trace

sys.path.append(str(Path(__file__).resolve().parent.parent))
from sample_trace import crash, probing

HOSTILE = "<img src=x onerror=document.title='owned'>"
CONTRAST = """([text, ground]) => {
  const probe = document.createElement('div'); document.body.append(probe);
  const light = (colour) => {
    probe.style.color = colour;
    const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(document.querySelector('.vp-host').shadowRoot.querySelector('.player'));
  const [a, b] = [text, ground].map((name) => light(style.getPropertyValue(name)));
  probe.remove();
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Callable[..., Page]:
    """Opens the mailed file of a run, as a file."""

    def opened(trace: Trace, *, step: int | None = None) -> Page:
        path = tmp_path / "run.html"
        path.write_text(Player(trace).html(), encoding="utf-8")
        page.goto(path.as_uri() + ("" if step is None else f"#step={step}"))
        ready(page)
        return page

    return opened


def ready(page: Page) -> None:
    page.locator(".vp-host[data-ready]").wait_for(state="attached")


def said(page: Page) -> str:
    return page.locator("h2.title").inner_text()


def where(page: Page, name: str) -> tuple[float, float]:
    """Where a member's token stands, once it stands still."""
    point: list[float] = page.evaluate(
        """(name) => {
          const tokens = [...document.querySelector('.vp-host').shadowRoot.querySelectorAll('.token')];
          const token = tokens.find((one) => one.querySelector('title').textContent === name);
          return token.style.transform.match(/-?[\\d.]+/g).map(Number);
        }""",
        name,
    )
    return point[0], point[1]


def moving(page: Page) -> int:
    count: int = page.evaluate(
        "() => document.querySelector('.vp-host').shadowRoot.getAnimations()"
        ".filter((one) => !(one instanceof CSSTransition)).length"
    )
    return count


def test_it_opens_at_the_step_that_python_named_and_an_address_goes_before_it(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text(Player(probing(), index=7).html(), encoding="utf-8")
    for end, step in (("", 7), ("#step=3", 3)):
        page.goto("about:blank")
        page.goto(path.as_uri() + end)
        ready(page)
        expect(page.locator(".kicker")).to_contain_text(f"Step {step} of")


def test_it_opens_at_the_start_and_stands_still(show: Callable[..., Page]) -> None:
    page = show(probing())
    assert said(page) == "The group is stable" and moving(page) == 0
    page.wait_for_timeout(1500)
    assert page.evaluate("() => document.querySelector('.vp-host').player.index") == 0


def test_a_step_moves_the_token_and_a_step_back_moves_it_back(show: Callable[..., Page]) -> None:
    page = show(probing())
    stable, title = where(page, "C"), said(page)
    page.get_by_role("button", name="Step on").click()
    assert said(page) == "C stops"
    stopped = where(page, "C")
    assert stopped[0] < stable[0] - 300 and moving(page) == 1
    expect(page.locator(".edge.on text")).to_have_text("stop")
    page.get_by_role("button", name="Step back").click()
    assert moving(page) == 1, "the edge plays backwards"
    assert (where(page, "C"), said(page)) == (stable, title)


def test_all_the_way_and_back_is_the_same_page_again(show: Callable[..., Page]) -> None:
    page = show(crash())
    texts = "() => { const p = document.querySelector('.vp-host').player; return p.length; }"
    length = page.evaluate(texts)
    walk = """(order) => order.map((i) => { const host = document.querySelector('.vp-host');
      host.player.go(i, { animate: false });
      const root = host.shadowRoot.querySelector('.player').cloneNode(true);
      for (const part of root.querySelectorAll('style,defs,input')) part.remove();
      return root.querySelector('.board').innerHTML + root.querySelector('.side').textContent; })"""
    forth = page.evaluate(walk, list(range(length)))
    back = page.evaluate(walk, list(range(length - 1, -1, -1)))
    assert forth[:-1] == back[::-1][:-1]


def test_the_keys_step_jump_play_and_explain_themselves(show: Callable[..., Page]) -> None:
    page = show(probing())
    at = "() => document.querySelector('.vp-host').player.index"
    page.locator(".player").click(position={"x": 5, "y": 5})
    keys = [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("PageDown", 14), ("PageDown", 26), ("PageUp", 14)]
    for key, index in [*keys, ("PageUp", 1), ("End", 26), ("Home", 0)]:
        page.keyboard.press(key)
        assert page.evaluate(at) == index, key
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Space")
    page.wait_for_function(f"({at})() === 1")
    page.keyboard.press("Space")
    page.wait_for_timeout(1500)
    assert page.evaluate(at) == 1


def test_no_key_leaves_the_player(show: Callable[..., Page]) -> None:
    page = show(probing())
    page.evaluate("() => { window.heard = []; addEventListener('keydown', (event) => heard.push(event.key)); }")
    page.locator(".player").click(position={"x": 5, "y": 5})
    for key in ("a", "d", "x", "ArrowRight", "Space"):
        page.keyboard.press(key)
    assert page.evaluate("() => heard") == []
    expect(page.locator(".vp-host")).to_have_attribute("data-lm-suppress-shortcuts", "true")


def test_the_space_time_diagram_is_the_scrubber(show: Callable[..., Page]) -> None:
    page = show(probing())
    box = page.locator(".spacetime").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.mouse.down()
    middle = page.evaluate("() => document.querySelector('.vp-host').player.index")
    page.mouse.move(box["x"] + box["width"] * 0.99, box["y"] + 60)
    page.mouse.up()
    assert 12 <= middle <= 14
    assert page.evaluate("() => document.querySelector('.vp-host').player.index") == 26
    expect(page.get_by_role("slider", name="Step")).to_have_attribute(
        "aria-valuetext", re.compile(r"^Step 26: Generation 5 is stable$")
    )


def test_it_plays_to_the_end_and_stops_and_the_voice_is_quiet_meanwhile(show: Callable[..., Page]) -> None:
    page = show(crash(), step=11)
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".live")).to_have_attribute("aria-live", "off")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".kicker")).to_contain_text("Step 14 of 14")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page.locator(".live")).to_have_attribute("aria-live", "polite")


@pytest.mark.parametrize("page", ["light-1280-still"], indirect=True)
def test_less_motion_means_none(show: Callable[..., Page]) -> None:
    page = show(probing())
    page.get_by_role("button", name="Step on").click()
    assert said(page) == "C stops" and moving(page) == 0


def test_an_address_opens_at_its_step_and_follows_the_reader(show: Callable[..., Page]) -> None:
    page = show(probing(), step=8)
    assert said(page) == "C is told to speak v3"
    page.get_by_role("button", name="Step on").click()
    page.wait_for_function("() => location.hash === '#step=9'")


@pytest.mark.parametrize("step", ["-3", "999", "1e99", "x"])
def test_an_address_that_makes_no_sense_opens_somewhere(page: Page, tmp_path: Path, step: str) -> None:
    path = tmp_path / "run.html"
    path.write_text(Player(crash()).html(), encoding="utf-8")
    page.goto(f"{path.as_uri()}#step={step}")
    ready(page)
    assert said(page)


def test_poison_is_seen_before_it_kills_and_the_death_names_its_cause(show: Callable[..., Page]) -> None:
    page = show(crash(), step=8)
    assert page.locator(".token.poisoned").count() == 2
    expect(page.locator(".note")).to_contain_text("A, B poisoned in generation 2")
    page.evaluate("() => document.querySelector('.vp-host').player.go(11)")
    assert page.locator(".token.poisoned").count() == 0 and page.locator(".token.in-CRASHED").count() == 2
    expect(page.locator(".note")).to_contain_text("The cause is generation 2.")
    expect(page.locator(".counts .bad")).to_contain_text("2")


def test_a_step_shows_its_messages_its_bytes_its_log_and_its_source(show: Callable[..., Page]) -> None:
    page = show(probing(), step=8)
    details = page.get_by_role("group", name="Details of this step")
    expect(details).to_contain_text("syncing → probing, speaks v4 → v3")
    expect(details).to_contain_text("version 3 · supported 3 · probing")
    expect(details).to_contain_text("Downgrading subscription metadata to received version")
    details.locator("summary").last.click()
    expect(details.locator("tbody tr").nth(1)).to_have_text(re.compile("^4 ?00000003 ?commonly_supported_version ?3$"))
    link = details.get_by_role("link", name="2.0.0 StreamsPartitionAssignor#onAssignment")
    expect(link).to_have_attribute("href", re.compile("^https://github.com/apache/kafka/blob/2.0.0/streams/"))


def test_a_leader_sends_its_assignments_as_one_message(show: Callable[..., Page]) -> None:
    page = show(simulate(Scenario(old="2.0.0", new="2.1.0", members=4, leader="A", order="D,C,B,A")), step=6)
    expect(page.get_by_role("group", name="Details of this step")).to_contain_text("A → ◆ SyncGroup")
    assert page.locator(".labels text").all_text_contents() == ["assigns v3/3"]
    assert page.locator(".now .message").count() == 1


@pytest.mark.parametrize("page", ["light-1280-still"], indirect=True)
@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(old="2.0.0", new="2.1.0", leader="A", order="A,B,C", succession="newest"),
        Scenario(old="2.4.0", new="3.9.0", members=12),
        Scenario(old=["2.0.0", "2.1.0", "2.0.0"], new="2.4.0", threads=2),
    ],
    ids=["kafka-8649", "twelve", "three-releases"],
)
def test_every_step_of_a_simulated_run_can_be_shown(show: Callable[..., Page], scenario: Scenario) -> None:
    run = simulate(scenario)
    page = show(run)
    titles = page.evaluate(
        """() => { const host = document.querySelector('.vp-host'); const said = [];
        for (let i = 0; i < host.player.length; i += 1) {
          host.player.go(i); said.push(host.shadowRoot.querySelector('h2').textContent);
        } return said; }"""
    )
    assert titles[1:] == [step.title for step in run]
    expect(page.locator(".note")).to_contain_text(run.outcome.text)


def test_a_step_is_chosen_from_the_list(show: Callable[..., Page]) -> None:
    page = show(probing())
    page.get_by_role("group", name="Contents").get_by_role("button", name="C#1 expires").click()
    assert said(page) == "C#1 expires"
    assert page.locator(".steps button[aria-current=step]").count() == 1


def test_a_hostile_name_is_text_wherever_it_stands(page: Page, tmp_path: Path) -> None:
    data: Any = json.loads(json.dumps(dict(Player(probing()).data)).replace('"B"', json.dumps(HOSTILE)))
    data["meta"]["title"] = data["frames"][0]["title"] = data["reasons"][0] = HOSTILE
    data["sources"] = [[source, f"javascript:{HOSTILE}"] for source, _ in data["sources"]]
    path = tmp_path / "hostile.html"
    path.write_text(Player(data).html(), encoding="utf-8")
    page.goto(path.as_uri())
    ready(page)
    expect(page).not_to_have_title("owned")
    expect(page.locator(".name")).to_have_text(HOSTILE)
    expect(page.locator(".lanes")).to_contain_text(HOSTILE)
    for _ in range(26):
        page.keyboard.press("ArrowRight") if _ else page.get_by_role("button", name="Step on").click()
        assert page.locator(".player img, .player script, .facts a").count() == 0
    expect(page).not_to_have_title("owned")


@pytest.mark.parametrize("page", ["light-420", "dark-420", "light-900", "dark-1400", "light-1280"], indirect=True)
def test_it_fits_and_is_readable(show: Callable[..., Page], request: pytest.FixtureRequest, shot: Any) -> None:
    look = request.node.callspec.params["page"]
    page = show(crash(), step=9)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    theme = look.split("-")[0]
    expect(page.locator(".player")).to_have_attribute("data-theme", theme)
    for text, ground in [
        ("--ink", "--page"), ("--muted", "--page"), ("--muted", "--panel"), ("--probe", "--probe-fill"),
        ("--probe", "--panel"), ("--bad", "--bad-fill"), ("--bad", "--panel"), ("--old-text", "--old-fill"),
        ("--new-text", "--new-fill"), ("--third-text", "--third-fill"),
    ]:  # fmt: skip
        assert page.evaluate(CONTRAST, [text, ground]) >= 4.5, (text, ground)
    for mark in ("--old", "--new", "--third", "--edge", "--strong", "--probe", "--bad"):
        assert page.evaluate(CONTRAST, [mark, "--page"]) >= 3, mark
    shot(page, f"player-{look}")


@pytest.mark.parametrize("page", ["dark-1280"], indirect=True)
def test_the_theme_is_the_one_that_is_painted_behind(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "light.html"
    path.write_text(f"<body style='background:#fff'>{Player(crash()).fragment()}", encoding="utf-8")
    page.goto(path.as_uri())
    ready(page)
    expect(page.locator(".player")).to_have_attribute("data-theme", "light")
    page.evaluate("() => { document.body.style.background = '#111'; }")
    expect(page.locator(".player")).to_have_attribute("data-theme", "dark")


def test_two_players_share_a_page_and_the_module_can_be_imported(
    page: Page, tmp_path: Path, serve: Callable[[Path], str]
) -> None:
    (tmp_path / "player.js").write_text(module(), encoding="utf-8")
    data = json.dumps(dict(Player(probing()).data)).replace("<", "\\u003c")
    (tmp_path / "page.html").write_text(
        f"""<!doctype html><link rel=icon href=data:,>{Player(crash()).fragment()}{Player(probing()).fragment()}
        <div id=own></div><script type=module>
        import {{ mount }} from './player.js';
        const own = document.getElementById('own');
        const onstep = (i) => {{ document.title = `at ${{i}}`; }};
        own.player = mount(own, {data}, {{ start: 3, onstep }});</script>""",
        encoding="utf-8",
    )
    page.goto(f"{serve(tmp_path)}/page.html")
    page.wait_for_function("() => document.querySelectorAll('.vp-host[data-ready]').length === 3")
    page.evaluate("() => document.getElementById('own').player.step(1)")
    expect(page).to_have_title("at 4")
    assert page.evaluate("() => [...document.querySelectorAll('.vp-host')].map((host) => host.player.index)") == [
        0,
        0,
        4,
    ]
    page.evaluate("() => document.getElementById('own').player.destroy()")
    expect(page.locator("#own .player")).to_have_count(0)


def test_a_crown_stands_on_the_leader_and_goes_with_leadership(show: Callable[..., Page]) -> None:
    page = show(crash())
    crowned = """() => [...document.querySelector('.vp-host').shadowRoot.querySelectorAll('.token.leader title')]
      .map((title) => title.textContent)"""
    assert page.evaluate(crowned) == ["C"]
    page.evaluate("() => document.querySelector('.vp-host').player.go(9)")
    assert page.evaluate(crowned) == ["A"]
    page.evaluate("() => document.querySelector('.vp-host').player.go(11)")
    expect(page.locator(".ghosts")).to_contain_text("A#1 B#1")


@pytest.mark.parametrize("change", [("{", "["), ('"frames":', '"frame":'), ('"state":"CRASHED"', '"state":"NOWHERE"')])
def test_a_file_that_somebody_changed_says_so(
    page: Page, tmp_path: Path, problems: list[str], change: tuple[str, str]
) -> None:
    whole = Player(crash()).html()
    packed = whole.partition('<script type="application/gzip">')[2].partition("<")[0]
    plain = gzip.decompress(b64decode(packed)).decode().replace(*change)
    (tmp_path / "run.html").write_text(
        whole.replace(packed, b64encode(gzip.compress(plain.encode())).decode()), "utf-8"
    )
    page.goto((tmp_path / "run.html").as_uri())
    if "NOWHERE" in change[1]:
        ready(page)
        page.get_by_role("button", name="Last step").click()
        problems.clear()
    expect(page.get_by_role("alert")).to_contain_text("cut short or changed")
    expect(page.locator(".vp-host")).to_have_count(0)


def test_the_film_plays_inside_an_image(page: Page, tmp_path: Path, shot: Any) -> None:
    (tmp_path / "film.svg").write_text(animated(crash()), encoding="utf-8")
    (tmp_path / "page.html").write_text("<img src=film.svg width=960>", encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("() => document.images[0].naturalWidth") > 900
    first = page.locator("img").screenshot()
    page.wait_for_timeout(2200)
    assert page.locator("img").screenshot() != first
    shot(page, "film")
