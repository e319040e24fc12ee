"""Execute the chapters and write them so that doing it again gives the same bytes; `--check` only compares.

What a chapter must say is held by nbval; here it is about the file: fresh outputs, and nothing that chance made.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CHAPTERS = Path(__file__).resolve().parent.parent / "notebooks"
WIDGETS = "application/vnd.jupyter.widget-state+json"
ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]{6,}\b")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def execute(path: Path) -> str:
    """The text of the notebook after a run from top to bottom in a fresh kernel."""
    named = with_ids(json.loads(path.read_text(encoding="utf-8")), path.stem[:2])
    notebook = nbformat.reads(json.dumps(named), as_version=4)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=True,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"})
    return normalize(notebook)


def with_ids(notebook: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The notebook with an id on every cell: a new cell is named after its chapter and place, not by chance."""
    taken = {cell.get("id") for cell in notebook["cells"]}
    free = (name for n in itertools.count(1) if (name := f"{prefix}-{n:02d}") not in taken)
    cells = [cell if "id" in cell else {**cell, "id": next(free)} for cell in notebook["cells"]]
    return {**notebook, "cells": cells, "nbformat": 4, "nbformat_minor": 5}


def normalize(notebook: nbformat.NotebookNode) -> str:
    """The notebook as text, without what differs from run to run or from machine to machine.

    Widget ids become 1, 2, 3 … in the order in which the widgets were made, addresses become `0x0`,
    and of the metadata only what a reader's Jupyter needs is kept.
    """
    widgets = notebook.metadata.get("widgets", {})
    made = widgets.get(WIDGETS, {}).get("state", {})
    number = {old: f"{n:032x}" for n, old in enumerate(made, start=1)}
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    if made:
        notebook.metadata["widgets"] = widgets
    for cell in notebook.cells:
        for name in ("execution", "trusted", "collapsed", "ExecuteTime"):
            cell.metadata.pop(name, None)
    text = nbformat.writes(notebook)
    text = ID.sub(lambda match: number.get(match[0], match[0]), text)
    text = ADDRESS.sub("0x0", text)
    return json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def difference(old: str, new: str) -> str:
    """The first line where the file and a fresh run part, each shortened for a terminal."""
    pairs = zip([*old.splitlines(), "<end>"], [*new.splitlines(), "<end>"], strict=False)
    for number, (was, now) in enumerate(pairs, start=1):
        if was != now:
            at = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
            window = slice(max(0, at - 40), at + 60)
            return f"line {number}: the file has …{was[window]}…, a fresh run …{now[window]}…"
    return "the ends of lines"


def main(argv: list[str] | None = None) -> int:
    """Go through the chapters; 1 where one fails or, with `--check`, differs."""
    parser = argparse.ArgumentParser(description="Execute the chapters and write them.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file would change")
    parser.add_argument("notebook", nargs="*", type=Path, help="all in notebooks/ by default")
    asked = parser.parse_args(argv)
    chapters = asked.notebook or sorted(CHAPTERS.glob("*.ipynb"))
    if not chapters:
        print("There is no chapter in notebooks/.", file=sys.stderr)
        return 1
    wrong = 0
    for path in chapters:
        try:
            fresh = execute(path)
        except CellExecutionError as error:
            wrong += 1
            print(f"{path.name}: a cell fails.\n{error}")
            continue
        before = path.read_text(encoding="utf-8")
        if fresh == before:
            print(f"{path.name}: the same {len(fresh.encode())} bytes.")
        elif asked.check:
            wrong += 1
            print(f"{path.name}: other bytes than the file holds: {difference(before, fresh)}")
        else:
            path.write_text(fresh, encoding="utf-8", newline="\n")
            print(f"{path.name}: written, {len(fresh.encode())} bytes.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
