"""What ticks do for friendly matches: send challenges in turn, plan and count pairs of comparisons.

A challenge is played while competitions leave both of its bots free, and comparisons while slots
are idle. Practice matches are sent at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import cycle, groupby, islice
from typing import Any, Final

from sqlalchemy import and_, func, or_, select, update

from cw.games.registry import load_play_options
from cw.lab.comparison import score_between
from cw.league.strength_tests import decision
from cw_hub.bots import shares
from cw_hub.bots.addresses import BUILTIN, PROGRAM
from cw_hub.matches import planning
from cw_hub.matches.friendly import (
    CHALLENGE,
    CHALLENGE_ID,
    COMPARISON,
    HYPOTHESES,
    MOST_PAIRS,
    PRACTICE,
    call_off,
    end_comparison,
    is_of,
    key_of,
    names_in,
    reserve,
    scores_so_far,
)
from cw_hub.matches.planning import LOST_AFTER, Message, Plan, Seat, is_due
from cw_hub.matches.results import OPEN
from cw_hub.store.database import Session
from cw_hub.store.models import Battle, Bot, Comparison, Match, MatchParticipant, Rating

# Challenges

LONGEST_REST: Final = timedelta(minutes=10)
"""Maximum rest after a challenge match."""

MOST: Final = 200
"""Maximum number of challenges considered at the same time."""

PATIENCE: Final = 10
"""Number of competition matches that a bot may play while a challenge waits for it."""

IS_FIRST: Final = Match.id.in_(
    select(func.min(Match.id))
    .where(Match.kind == CHALLENGE, Match.state.in_(OPEN))
    .group_by(CHALLENGE_ID)
)
"""The SQL condition that a match is the next one of its challenge."""

IS_WITHOUT_BOT: Final = and_(
    Match.kind == CHALLENGE,
    Match.state == "queued",
    select(Bot.id)
    .join(MatchParticipant, MatchParticipant.bot_id == Bot.id)
    .where(
        MatchParticipant.match_id == Match.id,
        Bot.status.in_(("INACTIVE", "SUSPENDED", "RETIRED")),
    )
    .exists(),
)
"""The SQL condition that a bot of a waiting challenge no longer plays."""


def to_send(session: Session, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the messages of challenges whose turn it is, and reserve their bots.

    Only the next match of each challenge is sent, the longest waiting first. Send the messages
    after the commit. A second, concurrent caller waits, then finds the bots reserved and the
    matches sent.
    """
    call_off(session, IS_WITHOUT_BOT, "a bot is no longer active")
    due = is_due(session.now(), lost_after)
    query = select(Match.id, Match.request_id).where(IS_FIRST, due).order_by(Match.id).limit(MOST)
    waiting = session.execute(query).all()
    bots = locked_bots(session, [match for match, _ in waiting])
    holding = holders(session, {bot for its in bots.values() for bot in its})
    messages = []
    for match, request_id in waiting:
        its = bots[match]
        if any(holding[bot] - {match} for bot in its):
            continue
        for bot in its:
            holding[bot].add(match)
        change = update(Match).where(Match.id == match, due).values(sent_at=session.now())
        if session.scalar(change.returning(Match.id)) is not None:
            reserve(session, its, match)
            messages.append(Message(match, CHALLENGE, request_id))
    return messages


