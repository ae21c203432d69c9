"""The scheduling of challenges: a match is sent when nothing else occupies its bots.

Rated play comes first: only ticks send challenge matches, after they have paired the free bots.
After a challenge match its bots rest for as long as it lasted, so challenges take at most half of a
bot's time, one match at a time. A challenge whose bots are never free together, because they play
without a break, gets its turn after PATIENCE.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.matches import interruptions
from cw_hub.matches.challenges.keys import NAME, challenge_column
from cw_hub.matches.practice import PRACTICE
from cw_hub.matches.sending import LOST_AFTER, Message, is_due
from cw_hub.store.tables import Bot, Match, MatchParticipant, Rating

GONE: Final = "a bot is no longer active"

LONGEST_REST: Final = timedelta(minutes=10)
"""Maximum rest after a challenge match."""

MOST: Final = 200
"""Maximum number of challenges considered at once."""

PATIENCE: Final = 10
"""Competition matches that a bot plays while a challenge waits for it."""

IS_FIRST: Final = Match.id.in_(
    select(func.min(Match.id))
    .where(Match.kind == NAME, Match.state.in_(interruptions.OPEN))
    .group_by(challenge_column())
)
"""Whether a match is the next one of its challenge."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A challenge match that may be sent, with those of its bots that play one match at a time."""

    id: int
    request_id: str | None
    bots: Sequence[int]


def to_send(session: Session, clock: Clock, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the messages of challenges whose turn it is, and reserve their bots.

    Send them after the commit. Concurrent callers: the second one waits, then finds the bots
    reserved and the matches sent.
    """
    call_off_gone(session, clock)
    waiting = first_waiting(session, clock, lost_after)
    bots = {bot for match in waiting for bot in match.bots}
    holding = holders(session, clock, bots)
    turns = []
    for match in waiting:
        if all(holding[bot] <= {match.id} for bot in match.bots):
            for bot in match.bots:
                holding[bot].add(match.id)
            turns.append(match)
    return [
        Message(match.id, NAME, match.request_id)
        for match in turns
        if hold(session, clock, match, lost_after)
    ]


def call_off_gone(session: Session, clock: Clock) -> None:
    """Cancel waiting matches with a bot that has stopped playing."""
    lost = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(
            Match.kind == NAME,
            Match.state == "queued",
            Bot.status.in_(("INACTIVE", "SUSPENDED", "RETIRED")),
        )
        .distinct()
    )
    for match_id in session.scalars(lost).all():
        interruptions.void(session, clock, match_id, GONE)


def first_waiting(session: Session, clock: Clock, lost_after: timedelta) -> list[Waiting]:
    """Return the next due match of each challenge, the longest waiting first.

    Their bots are locked until the end of the transaction.
    """
    due = and_(IS_FIRST, is_due(clock(), lost_after))
    rows = session.execute(
        select(Match.id, Match.request_id).where(due).order_by(Match.id).limit(MOST)
    ).all()
    its = MatchParticipant.match_id.in_([row.id for row in rows])
    seats = session.execute(
        select(MatchParticipant.match_id, Bot.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        # A built-in strategy keeps no state between moves: it plays any number of matches.
        .where(its, Bot.kind != "builtin")
        .order_by(Bot.id)
        .with_for_update(of=Bot, key_share=True)
    ).all()
    bots: defaultdict[int, list[int]] = defaultdict(list)
    for match, bot in seats:
        bots[match].append(bot)
    return [Waiting(row.id, row.request_id, bots[row.id]) for row in rows]


def overdue(session: Session) -> set[int]:
    """Return the bots that competitions leave free, so that a challenge gets its turn.

    One of its bots has played PATIENCE competition matches since the challenge began, or since the
    last challenge match of these bots.
    """
    seat = MatchParticipant
    waiting = session.execute(
        select(Match.id, Match.at, seat.bot_id)
        .join(seat, seat.match_id == Match.id)
        .join(Bot, Bot.id == seat.bot_id)
        .where(IS_FIRST, Match.state == "queued", Match.sent_at.is_(None), Bot.kind != "builtin")
        .order_by(Match.id)
        .limit(2 * MOST)
    )
    free: set[int] = set()
    for (match, begun), rows in groupby(waiting, lambda row: (row.id, row.at)):
        bots = {row.bot_id for row in rows}
        if free.isdisjoint(bots):
            since = last_end(session, bots, begun)
            if any(has_played(session, bot, match, since) for bot in bots):
                free |= bots
    return free


def last_end(session: Session, bots: Collection[int], begun: datetime) -> datetime:
    """Return when the last challenge match of some bots ended, or `begun` if that is later."""
    over = (
        select(func.max(Match.finished_at))
        .join(MatchParticipant)
        .where(
            MatchParticipant.bot_id.in_(bots),
            Match.kind == NAME,
            Match.competition_id.is_(None),
            Match.finished_at > begun,
            Match.state == "done",
        )
    )
    return session.scalar(over) or begun


def has_played(session: Session, bot: int, match: int, since: datetime) -> bool:
    """Return whether a bot has since played PATIENCE matches planned after `match`."""
    played = (
        select(Match.id)
        .join(MatchParticipant)
        .where(
            MatchParticipant.bot_id == bot,
            MatchParticipant.match_id > match,
            Match.competition_id.is_not(None),
            Match.finished_at > since,
            Match.state == "done",
        )
    )
    return len(session.scalars(played.limit(PATIENCE)).all()) == PATIENCE


def holders(session: Session, clock: Clock, bots: Collection[int]) -> defaultdict[int, set[int]]:
    """Return by bot the matches that occupy it, or after which it rests."""
    holding: defaultdict[int, set[int]] = defaultdict(set)
    seat = MatchParticipant
    rated = select(Rating.bot_id, Rating.playing_id).where(
        Rating.bot_id.in_(bots), Rating.playing_id.is_not(None)
    )
    is_under_way = or_(
        Match.state == "in_progress",
        Match.kind == PRACTICE.name,
        and_(Match.kind == NAME, Match.sent_at.is_not(None)),
    )
    played = (
        select(seat.bot_id, Match.id)
        .join(Match, Match.id == seat.match_id)
        .where(seat.bot_id.in_(bots), Match.state.in_(interruptions.OPEN), is_under_way)
    )
    for query in (rated, played):
        for bot, match in session.execute(query):
            holding[bot].add(match)
    now = clock()
    over = (
        select(seat.bot_id, Match.id, Match.started_at, Match.finished_at)
        .join(Match, Match.id == seat.match_id)
        .where(
            seat.bot_id.in_(bots),
            Match.kind == NAME,
            # Without a competition, so that the index leads to the latest matches.
            Match.competition_id.is_(None),
            Match.finished_at > now - LONGEST_REST,
            Match.state == "done",
        )
    )
    rows: list[Any] = list(session.execute(over))
    for bot, match, begin, end in rows:
        if end + (end - begin) > now:
            holding[bot].add(match)
    return holding


def hold(session: Session, clock: Clock, match: Waiting, lost_after: timedelta) -> bool:
    """Mark a match as sent and reserve its bots; return False if it was sent already."""
    due = and_(Match.id == match.id, is_due(clock(), lost_after))
    change = update(Match).where(due).values(sent_at=clock()).returning(Match.id)
    if session.scalar(change) is None:
        return False
    free = and_(Rating.bot_id.in_(match.bots), Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match.id))
    return True
