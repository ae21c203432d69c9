"""The line protocol between a hub and a process that plays for it: typed JSON messages.

The hub sends the programs that take part, one per line, then one task; during a match it also sends
secrets that have changed. The player sends any number of reports, and one message that ends the
task (see `LAST`). It can then be given the next task. When its input ends, a player ends with
everything that it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, Final, Literal, TypeAlias

import msgspec

from cw.arena.bots import BotSpec
from cw.arena.sandbox.measured import Measurement
from cw.games.rules import Json
from cw.games.wire import Credits, Readiness
from cw.matches.spec import Isolation, MatchSpec
from cw_hub.players.packages import UPLOAD, Bounds

LARGEST_LINE: Final = 128 * 1024 * 1024
"""Maximum bytes of a line: a program of 64 MiB or the replay of a match, in base64."""

SILENCE: Final = 120.0
"""Seconds without a line after which a player counts as hung and is ended."""

HEARTBEAT: Final = 5.0
"""Seconds after which a player with nothing to report sends `Alive`."""

OUTPUTS: Final = "outputs"
"""The key in a bot's statistics for its program's standard error, by game."""

UNREACHABLE: Final = frozenset({"startup", "disconnected", "timeout", "crashed"})
"""The kinds of faults that mean no reply, or none in time."""

MATCH: Final = "match"
"""The kind of pieces with lines of a match (`live_file`): its head and what follows."""

TURNS: Final = "turns"
"""The kind of pieces with what the bot was asked in some turns."""

REPLAYS: Final = "replays"
"""The kind of pieces with the replays of a series, by match number."""

Kind: TypeAlias = Literal["run", "ask", "series", "check"]
"""What the workshop can do with a draft."""


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A message, sent as one line."""

    def line(self) -> bytes:
        """Return the line, including its newline."""
        return msgspec.json.encode(self) + b"\n"


class Program(Message, frozen=True, tag=True):
    """A program that takes part in the next task, under its bot's name."""

    name: str
    source: bytes
    """The zip of its files; empty if it has none."""
    built: bytes | None = None
    """The compiled program, if it was compiled before."""
    bounds: Bounds = UPLOAD
    bot: BotSpec | None = None
    """How it is run, with files named as in the zip; None to derive it from its files."""


class ReplayKeys(msgspec.Struct, frozen=True):
    """The keys under which the replay of a game may be stored."""

    own: str
    """In the format of its game."""
    viewed: str
    """In the format of the arena."""
    archive: str
    """As an archive file, from which both formats are made."""


class Match(Message, frozen=True, tag=True):
    """A game to play; ends with `Played`."""

    spec: MatchSpec
    keys: ReplayKeys
    credits: Credits
    """The public names of the seats in replays, in the order of the specification."""
    secrets: dict[str, dict[str, str]] = {}
    run: str = ""
    """Identifies the game in lines for spectators; "" if it is not shown live."""
    first: int = 0
    """The slot of the match that has the first seat in this game."""
    names_apart: bool = False
    """Whether its replay may omit player names, which are stored elsewhere."""
    wants_outcome: bool = False
    """Whether the whole result is requested."""


class Secrets(Message, frozen=True, tag=True):
    """Secrets that have changed during their match."""

    secrets: dict[str, dict[str, str]]


class Check(Message, frozen=True, tag=True):
    """A bot to check step by step; ends with a single `Answers`."""

    game: str
    bot: BotSpec
    isolation: Isolation
    options: dict[str, Json] = {}


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A web service to check."""

    game: str
    bot: BotSpec
    secrets: dict[str, str]
    isolation: Isolation
    owner: str = ""
    """Only a few bots of one owner are checked concurrently."""
    health_alone: bool = False
    """Whether to check only its health, and not whether it speaks the protocol."""


class Ask(Message, frozen=True, tag=True):
    """Web services to check concurrently; `Answered` reports each, `Done` the end."""

    questions: tuple[Question, ...]


class Ready(Message, frozen=True, tag=True):
    """Web services to ask concurrently whether they are ready; ends with `Readinesses`."""

    game: str
    bots: tuple[BotSpec, ...]
    secrets: dict[str, dict[str, str]]
    isolation: Isolation


class Draft(Message, frozen=True, tag=True):
    """A workshop task; `News` reports on it, `Done` ends it.

    The draft is the program named `DRAFT`; a version that it plays against is another program.
    """

    kind: Kind
    game: str
    isolation: Isolation
    request: dict[str, Any]
    seconds: float
    """Its maximum duration."""
    built: bytes | None = None
    """The compiled draft, if it was compiled before."""
    replay: bytes | None = None
    """The replay from whose position a run starts."""
    asked: tuple[bytes, ...] = ()
    """The pieces of the run about which a bot is asked."""
    player: str = ""
    """The bot's player in that run."""
    report: Json = None
    """The last report of a series that gave way."""


class Measure(Message, frozen=True, tag=True):
    """Measure the limits of programs where players run; ends with `Measured`."""

    private: tuple[str, ...]
    """Folders that no program may read."""


