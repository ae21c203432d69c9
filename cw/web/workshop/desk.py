"""The tasks of a workshop that its page asks for, on this machine or on a hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Protocol, TypeAlias

import msgspec
from msgspec import Meta

from cw.games.rules import Json
from cw.web.replays.replay_store import NAME

MOST_SEED: Final = 2**31 - 1

Turn = Annotated[int, Meta(ge=0, le=1_000_000)]


class WantedRun(msgspec.Struct, frozen=True):
    """Which match a page asks for."""

    opponent: str
    seat: int = 1
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None
    """None for a new one."""
    replay: Annotated[str, Meta(pattern=rf"\A({NAME.pattern})?\Z")] = ""
    """The name of the replay with whose position it begins; "" for a new game."""
    turn: Turn = 0
    """How many turns of that stay as they were played."""


class Desk(Protocol):
    """A run, a question that is asked again, a series and a check of one bot.

    Each begins in the place of the one before. What is told of them is JSON for the page. Those
    that begin something raise UsageError for what cannot be done.
    """

    def begin_run(self, wanted: WantedRun) -> Json:
        """Begin a match; return its address and its seed. Answer 404 for an unknown replay."""

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
