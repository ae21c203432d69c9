"""What passes between the referee and the bots that it calls: values only, no I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from cw.errors import ProtocolError
from cw.games.codec import Codec
from cw.games.rules import Fault, Json, Outcome, Player, Rules, Strategy

Transport: TypeAlias = Literal["lines", "http", "client", "in-process", "human"]
"""How a player is reached.

Over the standard input and output of a program, as a web service, as a client of our server, in
this process, or as a person.
"""

Expectation: TypeAlias = Literal["registration", "move", "nothing"]
"""What a client of our server shall do; of one that shall do nothing, any move is out of turn."""


DEEPEST: Final = 100
"""Lists and objects that may stand in each other in a reply; none needs more than 4."""

CONTAINERS: Final = (dict, list)
"""The types of JSON values that hold others."""

TOO_DEEP: Final = f"it is nested more than {DEEPEST} times"


class QueryLimits(NamedTuple):
    """What one question may cost."""

    seconds: float
    """For the whole exchange."""
    grace: float = 0.0
    """How much later an answer still counts, for our own scheduling; not promised to bots."""
    connect_seconds: float | None = None
    """For name look-up and connection, where they have a limit of their own."""
    most_body: int = 64 * 1024
    """Bytes of an answer, or of a line."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a web service; `path` follows the bot's base address."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineMessage:
    """A line to a program, without its end."""

    text: bytes
    numbered: bool = False
    """Whether answers say which line they answer, so that a late one is not taken for another."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the answer of a web service, or a line as its body."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name, whatever its case."""
    seconds: float = 0.0
    """From the start of the exchange, connecting included, to the last byte."""


class Ignore(NamedTuple):
    """The meaning of a line that is not an answer: reading goes on."""

    fault: Fault
    """What is reported if no answer comes."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question to one bot, and what a reply to it means.

    A question for the move of a Hexagon bot:

        Query(Request("GET", "/games/7?color=1"), read_move, QueryLimits(seconds=1.0), action=True)
    """

    message: Request | LineMessage | Expectation
    read: Callable[[Reply], Any]
    """Returns an action or another value, a Fault, or, for lines, an Ignore."""
    limits: QueryLimits
    action: bool = False
    """Whether the answer is the player's action; the other questions only want to be answered."""
    explain: Callable[[Fault], Fault] = lambda fault: fault
    """What the game calls a failure of the exchange itself."""
    noted: bool = True
    """Whether a fault stands in the report; False where the protocol itself decides about it."""


class Referee(Protocol):
    """What a match offers to the protocol that conducts it."""

    @property
    def rules(self) -> Rules[Any, Any, Any]:
        """The rules."""

    @property
    def codec(self) -> Codec[Any, Any, Any]:
        """What the values of the game are as JSON."""

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
        """Return the base address of a bot that is a web service."""

    def setting(self, player: Player, name: str) -> str | None:
        """Return a setting of a player's bot, such as `secret`."""

    def username(self, player: Player) -> str:
        """Return the username of a player's bot: 1 to 64 letters, digits and `_`."""

    def token(self) -> str:
        """Draw 32 hexadecimal digits that nobody can guess."""

    def now(self) -> int:
        """Return the Unix time in whole seconds."""

    def begin(self, state: Any) -> None:
        """Take the start state."""

    async def ask(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Ask all at the same time; return each one's value or Fault when all are done."""

    async def ask_first(self, queries: Mapping[Player, Query]) -> dict[Player, Any]:
        """Ask all at the same time; return what the first one says, and withdraw the others."""

    def step(self, actions: Mapping[Player, Any]) -> Any:
        """Apply actions and faults by the rules, and give the new state."""

    def note(self, player: Player, fault: Fault) -> None:
        """Keep a fault for the report that the rules need not know."""

    def disqualify(self, player: Player, fault: Fault) -> None:
        """Ask a player nothing more: each question gets this fault at once."""

    def finish(self, outcome: Outcome) -> None:
        """End the match with an outcome that the rules do not know."""


class WireProtocol(Protocol):
    """The wire protocol of one game: who is asked what, in which order, and what answers mean."""

    transports: Sequence[Transport]
    """How bots of the game may be reached."""
    signed_with: str | None
    """The setting that a web service and its referee both know; None where none is needed."""
    options: Sequence[str]
    """The options of a match that are the protocol's: the rules are not told them."""

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Name the seats of bots with these names."""

    async def conduct(self, referee: Referee) -> None:
        """Lead a match from its first question to its last."""


def read_json(body: bytes | str) -> Json:
    """Return the JSON value of a reply, or of a text that somebody has typed.

    Raises ProtocolError for what is none, and for what no replay can hold: values nested more than
    DEEPEST times, numbers beyond a float, and text with half a surrogate pair.

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
    # Most replies open so few lists and objects that nobody needs to look how they are nested.
    if data.count(b"[") + data.count(b"{") > DEEPEST and is_deep(value, DEEPEST):
        raise ProtocolError(TOO_DEEP)
    return value


def is_deep(value: Json, most: int) -> bool:
    """Return whether lists and objects of a value stand in each other more than `most` times."""
    # Numbers and text, of which a frame has thousands, are left out level by level.
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
    """Return what is wrong with a list that came as null."""
    return f"{name} is null, expected a list, [] for an empty one"


def compact(document: Json) -> bytes:
    """Print JSON in ASCII, without blanks."""
    try:
        printed = msgspec.json.encode(document)
    except UnicodeEncodeError:
        # Half a surrogate pair, which UTF-8 has no bytes for.
        return escaped(document)
    # ASCII on the wire: bots in eight languages guess encodings differently.
    return printed if printed.isascii() else escaped(document)


def escaped(document: Json) -> bytes:
    """Print JSON whose text is not all ASCII, with escapes; several times slower."""
    return json.dumps(document, separators=(",", ":")).encode()


def unheard(line: str) -> None:
    """Drop a line of a log."""


@dataclass(frozen=True, slots=True)
class BotContext:
    """What a built-in strategy needs to be a bot on the wire."""

    make: Callable[[Player], Strategy[Any, Any]]
    """Seats the strategy for a new game."""
    settings: Mapping[str, str]
    """Such as `secret`, `api_key` and `username`."""
    now: Callable[[], float]
    """Returns the Unix time in seconds."""
    log: Callable[[str], None] = unheard
    """Takes a line for the people who run the bot; by default it is dropped."""


class BotHandler(Protocol):
    """A built-in strategy that speaks the wire protocol of its game, as bots must."""

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Answer one message; None where a line gets no answer."""


def as_json(document: Json, status: int = 200, **headers: str) -> Reply:
    """Return an answer in JSON."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(compact(document), status, {"Content-Type": "application/json", **fields})


@dataclass(frozen=True, slots=True)
class Credit:
    """Who played a slot, as a site knows it."""

    bot_id: str
    owner: str


@dataclass(frozen=True, slots=True)
class Credits:
    """By which names a site knows a match and who played it."""

    match_id: str
    players: Sequence[Credit]


def as_it_is(reply: Reply) -> Reply:
    """Take a reply as it is."""
    return reply
