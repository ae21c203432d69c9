"""The life of a match: planned, sent, claimed, played, finished; and what may come between.

A match is `queued`, `in_progress`, and `done`; or `interrupted`, and queued again; or `void`,
called off before it began; or `failed` after five troubles of ours. Each change is a
compare-and-set on the state and the attempt it expects, so that whoever comes late, twice, or at
the same time changes nothing: see each verb.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from statistics import median
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Update,
    and_,
    bindparam,
    case,
    func,
    insert,
    literal,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.games.registry import game_entry
from cw.games.wire import Credit, Credits
from cw.hub.clock import Clock
from cw.hub.store.sealing import Sealed
from cw.hub.store.tables import (
    Battle,
    Bot,
    BotVersion,
    Competition,
    Match,
    MatchKind,
    MatchParticipant,
    MatchState,
    Moment,
    Round,
    User,
)

PLAY: Final = "play_match"
"""The job that plays a match: told the id of its row, in the queue of its kind."""

PROGRAMS: Final = "programs"
"""The queue of matches and checks in which uploaded programs are run."""

EXACT: Final = 53
"""Bits of an integer that a script of a page reads as it is."""

MOST_TROUBLES: Final = 5
"""Attempts that may end by a fault of ours; then the match has failed."""

ANEW: Final[Mapping[str, Any]] = {
    "state": "queued",
    "sent_at": None,
    "troubles": 0,
    "reason": None,
    "finished_at": None,
}
"""What the row of a match says that is to be played although it was over."""

LOST_AFTER: Final = timedelta(minutes=5)
"""How long after its message a match that nobody has claimed is sent again."""

MOST_SENT: Final = 1000
"""Messages of one tick."""

OPEN: Final[tuple[MatchState, ...]] = ("queued", "in_progress", "interrupted")

OUTPUTS: Final = "outputs"
"""What the program of a bot has written to its standard error, by game: a key of its figures."""

PROGRAM: Final = "program:"
"""How the seats of uploaded programs begin."""

BUILTIN: Final = "builtin:"

REAPED: Final = "its worker was lost"
LONGEST_REASON: Final = 40


Hosting: TypeAlias = Literal["off", "sandboxed", "trusted"]
"""How uploaded programs are run: not at all, behind walls, or without them if need be."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who shall sit at a slot: a bot, or a built-in strategy that has no row."""

    name: str
    bot_id: int | None = None
    spec: str | None = None
    """`builtin:NAME`, or `program:` of a program of a championship."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What shall be played; the kind and the key say why: planned twice, they make one match."""

    kind: MatchKind
    key: str
    """"": the name of the match, as nothing else is to make it once."""
    game: str
    seats: tuple[Seat, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    competition_id: int | None = None
    seed: int | None = None
    """None: drawn."""
    map_id: str | None = None
    level: float | None = None
    """How strong its bots are, on an average."""
    at: datetime | None = None
    """When it is due; None: now."""


@dataclass(frozen=True, slots=True)
class Message:
    """That a match waits to be played; the row is what counts, the message is a hint."""

    id: int
    kind: MatchKind
    request_id: str | None = None
    """Of the request, or of the tick, that has planned it."""


@dataclass(frozen=True, slots=True)
class ClaimedSeat:
    """A slot as it was when the match was claimed."""

    name: str
    spec: str
    """`builtin:NAME`, `program:` and the SHA-256 of an upload, or the address of a web service; ""
    if there is no bot yet. Of a match of a championship its parcel says who plays."""
    bot_id: str = ""
    """Of a bot; "" for a built-in strategy."""
    settings: Mapping[str, str] = field(default_factory=dict)
    secret: Sealed | None = None
    secret_row: str = ""
    """What the secret is bound to."""
    owner: str = ""
    """The username; "" for a built-in strategy, and where it was deleted."""

    @property
    def public(self) -> str:
        """How replays name who sits there: nobody learns an address from them."""
        return self.bot_id or (self.spec if self.spec.startswith(BUILTIN) else self.name)


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


@dataclass(frozen=True, slots=True)
class SlotResult:
    """What came of a slot."""

    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]] = ()
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def crashed(self) -> bool:
        """Whether the bot was given up in the match; a single failure is none of that."""
        return any(fault["kind"] == "crashed" for fault in self.faults)


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


def wire_id(match_id: str, attempt: int, battle: int = 1) -> str:
    """Return the name under which bots know an attempt to play a game of a match."""
    if attempt <= 1 and battle == 1:
        return match_id
    game = match_id if battle == 1 else f"{match_id}-b{battle}"
    return f"m_{sha256(f'{game}.{attempt}'.encode()).hexdigest()[:8]}"


