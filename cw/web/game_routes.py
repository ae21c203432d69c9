"""The pages of the games: what there is, how each is played, and its rules."""

from __future__ import annotations

import inspect
from typing import Final

from flask import Blueprint, Response, abort, make_response, render_template
from werkzeug.routing import BaseConverter

from cw.assets import asset
from cw.games.registry import game_entries, game_entry, load_strategies
from cw.kits import LANGUAGES
from cw.kits import games as games_with_kits
from cw.web.game_pages import game_page

routes = Blueprint("games", __name__, url_prefix="/games")

LANGUAGE: Final = "python"
"""The language of the kit that the page of a game begins with."""


class GameConverter(BaseConverter):
    """The name of a game in an address."""

    regex = "[A-Za-z0-9._-]{1,64}"


@routes.get("/")
def index() -> Response:
    """Return all games."""
    pages = {game: game_page(game) for game in game_entries()}
    pictures = {game: picture(game) for game in pages}
    return _fresh(render_template("games.html", pages=pages, pictures=pictures))


@routes.get("/<game:game>/")
def about(game: str) -> Response:
    """Return a game in short, and the way to a bot that plays it."""
    _find(game)
    page = render_template(
        "game.html",
        game=game,
        page=game_page(game),
        picture=picture(game),
        strategies=strategies(game),
        languages=LANGUAGES if game in games_with_kits() else {},
        language=LANGUAGE,
        bot=LANGUAGES[LANGUAGE].bot,
        checked=game_entry(game).has_checks,
        clients=game_entry(game).has_clients,
    )
    return _fresh(page)


@routes.get("/<game:game>/rules")
def rules(game: str) -> Response:
    """Return the rules of a game as its document has them."""
    _find(game)
    found = game_page(game)
    if not found.rules:
        abort(404, f"the rules of {game!r} are not written down here")
    return _fresh(render_template("rules.html", game=game, page=found))


def strategies(game: str) -> dict[str, str]:
    """Say of each built-in strategy in a sentence what it does, the weakest first."""
    said = {name: inspect.getdoc(made) or "" for name, made in load_strategies(game).items()}
    return {name: text.partition("\n")[0] for name, text in said.items()}


def picture(game: str) -> str | None:
    """Return the file of a game's picture under static/, None if there is none."""
    name = f"games/{game}.png"
    return name if (asset("static") / name).is_file() else None


def _find(game: str) -> None:
    if game not in game_entries():
        abort(404, f"there is no game {game!r}; the games are: {', '.join(game_entries())}")


def _fresh(page: str) -> Response:
    answer = make_response(page)
    answer.headers["Cache-Control"] = "no-cache"
    return answer
