"""The floor plan: who may import whom, what lives in one room only, and what `import protocol` costs."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "protocol"

STOREYS = (
    # 0: words
    ("versions", "errors"),
    ("messages",),
    ("trace",),
    # 1: tables and bytes
    ("machine", "strategies", "wire"),
    ("releases",),
    # 2: who takes part; they do not know one another
    ("member", "leader", "coordinator", "explorer"),
    # 3 and 4: the mechanics, the picks, all runs of an upgrade at once
    ("group",),
    ("scenario",),
    ("upgrade",),
    # 5: what is made of a trace
    ("diagrams", "charts", "frames", "planner", "logbook", "paste", "glossary"),
    # 6: what is looked at
    ("film",),
    ("player",),
    ("bench", "hexview"),
    ("runbook",),
    # 7: the face and the command line
    ("commands",),
    ("__init__", "__main__"),
)
"""The rooms from the ground up: each imports from the rows above it here, never from its own row."""

FLOOR = {room: floor for floor, rooms in enumerate(STOREYS) for room in rooms}
SIMULATION = FLOOR["upgrade"]
OPTIONAL = {"diagrams", "film", "player", "bench", "hexview", "runbook"}
"""The rooms that may need more than the standard library."""

WALLS = {"strategies": {"versions", "errors"}, "explorer": {"errors"}}
"""Rooms that know less than their floor allows: arithmetic, the generic search."""

ONLY_IN = {
    "struct": {"wire"},
    "graphviz": {"diagrams"},
    "pygraphviz": {"diagrams"},
    "anywidget": {"player", "hexview"},  # each is a widget of its own; neither is a kind of the other
    "ipywidgets": {"bench"},
    "traitlets": {"player", "bench", "hexview", "runbook"},  # of the runbook one trait: the plan above its bench
    "PIL": {"film"},
    "resvg_py": {"film"},
    "csv": {"releases"},
    "argparse": {"__main__", "commands"},
}
OUTSIDE = {"os", "io", "socket", "subprocess", "shutil", "tempfile", "pathlib", "urllib", "http", "asyncio", "logging"}
"""Modules that reach the world: no room of the simulation has them, but for the one that reads its own table."""
READS = {"releases": {"os", "open"}}
CLOCKS = {"time", "secrets"}
CHANCE = {"uuid1", "uuid4", "urandom", "now", "today", "utcnow", "getrandbits", "SystemRandom"}

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "misc"}


def files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    """The room of a file: a module, or the package that it is inside of."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms() -> list[str]:
    return sorted({room_of(path) for path in files()})


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, in full."""
    package = ["protocol", *path.relative_to(PACKAGE).parts[:-1]]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            if module == "protocol":
                yield from (f"protocol.{alias.name}" for alias in node.names)
            else:
                yield module


def imported_rooms(path: Path) -> Iterator[str]:
    for module in imports(path):
        top, _, rest = module.partition(".")
        if top == "protocol":
            yield rest.partition(".")[0] or "__init__"


def imported_foreign(path: Path) -> set[str]:
    return {module.partition(".")[0] for module in imports(path)} - {"protocol", "__future__"}


def every_file() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", files(), ids=name)


@every_file()
def test_a_file_stands_on_the_floor_plan(path: Path) -> None:
    assert room_of(path) in FLOOR, f"{name(path)} has no floor: add its room to STOREYS, where it belongs"


@every_file()
def test_a_room_imports_only_from_lower_floors(path: Path) -> None:
    room = room_of(path)
    for other in set(imported_rooms(path)) - {room}:
        assert other in FLOOR, f"{name(path)} imports {other!r} from the package's face; import it from its room"
        assert FLOOR[other] < FLOOR[room], f"{name(path)} imports {other}, which is not on a lower floor"


@pytest.mark.parametrize("path", [path for path in files() if room_of(path) in WALLS], ids=name)
def test_a_room_behind_a_wall_knows_less_than_its_floor_allows(path: Path) -> None:
    assert set(imported_rooms(path)) - {room_of(path)} <= WALLS[room_of(path)]


@every_file()
def test_what_lives_in_one_room_is_imported_nowhere_else(path: Path) -> None:
    for module in imported_foreign(path) & set(ONLY_IN):
        assert room_of(path) in ONLY_IN[module], f"{name(path)} imports {module}"


@pytest.mark.parametrize("path", [path for path in files() if room_of(path) not in OPTIONAL], ids=name)
def test_only_the_pictures_need_more_than_the_standard_library(path: Path) -> None:
    assert imported_foreign(path) <= sys.stdlib_module_names


@pytest.mark.parametrize("path", [path for path in files() if FLOOR.get(room_of(path), 0) <= SIMULATION], ids=name)
def test_the_simulation_has_no_clock_no_chance_without_a_seed_and_no_world_outside(path: Path) -> None:
    foreign = imported_foreign(path)
    assert not foreign & CLOCKS
    assert not foreign & OUTSIDE - READS.get(room_of(path), set())
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        where = f"{name(path)}:{node.lineno}"
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = (
            node.func.value.id if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) else ""
        )
        assert called not in CHANCE, f"{where} calls {called}"
        speaks = {"open", "print", "input"} - READS.get(room_of(path), set())
        assert called not in speaks or owner, f"{where} calls {called}"
        if owner == "random" or called == "Random":
            assert called == "Random" and (node.args or node.keywords), f"{where} draws without a seed"


@every_file()
def test_a_module_says_what_lives_here_and_then_what_does_not(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert text, f"{name(path)} has no docstring"
    first, _, rest = text.partition("\n")
    assert first.endswith("."), f"the first line of {name(path)} is not a sentence of its own"
    if room_of(path) == path.stem != "__main__":
        assert rest.strip(), f"{name(path)} does not say what lives elsewhere"


def test_no_module_is_called_by_a_word_that_means_nothing() -> None:
    assert not {part for path in files() for part in path.relative_to(PACKAGE).with_suffix("").parts} & FORBIDDEN_NAMES


@pytest.mark.parametrize("room", [room for room in rooms() if not room.startswith("__")])
def test_every_room_has_its_test_file(room: str) -> None:
    assert (ROOT / "tests" / f"test_{room}.py").exists()


def run_bare(code: str) -> str:
    """What a Python prints that sees the repository and the standard library, and no installed package."""
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_importing_the_package_takes_nothing_but_the_standard_library() -> None:
    loaded = run_bare("old = set(sys.modules); import protocol; print(*(set(sys.modules) - old))").split()
    assert {module.partition(".")[0] for module in loaded} - {"protocol"} <= sys.stdlib_module_names


@pytest.mark.parametrize("room", [room for room in rooms() if room not in OPTIONAL])
def test_a_room_opens_without_any_installed_package(room: str) -> None:
    run_bare("import protocol" if room == "__init__" else f"import protocol.{room}")


def test_importing_the_package_is_instant(capsys: pytest.CaptureFixture[str]) -> None:
    """The goal is 50 ms beyond the interpreter; the bound is wide, for a machine that is busy."""

    def seconds(code: str) -> float:
        began = time.perf_counter()
        run_bare(code)
        return time.perf_counter() - began

    run_bare("import protocol")  # the compiled files are there from here on
    runs = [(seconds("pass"), seconds("import protocol")) for _ in range(7)]
    cost = statistics.median(full for _, full in runs) - statistics.median(bare for bare, _ in runs)
    with capsys.disabled():
        print(f"\nimport protocol: {cost * 1000:.0f} ms beyond the interpreter")
    assert cost < 0.25


def test_the_floors_here_hold_every_room_once() -> None:
    listed = [room for storey in STOREYS for room in storey]
    assert len(listed) == len(set(listed))


def test_the_readme_draws_the_same_floors() -> None:
    """The map in the README names every room that exists."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [room for room in rooms() if not re.search(rf"\b{re.escape(room)}\b", text)]
    assert not missing
