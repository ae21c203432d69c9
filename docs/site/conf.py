"""Sphinx configuration of the documentation site, which build.py builds."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from click import Context
from sphinx.application import Sphinx

from cw import __version__

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
    # After the theme has made the menu.
    app.connect("html-page-context", mend, priority=900)
    app.connect("sphinx-click-process-description", keep_columns)
