"""Matches as pages show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.hub.services.matches import OPEN
from cw.hub.store.tables import Battle, Bot, Match, MatchKind, MatchParticipant, MatchState, User

ON_HOME: Final = 6
"""Matches in a list of the home page."""

LATEST: Final = 20
"""Matches on the page of a bot."""


@dataclass(frozen=True, slots=True)
class SeatView:
    """Who sat at a slot, and what came of it."""

    slot: int
    name: str
    is_builtin: bool
    bot: int | None
    """The id of the bot's row, None for a built-in strategy."""
    user_id: int | None
    """The owner of the bot, None for a built-in strategy and for a team."""
    owner: str | None
    """The username; None where that was deleted, too."""
    picture: str | None
    """The SHA-256 of the owner's picture."""
    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]]
    stats: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match for its page."""

    match_id: str
    kind: MatchKind
    game: str
    state: MatchState
    attempt: int
    turn: int
    reason: str | None
    seed: int
    at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatView, ...]
    replay_key: str | None
    """Of the first battle; None before the end."""

    @property
    def title(self) -> str:
        """Who plays."""
        return " - ".join(seat.name for seat in self.seats)

    @property
    def tag(self) -> str:
        """What differs whenever the page shows something else."""
        return f"{self.match_id}-{self.state}-{self.attempt}-{self.turn}"

    @property
    def by_rank(self) -> list[SeatView]:
        """The seats, the best first; those without a rank last."""
        return sorted(self.seats, key=lambda seat: (seat.rank is None, seat.rank, seat.slot))

    def result_of(self, bot: int) -> str:
        """Return how a bot came out of a match: `won`, `drawn`, `lost`, `3rd of 4`."""
        ranks = {seat.bot: seat.rank for seat in self.seats}
        rank, places = ranks.get(bot), [seat.rank for seat in self.seats]
        if rank == 1:
            return "won" if places.count(1) == 1 else "drawn"
        if len(places) == 2 or rank is None:
            return "lost"
        return f"{rank}{'nd' if rank == 2 else 'rd' if rank == 3 else 'th'} of {len(places)}"

    def is_public(self) -> bool:
        """Whether everybody may see it."""
        return self.kind != "practice"

    def is_of(self, user_id: int) -> bool:
        """Whether a bot of this user plays."""
        return any(seat.user_id == user_id for seat in self.seats)


def find(session: Session, match_id: str) -> MatchView | None:
    """Return a match by its name for people, None if there is none."""
    row = session.scalars(select(Match).where(Match.match_id == match_id)).one_or_none()
    return None if row is None else view_of(session, row)


def latest_of_bot(session: Session, bot: int) -> list[MatchView]:
    """Return the last matches of a bot, the latest first."""
    its = select(MatchParticipant.match_id).where(MatchParticipant.bot_id == bot)
    rows = select(Match).where(Match.id.in_(its)).order_by(Match.id.desc()).limit(LATEST)
    return [view_of(session, row) for row in session.scalars(rows)]


def latest_of_user(session: Session, user_id: int) -> list[MatchView]:
    """Return the last matches of the bots of a user, the latest first."""
    its = select(MatchParticipant.match_id).join(Bot, Bot.id == MatchParticipant.bot_id)
    rows = (
        select(Match)
        .where(Match.id.in_(its.where(Bot.user_id == user_id)))
        .order_by(Match.id.desc())
        .limit(ON_HOME)
    )
    return [view_of(session, row) for row in session.scalars(rows)]


def open_to_all(session: Session) -> list[MatchView]:
    """Return the matches that everybody may see and that are not over, those played first."""
    rows = (
        select(Match)
        .where(Match.state.in_(OPEN), Match.kind != "practice")
        .order_by(Match.started_at.is_(None), Match.id)
        .limit(ON_HOME)
    )
    return [view_of(session, row) for row in session.scalars(rows)]


def view_of(session: Session, row: Match) -> MatchView:
    """Return a match for its page."""
    first = select(Battle.replay_key).where(Battle.match_id == row.id, Battle.number == 1)
    return MatchView(
        row.match_id,
        row.kind,
        row.game,
        row.state,
        row.attempt,
        row.turn,
        row.reason,
        row.seed,
        row.at,
        row.started_at,
        row.finished_at,
        seats_of(session, row.id),
        session.scalar(first),
    )


def seats_of(session: Session, match: int) -> tuple[SeatView, ...]:
    """Return the slots of a match in their order."""
    found = session.execute(
        select(MatchParticipant, Bot.user_id, User.username, User.avatar)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .outerjoin(User, User.id == Bot.user_id)
        .where(MatchParticipant.match_id == match)
        .order_by(MatchParticipant.slot)
    )
    return tuple(
        SeatView(
            seat.slot,
            seat.name,
            seat.bot_id is None,
            seat.bot_id,
            user_id,
            owner,
            picture,
            seat.rank,
            seat.score,
            seat.faults,
            seat.stats,
        )
        for seat, user_id, owner, picture in found
    )
