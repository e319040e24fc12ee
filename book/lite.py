"""The chapters in JupyterLite, a Jupyter with no server; its Python is the one that `browser.py` lays.

JupyterLite itself comes from its locked package; what its kernel needs comes with the wheels of the live pages.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import browser

KERNEL = "@jupyterlite/pyodide-kernel-extension"
SPEC = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
ASKED = ("comm", "ipykernel", "ipython", "jedi", "micropip", "piplite", "pyodide-kernel")
"""What the kernel looks for one by one: all of it but `jedi`, which weighs much and only completes code, is given."""

RUN = """<link rel="icon" href="../../_static/icon.svg">
<script>
  // With `&run` in the address, every cell is run once the kernel is there.
  if (new URLSearchParams(location.search).has("run")) {
    const wait = setInterval(() => {
      const app = window.jupyterapp, panel = app?.shell.currentWidget;
      if (panel?.sessionContext?.session?.kernel?.status !== "idle") return;
      clearInterval(wait);
      app.commands.execute("notebook:run-all-cells").then(() => { panel.content.activeCellIndex = 0; });
    }, 200);
  }
</script>
"""


def chapter(text: str) -> str:
    """A chapter with no outputs, for the one kernel that is there: another's name would ask the reader to choose."""
    notebook = json.loads(text)
    notebook["metadata"] = {"kernelspec": SPEC, "language_info": {"name": "python"}}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return json.dumps(notebook)


def settings() -> dict[str, object]:
    """Where the kernel finds its Python, and that it asks nobody else for a package."""
    kernel = {
        "disablePyPIFallback": True,
        "pyodideUrl": "../../_static/live/python/pyodide.mjs",
        "loadPyodideOptions": {"packages": [*ASKED, "textbook"]},
    }
    data = {
        "appName": "Version probing",
        "exposeAppInBrowser": True,
        "litePluginSettings": {f"{KERNEL}:kernel": kernel},
    }
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}


def kernel_archive(path: Path, wheels: list[Path]) -> None:
    """What the kernel needs and a live page does not: the wheels that lie inside its own, and a few more."""
    inner: list[Path] = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as inside:
            for name in inside.namelist():
                if name.endswith(".whl") and "/static/pypi/" in name and "widgetsnbextension" not in name:
                    (found := path.parent / Path(name).name).write_bytes(inside.read(name))
                    inner.append(found)
    others = [wheel for wheel in wheels if not wheel.name.startswith("jupyterlite")]
    browser.pack(path, browser.contents([*others, *inner]))
    for wheel in inner:
        wheel.unlink()


def add_kernel(folder: Path, cache: Path) -> None:
    """Lay what the kernel needs beside a live page's Python.

    Pyodide's lock names both archives; what the kernel asks for besides is in them, and named empty.
    """
    kernel_archive(folder / "kernel.zip", of_lite(cache))
    with zipfile.ZipFile(folder / "nothing.zip", "w"):
        pass
    files = {"textbook": "python.zip", "pyodide-kernel": "kernel.zip"}
    path = folder / "pyodide-lock.json"
    locked = json.loads(path.read_text(encoding="utf-8"))
    locked["packages"] = {
        name: {
            "name": name,
            "version": "0",
            "file_name": (file := files.get(name, "nothing.zip")),
            "install_dir": "site",
            "sha256": hashlib.sha256((folder / file).read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": [],
            "depends": [],
            "unvendored_tests": False,
        }
        for name in (*ASKED, "textbook")
    }
    path.write_text(json.dumps(locked), encoding="utf-8")


def of_lite(cache: Path) -> list[Path]:
    """The wheels of the kernel."""
    return [path for path in browser.wheels(cache) if path.name.startswith(browser.OF_LITE)]


def lay(site: Path, work: Path, cache: Path, chapters: list[Path]) -> None:
    """Lay JupyterLite, with the chapters in it, into `lite/` of a built site.

    Raises:
        browser.MissingError: JupyterLite's own tool does not build it.
    """
    shutil.rmtree(work, ignore_errors=True)
    (work / "content").mkdir(parents=True)
    for path in chapters:
        (work / "content" / path.name).write_text(chapter(path.read_text(encoding="utf-8")), encoding="utf-8")
    (work / "jupyter-lite.json").write_text(json.dumps(settings()), encoding="utf-8")
    unasked = {"@jupyterlab/docmanager-extension:plugin": {"autosave": False}}
    (work / "overrides.json").write_text(json.dumps(unasked), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(work)]
    command += ["--contents", str(work / "content"), "--output-dir", str(site / "lite"), "--apps", "notebooks"]
    command += ["--no-sourcemaps", "--no-unused-shared-packages", "--no-libarchive"]
    command += ["--settings-overrides", str(work / "overrides.json")]
    command += [f"--LiteBuildConfig.federated_extensions={one}" for one in of_lite(cache) if "jupyterlite" in one.name]
    ended = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if ended.returncode:
        raise browser.MissingError(f"JupyterLite could not be built: {browser.last_line(ended.stderr)}")
    page = site / "lite" / "notebooks" / "index.html"
    page.write_text(page.read_text(encoding="utf-8").replace("</head>", f"{RUN}</head>", 1), encoding="utf-8")
    shutil.rmtree(work)
