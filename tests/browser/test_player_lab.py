"""The player in a real JupyterLab: it plays by itself, tells the kernel where it rests, and keeps its keys."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, expect

SOURCES = (
    "from protocol.player import Player\nfrom protocol.scenario import Scenario, simulate",
    "player = Player(simulate(Scenario(old='2.0.0', new='2.1.0', leader='A', order='C,B,A')))\nplayer",
    "import time; time.sleep(3); print('the reader is at', player.index)",
)


def notebook() -> str:
    cells = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
        for n, source in enumerate(SOURCES)
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def test_it_steps_while_the_kernel_is_busy_and_leaves_the_cells_alone(lab: Any, page: Page, shot: Any) -> None:
    (lab.folder / "play.ipynb").write_text(notebook(), encoding="utf-8")
    panel = lab.open(page, "play.ipynb")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
    )
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.locator(".vp-host[data-ready]").first.wait_for(state="attached")
    page.locator(".player").first.click(position={"x": 6, "y": 6})
    for key in ("ArrowRight", "a", "ArrowRight", "d", "d", "x", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(".kicker")).to_have_text("Step 3 of 36")
    expect(panel.locator(".jp-OutputArea-output").filter(has_text="the reader is at")).to_be_visible()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]:visible").wait_for()
    assert panel.locator(".jp-CodeCell").count() == len(SOURCES)
    shot(page, "player-lab")
