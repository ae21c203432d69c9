"""Pages about the project: its changelog, and how to contribute."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Blueprint, render_template
from markupsafe import Markup

from cw.assets import asset
from cw_hub.site import limits
from cw_hub.site.api.description import operations_of
from cw_hub.site.formats import site_formats
from cw.web.documents.markdown import MARKDOWN, link_to, rendered

routes = Blueprint("documents", __name__)

TEXTS: Final = {"blog": "CHANGELOG.md", "contribute": "CONTRIBUTING.md"}


@routes.get("/blog")
def blog() -> str:
    """Show the changelog."""
    return render_template("hub/site/document.html", title="Blog", text=as_html("blog"), news=True)


@routes.get("/contribute")
def contribute() -> str:
    """Show how to contribute."""
    return render_template("hub/site/document.html", title="Contribute", text=as_html("contribute"))


@routes.get("/api")
def api() -> str:
    """Show the operations and limits of the API."""
    return render_template(
        "hub/site/api.html", operations=operations_of(site_formats()), limits=limits.told_of_api()
    )


@lru_cache
def as_html(name: str) -> Markup:
    """Return a text as HTML; links to other files of the project become plain text."""
    tokens = MARKDOWN.parse(asset(TEXTS[name]).read_text(encoding="utf-8"))
    link_to(tokens, elsewhere)
    return rendered(tokens)


def elsewhere(target: str) -> str | None:
    """Return an address on another site, or None for a file of ours, which has no page."""
    return target if target.startswith("https:") else None
