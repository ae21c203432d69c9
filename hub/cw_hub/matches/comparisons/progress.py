"""Advances comparisons: counts finished pairs, and plans more while slots are idle.

A finished match counts only after all earlier ones of its comparison, so the verdict does not
depend on the order in which they end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.games.registry import load_play_options
from cw.lab.line_up import outranked
from cw.league.statistics.sprt import Hypotheses, PairScores, decision
from cw_hub.bots.shares import places
from cw_hub.bots.views import name_key
from cw_hub.clock import Clock
from cw_hub.matches import interruptions, planning
from cw_hub.matches.comparisons.kind import NAME, key_of
from cw_hub.matches.comparisons.verbs import end
from cw_hub.matches.planning import Plan, Seat
from cw_hub.store.tables import Battle, Bot, Comparison, Match

MOST_PAIRS: Final = 200
"""Maximum pairs of a comparison: 400 matches as people count them."""

AHEAD: Final = 4
"""Pairs planned per idle slot: enough until the next tick."""

HYPOTHESES: Final = Hypotheses()

GONE: Final = "the bot is suspended or retired"
UNPLAYED: Final = "a match could not be played"


def sweep(session: Session, clock: Clock) -> None:
    """Count finished pairs, end decided comparisons, and plan more pairs for idle slots.

    Idempotent, also for concurrent callers: each pair is planned once and counts once.
    """
    running = select(Comparison, Bot).join(Bot, Bot.id == Comparison.bot_id)
    locked = running.where(Comparison.state == "running").with_for_update(of=Comparison)
    rows = session.execute(locked.order_by(Comparison.id)).all()
    for comparison, bot in rows:
        if bot.status in ("SUSPENDED", "RETIRED"):
            end(session, clock, comparison, "stopped", GONE)
        else:
            advance(session, clock, comparison)
    going_on = [(one, bot) for one, bot in rows if one.state == "running"]
    fill(session, clock, going_on)


def advance(session: Session, clock: Clock, comparison: Comparison) -> None:
    """Count finished pairs in order, until they decide."""
    matches = unfinished(session, comparison)
    for number in range(comparison.pairs, comparison.planned):
        match = matches.get(key_of(comparison.id, number))
        if match is None or match.state in interruptions.OPEN:
            return
        if match.state != "done":
            end(session, clock, comparison, "stopped", UNPLAYED)
            return
        count(comparison, list(scores_of(session, match)))
        if comparison.decision is not None:
            end(session, clock, comparison, "decided")
            return
    if comparison.pairs >= MOST_PAIRS:
        end(session, clock, comparison, "undecided")


def unfinished(session: Session, comparison: Comparison) -> Mapping[str, Match]:
    """Return the matches of a comparison that do not count yet, by key."""
    keys = [key_of(comparison.id, pair) for pair in range(comparison.pairs, comparison.planned)]
    rows = session.scalars(select(Match).where(Match.kind == NAME, Match.key.in_(keys)))
    return {match.key: match for match in rows}


def scores_of(session: Session, match: Match) -> Iterator[float]:
    """Yield the newer version's scores in the games of a match, from 0 to 1.

    A match without players yields none.
    """
    ranks = session.scalars(select(Battle.ranks).where(Battle.match_id == match.id))
    for each in ranks.all():
        if each:
            yield (1 + outranked(each, 0) - outranked(each, 1)) / 2


def count(comparison: Comparison, scores: Sequence[float]) -> None:
    """Count one more pair, and record the decision of all pairs."""
    mean = sum(scores) / len(scores) if scores else 0.5
    after = scores_so_far(comparison).add(mean)
    comparison.pairs, comparison.total, comparison.squares = after.pairs, after.total, after.squares
    comparison.wins += sum(score > 0.5 for score in scores)
    comparison.losses += sum(score < 0.5 for score in scores)
    comparison.decision = decision(after, HYPOTHESES)


def scores_so_far(comparison: Comparison) -> PairScores:
    """Return the scores of the counted pairs."""
    return PairScores(comparison.pairs, comparison.total, comparison.squares)


def fill(session: Session, clock: Clock, going_on: Sequence[tuple[Comparison, Bot]]) -> None:
    """Plan pairs of the comparisons in turn, enough for the idle slots until the next tick."""
    room = idle(session, clock) * AHEAD - waiting(session)
    wanted = (one for one in islice(cycle(going_on), MOST_PAIRS * len(going_on)))
    for comparison, bot in wanted:
        if room <= 0:
            return
        if comparison.planned < MOST_PAIRS:
            plan_pair(session, clock, comparison, bot)
            room -= 1


def idle(session: Session, clock: Clock) -> int:
    """Return the number of slots with nothing else to play; at least 1 slot is assumed."""
    slots = max(1, places.count(session, clock))
    others = select(func.count()).where(Match.state.in_(interruptions.OPEN), Match.kind != NAME)
    return max(0, slots - session.scalars(others).one())


def waiting(session: Session) -> int:
    """Return how many pairs of all comparisons are waiting or being played."""
    ours = select(func.count()).where(Match.state.in_(interruptions.OPEN), Match.kind == NAME)
    return session.scalars(ours).one()


def plan_pair(session: Session, clock: Clock, comparison: Comparison, bot: Bot) -> None:
    """Plan the next pair of a comparison."""
    new, old = names(comparison, bot)
    seats = (
        Seat(new, bot_id=bot.id),
        Seat(old, spec=f"builtin:{comparison.strategy}" if comparison.strategy else "program:"),
    )
    options = load_play_options(bot.game).measured
    key = key_of(comparison.id, comparison.planned)
    planning.plan(session, clock, Plan(NAME, key, bot.game, seats, options))
    comparison.planned += 1


def names(comparison: Comparison, bot: Bot) -> tuple[str, str]:
    """Return the names of both sides of a comparison: `Painter-2` and `Painter-1`."""
    new = f"{bot.name}-{comparison.new}"
    old = comparison.strategy or f"{bot.name}-{comparison.old}"
    return new, old if name_key(old) != name_key(new) else f"{old}-builtin"
