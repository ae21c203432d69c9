"""The parameters and JSON that the API is asked with; its description is made from these."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from cw.hub.competitions.rated.standings import SortKey
from cw.hub.matches.listings import MOST
from cw.hub.store.tables import BotStatus, MatchState

NO_NUL: Final = "^[^\\x00]*$"
"""The sign that no text of a database may have."""


Text: TypeAlias = Annotated[str, Meta(pattern=NO_NUL, max_length=2000)]


Name: TypeAlias = Annotated[str, Meta(pattern=NO_NUL, max_length=64)]


BotIdOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^(b_[0-9a-f]{8})?$", description="`next` of the part before.")
]


MatchIdOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^(m_[0-9a-f]{8})?$", description="`next` of the part before.")
]


PlaceOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^([0-9]{1,6})?$", description="`next` of the part before.")
]


Limit: TypeAlias = Annotated[int, Meta(ge=1, le=MOST, description="Most items of a part.")]


Players: TypeAlias = Annotated[
    int, Meta(ge=0, le=1000, description="The number of players; 0: any.")
]


class Query(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters of a request."""


class LeaderboardQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which rows of a leaderboard are wanted."""

    game: Annotated[Name, Meta(description="The game; without one, the first rated one.")] = ""
    players: Players = 0
    range: Annotated[
        Literal[0, 1, 7, 30],
        Meta(description="Days of UTC that count, with today; 0: all time."),
    ] = 0
    q: Annotated[Name, Meta(description="Part of the name of a bot or its owner.")] = ""
    sort: SortKey = "rating"
    limit: Limit = 50
    after: PlaceOrNone = ""


class BotsQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which bots are wanted."""

    game: Name = ""
    owner: Annotated[Name, Meta(description="The username of the owner, in any case.")] = ""
    status: BotStatus | Literal[""] = ""
    limit: Limit = 50
    after: BotIdOrNone = ""


class MatchesQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which matches are wanted."""

    game: Name = ""
    players: Players = 0
    state: MatchState | Literal[""] = ""
    limit: Limit = 50
    after: MatchIdOrNone = ""


class OfBotQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which part of what goes by matches is wanted."""

    limit: Limit = 50
    after: MatchIdOrNone = ""


class PlacesQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which part of what goes by places is wanted."""

    limit: Limit = 50
    after: PlaceOrNone = ""


class NewBot(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bot to be registered."""

    game: Text
    name: Text
    endpoint: Text
    description: Text = ""


class BotChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What shall change of a bot; what is left out stays."""

    endpoint: Text | None = None
    description: Text | None = None


class Retirement(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """That a bot shall be retired for good: its name, to be sure."""

    name: Text


class TestMatch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A practice match: the built-in strategy to play against."""

    opponent: Text


class Suspension(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Why a bot shall be taken out; its owner reads that."""

    reason: Annotated[str, Meta(pattern="^[^\\x00]*[^\\x00\\s][^\\x00]*$", max_length=200)]
