"""Lists that programs read part by part: each part costs the same, however far one has come.

A part goes on after the row that the last one ended with, by its id; what is new meanwhile stands
before the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar, TypeVarTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from cw.hub.services import bots, match_views, people
from cw.hub.services.bots import OwnBot
from cw.hub.services.match_views import MatchView
from cw.hub.store.tables import Bot, Match, MatchParticipant, User

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MOST: Final = 100
"""Rows of a part."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Which part of a list is wanted."""

    limit: int = 50
    after: str = ""
    """What the last part has said comes next; "": the first part."""


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A part of a list, and where the next one begins."""

    items: Sequence[T]
    next: str | None
    """None: there is no more."""


def cut_by_name(found: Sequence[T], cut: Cut, name: Callable[[T], str]) -> Part[T]:
    """Return a part of rows of which one more than wanted was asked for."""
    items = found[: cut.limit]
    return Part(items, name(items[-1]) if len(found) > cut.limit else None)


def cut_by_place(rows: Sequence[T], cut: Cut, first: int = 0, *, is_last: bool = True) -> Part[T]:
    """Return a part of a list that is ordered by something that changes: it goes on by the place.

    `rows` begin at the place `first`; more follow them unless they are the last.
    """
    begin = int(cut.after or 0) - first
    items = rows[begin : begin + cut.limit]
    end = begin + len(items)
    return Part(items, None if is_last and end >= len(rows) else str(first + end))


# Bots


@dataclass(frozen=True, slots=True)
class BotChoice:
    """Which bots are wanted; "": all."""

    game: str = ""
    owner: str = ""
    status: str = ""


def bots_of_people(session: Session, choice: BotChoice, cut: Cut) -> Part[OwnBot]:
    """Return a part of the bots of people and of the house, the newest first."""
    wanted = select(Bot, User.username).join(User, User.id == Bot.user_id)
    if choice.game:
        wanted = wanted.where(Bot.game == choice.game)
    if choice.owner:
        wanted = wanted.where(User.username_key == people.username_key(choice.owner))
    if choice.status:
        wanted = wanted.where(Bot.status == choice.status)
    if cut.after:
        last = select(Bot.id).where(Bot.bot_id == cut.after).scalar_subquery()
        wanted = wanted.where(Bot.id < last)
    rows = session.execute(wanted.order_by(Bot.id.desc()).limit(cut.limit + 1))
    found = [bots.own_bot(bot, owner or "") for bot, owner in rows]
    return cut_by_name(found, cut, lambda bot: bot.bot_id)


# Matches


@dataclass(frozen=True, slots=True)
class MatchChoice:
    """Which matches are wanted; "" and 0: all."""

    game: str = ""
    players: int = 0
    state: str = ""


def public_matches(session: Session, choice: MatchChoice, cut: Cut) -> Part[MatchView]:
    """Return a part of the matches that everybody may see, the latest first."""
    wanted = select(Match).where(Match.kind != "practice")
    if choice.game:
        wanted = wanted.where(Match.game == choice.game)
    if choice.players:
        wanted = wanted.where(Match.players == choice.players)
    if choice.state:
        wanted = wanted.where(Match.state == choice.state)
    if cut.after:
        wanted = wanted.where(Match.id < row_of(cut.after))
    rows = session.scalars(wanted.order_by(Match.id.desc()).limit(cut.limit + 1)).all()
    return views(session, rows, cut)


def matches_of_bot(session: Session, bot: int, cut: Cut, *, with_practice: bool) -> Part[MatchView]:
    """Return a part of the matches of a bot, the latest first; practice is for its owner."""
    wanted = of_bot(select(Match), bot, cut)
    if not with_practice:
        wanted = wanted.where(Match.kind != "practice")
    return views(session, session.scalars(wanted).all(), cut)


def views(session: Session, rows: Sequence[Match], cut: Cut) -> Part[MatchView]:
    """Return a part of a list of matches."""
    part = cut_by_name(rows, cut, lambda row: row.match_id)
    return Part(match_views.views_of(session, part.items), part.next)


def of_bot(wanted: Select[*Ts], bot: int, cut: Cut) -> Select[*Ts]:
    """Return a query for matches as one for those of a bot: its own index leads from row to row."""
    its = (
        wanted.join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(MatchParticipant.bot_id == bot)
        .order_by(MatchParticipant.match_id.desc())
        .limit(cut.limit + 1)
    )
    return its.where(MatchParticipant.match_id < row_of(cut.after)) if cut.after else its


def row_of(match_id: str) -> Any:
    """Return a query for the id of a match; of one that is not there, nothing follows."""
    return select(Match.id).where(Match.match_id == match_id).scalar_subquery()


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """The rating of a bot after a match."""

    match_id: str
    at: datetime
    mu: float
    phi: float

    @property
    def shown(self) -> float:
        """The shown rating."""
        return self.mu - 2 * self.phi


def ratings_of_bot(session: Session, competition: int, bot: int, cut: Cut) -> Part[RatedPoint]:
    """Return a part of the ratings of a bot, after each of its rated matches, the latest first."""
    columns = (Match.match_id, Match.finished_at, MatchParticipant.mu, MatchParticipant.phi)
    wanted = of_bot(select(*columns).select_from(Match), bot, cut)
    rated = wanted.where(Match.competition_id == competition, Match.seq.is_not(None))
    rows: list[Any] = list(session.execute(rated))
    return cut_by_name([RatedPoint(*row) for row in rows], cut, lambda point: point.match_id)
