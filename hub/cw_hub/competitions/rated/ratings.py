"""Bot ratings: results are applied once, in one order, and can be verified from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias, cast

from sqlalchemy import bindparam, null, select, update
from sqlalchemy.orm import Session

from cw.league.statistics import glicko2
from cw_hub.matches.interruptions import OPEN
from cw_hub.players.messages import SlotResult
from cw_hub.store.tables import Bot, Competition, Match, MatchParticipant, Rating, RatingTotal
from cw_hub.store.upsert import insert_or_add

DAY: Final = 86400
"""In seconds."""

AT_ONCE: Final = 1000
"""Number of rows fetched at a time."""

TotalKey: TypeAlias = tuple[int, int, int]
"""Number of players (0: all), day since 1970 (0: all time), and bot."""


class Totals(NamedTuple):
    """A bot's game counts."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0


@dataclass(frozen=True, slots=True)
class Seated:
    """The slot of a finished match, as far as it affects ratings."""

    bot: int
    rank: int | None
    score: float | None
    crashed: bool


def hold(session: Session, competition: int, bots: Sequence[int], match: int) -> bool:
    """Reserve bots for a match; return False if one of them is not free or no longer active.

    After False, roll back. Of concurrent callers for a bot, exactly one succeeds.
    """
    wanted = {"competition": competition, "bots": bots, "match": match}
    return len(session.execute(HOLD, wanted).all()) == len(bots)


def release_ended(session: Session) -> None:
    """Release the bots of matches that are over or void. Idempotent."""
    still_open = select(Match.id).where(Match.state.in_(OPEN))
    session.execute(
        update(Rating)
        .where(Rating.playing_id.is_not(None), Rating.playing_id.not_in(still_open))
        .values(playing_id=None)
        .execution_options(synchronize_session=False)
    )


_MATCHES: Final[Any] = Match.__table__
_SEATS: Final[Any] = MatchParticipant.__table__
_RATINGS: Final[Any] = Rating.__table__
_BOTS: Final[Any] = Bot.__table__
_COMPETITIONS: Final[Any] = Competition.__table__

# Matches end often, so these statements are built once; each runs once per match.

HOLD: Final = (
    update(_RATINGS)
    .where(
        _RATINGS.c.competition_id == bindparam("competition"),
        _RATINGS.c.bot_id.in_(
            select(_BOTS.c.id).where(
                _BOTS.c.id.in_(bindparam("bots", expanding=True)), _BOTS.c.status == "ACTIVE"
            )
        ),
        _RATINGS.c.playing_id.is_(None),
    )
    .values(playing_id=bindparam("match"))
    .returning(_RATINGS.c.bot_id)
)
NEXT_SEQ: Final = (
    update(_COMPETITIONS)
    .where(
        _COMPETITIONS.c.id
        == select(_MATCHES.c.competition_id)
        .where(_MATCHES.c.id == bindparam("match"))
        .scalar_subquery()
    )
    .values(last_seq=_COMPETITIONS.c.last_seq + 1, revision=_COMPETITIONS.c.revision + 1)
    .returning(_COMPETITIONS.c.id, _COMPETITIONS.c.last_seq)
)
MOVE: Final = (
    update(_MATCHES).where(_MATCHES.c.id == bindparam("match")).values(seq=bindparam("next_seq"))
)
SET_SEQ: Final = MOVE.returning(_MATCHES.c.finished_at)
BEFORE: Final = (
    select(_SEATS.c.slot, _RATINGS)
    .join(_RATINGS, _RATINGS.c.bot_id == _SEATS.c.bot_id)
    .where(
        _SEATS.c.match_id == bindparam("match"),
        _RATINGS.c.competition_id == bindparam("competition"),
    )
    # Locking in this order prevents deadlocks. Not by the bare column: SQLite would read all
    # ratings in key order rather than sort the few of a match.
    .order_by(_RATINGS.c.bot_id + 0)
    .with_for_update(of=_RATINGS)
)
SEAT_AFTER: Final = (
    update(_SEATS)
    .where(_SEATS.c.match_id == bindparam("match"), _SEATS.c.slot == bindparam("of_slot"))
    .values({name: bindparam(f"new_{name}") for name in ("pair_rank", "mu", "phi", "sigma")})
)
RATING_AFTER: Final = (
    update(_RATINGS)
    .where(
        _RATINGS.c.competition_id == bindparam("competition"),
        _RATINGS.c.bot_id == bindparam("bot"),
    )
    .values(
        {
            **{
                name: bindparam(f"new_{name}")
                for name in ("mu", "phi", "sigma", "crash_streak", "last_match_at")
            },
            "playing_id": null(),
        }
    )
)


