"""Plays a game of a match, reports it to spectators, and returns the result for the hub."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Final

import msgspec

from cw.arena.bots import BotSpec
from cw.arena.referee import readable
from cw.games.registry import game_entry, games_with_hidden_information, load_exporter, load_game
from cw.matches.live_file import LiveDocument, LiveLines
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec, Secrets
from cw.matches.workers import MatchFailure
from cw.replays.archive import archive_file
from cw.replays.document import (
    Document,
    encode,
    frame_tells,
    numbered_replay,
    parse,
    public_fault,
    public_replay,
    public_turn,
    states,
)
from cw_hub.players.messages import (
    OUTPUTS,
    Alive,
    Live,
    Match,
    Outbox,
    Played,
    SlotResult,
    StoredReplay,
    Turn,
)
from cw_hub.players.programs import Room
from cw_hub.players.reading import SHOWN, SHOWN_UNPACKED
from cw_hub.players.reading import Room as ReadingRoom


def stored_replay(document: Document, match: Match) -> StoredReplay:
    """Return the objects to store for a game's replay; bots have their public names.

    If player names are stored separately, players that the game knows by number appear only by
    number. In the game's own format, the match has its own name.
    """
    keys = match.keys
    if match.names_apart and match.spec.players:
        document = numbered_replay(document)
    public = public_replay(document, [credit.bot_id for credit in match.credits.players])
    game = public["game"]
    short = archive_file(parse(encode(public, packed=False)), match.credits)
    if short is not None:
        return StoredReplay(keys.archive, ((keys.archive, short),))
    objects = [(keys.viewed, encode(public, packed=True))]
    if game_entry(game).exporter is not None:
        played = list(states(load_game(game), public))
        own = load_exporter(game)(public, played, match.credits)
        objects.insert(0, (keys.own, gzip.compress(own, mtime=0)))
    return StoredReplay(keys.own, tuple(objects))


EVERY: Final = 1.0
"""Seconds between two lines for spectators."""


class PrivateFrame(Exception):
    """The next frame is for a bot's owner only, so the game is not shown any further."""


def is_shown(game: str) -> bool:
    """Return whether matches of a game are shown live.

    If players must not see everything, spectators could pass it on to them: such a match is shown
    later.
    """
    return game not in games_with_hidden_information()


class Spectating:
    """Reports a game in progress: the number of its turns, and lines for spectators."""

    def __init__(self, match: Match, report: Callable[[Turn | Live | Alive], object]) -> None:
        """Start with nothing reported."""
        self._match = match
        self._report = report
        self._lines = LiveLines(self.public)
        self._progress: MatchProgress | None = None
        self._turns = -1
        """Turns reported so far; -1 before the start has been reported."""
        self._room = ReadingRoom(SHOWN, SHOWN_UNPACKED)
        self._is_shown = bool(match.run)

    def watch(self, progress: MatchProgress) -> None:
        """Record the start, or a turn."""
        self._progress = progress

    async def report(self) -> None:
        """Report changes repeatedly, until cancelled."""
        # Runs on the referee's event loop, so that a player whose loop hangs falls silent and is
        # noticed.
        while True:
            await asyncio.sleep(EVERY)
            await self.report_once()

    async def report_once(self) -> None:
        """Report what has changed."""
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
        """Return a head without URLs, and without the source of future random numbers."""
        pairs = zip(head["players"], self._match.credits.players, strict=True)
        players = [{**player, "bot": credit.bot_id} for player, credit in pairs]
        replaced = {"players": players, "seed": 0, "start": None, "hash": ""}
        return head | replaced | {"run": self._match.run}


ANSWERS: Final = 3
"""Number of a bot's first faults in a game that include its reply."""

OUTPUT: Final = 2048
"""Number of last characters retained of a program's standard error."""


class Outcome(msgspec.Struct, frozen=True):
    """A game's result, or why it cannot be played, for callers that need all of it."""

    result: MatchResult | None = None
    error: MatchFailure | None = None

    def packed(self) -> bytes:
        """Return the outcome in its stored form."""
        return gzip.compress(msgspec.json.encode(self), mtime=0)


def play(match: Match, room: Room, secrets: Secrets, outbox: Outbox) -> Played:
    """Play a game to its end; `secrets` may change in the meantime."""
    spec = with_programs(match.spec, room)
    with outbox.beating(False):
        result = asyncio.run(watched(match, spec, secrets, outbox))
    outcome = Outcome(result).packed() if match.wants_outcome else b""
    slots = slots_of(result, match.first)
    return Played(result.reason, result.turns, slots, stored_replay(result.replay, match), outcome)


async def watched(match: Match, spec: MatchSpec, secrets: Secrets, outbox: Outbox) -> MatchResult:
    """Play a game, and report on it concurrently."""
    spectating = Spectating(match, outbox.put)
    reporting = asyncio.create_task(spectating.report())
    try:
        return await run_match(spec, on_turn=spectating.watch, secrets=secrets)
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)


def with_programs(spec: MatchSpec, room: Room) -> MatchSpec:
    """Return the specification with the received programs in their seats."""
    programs: Mapping[str, BotSpec] = room.bots(spec.game)
    return msgspec.structs.replace(
        spec, bots=tuple(programs.get(bot.name, bot) for bot in spec.bots)
    )


def slots_of(result: MatchResult, first: int = 0) -> tuple[SlotResult, ...]:
    """Return the result of every slot of the match; `first` had the first seat in this game."""
    number = len(result.ranks)
    return tuple(
        SlotResult(
            result.ranks[seat], result.scores[seat], faults_of(result, seat), stats_of(result, seat)
        )
        for seat in ((slot - first) % number for slot in range(number))
    )


def faults_of(result: MatchResult, slot: int) -> list[dict[str, Any]]:
    """Return the faults of a bot, with further details from its game.

    Only the first ones include the faulty reply, because some bots make thousands.
    """
    return [
        fault.to_json()
        | {
            name: text
            for name, text in (
                ("expected", fault.expected),
                ("actual", fault.actual),
                ("answer", fault.answer if number < ANSWERS else ""),
            )
            if text
        }
        for number, fault in enumerate(result.faults_of(slot))
    ]


def stats_of(result: MatchResult, slot: int) -> dict[str, Any]:
    """Return a bot's response times, its game's statistics, and its program's output."""
    figures = result.figures[slot] if result.figures else {}
    output = readable(result.stderr[slot].encode(errors="replace"))[-OUTPUT:]
    return {**latencies(result.seconds[slot]), **figures, **({OUTPUTS: [output]} if output else {})}


def latencies(seconds: tuple[float, ...]) -> Mapping[str, float]:
    """Return a bot's response times in milliseconds."""
    if not seconds:
        return {"answers": 0}
    return {
        "answers": len(seconds),
        "median_ms": round(median(seconds) * 1000, 3),
        "most_ms": round(max(seconds) * 1000, 3),
    }
