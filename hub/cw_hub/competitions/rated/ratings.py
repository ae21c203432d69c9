"""Bot ratings: applying results once and in order, and explaining the changes.

They can be verified by applying the stored results again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import isclose
from typing import Any, Final, NamedTuple, TypeAlias, cast

from sqlalchemy import bindparam, null, select, update

from cw.league import glicko2
from cw.league.fixtures import outcome_of
from cw.league.glicko2 import Rating
from cw_hub.matches.match_types import MatchView, SeatView
from cw_hub.matches.results import OPEN
from cw_hub.players.messages import SlotResult
from cw_hub.store.database import Session, insert_or_add
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant, RatingTotal
from cw_hub.store.models import Rating as ModelsRating

DAY: Final = 86400
"""Length of a day in seconds."""

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
    """The data of a finished match's slot that affect ratings."""

    bot: int
    rank: int | None
    score: float | None
    crashed: bool


def hold(session: Session, competition: int, bots: Sequence[int], match: int) -> bool:
    """Reserve bots for a match; return False if one of them is not free or no longer active.

    The caller must roll back after False. Of concurrent callers for a bot, exactly one succeeds.
    """
    wanted = {"competition": competition, "bots": bots, "match": match}
    return len(session.execute(HOLD, wanted).all()) == len(bots)


def release_ended(session: Session) -> None:
    """Release the bots of matches that are over or void. Idempotent."""
    still_open = select(Match.id).where(Match.state.in_(OPEN))
    session.execute(
        update(ModelsRating)
        .where(ModelsRating.playing_id.is_not(None), ModelsRating.playing_id.not_in(still_open))
        .values(playing_id=None)
        .execution_options(synchronize_session=False)
    )


_MATCHES: Final[Any] = Match.__table__
_SEATS: Final[Any] = MatchParticipant.__table__
_RATINGS: Final[Any] = ModelsRating.__table__
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
    # Locking in this order prevents deadlocks. The `+ 0` keeps SQLite from reading all ratings in
    # key order instead of sorting the few of a match.
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
    # Rating and verifying share this code; `verify` only starts from an empty book.
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
    """Rename columns to the parameter names of the statements above."""
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
    first = [total.rank for total in seated].count(1)
    for total in seated:
        came = outcome_of(total.rank, first)
        totals = Totals(1, int(came == "won"), int(came == "drawn"), int(came == "lost"))
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
    if rows:
        insert_or_add(session, RatingTotal, rows, Totals._fields)


def standing_of(book: Book, bot: int) -> dict[str, Any]:
    """Return the expected rating row of a bot."""
    standing = book.standings.get(bot, RatingState())
    more = {"crash_streak": standing.crash_streak, "last_match_at": standing.last_match_at}
    return figures(standing.rating) | more


@dataclass(frozen=True, slots=True)
class RatingChange:
    """The change of a bot's rating by a match, and its causes."""

    name: str
    slot: int
    before: Rating
    after: Rating
    opponents: Sequence[str]
    """The names of the opponents."""
    strength: float
    """The mean mu of the opponents before the match."""
    score: float
    """Points: 1 for each opponent beaten, 0.5 for each draw."""
    expected: float
    """The points predicted by the ratings before the match."""
    level: Sequence[str] = ()
    """In a match with several opponents, those with an equal score, each worth half a point."""

    @property
    def gain(self) -> int:
        """The increase of the shown rating, from the rounded values that lists show."""
        return round(self.after.shown_rating) - round(self.before.shown_rating)

    @property
    def by_result(self) -> int:
        """The part of the gain due to a higher strength estimate."""
        return round(self.after.mu - self.before.mu)

    @property
    def by_sureness(self) -> int:
        """The part of the gain due to a smaller deviation."""
        return self.gain - self.by_result

    @property
    def surprise(self) -> float:
        """Points above the expected ones."""
        return self.score - self.expected

    @property
    def sentence(self) -> str:
        """The explanation of the change, as an English sentence."""
        gain = f"gained {self.gain}" if self.gain > 0 else f"lost {-self.gain}"
        change = gain if self.gain else "kept its rating"
        cause = f"{self.cause} ({self.by_result:+d})"
        return f"{self.name} {change}: {cause}; its deviation {self.sureness}."

    @property
    def cause(self) -> str:
        """The result compared with the expected one, as text."""
        if len(self.opponents) > 1:
            points = f"{self.score:g} of {len(self.opponents)} points"
            level = f" (level with {enumerated(self.level)} by score)" if self.level else ""
            return (
                f"it earned {points} against {enumerated(self.opponents)}{level},"
                f" {self.distance} on average, and {self.expected:.1f} were expected"
            )
        (name,) = self.opponents
        against = f"against {name}, {self.distance},"
        chance = round(100 * self.expected)
        if self.score == 0.5:
            return f"a draw {against} is 50 of 100 points, and {chance} were expected"
        result, likely = ("win", chance) if self.score else ("loss", 100 - chance)
        return f"a {result} {against} was expected in {likely} of 100"

    @property
    def distance(self) -> str:
        """The estimated strength of the opponents relative to the bot, as text."""
        ahead = round(self.strength - self.before.mu)
        if not ahead:
            return "estimated equally strong"
        return f"estimated {abs(ahead)} {'higher' if ahead > 0 else 'lower'}"

    @property
    def sureness(self) -> str:
        """The change of the bot's deviation, as text."""
        before, after = round(self.before.phi), round(self.after.phi)
        part = f" ({self.by_sureness:+d})" if self.by_sureness else ""
        if before == after:
            return f"stayed {after}{part}"
        return f"{'fell' if after < before else 'rose'} from {before} to {after}{part}"


def changes_of(match: MatchView) -> list[RatingChange]:
    """Return the rating changes by a match, best rank first; none for an unrated match."""
    changes = [change_of(match, seat) for seat in match.by_place]
    return [change for change in changes if change is not None]


def change_of_bot(match: MatchView, bot: int) -> RatingChange | None:
    """Return the rating change of one bot in a match, or None."""
    seat = next((seat for seat in match.seats if seat.bot == bot), None)
    return None if seat is None else change_of(match, seat)


def change_of(match: MatchView, seat: SeatView) -> RatingChange | None:
    """Return the rating change of a seat in a match.

    Returns None if the match was not rated, or if it was rated from other ratings than those before
    it. The latter happens when a failed match is played again after later matches of its bots.
    """
    others = [other for other in match.seats if other.slot != seat.slot]
    met = [(other, other.before) for other in others if other.before is not None]
    if seat.before is None or seat.after is None or not met or len(met) < len(others):
        return None
    results = [
        (before, glicko2.result(seat.pair_rank or 0, other.pair_rank or 0)) for other, before in met
    ]
    if not isclose(glicko2.update(seat.before, results).mu, seat.after.mu, abs_tol=1e-6):
        return None
    ratings = [before for before, _ in results]
    level = [other.name for other in others if other.pair_rank == seat.pair_rank]
    return RatingChange(
        seat.name,
        seat.slot,
        seat.before,
        seat.after,
        [other.name for other in others],
        sum(rating.mu for rating in ratings) / len(ratings),
        sum(score for _, score in results),
        glicko2.expected_score(seat.before, ratings),
        # A drawn match is a draw for all, whatever the scores.
        level if len(level) < len(others) else (),
    )


def enumerated(names: Sequence[str]) -> str:
    """Join names for a sentence: `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
