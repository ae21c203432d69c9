"""The messages between the referee and the bots: plain values and interfaces, without I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import msgspec

from cw.errors import ProtocolError
from cw.games.codec import Codec
from cw.games.rules import Fault, Json, Outcome, Player, Rules, Strategy

Transport: TypeAlias = Literal["lines", "http", "client", "in-process", "human"]
"""How a player is reached.

Over the standard input and output of a program, as a web service, as a client of the arena's
server, in this process, or as a human player.
"""

Expectation: TypeAlias = Literal["registration", "move", "nothing"]
"""What a client of the arena's server must do next; for "nothing", any move is out of turn."""


DEEPEST: Final = 100
"""Maximum nesting of lists and objects in a reply; none needs more than 4."""

CONTAINERS: Final = (dict, list)

TOO_DEEP: Final = f"it is nested more than {DEEPEST} times"


class QueryLimits(NamedTuple):
    """The limits of one query."""

    seconds: float
    """The limit for the whole exchange."""
    grace: float = 0.0
    """Extra seconds in which replies count, for the arena's scheduling; not promised to bots."""
    connect_seconds: float | None = None
    """The limit for name lookup and connecting, if they have their own."""
    most_body: int = 64 * 1024
    """The maximum bytes of a response body, or of a line."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a web service; `path` is relative to the bot's base URL."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineMessage:
    """A line to a program, without its line ending."""

    text: bytes
    numbered: bool = False
    """Whether replies name the line that they answer, so that a late one is not mistaken."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: the response of a web service, or a line as its body."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers by name, case-insensitive."""
    seconds: float = 0.0
    """Seconds from the start of the exchange, connecting included, to the last byte."""


class Ignore(NamedTuple):
    """The result of reading a line that is not a reply: reading continues."""

    fault: Fault
    """The fault reported if no reply follows."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query to one bot, and how to read its reply.

    A query for the move of a Hexagon bot:

        Query(Request("GET", "/games/7?color=1"), read_move, QueryLimits(seconds=1.0), action=True)
    """

    message: Request | LineMessage | Expectation
    read: Callable[[Reply], Any]
    """Returns an action or another value, a Fault, or, for lines only, an Ignore."""
    limits: QueryLimits
    action: bool = False
    """Whether the reply is the player's action; other queries only require a reply."""
    explain: Callable[[Fault], Fault] = lambda fault: fault
    """Renames a failure of the exchange itself to the game's name for it."""
    noted: bool = True
    """Whether to report a fault; False if the protocol itself decides."""


