#!/usr/bin/env python3
"""The door to the project: makes its environment in `.venv`, then opens, tests or refreshes what is here.

What the environment holds is in `pyproject.toml` and the `requirements*.txt` locks; what is tested is in `tests`.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STATE = VENV / "run.json"
LOG = VENV / "run.log"

LOCKS = {
    "requirements-uv.txt": ["requirements-uv.in"],
    "requirements.txt": ["pyproject.toml", "requirements.in", "--extra", "book"],
    "requirements-site.txt": [
        *["pyproject.toml", "requirements.in", "--extra", "book", "--extra", "site"],
        *["--constraints", "requirements.txt"],
    ],
    "requirements-dev.txt": [
        *["pyproject.toml", "requirements.in", "--extra", "book", "--extra", "site", "--extra", "export"],
        *["--extra", "dev", "--constraints", "requirements-site.txt"],
    ],
    "book/live/requirements.txt": ["book/live/requirements.in", "--excludes", "book/live/excludes.txt", "--no-build"],
}
"""Each lock with what `uv pip compile` makes it of, in the order in which one needs another."""

IN_A_BROWSER = ["--python-platform", "wasm32-pyodide2024", "--python-version", "3.14"]
"""What the lock of a live page is for: the Python that `book/browser.py` pins."""

NO_NETWORK = re.compile(
    r"name resolution|not known|dns error|NewConnectionError|Max retries|error sending request|Connection refused"
    r"|Could not connect|ProxyError|Tunnel|timed out|unreachable|offline|network connectivity",
    re.IGNORECASE,
)

OVERRIDES = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
"""JupyterLab's settings here: it neither asks about news nor looks for updates."""


class Trouble(Exception):
    """What stops a run, in one sentence."""


# The environment


def digest(*parts):
    """One short name for all of `parts`; a path stands for its bytes."""
    h = hashlib.sha256()
    for part in parts:
        h.update(part.read_bytes() if isinstance(part, Path) else repr(part).encode())
        h.update(b"\0")
    return h.hexdigest()[:16]


def wanted(level):
    """What the finished environment of `level` (`uv`, `book`, `site` or `dev`) remembers of its making."""
    keys = {"uv": digest(sys.version, sys.base_prefix, str(ROOT), ROOT / "requirements-uv.txt")}
    if level != "uv":
        keys["book"] = digest(ROOT / "requirements.txt")
        keys["project"] = digest(ROOT / "pyproject.toml")
    if level in ("site", "dev"):
        keys["site"] = digest(ROOT / "requirements-site.txt")
    if level == "dev":
        keys["dev"] = digest(ROOT / "requirements-dev.txt")
    return keys


