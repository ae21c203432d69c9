"""The tasks of a workshop that its page starts, on this machine or on a hub."""

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
    """The match that a page asks for."""

    opponent: str
    seat: int = 1
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None
    """None for a new one."""
    replay: Annotated[str, Meta(pattern=rf"\A({NAME.pattern})?\Z")] = ""
    """The name of the replay with whose position the match begins; "" for a new game."""
    turn: Turn = 0
    """How many turns of the replay are kept as played."""


class Desk(Protocol):
    """A run, a repeated query, a series and a check of one bot.

    Each replaces the one before it. Results are JSON for the page. Methods that begin something
    raise UsageError if it cannot be done.
    """

    def begin_run(self, wanted: WantedRun) -> Json:
        """Begin a match; return its address and its seed. Abort with 404 for an unknown replay."""

    def run(self) -> Json | None:
        """Return the state of the run, or None before the first one."""

    def turn(self, number: int) -> Json | None:
        """Return what the bot was asked in a turn of the run, or None before the first run."""

    def end_run(self) -> None:
        """End the run; its processes have stopped on return, or stop within a second."""

    def begin_ask(self, turn: int) -> None:
        """Ask the bot as it is now about a turn of the run, after all turns before it."""

    def answer(self) -> Json:
        """Return the result of the repeated query."""

    def begin_series(self, opponent: str, number: int) -> None:
        """Begin a series of `number` matches, with seats swapped."""

    def series(self) -> Json:
        """Return the state of the series."""

    def series_match(self, number: int) -> bytes | None:
        """Return the gzipped replay of a match of the series, or None."""

    def end_series(self) -> None:
        """End the series; its matches so far stay available."""

    def begin_check(self) -> None:
        """Begin a check."""

    def check(self) -> Json:
        """Return the state of the check."""

    def end_check(self) -> None:
        """End the check."""


FindDesk: TypeAlias = Callable[[str], Desk]
"""Returns the current user's desk for a game; aborts with 404 if there is none."""
