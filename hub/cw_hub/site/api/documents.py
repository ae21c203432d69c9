"""The API's query and response types, from which the OpenAPI description is generated."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from cw_hub.accounts.tickets import Scope
from cw_hub.api import (
    NO_NUL,
    BotIdOrNone,
    BotStanding,
    Limit,
    MatchIdOrNone,
    Name,
    PlacesQuery,
    Players,
    Query,
    Text,
)
from cw_hub.bots.health import Word
from cw_hub.store.models import BotKind, BotStatus, CompetitionState, MatchState, VersionState


class BotRow(Struct, frozen=True, kw_only=True):
    """A bot's public data."""

    bot_id: str
    game: str
    name: str
    owner: str | None
    kind: BotKind
    description: str
    status: BotStatus
    registered_at: datetime


class Change(Struct, frozen=True, kw_only=True):
    """An entry in the history of a bot."""

    at: datetime
    actor: str
    verb: str
    detail: dict[str, Any]


class LastMatch(Struct, frozen=True, kw_only=True):
    """One of a bot's last matches, and its first fault in it."""

    match_id: str
    at: datetime
    fault: str | None


class BotCondition(Struct, frozen=True, kw_only=True):
    """The condition of a bot: its last check and up to five last matches, the latest first.

    `failed` is the failed step of the check.
    """

    word: Word
    checked_at: datetime | None
    failed: str | None
    matches: list[LastMatch]


class OwnBotFacts(Struct, frozen=True, kw_only=True):
    """Data of a bot that only its owner and admins see."""

    endpoint: str
    reason: str
    checked_at: datetime | None
    checked_again_at: datetime | None
    condition: BotCondition
    history: list[Change]


class BotFacts(BotRow, frozen=True, kw_only=True):
    """A bot; `own` is null except for its owner and admins."""

    standing: BotStanding | None
    own: OwnBotFacts | None


class BotWithSecret(Struct, frozen=True, kw_only=True):
    """A bot and its secret, which is shown only once."""

    bot: BotFacts
    shared_secret: str | None
    """Null for a program, which has none."""


class Step(Struct, frozen=True, kw_only=True):
    """A step of the last check of a bot."""

    step: str
    ok: bool
    problem: str | None
    fix: str | None
    is_warning: bool


class VersionFacts(Struct, frozen=True, kw_only=True):
    """A version of a program, for its author; `checks` is null until it is checked.

    A token without the scope `read` gets null except for `number`, `is_active` and `state`.
    """

    number: int
    is_active: bool
    sha256: str | None = None
    size: int | None = None
    language: str | None = None
    note: str | None = None
    state: VersionState
    files: list[str] | None = None
    checks: list[Step] | None = None
    created_at: datetime | None = None


class VersionFile(Struct, frozen=True, kw_only=True):
    """A version of a program with its zip as base64."""

    version: VersionFacts
    data: str


class Fault(Struct, frozen=True, kw_only=True):
    """A fault of a bot; the message is for its owner."""

    turn: int | None
    kind: str
    detail: str


class OwnSeat(Struct, frozen=True, kw_only=True):
    """Data of a bot in a match that only its owner and admins see."""

    answers: int
    median_ms: float | None
    most_ms: float | None
    faults: list[Fault]


class Seat(Struct, frozen=True, kw_only=True):
    """A seat in a match; `bot_id` is null for a built-in strategy without a bot.

    `slot` is null until the end of a match with hidden information.
    """

    slot: int | None
    bot_id: str | None
    name: str
    owner: str | None
    rank: int | None
    score: float | None
    faults: int
    rating_before: float | None
    rating_after: float | None
    own: OwnSeat | None


class MatchFacts(Struct, frozen=True, kw_only=True):
    """A match. In lists, `rating_before` and `own` of its seats are null.

    Lists show only the seats of the first three places of a daily game. `seed` and `map_id` are
    null until the match is over, as are `level` and the seats of a rated match with hidden
    information.
    """

    match_id: str
    kind: str
    game: str
    state: MatchState
    attempt: int
    turn: int
    reason: str | None
    seed: int | None
    map_id: str | None
    level: float | None
    planned_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    has_replay: bool
    seats: list[Seat]


class Planned(Struct, frozen=True, kw_only=True):
    """A planned match."""

    match: MatchFacts


class MatchesLeft(Struct, frozen=True, kw_only=True):
    """How many challenge matches can be started now; `more_at` is null if none is used up."""

    matches: int
    more_at: datetime | None


class ChallengeFacts(Struct, frozen=True, kw_only=True):
    """A challenge; `won`, `drawn` and `lost` are those of `bot_id`, the challenger.

    `left` is the requester's remaining allowance, null if unknown.
    """

    challenge_id: str
    game: str
    bot_id: str
    opponent: str
    is_over: bool
    won: int
    drawn: int
    lost: int
    matches: list[MatchFacts]
    left: MatchesLeft | None


class Link(Struct, frozen=True, kw_only=True):
    """A URL readable without a token, and when it expires."""

    url: str
    expires_at: datetime


class UserFacts(Struct, frozen=True, kw_only=True):
    """A user's public data."""

    username: str
    display_name: str | None
    country: str | None
    picture: str | None
    bots: list[BotRow]


class MapFacts(Struct, frozen=True, kw_only=True):
    """A map, and the link to its file."""

    map_id: str
    game: str
    players: int
    rows: int
    cols: int
    sha256: str
    facts: dict[str, Any]
    file: Link


class CompetitionRow(Struct, frozen=True, kw_only=True):
    """A competition other than a draft; its description is Markdown.

    `starts_at` and `ends_at` are when it starts and ends by itself, null if not scheduled.
    """

    format: str
    slug: str
    game: str
    title: str
    description: str
    state: CompetitionState
    starts_at: datetime | None
    ends_at: datetime | None


class Status(Struct, frozen=True, kw_only=True):
    """The status of the site."""

    time: datetime
    competitions: list[CompetitionRow]
    queued: int
    in_progress: int
    workers: int


class Me(Struct, frozen=True, kw_only=True):
    """The owner of the token, its scopes, and when it expires."""

    username: str
    is_admin: bool
    scopes: list[Scope]
    expires_at: datetime


LONGEST_DATA: Final = 2 * 1024 * 1024
"""Maximum length of a base64 program: above anyone's limit, so that the error can name it."""


class BotsQuery(Query, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A filter for bots."""

    game: Name = ""
    owner: Annotated[Name, Meta(description="The username of the owner, case-insensitive.")] = ""
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
    note: Annotated[Text, Meta(description="What's new, in one line.")] = ""


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

    format: Annotated[Name, Meta(description="For example `rated` or `cup`. Default: all.")] = ""
    game: Name = ""
    state: Literal["", "planned", "running", "paused", "over"] = ""