def remembered():
    """What the environment remembers; None where `.venv` is absent or was not made here."""
    try:
        return json.loads(STATE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        return {"made": True, "busy": True}


def remember(state):
    """Write the state in one move, so that an interruption leaves the old one or the new one."""
    draft = STATE.with_suffix(".new")
    draft.write_text(json.dumps(state, sort_keys=True), encoding="utf-8")
    draft.replace(STATE)


def finished(state, level):
    """Whether the environment holds all of `level`, and no set-up of it was cut short."""
    return state is not None and not state["busy"] and wanted(level).items() <= state.items()


@contextlib.contextmanager
def alone():
    """Only one set-up at a time: a second one waits here."""
    import fcntl  # absent on Windows, where main() has stopped before

    with open(__file__, "rb") as door:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another run.py is making the environment; waiting for it.")
            fcntl.flock(door, fcntl.LOCK_EX)
        yield


def make_environment(level):
    """Make `.venv` hold `level`, or leave it as it is where it already does."""
    if finished(remembered(), level):
        return
    with alone():
        state = remembered()
        if finished(state, level):  # made while this run waited
            return
        began = time.monotonic()
        keys = wanted(level)
        state = make_venv(state, keys["uv"])
        if level != "uv":
            install(state, keys, level)
        remember({**state, **keys, "busy": False})
        say(f"The environment is ready ({time.monotonic() - began:.0f} s).")


def make_venv(state, key):
    """A `.venv` with pip and uv; one of ours that was cut short, or is of another Python, is made anew.

    One that a person made is only added to.
    """
    if state is None and VENV.exists():
        works = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
        if not PYTHON.exists() or subprocess.call([str(PYTHON), "-c", works], stderr=subprocess.DEVNULL) != 0:
            raise Trouble(".venv was not made by run.py, and its Python is too old or has no pip: move it away.")
        state = {"made": False}
    elif state is None or (state["made"] and (state["busy"] or state.get("uv") != key)):
        missing = [name for name in ("venv", "ensurepip") if not has_module(name)]
        if missing:
            raise Trouble(
                f"this Python cannot make an environment, for it has no {missing[0]}:"
                " install it (Debian and Ubuntu: apt install python3-venv) and run this again."
            )
        say("Making the environment in .venv (this once; about a minute) …")
        shutil.rmtree(str(VENV), ignore_errors=True)
        VENV.mkdir(exist_ok=True)
        state = {"made": True, "busy": True}
        remember(state)
        if not logged([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(VENV)]):
            raise Trouble(why("the virtual environment could not be made"))
    elif state["busy"]:
        state = {"made": False, "again": True}
    if state.get("uv") != key:
        remember({**state, "busy": True})
        if not pip("-r", "requirements-uv.txt", "--require-hashes", "--no-deps", "--only-binary", ":all:"):
            if NO_NETWORK.search(LOG.read_text(encoding="utf-8", errors="replace")):
                raise Trouble(why("uv could not be fetched"))
            say("uv is not to be had here; pip goes on alone (slower).")
    return state


def install(state, keys, level):
    """The locked packages of `level` and the project itself, in place."""
    again = ["--force-reinstall"] if state.pop("again", False) else []
    lock = "requirements.txt" if level == "book" else f"requirements-{level}.txt"
    if state.get(level) != keys[level]:
        say(f"Installing what {lock} names …")
        remember({**state, "busy": True})
        locked = ["-r", lock, "--require-hashes", *again]
        if not (uv("install", "--python", str(PYTHON), *locked) or pip("--no-deps", *locked)):
            raise Trouble(why("the packages could not be installed"))
        settings = VENV / "share" / "jupyter" / "lab" / "settings"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "overrides.json").write_text(json.dumps(OVERRIDES, indent=2) + "\n", encoding="utf-8")
    here = ["--no-deps", "--no-build-isolation", "--editable", "."]
    if not (uv("install", "--python", str(PYTHON), *here) or pip(*here)):
        raise Trouble(why("the project could not be installed into its environment"))


def pip(*arguments):
    """Whether pip installed what the arguments say."""
    return logged([str(PYTHON), "-m", "pip", "install", "--retries", "2", "--quiet", *arguments])


def uv(*arguments):
    """Whether the environment's uv did what the arguments say."""
    tool = VENV / "bin" / "uv"
    return tool.exists() and logged([str(tool), "pip", *arguments])


def logged(command):
    """Whether the command ended well; what it said is in the log."""
    with open(str(LOG), "w", encoding="utf-8") as log:
        quiet = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL}
        return subprocess.call(command, cwd=str(ROOT), env=environ(), **quiet) == 0


def why(failure):
    """The failure as a sentence with its likely cause."""
    said = LOG.read_text(encoding="utf-8", errors="replace") if LOG.exists() else ""
    if NO_NETWORK.search(said) or "No matching distribution" in said:
        return f"{failure}: is there a network, and does the package index answer? (The whole story: .venv/run.log)"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"{failure}: {lines[-1] if lines else 'no reason given'} (The whole story: .venv/run.log)"


def environ(**more):
    """The variables of a command in the environment: its programs first, no foreign Python path."""
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH", "PIP_USER")}
    variables["VIRTUAL_ENV"] = str(VENV)
    variables["PATH"] = str(VENV / "bin") + os.pathsep + variables.get("PATH", os.defpath)
    variables["UV_PYTHON_DOWNLOADS"] = "never"
    variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    variables.update(more)
    return variables


