"""Build the book as a static site: `python3 run.py site` calls this; `--no-live` leaves Python in the browser out.

How a page looks is in `conf.py` and `_static`; what a browser needs to run Python is fetched in `browser.py`.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

import browser
import lite
from sphinx.cmd.build import build_main

from protocol import releases

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "_build"
CACHE = BUILD / "cache"
PAGES = ("index.md", "glossary.md", "releases.md", "sources.md", "ran-with.md")
PACKAGES = (
    "anywidget",
    "graphviz",
    "ipywidgets",
    "jupyterlab",
    "jupyterlite-core",
    "myst-nb",
    "sphinx",
    "sphinx-book-theme",
)
CATALOGUE = ("Release", "Date", "Speaks up to", "Leader's rule", "Member's rule", "Rejoins by", "Has", "Note")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def catalogue() -> str:
    """The releases as a table, from the catalogue that the simulator reads."""
    return table(
        CATALOGUE,
        (
            (
                f"`{row.name}`" if row.released else f"`{row.name}` (never released)",
                row.date,
                f"v{row.latest}",
                row.binary.leader_rule,
                row.binary.member_rule,
                {"leave": "leaving first", "enforce": "the same id", "none": "–"}[row.binary.rejoin],
                ", ".join(row.fixes) or "–",
                row.note or "–",
            )
            for row in releases()
        ),
    )


def packages() -> str:
    """What the book was built with, as a table."""
    rows = [("Python", sys.version.split()[0]), *((name, metadata.version(name)) for name in PACKAGES)]
    return table(("What", "Version"), rows)


def stage(folder: Path) -> None:
    """Lay the prose pages, with their tables, and the chapters side by side in a fresh folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tables = {"releases": catalogue, "packages": packages}
    for name in PAGES:
        text = (HERE / name).read_text(encoding="utf-8")
        text = re.sub(r"^<!-- table: (\w+) -->$", lambda match: tables[match[1]](), text, flags=re.MULTILINE)
        (folder / name).write_text(text, encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy(path, folder)
    for name in ("bench.svg", "five-numbers.svg"):
        shutil.copy(HERE / name, folder)


def published() -> dict[str, str]:
    """Where the project is published, where that can be known: from the workflow that runs this, or from git."""
    if "BOOK_REPOSITORY" in os.environ:
        return {}
    if "GITHUB_REPOSITORY" in os.environ:
        return {"BOOK_REPOSITORY": f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}"}
    command = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
    said = subprocess.run(command, capture_output=True, text=True) if shutil.which("git") else None
    match = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?\s*$", said.stdout if said else "")
    return {"BOOK_REPOSITORY": f"https://github.com/{match[1]}"} if match else {}


def weigh(site: Path) -> str:
    """The size of a site, in words."""
    files = [path for path in site.rglob("*") if path.is_file()]
    return f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB"


def page_weight(page: Path) -> int:
    """The gzipped bytes of a page with every script and style sheet that it loads."""
    text = page.read_text(encoding="utf-8")
    asked = re.findall(r'<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"#?]+)', text)
    files = {page, *((page.parent / name).resolve() for name in asked if not name.endswith(".html"))}
    return sum(gzipped(path) for path in files if path.is_file())


@functools.cache
def gzipped(path: Path) -> int:
    """The gzipped bytes of a file."""
    return len(gzip.compress(path.read_bytes()))


def stamp(live: bool) -> str:
    """One name for all that a site is made of."""
    made_of = [path for folder in ("book", "notebooks", "protocol") for path in (ROOT / folder).rglob("*")]
    h = hashlib.sha256(repr((live, published(), packages())).encode())
    for path in sorted(path for path in made_of if path.is_file() and "__pycache__" not in path.parts):
        h.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return h.hexdigest()


def main(argv: list[str] | None = None) -> int:
    """Build the site; the exit status."""
    parser = argparse.ArgumentParser(description="Build the book as a static site.")
    parser.add_argument("--no-live", dest="live", action="store_false", help="without Python in the browser")
    parser.add_argument("--output", type=Path, default=BUILD / "html", help="_build/html by default")
    parser.add_argument("--if-changed", action="store_true", help="leave a site as it is where it is made of the same")
    asked = parser.parse_args(argv)
    began = time.monotonic()
    os.environ.update(published())
    site = asked.output.resolve()
    beside = site.parent
    source = beside / "source"
    mark, made_of = beside / f"{site.name}.stamp", stamp(asked.live)
    if asked.if_changed and site.exists() and mark.exists() and mark.read_text() == made_of:
        print(f"{site}: as it was.")
        return 0
    if site.exists() and site != BUILD / "html" and not (site / ".nojekyll").exists():
        print(f"run.py: {site} is there and is no built book: move it away.", file=sys.stderr)
        return 2
    mark.unlink(missing_ok=True)
    shutil.rmtree(site, ignore_errors=True)
    stage(source)
    options = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE), "-d", str(beside / "doctrees"), "-E"]
    laid = beside / "python"
    shutil.rmtree(laid, ignore_errors=True)
    if asked.live:
        try:
            options += ["-D", f"book_live={browser.lay(laid, CACHE, ROOT / 'protocol'):.0f}"]
            lite.add_kernel(laid, CACHE)
        except browser.MissingError as missing:
            print(f"run.py: {missing}", file=sys.stderr)
            return 2
    status = build_main([*options, str(source), str(site)])
    if status:
        return status
    if asked.live:
        shutil.move(laid, site / "_static" / "live" / "python")
        lite.lay(site, beside / "lite", CACHE, sorted((ROOT / "notebooks").glob("*.ipynb")))
    (site / ".nojekyll").touch()
    shutil.rmtree(site.parent / "jupyter_execute", ignore_errors=True)
    mark.write_text(made_of)
    print(f"{site}: {weigh(site)}, {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
