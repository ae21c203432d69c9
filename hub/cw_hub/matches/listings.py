"""Lists of matches and bots: pages for users, and parts that programs read one by one.

Every part costs the same, however far into the list: it continues by id after the last row of the
previous part. Rows added in the meantime appear before the first part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

from sqlalchemy import ColumnElement, Select, and_, func, not_, select
from sqlalchemy.orm import aliased

from cw.games.registry import games_with_hidden_information
from cw_hub.accounts import service as accounts_service
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import BotView
from cw_hub.matches.lookup import views_of, with_ratings
from cw_hub.matches.match_types import MatchTypes, MatchView
from cw_hub.matches.results import OPEN
from cw_hub.pages.request import first_of_month
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Match, MatchParticipant, User

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MOST: Final = 100
"""Maximum number of rows in a part."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a part of a list."""

    limit: int = 50
    after: str = ""
    """The `next` value of the previous part; "" for the first part."""


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A part of a list, and where the next one starts."""

    items: Sequence[T]
    next: str | None
    """None if this is the last part."""


def cut_by_name(rows: Sequence[T], cut: PageRequest, name: Callable[[T], str]) -> Part[T]:
    """Return a part of a list from rows that were queried with one extra row."""
    items = rows[: cut.limit]
    return Part(items, name(items[-1]) if len(rows) > cut.limit else None)


def cut_by_place(
    rows: Sequence[T], cut: PageRequest, first: int = 0, *, is_last: bool = True
) -> Part[T]:
    """Return a part of a list whose order changes over time; it continues by position.

    `rows` start at position `first`; more follow unless `is_last`.
    """
    begin = int(cut.after or 0) - first
    items = rows[begin : begin + cut.limit]
    end = begin + len(items)
    return Part(items, None if is_last and end >= len(rows) else str(first + end))


# Bots


@dataclass(frozen=True, slots=True)
class BotChoice:
    """A filter for bots; "" matches all."""

    game: str = ""
    owner: str = ""
    status: str = ""


def bots_of_people(session: Session, choice: BotChoice, cut: PageRequest) -> Part[BotView]:
    """Return part of the list of users' and house bots that match a filter, newest first."""
    wanted = select(Bot, User.username).join(User, User.id == Bot.user_id)
    if choice.game:
        wanted = wanted.where(Bot.game == choice.game)
    if choice.owner:
        wanted = wanted.where(*accounts_service.is_named(choice.owner))
    if choice.status:
        wanted = wanted.where(Bot.status == choice.status)
    if cut.after:
        last = select(Bot.id).where(Bot.bot_id == cut.after).scalar_subquery()
        wanted = wanted.where(Bot.id < last)
    rows = session.execute(wanted.order_by(Bot.id.desc()).limit(cut.limit + 1))
    bots = [bots_service.view_of(bot, owner or "") for bot, owner in rows]
    return cut_by_name(bots, cut, lambda bot: bot.bot_id)


# Matches


@dataclass(frozen=True, slots=True)
class MatchChoice:
    """A filter for matches; "" and 0 match all."""

    game: str = ""
    players: int = 0
    state: str = ""


def public_matches(
    session: Session, kinds: MatchTypes, choice: MatchChoice, cut: PageRequest
) -> Part[MatchView]:
    """Return a part of the public matches, the latest first."""
    wanted = select(Match).where(Match.kind.not_in(kinds.private))
    if choice.game:
        wanted = wanted.where(Match.game == choice.game)
    if choice.players:
        wanted = wanted.where(Match.players == choice.players, shows_players(kinds))
    if choice.state:
        wanted = wanted.where(Match.state == choice.state)
    if cut.after:
        wanted = wanted.where(Match.id < row_of(cut.after))
    rows = session.scalars(wanted.order_by(Match.id.desc()).limit(cut.limit + 1)).all()
    return views(session, kinds, rows, cut)


def matches_of_bot(
    session: Session, kinds: MatchTypes, bot: int, cut: PageRequest, *, with_private: bool
) -> Part[MatchView]:
    """Return a part of a bot's matches, the latest first.

    Only its owner gets private matches, and those whose players are still hidden.
    """
    wanted = of_bot(select(Match), bot, cut)
    if not with_private:
        wanted = wanted.where(Match.kind.not_in(kinds.private), shows_players(kinds))
    return views(session, kinds, session.scalars(wanted).all(), cut)


def shows_players(kinds: MatchTypes) -> ColumnElement[bool]:
    """Return the SQL condition for matches whose players are public.

    Otherwise, a filter by player would reveal them.
    """
    return not_(
        and_(
            Match.state.in_(OPEN),
            Match.kind.in_(kinds.hiding),
            Match.game.in_(games_with_hidden_information()),
        )
    )


def views(
    session: Session, kinds: MatchTypes, rows: Sequence[Match], cut: PageRequest
) -> Part[MatchView]:
    """Return a part of a list of matches."""
    part = cut_by_name(rows, cut, lambda row: row.match_id)
    return Part(views_of(session, kinds, part.items), part.next)


def of_bot(wanted: Select[*Ts], bot: int, cut: PageRequest) -> Select[*Ts]:
    """Restrict a match query to the matches of a bot, ordered by the index of its seats."""
    its = (
        wanted.join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(MatchParticipant.bot_id == bot)
        .order_by(MatchParticipant.match_id.desc())
        .limit(cut.limit + 1)
    )
    return its.where(MatchParticipant.match_id < row_of(cut.after)) if cut.after else its


