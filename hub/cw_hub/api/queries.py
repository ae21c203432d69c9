"""Query parameters shared by routes of several subjects."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from cw_hub.matches.listings import MOST

NO_NUL: Final = "^[^\\x00]*$"
"""Excludes NUL, which databases cannot store in texts."""

Text: TypeAlias = Annotated[str, Meta(pattern=NO_NUL, max_length=2000)]

Name: TypeAlias = Annotated[str, Meta(pattern=NO_NUL, max_length=64)]

BotIdOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^(b_[0-9a-f]{8})?$", description="`next` of the page before.")
]

MatchIdOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^(m_[0-9a-f]{8})?$", description="`next` of the page before.")
]

PlaceOrNone: TypeAlias = Annotated[
    str, Meta(pattern="^([0-9]{1,6})?$", description="`next` of the page before.")
]

Limit: TypeAlias = Annotated[
    int, Meta(ge=1, le=MOST, description="Maximum number of items of a page.")
]

Players: TypeAlias = Annotated[
    int, Meta(ge=0, le=1000, description="The number of players; 0: any.")
]


class Query(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters of a request."""


class OfBotQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects a page of a list keyed by matches."""

    limit: Limit = 50
    after: MatchIdOrNone = ""


class PlacesQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects a page of a list keyed by places."""

    limit: Limit = 50
    after: PlaceOrNone = ""
