"""A match that is told while a worker plays it, and read by the processes that answer pages."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from cw import documents
from cw.games.registry import games_with_hidden_information
from cw.hub.matches.claims import Claim
from cw.hub.operation.passing_lines import LinesAway, PassingLines
from cw.matches.processes.live_file import LiveDocument, LiveLines, live_document
from cw.matches.progress import MatchProgress
from cw.replays.public import frame_tells, public_fault, public_turn

EVERY: Final = 1.0
"""Seconds between two lines."""

LARGEST: Final = 2 * 1024 * 1024
"""Packed bytes up to which a match is told; the rest is seen when it is over."""

MOST_READ: Final = 32 * 1024 * 1024
"""Bytes of a line when it is unpacked."""


class PrivateFrame(Exception):
    """What comes now is for the owner of a bot alone: the match is told no further."""


logger = logging.getLogger(__name__)


def is_broadcast(game: str) -> bool:
    """Return whether matches of a game are seen while they are played.

    Where players must not see all, whoever watches could tell them: such a match is seen later.
    """
    return game not in games_with_hidden_information()


@dataclass(slots=True)
class Broadcast:
    """Tells one game of a match, line by line; where that fails, the match goes on."""

    lines: PassingLines
    claim: Claim
    writer: LiveLines = field(init=False)
    progress: MatchProgress | None = None
    count: int = 0
    """Lines that were told."""
    size: int = 0
    """Their bytes."""
    turns: int = -1
    """How many were told; -1: not even the start."""

    def __post_init__(self) -> None:
        """Begin before the start of the game."""
        self.writer = LiveLines(self.public)

    def watch(self, progress: MatchProgress) -> None:
        """Take in the start, or a turn."""
        self.progress = progress

    async def tell(self) -> None:
        """Tell what is new again and again, until there is too much of it."""
        while self.size <= LARGEST:
            await asyncio.sleep(EVERY)
            try:
                await self.tell_once()
            except PrivateFrame:
                return
            except LinesAway as error:
                # All is told anew, as nobody knows what was lost.
                self.turns = -1
                logger.warning("%s is not shown while it is played: %s", self.claim.match_id, error)

    async def tell_once(self) -> None:
        """Tell what is new; raises LinesAway."""
        progress = self.progress
        if progress is None or progress.turns == self.turns:
            return
        if self.turns < 0:
            await self.begin(progress)
        turns, line = progress.turns, self.packed(self.writer.news(progress))
        if await asyncio.to_thread(self.lines.add, self.claim.match_id, line) != self.count:
            # Redis has begun afresh meanwhile.
            self.turns = -1
        else:
            self.turns = turns

    async def begin(self, progress: MatchProgress) -> None:
        """Tell the head."""
        self.count = self.size = 0
        head = self.packed(self.writer.head(progress))
        await asyncio.to_thread(self.lines.replace, self.claim.match_id, head)

    def packed(self, line: bytes) -> bytes:
        """Return a line as it is passed on, and count it; one that is too large tells no more."""
        data = zlib.compress(line, 1)
        self.count, self.size = self.count + 1, self.size + len(data)
        return data

    def public(self, part: LiveDocument) -> LiveDocument:
        """Return what everybody may know of a head or a line before the end; raise PrivateFrame."""
        if any(map(frame_tells, part["turns"])):
            raise PrivateFrame
        turns = [public_turn(turn) for turn in part["turns"]]
        faults = [public_fault(fault) for fault in part["faults"]]
        part = part | {"turns": turns, "faults": faults}
        return self.public_head(part) if "players" in part else part

    def public_head(self, head: LiveDocument) -> LiveDocument:
        """Return a head without addresses, and without what future draws follow from."""
        pairs = zip(head["players"], self.claim.seats, strict=True)
        players = [{**player, "bot": seat.public} for player, seat in pairs]
        run = f"{self.claim.attempt}.{self.claim.number}"
        replaced = {"players": players, "seed": 0, "start": None, "hash": ""}
        return head | replaced | {"run": run}


@asynccontextmanager
async def broadcast(lines: PassingLines, claim: Claim) -> AsyncIterator[Broadcast]:
    """Give what tells a game of a match while the block runs; afterwards it is told no more."""
    stream = Broadcast(lines, claim)
    task = asyncio.create_task(stream.tell()) if is_broadcast(claim.game) else None
    try:
        yield stream
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class RunningMatch(NamedTuple):
    """A game of a match as far as it is told."""

    lines: Sequence[bytes]
    """Unpacked: the head, and what came after it."""

    @property
    def run(self) -> str:
        """Which attempt and which game of the match it is."""
        return documents.decode(self.lines[0], RunOf).run

    def since(self, after: int | None) -> LiveDocument:
        """Return what came after so many turns, with None the match from its start."""
        return live_document(self.lines, after) or {}


class RunOf(msgspec.Struct, frozen=True):
    """What a head says of the game that it is of."""

    run: str


def so_far(lines: PassingLines, match_id: str) -> RunningMatch | None:
    """Return a match as far as it is told, None while it is not; raise LinesAway."""
    packed = lines.read(match_id)
    return RunningMatch([unpacked(line) for line in packed]) if packed else None


def unpacked(line: bytes) -> bytes:
    """Return a line as it was before it was packed, up to MOST_READ bytes of it."""
    return zlib.decompressobj().decompress(line, MOST_READ)
