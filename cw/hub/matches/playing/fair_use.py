"""Fair use of the machines that run programs: no owner holds more than half while others wait.

Experiments are played while nothing else waits.
"""

from __future__ import annotations

from collections.abc import Collection
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
    count = most_matches(session, owners) if owners else 0
    if count == 0 or count < share_of(session, clock) or not others_wait(session, owners):
        return False
    put_back(session, match)
    return True


def put_back(session: Session, match: int) -> None:
    """Let a match wait: the next tick sends it again."""
    waiting = update(Match).where(Match.id == match, Match.state == "queued")
    session.execute(waiting.values(sent_at=None))


def gives_way(session: Session, match: int, experiments: Collection[str]) -> bool:
    """Return whether a match waits, as it is one of these kinds and any other one waits."""
    its_kind = select(Match.id).where(Match.id == match, Match.kind.in_(experiments))
    if session.scalar(its_kind) is None or not any_waits(session, experiments):
        return False
    put_back(session, match)
    return True


def any_waits(session: Session, experiments: Collection[str]) -> bool:
    """Return whether a match waits for a worker that is none of these kinds."""
    waiting = select(Match.id).where(
        Match.state == "queued", Match.sent_at.is_not(None), Match.kind.not_in(experiments)
    )
    return session.scalar(waiting.limit(1)) is not None


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
    return slots(session, clock) // 2


def slots(session: Session, clock: Clock) -> int:
    """Return how many matches of programs can be played at once."""
    beats = heartbeats.live(session, clock)
    return int(sum(beat.figures.get(SLOTS, 0) for beat in beats if beat.role == "worker"))


def most_matches(session: Session, owners: set[int]) -> int:
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
