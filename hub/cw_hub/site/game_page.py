"""A game's page on a hub: the leaders, current matches, and how to take part."""

from __future__ import annotations

from typing import Final

from flask import Flask
from markupsafe import Markup

from cw_hub.bots.pages import offered_games
from cw_hub.competitions.home import tops
from cw_hub.matches import listings
from cw_hub.matches.listings import Choice
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.parts import part_of_page
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.formats import site_formats

ROWS: Final = 5
"""Matches in each list."""


def install(app: Flask) -> None:
    """Add the hub's part to the pages of games."""
    app.extensions["game_part"] = game_part


def game_part(game: str) -> Markup:
    """Return a game's competitions, its current and best matches, and its kits."""
    month = f"{resources().clock():%Y-%m}"
    with one_reading() as reading:
        competitions = tops(reading, resources().clock, site_formats(), game)
        running = listings.listing(
            reading, shown_kinds(), Choice(game, state="in_progress"), rows=ROWS
        )
        best = listings.listing(reading, shown_kinds(), Choice(game, best=month), rows=ROWS)
    return part_of_page(
        "hub/site/game.html",
        game=game,
        tops=competitions,
        running=running.matches,
        best=best.matches,
        month=month,
        is_offered=game in offered_games(),
    )
