"""The life of a match: planned, sent, claimed, played, finished; and what may come between.

A match is `queued`, `in_progress`, and `done`; or `interrupted`, and queued again; or `void`,
called off before it began; or `failed` after five troubles of ours. Each change is a
compare-and-set on the state and the attempt it expects, so that whoever comes late, twice, or at
the same time changes nothing: see each verb.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Update, and_, case, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.games.registry import game_entry
from cw.hub.clock import Clock
from cw.hub.store.sealing import Sealed
from cw.hub.store.tables import Battle, Bot, Match, MatchKind, MatchParticipant, MatchState

PLAY: Final = "play_match"
"""The job that plays a match: told the id of its row, in the queue of its kind."""

EXACT: Final = 53
"""Bits of an integer that a script of a page reads as it is."""

MOST_TROUBLES: Final = 5
"""Attempts that may end by a fault of ours; then the match has failed."""

LOST_AFTER: Final = timedelta(minutes=5)
"""How long after its message a match that nobody has claimed is sent again."""

MOST_SENT: Final = 1000
"""Messages of one tick."""

OPEN: Final[tuple[MatchState, ...]] = ("queued", "in_progress", "interrupted")

REAPED: Final = "its worker was lost"
LONGEST_REASON: Final = 40


@dataclass(frozen=True, slots=True)
class Seat:
    """Who shall sit at a slot: a bot, or a built-in strategy that has no row."""

    name: str
    bot_id: int | None = None
    spec: str | None = None
    """`builtin:NAME`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What shall be played; the kind and the key say why: planned twice, they make one match."""

    kind: MatchKind
    key: str
    game: str
    seats: tuple[Seat, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    competition_id: int | None = None
    seed: int | None = None
    """None: drawn."""


@dataclass(frozen=True, slots=True)
class Message:
    """That a match waits to be played; the row is what counts, the message is a hint."""

    id: int
    kind: MatchKind


@dataclass(frozen=True, slots=True)
class ClaimedSeat:
    """A slot as it was when the match was claimed."""

    name: str
    spec: str
    """`builtin:NAME`, or the address of a web service."""
    bot_id: str = ""
    """Of a bot; "" for a built-in strategy."""
    settings: Mapping[str, str] = field(default_factory=dict)
    secret: Sealed | None = None
    secret_row: str = ""
    """What the secret is bound to."""

    @property
    def public(self) -> str:
        """How replays name who sits there: nobody learns an address from them."""
        return self.bot_id or self.spec


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to play one attempt of a match."""

    id: int
    match_id: str
    attempt: int
    kind: MatchKind
    game: str
    options: Mapping[str, Any]
    seed: int
    planned_at: datetime
    seats: tuple[ClaimedSeat, ...]


@dataclass(frozen=True, slots=True)
class SlotResult:
    """What came of a slot."""

    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]] = ()
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def crashed(self) -> bool:
        """Whether the bot was lost in the match."""
        return any(fault["kind"] in ("crashed", "disconnected") for fault in self.faults)


@dataclass(frozen=True, slots=True)
class BattleResult:
    """How one game of a match ended, and where its replay lies."""

    reason: str
    slots: tuple[SlotResult, ...]
    turns: int
    replay_key: str | None
    bytes: int
    started_at: datetime
    ended_at: datetime
    options: Mapping[str, Any] = field(default_factory=dict)
    first_slot: int = 0


Finish: TypeAlias = Literal["done", "already", "lost"]
"""Finished now; by this attempt before, whose answer was lost; or not this attempt's any more."""


def plan(session: Session, clock: Clock, wanted: Plan) -> int:
    """Make the row of a match, `queued`; return its id.

    Twice, late, or by two at once: the kind and the key are unique, so there is one row, and all
    are told its id.
    """
    match = Match(
        match_id=f"m_{secrets.token_hex(4)}",
        competition_id=wanted.competition_id,
        kind=wanted.kind,
        key=wanted.key,
        game=wanted.game,
        players=len(wanted.seats),
        options=dict(wanted.options),
        seed=draw_seed(wanted.game) if wanted.seed is None else wanted.seed,
        at=clock(),
    )
    try:
        with session.begin_nested():
            session.add(match)
            session.flush()
            for slot, seat in enumerate(wanted.seats):
                row = {"bot_id": seat.bot_id, "name": seat.name, "spec": seat.spec}
                session.add(MatchParticipant(match_id=match.id, slot=slot, **row))
    except IntegrityError:
        same = select(Match.id).where(Match.kind == wanted.kind, Match.key == wanted.key)
        return session.scalars(same).one()
    return match.id


