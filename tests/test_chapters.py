"""The chapters as text: their shape, their cells and their prose; what the cells say is held by nbval."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
CHAPTERS = sorted(FOLDER.glob("*.ipynb"))
LESSONS = [path for path in CHAPTERS if 2 <= int(path.stem[:2]) <= 13]
"""The numbered chapters that follow the first one, which has a shape of its own."""

FEW, MOST = 6, 12
"""Lines of code: what nine cells of ten keep to, and what none goes beyond."""

WIDGET = "application/vnd.jupyter.widget-view+json"
MACHINE = re.compile(r"(?:^|[\s\"'(])/(?:home|root|tmp|work|Users)/")

each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@cache
def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


def prose(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in cells(path) if cell["cell_type"] == "markdown"]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def tree(cell: dict[str, Any]) -> list[ast.stmt]:
    return ast.parse(source(cell)).body


def nodes(path: Path) -> list[tuple[str, ast.AST]]:
    return [(cell["id"], node) for cell in code(path) for node in ast.walk(ast.parse(source(cell)))]


def lines_of_code(cell: dict[str, Any]) -> int:
    return sum(1 for line in source(cell).splitlines() if line.strip() and not line.strip().startswith("#"))


def headings(path: Path) -> list[str]:
    return [line for cell in prose(path) for line in source(cell).splitlines() if line.startswith("#")]


# ---------------------------------------------------------------- the whole


def test_the_chapters_are_numbered_without_gaps():
    numbers = [int(path.stem[:2]) for path in CHAPTERS]
    assert len(set(numbers)) == len(numbers)
    assert [number for number in numbers if 1 <= number < 90] == list(range(1, 14))


@each_chapter
def test_a_chapter_begins_with_its_only_title(path):
    titles = [line for line in headings(path) if line.startswith("# ")]
    assert len(titles) == 1 and source(cells(path)[0]).startswith(titles[0])
    if 1 <= int(path.stem[:2]) < 90:
        assert titles[0].startswith(f"# {int(path.stem[:2])}. ")


@each_chapter
def test_every_cell_has_an_id_of_its_own(path):
    ids = [cell["id"] for cell in cells(path)]
    assert len(set(ids)) == len(ids)


@each_chapter
def test_a_chapter_is_short_and_its_file_is_small(path):
    assert len(code(path)) <= 25 and len(cells(path)) <= 45
    assert path.stat().st_size < 900_000
    widgets = [cell["id"] for cell in code(path) for out in cell["outputs"] if WIDGET in out.get("data", {})]
    assert len(widgets) <= 3, widgets


@each_chapter
def test_a_link_to_another_chapter_has_a_chapter_at_its_end(path):
    links = {link for cell in prose(path) for link in re.findall(r"\]\(([^)#:]+\.ipynb)", source(cell))}
    assert links <= {one.name for one in CHAPTERS}


@each_chapter
def test_no_cell_tells_of_a_machine(path):
    for cell in cells(path):
        assert not MACHINE.search(source(cell)), cell["id"]
        for out in cell.get("outputs", ()):
            told = "".join(out.get("text", ())) + "".join(out.get("data", {}).get("text/plain", ()))
            assert not MACHINE.search(told), cell["id"]


# ---------------------------------------------------------------- what a lesson has


@each_lesson
def test_a_lesson_predicts_asks_and_closes(path):
    found = headings(path)
    for heading in ("## Predict", "## Quiz", "## Exercises", "## What to keep"):
        assert heading in found, heading
    assert found.index("## Predict") < found.index("## Quiz") < found.index("## Exercises")
    assert found[-1] == "## What to keep"


@each_lesson
def test_a_lesson_has_two_exercises_with_folded_hints_and_tested_solutions(path):
    text = next(source(cell) for cell in prose(path) if "## Exercises" in source(cell))
    assert re.findall(r"\*\*Exercise (\d)\.\*\*", text) == ["1", "2"]
    assert "<summary>Hints</summary>" in text and "<summary>Solutions</summary>" in text
    place = [cell["id"] for cell in cells(path)].index(
        next(cell["id"] for cell in prose(path) if "## Exercises" in source(cell))
    )
    for cell in cells(path)[place + 1 : place + 3]:
        assert {"solution", "hide-input"} <= set(cell["metadata"].get("tags", ())), cell["id"]


@each_lesson
def test_the_answers_of_a_quiz_are_folded_and_asked_of_the_simulator(path):
    place = next(i for i, cell in enumerate(cells(path)) if source(cell).startswith("## Quiz"))
    assert "<summary>Answers</summary>" in source(cells(path)[place])
    assert "quiz" in cells(path)[place]["metadata"]["tags"]
    assert "solution" in cells(path)[place + 1]["metadata"]["tags"]


@each_chapter
def test_a_solution_ends_in_an_assert(path):
    for cell in code(path):
        if "solution" in cell["metadata"].get("tags", ()):
            assert isinstance(tree(cell)[-1], ast.Assert), cell["id"]


@each_chapter
def test_what_is_folded_is_closed_again(path):
    for cell in prose(path):
        assert source(cell).count("<details>") == source(cell).count("</details>"), cell["id"]


# ---------------------------------------------------------------- code


@each_chapter
def test_the_first_code_cell_has_all_imports_and_nothing_else(path):
    first, *others = code(path)
    assert all(isinstance(one, ast.Import | ast.ImportFrom) for one in tree(first))
    for cell in others:
        assert not any(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.walk(ast.parse(source(cell))))


@each_chapter
def test_a_chapter_imports_by_name_and_uses_what_it_imports(path):
    names = {alias.asname or alias.name for one in tree(code(path)[0]) for alias in one.names}  # type: ignore[attr-defined]
    assert "*" not in names
    used = {node.id for _, node in nodes(path) if isinstance(node, ast.Name)}
    assert names <= used, names - used


@each_chapter
def test_a_chapter_defines_nothing_and_installs_nothing(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert [place for place, node in nodes(path) if isinstance(node, kinds)] == []
    for cell in code(path):
        assert not re.search(r"^\s*[%!]|\bsys\.path\b|\bpip\b", source(cell), flags=re.MULTILINE), cell["id"]


@each_chapter
def test_nine_cells_of_ten_have_six_lines_and_none_has_more_than_twelve(path):
    sizes = {cell["id"]: lines_of_code(cell) for cell in code(path)}
    assert max(sizes.values()) <= MOST
    long = [place for place, size in sizes.items() if size > FEW]
    assert len(long) * 10 <= max(len(sizes), 10), long


@each_chapter
def test_a_line_of_code_fits_a_readers_column(path):
    wide = [(cell["id"], line) for cell in code(path)[1:] for line in source(cell).splitlines() if len(line) > 100]
    assert wide == []


@each_chapter
def test_a_cell_ends_in_a_value_a_picture_or_an_assert(path):
    for cell in code(path)[1:]:
        last = tree(cell)[-1]
        assert isinstance(last, ast.Expr | ast.Assert), cell["id"]
        if isinstance(last, ast.Expr):
            assert not (isinstance(last.value, ast.Call) and ast.unparse(last.value.func) == "print"), cell["id"]
            assert any(out["output_type"] == "execute_result" for out in cell["outputs"]), cell["id"]


@each_chapter
def test_every_cell_has_run_and_none_has_failed(path):
    assert [cell["execution_count"] for cell in code(path)] == list(range(1, len(code(path)) + 1))
    for cell in code(path):
        assert {out["output_type"] for out in cell["outputs"]} <= {"execute_result", "stream"}, cell["id"]
        assert not any(out.get("name") == "stderr" for out in cell["outputs"]), cell["id"]


# ---------------------------------------------------------------- prose


def sentences_in_one_line(text: str) -> list[str]:
    """Lines of plain prose that hold more than one sentence; lists, tables and headings may."""
    found = []
    for line in text.splitlines():
        if re.match(r"\s*(?:[*\-|#<>]\s|\d+\. |\||<|#)", line):
            continue
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
        if re.search(r"[.!?][*_)]* +[A-Z*_\[(]", plain):
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("text", "too_many"),
    [
        ("One sentence.", 0),
        ("One. Two.", 1),
        ("Is it *so?* Yes.", 1),
        ("Since 2.3.1 it is.", 0),
        ("* A list. May hold two.", 0),
        ("See [a page. It is long](https://example.org/A. B).", 1),
    ],
)
def test_the_counter_of_sentences_counts(text, too_many):
    assert len(sentences_in_one_line(text)) == too_many


@each_chapter
def test_prose_has_one_sentence_a_line(path):
    for cell in prose(path):
        assert sentences_in_one_line(source(cell)) == [], cell["id"]


@each_chapter
def test_prose_says_plain_things(path):
    loud = re.compile(
        r"\b(?:very|simply|obviously|basically|amazing|powerful|seamless(?:ly)?|easy|easily)\b", re.IGNORECASE
    )
    for cell in prose(path):
        assert not loud.search(source(cell)), (cell["id"], loud.search(source(cell)))
