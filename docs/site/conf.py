"""How Sphinx makes a site of the documents: `make docs`; a broken link is an error."""

from __future__ import annotations

import os
import re
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from click import Context
from sphinx.application import Sphinx

from cw import __version__

DOCS: Final = Path(__file__).resolve().parents[1]
LINK: Final = re.compile(r"(?<=\]\()[^)\s#]+\.md(?=[)#])")
OUTSIDE: Final = {
    "README.md": "index.md",
    "SECURITY.md": "reporting.md",
    "sample_bots/vectors/README.md": "reference/vectors.md",
}
"""Documents of the repository that are not below docs/, and the pages that stand for them."""

HEADING: Final = 'role="heading"'
EMPTY: Final = '<th class="head"><p></p></th>'

LINE_BLOCK: Final = "| "
"""How the lines of a help text begin that stay as they are."""

project = "Circuit Wars"
release = __version__
project_copyright = "the Circuit Wars founders, MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"exclude-members": "__new__, __init__"}


def inside(page: Path, link: str) -> str:
    """Return a link of a page, to a page of the site also where it leads outside docs/."""
    target = Path(os.path.normpath(page.parent / link))
    stands = OUTSIDE.get(os.path.relpath(target, DOCS.parent))
    return link if stands is None else os.path.relpath(DOCS / stands, page.parent)


def keep_inside(app: Sphinx, name: str, source: list[str]) -> None:
    """Let no link of a page leave the site."""
    page = Path(app.env.doc2path(name))
    source[0] = LINK.sub(lambda link: inside(page, link[0]), source[0])


def keep_columns(_app: Sphinx, _context: Context, lines: list[str]) -> None:
    """Let the columns of a help text be columns, where its lines are kept as they are."""
    groups = [
        (is_block, list(group))
        for is_block, group in groupby(lines, lambda one: one[:2] == LINE_BLOCK)
    ]
    lines.clear()
    for is_kept, part in groups:
        lines += ["", "::", "", *(f"   {line[2:]}" for line in part), ""] if is_kept else part


def mend(_app: Sphinx, _name: str, _template: str, context: dict[str, Any], _: Any) -> None:
    """Say of which level the headings of the menu are, and let no empty cell be a heading."""
    menu = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = menu.replace(HEADING, f'{HEADING} aria-level="2"')
    context["body"] = context.get("body", "").replace(EMPTY, "<td></td>")


def setup(app: Sphinx) -> None:
    """Let Sphinx call these for each page and each command."""
    app.connect("source-read", keep_inside)
    # After the theme has made the menu.
    app.connect("html-page-context", mend, priority=900)
    app.connect("sphinx-click-process-description", keep_columns)
