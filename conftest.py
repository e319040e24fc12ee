"""What holds for every test, of whatever folder: a test that cannot run is skipped by name, and never in CI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator

import pytest

CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The cells of a chapter keep their order, whatever has shuffled the tests."""
    cells = [item for item in items if hasattr(item, "cell_num")]
    others = [item for item in items if not hasattr(item, "cell_num")]
    items[:] = others + sorted(cells, key=lambda cell: (cell.path, cell.cell_num))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `needs("dot")` runs where the PATH has `dot`."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not on the PATH")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a skipped test is a failed one: there, everything that a test needs must be installed."""
    report = yield
    if CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {call.excinfo.value if call.excinfo else ''}"
    return report