def has_module(name):
    """Whether this Python can import the module."""
    import importlib.util

    return importlib.util.find_spec(name) is not None


def say(text):
    """A line for the person who waits."""
    print(text, flush=True)


# What it is made for


def lab(port, browser, rest):
    """Open JupyterLab on the first chapter; it takes over this process, so Ctrl-C goes straight to it."""
    must_be_free(port)
    make_environment("book")
    must_be_free(port)
    folder = ROOT / "notebooks"
    first = next(iter(sorted(path.name for path in folder.glob("*.ipynb"))), "")
    say(f"JupyterLab opens {first or folder.name} on port {port}; Ctrl-C ends it.")
    command = [str(PYTHON), "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    command += [f"--ServerApp.root_dir={folder}", f"--LabApp.default_url=/lab/tree/{first}"]
    command += ["--ServerApp.port_retries=0", "--ServerApp.answer_yes=True"]
    command += [] if browser else ["--no-browser"]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    os.chdir(str(ROOT))
    os.execve(command[0], command + rest, environ(PYDEVD_DISABLE_FILE_VALIDATION="1"))


def must_be_free(port):
    """Stop where something else listens on the port already."""
    try:
        bind(port)
    except PermissionError:
        raise Trouble(f"port {port} is for root only: choose one from 1024 up with --port.") from None
    except OSError:
        other = next((p for p in range(port + 1, min(port + 100, 65536)) if is_free(p)), None)
        hint = f", for instance --port {other}" if other else ""
        raise Trouble(f"port {port} is in use: end what uses it, or choose another one{hint}.") from None


def is_free(port):
    """Whether nobody listens on the port."""
    try:
        bind(port)
    except OSError:
        return False
    return True


def bind(port):
    """Take the port, and give it back at once."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", port))


EXECUTE = ["book/execute.py"]
PYTEST = ["-m", "pytest"]
PLAIN = [*PYTEST, "-p", "no:nbval"]  # to load nbval takes seconds
HOUSE = ["tests/test_floors.py", "tests/test_environment.py", "tests/test_run.py"]
APART = [*HOUSE, "tests/test_site.py", "tests/browser", "tests/benchmarks"]
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with=tests/sanitize.cfg", "--nbval-cell-timeout=60"]
CHECKS = (
    ("ruff", "the style", ["-m", "ruff", "check", "."]),
    ("format", "the layout of the code", ["-m", "ruff", "format", "--check", "."]),
    ("mypy", "the types of the package", ["-m", "mypy"]),
    ("house", "the floor plan, the environment, this script", [*PLAIN, *HOUSE]),
    (
        "unit",
        "each module's claims, and Kafka's own answers",
        [*PLAIN, "tests", *("--ignore=" + path for path in APART)],
    ),
    ("doctests", "the examples in the docstrings", [*PLAIN, "--doctest-modules", "protocol"]),
    ("site", "the book builds, and its pages hold together", [*PLAIN, "tests/test_site.py"]),
    ("nbval", "the chapters say what they said", [*PYTEST, *NBVAL, "notebooks"]),
    ("bytes", "the chapters, executed again, have the same bytes", [*EXECUTE, "--check"]),
    ("browser", "the textbook in a real browser", [*PLAIN, "tests/browser"]),
    ("benchmarks", "speed, beside the peers", [*PLAIN, "tests/benchmarks"]),
)
"""Each check of `test`: its name, what it holds, and how the environment's Python runs it."""

ALONE = ("benchmarks",)
"""What measures: nothing else may run beside it."""


def test(names, rest, lanes):
    """Run the checks, all of them, and close with a line in pytest's form."""
    unknown = set(names) - {name for name, _, _ in CHECKS}
    if unknown:
        raise Trouble(f"no check is called {', '.join(sorted(unknown))}: there are {', '.join(c[0] for c in CHECKS)}.")
    make_environment("dev")
    began = time.monotonic()
    total, failed = {}, []
    with tempfile.TemporaryDirectory() as home:
        runs = [
            Run(name, title, [str(PYTHON), *arguments, *rest], Path(home) / name, arguments[:2] == PYTEST)
            for name, title, arguments in CHECKS
            if (not names or name in names) and (not rest or arguments[:2] == PYTEST)
        ]
        for run in side_by_side([run for run in runs if run.name not in ALONE], lanes):
            run.show()
        for run in side_by_side([run for run in runs if run.name in ALONE], 1):
            run.show()
        for run in runs:
            status, counts = run.status, run.counts()
            if status == 5 and rest:  # nothing here matches what was asked for
                continue
            if status:
                failed.append(run.name)
                counts = counts if counts.get("failed") or counts.get("error") else {**counts, "failed": 1}
            for outcome, n in counts.items():
                total[outcome] = total.get(outcome, 0) + n
    if failed:
        say(f"\nNot in order: {', '.join(failed)}.")
    order = ("failed", "passed", "skipped", "xfailed", "xpassed", "error")
    text = ", ".join(f"{total[outcome]} {outcome}" for outcome in order if total.get(outcome)) or "no tests ran"
    say(f"\n===== {text} in {time.monotonic() - began:.2f}s =====")
    return 1 if failed or not total else 0


class Run:
    """One check at work; what it says goes into a file, from which it is shown when its turn comes."""

    def __init__(self, name, title, command, home, by_pytest):
        self.name, self.title, self.by_pytest = name, title, by_pytest
        self.command = [*command, "--color=yes"] if by_pytest and sys.stdout.isatty() else command
        self.home, self.log = home, home / "log"
        self.process, self.status, self.seconds = None, None, 0
        home.mkdir()
        self.log.touch()

    def work(self):
        """Run it to its end."""
        began = time.monotonic()
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "cwd": str(ROOT)}
        status = 2
        try:
            with open(str(self.log), "wb") as out:
                self.process = subprocess.Popen(self.command, env=own_jupyter(self.home), stdout=out, **quiet)
                status = self.process.wait()
        finally:
            self.seconds = time.monotonic() - began
            self.status = status

    def show(self):
        """Show what it says, as it says it, to its end."""
        say(f"\n── {self.name}: {self.title} " + "─" * max(0, 66 - len(self.name) - len(self.title)))
        with open(str(self.log), "rb") as log:
            while True:
                ended = self.status is not None
                sys.stdout.buffer.write(log.read())
                sys.stdout.buffer.flush()
                if ended:
                    break
                time.sleep(0.1)
        say(f"   {self.name}: {self.seconds:.0f} s")

    def counts(self):
        """How often there was which outcome."""
        if not self.by_pytest:
            return {"passed": 1} if self.status == 0 else {}
        text = self.log.read_bytes()[-4096:].decode("utf-8", "replace")
        closing = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip().rpartition("\n")[2]
        found = re.findall(r"(\d+) (passed|failed|skipped|xfailed|xpassed|error)", closing)
        return {outcome: int(n) for n, outcome in found}


