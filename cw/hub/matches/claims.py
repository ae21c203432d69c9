"""Claims: the right of a worker to play one attempt of a match."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Update, and_, or_, select, update
from sqlalchemy.orm import Session

from cw.games.wire import Credit, Credits
from cw.hub.bots.seats import PROGRAM, ClaimedSeat, Hosting, claimed_seat, is_version_played
from cw.hub.clock import Clock
from cw.hub.store.tables import Bot, BotVersion, Match, MatchParticipant, User


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
    """How the game names the seats; without any, its protocol numbers or names them."""
    competition_id: int | None = None
    key: str = ""
    """Why it is played, in the words of its kind."""
    battles: int = 1
    """How many games are played, one after the other, with the seats turned."""
    number: int = 1
    """Which of these games it is about."""
    hosting: Hosting = "sandboxed"
    """How uploaded programs are run."""
    tournament: str = ""
    """The slug of the tournament that it is played in, if any."""

    @property
    def has_programs(self) -> bool:
        """Whether an uploaded program plays."""
        return any(seat.spec.startswith(PROGRAM) for seat in self.seats)

    @property
    def wire_id(self) -> str:
        """The name under which bots know the game: each has its own, so they begin afresh."""
        return wire_id(self.match_id, self.attempt, self.number)

    def first_slot(self, number: int) -> int:
        """Return the slot that has the first seat in a game of the match."""
        return (number - 1) % len(self.seats)

    def battle(self, number: int) -> Claim:
        """Return the right to play one game of the match: another slot has the first seat."""
        first = self.first_slot(number)
        seats = (*self.seats[first:], *self.seats[:first])
        players = (*self.players[first:], *self.players[:first])
        return replace(self, number=number, seats=seats, players=players)

    @property
    def credits(self) -> Credits:
        """The names that its replay bears."""
        return Credits(self.match_id, [Credit(seat.public, seat.owner) for seat in self.seats])


def wire_id(match_id: str, attempt: int, battle: int = 1) -> str:
    """Return the name under which bots know an attempt to play a game of a match."""
    if attempt <= 1 and battle == 1:
        return match_id
    game = match_id if battle == 1 else f"{match_id}-b{battle}"
    # Bots that keep state by the name of a game must not take a second attempt for the first.
    return f"m_{sha256(f'{game}.{attempt}'.encode()).hexdigest()[:8]}"


def claim(  # noqa: PLR0913, PLR0917 - who takes what, for how long
    session: Session,
    clock: Clock,
    match: int,
    worker: str,
    lease: timedelta,
    held_back: Collection[str] = (),
) -> Claim | None:
    """Take a queued match for a worker, with its bots as they are now; None if it is not queued.

    Twice, late or by two at once: one finds it queued, the others drop their message. Matches of
    the kinds `held_back` are taken only by a message that counts: one that must wait has none.
    """
    now = clock()
    has_message = or_(Match.kind.not_in(held_back), Match.sent_at.is_not(None))
    change = (
        update(Match)
        .where(Match.id == match, Match.state == "queued", has_message)
        .values(
            state="in_progress",
            # The attempt is the fencing token: whoever comes back after its lease fails each
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
    """Return the slots of a match in their order, as their bots are now."""
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
    """Write down which versions of programs an attempt begins with: those that play now."""
    plays = (
        select(BotVersion.number)
        .join(Bot, is_version_played())
        .where(Bot.id == MatchParticipant.bot_id)
        .scalar_subquery()
    )
    its = update(MatchParticipant).where(MatchParticipant.match_id == match)
    session.execute(its.values(version=plays))


def mine(claim: Claim) -> ColumnElement[bool]:
    """Return what holds while an attempt is the one that plays."""
    return and_(Match.id == claim.id, Match.attempt == claim.attempt, Match.state == "in_progress")


def hits(session: Session, change: Update) -> bool:
    """Make a change; return whether there was a row for it."""
    return session.execute(change.returning(Match.id)).first() is not None


def progress(session: Session, clock: Clock, claim: Claim, turn: int, lease: timedelta) -> bool:
    """Note how far an attempt is, and renew its lease; False if it must stop at once.

    Twice: the same. Late: False, as somebody else plays by then, or nobody shall.
    """
    changed = {"turn": turn, "lease_until": clock() + lease}
    return hits(session, update(Match).where(mine(claim)).values(changed))


def rotated(session: Session, claim: Claim) -> list[ClaimedSeat]:
    """Return the slots whose bots have other secrets by now than when the match was claimed."""
    secrets_of_bots = {
        seat.bot_id: seat.secret_row for seat in claim.seats if seat.secret is not None
    }
    now = claimed_seats(session, claim.id) if secrets_of_bots else ()
    return [
        seat for seat in now if secrets_of_bots.get(seat.bot_id, seat.secret_row) != seat.secret_row
    ]
