"""Parameters and JSON requests of the API; its description is generated from these types."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from cw_hub.api.queries import (
    NO_NUL,
    BotIdOrNone,
    Limit,
    MatchIdOrNone,
    Name,
    PlacesQuery,
    Players,
    Query,
    Text,
)
from cw_hub.store.tables import BotStatus, MatchState

LONGEST_DATA: Final = 2 * 1024 * 1024
"""Characters of a base64 program: more than anyone is allowed, so that they are told the limit."""


class BotsQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A filter for bots."""

    game: Name = ""
    owner: Annotated[
        Name, Meta(description="The username of the owner, in upper or lower case.")
    ] = ""
    status: BotStatus | Literal[""] = ""
    limit: Limit = 50
    after: BotIdOrNone = ""


class MatchesQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A filter for matches."""

    game: Name = ""
    players: Players = 0
    state: MatchState | Literal[""] = ""
    limit: Limit = 50
    after: MatchIdOrNone = ""


class ProgramFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A program to be saved: the name and the content of a file, or of a zip of several."""

    file: Annotated[str, Meta(pattern=NO_NUL, max_length=200)]
    data: Annotated[str, Meta(max_length=LONGEST_DATA, description="The bytes as base64.")]
    note: Annotated[Text, Meta(description="What is new, in a line.")] = ""


class NewBot(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bot to be registered: a web service with its address, or a program."""

    game: Text
    name: Text
    endpoint: Text = ""
    description: Text = ""
    program: ProgramFile | None = None


class BotChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Changes of a bot; omitted fields stay as they are."""

    endpoint: Text | None = None
    description: Text | None = None


class Retirement(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Permanent retirement of a bot; its name confirms it."""

    name: Text


class TestMatch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A practice match: the built-in strategy to play against."""

    opponent: Text


class Suspension(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Why a bot is suspended; its owner reads the reason."""

    reason: Annotated[str, Meta(pattern="^[^\\x00]*[^\\x00\\s][^\\x00]*$", max_length=200)]


class CompetitionsQuery(PlacesQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A filter for competitions."""

    format: Annotated[Name, Meta(description="Such as `rated` or `cup`; empty: all.")] = ""
    game: Name = ""
    state: Literal["", "planned", "running", "paused", "over"] = ""
