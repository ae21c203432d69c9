"""Rated competitions on the home page and on profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from sqlalchemy.orm import Session

from cw_hub.accounts.access.actor import actor
from cw_hub.bots.checks.condition import WORDS, conditions
from cw_hub.competitions.format import Place
from cw_hub.competitions.rated import standings as leaderboard
from cw_hub.competitions.rated.bots import bot_standings
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.pages.parts import address_of, part_of_page

PLACES: Final = 3
"""Number of places shown at the top."""


def address(competition: CompetitionFacts) -> str:
    """Return the address of a competition's leaderboard."""
    return address_of("leaderboard.page", game=competition.slug)


def leaders(session: Session, competition: int) -> Sequence[Place]:
    """Return the bots with the highest shown ratings; tied bots share a place."""
    return [
        Place(leader.rank, leader.name, leader.owner, leader.picture, f"{leader.shown_rating:.0f}")
        for leader in leaderboard.leaders(session, competition, PLACES)
    ]


def profile_part(session: Session, user_id: int, _username: str) -> Markup:
    """Return a user's bots with their ratings; empty if there are none.

    Viewers who may see the bots' condition on their pages see it here as well.
    """
    bots = bot_standings.bots_of(session, user_id)
    if not bots:
        return Markup()
    words = {bot.bot: WORDS[bot.status] for bot in bots}
    if actor().sees(user_id):
        conditions_of_bots = conditions(
            session, [bot.bot for bot in bots if bot.status != "RETIRED"]
        )
        words |= {bot: condition.word for bot, condition in conditions_of_bots.items()}
    return part_of_page("hub/competitions/rated/profile.html", bots=bots, words=words)
