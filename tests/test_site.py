"""The book as a site: it builds without a warning, asks nobody for anything, and its links hold."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from built_site import CHAPTERS, ROOT, site
from packaging.requirements import Requirement

from protocol import releases

__all__ = ["site"]


class Page(HTMLParser):
    """What a page loads, where it leads, and which places it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.ids: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        have = dict(attributes)
        if have.get("id"):
            self.ids.append(str(have["id"]))
        if tag == "a" and have.get("href"):
            self.leads.append(str(have["href"]))
        elif tag == "link" and have.get("rel") not in ("canonical", "next", "prev", "index", "search"):
            self.loads.append(str(have.get("href")))
        elif have.get("src"):
            self.loads.append(str(have["src"]))


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.glob("*.html"))}


@pytest.fixture(scope="session")
def book() -> ModuleType:
    return opened("browser")


def opened(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "book" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The pages


def test_every_chapter_and_every_prose_page_is_there(site: Path) -> None:
    prose = {path.stem for path in (ROOT / "book").glob("*.md")}
    assert {path.stem for path in site.glob("*.html")} >= {*CHAPTERS, *prose, "search"}


def test_no_page_loads_anything_from_elsewhere(pages: dict[Path, Page]) -> None:
    """Nor from the root of a server: the site works below any path, and from a folder."""
    foreign = {
        (path.name, what)
        for path, page in pages.items()
        for what in page.loads
        if not what.startswith("data:") and (urlsplit(what).scheme or what.startswith("/"))
    }
    assert not foreign


def test_no_style_sheet_loads_anything_from_elsewhere(site: Path) -> None:
    asked = re.compile(r"""(?:url\(\s*|@import\s+)["']?(?:https?:)?//[^"')\s]+""")
    assert not [(path.name, found) for path in site.rglob("*.css") for found in asked.findall(path.read_text("utf-8"))]


def test_every_internal_link_leads_to_a_place_that_exists(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.leads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.is_file() and (not parts.fragment or target.suffix != ".html" or parts.fragment == "")
            if target.suffix == ".html" and target in pages and parts.fragment:
                there = unquote(parts.fragment) in pages[target].ids
            if not there:
                broken.append((path.name, link))
    assert not broken


def test_no_page_has_a_place_twice(pages: dict[Path, Page]) -> None:
    twice = {path.name: {one for one in page.ids if page.ids.count(one) > 1} for path, page in pages.items()}
    assert not {name: found for name, found in twice.items() if found}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_s_page_holds_its_own_cells_and_no_widget_state(site: Path, chapter: str) -> None:
    text = (site / f"{chapter}.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="live-cells">(.*?)</script>', text)
    assert found
    shown = [cell for cell in json.loads(found[1])["cells"] if cell["shown"]]
    assert len(shown) == len(re.findall(r'<div class="(?:[\w-]+ )*cell(?: [\w-]+)* docutils container"', text))
    assert "widget-state+json" not in text and "require.js" not in text


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_the_download_button_gives_is_the_chapter(site: Path, chapter: str) -> None:
    assert f'href="_sources/{chapter}.ipynb"' in (site / f"{chapter}.html").read_text(encoding="utf-8")
    committed = ROOT / "notebooks" / f"{chapter}.ipynb"
    assert (site / "_sources" / f"{chapter}.ipynb").read_bytes() == committed.read_bytes()


def test_a_page_weighs_under_a_megabyte_before_python(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "book"))
    build = opened("build")
    weights = {name: build.page_weight(site / f"{name}.html") for name in CHAPTERS}
    with capsys.disabled():
        print("\n" + ", ".join(f"{name[:2]}: {weight / 1000:.0f} kB" for name, weight in weights.items()))
    assert max(weights.values()) < 1_000_000


def test_the_catalogue_page_has_every_release(site: Path) -> None:
    text = (site / "releases.html").read_text(encoding="utf-8")
    assert not [row.name for row in releases() if f">{row.name}<" not in text]


# Python in the browser


def test_a_live_page_s_packages_are_those_of_the_textbook() -> None:
    def pins(path: str) -> dict[str, str]:
        lines = re.findall(r"^([\w.-]+==\S+)", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)
        return {one.name: str(one.specifier) for one in map(Requirement, lines)}

    live, locked = pins("book/live/requirements.txt"), pins("requirements.txt")
    for name in ("anywidget", "graphviz", "ipywidgets"):
        assert live[name] == locked[name]


def test_the_same_packages_make_the_same_archive(book: ModuleType, tmp_path: Path) -> None:
    for name in ("a", "b"):
        book.archive(tmp_path / name, [], ROOT / "protocol")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    inside = zipfile.ZipFile(tmp_path / "a").namelist()
    assert {"live_shell.py", "protocol/__init__.py", "protocol/releases.csv"} <= set(inside)
    assert not [name for name in inside if "__pycache__" in name]


def test_a_core_that_is_not_the_pinned_one_is_refused(book: ModuleType, tmp_path: Path) -> None:
    name = book.PYODIDE.replace("@", "-") + ".tgz"
    (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(book.MissingError, match="pinned"):
        book.tarball(tmp_path, book.PYODIDE, book.SHA512)
    assert not (tmp_path / name).exists()


def test_a_missing_npm_is_said(book: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(book.MissingError, match="npm is needed"):
        book.tarball(tmp_path, book.PYODIDE, book.SHA512)


def test_the_python_of_the_pages_is_compiled(site: Path) -> None:
    names = zipfile.ZipFile(site / "_static" / "live" / "python" / "python.zip").namelist()
    if shutil.which("node"):
        assert "live_shell.pyc" in names and "protocol/__pycache__/scenario.cpython-314.pyc" in names
    assert not [name for name in names if name.startswith(("/", ".."))]


# JupyterLite


def test_jupyterlite_has_every_chapter_and_asks_nobody_for_a_package(site: Path) -> None:
    chapters = [json.loads((site / "lite" / "files" / f"{name}.ipynb").read_text("utf-8")) for name in CHAPTERS]
    assert {one["metadata"]["kernelspec"]["name"] for one in chapters} == {"python"}
    settings = json.loads((site / "lite" / "jupyter-lite.json").read_text("utf-8"))["jupyter-config-data"]
    (kernel,) = settings["litePluginSettings"].values()
    assert kernel["disablePyPIFallback"] is True and not urlsplit(kernel["pyodideUrl"]).scheme
    assert (site / "lite" / "notebooks" / kernel["pyodideUrl"]).is_file()
    python = site / "_static" / "live" / "python"
    locked = json.loads((python / "pyodide-lock.json").read_text("utf-8"))["packages"]
    assert {"jedi", *kernel["loadPyodideOptions"]["packages"]} == set(locked)
    for one in locked.values():
        assert hashlib.sha256((python / one["file_name"]).read_bytes()).hexdigest() == one["sha256"]


def test_jupyterlite_s_kernel_is_made_for_the_pyodide_of_the_live_pages(book: ModuleType, site: Path) -> None:
    (kernel,) = (path for path in book.wheels(ROOT / "_build" / "cache") if path.name.startswith("jupyterlite"))
    with zipfile.ZipFile(kernel) as inside:
        text = inside.read("jupyterlite_pyodide_kernel/constants.py").decode()
    assert f'PYODIDE_VERSION = "{book.PYODIDE.partition("@")[2]}"' in text
    assert kernel.name.split("-")[1] == metadata.version("jupyterlite-core")


# Publishing


def test_the_workflow_builds_tests_and_publishes() -> None:
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8"))
    assert set(flow["jobs"]) == {"build", "publish"}
    steps = [step.get("run", "") for step in flow["jobs"]["build"]["steps"]]
    assert ".ci/run" in steps and "python3 run.py site" in steps
    assert flow["jobs"]["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_the_dev_container_makes_the_environment_by_the_same_door() -> None:
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    assert "python3 run.py" in json.loads(text)["postCreateCommand"]


def test_the_citation_says_what_pyproject_says() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "license", "version"} <= set(cited)
    assert f'version = "{cited["version"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_this_python_is_the_one_that_builds(site: Path) -> None:
    text = (site / "ran-with.html").read_text(encoding="utf-8")
    assert sys.version.split()[0] in text


def test_the_picture_for_links_has_the_size_that_they_show() -> None:
    head = (ROOT / "book" / "_static" / "preview.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) == (1280, 640)


def test_where_the_project_is_published_there_are_links_that_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without that they would lead nowhere, and there are none."""
    name = "09-bytes"
    shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", tmp_path)
    (tmp_path / "index.md").write_text(f"# One chapter\n\n```{{toctree}}\n{name}\n```\n", encoding="utf-8")
    variables = {**os.environ, "BOOK_REPOSITORY": "https://github.com/somebody/version-probing"}
    variables["BOOK_URL"] = "https://somebody.github.io/version-probing/"
    command = [sys.executable, "-m", "sphinx", "-q", "-c", str(ROOT / "book"), str(tmp_path), str(tmp_path / "html")]
    ended = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    text = (tmp_path / "html" / f"{name}.html").read_text(encoding="utf-8")
    path = f"notebooks/{name}.ipynb"
    assert f'"https://mybinder.org/v2/gh/somebody/version-probing/main?urlpath=lab/tree/{path}"' in text
    assert f'"https://colab.research.google.com/github/somebody/version-probing/blob/main/{path}"' in text
    assert "https://somebody.github.io/version-probing/_static/preview.png" in text
