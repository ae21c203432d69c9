"""The parameters and JSON that the API is asked with; its description is made from these."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from cw.hub.api.queries import (
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
from cw.hub.store.tables import BotStatus, MatchState

LONGEST_DATA: Final = 2 * 1024 * 1024
"""Characters of a program as base64: more than one may have, who is then told what is allowed."""


class BotsQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which bots are wanted."""

    game: Name = ""
    owner: Annotated[
        Name, Meta(description="The username of the owner, in upper or lower case.")
    ] = ""
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


class ProgramFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A program to be saved: the name and the bytes of a file, or of a zip of several."""

    file: Annotated[str, Meta(pattern=NO_NUL, max_length=200)]
    data: Annotated[str, Meta(max_length=LONGEST_DATA, description="The bytes as base64.")]
    note: Annotated[Text, Meta(description="What is new, in a line.")] = ""


class NewBot(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bot to be registered: a web service by its address, or a program."""

    game: Text
    name: Text
    endpoint: Text = ""
    description: Text = ""
    program: ProgramFile | None = None


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


class CompetitionsQuery(PlacesQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which competitions are wanted."""

    format: Annotated[Name, Meta(description="Such as `rated` or `cup`; empty: all.")] = ""
    game: Name = ""
    state: Literal["", "planned", "running", "paused", "over"] = ""
