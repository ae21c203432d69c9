"""The documents for players: an index, and a page for each."""

from __future__ import annotations

from flask import Blueprint, abort, current_app, render_template

from cw.web.documents.shelf import Library

routes = Blueprint("docs", __name__, url_prefix="/docs")


@routes.get("/")
def index() -> str:
    """List the documents."""
    return render_template("documents.html", library=_library())


@routes.get("/<path:name>")
def page(name: str) -> str:
    """Show a document."""
    if name not in _library():
        abort(404, "there is no such document")
    return render_template("document.html", document=_library().document(name))


def _library() -> Library:
    library: Library = current_app.extensions["documents"]
    return library
