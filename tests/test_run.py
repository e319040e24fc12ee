"""The door, `run.py`: what it makes, when it makes it again, and how it says that it cannot."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = ("run.py", "pyproject.toml", *(path.name for path in ROOT.glob("requirements*")))


@pytest.fixture
def run(tmp_path: Path) -> ModuleType:
    """The script of a clone that has no environment yet."""
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    spec = importlib.util.spec_from_file_location("run", tmp_path / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def commands(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the script would have run; every command ends well and leaves what it should."""
    ran: list[str] = []

    def logged(command: list[str]) -> bool:
        text = " ".join(command)
        ran.append(text)
        if "-m venv" in text:
            (run.VENV / "bin").mkdir(parents=True)
            run.PYTHON.touch()
        if "requirements-uv.txt" in text:
            (run.VENV / "bin" / "uv").touch()
        return True

    monkeypatch.setattr(run, "logged", logged)
    return ran


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that something listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        yield s.getsockname()[1]


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on standard error: one line, and no traceback."""
    said = capsys.readouterr().err
    assert said.startswith("run.py: ") and said.count("\n") == 1
    return said


# What it is written in


def test_an_old_python_can_read_it_and_it_needs_nothing_installed() -> None:
    tree = ast.parse((ROOT / "run.py").read_text(encoding="utf-8"), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


# How it says that it cannot


def test_a_python_that_is_too_old_is_told_so(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "OLDEST", (9, 99))
    assert run.main(["test"]) == 2
    assert "Python 9.99 or newer is needed" in sentence(capsys)
    assert not run.VENV.exists()


def test_a_port_in_use_is_said_before_anything_is_made(
    run: ModuleType, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["lab", "--port", str(taken)]) == 2
    said = sentence(capsys)
    assert f"port {taken} is in use" in said and "--port" in said
    assert not run.VENV.exists()


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_what_is_no_port_is_refused(run: ModuleType, port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run.main(["lab", "--port", port])
    assert stop.value.code == 2
    assert f"{port} is not a port" in capsys.readouterr().err


def test_a_missing_python3_venv_is_named(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "has_module", lambda name: name != "ensurepip")
    assert run.main(["test"]) == 2
    assert "apt install python3-venv" in sentence(capsys)
    assert not run.VENV.exists()


def test_no_network_is_said_and_the_next_run_begins_anew(run: ModuleType, tmp_path: Path) -> None:
    variables = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "UV_OFFLINE": "1", "UV_NO_CACHE": "1"}
    command = [sys.executable, "run.py", "test"]
    ended = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "is there a network" in ended.stderr and ended.stderr.count("\n") == 1
    assert run.remembered()["busy"]


def test_a_check_that_does_not_exist_is_refused_with_those_that_do(
    run: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["test", "everything"]) == 2
    assert "no check is called everything" in sentence(capsys)


def test_what_a_command_said_last_is_the_reason(run: ModuleType) -> None:
    run.VENV.mkdir()
    run.LOG.write_text("much\nERROR: No space left on device\n\n", encoding="utf-8")
    assert "No space left on device" in run.why("the packages could not be installed")
    run.LOG.write_text("Temporary failure in name resolution\nERROR: No matching distribution", encoding="utf-8")
    assert "is there a network" in run.why("uv could not be fetched")


# What it makes, and when


def test_a_fresh_clone_gets_a_venv_then_uv_then_the_lock_then_the_project(run: ModuleType, commands: list[str]) -> None:
    run.make_environment("book")
    venv, uv, packages, project = commands
    assert "-m venv" in venv
    assert "-m pip install" in uv and "requirements-uv.txt --require-hashes" in uv
    assert "uv pip install" in packages and "-r requirements.txt --require-hashes" in packages
    assert "--no-deps --no-build-isolation --editable ." in project


def test_the_second_start_makes_nothing_and_takes_no_time(
    run: ModuleType, commands: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run.make_environment("book")
    commands.clear()
    started: list[list[str]] = []
    monkeypatch.setattr(run.os, "execve", lambda path, command, variables: started.append(command))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "must_be_free", lambda port: None)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "01-first.ipynb").touch()
    began = time.perf_counter()
    run.main(["lab", "--no-browser", "--port", "8899", "--", "--debug"])
    assert time.perf_counter() - began < 1
    assert commands == []
    (command,) = started
    assert "--LabApp.default_url=/lab/tree/01-first.ipynb" in command and "--ServerApp.port=8899" in command
    assert "--no-browser" in command and command[-1] == "--debug"


def test_the_tests_add_their_packages_to_the_textbook_s(run: ModuleType, commands: list[str]) -> None:
    run.make_environment("book")
    commands.clear()
    run.make_environment("dev")
    assert [command for command in commands if "-r requirements-dev.txt" in command]
    assert not [command for command in commands if "-m venv" in command]
    commands.clear()
    run.make_environment("book")
    run.make_environment("site")
    assert commands == []


def test_a_changed_lock_is_installed_and_a_changed_pyproject_only_the_project(
    run: ModuleType, commands: list[str], tmp_path: Path
) -> None:
    run.make_environment("book")
    for name, expected in (("requirements.txt", 2), ("pyproject.toml", 1)):
        commands.clear()
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write("\n# changed\n")
        run.make_environment("book")
        assert len(commands) == expected
        assert "--editable" in commands[-1]


def test_another_python_gets_an_environment_of_its_own(
    run: ModuleType, commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run.make_environment("book")
    (run.VENV / "old").touch()
    monkeypatch.setattr(run.sys, "base_prefix", "/elsewhere")
    run.make_environment("book")
    assert not (run.VENV / "old").exists()


@pytest.mark.parametrize("at", ["-m venv", "requirements-uv.txt", "-r requirements.txt", "--editable"])
def test_a_set_up_that_was_interrupted_is_made_anew(
    run: ModuleType, commands: list[str], monkeypatch: pytest.MonkeyPatch, at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    works = run.logged

    def interrupted(command: list[str]) -> bool:
        if at in " ".join(command):
            raise KeyboardInterrupt
        return bool(works(command))

    monkeypatch.setattr(run, "logged", interrupted)
    monkeypatch.setattr(run, "must_be_free", lambda port: None)
    assert run.main(["lab"]) == 130
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(run, "logged", works)
    commands.clear()
    run.make_environment("book")
    assert "-m venv" in commands[0] and len(commands) == 4
    assert run.finished(run.remembered(), "book")


def test_where_uv_is_not_to_be_had_pip_does_it(
    run: ModuleType, commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    works = run.logged

    def no_uv(command: list[str]) -> bool:
        run.LOG.write_text("ERROR: No matching distribution found for uv", encoding="utf-8")
        return "requirements-uv.txt" not in command and bool(works(command))

    monkeypatch.setattr(run, "logged", no_uv)
    run.make_environment("book")
    assert "-m pip install" in commands[1] and "--no-deps -r requirements.txt --require-hashes" in commands[1]
    assert run.finished(run.remembered(), "book")


def test_a_venv_that_a_person_made_is_added_to_and_never_removed(run: ModuleType, commands: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(run.VENV)], check=True)
    (run.VENV / "theirs").touch()
    run.make_environment("book")
    assert (run.VENV / "theirs").exists()
    assert not [command for command in commands if "-m venv" in command]
    run.remember({**run.remembered(), "busy": True})
    commands.clear()
    run.make_environment("book")
    assert (run.VENV / "theirs").exists()
    assert [command for command in commands if "-r requirements.txt" in command and "--force-reinstall" in command]


def test_a_venv_that_a_person_made_without_pip_is_refused(
    run: ModuleType, commands: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(run.VENV)], check=True)
    assert run.main(["test"]) == 2
    assert "move it away" in sentence(capsys)
    assert run.PYTHON.exists()


def test_the_locks_are_written_without_an_address(run: ModuleType, commands: list[str]) -> None:
    assert run.main(["lock"]) == 0
    compiled = [command for command in commands if "pip compile" in command]
    assert len(compiled) == len(run.LOCKS) == 5
    for command in compiled:
        assert "--generate-hashes" in command and "--no-emit-index-url" in command
        assert "--universal" in command or "--python-platform wasm32" in command


# How it tests


def say_and_end(text: str, status: int) -> list[str]:
    return ["-c", f"print({text!r}); raise SystemExit({status})"]


def checks(*rows: tuple[str, list[str]]) -> tuple[tuple[str, str, list[str]], ...]:
    return tuple((name, "a check", command) for name, command in rows)


@pytest.fixture
def tester(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with an environment at hand: this one."""
    monkeypatch.setattr(run, "make_environment", lambda level: None)
    monkeypatch.setattr(run, "PYTHON", sys.executable)
    return run