class Referee(Protocol):
    """The services that a match provides to the protocol that conducts it."""

    @property
    def rules(self) -> Rules[Any, Any, Any]:
        """The rules of the game."""

    @property
    def codec(self) -> Codec[Any, Any, Any]:
        """The codec of the game."""

    @property
    def names(self) -> Mapping[Player, str]:
        """The name of each player's bot, in seat order."""

    @property
    def options(self) -> Mapping[str, Json]:
        """The options of the rules."""

    @property
    def protocol_options(self) -> Mapping[str, Json]:
        """The options of the protocol itself (see `WireProtocol.options`)."""

    @property
    def seed(self) -> int:
        """The seed of the game."""

    @property
    def state(self) -> Any:
        """The current state."""

    def transport(self, player: Player) -> Transport:
        """Return how a player is reached."""

    def address(self, player: Player) -> str | None:
        """Return the base URL of a web service."""

    def setting(self, player: Player, name: str) -> str | None:
        """Return a setting of a player's bot, such as `secret`."""

    def username(self, player: Player) -> str:
        """Return the username of a player's bot: 1 to 64 letters, digits and `_`."""

    def token(self) -> str:
        """Return 32 random hexadecimal digits that cannot be guessed."""

    def now(self) -> int:
        """Return the Unix time in whole seconds."""

    def begin(self, state: Any) -> None:
        """Set the start state."""

    async def ask(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Send all queries concurrently; return each player's value or Fault when all are done."""

    async def ask_first(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Send all queries concurrently; return the first reply, and cancel the other queries."""

    def step(self, actions: Mapping[Player, Any]) -> Any:
        """Apply actions and faults by the rules, and return the new state."""

    def note(self, player: Player, fault: Fault) -> None:
        """Record a fault for the report only; the rules do not need it."""

    def disqualify(self, player: Player, fault: Fault) -> None:
        """Stop asking a player: each further query immediately returns this fault."""

    def finish(self, outcome: Outcome) -> None:
        """End the match with an outcome that the rules do not produce."""


class WireProtocol(Protocol):
    """The wire protocol of one game: which players are asked when, and how replies are read."""

    transports: Sequence[Transport]
    """The transports through which bots of the game may be reached."""
    signed_with: str | None
    """The setting shared by a web service and its referee, or None if not needed."""
    options: Sequence[str]
    """The match options that belong to the protocol and are not passed to the rules."""

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the players for bots with these names."""

    async def conduct(self, referee: Referee) -> None:
        """Run a match from its first query to its last."""


def read_json(body: bytes | str) -> Json:
    """Return the JSON value of a reply, or of text that a user typed.

    Raises ProtocolError for invalid JSON, and for values that no replay can store: those nested
    more than DEEPEST times, numbers beyond a float, and text with a lone surrogate.

    >>> read_json(b'{"turn": 4}')
    {'turn': 4}
    """
    try:
        # Strict on purpose: replies go into replays, which other programs must be able to read.
        data = body.encode() if isinstance(body, str) else body
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, ValueError) as error:
        raise ProtocolError(str(error)) from None
    except RecursionError:
        raise ProtocolError(TOO_DEEP) from None
    # Most replies contain so few lists and objects that their nesting need not be checked.
    if data.count(b"[") + data.count(b"{") > DEEPEST and is_deep(value, DEEPEST):
        raise ProtocolError(TOO_DEEP)
    return value


def is_deep(value: Json, most: int) -> bool:
    """Return whether lists and objects are nested more than `most` times."""
    # Numbers and text, of which a frame has thousands, are dropped at each level.
    level = [value] if isinstance(value, CONTAINERS) else []
    for _ in range(most):
        level = [
            inner
            for container in level
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, CONTAINERS)
        ]
    return any(level)


def null_list(name: str) -> str:
    """Return the message for a list that is null."""
    return f"{name} is null, expected a list, [] for an empty one"


def compact(document: Json) -> bytes:
    """Encode JSON in ASCII, without whitespace."""
    try:
        printed = msgspec.json.encode(document)
    except UnicodeEncodeError:
        # A lone surrogate, which cannot be encoded in UTF-8.
        return escaped(document)
    # ASCII on the wire: bots in eight languages guess encodings differently.
    return printed if printed.isascii() else escaped(document)


def escaped(document: Json) -> bytes:
    """Encode JSON with escapes for all text that is not ASCII; several times slower."""
    return json.dumps(document, separators=(",", ":")).encode()


def unheard(line: str) -> None:
    """Discard a log line."""


@dataclass(frozen=True, slots=True)
class BotContext:
    """What a built-in strategy needs to act as a bot on the wire."""

    make: Callable[[Player], Strategy[Any, Any]]
    """Creates the strategy for a seat in a new game."""
    settings: Mapping[str, str]
    """Settings such as `secret`, `api_key` and `username`."""
    now: Callable[[], float]
    """Returns the Unix time in seconds."""
    log: Callable[[str], None] = unheard
    """Receives a log line for the operators of the bot; discarded by default."""


class BotHandler(Protocol):
    """A built-in strategy that speaks its game's wire protocol, as bots must."""

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Reply to one message, or return None if a line needs no reply."""


def as_json(document: Json, status: int = 200, **headers: str) -> Reply:
    """Return a JSON response."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(compact(document), status, {"Content-Type": "application/json", **fields})


