"""The lines of a game for spectators, without what must stay secret until its end."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from typing import Final

from cw.games.registry import games_with_hidden_information
from cw.matches.processes.live_file import LiveDocument, LiveLines
from cw.matches.progress import MatchProgress
from cw.replays.public import frame_tells, public_fault, public_turn
from cw_hub.players.messages import Alive, Live, Match, Turn
from cw_hub.players.reading import SHOWN, SHOWN_UNPACKED, Room

EVERY: Final = 1.0
"""Seconds between two lines."""


class PrivateFrame(Exception):
    """The next frame is for the owner of a bot alone: the game is not shown any further."""


def is_shown(game: str) -> bool:
    """Return whether matches of a game are shown live.

    If players must not see everything, spectators could tell them: such a match is shown later.
    """
    return game not in games_with_hidden_information()


class Spectating:
    """Reports a game in progress: the number of its turns, and lines for spectators."""

    def __init__(self, match: Match, report: Callable[[Turn | Live | Alive], object]) -> None:
        """Start before the beginning of the game."""
        self._match = match
        self._report = report
        self._lines = LiveLines(self.public)
        self._progress: MatchProgress | None = None
        self._turns = -1
        """Turns reported so far; -1 if not even the start was."""
        self._room = Room(SHOWN, SHOWN_UNPACKED)
        self._is_shown = bool(match.run)

    def watch(self, progress: MatchProgress) -> None:
        """Record the start, or a turn."""
        self._progress = progress

    async def report(self) -> None:
        """Report what is new repeatedly, until cancelled."""
        # Runs on the referee's event loop: a player whose loop hangs falls silent, and is noticed.
        while True:
            await asyncio.sleep(EVERY)
            await self.report_once()

    async def report_once(self) -> None:
        """Report what is new."""
        progress = self._progress
        if progress is None or progress.turns == self._turns:
            self._report(Alive())
            return
        is_first, self._turns = self._turns < 0, progress.turns
        self._report(Turn(progress.turns))
        try:
            if is_first:
                await self._show(self._lines.head(progress), is_head=True)
            await self._show(self._lines.news(progress))
        except PrivateFrame:
            self._is_shown = False

    async def _show(self, line: bytes, *, is_head: bool = False) -> None:
        if not self._is_shown:
            return
        data = await asyncio.to_thread(zlib.compress, line, 1)
        self._is_shown = self._room.fits(data)
        if self._is_shown:
            self._report(Live(data, is_head))

    def public(self, part: LiveDocument) -> LiveDocument:
        """Return the public part of a head or a line before the end; raise PrivateFrame."""
        if any(map(frame_tells, part["turns"])):
            raise PrivateFrame
        turns = [public_turn(turn) for turn in part["turns"]]
        faults = [public_fault(fault) for fault in part["faults"]]
        part = part | {"turns": turns, "faults": faults}
        return self.public_head(part) if "players" in part else part

    def public_head(self, head: LiveDocument) -> LiveDocument:
        """Return a head without addresses, and without the source of future draws."""
        pairs = zip(head["players"], self._match.credits.players, strict=True)
        players = [{**player, "bot": credit.bot_id} for player, credit in pairs]
        replaced = {"players": players, "seed": 0, "start": None, "hash": ""}
        return head | replaced | {"run": self._match.run}
