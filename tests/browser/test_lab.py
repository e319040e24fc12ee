"""JupyterLab opens and runs a notebook with widgets in a real browser, and nothing complains."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

SOURCES = (
    "import ipywidgets as w\nslider = w.IntSlider(7, description='tasks')\nslider",
    "import pathlib, anywidget, traitlets\n"
    "class Count(anywidget.AnyWidget):\n"
    '    _esm = \'export default { render({ model, el }) { const b = document.createElement("button");'
    ' b.textContent = "pressed " + model.get("n"); b.onclick = () => { model.set("n", model.get("n") + 1);'
    ' model.save_changes(); b.textContent = "pressed " + model.get("n"); }; el.append(b); } }\'\n'
    "    n = traitlets.Int(0).tag(sync=True)\n"
    "Count()",
)


def notebook() -> str:
    cells = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
        for n, source in enumerate(SOURCES)
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize("page", ["light-1280", "dark-1280"], indirect=True)
def test_a_notebook_runs_and_its_widgets_answer(lab, page: Page, shot, request: pytest.FixtureRequest) -> None:
    (lab.folder / "toy.ipynb").write_text(notebook(), encoding="utf-8")
    lab.open(page, "toy.ipynb")
    lab.run_all(page)
    page.get_by_role("button", name="pressed 0").click()
    expect(page.get_by_role("button", name="pressed 1")).to_be_visible()
    expect(page.locator(".widget-slider .widget-readout")).to_have_text("7")
    dark = "dark" in request.node.callspec.id
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false" if dark else "true")
    shot(page, "lab-dark" if dark else "lab-light")


def test_an_error_on_the_page_is_noticed(page: Page, problems: list[str]) -> None:
    page.goto("data:text/html,<script>console.error('no'); throw new Error('thrown')</script>")
    page.wait_for_timeout(100)
    assert any("no" in problem for problem in problems) and any("thrown" in problem for problem in problems)
    problems.clear()


def test_a_request_to_another_machine_is_noticed_and_goes_nowhere(page: Page, problems: list[str]) -> None:
    page.goto("data:text/html,<img src='http://other.example/x.png' onerror='document.title=`gone`'>")
    expect(page).to_have_title("gone")
    assert any("another machine" in problem for problem in problems)
    problems.clear()


def test_a_folder_can_be_served(page: Page, serve, tmp_path) -> None:
    (tmp_path / "a.html").write_text("<title>here</title><link rel=icon href=data:,>", encoding="utf-8")
    page.goto(f"{serve(tmp_path)}/a.html")
    expect(page).to_have_title("here")
