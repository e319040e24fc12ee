"""What a browser needs to run a page's Python: Pyodide's core, and the packages in one archive.

Everything comes through npm and pip, pinned and checked by its hash; the page that uses it is `_static/live`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "live" / "requirements.txt"
PYODIDE = "pyodide@314.0.6"
SHA512 = "BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV8poyDOOmWwxQ=="
PYTHON = "3.14"
"""The Python that this Pyodide is."""

CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
OF_LITE = ("jupyterlite", "micropip")
"""The wheels that JupyterLite's kernel needs, and a live page does not."""

DROPPED = re.compile(r"\.data/|/tests?/|\.dist-info/(?!METADATA$)|\.pyi$|/py\.typed$|/__pycache__/")
"""What of a wheel no page reads."""


class MissingError(Exception):
    """What the live pages need and this machine does not give, in one sentence."""


def tarball(cache: Path, package: str, sha512: str) -> Path:
    """The archive of a package of npm's, `name@version`, fetched once and checked each time."""
    name, _, version = package.partition("@")
    path = cache / f"{name}-{version}.tgz"
    if not path.exists():
        if shutil.which("npm") is None:
            raise MissingError(f"npm is needed to fetch {name} (Debian: apt install npm); --no-live does without.")
        ended = subprocess.run(["npm", "pack", "--silent", package], cwd=cache, capture_output=True, text=True)
        if ended.returncode:
            raise MissingError(f"npm could not fetch {package}: {last_line(ended.stderr)}")
    if base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode() != sha512:
        path.unlink()
        raise MissingError(f"{path.name} is not the file that was pinned; it has been removed.")
    return path


def last_line(text: str) -> str:
    """What a program said last."""
    return (text.strip().splitlines() or ["no reason given"])[-1]


def wheels(cache: Path) -> list[Path]:
    """The locked wheels of the live pages, fetched once through pip."""
    folder = cache / f"wheels-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    if not folder.exists():
        draft = folder.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary=:all:", "--platform", "any", "--implementation", "py"]
        command += ["--abi", "none", "--python-version", PYTHON, "--dest", str(draft), "--requirement", str(LOCK)]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode:
            raise MissingError(f"pip could not fetch the wheels: {last_line(ended.stderr)}")
        draft.rename(folder)
    return sorted(folder.glob("*.whl"))


def contents(packages: list[Path]) -> dict[str, bytes]:
    """The files of some wheels, without those that no page reads."""
    files: dict[str, bytes] = {}
    for wheel in packages:
        with zipfile.ZipFile(wheel) as inside:
            files |= {name: inside.read(name) for name in inside.namelist() if not DROPPED.search(name)}
    return files


def pack(path: Path, files: dict[str, bytes]) -> None:
    """One archive of files; the same files give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in sorted(files):
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), files[name], zipfile.ZIP_DEFLATED)


def archive(path: Path, packages: list[Path], protocol: Path) -> None:
    """One archive of all packages, of `protocol` and of the shell."""
    files = {"live_shell.py": (HERE / "live" / "shell.py").read_bytes(), **contents(packages)}
    for source in protocol.rglob("*"):
        if source.is_file() and "__pycache__" not in source.parts:
            files[str(source.relative_to(protocol.parent))] = source.read_bytes()
    pack(path, files)


def unpack(tarball: Path, folder: Path) -> None:
    """Pyodide's core, with a lock file that names no package: none is to be fetched from elsewhere."""
    with tarfile.open(tarball) as inside:
        for name in CORE:
            data = inside.extractfile(f"package/{name}")
            assert data is not None
            (folder / name).write_bytes(data.read())
        listed = inside.extractfile("package/pyodide-lock.json")
        assert listed is not None
        lock = {**json.load(listed), "packages": {}}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def compiled(folder: Path, archived: Path) -> bool:
    """Whether the archive's modules were compiled by the Pyodide that will run them: it then starts sooner."""
    if shutil.which("node") is None:
        return False
    command = ["node", str(HERE / "live" / "compile.mjs"), str(folder / "pyodide.mjs"), str(archived)]
    return subprocess.run(command, cwd=folder, timeout=300).returncode == 0


def lay(folder: Path, cache: Path, protocol: Path) -> float:
    """Lay everything into a folder of the site; the megabytes that a reader's browser fetches.

    Raises:
        MissingError: npm, pip or the network does not give what is needed.
    """
    cache.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    unpack(tarball(cache, PYODIDE, SHA512), folder)
    archive(folder / "python.zip", [path for path in wheels(cache) if not path.name.startswith(OF_LITE)], protocol)
    if not compiled(folder, folder / "python.zip"):
        print("The live pages start more slowly: there is no node to compile their Python.")
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6
