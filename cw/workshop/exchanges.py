"""A bot's questions and answers in a match, as far as they fit into memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cw.arena.seats.heard import Exchange

LARGEST: Final = 32 * 1024 * 1024
"""Characters of questions to keep per match; later exchanges are kept without their questions."""

MOST_EXCHANGES: Final = 100_000

MOST_WRITTEN: Final = 64 * 1024
"""Characters of output shown while a match is played; afterwards its record has more."""


class Exchanges:
    """The exchanges of one match, running or finished."""

    def __init__(self) -> None:
        """Start without exchanges."""
        self._by_turn: dict[int, list[Exchange]] = {}
        self._number = 0
        self._size = 0
        self._written: list[tuple[int, str]] = []
        self._room = MOST_WRITTEN

    def add(self, exchange: Exchange) -> None:
        """Add an exchange."""
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
        """Return the exchanges of a turn, from 1; those before the first turn have 0."""
        return list(self._by_turn.get(turn, ()))
