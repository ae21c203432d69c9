"""A player's operations on challenges: begin and stop."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.bots import verbs as bots
from cw_hub.clock import Clock
from cw_hub.matches import interruptions, planning
from cw_hub.matches.challenges.keys import (
    NAME,
    challenger_slot,
    key_of,
    keys_of,
    new_id,
)
from cw_hub.matches.interruptions import OPEN
from cw_hub.matches.planning import Plan, Seat
from cw_hub.store.tables import Bot, Match, MatchParticipant

THE_SAME: Final = "A bot does not play against itself: please choose another one."
OTHER_GAME: Final = "Both bots must play the same game."
ONE_AT_A_TIME: Final = "{name} has a challenge that is not over. Wait for its end, or stop it."
INACTIVE: Final = "{name} is {status} now: only active bots can be challenged."
OWN_INACTIVE: Final = "{name} is {status} now: only active bots can challenge others."
STOPPED: Final = "its challenger wished"


def begin(session: Session, clock: Clock, own: int, opponent: int, matches: int) -> str:
    """Plan LENGTHS matches of a bot against another one; return the id of the challenge.

    Repeated and concurrent calls raise Busy until the first challenge is over. Raises UsageError if
    the bots cannot meet.
    """
    challenger = session.get_one(Bot, own, with_for_update={"key_share": True})
    challenged = session.get_one(Bot, opponent)
    must_be_able(session, challenger, challenged)
    challenge, seed = new_id(), 0
    seats = [Seat(bot.name, bot_id=bot.id) for bot in (challenger, challenged)]
    for number in range(matches):
        if number % 2 == 0:
            seed = planning.draw_seed(challenger.game)
        turned = seats if number % 2 == 0 else seats[::-1]
        key = key_of(challenge, number)
        wanted = Plan(NAME, key, challenger.game, tuple(turned), seed=seed)
        planning.plan(session, clock, wanted)
    return challenge


def must_be_able(session: Session, challenger: Bot, challenged: Bot) -> None:
    """Raise UsageError or Busy unless a bot can challenge another one."""
    if challenger.id == challenged.id:
        raise UsageError(THE_SAME)
    if challenger.game != challenged.game:
        raise UsageError(OTHER_GAME)
    for bot, words in ((challenger, OWN_INACTIVE), (challenged, INACTIVE)):
        if bot.status != "ACTIVE":
            raise UsageError(words.format(name=bot.name, status=bot.status.lower()))
    if is_challenging(session, challenger.id):
        raise bots.Busy(ONE_AT_A_TIME.format(name=challenger.name))


def is_challenging(session: Session, bot: int) -> bool:
    """Return whether a bot has an unfinished challenge of its own."""
    going_on = (
        select(Match.key, MatchParticipant.slot)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(MatchParticipant.bot_id == bot, Match.kind == NAME, Match.state.in_(OPEN))
    )
    return any(challenger_slot(key) == slot for key, slot in session.execute(going_on))


def stop(session: Session, clock: Clock, challenge: str) -> None:
    """Cancel the waiting matches of a challenge. Idempotent."""
    its = select(Match.match_id).where(Match.kind == NAME, Match.key.in_(keys_of(challenge)))
    for match_id in session.scalars(its.where(Match.state.in_(OPEN))).all():
        interruptions.void(session, clock, match_id, STOPPED)