def plan(session: Session, clock: Clock, wanted: Plan) -> int:
    """Make the row of a match, `queued`; return its id.

    Twice, late, or by two at once: the kind and the key are unique, so there is one row, and all
    are told its id.
    """
    match_id = f"m_{secrets.token_hex(4)}"
    match = Match(
        match_id=match_id,
        competition_id=wanted.competition_id,
        kind=wanted.kind,
        key=wanted.key or match_id,
        game=wanted.game,
        players=len(wanted.seats),
        options=dict(wanted.options),
        seed=draw_seed(wanted.game) if wanted.seed is None else wanted.seed,
        map_id=wanted.map_id,
        level=wanted.level,
        at=wanted.at or clock(),
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


def to_send(
    session: Session,
    clock: Clock,
    lost_after: timedelta = LOST_AFTER,
    others: Collection[str] = (),
) -> list[Message]:
    """Return the matches whose messages are due, and note that they are sent.

    To be sent after the commit. Twice or by two at once: the second finds none due; one that nobody
    has claimed for so long is due again, and one whose message comes twice is claimed once. The
    matches of competitions of `others` are sent in an order of their own.
    """
    now = clock()
    due = is_due(now, lost_after)
    if others:
        theirs = select(Competition.id).where(Competition.format.in_(others))
        due = and_(due, or_(Match.competition_id.is_(None), Match.competition_id.not_in(theirs)))
    first = select(Match.id).where(due).order_by(Match.id).limit(MOST_SENT)
    noted = update(Match).where(Match.id.in_(first), due).values(sent_at=now)
    rows = session.execute(noted.returning(Match.id, Match.kind, Match.request_id))
    return sorted((Message(*row) for row in rows), key=lambda message: message.id)


def is_due(now: datetime, lost_after: timedelta) -> ColumnElement[bool]:
    """Return what holds of matches whose messages are to be sent, for the first time or again."""
    return and_(
        Match.state == "queued", or_(Match.sent_at.is_(None), Match.sent_at <= now - lost_after)
    )


def forget_messages(session: Session) -> None:
    """Let all that is queued be sent again at once: nobody knows what became of the messages."""
    session.execute(update(Match).where(Match.state == "queued").values(sent_at=None))


def claim(
    session: Session, clock: Clock, match: int, worker: str, lease: timedelta
) -> Claim | None:
    """Take a queued match for a worker, with its bots as they are now; None if it is not queued.

    Twice, late or by two at once: one finds it queued, the others drop their message. Those of a
    ladder are taken only by a message that counts: one that is held back has none.
    """
    now = clock()
    has_message = or_(Match.kind != "ladder", Match.sent_at.is_not(None))
    taken = (
        update(Match)
        .where(Match.id == match, Match.state == "queued", has_message)
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
        competition_id=row.competition_id,
        key=row.key,
    )


def claimed_seats(session: Session, match: int) -> tuple[ClaimedSeat, ...]:
    """Return the slots of a match in their order, as their bots are now."""
    found = session.execute(
        select(MatchParticipant, Bot, User.username, BotVersion.sha256)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .outerjoin(User, User.id == Bot.user_id)
        .outerjoin(BotVersion, that_plays())
        .where(MatchParticipant.match_id == match)
        .order_by(MatchParticipant.slot)
    )
    return tuple(claimed_seat(slot, bot, owner or "", own or "") for slot, bot, owner, own in found)


def that_plays() -> ColumnElement[bool]:
    """Return what holds of the version of a bot that plays, if the bot is a program."""
    return and_(
        Bot.kind == "program",
        BotVersion.bot_id == Bot.id,
        BotVersion.number == Bot.settings["version"].as_integer(),
        BotVersion.state == "ready",
    )


def claimed_seat(
    participant: MatchParticipant, bot: Bot | None, owner: str, program: str = ""
) -> ClaimedSeat:
    """Return a slot as its bot is now; `program` is the SHA-256 of the upload that plays."""
    if bot is None:
        return ClaimedSeat(participant.name, participant.spec or "")
    spec = f"builtin:{bot.endpoint}" if bot.kind == "builtin" else bot.endpoint
    if bot.kind == "program":
        spec = f"{PROGRAM}{program}" if program else ""
    sealed = None if bot.secret is None else Sealed(bot.key_id or "", bot.secret)
    row = f"{bot.bot_id}.{bot.secret_version}"
    said = told_to_bots(bot)
    return ClaimedSeat(participant.name, spec, bot.bot_id, said, sealed, row, owner)


def seat_of(session: Session, bot: Bot) -> ClaimedSeat:
    """Return a bot as it would be seated now."""
    plays = select(BotVersion.sha256).join(Bot, that_plays()).where(Bot.id == bot.id)
    program = session.scalar(plays) if bot.kind == "program" else None
    return claimed_seat(MatchParticipant(name=bot.name, spec=None), bot, "", program or "")


def program_of(session: Session, bot: Bot) -> ClaimedSeat | None:
    """Return a bot as it would be seated if it is an upload that can play, else None."""
    if bot.kind != "program":
        return None
    seat = seat_of(session, bot)
    return seat if seat.spec else None


def told_to_bots(bot: Bot) -> dict[str, str]:
    """Return the settings of a bot that the arena knows: texts."""
    return {name: value for name, value in bot.settings.items() if isinstance(value, str)}


def of_programs(session: Session, matches: Collection[int]) -> set[int]:
    """Return those of some matches in which an uploaded program plays."""
    if not matches:
        return set()
    is_program = or_(Bot.kind == "program", MatchParticipant.spec.startswith(PROGRAM))
    found = (
        select(MatchParticipant.match_id)
        .outerjoin(Bot, Bot.id == MatchParticipant.bot_id)
        .where(MatchParticipant.match_id.in_(matches), is_program)
        .distinct()
    )
    return set(session.scalars(found))


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


def rotated(session: Session, of: Claim) -> list[ClaimedSeat]:
    """Return the slots whose bots have other secrets by now than when the match was claimed."""
    known = {seat.bot_id: seat.secret_row for seat in of.seats if seat.secret is not None}
    now = claimed_seats(session, of.id) if known else ()
    return [seat for seat in now if known.get(seat.bot_id, seat.secret_row) != seat.secret_row]


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
    rows = [battle_row(of, number, battle) for number, battle in enumerate(battles, 1)]
    session.execute(insert(_BATTLES), rows)
    if slots := [slot_after(of, *one) for one in enumerate(combined(battles))]:
        session.execute(SLOTS_AFTER, slots)
    return "done"


def combined(battles: Sequence[BattleResult]) -> Sequence[SlotResult]:
    """Return what came of every slot in all games of a match.

    Ranks of several games are added up, so that of two bots the one that has won more of them is
    first; a fault says in which game it was.
    """
    if len(battles) == 1:
        return battles[0].slots
    slots = list(zip(*(battle.slots for battle in battles), strict=True))
    sums = [rank_sum(told) for told in slots]
    known = sorted(one for one in sums if one is not None)
    return tuple(
        SlotResult(
            None if own is None else 1 + known.index(own),
            sum(scores)
            if (scores := [one.score for one in told if one.score is not None])
            else None,
            [
                {**fault, "battle": number}
                for number, one in enumerate(told, 1)
                for fault in one.faults
            ],
            combined_stats([one.stats for one in told]),
        )
        for own, told in zip(sums, slots, strict=True)
    )


def rank_sum(told: Sequence[SlotResult]) -> int | None:
    """Return the sum of the ranks of a slot; None if a game has not ranked it."""
    ranks = [one.rank for one in told if one.rank is not None]
    return sum(ranks) if len(ranks) == len(told) else None


def combined_stats(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how a bot answered in all games; what the game keeps of it is that of the last.

    What its program has written is kept of each.
    """
    asked = [one for one in told if one.get("answers")]
    stats = {**told[-1], "answers": sum(one["answers"] for one in asked)}
    if any(OUTPUTS in one for one in told):
        stats[OUTPUTS] = [text for one in told for text in one.get(OUTPUTS, [""])]
    if asked:
        stats["median_ms"] = round(median(one["median_ms"] for one in asked), 3)
        stats["most_ms"] = max(one["most_ms"] for one in asked)
    return stats


_BATTLES: Final[Any] = Battle.__table__
_SLOTS: Final[Any] = MatchParticipant.__table__

SLOTS_AFTER: Final = (
    update(_SLOTS)
    .where(_SLOTS.c.match_id == bindparam("of_match"), _SLOTS.c.slot == bindparam("of_slot"))
    .values(
        {name: bindparam(f"new_{name}") for name in ("rank", "score", "crashed", "faults", "stats")}
    )
)
"""What came of each slot, in one statement for all of them."""


def slot_after(of: Claim, slot: int, told: SlotResult) -> dict[str, Any]:
    """Return what came of a slot, for its row."""
    return {
        "of_match": of.id,
        "of_slot": slot,
        "new_rank": told.rank,
        "new_score": told.score,
        "new_crashed": told.crashed,
        "new_faults": [dict(fault) for fault in told.faults],
        "new_stats": dict(told.stats),
    }


def battle_row(of: Claim, number: int, battle: BattleResult) -> dict[str, Any]:
    """Return the row of one game of a match."""
    return {
        "match_id": of.id,
        "number": number,
        "options": dict(battle.options),
        "first_slot": battle.first_slot,
        "reason": battle.reason[:LONGEST_REASON],
        "ranks": [slot.rank for slot in battle.slots],
        "scores": [slot.score for slot in battle.slots],
        "turns": battle.turns,
        "replay_key": battle.replay_key,
        "bytes": battle.bytes,
        "started_at": battle.started_at,
        "ended_at": battle.ended_at,
    }


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


def trouble(session: Session, clock: Clock, of: Claim, reason: str) -> bool:
    """Note that an attempt has ended by a fault of ours; after five of them the match has failed.

    Twice, late: False, and nothing changes.
    """
    return hits(session, update(Match).where(mine(of)).values(troubled(reason, clock())))


def refuse(session: Session, clock: Clock, of: Claim, reason: str) -> bool:
    """Note that an attempt was asked for what cannot be played: the match has failed at once.

    Twice, late: False, and nothing changes.
    """
    failed = {**given_back(reason), "state": "failed", "finished_at": clock()}
    return hits(session, update(Match).where(mine(of)).values(failed))


def troubled(reason: str, now: datetime) -> dict[str, Any]:
    """Return what becomes of an attempt that was a trouble."""
    is_last = Match.troubles + 1 >= MOST_TROUBLES
    state = case((is_last, "failed"), else_="interrupted")
    ended = case((is_last, literal(now, Moment())), else_=null())
    counted = {"state": state, "finished_at": ended, "troubles": Match.troubles + 1}
    return {**given_back(reason), **counted}


def reap(session: Session, clock: Clock) -> int:
    """Take matches from the workers whose lease is over: troubles; return how many. Twice: 0."""
    return reap_where(session, clock, Match.lease_until < clock())


def reap_all(session: Session, clock: Clock) -> int:
    """Take all matches from their workers: to be called where all of them are known to be dead."""
    return reap_where(session, clock, Match.state == "in_progress")


def reap_where(session: Session, clock: Clock, over: ColumnElement[bool]) -> int:
    """Take the matches from their workers of which this holds; return how many."""
    lost = troubled(REAPED, clock())
    found = update(Match).where(Match.state == "in_progress", over).values(lost)
    return len(session.execute(found.returning(Match.id)).all())


def requeue(session: Session) -> int:
    """Queue what was interrupted; return how many. Twice: 0."""
    again = {"state": "queued", "sent_at": None}
    change = update(Match).where(Match.state == "interrupted").values(again)
    return len(session.execute(change.returning(Match.id)).all())


def queue_all(session: Session) -> int:
    """Queue all that was begun, without a trouble: to be called where nobody has ever played here.

    Returns how many matches those were. Twice: 0.
    """
    again = {**given_back("restored from a back-up"), "state": "queued", "sent_at": None}
    begun = Match.state.in_(("in_progress", "interrupted"))
    found = session.execute(update(Match).where(begun).values(again).returning(Match.id)).all()
    forget_messages(session)
    return len(found)


def requeue_failed(session: Session, match_id: str) -> bool:
    """Give a failed match another five attempts; False if it has not failed.

    So it is where its round is over: its points were given.
    """
    opened = select(Round.id).where(Round.closed_at.is_(None))
    is_open = or_(Match.round_id.is_(None), Match.round_id.in_(opened))
    failed = and_(Match.match_id == match_id, Match.state == "failed", is_open)
    return hits(session, update(Match).where(failed).values(ANEW))


def void(session: Session, clock: Clock, match_id: str, reason: str) -> bool:
    """Call a match off that waits; False if it does not wait any more."""
    waiting = and_(Match.match_id == match_id, Match.state.in_(("queued", "interrupted")))
    off = {"state": "void", "finished_at": clock(), "reason": reason[:LONGEST_REASON]}
    return hits(session, update(Match).where(waiting).values(off))


def open_counts(session: Session) -> dict[MatchState, int]:
    """Return how many matches there are in each state that is not the end."""
    counted = select(Match.state, func.count()).where(Match.state.in_(OPEN)).group_by(Match.state)
    return dict(session.execute(counted).all())


def counts(session: Session) -> dict[MatchState, int]:
    """Return how many matches there are in each state that has any."""
    counted = select(Match.state, func.count()).group_by(Match.state)
    return dict(session.execute(counted).all())
