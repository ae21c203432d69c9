"""The home page, and whether the process answers."""

from __future__ import annotations

from flask import Blueprint, Response, render_template

from cw.games.registry import game_entries
from cw.hub.pages.actor import actor, resources
from cw.hub.pages.bots import games_of_services
from cw.hub.services import match_views
from cw.kits import games as games_with_kits
from cw.web.game_pages import game_page
from cw.web.game_routes import picture

routes = Blueprint("home", __name__)


@routes.get("/")
def home() -> str:
    """Show the games, and where to begin."""
    pages = {game: game_page(game) for game in game_entries()}
    user = actor().user
    with resources().database.reading() as reading:
        playing = match_views.open_to_all(reading)
        own = match_views.latest_of_user(reading, user.user_id) if user else []
    return render_template(
        "hub/home.html",
        pages=pages,
        pictures={game: picture(game) for game in pages},
        kits=games_with_kits(),
        services=games_of_services(),
        playing=playing,
        own=own,
    )


@routes.get("/health")
def health() -> Response:
    """Say that the process answers."""
    return Response("ok\n", content_type="text/plain; charset=utf-8")
