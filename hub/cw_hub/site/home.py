"""The home page, and the template functions and values common to all pages of the hub."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flask import Blueprint, Flask, Response, redirect, render_template
from flask.typing import ResponseReturnValue

from cw import kits
from cw.games.registry import game_entries, load_endings
from cw.kits import games as games_with_kits
from cw.web.games import GamePage, game_page, picture
from cw_hub.accounts.actor import actor
from cw_hub.bots.pages import offered_games, written_at
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.home import ended, tops
from cw_hub.matches import listings
from cw_hub.matches.lookup import on_now
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.layout import COUNTRIES, ago, avatar, flag, machine_time, remembered_addresses
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
        running = tops(reading, site_formats())
        over = ended(reading, site_formats())
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
    """Report that the process responds."""
    return Response("ok\n", content_type="text/plain; charset=utf-8")


def install(app: Flask) -> None:
    """Register the functions and values common to all templates of an app."""
    app.context_processor(shared)
    addresses = app.extensions["addresses"] = remembered_addresses()
    # These are constant across requests, so that macros need no context for them.
    app.jinja_env.globals.update(
        ago=ago,
        flag=flag,
        avatar=avatar,
        country_name=COUNTRIES.get,
        first_turn=first_turn,
        kit_languages=kits.languages_of,
        url_for=addresses,
        written_at=written_at,
        site=app.extensions["hub"].settings,
    )
    app.jinja_env.filters.update(
        markdown=competitions_service.as_html,
        first_sentence=competitions_service.first_sentence,
        machine_time=machine_time,
    )


def first_turn(game: str) -> int:
    """Return the number of the first turn of a game."""
    return load_endings(game).first


def shared() -> dict[str, Any]:
    """Return the per-request values that every template may use."""
    return {"actor": actor(), "now": resources().clock()}
