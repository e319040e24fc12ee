"""The chapters' files: what a run leaves in them, and what chance may not."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

SOURCE = Path(__file__).resolve().parent.parent / "book" / "execute.py"
WIDGETS = "application/vnd.jupyter.widget-state+json"


@pytest.fixture(scope="module")
def execute() -> ModuleType:
    spec = importlib.util.spec_from_file_location("execute", SOURCE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notebook(*sources: str, **metadata: Any) -> dict[str, Any]:
    cells = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
        for n, source in enumerate(sources)
    ]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def test_two_runs_of_a_chapter_with_widgets_give_the_same_bytes(execute: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "01-widgets.ipynb"
    source = "import ipywidgets as w\na = w.IntText()\nw.HBox([a, w.IntSlider(7)])"
    path.write_text(json.dumps(notebook(source, "print(object())\nobject()")), encoding="utf-8")
    first = execute.execute(path)
    assert execute.execute(path) == first
    path.write_text(first, encoding="utf-8")
    assert execute.execute(path) == first
    assert execute.main(["--check", str(path)]) == 0
    state = json.loads(first)["metadata"]["widgets"][WIDGETS]["state"]
    assert list(state) == [f"{n:032x}" for n in range(1, len(state) + 1)]


def test_a_file_that_a_fresh_run_would_change_is_named_and_not_written(
    execute: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "01-stale.ipynb"
    path.write_text(json.dumps(notebook("6 * 7")), encoding="utf-8")
    before = path.read_bytes()
    assert execute.main(["--check", str(path)]) == 1
    assert path.read_bytes() == before
    assert "01-stale.ipynb: other bytes" in capsys.readouterr().out
    assert execute.main([str(path)]) == 0
    assert execute.main(["--check", str(path)]) == 0


def test_a_chapter_with_a_failing_cell_is_not_written(execute: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "01-broken.ipynb"
    path.write_text(json.dumps(notebook("1 / 0")), encoding="utf-8")
    before = path.read_bytes()
    assert execute.main([str(path)]) == 1
    assert path.read_bytes() == before


def test_what_a_reader_s_machine_adds_to_the_metadata_is_left_out(execute: ModuleType) -> None:
    raw = notebook(
        "1", language_info={"name": "python", "version": "3.11.7"}, kernelspec={"name": "mine"}, theme="dark"
    )
    raw["cells"][0]["metadata"] = {"execution": {"iopub.status.busy": "…"}, "trusted": True, "tags": ["hide-input"]}
    whole = json.loads(execute.normalize(nbformat.from_dict(raw)))
    assert whole["metadata"] == {"kernelspec": execute.KERNEL, "language_info": {"name": "python"}}
    assert whole["cells"][0]["metadata"] == {"tags": ["hide-input"]}


def test_a_new_cell_is_named_after_its_chapter_and_place(execute: ModuleType) -> None:
    raw = notebook("1", "2", "3")
    raw["cells"][0]["id"] = "04-01"
    del raw["cells"][1]["id"], raw["cells"][2]["id"]
    assert [cell["id"] for cell in execute.with_ids(raw, "04")["cells"]] == ["04-01", "04-02", "04-03"]


def test_an_id_that_no_widget_has_is_left_alone(execute: ModuleType) -> None:
    text = "a" * 32
    assert text in execute.normalize(nbformat.from_dict(notebook(f"'{text}'")))


def test_no_chapter_is_an_error(execute: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "CHAPTERS", tmp_path)
    assert execute.main(["--check"]) == 1