def row_of(match_id: str) -> Any:
    """Return a subquery for a match's row id; for an unknown match, no rows follow it."""
    return select(Match.id).where(Match.match_id == match_id).scalar_subquery()


ON_HOME: Final = 6
"""Number of matches listed on the home page."""

PER_PAGE: Final = 50
"""Number of matches on a page of a list."""

PLACES: Final = 6
"""Number of places shown for a listed match."""

LATEST: Final = 20
"""Number of matches on a bot's page."""


def latest_of_user(session: Session, kinds: MatchTypes, user_id: int) -> list[MatchView]:
    """Return the last matches of a user's bots, the latest first."""
    its = select(MatchParticipant.match_id).join(Bot, Bot.id == MatchParticipant.bot_id)
    rows = (
        select(Match)
        .where(
            Match.id.in_(its.where(Bot.user_id == user_id)),
            Match.kind.not_in(kinds.experiments),
        )
        .order_by(Match.id.desc())
        .limit(ON_HOME)
    )
    return views_of(session, kinds, session.scalars(rows).all())


def open_to_all(session: Session, kinds: MatchTypes) -> list[MatchView]:
    """Return the unfinished public matches outside competitions, the next to be played first."""
    rows = (
        select(Match)
        .where(
            Match.state.in_(OPEN), Match.kind.not_in(kinds.private), Match.competition_id.is_(None)
        )
        .order_by(Match.started_at.is_(None), Match.id)
        .limit(ON_HOME)
    )
    return views_of(session, kinds, session.scalars(rows).all())


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """A filter for a list of matches; "" and None match all."""

    game: str = ""
    bot: str = ""
    """Part of a player's name."""
    players: int = 0
    state: str = ""
    best: str = ""
    """A month such as `2026-11`, to list its strongest matches."""
    page: int = 1
    owner: int | None = None
    """The id of a user whose bot plays."""
    lost_since: datetime | None = None
    """Only matches lost by a bot of that user since this time."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list of matches."""

    matches: Sequence[MatchView]
    page: int
    has_more: bool


def listing(
    session: Session, kinds: MatchTypes, choice: MatchFilter, rows: int = PER_PAGE
) -> Listing:
    """Return a page of the public matches: the latest or the strongest first."""
    query = select(Match).where(Match.kind.not_in(kinds.private))
    if choice.game:
        query = query.where(Match.game == choice.game)
    if choice.players or choice.bot:
        query = query.where(shows_players(kinds))
    if choice.players:
        query = query.where(Match.players == choice.players)
    if choice.state:
        query = query.where(Match.state == choice.state)
    if choice.bot:
        key = choice.bot.casefold()
        named = select(Bot.id).where(Bot.name_key.contains(key, autoescape=True))
        its = select(MatchParticipant.match_id).where(MatchParticipant.bot_id.in_(named))
        query = query.where(Match.id.in_(its))
    if choice.owner is not None:
        query = query.where(Match.id.in_(played_by(kinds, choice.owner, choice.lost_since)))
    if month := month_of(choice.best):
        query = query.where(
            Match.kind.in_(kinds.by_strength),
            Match.state == "done",
            Match.at >= month[0],
            Match.at < month[1],
        )
        ordered = query.order_by(Match.level.desc(), Match.id)
    else:
        ordered = query.order_by(Match.id.desc())
    first = (max(choice.page, 1) - 1) * rows
    matches = session.scalars(ordered.limit(rows + 1).offset(first)).all()
    views = with_ratings(session, views_of(session, kinds, matches[:rows], with_replays=False))
    return Listing(views, max(choice.page, 1), len(matches) > rows)


def played_by(kinds: MatchTypes, owner: int, lost_since: datetime | None) -> Select[int]:
    """Return the query for matches that a user's bots play, or have lost since a given time."""
    its = (
        select(MatchParticipant.match_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(Bot.user_id == owner)
    )
    if lost_since is None:
        return its
    return its.join(Match, Match.id == MatchParticipant.match_id).where(
        is_lost_since(lost_since), Match.kind.not_in(kinds.crowds)
    )


_OTHER = aliased(MatchParticipant)
WINNERS: Final = (
    select(func.count())
    .where(_OTHER.match_id == MatchParticipant.match_id, _OTHER.rank == 1)
    .correlate(MatchParticipant)
    .scalar_subquery()
)
"""Number of bots with rank 1 in a seat's match: one has won, several have drawn."""


def is_lost_since(moment: datetime) -> ColumnElement[bool]:
    """Return the SQL condition for a seat not ranked first in a match finished since a time."""
    return and_(MatchParticipant.rank > 1, Match.state == "done", Match.finished_at >= moment)


def yesterday(now: datetime) -> datetime:
    """Return the start of the previous day in UTC."""
    return datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=1)


def month_of(text: str) -> tuple[datetime, datetime] | None:
    """Return the starts of a month and of the next one, or None if `text` is invalid."""
    first = first_of_month(text)
    if first is None:
        return None
    begin = datetime(first.year, first.month, 1, tzinfo=UTC)
    return begin, (begin + timedelta(days=31)).replace(day=1)