def draw_seed(game: str) -> int:
    """Draw a seed within the range of a game, and of the numbers that a browser shows exactly."""
    return secrets.randbits(min(game_entry(game).seed_bits, EXACT))


def to_send(session: Session, clock: Clock, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the matches whose messages are due, and note that they are sent.

    To be sent after the commit. Twice or by two at once: the second finds none due; one that nobody
    has claimed for so long is due again, and one whose message comes twice is claimed once.
    """
    now = clock()
    due = and_(
        Match.state == "queued", or_(Match.sent_at.is_(None), Match.sent_at <= now - lost_after)
    )
    first = select(Match.id).where(due).order_by(Match.id).limit(MOST_SENT)
    noted = update(Match).where(Match.id.in_(first), due).values(sent_at=now)
    rows = session.execute(noted.returning(Match.id, Match.kind))
    return sorted((Message(*row) for row in rows), key=lambda message: message.id)


def forget_messages(session: Session) -> None:
    """Let all that is queued be sent again at once: nobody knows what became of the messages."""
    session.execute(update(Match).where(Match.state == "queued").values(sent_at=None))


def claim(
    session: Session, clock: Clock, match: int, worker: str, lease: timedelta
) -> Claim | None:
    """Take a queued match for a worker, with its bots as they are now; None if it is not queued.

    Twice, late or by two at once: one finds it queued, the others drop their message.
    """
    now = clock()
    taken = (
        update(Match)
        .where(Match.id == match, Match.state == "queued")
        .values(
            state="in_progress",
            attempt=Match.attempt + 1,
            worker=worker,
            lease_until=now + lease,
            turn=0,
            started_at=now,
            reason=None,
        )
        .returning(Match)
    )
    row = session.scalars(taken).one_or_none()
    if row is None:
        return None
    return Claim(
        row.id,
        row.match_id,
        row.attempt,
        row.kind,
        row.game,
        row.options,
        row.seed,
        row.at,
        claimed_seats(session, row.id),
    )


def claimed_seats(session: Session, match: int) -> tuple[ClaimedSeat, ...]:
    """Return the slots of a match in their order, as their bots are now."""
    found = session.execute(
        select(MatchParticipant, Bot)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id == match)
        .order_by(MatchParticipant.slot)
    )
    return tuple(claimed_seat(participant, bot) for participant, bot in found)


def claimed_seat(participant: MatchParticipant, bot: Bot | None) -> ClaimedSeat:
    """Return a slot as its bot is now."""
    if bot is None:
        return ClaimedSeat(participant.name, participant.spec or "")
    spec = f"builtin:{bot.endpoint}" if bot.kind == "builtin" else bot.endpoint
    sealed = None if bot.secret is None else Sealed(bot.key_id or "", bot.secret)
    row = f"{bot.bot_id}.{bot.secret_version}"
    return ClaimedSeat(participant.name, spec, bot.bot_id, bot.settings, sealed, row)


def mine(of: Claim) -> ColumnElement[bool]:
    """Return what holds while an attempt is the one that plays."""
    return and_(Match.id == of.id, Match.attempt == of.attempt, Match.state == "in_progress")


def hits(session: Session, change: Update) -> bool:
    """Make a change; return whether there was a row for it."""
    return session.execute(change.returning(Match.id)).first() is not None


def progress(session: Session, clock: Clock, of: Claim, turn: int, lease: timedelta) -> bool:
    """Note how far an attempt is, and renew its lease; False if it must stop at once.

    Twice: the same. Late: False, as somebody else plays by then, or nobody shall.
    """
    changed = {"turn": turn, "lease_until": clock() + lease}
    return hits(session, update(Match).where(mine(of)).values(changed))


def finish(session: Session, clock: Clock, of: Claim, battles: Sequence[BattleResult]) -> Finish:
    """Write what an attempt has come to: `done` once, whoever comes.

    Twice: `already`, as the answer to the first may have been lost. Late, or beside another
    attempt: `lost`, and nothing is written; its replays are to be deleted.
    """
    last = battles[-1]
    changed = {
        "state": "done",
        "finished_at": clock(),
        "reason": last.reason[:LONGEST_REASON],
        "turn": sum(battle.turns for battle in battles),
        "worker": None,
        "lease_until": None,
    }
    if not hits(session, update(Match).where(mine(of)).values(changed)):
        done = and_(Match.id == of.id, Match.attempt == of.attempt, Match.state == "done")
        return "already" if session.scalar(select(Match.id).where(done)) else "lost"
    for number, battle in enumerate(battles, 1):
        session.add(battle_row(of, number, battle))
    for slot, told in enumerate(last.slots):
        session.execute(
            update(MatchParticipant)
            .where(MatchParticipant.match_id == of.id, MatchParticipant.slot == slot)
            .values(
                rank=told.rank,
                score=told.score,
                crashed=told.crashed,
                faults=[dict(fault) for fault in told.faults],
                stats=dict(told.stats),
            )
        )
    return "done"


def battle_row(of: Claim, number: int, battle: BattleResult) -> Battle:
    """Return the row of one game of a match."""
    return Battle(
        match_id=of.id,
        number=number,
        options=dict(battle.options),
        first_slot=battle.first_slot,
        reason=battle.reason[:LONGEST_REASON],
        ranks=[slot.rank for slot in battle.slots],
        scores=[slot.score for slot in battle.slots],
        turns=battle.turns,
        replay_key=battle.replay_key,
        bytes=battle.bytes,
        started_at=battle.started_at,
        ended_at=battle.ended_at,
    )


def interrupt(session: Session, of: Claim, reason: str) -> bool:
    """Give an attempt back in an orderly way: it will be played again, and is no trouble.

    Twice, late: False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(of)).values(given_back(reason)))


