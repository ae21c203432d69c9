"""The home page, and whether the process answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flask import Blueprint, Response, current_app, render_template, url_for

from cw.games.registry import game_entries
from cw.hub.pages.actor import actor, one_reading, resources
from cw.hub.pages.bots import offered_games
from cw.hub.services import match_views, tops
from cw.hub.services.tops import Top
from cw.kits import games as games_with_kits
from cw.web.game_pages import GamePage, game_page
from cw.web.game_routes import picture

routes = Blueprint("home", __name__)


@dataclass(frozen=True, slots=True)
class GameCard:
    """What the home page says of a game."""

    page: GamePage
    picture: str | None
    has_kit: bool


@lru_cache
def game_cards() -> dict[str, GameCard]:
    """Return the cards of all games, made once: no game comes or goes while a process runs."""
    kits = games_with_kits()
    return {game: GameCard(game_page(game), picture(game), game in kits) for game in game_entries()}


@routes.get("/")
def home() -> str:
    """Show the games, what is on, who leads, and where to begin."""
    user = actor().user
    with one_reading() as reading:
        told = tops.tops(reading, resources().clock)
        playing = match_views.open_to_all(reading)
        own = match_views.latest_of_user(reading, user.user_id) if user else []
    return render_template(
        "hub/home.html",
        cards=game_cards(),
        offered=offered_games(),
        tops=told,
        address=address,
        playing=playing,
        own=own,
    )


def address(top: Top) -> str:
    """Return the address of the page of a competition, of its game where it has none."""
    if top.format == "rated" and "leaderboard" in current_app.blueprints:
        return url_for("leaderboard.page", game=top.game)
    if top.format == "daily" and top.game == "end-of-codes":
        return url_for("ranking.page")
    if top.format == "ladder":
        return url_for("tournaments.choose", slug=top.slug)
    return url_for("games.about", game=top.game)


@routes.get("/health")
def health() -> Response:
    """Say that the process answers."""
    return Response("ok\n", content_type="text/plain; charset=utf-8")
