"""The home page, and whether the process answers."""

from __future__ import annotations

from flask import Blueprint, Response, render_template

from cw.games.registry import game_entries
from cw.web.game_pages import game_page
from cw.web.game_routes import picture

routes = Blueprint("home", __name__)


@routes.get("/")
def home() -> str:
    """Show the games, and where to begin."""
    pages = {game: game_page(game) for game in game_entries()}
    return render_template(
        "hub/home.html", pages=pages, pictures={game: picture(game) for game in pages}
    )


@routes.get("/health")
def health() -> Response:
    """Say that the process answers."""
    return Response("ok\n", content_type="text/plain; charset=utf-8")
