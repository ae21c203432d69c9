"""What the list of replays shows of a file, whatever the file contains."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from cw import documents
from cw.drawing.palette import letter_of
from cw.errors import ProtocolError
from cw.games.endings import Endings
from cw.games.registry import game_entries, load_endings
from cw.games.rules import Json, Player
from cw.replays.document import VERSION, unpacked
from cw.replays.ending import Ending, ending_of

T = TypeVar("T")

LARGEST_LISTED: Final = 64 * 1024 * 1024
"""Most bytes, unpacked, of a replay read for the list."""

LARGEST_MEMBER: Final = 1024 * 1024
"""Most bytes of its players, and of its result."""

MOST_OBJECTS: Final = 5_000_000
"""Most objects in it: each may be a turn."""

MOST_PLAYERS: Final = 1000
MOST_ROWS: Final = 4
"""Most players of a replay that the list names."""

LONGEST: Final = 64
"""Most characters of a name."""


class ListedPlayer(msgspec.Struct, frozen=True):
    """The part of a player that the list shows."""

    player: Player
    name: str


class ListedTurn(msgspec.Struct, frozen=True, gc=False):
    """A turn, which the list only counts."""


class ReplayHead(msgspec.Struct, frozen=True):
    """The members of a replay that the list shows; large ones are not parsed."""

    version: int
    date: str
    game: str
    players: msgspec.Raw
    turns: tuple[ListedTurn, ...]
    result: msgspec.Raw


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player's row in the list."""

    seat: int
    letter: str
    name: str
    score: str
    """"" if the replay has none."""
    won: bool


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """What the list shows of a replay."""

    game: str
    date: str
    turns: int
    ending: Ending

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the bots in seat order."""
        return self.ending.names

    @property
    def rows(self) -> list[PlayerRow]:
        """Return the players, winner first, then by descending score; MOST_ROWS at most."""
        return [self._row(seat) for seat in sorted(range(len(self.names)), key=self._order)][
            :MOST_ROWS
        ]

    def _order(self, seat: int) -> tuple[bool, float, int]:
        score = self.ending.scores[seat]
        return seat != self.ending.winner, inf if score is None else -score, seat

    def _row(self, seat: int) -> PlayerRow:
        score = self.ending.scores[seat]
        return PlayerRow(
            seat=seat,
            letter=letter_of(seat),
            name=self.names[seat],
            score="" if score is None else f"{score:g}",
            won=seat == self.ending.winner,
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is not a replay."""

    reason: str


def read_summary(path: Path) -> ReplaySummary | Unreadable:
    """Read the summary of a file."""
    try:
        return summary_of(path.read_bytes())
    except OSError as error:
        return Unreadable(f"it cannot be read: {error.strerror}")
    except ProtocolError as error:
        return Unreadable(str(error))


def summary_of(data: bytes) -> ReplaySummary:
    """Return what the list shows of a replay; raise ProtocolError if the file is not one."""
    plain = unpacked(data, LARGEST_LISTED)
    if plain.count(b"{") > MOST_OBJECTS:
        raise ProtocolError(f"it has more than {MOST_OBJECTS} objects")
    head = decoded(plain, ReplayHead)
    if head.version != VERSION:
        raise ProtocolError(f"it is replay version {head.version}, expected {VERSION}")
    players = decoded(small(head.players), tuple[ListedPlayer, ...])
    if not 1 <= len(players) <= MOST_PLAYERS:
        raise ProtocolError(f"it must have 1 to {MOST_PLAYERS} players, not {len(players)}")
    seats = [(player.player, player.name[:LONGEST]) for player in players]
    result: Json = decoded(small(head.result), dict)
    game = head.game[:LONGEST]
    words = load_endings(game) if game in game_entries() else Endings()
    ending = ending_of(seats, result, words)
    return ReplaySummary(game, head.date[:LONGEST], len(head.turns), ending)


def small(member: msgspec.Raw) -> bytes:
    """Return the raw JSON of a member; raise ProtocolError if it is too large."""
    data = bytes(member)
    if len(data) > LARGEST_MEMBER:
        raise ProtocolError(f"one of its members has more than {LARGEST_MEMBER} bytes")
    return data


def decoded(data: bytes, kind: type[T]) -> T:
    """Decode JSON as a type; raise ProtocolError if invalid."""
    try:
        return documents.decode(data, kind)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"it is not a replay: {error}") from None
