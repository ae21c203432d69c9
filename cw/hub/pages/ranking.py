"""The Ranking page."""

from __future__ import annotations

from flask import Blueprint, render_template

routes = Blueprint("ranking", __name__, url_prefix="/ranking")


@routes.get("")
def page() -> str:
    """Show who has come how far in the last daily game."""
    return render_template("hub/ranking.html")
