"""Fair use of the machines that run programs: no owner holds more than half while others wait."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.operation.health import heartbeats
from cw.hub.store.tables import Bot, Match, MatchParticipant

SLOTS: Final = "program_slots"
"""What processes that run programs say of themselves: how many matches they play at once."""


def must_wait(session: Session, clock: Clock, match: int) -> bool:
    """Return whether a match waits, as its owner's programs hold their share of all slots.

    One match of an owner is always played. A match that waits is sent again by the next tick.
    """
    owners = owners_of(session, match)
    count = most_held(session, owners) if owners else 0
    if count == 0 or count < share_of(session, clock) or not others_wait(session, owners):
        return False
    waiting = update(Match).where(Match.id == match, Match.state == "queued")
    session.execute(waiting.values(sent_at=None))
    return True


def owners_of(session: Session, match: int) -> set[int]:
    """Return the ids of the people whose programs play a match."""
    its = programs().where(MatchParticipant.match_id == match)
    return set(session.scalars(its.with_only_columns(Bot.user_id)))


def programs() -> Any:
    """Return the query for the programs of people in matches."""
    seats = select(MatchParticipant.match_id).join(Bot, Bot.id == MatchParticipant.bot_id)
    return seats.where(Bot.kind == "program", Bot.user_id.is_not(None))


def share_of(session: Session, clock: Clock) -> int:
    """Return how many matches an owner may hold while others wait: half of all slots."""
    beats = heartbeats.live(session, clock)
    slots = [beat.figures.get(SLOTS, 0) for beat in beats if beat.role == "worker"]
    return int(sum(slots)) // 2


def most_held(session: Session, owners: set[int]) -> int:
    """Return how many matches are played now of that owner who has most of some."""
    played = (
        programs()
        .with_only_columns(func.count(Match.id.distinct()))
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(Match.state == "in_progress", Bot.user_id.in_(owners))
        .group_by(Bot.user_id)
    )
    return max(session.scalars(played), default=0)


def others_wait(session: Session, owners: set[int]) -> bool:
    """Return whether a match of programs waits in which none of some owners plays."""
    own = programs().where(Bot.user_id.in_(owners))
    waiting = (
        select(Match.id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(Match.state == "queued", Match.sent_at.is_not(None), Bot.kind == "program")
        .where(Match.id.not_in(own))
    )
    return session.scalar(waiting.limit(1)) is not None
