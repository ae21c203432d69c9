"""The broadcast of a match in progress: its lines go from a worker to all page servers."""

from __future__ import annotations

import logging
import zlib
from typing import Final, NamedTuple

import msgspec

from cw import documents
from cw.matches.processes.live_file import MatchSoFar, match_of
from cw_hub.operation.passing_lines import LinesAway, PassingLines
from cw_hub.players.messages import Live
from cw_hub.players.reading import SHOWN, SHOWN_UNPACKED, Room

OF_A_TURN: Final = 100
"""Bytes of memory for a turn besides its text."""

logger = logging.getLogger(__name__)


class Broadcast:
    """Broadcasts the lines of one game; if that fails, the game goes on."""

    def __init__(self, lines: PassingLines, match_id: str) -> None:
        """Prepare a broadcast; nothing is sent yet."""
        self._lines = lines
        self._match_id = match_id
        self._passed: list[bytes] = []
        self._is_whole = True
        """Whether all lines so far have arrived."""

    def take(self, line: Live) -> None:
        """Send a line; after a loss, send all lines again."""
        self._passed = [line.data] if line.is_head else [*self._passed, line.data]
        try:
            if self._is_whole and not line.is_head:
                self._is_whole = self._add(line.data)
            else:
                self._is_whole = False
            if not self._is_whole:
                self._begin_again()
        except LinesAway as error:
            self._is_whole = False
            logger.warning("%s is not shown while it is played: %s", self._match_id, error)

    def _add(self, line: bytes) -> bool:
        return self._lines.add(self._match_id, line) == len(self._passed)

    def _begin_again(self) -> None:
        head, *others = self._passed
        self._lines.replace(self._match_id, head)
        for line in others:
            self._lines.add(self._match_id, line)
        self._is_whole = True


class RunningMatch(NamedTuple):
    """A game of a match as far as it is known."""

    run: str
    """Identifies the attempt and the game of the match."""
    match: MatchSoFar
    size: int
    """Approximate size in bytes."""


def so_far(lines: PassingLines, match_id: str) -> RunningMatch | None:
    """Return a match as far as it is known, or None if not at all; raise LinesAway.

    Also None if the lines cannot come from a player.
    """
    packed, room = lines.read(match_id), Room(SHOWN, SHOWN_UNPACKED)
    if not all(room.fits(line) for line in packed):
        return None
    whole = [zlib.decompressobj().decompress(line, SHOWN_UNPACKED) for line in packed]
    match = match_of(whole)
    if match is None:
        return None
    try:
        run = documents.decode(bytes(match.head["run"]), str)
    except (KeyError, msgspec.MsgspecError):
        return None
    return RunningMatch(run, match, sum(map(len, whole)) + OF_A_TURN * len(match.turns))
