"""Take the picture that a link to the book is shown with: the bench in the middle of a run, 1280 by 640.

The page that it is taken of is made by `protocol.bench`; it needs a Chromium, and is taken by hand.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from protocol.bench import Bench

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "_static" / "preview.png"
STEP = 8
STYLE = """
body { padding: 18px 24px 0 !important }
main { max-width: none !important }
h1 { font-size: 30px !important; margin: 0 0 10px !important }
"""


def main() -> int:
    """Take the picture; the exit status."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("There is no Chromium on the PATH.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "bench.html"
        page_file.write_text(Bench().html("Version probing: a rolling upgrade, step by step"), encoding="utf-8")
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = chromium.new_page(viewport={"width": 1280, "height": 640}, reduced_motion="reduce")
        page.goto(f"{page_file.as_uri()}#step={STEP}")
        page.add_style_tag(content=STYLE)
        page.get_by_role("slider").first.wait_for()
        page.screenshot(path=PICTURE)
        chromium.close()
    print(f"{PICTURE.name}: {PICTURE.stat().st_size} bytes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
