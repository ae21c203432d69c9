"""The lines between a hub and a process that plays for it: JSON, each with its type.

To a player go the programs that take part, one a line, then one task; while a match is played,
also secrets that have changed. From a player come reports of any number, and one that ends the
task: `Played`, `Answers`, `Done` or `Failed`. Then it can be given the next task. The end of its
input ends a player, and whatever it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from cw.arena.bots import BotSpec
from cw.arena.sandbox.measured import Measurement
from cw.games.checks import Readiness
from cw.games.rules import Json
from cw.games.wire import Credits
from cw.hub.players.packages import UPLOAD, Bounds
from cw.matches.spec import Isolation, MatchSpec

LARGEST_LINE: Final = 128 * 1024 * 1024
"""Bytes: a program of 64 MiB or the replay of a match, in base64."""

SILENCE: Final = 120.0
"""Seconds without a line after which a player counts as hung, and is ended."""

HEARTBEAT: Final = 5.0
"""Seconds after which a player that has nothing to report sends `Alive`."""

OUTPUTS: Final = "outputs"
"""The key of a bot's figures with what its program wrote to its standard error, by game."""

UNREACHABLE: Final = frozenset({"startup", "disconnected", "timeout", "crashed"})
"""The kinds of faults that mean that nothing answers, or not in time."""

MATCH: Final = "match"
"""Pieces that are lines of a match (`live_file`): its head, and what came after it."""

TURNS: Final = "turns"
"""Pieces that say what the bot was asked in some turns."""

REPLAYS: Final = "replays"
"""Pieces that are the replays of a series, by the numbers of its matches."""

Kind: TypeAlias = Literal["run", "ask", "series", "check"]
"""What the workshop does with a draft."""


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A line."""

    def line(self) -> bytes:
        """Return the line, with its end."""
        return msgspec.json.encode(self) + b"\n"


class Program(Message, frozen=True, tag=True):
    """A program that takes part in the next task, under the name of its bot."""

    name: str
    source: bytes
    """The zip of its files; empty if it has none."""
    built: bytes | None = None
    """The compiled program, if it was compiled before."""
    bounds: Bounds = UPLOAD
    bot: BotSpec | None = None
    """How it is run, with files named as in the zip; None if that follows from its files."""


class ReplayKeys(msgspec.Struct, frozen=True):
    """The keys under which the replay of a game may be stored."""

    own: str
    """In the format of its game."""
    viewed: str
    """In the format of the arena."""
    archive: str
    """As an archive file, from which both formats are made."""


class Match(Message, frozen=True, tag=True):
    """A game to play; it ends with `Played`."""

    spec: MatchSpec
    keys: ReplayKeys
    credits: Credits
    """The public names of the seats in replays, in the order of the specification."""
    secrets: dict[str, dict[str, str]] = {}
    run: str = ""
    """The name of the game in lines for spectators; "" if it is not shown while it is played."""
    first: int = 0
    """The slot of the match that has the first seat in this game."""
    names_apart: bool = False
    """Whether its replay may leave out names of players, which are kept elsewhere."""
    wants_outcome: bool = False
    """Whether somebody waits for the whole result."""


class Secrets(Message, frozen=True, tag=True):
    """Secrets that have changed while their match is played."""

    secrets: dict[str, dict[str, str]]


class Check(Message, frozen=True, tag=True):
    """A bot to check step by step; it ends with `Answers`, one of them."""

    game: str
    bot: BotSpec
    isolation: Isolation
    options: dict[str, Json] = {}


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A web service to ask."""

    game: str
    bot: BotSpec
    secrets: dict[str, str]
    isolation: Isolation
    owner: str = ""
    """Few bots of one owner are asked at the same time."""
    health_alone: bool = False
    """Whether it is asked for its health alone, and not whether it speaks the protocol."""


class Ask(Message, frozen=True, tag=True):
    """Web services to ask, all at once; `Answered` reports each, `Done` the end."""

    questions: tuple[Question, ...]


class Ready(Message, frozen=True, tag=True):
    """Web services to ask whether they are ready, all at once; it ends with `Readinesses`."""

    game: str
    bots: tuple[BotSpec, ...]
    secrets: dict[str, dict[str, str]]
    isolation: Isolation


