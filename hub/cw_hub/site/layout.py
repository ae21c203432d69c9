"""Common parts of the hub's pages: header, footer, notices, times, flags."""

from __future__ import annotations

from typing import Any

from flask import Flask

from cw import kits
from cw.games.registry import load_endings
from cw_hub.accounts.access.actor import actor
from cw_hub.bots.workshop.pages import written_at
from cw_hub.competitions import description
from cw_hub.pages.countries import COUNTRIES, flag
from cw_hub.pages.parts import (
    ago,
    avatar,
    remembered_addresses,
)
from cw_hub.pages.request import resources
from cw_hub.pages.times import machine_time


def install(app: Flask) -> None:
    """Give an app's templates their common functions and values."""
    app.context_processor(shared)
    addresses = app.extensions["addresses"] = remembered_addresses()
    # Constant across requests, so that macros need no context for it.
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
        markdown=description.as_html,
        first_sentence=description.first_sentence,
        machine_time=machine_time,
    )


def first_turn(game: str) -> int:
    """Return the number of the first turn of a game."""
    return load_endings(game).first


def shared() -> dict[str, Any]:
    """Return the values of the request that every template may use."""
    return {"actor": actor(), "now": resources().clock()}
