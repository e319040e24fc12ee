"""The environment: pyproject, the locks and environment.yml say the same thing, and what is committed is clean."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from rattler import MatchSpec, VersionSpec
from rattler import Version as CondaVersion

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
LOCKS = (
    "requirements-uv.txt",
    "requirements.txt",
    "requirements-site.txt",
    "requirements-dev.txt",
    "book/live/requirements.txt",
)

CONDA_NAMES = {"graphviz": {"python-graphviz", "graphviz"}}
"""What conda-forge calls a package of PyPI, where it calls it something else; the program comes with it."""
CONDA_ONLY = {"python", "pip"}

# In pieces, so that this file does not hold what it looks for.
HOSTS = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("crates", "io"),
    ("golang", "org"),
    ("maven", "org"),
    ("maven", "apache", "org"),
    ("deb", "debian", "org"),
    ("anaconda", "org"),
)
PATHS = ("work", "farm", "root", "tmp", "home")


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def extra(name: str) -> list[Requirement]:
    return [Requirement(text) for text in pyproject()["project"]["optional-dependencies"][name]]


def conda() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def specs() -> list[str]:
    return [entry for entry in conda()["dependencies"] if isinstance(entry, str)]


def locked(lock: str) -> list[tuple[Requirement, int]]:
    """Each requirement of a lock, with how many hashes it has."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    lines = [line.split(" --hash=") for line in text.splitlines() if line.strip()]
    return [(Requirement(line[0].strip()), len(line) - 1) for line in lines]


def pins(lock: str) -> dict[str, str]:
    """The version of each package that a lock gives to this Python on this machine."""
    return {r.name: str(r.specifier).removeprefix("==") for r, _ in locked(lock) if not r.marker or r.marker.evaluate()}


# environment.yml


def test_environment_yml_has_the_shape_that_conda_reads() -> None:
    whole = conda()
    assert set(whole) == {"name", "channels", "dependencies"}
    assert whole["name"] == pyproject()["project"]["name"]
    assert whole["channels"] == ["conda-forge"]
    assert [entry for entry in whole["dependencies"] if not isinstance(entry, str)] == [{"pip": ["-e ."]}]


@pytest.mark.parametrize("spec", specs())
def test_a_conda_spec_parses_strictly(spec: str) -> None:
    assert MatchSpec(spec, strict=True).name is not None


def test_environment_yml_names_what_the_textbook_needs_and_no_more() -> None:
    book = {name for r in extra("book") for name in CONDA_NAMES.get(r.name, {r.name})}
    assert {MatchSpec(spec, strict=True).name.normalized for spec in specs()} == book | CONDA_ONLY


@pytest.mark.parametrize("requirement", extra("book"), ids=str)
def test_the_installed_version_satisfies_the_conda_spec(requirement: Requirement) -> None:
    (name,) = CONDA_NAMES.get(requirement.name, {requirement.name}) - {"graphviz"}
    (spec,) = (spec for spec in map(MatchSpec, specs()) if spec.name.normalized == name)
    assert VersionSpec(str(spec.version)).matches(CondaVersion(metadata.version(requirement.name)))


def test_conda_gets_one_python_that_the_project_supports() -> None:
    """A range would be read as "unspecified" by repo2docker, and an old Python taken."""
    (version,) = re.findall(r"python=(3\.\d+)$", "\n".join(specs()), flags=re.MULTILINE)
    assert Version(version) in SpecifierSet(pyproject()["project"]["requires-python"])


def test_binder_picks_environment_yml_and_its_python(tmp_path: Path) -> None:
    """Of all the files at the root that could describe an environment; no image is built."""
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    command = [
        sys.executable,
        "-m",
        "repo2docker",
        "--user-id",
        "1000",
        "--user-name",
        "reader",
        "--no-build",
        "--debug",
    ]
    run = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=True)
    said = run.stdout + run.stderr
    assert "Building conda environment for python=3.12" in said
    assert '--file "environment.yml"' in said


# The locks


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_in_a_lock_is_pinned_and_hashed(lock: str) -> None:
    for requirement, hashes in locked(lock):
        assert str(requirement.specifier).startswith("=="), requirement
        assert hashes >= 1, requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text and "find-links" not in text


