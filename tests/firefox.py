"""Debian's Firefox, driven over WebDriver BiDi, which is built into it: no driver program, and nothing to download.

Playwright cannot drive it: its first command, `emulation.setMediaFeaturesOverride`, is one that this Firefox lacks.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import websocket

PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1, localhost",
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}
"""Other machines are behind a proxy that nobody runs: no request reaches them."""

KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Home": "\ue011", "End": "\ue010", "Enter": "\ue007", " ": " "}


class Firefox:
    """One browser with one page, in a profile that is thrown away with its folder."""

    def __init__(self, program: str, profile: Path) -> None:
        profile.mkdir()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        log = profile / "log"
        with log.open("w") as out:
            self.process = subprocess.Popen(
                [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        try:
            address = f"{listens(self.process, log)}/session"
            self.line = websocket.create_connection(address, timeout=60, suppress_origin=True)
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.problems: list[str] = []
        self.count = 0
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.page = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; what the page says meanwhile is heard."""
        self.count += 1
        self.line.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.line.recv())
            if answer.get("id") == self.count:
                assert answer["type"] == "success", answer
                result: dict[str, Any] = answer["result"]
                return result
            self.heard(answer.get("method"), answer.get("params", {}))

    def heard(self, event: str | None, what: dict[str, Any]) -> None:
        """Keep what went wrong: an error on the page, or a request to another machine."""
        if event == "log.entryAdded" and what["level"] == "error":
            self.problems.append(f"{what['type']}: {what['text']}")
        elif event == "network.beforeRequestSent":
            where = urlsplit(what["request"]["url"])
            if where.scheme in ("http", "https", "ws", "wss") and where.hostname not in ("127.0.0.1", "localhost"):
                self.problems.append(f"request to another machine: {what['request']['url']}")

    def open(self, address: str, *, width: int = 1280) -> None:
        """Open a page, to the end of its loading."""
        self.ask("browsingContext.setViewport", context=self.page, viewport={"width": width, "height": 900})
        self.ask("browsingContext.navigate", context=self.page, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """What an expression of the page's JavaScript is, as JSON would hold it; a promise is waited for."""
        text = f"(async () => JSON.stringify(await ({expression})) ?? 'null')()"
        answer = self.ask("script.evaluate", target={"context": self.page}, expression=text, awaitPromise=True)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])

    def wait_for(self, expression: str, *, seconds: float = 30) -> Any:
        """Until the expression is true; what it is then."""
        end = time.monotonic() + seconds
        while not (found := self.evaluate(expression)):
            assert time.monotonic() < end, f"in {seconds} s never true: {expression}"
            time.sleep(0.05)
        return found

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        actions = [{"type": kind, "value": KEYS[key]} for kind in ("keyDown", "keyUp")]
        self.ask("input.performActions", context=self.page, actions=[{"type": "key", "id": "keys", "actions": actions}])

    def shot(self, path: Path) -> None:
        """Take a picture of what is in sight."""
        path.parent.mkdir(exist_ok=True)
        answer = self.ask("browsingContext.captureScreenshot", context=self.page)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(OSError, AssertionError, websocket.WebSocketException):
            self.ask("browser.close")
        self.line.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def listens(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address at which a browser that starts will listen."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"Firefox did not start:\n{log.read_text(errors='replace')[-2000:]}")
