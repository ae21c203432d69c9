"""The pages of the games: the list, how to play each, and its rules."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Final

import msgspec
from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    send_file,
    url_for,
)
from markupsafe import Markup
from werkzeug.routing import BaseConverter

from cw import documents
from cw.assets import asset
from cw.errors import CapacityError, UsageError
from cw.games.registry import game_entries, game_entry, installed_games, load_strategies
from cw.games.rules import Json
from cw.kits import LANGUAGES, languages_of
from cw.server.guard import refuse_other_sites
from cw.web.answers import revalidated
from cw.web.games.frames import Window, captions_in, drawn_window
from cw.web.games.game_files import KINDS, file_of, game_title, viewer_file, viewer_games
from cw.web.games.game_pages import game_page
from cw.web.games.sample_position import sample_picture
from cw.web.live.form_seats import form_seats

routes = Blueprint("games", __name__, url_prefix="/games")

LANGUAGE: Final = "python"
"""The language of the kit that the page of a game shows first."""


LARGEST_WINDOW: Final = 2 * 1024 * 1024
"""Most bytes of a request to draw frames."""

DRAWING: Final = Lock()
"""Serialises drawing, which keeps a core busy for some time."""

PATIENCE: Final = 1.0
"""Seconds that a request waits for this lock."""


class GameConverter(BaseConverter):
    """The name of a game in an address."""

    regex = "[A-Za-z0-9._-]{1,64}"


@routes.get("/")
def index() -> Response:
    """List all games."""
    pages = {game: game_page(game) for game in game_entries()}
    pictures = {game: picture(game) for game in pages}
    return revalidated(
        render_template("games.html", pages=pages, pictures=pictures, packages=packages())
    )


@routes.get("/<game:game>/")
def about(game: str) -> Response:
    """Describe a game in short, and how to write a bot for it."""
    _find(game)
    page = render_template(
        "game.html",
        game=game,
        page=game_page(game),
        picture=picture(game),
        package=packages().get(game),
        strategies=strategies(game),
        others=form_seats(game).numbers[0] - 1,
        languages=languages_of(game),
        language=LANGUAGE,
        bot=LANGUAGES[LANGUAGE].bot,
        checked=game_entry(game).has_checks,
        clients=game_entry(game).has_clients,
    )
    return revalidated(page)


@routes.get("/<game:game>/rules")
def rules(game: str) -> Response:
    """Return the rules of a game, from its document."""
    _find(game)
    page = game_page(game)
    if not page.rules:
        abort(404, f"this server has no page with the rules of {game!r}")
    return revalidated(render_template("rules.html", game=game, page=page))


def strategies(game: str) -> dict[str, str]:
    """Return a sentence on each built-in strategy, weakest first."""
    texts = {
        name: inspect.getdoc(strategy) or "" for name, strategy in load_strategies(game).items()
    }
    return {name: text.partition("\n")[0] for name, text in texts.items()}


@routes.app_template_global("picture_of")
def picture(game: str) -> str:
    """Return the address of a game's picture: one of our files, or one from its package."""
    name = f"games/{game}.png"
    return url_for("static", filename=name) if is_ours(name) else url_for("games.card", game=game)


@lru_cache
def is_ours(name: str) -> bool:
    """Return whether a static file exists; cached, as they do not change while a process runs."""
    return (asset("static") / name).is_file()


def packages() -> dict[str, str]:
    """Return the package name and version of each game from another package."""
    return {game.name: f"{game.package} {game.version}" for game in installed_games()}


@routes.get("/<game:game>/card")
def card(game: str) -> Response:
    """Return the picture of a game from another package: its own, or a position from a match."""
    _find(game)
    file = file_of(game, "card.png")
    if file is not None:
        return send_file(file, "image/png", max_age=0)
    answer = Response(sample_picture(game), content_type="image/svg+xml")
    answer.set_etag(f"{zlib.crc32(sample_picture(game)):x}")
    answer.headers["Cache-Control"] = "no-cache"
    answer.make_conditional(request)
    return answer


@routes.get("/<game:game>/viewer/<path:name>")
def viewer_part(game: str, name: str) -> Response:
    """Return a file of the viewer in the package of a game."""
    file = viewer_file(game, name)
    if file is None:
        abort(404, f"the viewer of {game!r} has no such file")
    return send_file(file, KINDS[file.suffix], max_age=0)


@routes.post("/<game:game>/frames")
def frames(game: str) -> Response:
    """Draw frames for the viewer, as SVG or as text, or return their captions; 503 while busy."""
    refuse_other_sites()
    _find(game)
    request.max_content_length = LARGEST_WINDOW
    try:
        window = documents.decode(request.get_data(cache=False), Window)
    except msgspec.DecodeError as error:
        raise UsageError(f"the frames cannot be read: {error}") from None
    if not DRAWING.acquire(timeout=PATIENCE):
        raise CapacityError("the server is drawing other frames: try again")
    try:
        if window.captions:
            return jsonify(msgspec.to_builtins(captions_in(game, window)))
        return jsonify(drawn=drawn_window(game, window))
    finally:
        DRAWING.release()


routes.add_app_template_global(game_title, "game_title")


@routes.app_template_global("game_part")
def game_part(game: str) -> Markup:
    """Return what the site adds to the page of a game: nothing unless it has set a function."""
    part: Callable[[str], Markup] | None = current_app.extensions.get("game_part")
    return Markup() if part is None else part(game)


@routes.app_template_global("viewer_games")
def _viewer_games() -> dict[str, dict[str, Json]]:
    return viewer_games(f"{request.script_root}/games/{{}}/")


def _find(game: str) -> None:
    if game not in game_entries():
        abort(404, f"there is no game {game!r}; the games are: {', '.join(game_entries())}")
