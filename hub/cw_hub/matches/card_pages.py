"""Serves the preview image of a match."""

from __future__ import annotations

from functools import partial
from typing import Final, cast

from flask import Blueprint, Flask, Response, current_app, redirect
from flask.typing import ResponseReturnValue

from cw.web.games import picture as picture_of
from cw_hub.matches.cards import Cards
from cw_hub.matches.pages import find
from cw_hub.matches.replays import viewed_key
from cw_hub.pages.layout import address_of
from cw_hub.pages.request import resources
from cw_hub.store.objects import file_at

routes = Blueprint("cards", __name__)

LASTS: Final = "public, max-age=86400"


def install(app: Flask) -> None:
    """Set up the preview image cache of an app."""
    app.extensions["cards"] = Cards()


@routes.app_template_global("card_of")
def address(match_id: str | None, game: str) -> str:
    """Return the URL of a match's preview image, or without a match that of its game's image."""
    return address_of("cards.picture", match_id=match_id) if match_id else picture_of(game)


@routes.get("/match/<match_id>/picture.png")
def picture(match_id: str) -> ResponseReturnValue:
    """Return an image of a finished match's last turn; otherwise redirect to its game's image."""
    match = find(match_id)
    image: bytes | None = b""
    if match.state == "done" and match.replay_key and match.kind.is_public:
        key = viewed_key(match.game, match.replay_key)
        cards = cast(Cards, current_app.extensions["cards"])
        image = cards.find(key, partial(file_at, resources().objects, key))
    if not image:
        answer = redirect(picture_of(match.game), 302)
        answer.headers["Cache-Control"] = "no-store"
        return answer
    answer = Response(image, mimetype="image/png")
    answer.headers["Cache-Control"] = LASTS
    return answer