def side_by_side(runs, lanes):
    """The runs in order, while they are at work: one lane takes from the front, a second from the back."""
    waiting, take, stopped = list(runs), threading.Lock(), threading.Event()

    def lane(end):
        while not stopped.is_set():
            with take:
                run = waiting.pop(end) if waiting else None
            if run is None:
                return
            run.work()

    threads = [threading.Thread(target=lane, args=(end,), daemon=True) for end in (0, -1)[:lanes]]
    for thread in threads:
        thread.start()
    try:
        yield from runs
    finally:
        stopped.set()
        for thread in threads:
            thread.join(5)  # Ctrl-C has reached what runs, too, and it may have something to clear away
        for run in runs:
            if run.process and run.status is None:
                run.process.terminate()
        for thread in threads:
            thread.join(5)


def own_jupyter(home):
    """The variables of a check: nothing of the person's own Jupyter or IPython reaches it."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "IPYTHONDIR": "ipython",
    }
    more = {name: str(home / folder) for name, folder in folders.items()}
    return environ(PYDEVD_DISABLE_FILE_VALIDATION="1", **more)


def notebooks(rest):
    """Execute the chapters and write them."""
    make_environment("dev")
    with tempfile.TemporaryDirectory() as home:
        return subprocess.call([str(PYTHON), *EXECUTE, *rest], cwd=str(ROOT), env=own_jupyter(Path(home)))


def site(rest):
    """Build the static book."""
    make_environment("site")
    with tempfile.TemporaryDirectory() as home:
        command = [str(PYTHON), "book/build.py", *rest]
        return subprocess.call(command, cwd=str(ROOT), env=own_jupyter(Path(home)))


def lock(upgrade):
    """Write the hash locks anew: from Python 3.11 up, or for a browser, and without an address in them."""
    make_environment("uv")
    for name, made_of in LOCKS.items():
        anywhere = ["--universal", "--python-version", ".".join(map(str, OLDEST))]
        arguments = ["compile", *made_of, "--output-file", name, "--generate-hashes", "--no-emit-index-url"]
        arguments += IN_A_BROWSER if name.startswith("book/live/") else anywhere
        arguments += ["--custom-compile-command", "python3 run.py lock", *(["--upgrade"] if upgrade else [])]
        if not uv(*arguments):
            raise Trouble(why(f"{name} could not be written"))
        say(f"{name} is written.")
    return 0


def main(argv):
    """Do what the arguments say; the exit status."""
    own, rest = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    parser = argparse.ArgumentParser(prog="run.py", description="Make the environment in .venv, and then:")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    command = commands.add_parser("lab", help="open JupyterLab on the first chapter (what follows -- goes to Jupyter)")
    command.add_argument("--no-browser", dest="browser", action="store_false", help="print the address instead")
    command.add_argument("--port", type=port_number, default=8888, metavar="PORT", help="8888 by default")
    command = commands.add_parser("test", help="check everything (what follows -- goes to pytest)")
    command.add_argument("check", nargs="*", metavar="CHECK", help="only these: " + " ".join(c[0] for c in CHECKS))
    command.add_argument("--one-by-one", action="store_true", help="on one core: by default, two checks run at a time")
    commands.add_parser("notebooks", help="execute the chapters and write them (what follows -- is which)")
    commands.add_parser("site", help="build the static book in _build/html (what follows -- goes to book/build.py)")
    command = commands.add_parser("lock", help="write the hash locks anew")
    command.add_argument("--upgrade", action="store_true", help="take the newest versions that pyproject.toml allows")
    asked = parser.parse_args(own)
    try:
        must_be_able()
        if asked.command == "lab":
            return lab(asked.port, asked.browser, rest)
        if asked.command == "test":
            return test(asked.check, rest, 1 if asked.one_by_one else min(2, os.cpu_count() or 1))
        if asked.command == "notebooks":
            return notebooks(rest)
        if asked.command == "site":
            return site(rest)
        return lock(asked.upgrade)
    except (Trouble, OSError) as trouble:
        print(f"run.py: {trouble}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def port_number(text):
    """A port as a person writes it."""
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: they are 1 to 65535")
    return int(text)


def must_be_able():
    """Stop where this Python or this system cannot do it."""
    if sys.version_info < OLDEST:
        newer = [f"python3.{minor}" for minor in range(19, OLDEST[1] - 1, -1)]
        other = next((name for name in newer if shutil.which(name) and runs(name)), None)
        hint = f"run it with {other}." if other else "install a newer one and run this with it."
        raise Trouble(
            f"Python {'.'.join(map(str, OLDEST))} or newer is needed, and this is {sys.version.split()[0]}: {hint}"
        )
    if os.name != "posix":
        raise Trouble("Linux or macOS is needed: on Windows, run this in WSL.")


def runs(name):
    """Whether a program of that name really is a Python."""
    return subprocess.call([name, "-c", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
