"""The player beside d3-graphviz 5, on the same runs in the same browser; the figures are printed, most bounds are wide.

What is compared is the work of the page's main thread for a step, the size of the bundle, and, of the player
alone, late frames and the time from a key to the picture. d3-graphviz comes from npm, at the versions of the lock here.
"""

from __future__ import annotations

import gzip
import json
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import protocol.bench
import protocol.player
from protocol.bench import Bench
from protocol.diagrams import dot
from protocol.machine import MEMBER
from protocol.player import Player
from protocol.scenario import Scenario, member_names, simulate
from protocol.trace import Trace, View

HERE = Path(__file__).parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SIZES = (3, 6, 12)
STEPS = 8
"""Steps that are measured, from the fifth on: rejoining, assigning, being told to step down."""

pytestmark = [
    pytest.mark.needs("npm", "node"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH (Debian: apt install chromium)"),
]

ENTRY = """
import * as d3 from "d3";
import { graphviz } from "d3-graphviz";
let shown;
window.ready = new Promise((done) => {
  shown = graphviz("#graph", { useWorker: false }).on("initEnd", () => done(true));
});
window.draw = (source, tween) => new Promise((done) => {
  shown.on("end", () => done(true));
  if (tween) shown.transition(() => d3.transition().duration(620));
  shown.renderDot(source);
});
"""


def run(members: int) -> Trace:
    order = tuple(reversed(member_names(members)))
    return simulate(Scenario(old="2.0.0", new="2.1.0", members=members, leader="A", order=order))


def sources(trace: Trace) -> list[str]:
    """The members' diagram once for each view, with a node for each member under the state that it is in."""
    plain = dot(MEMBER, tokens=len(trace.first.members)).removesuffix("}\n")

    def one(view: View) -> str:
        nodes = (
            f'"t-{m.name}" [id="t-{m.name}" label="{m.name}" shape=circle width=0.3 height=0.3 style=solid]\n'
            f'"{m.state}" -> "t-{m.name}" [style=invis constraint=false]\n'
            for m in view.members
        )
        return plain + "".join(nodes) + "}\n"

    return [one(trace.first), *(one(step.after) for step in trace)]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(esbuild, d3-graphviz as one minified file), installed for this test and thrown away after it."""
    folder = tmp_path_factory.mktemp("npm")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    (folder / "entry.js").write_text(ENTRY.replace('"d3"', '"d3-transition"'), encoding="utf-8")
    esbuild = folder / "node_modules" / ".bin" / "esbuild"
    made = folder / "d3.js"
    options = ["--bundle", "--minify", "--format=iife", f"--outfile={made}", "--log-level=error"]
    subprocess.run([esbuild, "entry.js", *options], cwd=folder, check=True)
    return esbuild, made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


def minified(esbuild: Path, text: str) -> bytes:
    command = [esbuild, "--minify", "--format=esm"]
    return subprocess.run(command, input=text.encode(), check=True, capture_output=True).stdout


def work(page: Page, script: str, steps: list[Any]) -> float:
    """Milliseconds of the main thread for a step; the step's motion, of 620 ms, is in it."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        return next(
            one["value"] for one in session.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration"
        )

    before = spent()
    for step in steps:
        page.evaluate(script, step)
        page.wait_for_timeout(750)
    return (spent() - before) / len(steps) * 1000


def opened(page: Page, trace: Trace, folder: Path) -> None:
    path = folder / "run.html"
    path.write_text(Player(trace).html(), encoding="utf-8")
    page.goto(path.as_uri())
    page.locator(".vp-host[data-ready]").wait_for(state="attached")


