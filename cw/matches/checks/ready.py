"""Asks the bots of a game, all at once, whether they are ready to play."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack

from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy
from cw.arena.referee import MatchRecord, MatchReferee
from cw.arena.sandbox import Sandbox
from cw.arena.seats import Seat
from cw.arena.seats.opening import open_seat
from cw.errors import UsageError
from cw.games.checks import Readiness, ReadyChecks
from cw.games.registry import load_checks, load_game, load_protocol
from cw.games.rules import Player
from cw.matches.run import context_of, seated
from cw.matches.spec import Isolation, MatchSpec, Secrets


async def ask_ready(
    game: str, bots: Sequence[BotSpec], secrets: Secrets, isolation: Isolation
) -> list[Readiness]:
    """Return the readiness of some web services, in their order, and close all connections.

    Raises UsageError if bots of the game are not asked.
    """
    checks = load_checks(game)
    if not isinstance(checks, ReadyChecks):
        raise UsageError(f"{game} does not ask bots whether they are ready")
    spec = MatchSpec("ready", game, tuple(bots), seed=0, isolation=isolation)
    record = MatchRecord(load_game(game), seated(spec, load_protocol(game), secrets), 0, {})
    policy = LaunchPolicy(Sandbox(isolation.sandbox))
    context = context_of(spec, load_protocol(game), record, policy)
    seats: dict[Player, Seat] = {}
    async with AsyncExitStack() as stack:
        for player, bot in record.bots.items():
            seats[player] = await open_seat(bot, player, context)
            stack.push_async_callback(seats[player].close)
        readiness = await checks.ready(MatchReferee(record, seats, {}))
    return [readiness[player] for player in record.bots]
