"""What goes on with the bot of a workshop, as its page asks for it: on this machine or on a hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from cw.games.rules import Json

MOST_SEED: Final = 2**31 - 1


class Desk(Protocol):
    """A run, a question that is asked again, a series and a check of one bot.

    Each begins in the place of the one before. What is told of them is JSON for the page. Those
    that begin something raise UsageError for what cannot be done.
    """

    def begin_run(self, opponent: str, seat: int, seed: int | None) -> Json:
        """Begin a match; without a seed, with a drawn one. Return its address and its seed."""

    def run(self) -> Json | None:
        """Return how the run stands, None before the first one."""

    def turn(self, number: int) -> Json | None:
        """Return what the bot was asked in a turn of the run, None before the first run."""

    def end_run(self) -> None:
        """End the run; afterwards none of its processes runs, or will within a second."""

    def begin_ask(self, turn: int) -> None:
        """Ask the bot as it is now about a turn of the run, after all turns before it."""

    def answer(self) -> Json:
        """Return what came of the question that was asked again."""

    def begin_series(self, opponent: str, number: int) -> None:
        """Begin so many matches, seats swapped."""

    def series(self) -> Json:
        """Return how the series stands."""

    def series_match(self, number: int) -> bytes | None:
        """Return the replay of a match of the series, packed by gzip; None if there is none."""

    def end_series(self) -> None:
        """End the series; its matches so far can be looked at."""

    def begin_check(self) -> None:
        """Begin a check."""

    def check(self) -> Json:
        """Return how the check stands."""

    def end_check(self) -> None:
        """End the check."""


FindDesk: TypeAlias = Callable[[str], Desk]
"""Returns the desk of whoever asks, for a game; answers 404 where there is none."""