@pytest.mark.parametrize(
    ("lock", "names"),
    [
        ("requirements.txt", ["book"]),
        ("requirements-site.txt", ["book", "site"]),
        ("requirements-dev.txt", ["book", "site", "export", "dev"]),
    ],
)
def test_a_lock_satisfies_pyproject(lock: str, names: list[str]) -> None:
    have = pins(lock)
    for requirement in (r for name in names for r in extra(name)):
        assert Version(have[requirement.name]) in requirement.specifier, f"run: python3 run.py lock ({requirement})"


def test_the_lock_for_tests_holds_the_lock_of_the_textbook() -> None:
    assert pins("requirements.txt").items() <= pins("requirements-site.txt").items()
    assert pins("requirements-site.txt").items() <= pins("requirements-dev.txt").items()


def test_what_is_imported_is_locked() -> None:
    """Every package that the code, its tests or the book's tools import, but for the one that needs a C library."""
    files = [path for folder in ("protocol", "tests", "book") for path in (ROOT / folder).rglob("*.py")]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in files]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    ours = {"protocol", *(path.stem for path in files), *(path.parent.name for path in files)}
    foreign = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - ours
    given = metadata.packages_distributions()
    locks = {canonicalize_name(name) for name in pins("requirements-dev.txt")}
    astray = {name for name in foreign if not locks & {canonicalize_name(d) for d in given.get(name, ())}}
    assert astray <= {requirement.name for requirement in extra("dot")}


def test_the_build_backend_is_locked() -> None:
    (backend,) = map(Requirement, pyproject()["build-system"]["requires"])
    assert Version(pins("requirements.txt")[backend.name]) in backend.specifier


def test_what_is_installed_is_what_is_locked() -> None:
    have = {name: metadata.version(name) for name in pins("requirements-dev.txt")}
    assert have == pins("requirements-dev.txt")


# The package


def test_the_package_needs_nothing_to_be_imported() -> None:
    assert pyproject()["project"]["dependencies"] == []
    assert Version(platform.python_version()) in SpecifierSet(pyproject()["project"]["requires-python"])


def test_a_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "protocol", source / "protocol", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(source)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("version_probing-*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("protocol/")}
    assert inside == {str(path.relative_to(ROOT)) for path in (ROOT / "protocol").rglob("*") if is_source(path)}


def is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def test_the_licence_is_the_whole_apache_licence() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert "END OF TERMS AND CONDITIONS" in text
    assert pyproject()["project"]["license"] == "Apache-2.0"


# What is committed


def test_no_golden_file_was_edited() -> None:
    listed = dict(reversed(line.split()) for line in (GOLDEN / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in GOLDEN.glob("*.t??")}
    assert there == listed


@pytest.mark.needs("git")
def test_no_file_names_a_registry_or_a_path_of_somebodys_machine() -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    hosts = "|".join(re.escape(".".join(host)) for host in HOSTS)
    banned = re.compile(rf"\b(?:{hosts})\b|(?<![\w.:/<-])/(?:{'|'.join(PATHS)})/\w")
    found = []
    for path in (ROOT / name for name in listed if name):
        if path.is_file() and path.suffix not in (".png", ".gif", ".woff2"):
            text = path.read_text(encoding="utf-8")
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in banned.finditer(text)]
    assert not found


def test_ci_installs_every_program_that_a_test_needs() -> None:
    """A test that needs a program is skipped without it, and in CI a skipped test fails."""
    told = "|".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    markers = " ".join(re.findall(r"\.needs\(([^)]*)\)", told))
    needed = set(re.findall(r"\"([\w.+-]+)\"", markers))
    needed |= set(re.findall(r"which\(\"([\w.+-]+)\"\)", told))
    installed = set(re.findall(r"^need (\S+)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert needed <= installed


def test_the_readme_is_short_and_has_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    assert "python3 run.py lab" in text and "python3 run.py test" in text
    assert "no conda solve was run" in text


def readme(language: str) -> list[str]:
    """The blocks of the README in a language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in blocks if name == language]


def test_the_readme_s_python_runs() -> None:
    (block,) = readme("python")
    ended = subprocess.run([sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()


@pytest.mark.parametrize(
    "command", [line for block in readme("") for line in block.splitlines() if line.startswith("python -m protocol")]
)
def test_a_command_in_the_readme_has_an_answer(command: str) -> None:
    _, *arguments = shlex.split(command)
    ended = subprocess.run([sys.executable, *arguments, "--format", "json"], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode in (0, 1), ended.stderr
    assert "schema" in json.loads(ended.stdout)
