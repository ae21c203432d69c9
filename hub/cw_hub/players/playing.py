"""Plays a game of a match, and returns its result as the hub stores it."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

import msgspec

from cw.arena.bots import BotSpec
from cw.arena.referee import readable
from cw.matches.processes.workers import MatchFailure
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec, Secrets
from cw_hub.players.messages import OUTPUTS, Match, Played, SlotResult
from cw_hub.players.outbox import Outbox
from cw_hub.players.programs import Room
from cw_hub.players.replays import stored_replay
from cw_hub.players.spectating import Spectating

ANSWERS: Final = 3
"""Number of a bot's first faults in a game that keep the answer."""

OUTPUT: Final = 2048
"""Last characters kept of a program's standard error."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of a game, or why it cannot be played, for those who want all of it."""

    result: MatchResult | None = None
    error: MatchFailure | None = None

    def packed(self) -> bytes:
        """Return it as stored."""
        return gzip.compress(msgspec.json.encode(self), mtime=0)


def play(match: Match, room: Room, secrets: Secrets, outbox: Outbox) -> Played:
    """Play a game to its end; `secrets` may change meanwhile."""
    spec = with_programs(match.spec, room)
    with outbox.beating(False):
        result = asyncio.run(watched(match, spec, secrets, outbox))
    outcome = Outcome(result).packed() if match.wants_outcome else b""
    slots = slots_of(result, match.first)
    return Played(result.reason, result.turns, slots, stored_replay(result.replay, match), outcome)


async def watched(match: Match, spec: MatchSpec, secrets: Secrets, outbox: Outbox) -> MatchResult:
    """Play a game, and report on it meanwhile."""
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

    Only the first ones include the faulty answer: some bots make thousands.
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
    """Return a bot's response times, the figures of its game, and the output of its program."""
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
