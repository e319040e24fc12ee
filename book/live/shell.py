"""The Python side of a live page: runs a cell, and posts what it shows.

What is posted goes to `worker.mjs` as JSON text with buffers beside it: `display`, `stream`, `error` and `comm`.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable
from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

VIEW = "application/vnd.jupyter.widget-view+json"
Post = Callable[[str, list[Any]], None]
post: Post


def tell(kind: str, buffers: list[Any] | None = None, **more: Any) -> None:
    """Post one message to the page."""
    post(json.dumps({"kind": kind, **more}, default=str), [bytes(one) for one in buffers or ()])


def bundle(data: dict[str, Any]) -> dict[str, Any]:
    """What can be shown, as text; a widget needs no second form, which may be long."""
    if VIEW in data:
        return {VIEW: data[VIEW], "text/plain": data.get("text/plain", "")}
    return {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in data.items()}


class Stream(io.TextIOBase):
    """Standard output or standard error, which the page shows."""

    def __init__(self, name: str) -> None:
        self.stream = name

    def write(self, text: str) -> int:
        """Post the text."""
        if text:
            tell("stream", name=self.stream, text=text)
        return len(text)

    def writable(self) -> bool:
        """Always."""
        return True


class Comm(BaseComm):
    """A line from a widget to its twin on the page."""

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        """Post a message of the line."""
        tell("comm", buffers, type=msg_type, id=self.comm_id, data=data or {})


class Publisher(DisplayPublisher):
    """What `display` shows."""

    def publish(self, data: dict[str, Any], metadata: Any = None, **keys: Any) -> None:
        """Post it."""
        tell("display", data=bundle(data))

    def clear_output(self, wait: bool = False) -> None:
        """Post that what was shown is to go."""
        tell("clear")


class Hook(DisplayHook):
    """What the last expression of a cell shows."""

    def __call__(self, result: Any = None) -> None:
        """Post it."""
        self.check_for_underscore()
        if result is not None and not self.quiet():
            data, _ = self.compute_format_data(result)
            self.update_user_ns(result)
            if data:
                tell("display", data=bundle(data))


class Shell(InteractiveShell):
    """IPython as a page needs it."""

    displayhook_class = Type(Hook)
    display_pub_class = Type(Publisher)

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        tell("error", name=etype.__name__, value=str(evalue), traceback="\n".join(stb))

    def enable_gui(self, gui: Any = None) -> None:
        """There is none."""

    def init_history(self) -> None:
        """The page remembers nothing."""
        super().init_history()
        self.history_manager.enabled = False


manager = CommManager()
shell: Shell


def start(to_page: Post) -> None:
    """Make the shell; what it shows goes to the page from here on."""
    global post, shell
    post = to_page
    comm.create_comm = Comm
    comm.get_comm_manager = lambda: manager
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Context"
    shell = Shell.instance(config=config)
    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")


async def run(code: str) -> bool:
    """Run a cell; whether it ended well."""
    result = await shell.run_cell_async(code, store_history=False, transformed_cell=shell.transform_cell(code))
    return bool(result.success)


def heard(text: str, buffers: list[Any]) -> None:
    """A message from a widget's twin on the page."""
    try:
        manager.comm_msg(None, None, {"content": json.loads(text), "buffers": [memoryview(one) for one in buffers]})
    except Exception:
        shell.showtraceback()
