"""The built book for the tests that look at it: made once, and left as it is where nothing of it has changed."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built book, with what makes its pages live."""
    command = [sys.executable, str(ROOT / "book" / "build.py"), "--if-changed"]
    with open(__file__, "rb") as door:  # two checks may want it at the same time
        fcntl.flock(door, fcntl.LOCK_EX)
        ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if ended.returncode == 2 and "npm" in ended.stderr:
        pytest.skip(ended.stderr.strip())
    assert ended.returncode == 0, (ended.stdout + ended.stderr)[-4000:]
    return SITE
