"""Index of the turns in which bots wrote to standard error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from cw.arena.seats import Seat
from cw.games.rules import Player

TurnPlaces: TypeAlias = tuple[tuple[int, int], ...]
"""For each turn with output, in order: its number, and where its part of the text begins."""


class Written:
    """Tracks the length of each seat's standard error, turn by turn."""

    def __init__(self, seats: Mapping[Player, Seat]) -> None:
        """Start before the first turn."""
        self._seats: Final = seats
        self._lengths: Final = dict.fromkeys(seats, 0)
        self._begins: Final[dict[Player, list[tuple[int, int]]]] = {player: [] for player in seats}

    def note(self, turn: int) -> None:
        """Attribute new output to a turn, counted from 1; 0 is before the first."""
        for player, seat in self._seats.items():
            length = seat.stderr.length
            if length > self._lengths[player]:
                begins = self._begins[player]
                if not begins or begins[-1][0] != turn:
                    begins.append((turn, self._lengths[player]))
                self._lengths[player] = length

    def turns(self, player: Player) -> TurnPlaces:
        """Return the turns in which a player wrote, and where in the text."""
        place = self._seats[player].stderr.place
        return tuple((turn, place(begin)) for turn, begin in self._begins[player])
