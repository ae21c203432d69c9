"""Entry to rated competitions: all users' bots that play the game take part."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.store.tables import Bot, Competition, Rating

FORMAT: Final = "rated"
"""The name of the format."""


def enter(session: Session, bot: int) -> None:
    """Enter a new bot in the rated competitions of its game. Idempotent."""
    row = session.get_one(Bot, bot)
    entered = select(Rating.competition_id).where(Rating.bot_id == bot)
    rated = (
        Competition.format == FORMAT,
        Competition.game == row.game,
        Competition.id.not_in(entered),
    )
    for competition in session.scalars(select(Competition.id).where(*rated)).all():
        session.add(Rating(competition_id=competition, bot_id=bot))
        row.check_due_at = row.created_at if row.kind == "url" else None


def enter_all(session: Session, clock: Clock, competition: int, game: str) -> None:
    """Enter all users' bots that play a game in a competition. Idempotent."""
    entered = select(Rating.bot_id).where(Rating.competition_id == competition)
    people = (Bot.game == game, Bot.user_id.is_not(None))
    missing = select(Bot.id).where(*people, Bot.id.not_in(entered))
    for bot in session.scalars(missing).all():
        session.add(Rating(competition_id=competition, bot_id=bot))
    unasked = (*people, Bot.kind == "url", Bot.check_due_at.is_(None))
    session.execute(update(Bot).where(*unasked).values(check_due_at=clock()))