@pytest.mark.parametrize("members", SIZES)
def test_a_step_costs_a_small_part_of_what_laying_out_anew_costs(
    members: int, page: Page, bundle: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = run(members)
    first, rest = 4, list(range(5, 5 + STEPS))
    opened(page, trace, tmp_path)
    go = "(i) => document.querySelector('.vp-host').player.go(i)"
    page.evaluate(go, first)
    page.wait_for_timeout(800)
    ours = work(page, go, rest)

    drawn = sources(trace)
    (tmp_path / "d3.html").write_text(
        "<!doctype html><div id=graph></div><script src=d3.js></script>", encoding="utf-8"
    )
    shutil.copy(bundle[1], tmp_path / "d3.js")
    page.goto((tmp_path / "d3.html").as_uri())
    page.evaluate("() => window.ready")
    page.evaluate("(source) => draw(source, false)", drawn[first])
    cut = work(page, "(source) => draw(source, false)", [drawn[i] for i in rest])
    tween = work(page, "(source) => draw(source, true)", [drawn[i] for i in rest])
    with capsys.disabled():
        print(
            f"\nCPU a step, {members} members: player {ours:.0f} ms, d3-graphviz {tween:.0f} ms"
            f" ({cut:.0f} ms without a transition): {tween / ours:.1f} times less"
        )
    assert tween > 4 * ours


def test_the_bundle_is_small(bundle: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    esbuild, theirs = bundle
    sizes = {}
    for name, text in (("player", protocol.player.module()), ("player and bench", protocol.bench.module())):
        small = minified(esbuild, text)
        sizes[name] = (len(text), len(gzip.compress(text.encode(), 9)), len(small), len(gzip.compress(small, 9)))
    d3 = (theirs.stat().st_size, len(gzip.compress(theirs.read_bytes(), 9)))
    with capsys.disabled():
        for name, (whole, packed, small, both) in sizes.items():
            print(f"\n{name}: {whole} bytes as shipped, {packed} gzipped; minified {small}, {both} gzipped", end="")
        print(f"\nd3-graphviz: minified {d3[0]}, {d3[1]} gzipped")
    assert sizes["player"][3] < 15 * 1024 and sizes["player and bench"][3] < 22_500
    assert d3[1] > 20 * sizes["player and bench"][3]


def test_files_and_saved_state_stay_small(capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for members in SIZES:
        player, bench = Player(run(members)), Bench(Scenario(old="2.0.0", new="2.1.0", members=members))
        state = len(json.dumps(player.data, separators=(",", ":")))
        rows.append((members, len(player.html()), len(bench.html()), state))
    with capsys.disabled():
        for members, player_file, bench_file, state in rows:
            print(
                f"\n{members} members: mailed player {player_file}, bench {bench_file}, saved run {state} bytes", end=""
            )
        print()
    assert rows[1][1] < 120_000 and rows[1][2] < 120_000


def test_twelve_members_play_smoothly_and_answer_a_key_at_once(
    page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page has no kernel to wait for: a busy one changes nothing. Bounds are wide, for a machine that is busy."""
    opened(page, run(12), tmp_path)
    page.evaluate(
        """() => { window.gaps = []; let last = performance.now();
          const tick = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(tick); };
          requestAnimationFrame(tick);
          document.querySelector('.vp-host').player.play(true); }"""
    )
    page.wait_for_timeout(8000)
    gaps = page.evaluate("() => { document.querySelector('.vp-host').player.play(false); return gaps.slice(5); }")
    late = sum(gap > 25 for gap in gaps) / len(gaps)
    page.locator(".player").click(position={"x": 5, "y": 5})
    page.evaluate(
        """() => { window.painted = []; addEventListener('keydown', (event) => { const began = event.timeStamp;
          requestAnimationFrame(() => setTimeout(() => painted.push(performance.now() - began))); }, true); }"""
    )
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(700)
    painted = page.evaluate("() => painted")
    with capsys.disabled():
        print(
            f"\n12 members: {late:.1%} of {len(gaps)} frames late at 1x; a key is painted after"
            f" {statistics.median(painted):.0f} ms (median), {max(painted):.0f} ms (most)"
        )
    assert late < 0.3 and min(painted) < 100