def locked_bots(session: Session, matches: Collection[int]) -> defaultdict[int, list[int]]:
    """Return, by match, the bots that play one match at a time.

    They are locked until the end of the transaction.
    """
    bots: defaultdict[int, list[int]] = defaultdict(list)
    seats = (
        select(MatchParticipant.match_id, Bot.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        # A built-in strategy keeps no state between moves, so it can play any number of matches.
        .where(MatchParticipant.match_id.in_(matches), Bot.kind != "builtin")
        .order_by(Bot.id)
        .with_for_update(of=Bot, key_share=True)
    )
    for match, bot in session.execute(seats):
        bots[match].append(bot)
    return bots


def holders(session: Session, bots: Collection[int]) -> defaultdict[int, set[int]]:
    """Return, by bot, the matches that occupy it, or after which it is resting."""
    holding: defaultdict[int, set[int]] = defaultdict(set)
    seat = MatchParticipant
    rated = select(Rating.bot_id, Rating.playing_id).where(
        Rating.bot_id.in_(bots), Rating.playing_id.is_not(None)
    )
    is_under_way = or_(
        Match.state == "in_progress",
        Match.kind == PRACTICE,
        and_(Match.kind == CHALLENGE, Match.sent_at.is_not(None)),
    )
    played = (
        select(seat.bot_id, Match.id)
        .join(Match, Match.id == seat.match_id)
        .where(seat.bot_id.in_(bots), Match.state.in_(OPEN), is_under_way)
    )
    for query in (rated, played):
        for bot, match in session.execute(query):
            holding[bot].add(match)
    now = session.now()
    over = (
        select(seat.bot_id, Match.id, Match.started_at, Match.finished_at)
        .join(Match, Match.id == seat.match_id)
        .where(
            seat.bot_id.in_(bots),
            Match.kind == CHALLENGE,
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


def overdue(session: Session) -> set[int]:
    """Return the bots that competitions leave free, so that a challenge gets its turn.

    One of the challenge's bots has played PATIENCE competition matches since the challenge started,
    or since the last challenge match of these bots.
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
        if free.isdisjoint(bots) and have_played(session, bots, match, begun):
            free |= bots
    return free


def have_played(session: Session, bots: Collection[int], match: int, begun: datetime) -> bool:
    """Return whether a bot has played PATIENCE matches while a challenge of these bots waited."""
    its = (MatchParticipant.bot_id.in_(bots), Match.state == "done")
    ended = (
        select(func.max(Match.finished_at))
        .join(MatchParticipant)
        .where(
            *its, Match.kind == CHALLENGE, Match.competition_id.is_(None), Match.finished_at > begun
        )
    )
    since = session.scalar(ended) or begun
    played = (
        select(MatchParticipant.bot_id)
        .join(Match)
        .where(
            *its,
            MatchParticipant.match_id > match,
            Match.competition_id.is_not(None),
            Match.finished_at > since,
        )
    )
    many = played.group_by(MatchParticipant.bot_id).having(func.count() >= PATIENCE)
    return session.scalar(many.limit(1)) is not None


# Comparisons

AHEAD: Final = 4
"""Number of pairs planned per idle slot, enough to last until the next tick."""


def sweep(session: Session) -> None:
    """Count finished pairs, end decided comparisons, and plan more pairs for idle slots.

    Idempotent, also for concurrent callers: each pair is planned once and counted once.
    """
    running = select(Comparison, Bot).join(Bot, Bot.id == Comparison.bot_id)
    locked = running.where(Comparison.state == "running").with_for_update(of=Comparison)
    rows = session.execute(locked.order_by(Comparison.id)).all()
    for comparison, bot in rows:
        if bot.status in ("SUSPENDED", "RETIRED"):
            end_comparison(session, comparison, "stopped", "the bot is suspended or retired")
        else:
            advance(session, comparison)
    fill(session, [(one, bot) for one, bot in rows if one.state == "running"])


def advance(session: Session, comparison: Comparison) -> None:
    """Count finished pairs in order, until they decide the comparison."""
    numbers = range(comparison.pairs, comparison.planned)
    rows = session.scalars(select(Match).where(is_of(COMPARISON, comparison.id, numbers)))
    matches = {match.key: match for match in rows}
    for number in numbers:
        match = matches.get(key_of(comparison.id, number))
        if match is None or match.state in OPEN:
            return
        if match.state != "done":
            end_comparison(session, comparison, "stopped", "a match could not be played")
            return
        count(comparison, list(scores_of(session, match)))
        if comparison.decision is not None:
            end_comparison(session, comparison, "decided")
            return
    if comparison.pairs >= MOST_PAIRS:
        end_comparison(session, comparison, "undecided")


def scores_of(session: Session, match: Match) -> Iterator[float]:
    """Yield the newer version's scores in the games of a match, from 0 to 1.

    A match without players yields none.
    """
    ranks = session.scalars(select(Battle.ranks).where(Battle.match_id == match.id))
    for each in ranks.all():
        if each:
            yield score_between(each, 0, 1)


def count(comparison: Comparison, scores: Sequence[float]) -> None:
    """Count one more pair, and record the decision based on all pairs."""
    mean = sum(scores) / len(scores) if scores else 0.5
    after = scores_so_far(comparison).add(mean)
    comparison.pairs, comparison.total, comparison.squares = after.pairs, after.total, after.squares
    comparison.wins += sum(score > 0.5 for score in scores)
    comparison.losses += sum(score < 0.5 for score in scores)
    comparison.decision = decision(after, HYPOTHESES)


def fill(session: Session, going_on: Sequence[tuple[Comparison, Bot]]) -> None:
    """Plan pairs of the comparisons in turn, enough for the idle slots until the next tick."""
    unfinished = select(func.count()).where(Match.state.in_(OPEN))
    others = session.scalars(unfinished.where(Match.kind != COMPARISON)).one()
    idle = max(0, max(1, shares.count(session)) - others)
    room = idle * AHEAD - session.scalars(unfinished.where(Match.kind == COMPARISON)).one()
    for comparison, bot in islice(cycle(going_on), MOST_PAIRS * len(going_on)):
        if room <= 0:
            return
        if comparison.planned < MOST_PAIRS:
            plan_pair(session, comparison, bot)
            room -= 1


def plan_pair(session: Session, comparison: Comparison, bot: Bot) -> None:
    """Plan the next pair of a comparison."""
    new, old = names_in(comparison, bot.name)
    spec = f"{BUILTIN}{comparison.strategy}" if comparison.strategy else PROGRAM
    seats = (Seat(new, bot_id=bot.id), Seat(old, spec=spec))
    options = load_play_options(bot.game).measured
    key = key_of(comparison.id, comparison.planned)
    planning.plan(session, Plan(COMPARISON, key, bot.game, seats, options))
    comparison.planned += 1
