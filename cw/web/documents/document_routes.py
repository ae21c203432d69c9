"""The documents for players: an index, and a page for each."""

from __future__ import annotations

from flask import Blueprint, abort, render_template

from cw.web.documents.shelf import NAMES, SHELVES, document

routes = Blueprint("docs", __name__, url_prefix="/docs")


@routes.get("/")
def index() -> str:
    """List the documents."""
    return render_template("documents.html", shelves=SHELVES, document=document)


@routes.get("/<path:name>")
def page(name: str) -> str:
    """Show a document."""
    if name not in NAMES:
        abort(404, "there is no such document")
    return render_template("document.html", document=document(name))
