"""Link previews of bots and competitions: their own pictures, or those of their last matches.

Pages contain only these addresses; the match is looked up when a picture is requested.
"""

from __future__ import annotations

from typing import Final

from flask import Blueprint, abort, redirect, request
from flask.typing import ResponseReturnValue

from cw_hub.bots import views as bot_views
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.drafts import is_shown
from cw_hub.matches.cards import latest
from cw_hub.matches.cards.pages import address
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.parts import avatar
from cw_hub.pages.request import one_reading

routes = Blueprint("shared_pictures", __name__)

LASTS: Final = "public, max-age=300"


@routes.get("/bot/<name>/picture.png")
def of_bot(name: str) -> ResponseReturnValue:
    """Redirect to the picture of a bot's last public match, otherwise to that of its game."""
    with one_reading() as reading:
        bot = bot_views.find(reading, request.args.get("game") or None, name)
        if bot is None:
            abort(404, "There is no such bot.")
        match_id = latest.of_bot(reading, shown_kinds(), bot.id)
    return lead_to(address(match_id, bot.game))


@routes.get("/competitions/<format_name>/<slug>/picture.png")
def of_competition(format_name: str, slug: str) -> ResponseReturnValue:
    """Redirect to the picture of a competition, otherwise to that of its last match or its game."""
    with one_reading() as reading:
        facts = competitions.find(reading, format_name, slug)
        if facts is None or not is_shown(facts):
            abort(404, "There is no such competition.")
        if facts.picture is not None:
            return lead_to(avatar(facts.picture))
        match_id = latest.of_competition(reading, shown_kinds(), facts.id)
    return lead_to(address(match_id, facts.game))


def lead_to(place: str) -> ResponseReturnValue:
    """Return a redirect to a picture."""
    answer = redirect(place, 302)
    answer.headers["Cache-Control"] = LASTS
    return answer
