"""The JSON of the API: what is asked, and what is answered. The description is made from these."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct

from cw.hub.services.listings import MOST
from cw.hub.services.tickets import Scope

T = TypeVar("T")

BotKind: TypeAlias = Literal["url", "program", "builtin"]
BotStatus: TypeAlias = Literal["PENDING", "ACTIVE", "INACTIVE", "SUSPENDED", "RETIRED"]
MatchKind: TypeAlias = Literal["daily", "ladder", "rated", "practice", "championship"]
MatchState: TypeAlias = Literal["queued", "in_progress", "interrupted", "done", "void", "failed"]
CompetitionState: TypeAlias = Literal["draft", "running", "paused", "over"]

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


# What is asked


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
    sort: Literal["rating", "name", "owner", "games", "rate", "active"] = "rating"
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


# What is answered


class List(Struct, Generic[T], frozen=True):
    """A part of a list; `next` is the `after` of the next part, null at the end."""

    items: list[T]
    next: str | None


class Problem(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a request was refused."""

    error: str
    message: str
    fields: dict[str, str] | None = None
    limit: str | None = None
    retry_after: int | None = None


class LeaderboardRow(Struct, frozen=True):
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


class BotRow(Struct, frozen=True):
    """A bot as everybody sees it."""

    bot_id: str
    game: str
    name: str
    owner: str | None
    kind: BotKind
    description: str
    status: BotStatus
    registered_at: datetime


class BotStanding(Struct, frozen=True):
    """How a bot stands in the rated competition of its game; `rating` is mu - 2 * phi."""

    rank: int | None
    of: int
    rating: float
    mu: float
    phi: float
    games: int
    won: int
    drawn: int
    lost: int
    last_match_at: datetime | None


class Change(Struct, frozen=True):
    """A line of the history of a bot."""

    at: datetime
    actor: str
    verb: str
    detail: dict[str, Any]


class OwnBotFacts(Struct, frozen=True):
    """What owner and admins alone see of a bot."""

    endpoint: str
    reason: str
    checked_at: datetime | None
    checked_again_at: datetime | None
    history: list[Change]


class BotFacts(BotRow, frozen=True):
    """A bot; `own` is null for all but its owner and admins."""

    standing: BotStanding | None
    own: OwnBotFacts | None


class BotWithSecret(Struct, frozen=True):
    """A bot and its secret, which is told this once."""

    bot: BotFacts
    shared_secret: str


class Step(Struct, frozen=True):
    """A step of the last check of a bot."""

    step: str
    ok: bool
    problem: str | None
    fix: str | None
    is_warning: bool


class RatingPoint(Struct, frozen=True):
    """The rating of a bot after a match."""

    match_id: str
    at: datetime
    rating: float
    mu: float
    phi: float


class OpponentRow(Struct, frozen=True):
    """How a bot has fared against another."""

    bot_id: str
    name: str
    games: int
    won: int
    drawn: int
    lost: int
    last_met_at: datetime


class Fault(Struct, frozen=True):
    """What a bot did wrong; the sentence is for its owner."""

    turn: int | None
    kind: str
    detail: str


class OwnSeat(Struct, frozen=True):
    """What owner and admins alone see of a bot in a match."""

    answers: int
    median_ms: float | None
    most_ms: float | None
    faults: list[Fault]


class Seat(Struct, frozen=True):
    """Who sat at a slot; `bot_id` is null for a built-in strategy without a row."""

    slot: int
    bot_id: str | None
    name: str
    owner: str | None
    rank: int | None
    score: float | None
    faults: int
    rating_before: float | None
    rating_after: float | None
    own: OwnSeat | None


class MatchFacts(Struct, frozen=True):
    """A match. In lists `rating_before` and `own` of its seats are null.

    A daily game has there only the seats of its first three places.
    """

    match_id: str
    kind: MatchKind
    game: str
    state: MatchState
    attempt: int
    turn: int
    reason: str | None
    seed: int
    map_id: str | None
    level: float | None
    planned_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    has_replay: bool
    seats: list[Seat]


class Planned(Struct, frozen=True):
    """A match that was planned."""

    match: MatchFacts


class Link(Struct, frozen=True):
    """Where something can be read without a token, until when."""

    url: str
    expires_at: datetime


class UserFacts(Struct, frozen=True):
    """A user as everybody sees one."""

    username: str
    display_name: str | None
    country: str | None
    picture: str | None
    bots: list[BotRow]


class MapFacts(Struct, frozen=True):
    """A map, and where it can be read."""

    map_id: str
    game: str
    players: int
    rows: int
    cols: int
    sha256: str
    facts: dict[str, Any]
    file: Link


class CompetitionRow(Struct, frozen=True):
    """A competition."""

    format: str
    slug: str
    game: str
    title: str
    state: CompetitionState


class Status(Struct, frozen=True):
    """How the site does."""

    time: datetime
    competitions: list[CompetitionRow]
    queued: int
    in_progress: int
    workers: int


class Me(Struct, frozen=True):
    """Whose token this is, what it allows, and until when."""

    username: str
    is_admin: bool
    scopes: list[Scope]
    expires_at: datetime
