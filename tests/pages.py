"""What the browser tests ask of any page of ours: a control by its key, and what axe-core finds."""

from __future__ import annotations

from importlib import resources
from typing import Any

from playwright.sync_api import Locator, Page


def key(page: Page, name: str) -> Locator:
    """The control of that `data-key`."""
    return page.locator(f'[data-key="{name}"]')


def axe(page: Page, *, least: int = 25, **options: Any) -> list[str]:
    """What axe-core finds on the page as it is, one line each; `least` rules must have had something to look at."""
    page.evaluate((resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("(options) => axe.run(options)", options)
    assert len(found["passes"]) >= least, "axe-core saw too little"
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found["violations"]]
