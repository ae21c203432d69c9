"""Query parameters and response types of the rated competitions' API routes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from cw_hub.api import Limit, Name, PlaceOrNone, Players, Query
from cw_hub.competitions.rated.standings import SortKey
from cw_hub.store.models import BotStatus


class LeaderboardQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects rows of a leaderboard."""

    game: Annotated[Name, Meta(description="The game. Default: the first rated one.")] = ""
    players: Players = 0
    range: Annotated[
        Literal[0, 1, 7, 30],
        Meta(description="Number of UTC days, including today; 0: all time."),
    ] = 0
    q: Annotated[Name, Meta(description="Part of the name of a bot or its owner.")] = ""
    sort: SortKey = "rating"
    limit: Limit = 50
    after: PlaceOrNone = ""


class LeaderboardRow(Struct, frozen=True, kw_only=True):
    """A bot on the leaderboard."""

    rank: int
    bot_id: str
    name: str
    game: str
    owner: str | None
    description: str
    status: BotStatus
    rating: float
    mu: float
    phi: float
    games: int
    wins: int
    last_match_at: datetime


class RatingPoint(Struct, frozen=True, kw_only=True):
    """The rating of a bot after a match."""

    match_id: str
    at: datetime
    rating: float
    mu: float
    phi: float


class OpponentRow(Struct, frozen=True, kw_only=True):
    """A bot's results against an opponent."""

    bot_id: str
    name: str
    games: int
    won: int
    drawn: int
    lost: int
    last_met_at: datetime
