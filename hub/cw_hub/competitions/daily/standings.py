"""Queries behind the pages of daily games: shown games, due times, rankings and ranked players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    tuple_,
    union_all,
)

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.service import CompetitionFacts, dates_of
from cw_hub.matches.results import OPEN
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Friend, Match, MatchParticipant, User

BLOCK: Final = 10
"""Number of rows at the top of a ranking, and maximum number loaded at a time into a gap."""

AROUND: Final = 11
"""Number of rows shown around the user's own, including it."""

EARLIER: Final = 30
"""Number of games in the list of a bot's behaviour on its page."""

# The statements are built once, and select only columns, because building them takes most of a
# page's time. Their parameters are named.

_BOTS = Bot.__table__
_MATCHES, _SEATS = Match.__table__, MatchParticipant.__table__
_USERS, _FRIENDS = User.__table__, Friend.__table__


@dataclass(frozen=True, slots=True)
class Game:
    """A daily game that pages show: it is finished and has a ranking."""

    id: int
    match_id: str
    at: datetime
    reason: str
    players: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A shown game, and the match ids of the shown games before and after it."""

    game: Game
    previous: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A row of a ranking."""

    position: int
    """The number of the row in the shown list, starting at 1."""
    rank: int
    score: float
    name: str
    username: str | None
    """None if the user was deleted."""
    user_id: int
    avatar: str | None
    country: str | None
    is_friend: bool = False


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The open game, if any, and the next due time."""

    running: str | None
    next: datetime | None


# Games


def is_shown(match: FromClause = _MATCHES) -> ColumnElement[bool]:
    """Return the SQL condition for shown games."""
    seat = _SEATS.alias()
    ranked = exists().where(seat.c.match_id == match.c.id, seat.c.rank.is_not(None))
    return and_(match.c.kind == daily_service.FORMAT, match.c.state == "done", ranked)


def neighbour(*, is_later: bool) -> ColumnElement[str]:
    """Return a subquery for the match id of the shown game before or after the queried game."""
    other = _MATCHES.alias()
    place = (other.c.at, other.c.id)
    here = tuple_(_MATCHES.c.at, _MATCHES.c.id)
    return (
        select(other.c.match_id)
        .where(
            other.c.competition_id == _MATCHES.c.competition_id,
            tuple_(*place) > here if is_later else tuple_(*place) < here,
            is_shown(other),
        )
        .order_by(*(place if is_later else [column.desc() for column in place]))
        .limit(1)
        .correlate(_MATCHES)
        .scalar_subquery()
    )


GAMES: Final = select(
    _MATCHES.c.id, _MATCHES.c.match_id, _MATCHES.c.at, _MATCHES.c.reason, _MATCHES.c.players
).where(_MATCHES.c.competition_id == bindparam("competition"), is_shown())

WITH_NEIGHBOURS: Final = GAMES.add_columns(neighbour(is_later=False), neighbour(is_later=True))
LAST: Final = WITH_NEIGHBOURS.order_by(_MATCHES.c.at.desc(), _MATCHES.c.id.desc()).limit(1)
NAMED: Final = WITH_NEIGHBOURS.where(_MATCHES.c.match_id == bindparam("match"))

LATEST: Final = GAMES.order_by(_MATCHES.c.at.desc(), _MATCHES.c.id.desc()).limit(bindparam("rows"))
BEFORE: Final = LATEST.where(
    tuple_(_MATCHES.c.at, _MATCHES.c.id)
    # Parameters in a tuple do not take their types from the other side of the comparison.
    < tuple_(bindparam("at", type_=_MATCHES.c.at.type), bindparam("before", type_=Integer))
)

WITHIN: Final = GAMES.where(
    _MATCHES.c.at >= bindparam("begin"), _MATCHES.c.at < bindparam("end")
).order_by(_MATCHES.c.at, _MATCHES.c.id)

_AWAITED: Final = select(_MATCHES.c.match_id, _MATCHES.c.state, _MATCHES.c.at).where(
    _MATCHES.c.competition_id == bindparam("competition")
)
AWAITED: Final = union_all(
    _AWAITED.where(or_(*(_MATCHES.c.state == state for state in OPEN))),
    _AWAITED.where(_MATCHES.c.state == "void", _MATCHES.c.at > bindparam("now")),
)


def competition_of(session: Session, game: str) -> CompetitionFacts | None:
    """Return the daily competition of a game, or None."""
    return competitions_service.find(session, daily_service.FORMAT, game)


def game_of(row: Any) -> Game:
    """Convert a row to a game."""
    return Game(row.id, row.match_id, row.at, row.reason or "", row.players)


def find(session: Session, competition: int, match_id: str = "") -> Neighbours | None:
    """Return a shown game by match id, or the last one, with its neighbours; None if missing."""
    values = {"competition": competition, "match": match_id}
    row = session.execute(NAMED if match_id else LAST, values).one_or_none()
    return None if row is None else Neighbours(game_of(row), row[-2], row[-1])


def latest(session: Session, competition: int, number: int, before: Game | None) -> list[Game]:
    """Return the last shown games, latest first; with `before`, only games before that one."""
    values: dict[str, Any] = {"competition": competition, "rows": number}
    if before is not None:
        values |= {"at": before.at, "before": before.id}
    rows = session.execute(LATEST if before is None else BEFORE, values)
    return [game_of(row) for row in rows]


def upcoming(session: Session, facts: CompetitionFacts) -> Upcoming:
    """Return the open game and the next due time; for a planned competition, its first due time."""
    now = session.now()
    rows = session.execute(AWAITED, {"competition": facts.id, "now": now}).all()
    running = next((row.match_id for row in rows if row.state in OPEN), None)
    begins = dates_of(session, facts.id).starts if facts.state == "planned" else None
    if facts.state != "running" and begins is None:
        return Upcoming(running, None)
    off = {row.at for row in rows if row.state == "void"}
    dues = daily_service.read_settings(facts.settings).due.after(begins or now)
    return Upcoming(running, next((due for due in dues if due not in off), None))


# Rankings


class List(NamedTuple):
    """Selects a game's ranked seats: all of them, or those of one country."""

    game: int
    country: str = ""