def interrupt_all_of(session: Session, worker: str, reason: str) -> int:
    """Give back all that a worker plays; return how many those were. Twice: 0."""
    theirs = and_(Match.worker == worker, Match.state == "in_progress")
    change = update(Match).where(theirs).values(given_back(reason))
    return len(session.execute(change.returning(Match.id)).all())


def given_back(reason: str) -> dict[str, Any]:
    """Return what becomes of an attempt that is to be played again."""
    ended = {"worker": None, "lease_until": None, "reason": reason[:LONGEST_REASON]}
    return {"state": "interrupted", **ended}


def trouble(session: Session, of: Claim, reason: str) -> bool:
    """Note that an attempt has ended by a fault of ours; after five of them the match has failed.

    Twice, late: False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(of)).values(troubled(reason)))


def troubled(reason: str) -> dict[str, Any]:
    """Return what becomes of an attempt that was a trouble."""
    is_last = Match.troubles + 1 >= MOST_TROUBLES
    state = case((is_last, "failed"), else_="interrupted")
    return {**given_back(reason), "state": state, "troubles": Match.troubles + 1}


def reap(session: Session, clock: Clock) -> int:
    """Take matches from the workers whose lease is over: troubles; return how many. Twice: 0."""
    return reap_where(session, Match.lease_until < clock())


def reap_all(session: Session) -> int:
    """Take all matches from their workers: to be called where all of them are known to be dead."""
    return reap_where(session, Match.state == "in_progress")


def reap_where(session: Session, over: ColumnElement[bool]) -> int:
    """Take the matches from their workers of which this holds; return how many."""
    found = update(Match).where(Match.state == "in_progress", over).values(troubled(REAPED))
    return len(session.execute(found.returning(Match.id)).all())


def requeue(session: Session) -> int:
    """Queue what was interrupted; return how many. Twice: 0."""
    again = {"state": "queued", "sent_at": None}
    change = update(Match).where(Match.state == "interrupted").values(again)
    return len(session.execute(change.returning(Match.id)).all())


def requeue_failed(session: Session, match_id: str) -> bool:
    """Give a failed match another five attempts; False if it has not failed."""
    failed = and_(Match.match_id == match_id, Match.state == "failed")
    again = {"state": "queued", "sent_at": None, "troubles": 0, "reason": None}
    return hits(session, update(Match).where(failed).values(again))


def void(session: Session, clock: Clock, match_id: str, reason: str) -> bool:
    """Call a match off that waits; False if it does not wait any more."""
    waiting = and_(Match.match_id == match_id, Match.state.in_(("queued", "interrupted")))
    off = {"state": "void", "finished_at": clock(), "reason": reason[:LONGEST_REASON]}
    return hits(session, update(Match).where(waiting).values(off))


def counts(session: Session) -> dict[MatchState, int]:
    """Return how many matches there are in each state that has any."""
    counted = select(Match.state, func.count()).group_by(Match.state)
    return dict(session.execute(counted).all())
