"""What holds for every test: skipped by name on a desk, never in CI; and the cells of a chapter in their order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run_pytest(folder: Path, *arguments: str, ci: str = "") -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = needs(*programs): programs\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", *arguments]
    variables = {**os.environ, "CI": ci}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)


@pytest.mark.parametrize(("ci", "status", "closing"), [("", 0, "1 skipped"), ("true", 1, "1 error")])
def test_what_is_missing_is_named_and_in_ci_it_is_a_failure(tmp_path: Path, ci: str, status: int, closing: str) -> None:
    test = "import pytest\n@pytest.mark.needs('no-such-program')\ndef test_it(): pass\n"
    (tmp_path / "test_one.py").write_text(test, encoding="utf-8")
    ended = run_pytest(tmp_path, "-p", "no:nbval", ci=ci)
    assert ended.returncode == status
    assert "no-such-program is not on the PATH" in ended.stdout
    assert closing in ended.stdout


def test_the_cells_of_a_chapter_run_in_order_whatever_shuffles_the_tests(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
        for n, source in enumerate(["n = 0", *[f"assert n == {n}\nn += 1" for n in range(8)]])
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    for name in ("one", "two"):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(whole), encoding="utf-8")
    ended = run_pytest(tmp_path, "--nbval", "--nbval-current-env", "-p", "randomly", "-p", "no:xdist")
    assert ended.returncode == 0, ended.stdout
    assert "18 passed" in ended.stdout