WINDOWS: Final = (0, 1)
"""Indexes of the windows (ranges of rows) that one statement reads."""


def ranked(*columns: ColumnElement[Any], of_country: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for a list's ranked seats, unordered; optionally of one country."""
    query = select(*columns).where(
        _SEATS.c.match_id == bindparam("game"), _SEATS.c.rank.is_not(None)
    )
    if not of_country:
        return query.select_from(_SEATS)
    owned = _SEATS.join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    people = owned.join(_USERS, _USERS.c.id == _BOTS.c.user_id)
    return query.select_from(people).where(_USERS.c.country == bindparam("country"))


def window(number: int, *, of_country: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for the seats in one window (a range of rows) of a list."""
    seats = _SEATS.c.slot, _SEATS.c.rank, _SEATS.c.score, _SEATS.c.name, _SEATS.c.bot_id
    query = ranked(*seats, of_country=of_country).order_by(_SEATS.c.rank, _SEATS.c.slot)
    rows: BindParameter[int] = bindparam(f"rows{number}")
    skipped: BindParameter[int] = bindparam(f"skipped{number}")
    return select(query.limit(rows).offset(skipped).subquery())


def rows_of_list(*, of_country: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for the rows in both windows of a list, with their users."""
    seat = union_all(*(window(n, of_country=of_country) for n in WINDOWS)).subquery()
    is_friend = and_(_FRIENDS.c.user_id == bindparam("viewer"), _FRIENDS.c.friend_id == _USERS.c.id)
    return (
        select(
            seat.c.rank, seat.c.score, seat.c.name, _USERS.c.username, _USERS.c.id,
            _USERS.c.avatar, _USERS.c.country, _FRIENDS.c.friend_id.is_not(None),
        )
        .select_from(seat)
        .join(_BOTS, _BOTS.c.id == seat.c.bot_id)
        .join(_USERS, _USERS.c.id == _BOTS.c.user_id)
        .outerjoin(_FRIENDS, is_friend)
        .order_by(seat.c.rank, seat.c.slot)
    )  # fmt: skip


def standing_in_list(*, of_country: bool) -> Select[*tuple[Any, ...]]:
    """Return a query for a list's length and the position of a user's best-placed bot."""
    theirs = _SEATS.c.bot_id.in_(
        select(_BOTS.c.id).where(_BOTS.c.user_id == bindparam("viewer")).scalar_subquery()
    )
    own = (
        ranked(_SEATS.c.rank, _SEATS.c.slot, of_country=of_country)
        .where(theirs)
        .order_by(_SEATS.c.rank, _SEATS.c.slot)
        .limit(1)
        .cte()
    )
    rank, slot = (select(column).scalar_subquery() for column in (own.c.rank, own.c.slot))
    is_before = or_(_SEATS.c.rank < rank, and_(_SEATS.c.rank == rank, _SEATS.c.slot <= slot))
    return ranked(func.count(), func.sum(case((is_before, 1), else_=0)), of_country=of_country)


ROWS: Final = {flag: rows_of_list(of_country=flag) for flag in (False, True)}
STANDING: Final = {flag: standing_in_list(of_country=flag) for flag in (False, True)}
COUNTRIES: Final = (
    select(_USERS.c.country)
    .distinct()
    .select_from(_SEATS)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .join(_USERS, _USERS.c.id == _BOTS.c.user_id)
    .where(
        _SEATS.c.match_id == bindparam("game"),
        _SEATS.c.rank.is_not(None),
        _USERS.c.country.is_not(None),
    )
)


def places(
    session: Session, wanted: List, first: int, last: int, viewer: int | None = None
) -> list[StandingRow]:
    """Return the rows at positions `first` to `last` (from 1), by rank, then by user id."""
    return place_rows(session, wanted, [(first, last)], viewer)


def place_rows(
    session: Session, wanted: List, windows: Sequence[tuple[int, int]], viewer: int | None
) -> list[StandingRow]:
    """Return the rows in one or two windows of a list, by position, with one SQL statement."""
    values: dict[str, Any] = {"game": wanted.game, "country": wanted.country, "viewer": viewer or 0}
    for number in WINDOWS:
        first, last = windows[number] if number < len(windows) else (1, 0)
        values |= {f"rows{number}": last - first + 1, f"skipped{number}": first - 1}
    rows = session.execute(ROWS[bool(wanted.country)], values)
    positions = chain.from_iterable(range(first, last + 1) for first, last in windows)
    # Positions beyond the end of the list have no rows.
    return [StandingRow(position, *row) for row, position in zip(rows, positions, strict=False)]


class OwnPosition(NamedTuple):
    """The length of a list, and the user's position."""

    number: int
    own: int | None
    """The position; None for users not in the list."""


def standing(session: Session, wanted: List, user_id: int | None) -> OwnPosition:
    """Return a list's length and a user's position in it."""
    values = {"game": wanted.game, "country": wanted.country, "viewer": user_id or 0}
    number, position = session.execute(STANDING[bool(wanted.country)], values).one()
    # The user's own row is counted too, so 0 means that the user is not listed.
    return OwnPosition(number, int(position) if position else None)


def windows(number: int, own: int | None) -> list[tuple[int, int]]:
    """Return the ranges of positions shown first: the top, and those around the user's own.

    Adjacent and overlapping ranges are merged.
    """
    top = (1, min(BLOCK, number))
    if own is None or number == 0:
        return [top]
    first = max(1, min(own - AROUND // 2, number - AROUND + 1))
    around = (first, min(number, first + AROUND - 1))
    if around[0] <= top[1] + 1:
        return [(1, max(top[1], around[1]))]
    return [top, around]


def countries(session: Session, game: int) -> list[str]:
    """Return the country codes of a game's ranked players, unordered."""
    return [code for (code,) in session.execute(COUNTRIES, {"game": game}).all()]


class Person(NamedTuple):
    """A player of a game as the viewer shows it: with current user data, not that of the game."""

    user_id: int
    name: str | None
    """None if the user was deleted."""
    rank: int
    country: str | None


PEOPLE: Final = (
    select(_USERS.c.id, _USERS.c.username, _SEATS.c.rank, _USERS.c.country)
    .select_from(_SEATS)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .join(_USERS, _USERS.c.id == _BOTS.c.user_id)
    .where(_SEATS.c.match_id == bindparam("game"), _SEATS.c.rank.is_not(None))
    .order_by(_SEATS.c.slot)
)


def people(session: Session, game: int) -> list[Person]:
    """Return all ranked players of a game, by seat number."""
    return [Person(*row) for row in session.execute(PEOPLE, {"game": game})]
