"""The proof of ratings: recompute from all results, compare, and rewrite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from cw_hub.competitions.rated.ratings import (
    _MATCHES,
    _SEATS,
    AT_ONCE,
    MOVE,
    SEAT_AFTER,
    Book,
    Seated,
    Totals,
    add_totals,
    new,
    seat_after,
    standing_of,
)
from cw_hub.competitions.rated.verbs import rated_competitions
from cw_hub.store.tables import Bot, Competition, Rating, RatingTotal


class Difference(NamedTuple):
    """A value in the database that contradicts the matches."""

    match: str
    """The match's public name; "" if the value does not belong to a single match."""
    bot: str
    what: str
    stored: Any
    right: Any

    def __str__(self) -> str:
        """Describe the place of the value, and the right value."""
        where = " ".join(filter(None, (self.match, self.bot)))
        return f"{where or 'the competition'}: {self.what} is {self.stored}, not {self.right}"


class Entered(NamedTuple):
    """A rated match, as stored."""

    id: int
    match_id: str
    seq: int
    ended: datetime
    seated: Sequence[Seated]
    rows: Sequence[Any]
    """The rows of its slots, in order, with the values stored when it was rated."""


RATED: Final = (
    select(
        *(_MATCHES.c[name] for name in ("id", "match_id", "seq", "finished_at")),
        *(_SEATS.c[name] for name in ("slot", "bot_id", "rank", "score", "crashed")),
        *(_SEATS.c[name] for name in ("pair_rank", "mu", "phi", "sigma")),
    )
    .join(_SEATS, _SEATS.c.match_id == _MATCHES.c.id)
    .where(_MATCHES.c.competition_id == bindparam("competition"), _MATCHES.c.seq.is_not(None))
    .order_by(_MATCHES.c.seq, _SEATS.c.slot)
)


def entered(session: Session, competition: int) -> Iterator[Entered]:
    """Yield the rated matches in order of seq."""
    rows: Iterable[Any] = session.execute(
        RATED, {"competition": competition}, execution_options={"yield_per": AT_ONCE}
    )
    for seq, group in groupby(rows, key=attrgetter("seq")):
        slots = list(group)
        first = slots[0]
        seated = [Seated(bot.bot_id or 0, bot.rank, bot.score, bot.crashed) for bot in slots]
        yield Entered(first.id, first.match_id, seq, first.finished_at, seated, slots)


def verify(session: Session, competition: int, tolerance: float = 0.0) -> Iterator[Difference]:
    """Yield the differences between stored values and those of re-rating all matches in order."""
    names = names_of(session, competition)
    book, last = Book(), 0
    for bot in entered(session, competition):
        last += 1
        if bot.seq != last:
            yield Difference(bot.match_id, "", "seq", bot.seq, last)
            last = bot.seq
        ranks, after = book.enter(bot.seated, bot.ended)
        for row, rank, rating in zip(bot.rows, ranks, after, strict=True):
            for name, stored, value in differing(row, seat_after(rank, rating), tolerance):
                yield Difference(bot.match_id, names[row.bot_id or 0], name, stored, value)
    stored_last = session.scalars(
        select(Competition.last_seq).where(Competition.id == competition)
    ).one()
    if stored_last != last:
        yield Difference("", "", "last_seq", stored_last, last)
    yield from differing_ratings(session, competition, book, names, tolerance)
    yield from differing_totals(session, competition, book, names)


def verify_all(session: Session, tolerance: float) -> Iterator[str]:
    """Yield the differences found by `verify` in all rated competitions, as text."""
    for competition in rated_competitions(session):
        for difference in verify(session, competition.id, tolerance):
            yield f"{competition.slug}: {difference}"


def names_of(session: Session, competition: int) -> dict[int, str]:
    """Return the bot ids of a competition by row id."""
    of_bots = select(Bot.id, Bot.bot_id).join(Rating, Rating.bot_id == Bot.id)
    rows = session.execute(of_bots.where(Rating.competition_id == competition))
    return {row: bot_id for row, bot_id in rows}  # noqa: C416 - mypy knows no dict of rows


def differing(
    row: object, right: Mapping[str, Any], tolerance: float
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the columns of a row that have wrong values."""
    for name, value in right.items():
        stored = getattr(row, name)
        near = isinstance(value, float) and stored is not None
        if stored != value and not (near and abs(stored - value) <= tolerance):
            yield name, stored, value


def differing_ratings(
    session: Session, competition: int, book: Book, names: Mapping[int, str], tolerance: float
) -> Iterator[Difference]:
    """Yield the wrong values in the ratings."""
    for row in session.scalars(select(Rating).where(Rating.competition_id == competition)):
        for name, stored, value in differing(row, standing_of(book, row.bot_id), tolerance):
            yield Difference("", names[row.bot_id], name, stored, value)


def differing_totals(
    session: Session, competition: int, book: Book, names: Mapping[int, str]
) -> Iterator[Difference]:
    """Yield the wrong values in the totals."""
    rows = session.scalars(select(RatingTotal).where(RatingTotal.competition_id == competition))
    stored = {
        (row.players, row.day, row.bot_id): Totals(row.games, row.wins, row.draws, row.losses)
        for row in rows
    }
    for key in sorted(stored.keys() | book.totals.keys()):
        kept_totals, right = stored.get(key, Totals()), book.totals.get(key, Totals())
        if kept_totals != right:
            players, day, bot = key
            place = f"totals of players {players}, day {day}"
            yield Difference("", names.get(bot, str(bot)), place, tuple(kept_totals), tuple(right))


def rebuild(session: Session, competition: int) -> int:
    """Rewrite all ratings from the matches; return the number of matches. Idempotent.

    The competition is locked meanwhile, so that no match ends in it.
    """
    session.execute(
        select(Competition.id).where(Competition.id == competition).with_for_update()
    ).one()
    book, number = Book(), 0
    # Write only after reading everything: rows must not change while they are streamed.
    moved, wrong = [], []
    for number, bot in enumerate(entered(session, competition), 1):
        ranks, after = book.enter(bot.seated, bot.ended)
        if bot.seq != number:
            moved.append({"match": bot.id, "next_seq": number})
        for row, rank, rating in zip(bot.rows, ranks, after, strict=True):
            right = seat_after(rank, rating)
            if any(differing(row, right, 0)):
                wrong.append({"match": bot.id, "of_slot": row.slot, **new(right)})
    for statement, rows in ((MOVE, moved), (SEAT_AFTER, wrong)):
        if rows:
            session.execute(statement, rows)
    for rating_row in session.scalars(select(Rating).where(Rating.competition_id == competition)):
        for name, value in standing_of(book, rating_row.bot_id).items():
            setattr(rating_row, name, value)
    session.execute(delete(RatingTotal).where(RatingTotal.competition_id == competition))
    add_totals(session, competition, book.totals)
    again = {"last_seq": number, "revision": Competition.revision + 1}
    session.execute(update(Competition).where(Competition.id == competition).values(again))
    return number
