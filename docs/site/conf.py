"""How Sphinx makes a site of the documents: `make docs`; a broken link is an error."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

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

project = "Circuit Wars"
release = __version__
project_copyright = "the Circuit Wars founders, MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
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


def setup(app: Sphinx) -> None:
    """Let Sphinx call `keep_inside` for each page."""
    app.connect("source-read", keep_inside)
