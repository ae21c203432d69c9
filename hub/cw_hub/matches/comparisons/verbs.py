"""A player's operations on comparisons: begin and stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.games.registry import load_strategies
from cw_hub.bots import verbs as bots
from cw_hub.bots.versions import verbs as versions
from cw_hub.bots.views import BotView
from cw_hub.clock import Clock
from cw_hub.matches import interruptions
from cw_hub.matches.comparisons.kind import NAME
from cw_hub.matches.interruptions import OPEN
from cw_hub.store.tables import Comparison, ComparisonState, Match

ONE_AT_A_TIME: Final = "You are comparing versions already. Wait until that is over, or stop it."
THE_SAME: Final = "Please choose two different versions."
STOPPED: Final = "called off with its comparison"


@dataclass(frozen=True, slots=True)
class Opponent:
    """What a version is compared with: another version or a built-in strategy."""

    version: int | None = None
    """None for a built-in strategy."""
    strategy: str = ""


def begin(session: Session, clock: Clock, bot: BotView, new: int, against: Opponent) -> int:
    """Start comparing a version of a bot with another one, or with a strategy; return its id.

    Repeated and concurrent calls raise Busy. Raises NotReady if a version cannot play, WrongStatus
    if the bot is suspended or retired, and UsageError if the opponent is invalid.
    """
    row = versions.locked(session, bot.id)
    if row.status in ("SUSPENDED", "RETIRED"):
        raise bots.wrong_status(row)
    versions.ready(session, bot.id, new)
    check_opponent(session, bot, new, against)
    comparison = Comparison(
        user_id=bot.user_id,
        bot_id=bot.id,
        new=new,
        old=against.version,
        strategy=against.strategy,
        created_at=clock(),
    )
    try:
        with session.begin_nested():
            session.add(comparison)
    except IntegrityError:
        raise bots.Busy(ONE_AT_A_TIME) from None
    return comparison.id


def check_opponent(session: Session, bot: BotView, new: int, against: Opponent) -> None:
    """Raise UsageError unless a version can be compared with an opponent."""
    if against.version is None:
        if against.strategy not in load_strategies(bot.game):
            raise UsageError("Please choose an opponent.")
        return
    versions.ready(session, bot.id, against.version)
    if against.version == new:
        raise UsageError(THE_SAME)


def stop(session: Session, clock: Clock, number: int, reason: str) -> None:
    """Stop a comparison; no effect if it is over."""
    going_on = select(Comparison).where(Comparison.id == number, Comparison.state == "running")
    comparison = session.scalars(going_on.with_for_update()).one_or_none()
    if comparison is not None:
        end(session, clock, comparison, "stopped", reason)


def end(
    session: Session,
    clock: Clock,
    comparison: Comparison,
    state: ComparisonState,
    reason: str = "",
) -> None:
    """End a comparison whose row is locked, and cancel its waiting matches."""
    comparison.state, comparison.reason, comparison.ended_at = state, reason, clock()
    its = Match.key.startswith(f"{comparison.id} ")
    waiting = select(Match.match_id).where(Match.kind == NAME, its, Match.state.in_(OPEN))
    for match_id in session.scalars(waiting).all():
        interruptions.void(session, clock, match_id, STOPPED)
