"""A real Chromium for the tests here, and a real JupyterLab; both are alone on this machine and complain to nobody.

`page` takes a look as its parameter, such as `dark-420` or `light-1280-still`: colour scheme, width, less motion.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHOTS = HERE / "shots"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
LOCAL = ("127.0.0.1", "localhost")
PATIENCE = 30_000
"""How long, in ms, a test waits for what should come at once: the machine may be busy."""

KERNEL = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"

SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"adaptive-theme": True},
    "docmanager-extension/plugin": {"autosave": False},
}
"""JupyterLab's settings in these tests: no news, the theme that the browser prefers, nothing saved unasked."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser; without one, all tests here are skipped by name."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium on the PATH (Debian: apt install chromium)")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for all tests, with a profile of its own that is thrown away."""
    expect.set_options(timeout=PATIENCE)
    driver = subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True)
    if driver.returncode != 0:
        pytest.skip("Playwright's own Node.js does not start here (Debian: apt install libatomic1)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def problems() -> list[str]:
    """What went wrong on the page so far; a test that provokes an error takes it out again."""
    return []


@pytest.fixture
def page(browser: Browser, problems: list[str], request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page; an error in its console, or a request to another machine, fails the test."""
    scheme, width, *rest = str(getattr(request, "param", "light-1280")).split("-")
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce" if "still" in rest else "no-preference",
        viewport={"width": int(width), "height": 900},
    )
    context.set_default_timeout(PATIENCE)

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def asked(sent: Request) -> None:
        where = urlsplit(sent.url)
        if where.scheme in ("http", "https", "ws", "wss") and where.hostname not in LOCAL:
            problems.append(f"request to another machine: {sent.url}")

    context.on("console", heard)
    context.on("weberror", lambda error: problems.append(f"uncaught: {error.error}"))
    context.on("request", asked)
    page = context.new_page()
    page.on("websocket", lambda ws: urlsplit(ws.url).hostname in LOCAL or problems.append(f"socket to {ws.url}"))
    yield page
    context.close()
    assert not problems


@pytest.fixture
def shot() -> Callable[[Page | Locator, str], Path]:
    """Takes a picture of a page, or of a part of it, for a person to look at."""

    def take(what: Page | Locator, name: str) -> Path:
        SHOTS.mkdir(exist_ok=True)
        path = SHOTS / f"{name}.png"
        what.screenshot(path=path)
        return path

    return take


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Serves a folder to the browser; gives its address, without a slash at the end."""
    with contextlib.ExitStack() as stack:

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

        def start(folder: Path) -> str:
            handler = functools.partial(Quiet, directory=str(folder))
            server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}"

        yield start


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab on a copy of the chapters."""

    url: str
    folder: Path

    def open(self, page: Page, notebook: str) -> Locator:
        """Open a chapter by its file name, and wait for its kernel; the notebook's panel."""
        page.goto(f"{self.url}/lab/tree/{quote(notebook)}?reset")
        panel = page.locator(".jp-NotebookPanel:visible")
        panel.wait_for()
        page.wait_for_function(f"() => {KERNEL}?.status === 'idle'")
        return panel

    def run_all(self, page: Page) -> None:
        """Run every cell of the open notebook, to the end."""
        command = "window.jupyterapp.commands.execute('notebook:run-all-cells')"
        page.evaluate(f"() => {{ window.ran = null; {command}.then(ok => {{ window.ran = [ok]; }}); }}")
        ran = page.wait_for_function("() => window.ran").json_value()
        assert ran == [True], "a cell failed"

    def ask(self, method: str, path: str) -> object:
        """One call of the server's own interface."""
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}{path}", method=method), timeout=10) as answer:
            text = answer.read()
        return json.loads(text) if text else None


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab for all tests: it asks for no token and knows nothing of the person's own settings."""
    home = tmp_path_factory.mktemp("jupyter")
    folder = home / "notebooks"
    settings = home / "settings" / "@jupyterlab"
    for name, values in SETTINGS.items():
        (settings / name).parent.mkdir(parents=True, exist_ok=True)
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values), encoding="utf-8")
    shutil.copytree(ROOT / "notebooks", folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "IPYTHONDIR": "ipython",
    }
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder,
        "ServerApp.disable_check_xsrf": True,
        "ServerApp.terminals_enabled": False,
        "IdentityProvider.token": "",
        "PasswordIdentityProvider.hashed_password": "",
        "LabApp.user_settings_dir": home / "settings",
        "LabApp.workspaces_dir": home / "workspaces",
        "LabApp.expose_app_in_browser": True,
        "LabApp.extension_manager": "readonly",
        "LabApp.collaborative": False,
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    variables = {**os.environ, **{name: str(home / name.lower()) for name in own}}
    variables["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    log = home / "log"
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        lab = Lab(f"http://127.0.0.1:{port}", folder)
        try:
            wait_for(lab, process, log)
            yield lab
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for(lab: Lab, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server answers; what it said, where it does not."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            lab.ask("GET", "/api/status")
            return
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


@pytest.fixture
def lab(server: Lab, page: Page) -> Iterator[Lab]:
    """The JupyterLab, with no kernel running before or after the test, and the chapters as they are committed."""
    yield server
    page.goto("about:blank")
    sessions = server.ask("GET", "/api/sessions")
    assert isinstance(sessions, list)
    for session in sessions:
        server.ask("DELETE", f"/api/sessions/{session['id']}")
    for path in server.folder.glob("*.ipynb"):
        if (original := ROOT / "notebooks" / path.name).exists():
            shutil.copy(original, path)