def apply(session: Session, match: int, slots: Sequence[SlotResult]) -> None:
    """Rate a match that has just ended, as the next of its competition, and release its bots.

    Call it once per match, in the transaction that ends it.
    """
    of_match = {"match": match}
    # This locks the competition's row, and so fixes the order of matches.
    competition, seq = session.execute(NEXT_SEQ, of_match).one()
    ended = session.execute(SET_SEQ, {**of_match, "next_seq": seq}).scalar_one()
    rows = session.execute(BEFORE, {**of_match, "competition": competition}).all()
    by_slot = sorted(rows, key=lambda row: cast(int, row.slot))
    seated = [
        Seated(row.bot_id, slot_results.rank, slot_results.score, slot_results.crashed)
        for row, slot_results in zip(by_slot, slots, strict=True)
    ]
    book = Book(
        {
            row.bot_id: RatingState(glicko2.Rating(row.mu, row.phi, row.sigma), row.crash_streak)
            for row in rows
        }
    )
    # Rating and verifying share this code; `verify` only starts elsewhere.
    ranks, after = book.enter(seated, ended)
    session.execute(
        SEAT_AFTER,
        [
            {**of_match, "of_slot": slot, **new(seat_after(rank, rating))}
            for slot, (rank, rating) in enumerate(zip(ranks, after, strict=True))
        ],
    )
    session.execute(
        RATING_AFTER,
        [
            {"competition": competition, "bot": row.bot_id, **new(standing_of(book, row.bot_id))}
            for row in rows
        ],
    )
    add_totals(session, competition, book.totals)


def new(values: Mapping[str, Any]) -> dict[str, Any]:
    """Rename columns to the parameters of the statements above."""
    return {f"new_{name}": value for name, value in values.items()}


@dataclass(slots=True)
class RatingState:
    """A bot's state in a competition."""

    rating: glicko2.Rating = field(default_factory=glicko2.Rating)
    crash_streak: int = 0
    last_match_at: datetime | None = None


@dataclass(slots=True)
class Book:
    """The ratings and totals that result from matches entered in order."""

    standings: dict[int, RatingState] = field(default_factory=dict)
    totals: dict[TotalKey, Totals] = field(default_factory=dict)

    def enter(
        self, seated: Sequence[Seated], ended: datetime
    ) -> tuple[tuple[int, ...], tuple[glicko2.Rating, ...]]:
        """Enter a match; return the ranks used to rate it, and the new ratings."""
        ranks = pair_ranks_of(seated)
        holder = [self.standings.setdefault(bot.bot, RatingState()) for bot in seated]
        after = glicko2.rate([standing.rating for standing in holder], ranks)
        for bot, standing, rating in zip(seated, holder, after, strict=True):
            streak = standing.crash_streak + 1 if bot.crashed else 0
            self.standings[bot.bot] = RatingState(rating, streak, ended)
        for key, one_more in totals_of(seated, ended):
            before = self.totals.get(key, Totals())
            self.totals[key] = Totals(*map(sum, zip(before, one_more, strict=True)))
        return ranks, after


def pair_ranks_of(seated: Sequence[Seated]) -> tuple[int, ...]:
    """Return the ranks used to rate a match: its winner first, the others by score."""
    ranks = [row.rank for row in seated]
    winner = ranks.index(1) if ranks.count(1) == 1 else None
    scores = [float("-inf") if row.score is None else row.score for row in seated]
    return glicko2.pair_ranks(scores, winner, drawn=len(set(ranks)) == 1)


def totals_of(seated: Sequence[Seated], ended: datetime) -> Iterator[tuple[TotalKey, Totals]]:
    """Yield a match's additions to the totals: per number of players and day, and overall."""
    day = int(ended.timestamp()) // DAY
    is_won = [total.rank for total in seated].count(1) == 1
    for total in seated:
        first = total.rank == 1
        totals = Totals(1, int(first and is_won), int(first and not is_won), int(not first))
        for players in (0, len(seated)):
            for of_day in (0, day):
                yield (players, of_day, total.bot), totals


def figures(rating: glicko2.Rating) -> dict[str, float]:
    """Return a rating as column values."""
    return {"mu": rating.mu, "phi": rating.phi, "sigma": rating.sigma}


def seat_after(rank: int, rating: glicko2.Rating) -> dict[str, Any]:
    """Return the rating columns of a slot's row."""
    return {"pair_rank": rank, **figures(rating)}


def add_totals(session: Session, competition: int, added: Mapping[TotalKey, Totals]) -> None:
    """Add counts to the stored totals."""
    keys = ("competition_id", "players", "day", "bot_id")
    rows = [
        {**dict(zip(keys, (competition, *key), strict=True)), **totals._asdict()}
        for key, totals in sorted(added.items())
    ]
    insert_or_add(session, RatingTotal, rows, Totals._fields)


def standing_of(book: Book, bot: int) -> dict[str, Any]:
    """Return the expected rating row of a bot."""
    standing = book.standings.get(bot, RatingState())
    more = {"crash_streak": standing.crash_streak, "last_match_at": standing.last_match_at}
    return figures(standing.rating) | more
