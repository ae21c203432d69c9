"""The home page, and the health check of the process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flask import Blueprint, Response, redirect, render_template
from flask.typing import ResponseReturnValue

from cw.games.registry import game_entries
from cw.kits import games as games_with_kits
from cw.web.games.game_pages import GamePage, game_page
from cw.web.games.game_routes import picture
from cw_hub.accounts.access.actor import actor
from cw_hub.bots.pages import offered_games
from cw_hub.competitions.home import ended, tops
from cw_hub.matches import listings
from cw_hub.matches.live.listings import on_now
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.formats import site_formats

routes = Blueprint("home", __name__)


@dataclass(frozen=True, slots=True)
class GameCard:
    """A game's card on the home page."""

    page: GamePage
    has_kit: bool


@lru_cache
def game_cards() -> dict[str, GameCard]:
    """Return the cards of all games; cached, as the games of a process do not change."""
    kits = games_with_kits()
    return {game: GameCard(game_page(game), game in kits) for game in game_entries()}


@routes.get("/")
def home() -> ResponseReturnValue:
    """Show the home page, or redirect to the page that the operator has chosen instead."""
    chosen = resources().settings.home
    return home_page() if chosen == "/" else redirect(chosen, 303)


@routes.get("/home", endpoint="page")
def page() -> ResponseReturnValue:
    """Show the home page if another page has replaced it at the root."""
    return redirect("/", 303) if resources().settings.home == "/" else home_page()


def home_page() -> str:
    """Return the page of games, current matches, leaders, and first steps."""
    user = actor().user
    with one_reading() as reading:
        running = tops(reading, resources().clock, site_formats())
        over = ended(reading, resources().clock, site_formats())
        playing = listings.open_to_all(reading, shown_kinds())
        hero, _ = on_now(reading, shown_kinds())
        own_matches = listings.latest_of_user(reading, shown_kinds(), user.user_id) if user else []
    return render_template(
        "hub/site/home.html",
        cards=game_cards(),
        picture=picture,
        offered=offered_games(),
        tops=running,
        ended=over,
        playing=playing,
        hero=hero,
        own=own_matches,
    )


@routes.get("/health")
def health() -> Response:
    """Report that the process answers."""
    return Response("ok\n", content_type="text/plain; charset=utf-8")