class Draft(Message, frozen=True, tag=True):
    """A task of the workshop; `News` reports on it, `Done` its end.

    The draft is the program named `DRAFT`, a version that is its opponent another one.
    """

    kind: Kind
    game: str
    isolation: Isolation
    request: dict[str, Any]
    seconds: float
    """The longest that it may take."""
    built: bytes | None = None
    """The compiled draft, if it was compiled before."""
    replay: bytes | None = None
    """The replay whose position begins a run."""
    asked: tuple[bytes, ...] = ()
    """The pieces of the run about which a bot is asked."""
    player: str = ""
    """Who the bot was in it."""
    report: Json = None
    """The last report of a series that gave way."""


class Measure(Message, frozen=True, tag=True):
    """What limits programs where players run, to be measured; it ends with `Measured`."""

    private: tuple[str, ...]
    """Folders that no program may read."""


Task: TypeAlias = Match | Check | Ask | Ready | Draft | Measure
ToPlayer: TypeAlias = Program | Secrets | Match | Check | Ask | Ready | Draft | Measure

DRAFT: Final = "draft"
"""The name of the program that a task of the workshop is about."""


class Alive(Message, frozen=True, tag=True):
    """Nothing is new."""


class Turn(Message, frozen=True, tag=True):
    """How many turns of a game have been played."""

    number: int


class Live(Message, frozen=True, tag=True):
    """A compressed line for spectators of a game (see `live_file`)."""

    data: bytes
    is_head: bool = False


class Built(Message, frozen=True, tag=True):
    """A program that was compiled."""

    name: str
    data: bytes
    warnings: str
    """What the compiler wrote; "" for nothing."""


class SlotResult(msgspec.Struct, frozen=True):
    """The result of a slot of a match."""

    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]] = ()
    stats: Mapping[str, Any] = {}

    @property
    def crashed(self) -> bool:
        """Whether the bot was given up in the match; a single failure does not count."""
        return any(fault["kind"] == "crashed" for fault in self.faults)

    @property
    def is_unreachable(self) -> bool:
        """Whether the bot did not answer, or not in time."""
        return any(fault["kind"] in UNREACHABLE for fault in self.faults)


class StoredReplay(msgspec.Struct, frozen=True):
    """The objects that the replay of a game is stored as."""

    key: str
    """Of the first."""
    objects: tuple[tuple[str, bytes], ...]

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(len(data) for _, data in self.objects)


class Played(Message, frozen=True, tag=True):
    """How a game ended."""

    reason: str
    turns: int
    slots: tuple[SlotResult, ...]
    replay: StoredReplay
    outcome: bytes = b""
    """The whole result, compressed, if it was wanted."""


class Answered(Message, frozen=True, tag=True):
    """The steps of a bot that was asked."""

    number: int
    """Of its question, from 0."""
    steps: tuple[dict[str, Any], ...] | None
    """None if the bot could not be asked, for a reason that is not its own."""
    trouble: str = ""
    """That reason."""


class Answers(Message, frozen=True, tag=True):
    """The steps of a check."""

    steps: tuple[dict[str, Any], ...]


class Readinesses(Message, frozen=True, tag=True):
    """What bots say, in their order."""

    bots: tuple[Readiness, ...]


class Measured(Message, frozen=True, tag=True):
    """What limits programs."""

    problem: str
    """Why they cannot be isolated at all; "" if they can."""
    limits: tuple[Measurement, ...] = ()


class Piece(msgspec.Struct, frozen=True):
    """A piece of the results of a task: of a kind, from the number `first` to `last`."""

    kind: str
    first: int
    last: int
    data: bytes
    """Compressed."""


class News(Message, frozen=True, tag=True):
    """The state of a task of the workshop, and the new pieces of its results."""

    report: Json
    """Replaces the one before."""
    pieces: tuple[Piece, ...] = ()


class Done(Message, frozen=True, tag=True):
    """The end of a task whose results were reported before."""

    cause: str = ""
    """Why it ended early, for people; "" if it did not."""
    news: News | None = None
    """The last state of a task of the workshop."""


class Failed(Message, frozen=True, tag=True):
    """The end of a task that could not be done."""

    kind: Literal["usage", "capacity", "failure", "defect"]
    """Whose fault it is; a `defect` is an error that nobody expected."""
    message: str
    trace: str = ""
    """Of a defect, for the log."""


FromPlayer: TypeAlias = (
    Alive
    | Turn
    | Live
    | Built
    | Played
    | Answered
    | Answers
    | Readinesses
    | Measured
    | News
    | Done
    | Failed
)

LAST: Final = (Played, Answers, Readinesses, Measured, Done, Failed)
"""The messages that end a task."""
