"""A team's practice matches with the training bot, and its bot's last faults."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.bots.versions.verbs import locked
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.teams.bots import NO_BOT, TeamBot
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.practice import must_be_free
from cw_hub.store.tables import Match, MatchParticipant, MatchState

MOST_PRACTICE: Final = 5
"""Maximum number of practice matches listed."""

MOST_FAULTS: Final = 20
"""Maximum number of faults listed."""

MOST_SEARCHED: Final = 500
"""Maximum number of a bot's matches searched for faults."""


@dataclass(frozen=True, slots=True)
class PracticeMatch:
    """A practice match of a team."""

    match_id: str
    state: MatchState
    at: datetime
    won: bool | None
    """None if unfinished or drawn."""


def practice_matches(session: Session, bot: int) -> list[PracticeMatch]:
    """Return the last practice matches of a bot, latest first."""
    rows = session.execute(
        select(Match.match_id, Match.state, Match.at, MatchParticipant.rank)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot, Match.kind == "practice")
        .order_by(Match.id.desc())
        .limit(MOST_PRACTICE)
    )
    return [
        PracticeMatch(name, state, at, None if rank is None else rank == 1)
        for name, state, at, rank in rows
    ]


def plan_practice(session: Session, clock: Clock, bot: TeamBot) -> tuple[int, str]:
    """Plan a match of a team's bot with the training bot; return its id and its name.

    Raises UsageError for a team without a bot, and Busy while its last practice match is running.
    """
    row = locked(session, bot.id)
    if not bot.is_set:
        raise UsageError(NO_BOT)
    must_be_free(session, row.id)
    training = bot.training
    opponent = f"{training}-builtin" if training == bot.slug else training
    seats = (Seat(row.name, bot_id=row.id), Seat(opponent, spec=f"builtin:{training}"))
    board = secrets.choice(bot.settings.boards)
    key = f"{row.bot_id} {secrets.token_hex(8)}"
    plan = Plan("practice", key, bot.game, seats, board.options, bot.competition_id)
    match = planning.plan(session, clock, plan)
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()


@dataclass(frozen=True, slots=True)
class TeamFault:
    """A bot's fault in a match, with details only for its team."""

    match_id: str
    at: datetime
    game: int
    """The number of the game within its match."""
    turn: int
    kind: str
    detail: str
    expected: str
    actual: str
    answer: str
    """The answer as sent; "" if there was none, or it was not stored."""
    is_practice: bool


def last_faults(session: Session, bot: int) -> list[TeamFault]:
    """Return the last faults of a bot, latest first."""
    rows = session.execute(
        select(MatchParticipant.faults, Match.match_id, Match.finished_at, Match.at, Match.kind)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(MatchParticipant.bot_id == bot, Match.state == "done")
        .order_by(Match.finished_at.desc(), Match.id.desc())
        .limit(MOST_SEARCHED)
    )
    team_faults = (
        TeamFault(
            match_id,
            finished_at or at,
            fault.get("battle", 1),
            fault.get("turn", 0),
            fault["kind"],
            fault.get("detail", ""),
            fault.get("expected", ""),
            fault.get("actual", ""),
            fault.get("answer", ""),
            kind == "practice",
        )
        for faults, match_id, finished_at, at, kind in rows
        for fault in reversed(faults)
    )
    return list(islice(team_faults, MOST_FAULTS))
