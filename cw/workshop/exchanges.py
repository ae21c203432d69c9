"""What a bot was asked in a match, and what it answered: as much of it as fits into memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cw.arena.seats.heard import Exchange

LARGEST: Final = 32 * 1024 * 1024
"""Characters of the questions of a match; of later ones only what came of them is kept."""

MOST_EXCHANGES: Final = 100_000

MOST_WRITTEN: Final = 64 * 1024
"""Characters of output that are told while a match is played; afterwards its record has more."""


class Exchanges:
    """The exchanges of one match, while it is played and afterwards."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._by_turn: dict[int, list[Exchange]] = {}
        self._number = 0
        self._size = 0
        self._written: list[tuple[int, str]] = []
        self._room = MOST_WRITTEN

    def add(self, exchange: Exchange) -> None:
        """Take an exchange in."""
        if self._number >= MOST_EXCHANGES:
            return
        self._number += 1
        self._size += len(exchange.question)
        if self._size > LARGEST:
            exchange = replace(exchange, question="")
        self._write(exchange.turn, exchange.written[: self._room])
        self._by_turn.setdefault(exchange.turn, []).append(replace(exchange, written=""))

    def _write(self, turn: int, text: str) -> None:
        if not text:
            return
        self._room -= len(text)
        if self._written and self._written[-1][0] == turn:
            text = self._written.pop()[1] + text
        self._written.append((turn, text))

    def output(self) -> list[tuple[int, str]]:
        """Return what the bot has written so far, by turn, as it came with its answers."""
        return list(self._written)

    def of(self, turn: int) -> list[Exchange]:
        """Return the exchanges of a turn, from 1; of what comes before the first one, of 0."""
        return list(self._by_turn.get(turn, ()))
