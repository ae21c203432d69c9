"""Claims: a worker's right to play one attempt of a match."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Update, and_, or_, select, update
from sqlalchemy.orm import Session

from cw.games.wire import Credit, Credits
from cw_hub.bots.seats import PROGRAM, ClaimedSeat, Hosting, claimed_seat, is_version_played
from cw_hub.clock import Clock
from cw_hub.store.tables import Bot, BotVersion, Match, MatchParticipant, User


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to play one attempt of a match."""

    id: int
    match_id: str
    attempt: int
    kind: str
    game: str
    options: Mapping[str, Any]
    seed: int
    planned_at: datetime
    seats: tuple[ClaimedSeat, ...]
    players: tuple[int, ...] = ()
    """The game's names of the seats; if empty, its protocol numbers or names them."""
    competition_id: int | None = None
    key: str = ""
    """Why it is played; the format depends on its kind."""
    battles: int = 1
    """Number of games, played one after the other with rotated seats."""
    number: int = 1
    """The number of the game that this claim is for."""
    hosting: Hosting = "sandboxed"
    """How uploaded programs are run."""
    tournament: str = ""
    """The slug of its tournament, or ""."""

    @property
    def has_programs(self) -> bool:
        """Whether an uploaded program plays."""
        return any(seat.spec.startswith(PROGRAM) for seat in self.seats)

    @property
    def wire_id(self) -> str:
        """The id of the game sent to bots: each game has its own, so that bots start afresh."""
        return wire_id(self.match_id, self.attempt, self.number)

    def first_slot(self, number: int) -> int:
        """Return the slot in the first seat of a game of the match."""
        return (number - 1) % len(self.seats)

    def battle(self, number: int) -> Claim:
        """Return the claim to one game of the match, with its seats rotated."""
        first = self.first_slot(number)
        seats = (*self.seats[first:], *self.seats[:first])
        players = (*self.players[first:], *self.players[:first])
        return replace(self, number=number, seats=seats, players=players)

    @property
    def credits(self) -> Credits:
        """The names recorded in its replay."""
        return Credits(self.match_id, [Credit(seat.public, seat.owner) for seat in self.seats])


def wire_id(match_id: str, attempt: int, battle: int = 1) -> str:
    """Return the id sent to bots for one attempt at a game of a match."""
    if attempt <= 1 and battle == 1:
        return match_id
    game = match_id if battle == 1 else f"{match_id}-b{battle}"
    # Bots that keep state by this id must not mistake a second attempt for the first.
    return f"m_{sha256(f'{game}.{attempt}'.encode()).hexdigest()[:8]}"


def claim(  # noqa: PLR0913, PLR0917 - who takes what, for how long
    session: Session,
    clock: Clock,
    match: int,
    worker: str,
    lease: timedelta,
    held_back: Collection[str] = (),
) -> Claim | None:
    """Take a queued match for a worker, with its bots as they are now, or None if not queued.

    Concurrent, repeated or late messages: one claims it, the others are dropped. Matches of the
    kinds `held_back` need a message that is still valid; one put back to wait has none.
    """
    now = clock()
    has_message = or_(Match.kind.not_in(held_back), Match.sent_at.is_not(None))
    change = (
        update(Match)
        .where(Match.id == match, Match.state == "queued", has_message)
        .values(
            state="in_progress",
            # The attempt is the fencing token: a worker that returns after its lease fails every
            # compare-and-set.
            attempt=Match.attempt + 1,
            worker=worker,
            lease_until=now + lease,
            turn=0,
            started_at=now,
            reason=None,
        )
        .returning(Match)
    )
    row = session.scalars(change).one_or_none()
    if row is None:
        return None
    seats = claimed_seats(session, row.id)
    if any(seat.version for seat in seats):
        note_versions(session, row.id)
    return Claim(
        row.id,
        row.match_id,
        row.attempt,
        row.kind,
        row.game,
        row.options,
        row.seed,
        row.at,
        seats,
        competition_id=row.competition_id,
        key=row.key,
    )


def claimed_seats(session: Session, match: int) -> tuple[ClaimedSeat, ...]:
    """Return the seats of a match by slot, with their bots as they are now."""
    rows = session.execute(
        select(MatchParticipant, Bot, User.username, BotVersion)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .outerjoin(User, User.id == Bot.user_id)
        .outerjoin(BotVersion, is_version_played())
        .where(MatchParticipant.match_id == match)
        .order_by(MatchParticipant.slot)
    )
    return tuple(
        claimed_seat(bot, seat.name, owner or "", version, seat.endpoint or "")
        if bot is not None
        else ClaimedSeat(seat.name, seat.spec or "")
        for seat, bot, owner, version in rows
    )


def note_versions(session: Session, match: int) -> None:
    """Record the program versions with which an attempt starts: the active ones."""
    plays = (
        select(BotVersion.number)
        .join(Bot, is_version_played())
        .where(Bot.id == MatchParticipant.bot_id)
        .scalar_subquery()
    )
    its = update(MatchParticipant).where(MatchParticipant.match_id == match)
    session.execute(its.values(version=plays))


def mine(claim: Claim) -> ColumnElement[bool]:
    """Return the SQL condition that an attempt is still the one that plays."""
    return and_(Match.id == claim.id, Match.attempt == claim.attempt, Match.state == "in_progress")


def hits(session: Session, change: Update) -> bool:
    """Apply an update; return whether it changed a row."""
    return session.execute(change.returning(Match.id)).first() is not None


def progress(session: Session, clock: Clock, claim: Claim, turn: int, lease: timedelta) -> bool:
    """Record an attempt's progress and renew its lease; return False if it must stop at once.

    Idempotent. False if late: another attempt plays by then, or none may.
    """
    changed = {"turn": turn, "lease_until": clock() + lease}
    return hits(session, update(Match).where(mine(claim)).values(changed))


def rotated(session: Session, claim: Claim) -> list[ClaimedSeat]:
    """Return the seats whose bots have rotated their secrets since the match was claimed."""
    secrets_of_bots = {
        seat.bot_id: seat.secret_row for seat in claim.seats if seat.secret is not None
    }
    now = claimed_seats(session, claim.id) if secrets_of_bots else ()
    return [
        seat for seat in now if secrets_of_bots.get(seat.bot_id, seat.secret_row) != seat.secret_row
    ]
