"""Documents about the site, and pages about the project: its changelog, and how to contribute."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Blueprint, Flask, render_template
from markupsafe import Markup

from cw.assets import asset as arena_asset
from cw.web.documents.markdown import MARKDOWN, link_to, rendered
from cw.web.documents.shelf import Library
from cw_hub.assets import asset
from cw_hub.site import limits
from cw_hub.site.api.description import operations_of
from cw_hub.site.formats import site_formats

routes = Blueprint("documents", __name__)

TEXTS: Final = {"blog": "CHANGELOG.md", "contribute": "CONTRIBUTING.md"}

OWN: Final = (
    ("Compete", "hub/players", "A hub for players: accounts, bots, practice, ratings."),
    ("Compete", "hub/contests", "The competitions of a hub: daily games, rated matches, cups."),
    ("Compete", "hub/tournaments", "Tournaments of teams, from the groups to the final."),
    ("Look up", "api", "Read a hub and manage bots from a program."),
    ("Look up", "hub/glossary", "The terms of a hub, one per concept."),
)
"""The shelf, the name and a summary of each document about the site."""


def install(app: Flask) -> None:
    """Put the documents about the site beside those of the arena."""
    library: Library = app.extensions["documents"]
    for heading, name, summary in OWN:
        path = f"docs/{name.removeprefix('hub/')}.md"
        library.add(heading, name, summary, f"hub/{path}", asset(path))


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
    tokens = MARKDOWN.parse(arena_asset(TEXTS[name]).read_text(encoding="utf-8"))
    link_to(tokens, elsewhere)
    return rendered(tokens)


def elsewhere(target: str) -> str | None:
    """Return an address on another site, or None for a file of ours, which has no page."""
    return target if target.startswith("https:") else None
