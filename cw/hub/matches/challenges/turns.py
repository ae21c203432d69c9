"""Whose turn it is: a match of a challenge is sent when nothing else holds its bots.

Rated play comes first: ticks alone send matches of challenges, after they have paired the bots that
are free. After a match of a challenge, its bots are left alone for as long as that has lasted, so
challenges take half of a bot's time at most, and one match at a time. A challenge for which its
bots are never free at once, as they rest between no two matches, has its turn after PATIENCE.
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

from cw.hub.clock import Clock
from cw.hub.matches import interruptions
from cw.hub.matches.challenges.keys import NAME, challenge_column
from cw.hub.matches.practice import PRACTICE
from cw.hub.matches.sending import LOST_AFTER, Message, is_due
from cw.hub.store.tables import Bot, Match, MatchParticipant, Rating

GONE: Final = "a bot is no longer active"

LONGEST_REST: Final = timedelta(minutes=10)
"""After a match of a challenge, at most."""

MOST: Final = 200
"""Challenges that are looked at together."""

PATIENCE: Final = 10
"""Matches of competitions that a bot plays while a challenge waits for it."""

IS_FIRST: Final = Match.id.in_(
    select(func.min(Match.id))
    .where(Match.kind == NAME, Match.state.in_(interruptions.OPEN))
    .group_by(challenge_column())
)
"""Whether a match is the next one of its challenge."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A match of a challenge that may be sent, and its bots that play one match at a time."""

    id: int
    request_id: str | None
    bots: Sequence[int]


def to_send(session: Session, clock: Clock, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the messages of challenges whose turn it is, and let these matches hold their bots.

    To be sent after the commit. By two at once: the second waits for the first, and finds the bots
    held, and the matches sent.
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
    """Call off the matches that wait for a bot that does not play any more."""
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
    """Return the next match of each challenge that is due, those that wait longest first.

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
        # A built-in strategy keeps nothing between two moves: it plays any number of matches.
        .where(its, Bot.kind != "builtin")
        .order_by(Bot.id)
        .with_for_update(of=Bot, key_share=True)
    ).all()
    bots: defaultdict[int, list[int]] = defaultdict(list)
    for match, bot in seats:
        bots[match].append(bot)
    return [Waiting(row.id, row.request_id, bots[row.id]) for row in rows]


def overdue(session: Session) -> set[int]:
    """Return the bots that competitions leave free, so that a challenge has its turn.

    It has waited, since it was begun or since a match of any challenge of its bots, while one of
    them has played PATIENCE matches of competitions.
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
    """Return when the last match of a challenge of some bots ended, at the earliest `begun`."""
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
    """Return whether a bot has played PATIENCE matches that were planned later than a match."""
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
    """Return by bot the matches that hold it, or after which it is left alone."""
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
            # Of no competition, as its index then leads to the latest.
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
    """Note that a match is sent, and let it hold its bots; False if somebody else has sent it."""
    due = and_(Match.id == match.id, is_due(clock(), lost_after))
    change = update(Match).where(due).values(sent_at=clock()).returning(Match.id)
    if session.scalar(change) is None:
        return False
    free = and_(Rating.bot_id.in_(match.bots), Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match.id))
    return True
