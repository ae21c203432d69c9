"""What a championship stores of a finished match: one line of its journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median_high
from typing import Annotated, Final, Protocol, TypeVar

import msgspec
from msgspec import Meta

from cw import documents
from cw.errors import ProtocolError
from cw.games.endings import FORFEITS, Forfeit, nothing_for_losers
from cw.games.rules import Json
from cw.league.fixtures import Fixture, Result
from cw.matches.spec import MatchResult

STDERR_LENGTH: Final = 4000
"""Maximum characters stored of a program's standard error output: the last ones."""

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Number = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]

Line = TypeVar("Line")


class EntryFault(msgspec.Struct, frozen=True):
    """A fault of a bot."""

    seat: Count
    """The bot's seat number, from 0."""
    turn: Count
    """The number of turns played before it."""
    kind: str
    detail: str


class Entry(msgspec.Struct, frozen=True):
    """A finished match; all tuples except the faults are in seat order."""

    stage: Name
    group: Name | None
    round: Number
    players: tuple[Name, ...]
    tie_break: Count
    ranks: tuple[Number, ...]
    scores: tuple[int | float, ...]
    """The scores given by the game."""
    reason: str
    """The game's name for how the match ended."""
    seed: Count = 0
    turns: Count = 0
    faults: tuple[EntryFault, ...] = ()
    longest_ms: tuple[Count, ...] = ()
    median_ms: tuple[Count, ...] = ()
    stderr: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if the tuples do not fit the players."""
        seats = len(self.players)
        if seats < 2 or len(set(self.players)) < seats:
            raise ValueError("a match needs two players or more, each named once")
        if {len(self.ranks), len(self.scores)} != {seats}:
            raise ValueError(f"{seats} players need as many ranks and scores")
        if any(fault.seat >= seats for fault in self.faults):
            raise ValueError(f"the seat of a fault must be below {seats}")

    @property
    def fixture(self) -> Fixture:
        """The fixture that was played."""
        return Fixture(self.stage, self.group, self.round, self.players, self.tie_break)

    @property
    def winner(self) -> str | None:
        """The only team with the first rank, or None after a draw."""
        return Result(self.players, self.ranks, self.scores).winner


class LineFormat(Protocol):
    """How a game's entries are written to the journal, and how their results count."""

    def write(self, entry: Entry) -> dict[str, Json]:
        """Return an entry as a journal line."""

    def read(self, text: bytes) -> Entry:
        """Read a line; raise ProtocolError if invalid."""

    def result(self, entry: Entry) -> Result:
        """Return the match result as the contest counts it."""

    def forfeits(self, entry: Entry) -> tuple[str | None, ...]:
        """Return, by seat, the kind of fault that a report marks, or None."""


@dataclass(frozen=True, slots=True)
class MatchLines:
    """Journal lines of all games except Circuit Wars, with the fields of an entry as members."""

    forfeit: Forfeit = nothing_for_losers
    """Computes the scores of a forfeited match."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """Options of the game."""

    def write(self, entry: Entry) -> dict[str, Json]:
        """Return an entry as a journal line."""
        line: dict[str, Json] = msgspec.to_builtins(entry)
        return line

    def read(self, text: bytes) -> Entry:
        """Read a line; raise ProtocolError if invalid."""
        return decoded(text, Entry)

    def result(self, entry: Entry) -> Result:
        """Return the match result with the game's ranks; a forfeited match has forfeit scores."""
        losers, scores = forfeiters(entry), entry.scores
        counted = self.forfeit(scores, losers, self.options) if losers else scores
        return Result(entry.players, entry.ranks, counted, entry.reason)

    def forfeits(self, entry: Entry) -> tuple[str | None, ...]:
        """Return the kind of each player's first fault, or None."""
        kinds = {fault.seat: fault.kind for fault in reversed(entry.faults)}
        return tuple(kinds.get(seat) for seat in range(len(entry.players)))


def forfeiters(entry: Entry) -> frozenset[int]:
    """Return the seats that have forfeited a match, from 0; never the winner's.

    Either a fault that ended the match ranked them behind others, or they never started and never
    replied while another bot played.
    """
    best = min(entry.ranks)
    absent = {
        fault.seat
        for fault in entry.faults
        if fault.kind == "startup"
        and not has_answered(entry, fault.seat)
        and entry.players[fault.seat] != entry.winner
    }
    ended = {fault.seat for fault in entry.faults if entry.ranks[fault.seat] > best}
    return frozenset(
        (ended if entry.reason in FORFEITS else set())
        | (absent if len(absent) < len(entry.players) else set())
    )


def has_answered(entry: Entry, seat: int) -> bool:
    """Return whether a bot spent time on at least one reply."""
    return bool(entry.longest_ms) and entry.longest_ms[seat] > 0


def decoded(text: bytes, form: type[Line]) -> Line:
    """Decode a JSON line; raise ProtocolError if it is invalid."""
    try:
        return documents.decode(text, form)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"not a result of a game: {error}") from None


def entry_of(fixture: Fixture, seed: int, result: MatchResult) -> Entry:
    """Return the entry of a match; unranked bots are ranked behind all others."""
    last = max((rank for rank in result.ranks if rank is not None), default=0) + 1
    return Entry(
        fixture.stage,
        fixture.group,
        fixture.round,
        fixture.players,
        fixture.tie_break,
        ranks=tuple(last if rank is None else rank for rank in result.ranks),
        scores=tuple(0 if score is None else score for score in result.scores),
        reason=result.reason,
        seed=seed,
        turns=result.turns,
        faults=tuple(EntryFault(f.bot, f.turn, f.kind, f.detail) for f in result.faults),
        longest_ms=tuple(milliseconds(max(times, default=0.0)) for times in result.seconds),
        median_ms=tuple(milliseconds(median_high(times or (0.0,))) for times in result.seconds),
        stderr=tuple(text[-STDERR_LENGTH:] for text in result.stderr),
    )


def milliseconds(seconds: float) -> int:
    """Return seconds as whole milliseconds."""
    return round(seconds * 1000)
