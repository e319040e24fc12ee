"""How Sphinx turns the chapters and the prose pages into the book; `build.py` lays them in one folder and calls it.

The chapters keep the outputs that they are committed with: no cell is executed here.
"""

from __future__ import annotations

import json
import os
import re
from html import escape
from typing import Any

from protocol.bench import Bench, read_link

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

project = "Version probing"
author = "the version-probing authors"
language = "en"
extensions = ["myst_nb"]
exclude_patterns = ["_build", "jupyter_execute"]
pygments_style = "a11y-high-contrast-light"

nb_execution_mode = "off"
nb_output_stderr = "show"
nb_merge_streams = True
nb_code_prompt_show = "Show the code that checks this"
nb_code_prompt_hide = "Hide the code"
# The player's fragment plays with no Python; its widget view would want a kernel, or scripts from elsewhere.
nb_mime_priority_overrides = [("html", "text/html", 0), ("html", WIDGET_VIEW, None)]
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_theme = "sphinx_book_theme"
html_title = "Version probing"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = [("book.js", {"defer": "defer"}), ("progress.js", {"defer": "defer"})]
html_copy_source = True
html_show_sourcelink = False
html_show_copyright = False
html_last_updated_fmt = None
html_use_index = False
html_baseurl = os.environ.get("BOOK_URL", "")

repository = os.environ.get("BOOK_REPOSITORY", "")
"""Where the project is published; without it the pages have no launch links, for they would lead nowhere."""

html_theme_options: dict[str, Any] = {
    "home_page_in_toc": True,
    "show_toc_level": 2,
    "use_download_button": True,
    "use_fullscreen_button": False,
    "navbar_persistent": [],
    "path_to_docs": "notebooks",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if repository:
    html_theme_options["repository_url"] = repository
    html_theme_options["repository_branch"] = os.environ.get("BOOK_BRANCH", "main")
    html_theme_options["use_repository_button"] = True
    html_theme_options["launch_buttons"] = {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
        "notebook_interface": "jupyterlab",
    }


def with_runs(notebook: dict[str, Any]) -> None:
    """Benches that can be picked from with no Python: every leader and order is in the page.

    The notebook itself does without them, for they are half a megabyte a bench.
    """
    for output in (output for cell in notebook["cells"] for output in cell.get("outputs", ())):
        data = output.get("data", {})
        link = re.search(r'"link":"([\w-]+)"', "".join(data.get("text/html", ())))
        if link and "".join(data.get("text/plain", ())).startswith("Bench("):
            data["text/html"] = Bench(read_link(f"#run={link[1]}").scenario).fragment(runs=True)


def without_widgets(app: Any, docname: str, source: list[str]) -> None:
    """A chapter as the page needs it: no widget state, and links that hold in one folder."""
    text = source[0]
    if str(app.env.doc2path(docname)).endswith(".ipynb"):
        notebook = json.loads(text)
        notebook["metadata"].pop("widgets", None)
        with_runs(notebook)
        app.env.book_cells[docname] = [
            {"source": "".join(cell["source"]), "shown": "remove-cell" not in cell["metadata"].get("tags", [])}
            for cell in notebook["cells"]
            if cell["cell_type"] == "code" and "".join(cell["source"]).strip()
        ]
        text = json.dumps(notebook)
    source[0] = text.replace("](../book/", "](").replace("](../notebooks/", "](")


def with_cells(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """A chapter's page carries its own code, so that it can be made live."""
    cells = app.env.book_cells.get(pagename)
    if not cells or not app.config.book_live:
        return
    data = {"megabytes": app.config.book_live, "notebook": f"{pagename}.ipynb", "cells": cells}
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    context["body"] += f'<script type="application/json" id="live-cells">{text}</script>'


def with_card(app: Any, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """What is shown where somebody links to the page; a picture must be named with its full address."""
    title = context.get("title") or escape(project)  # Sphinx has escaped it
    context["metatags"] = context.get("metatags", "") + f'<meta property="og:title" content="{title}"/>'
    if app.config.html_baseurl:
        picture = f"{app.config.html_baseurl.rstrip('/')}/_static/preview.png"
        context["metatags"] += (
            f'<meta property="og:image" content="{picture}"/><meta name="twitter:card" content="summary_large_image"/>'
        )


def setup(app: Any) -> dict[str, Any]:
    """Sphinx's entry."""
    app.add_config_value("book_live", "", "html")
    app.connect("builder-inited", lambda app: setattr(app.env, "book_cells", {}))
    app.connect("source-read", without_widgets)
    app.connect("html-page-context", with_cells)
    app.connect("html-page-context", with_card)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