Task: TypeAlias = Match | Check | Ask | Ready | Draft | Measure
ToPlayer: TypeAlias = Program | Secrets | Match | Check | Ask | Ready | Draft | Measure

DRAFT: Final = "draft"
"""The name of the draft among the programs of a workshop task."""


class Alive(Message, frozen=True, tag=True):
    """A heartbeat without news."""


class Turn(Message, frozen=True, tag=True):
    """The number of turns of a game played so far."""

    number: int


class Live(Message, frozen=True, tag=True):
    """A compressed line for spectators of a game (see `live_file`)."""

    data: bytes
    is_head: bool = False


class Built(Message, frozen=True, tag=True):
    """A newly compiled program."""

    name: str
    data: bytes
    warnings: str
    """The compiler's messages; "" if none."""


class SlotResult(msgspec.Struct, frozen=True):
    """The result of a slot of a match."""

    rank: int | None
    score: float | None
    faults: Sequence[Mapping[str, Any]] = ()
    stats: Mapping[str, Any] = {}

    @property
    def crashed(self) -> bool:
        """Whether the bot was given up during the match; a single failure does not count."""
        return any(fault["kind"] == "crashed" for fault in self.faults)

    @property
    def is_unreachable(self) -> bool:
        """Whether the bot did not reply, or not in time."""
        return any(fault["kind"] in UNREACHABLE for fault in self.faults)


class StoredReplay(msgspec.Struct, frozen=True):
    """The objects of a game's replay in the store."""

    key: str
    """The key of the first object."""
    objects: tuple[tuple[str, bytes], ...]

    @property
    def size(self) -> int:
        """The bytes of all objects."""
        return sum(len(data) for _, data in self.objects)


class Played(Message, frozen=True, tag=True):
    """The result of a game."""

    reason: str
    turns: int
    slots: tuple[SlotResult, ...]
    replay: StoredReplay
    outcome: bytes = b""
    """The whole result, compressed, if requested."""


class Answered(Message, frozen=True, tag=True):
    """The check steps of a web service in `Ask`."""

    number: int
    """The index of the question, from 0."""
    steps: tuple[dict[str, Any], ...] | None
    """None if the bot could not be checked through no fault of its own."""
    trouble: str = ""
    """The reason in that case."""


class Answers(Message, frozen=True, tag=True):
    """The steps of a check."""

    steps: tuple[dict[str, Any], ...]


class Readinesses(Message, frozen=True, tag=True):
    """The readiness of bots, in order."""

    bots: tuple[Readiness, ...]


class Measured(Message, frozen=True, tag=True):
    """The limits of programs."""

    problem: str
    """Why they cannot be sandboxed at all, or ""."""
    limits: tuple[Measurement, ...] = ()


class Piece(msgspec.Struct, frozen=True):
    """A piece of a task's results of one kind, covering the numbers `first` to `last`."""

    kind: str
    first: int
    last: int
    data: bytes
    """Compressed data."""


class News(Message, frozen=True, tag=True):
    """The status of a workshop task, and the new pieces of its results."""

    report: Json
    """Replaces the previous report."""
    pieces: tuple[Piece, ...] = ()


class Done(Message, frozen=True, tag=True):
    """The end of a task whose results were reported before."""

    cause: str = ""
    """Why it ended early, as a message for users, or ""."""
    news: News | None = None
    """The final status of a workshop task."""


class Failed(Message, frozen=True, tag=True):
    """The end of a task that could not be completed."""

    kind: Literal["usage", "capacity", "failure", "defect"]
    """Who caused it; `defect` means an unexpected error."""
    message: str
    trace: str = ""
    """The traceback of a defect, for the log."""


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


class Outbox:
    """Writes messages in order, with heartbeats between them during a task.

    Nothing that plays a game waits for the hub to read; otherwise its bots would reply late.
    """

    def __init__(self, target: BinaryIO) -> None:
        """Start the writer thread."""
        self._target = target
        self._lines = SimpleQueue[bytes | None]()
        self._beats = False
        self._thread = Thread(target=self._write, name="output", daemon=True)
        self._thread.start()

    def put(self, message: Message) -> None:
        """Send a message."""
        self.put_line(message.line())

    def put_line(self, line: bytes) -> None:
        """Send the line of a message."""
        self._lines.put(line)

    @contextmanager
    def beating(self, beats: bool = True) -> Iterator[None]:
        """Send heartbeats during the block; none with False, if the block sends its own."""
        before, self._beats = self._beats, beats
        try:
            yield
        finally:
            self._beats = before

    def close(self) -> None:
        """Write all pending lines, and stop the thread."""
        self._lines.put(None)
        self._thread.join()

    def _write(self) -> None:
        try:
            while (line := self._next()) is not None:
                self._target.write(line)
                self._target.flush()
        except OSError:
            # The hub is gone; the end of the input signals that as well.
            return

    def _next(self) -> bytes | None:
        while True:
            try:
                return self._lines.get(timeout=HEARTBEAT)
            except Empty:
                if self._beats:
                    return Alive().line()