def last_line(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out.rstrip().rpartition("\n")[2]


def test_all_checks_run_and_the_closing_line_counts_them(
    tester: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "test_three.py").write_text("def test_a(): pass\ndef test_b(): pass\ndef test_c(): assert 0\n")
    rows: list[tuple[str, list[str]]] = [
        ("one", say_and_end("fine", 0)),
        ("two", say_and_end("not fine", 1)),
        ("three", [*tester.PLAIN, "-p", "no:cacheprovider", str(tmp_path / "test_three.py")]),
    ]
    monkeypatch.setattr(tester, "CHECKS", checks(*rows))
    assert tester.main(["test"]) == 1
    said = capfd.readouterr().out
    assert "Not in order: two, three." in said
    closing = said.rstrip().rpartition("\n")[2]
    assert closing.startswith("===== 2 failed, 3 passed in ") and closing.endswith("s =====")


def test_one_check_may_be_picked(
    tester: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tester, "CHECKS", checks(("one", say_and_end("", 0)), ("two", say_and_end("", 1))))
    assert tester.main(["test", "one"]) == 0
    assert last_line(capfd).startswith("===== 1 passed in ")


def test_what_follows_two_dashes_goes_to_pytest_and_no_match_there_is_no_failure(
    tester: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "test_one.py").write_text("def test_wanted(): pass\ndef test_other(): assert 0\n")
    (tmp_path / "test_two.py").write_text("def test_more(): assert 0\n")
    pytest_of = [[*tester.PLAIN, "-p", "no:cacheprovider", str(tmp_path / f"test_{n}.py")] for n in ("one", "two")]
    rows: list[tuple[str, list[str]]] = [("ruff", say_and_end("", 1)), ("one", pytest_of[0]), ("two", pytest_of[1])]
    monkeypatch.setattr(tester, "CHECKS", checks(*rows))
    assert tester.main(["test", "--", "-k", "wanted"]) == 0
    assert last_line(capfd).startswith("===== 1 passed in ")


def waits(own: Path, other: Path) -> list[str]:
    """A check that ends well only if another one runs at the same time."""
    code = f"import pathlib, time; pathlib.Path({str(own)!r}).touch()\nfor _ in range(600):\n"
    return [
        "-c",
        f"{code}    if pathlib.Path({str(other)!r}).exists(): break\n    time.sleep(.05)\nelse: raise SystemExit(1)",
    ]


def test_two_checks_run_at_a_time_and_are_shown_in_order(
    tester: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    a, b = tmp_path / "a", tmp_path / "b"
    rows = (("one", waits(a, b)), ("two", say_and_end("in the middle", 0)), ("three", waits(b, a)))
    monkeypatch.setattr(tester, "CHECKS", checks(*rows))
    assert tester.main(["test"]) == 0
    said = capfd.readouterr().out
    assert said.index("── one") < said.index("── two") < said.index("in the middle") < said.index("── three")


def test_what_measures_runs_alone_and_last(
    tester: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (name,) = tester.ALONE
    assert tester.CHECKS[-1][0] == name
    mark = tmp_path / "mark"
    slow = f"import pathlib, time; time.sleep(.5); pathlib.Path({str(mark)!r}).touch()"
    after = f"import pathlib; raise SystemExit(not pathlib.Path({str(mark)!r}).exists())"
    monkeypatch.setattr(tester, "CHECKS", checks(("slow", ["-c", slow]), (name, ["-c", after])))
    assert tester.main(["test"]) == 0


def test_an_interruption_ends_what_is_at_work(tester: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work = []

    def interrupted(run: Any) -> None:
        while run.process is None:
            time.sleep(0.01)
        at_work.append(run.process)
        run.process.send_signal(signal.SIGINT)  # as a terminal does
        raise KeyboardInterrupt

    monkeypatch.setattr(tester.Run, "show", interrupted)
    monkeypatch.setattr(tester, "CHECKS", checks(("long", ["-c", "import time; time.sleep(60)"])))
    assert tester.main(["test"]) == 130
    assert at_work[0].poll() is not None


def test_a_run_of_no_test_is_no_success(
    tester: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = ("one", [*tester.PLAIN, "-p", "no:cacheprovider", str(tmp_path)])
    monkeypatch.setattr(tester, "CHECKS", checks(rows))
    assert tester.main(["test"]) == 1
    assert last_line(capfd).startswith("===== 1 failed in ")


def test_every_file_of_tests_is_in_one_check(run: ModuleType) -> None:
    pytest_checks = {name: arguments for name, _, arguments in run.CHECKS if arguments[:2] == run.PYTEST}
    named = [word for arguments in pytest_checks.values() for word in arguments if word.startswith("tests")]
    assert sorted(set(named) - {"tests"}) == sorted(run.APART)
    ignored = [word.removeprefix("--ignore=") for word in pytest_checks["unit"] if word.startswith("--ignore=")]
    assert sorted(ignored) == sorted(run.APART)