@dataclass(frozen=True, slots=True)
class Credit:
    """The player of a slot, as a site knows it."""

    bot_id: str
    owner: str


@dataclass(frozen=True, slots=True)
class Credits:
    """The id that a site gives a match, and the ids and owners of its bots."""

    match_id: str
    players: Sequence[Credit]


def as_it_is(reply: Reply) -> Reply:
    """Return a reply unchanged."""
    return reply


SERVER_ERROR: Final = "server_error"
"""The cause of a fault whose reply has a status of 500 or more: the bot's own code failed."""

LONGEST: Final = 300
"""The maximum number of characters of a reply quoted in a message."""

CUT: Final = "..."


def status_fault(reply: Reply, expected: int = 200) -> Fault:
    """Return the fault of a response whose status is not the expected one.

    Its note is the body, if that is plain text: bot kits respond to an exception with status 500
    and the exception, its message, the file and the line.

    >>> status_fault(Reply(b"KeyError: 7 (bot.py, line 12)", 500)).sentence
    'HTTP status 500, expected 200: KeyError: 7 (bot.py, line 12)'
    """
    cause = SERVER_ERROR if reply.status >= 500 else ""
    detail = f"HTTP status {reply.status}, expected {expected}"
    note = "" if reply.status < 400 else plain_text(reply.body)
    return Fault("malformed", detail, cause, note=note)


def plain_text(body: bytes) -> str:
    """Return a body on one line, shortened; "" for an HTML page, which does not help its author."""
    text = body[: 4 * LONGEST].decode(errors="replace")
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(printable.split())
    if line.startswith("<"):
        return ""
    return line if len(line) <= LONGEST else line[: LONGEST - len(CUT)] + CUT


class CheckReport(Protocol):
    """Receives the steps of a check one by one."""

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Record a step and its problem, None for success; return whether it passed.

        May raise instead of returning False, which stops the check.
        """

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Record a step that no bot fails: good bots pass it, but the rules do not require it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Matches that a bot under check must play without a fault."""

    name: str
    options: Mapping[str, Json]
    opponents: Sequence[str]
    """The names of built-in strategies."""
    start: Json = None
    """A recorded state to start from instead of a new game."""
    seats: Sequence[int] = (0, -1)
    """The bot's seats, one match for each: first, then last."""
    turns: int | None = None
    """Number of turns after which a match is stopped; None plays it to its end."""
    note: str = ""
    """What a fault means if it does not fail the bot; "" if it does."""
    by_contest: bool = False
    """Whether a check for a contest plays with the contest's options instead."""


class Checks(Protocol):
    """The checks that a bot of a game passes before it may play."""

    trials: Sequence[Trial]

    def steps(self, transport: Transport) -> int:
        """Return how many steps `probe` reports for a correct bot reached over `transport`."""

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Send a bot one request after another, and report each step."""


class Admission(Protocol):
    """The checks of a web service before it may play on a site."""

    async def health(self, referee: Referee, player: Player, report: CheckReport) -> bool:
        """Request only GET /health; return whether the web service is healthy."""

    async def protocol(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Check whether the web service speaks the protocol."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of asking a bot whether it is ready to play."""

    request: str
    """The request, such as `GET /bot`."""
    passed: Sequence[str]
    """The steps that passed, in order, each as a sentence."""
    failed: str = ""
    """The problem, or ""; it ends with a question that the rules answer."""
    fault: Fault | None = None
    reply: Reply | None = None
    """None if no reply arrived."""


@runtime_checkable
class ReadyChecks(Checks, Protocol):
    """The checks of a game that asks all bots whether they are ready before it starts."""

    async def ready(self, referee: Referee) -> Mapping[Player, Readiness]:
        """Ask all bots concurrently whether they are ready."""
