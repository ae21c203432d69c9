"""Daily competitions on the home page and on profiles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.competitions.daily import bots
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.daily.history import lookup
from cw_hub.competitions.daily.history.graph import graph_of
from cw_hub.competitions.daily.verbs import upcoming
from cw_hub.competitions.format import Place
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.pages.parts import address_of, part_of_page
from cw_hub.store.tables import Bot, MatchParticipant, User

PLACES: Final = 3
"""Number of places shown at the top."""


def address(competition: CompetitionFacts) -> str:
    """Return the address of a competition's ranking."""
    if competition.slug == GAME:
        return address_of("ranking.page")
    return address_of("ranking.page", game=competition.slug)


def next_at(session: Session, clock: Clock, competition: CompetitionFacts) -> datetime | None:
    """Return when the next game of a competition is due."""
    return next(iter(upcoming(session, clock, competition, 1)), None)


def leaders(session: Session, competition: int) -> Sequence[Place]:
    """Return the top places of a daily competition's last ranked game."""
    last = rankings.find(session, competition)
    if last is None:
        return []
    rows = session.execute(
        select(MatchParticipant, User.username, User.avatar)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .outerjoin(User, User.id == Bot.user_id)
        .where(MatchParticipant.match_id == last.game.id, MatchParticipant.rank.is_not(None))
        .order_by(MatchParticipant.rank, MatchParticipant.slot)
        .limit(PLACES)
    )
    return [
        Place(seat.rank or 0, seat.name, owner, picture, f"outlived {seat.score or 0:g}")
        for seat, owner, picture in rows
    ]


def profile_part(session: Session, user_id: int, username: str) -> Markup:
    """Return the rank graph of a user."""
    graph = graph_of(session, GAME, user_id)
    return part_of_page("hub/competitions/daily/profile.html", graph=graph, username=username)


def profile_line(session: Session, user_id: int) -> tuple[str, str]:
    """Return the label and the value of a user's rank in the last game."""
    rank = lookup.last_rank(session, user_id)
    return "Last game ranking", "did not play" if rank is None else str(rank)


def profile_head() -> Markup:
    """Return the scripts of the graph."""
    return part_of_page("hub/competitions/daily/profile_head.html")


def settings_part(session: Session, user_id: int) -> Markup:
    """Return the settings card of a player's daily bot."""
    bot = bots.find(session, user_id)
    return part_of_page("hub/competitions/daily/settings_card.html", bot=bot)
