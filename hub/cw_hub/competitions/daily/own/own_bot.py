"""The current user's End of Codes bot, and the family of its pages."""

from __future__ import annotations

from typing import Final

from flask import Blueprint

from cw_hub.accounts.access.actor import player
from cw_hub.competitions.daily import bots as grader_bots
from cw_hub.competitions.daily.bots import GraderBot
from cw_hub.pages.request import resources

family: Final = Blueprint("bot_settings", __name__, url_prefix="/bots/end-of-codes")


def own_bot() -> GraderBot:
    """Return the player's bot; create it on first use."""
    hub, user = resources(), player()
    with hub.database.reading() as reading:
        bot = grader_bots.find(reading, user.user_id)
    if bot is not None and bot.secret is not None:
        return bot
    with hub.database.writing() as writing:
        return grader_bots.make(writing, hub.clock, hub.sealer, user.user_id, user.username)
