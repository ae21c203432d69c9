"""Practice: matches requested by an owner, visible only to participants and admins."""

from __future__ import annotations

import secrets
from typing import Final

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from cw_hub.bots import verbs as bots
from cw_hub.bots.views import name_key
from cw_hub.clock import Clock
from cw_hub.matches import interruptions, planning
from cw_hub.matches.kinds import Kind
from cw_hub.matches.planning import Plan, Seat
from cw_hub.store.tables import (
    Bot,
    Match,
    MatchParticipant,
    Rating,
)

PRACTICE: Final = Kind(
    name="practice",
    is_public=False,
    battles=2,
    plays_as_competition=True,
    plays_at_once=True,
    keeps="none",
)


def practise(session: Session, clock: Clock, bot: int, strategy: str) -> tuple[int, str]:
    """Plan a match of a bot against a built-in strategy; return its row id and public id.

    Repeated and concurrent calls raise Playing until the match is over. Raises WrongStatus if the
    bot is suspended or retired.
    """
    row = session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()
    if row.status in ("SUSPENDED", "RETIRED"):
        raise bots.wrong_status(row)
    must_be_free(session, bot)
    opponent = strategy if name_key(strategy) != row.name_key else f"{strategy}-builtin"
    seats = (Seat(row.name, bot_id=bot), Seat(opponent, spec=f"builtin:{strategy}"))
    key = f"{row.bot_id} {secrets.token_hex(8)}"
    match = planning.plan(session, clock, Plan(PRACTICE.name, key, row.game, seats))
    free = and_(Rating.bot_id == bot, Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match))
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()


class Playing(bots.Busy):
    """A bot is in a match that must end before it plays another one."""

    def __init__(self, match_id: str) -> None:
        """Keep the public id of that match."""
        super().__init__("Your bot is playing. Try again when its match is over.")
        self.match_id = match_id


def must_be_free(session: Session, bot: int) -> None:
    """Raise Playing if a bot is in a match that must end before it plays another one."""
    match_id = match_of(session, bot)
    if match_id is not None:
        raise Playing(match_id)


def match_of(session: Session, bot: int) -> str | None:
    """Return the public id of an unfinished match that occupies a bot, or None."""
    query = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .outerjoin(Rating, Rating.bot_id == MatchParticipant.bot_id)
        .where(
            MatchParticipant.bot_id == bot,
            or_(Match.kind == PRACTICE.name, Match.id == Rating.playing_id),
            Match.state.in_(interruptions.OPEN),
        )
        .limit(1)
    )
    return session.scalar(query)
