"""The life cycle of a match: claimed by a worker, interrupted or not, its result written once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from statistics import median
from typing import Any, Final, Literal, TypeAlias, get_args

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

from cw.games.wire import Credit, Credits
from cw_hub.bots import health
from cw_hub.bots.addresses import PROGRAM, ClaimedSeat, Hosting, claimed_seat, is_version_played
from cw_hub.matches.planning import forget_messages
from cw_hub.players.messages import OUTPUTS, SlotResult
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    BotVersion,
    Match,
    MatchParticipant,
    MatchState,
    Moment,
    Round,
    User,
)


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
    """The game's names for the seats; if empty, its protocol numbers or names them."""
    competition_id: int | None = None
    key: str = ""
    """Identifies why it is played; the key's format depends on the kind."""
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
        """Return the slot that has the first seat in a game of the match."""
        return (number - 1) % len(self.seats)

    def battle(self, number: int) -> Claim:
        """Return the claim for one game of the match, with its seats rotated."""
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
    # Bots that store state by this id must not mistake a second attempt for the first.
    return f"m_{sha256(f'{game}.{attempt}'.encode()).hexdigest()[:8]}"


def claim(
    session: Session,
    match: int,
    worker: str,
    lease: timedelta,
    held_back: Collection[str] = (),
) -> Claim | None:
    """Claim a queued match for a worker, with its bots as they are now; None if it is not queued.

    Of concurrent, repeated or late messages, one claims it, and the others are dropped. Matches of
    the kinds in `held_back` need a message that is still valid; a match that was put back to wait
    has none.
    """
    now = session.now()
    has_message = or_(Match.kind.not_in(held_back), Match.sent_at.is_not(None))
    change = (
        update(Match)
        .where(Match.id == match, Match.state == "queued", has_message)
        .values(
            state="in_progress",
            # The attempt is the fencing token: a worker that returns after its lease has expired
            # fails every compare-and-set.
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
    """Record the active program versions with which an attempt starts."""
    plays = (
        select(BotVersion.number)
        .join(Bot, is_version_played())
        .where(Bot.id == MatchParticipant.bot_id)
        .scalar_subquery()
    )
    its = update(MatchParticipant).where(MatchParticipant.match_id == match)
    session.execute(its.values(version=plays))


def mine(claim: Claim) -> ColumnElement[bool]:
    """Return the SQL condition that an attempt is still the one playing its match."""
    return and_(Match.id == claim.id, Match.attempt == claim.attempt, Match.state == "in_progress")


def updated(session: Session, change: Update) -> bool:
    """Apply an update; return whether it changed a row."""
    return session.execute(change.returning(Match.id)).first() is not None


def progress(session: Session, claim: Claim, turn: int, lease: timedelta) -> bool:
    """Record an attempt's progress and renew its lease; return False if it must stop immediately.

    Idempotent. A late call returns False: by then another attempt is playing, or none may.
    """
    changed = {"turn": turn, "lease_until": session.now() + lease}
    return updated(session, update(Match).where(mine(claim)).values(changed))


def rotated(session: Session, claim: Claim) -> list[ClaimedSeat]:
    """Return the seats whose bots have rotated their secrets since the match was claimed."""
    secrets_of_bots = {
        seat.bot_id: seat.secret_row for seat in claim.seats if seat.secret is not None
    }
    now = claimed_seats(session, claim.id) if secrets_of_bots else ()
    return [
        seat for seat in now if secrets_of_bots.get(seat.bot_id, seat.secret_row) != seat.secret_row
    ]


LONGEST_REASON: Final = 40


@dataclass(frozen=True, slots=True)
class BattleResult:
    """How one game of a match ended, and where its replay is."""

    reason: str
    slots: tuple[SlotResult, ...]
    turns: int
    replay_key: str | None
    bytes: int
    started_at: datetime
    ended_at: datetime
    options: Mapping[str, Any] = field(default_factory=dict)
    first_slot: int = 0


NOBODY: Final = "no_players"
"""The reason of a match that ended because no bot was ready to play."""


def unplayed(now: datetime) -> BattleResult:
    """Return the result of a match for which no bot was ready."""
    return BattleResult(NOBODY, (), 0, None, 0, now, now)


Finish: TypeAlias = Literal["done", "already", "lost"]
"""The effect of writing a result.

Finished now; finished before by this attempt, whose response was lost; taken from this attempt.
"""


def finish(session: Session, claim: Claim, battles: Sequence[BattleResult]) -> Finish:
    """Write the result of an attempt; only one call returns `done`.

    A repeated call returns `already`, as the first response may have been lost. A call that is
    late, or alongside another attempt, returns `lost`: nothing is written, and its replays should
    be deleted.
    """
    last = battles[-1]
    changed = {
        "state": "done",
        "finished_at": session.now(),
        "reason": last.reason[:LONGEST_REASON],
        "turn": sum(battle.turns for battle in battles),
        "worker": None,
        "lease_until": None,
    }
    if not updated(session, update(Match).where(mine(claim)).values(changed)):
        done = and_(Match.id == claim.id, Match.attempt == claim.attempt, Match.state == "done")
        return "already" if session.scalar(select(Match.id).where(done)) else "lost"
    rows = [battle_row(claim, number, battle) for number, battle in enumerate(battles, 1)]
    session.execute(insert(_BATTLES), rows)
    results = combined(battles)
    if slots := [slot_after(claim, *slot) for slot in enumerate(results)]:
        session.execute(SLOTS_AFTER, slots)
        note_unreachable(session, claim, results)
    return "done"


def note_unreachable(session: Session, claim: Claim, results: Sequence[SlotResult]) -> None:
    """Schedule checks of the bots that did not respond."""
    silent = [slot for slot, result in enumerate(results) if result.is_unreachable]
    if silent:
        seats = (_SLOTS.c.match_id == claim.id, _SLOTS.c.slot.in_(silent))
        bots = session.scalars(select(_SLOTS.c.bot_id).where(*seats, _SLOTS.c.bot_id.is_not(None)))
        health.note_match(session, bots.all())


def combined(battles: Sequence[BattleResult]) -> Sequence[SlotResult]:
    """Return the result of every slot over all games of a match.

    Ranks are summed, so that of two bots the one with more wins is ranked first; each fault states
    in which game it occurred.
    """
    if len(battles) == 1:
        return battles[0].slots
    slots = list(zip(*(battle.slots for battle in battles), strict=True))
    sums = [rank_sum(results) for results in slots]
    ranked = sorted(ranks for ranks in sums if ranks is not None)
    return tuple(
        SlotResult(
            None if ranks is None else 1 + ranked.index(ranks),
            score_sum(results),
            numbered_faults(results),
            combined_stats([result.stats for result in results]),
        )
        for ranks, results in zip(sums, slots, strict=True)
    )


def rank_sum(results: Sequence[SlotResult]) -> int | None:
    """Return the sum of a slot's ranks, or None if a game has not ranked it."""
    ranks = [result.rank for result in results if result.rank is not None]
    return sum(ranks) if len(ranks) == len(results) else None


def score_sum(results: Sequence[SlotResult]) -> float | None:
    """Return the sum of a slot's scores, or None if no game has scored it."""
    scores = [result.score for result in results if result.score is not None]
    return sum(scores) if scores else None


def numbered_faults(results: Sequence[SlotResult]) -> list[dict[str, Any]]:
    """Return a slot's faults in all games, each with the number of its game from 1."""
    return [
        {**fault, "battle": number}
        for number, result in enumerate(results, 1)
        for fault in result.faults
    ]


def combined_stats(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a bot's response statistics over all games; the game's own are those of the last one.

    The output of its program is retained for each game.
    """
    answered = [game for game in games if game.get("answers")]
    stats = {**games[-1], "answers": sum(game["answers"] for game in answered)}
    if any(OUTPUTS in game for game in games):
        stats[OUTPUTS] = [text for game in games for text in game.get(OUTPUTS, [""])]
    if answered:
        stats["median_ms"] = round(median(game["median_ms"] for game in answered), 3)
        stats["most_ms"] = max(game["most_ms"] for game in answered)
    return stats


_BATTLES: Final[Any] = Battle.__table__

_SLOTS: Final[Any] = MatchParticipant.__table__

SLOTS_AFTER: Final = (
    update(_SLOTS)
    .where(_SLOTS.c.match_id == bindparam("of_match"), _SLOTS.c.slot == bindparam("of_slot"))
    .values(
        {name: bindparam(f"new_{name}") for name in ("rank", "score", "crashed", "faults", "stats")}
        # The URL is stored only as long as it is needed.
        | {"endpoint": null()}
    )
)
"""Updates the result of each slot, in one statement for all of them."""


def slot_after(claim: Claim, slot: int, result: SlotResult) -> dict[str, Any]:
    """Return a slot's result for its row."""
    return {
        "of_match": claim.id,
        "of_slot": slot,
        "new_rank": result.rank,
        "new_score": result.score,
        "new_crashed": result.crashed,
        "new_faults": [dict(fault) for fault in result.faults],
        "new_stats": dict(result.stats),
    }


def battle_row(claim: Claim, number: int, battle: BattleResult) -> dict[str, Any]:
    """Return the row of one game of a match."""
    return {
        "match_id": claim.id,
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


MOST_TROUBLES: Final = 5
"""Number of attempts that may fail through the site's fault before the match fails."""

ANEW: Final[Mapping[str, Any]] = {
    "state": "queued",
    "sent_at": None,
    "troubles": 0,
    "reason": None,
    "finished_at": None,
}
"""The row values of a match that is played again after it was over."""

STATES: Final[tuple[MatchState, ...]] = get_args(MatchState)
OPEN: Final[tuple[MatchState, ...]] = ("queued", "in_progress", "interrupted")

REAPED: Final = "its worker was lost"


def interrupt(session: Session, claim: Claim, reason: str) -> bool:
    """Release an attempt in an orderly way: it is played again, and does not count as a trouble.

    A repeated or late call returns False, and changes nothing.
    """
    return updated(session, update(Match).where(mine(claim)).values(interruption(reason)))


def interrupt_all_of(session: Session, worker: str, reason: str) -> int:
    """Release all matches of a worker; return how many. Idempotent."""
    theirs = and_(Match.worker == worker, Match.state == "in_progress")
    change = update(Match).where(theirs).values(interruption(reason))
    return len(session.execute(change.returning(Match.id)).all())


def interruption(reason: str) -> dict[str, Any]:
    """Return the row values of an attempt that is to be played again."""
    ended = {"worker": None, "lease_until": None, "reason": reason[:LONGEST_REASON]}
    return {"state": "interrupted", **ended}


def trouble(session: Session, claim: Claim, reason: str) -> bool:
    """Record an attempt that failed through the site's fault; the fifth one fails the match.

    A repeated or late call returns False, and changes nothing.
    """
    return updated(
        session, update(Match).where(mine(claim)).values(troubled(reason, session.now()))
    )


def refuse(session: Session, claim: Claim, reason: str) -> bool:
    """Fail a match immediately, as it cannot be played.

    A repeated or late call returns False, and changes nothing.
    """
    failed = {**interruption(reason), "state": "failed", "finished_at": session.now()}
    return updated(session, update(Match).where(mine(claim)).values(failed))


def troubled(reason: str, now: datetime) -> dict[str, Any]:
    """Return the row values of an attempt that failed through the site's fault."""
    is_last = Match.troubles + 1 >= MOST_TROUBLES
    state = case((is_last, "failed"), else_="interrupted")
    ended = case((is_last, literal(now, Moment())), else_=null())
    counted = {"state": state, "finished_at": ended, "troubles": Match.troubles + 1}
    return {**interruption(reason), **counted}


def reap(session: Session) -> int:
    """Record a trouble for each match whose lease has expired; return how many. Idempotent."""
    return reap_where(session, Match.lease_until < session.now())


def reap_all(session: Session) -> int:
    """Take all matches from their workers; call it only if all workers are known to be dead."""
    return reap_where(session, Match.state == "in_progress")


def reap_where(session: Session, over: ColumnElement[bool]) -> int:
    """Take the matches that meet a condition from their workers; return how many."""
    lost = troubled(REAPED, session.now())
    change = update(Match).where(Match.state == "in_progress", over).values(lost)
    return len(session.execute(change.returning(Match.id)).all())


def requeue(session: Session) -> int:
    """Queue interrupted matches; return how many. Idempotent."""
    again = {"state": "queued", "sent_at": None}
    change = update(Match).where(Match.state == "interrupted").values(again)
    return len(session.execute(change.returning(Match.id)).all())


def queue_all(session: Session) -> int:
    """Queue all started matches, without a trouble; only for a site that has never played any.

    Returns how many matches were queued. Idempotent.
    """
    again = {**interruption("restored from a backup"), "state": "queued", "sent_at": None}
    begun = Match.state.in_(("in_progress", "interrupted"))
    rows = session.execute(update(Match).where(begun).values(again).returning(Match.id)).all()
    forget_messages(session)
    return len(rows)


def requeue_failed(session: Session, match_id: str) -> bool:
    """Give a failed match another five attempts; return False if it has not failed.

    Also False if its round is over, as its points have been awarded.
    """
    opened = select(Round.id).where(Round.closed_at.is_(None))
    is_open = or_(Match.round_id.is_(None), Match.round_id.in_(opened))
    failed = and_(Match.match_id == match_id, Match.state == "failed", is_open)
    return updated(session, update(Match).where(failed).values(ANEW))


def void(session: Session, match_id: str, reason: str) -> bool:
    """Cancel a waiting match; return False if it is no longer waiting."""
    waiting = and_(Match.match_id == match_id, Match.state.in_(("queued", "interrupted")))
    off = {"state": "void", "finished_at": session.now(), "reason": reason[:LONGEST_REASON]}
    return updated(session, update(Match).where(waiting).values(off))


def open_counts(session: Session) -> dict[MatchState, int]:
    """Return the number of matches in each unfinished state."""
    counted = select(Match.state, func.count()).where(Match.state.in_(OPEN)).group_by(Match.state)
    return dict(session.execute(counted).all())


def counts(session: Session) -> dict[MatchState, int]:
    """Return the number of matches in each state, without empty states."""
    counted = select(Match.state, func.count()).group_by(Match.state)
    return dict(session.execute(counted).all())
