"""A separate server for the clients of one match of Circuit Wars."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from flask import Flask

from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, launch
from cw.arena.referee import MatchRecord
from cw.arena.sandbox import ProgramNeeds
from cw.arena.seats import Seat
from cw.arena.transports.stdio import StdioBot
from cw.assets import PACKAGE, client_library
from cw.errors import UsageError
from cw.games.circuit_wars.protocol import time_limit
from cw.games.rules import Fault, Json, Player
from cw.server.app import create_server
from cw.server.player_proxy import Client, Door, SpectatorApp, player_proxies
from cw.server.refereed_session import AnnouncedSeat, ClientSeat, RefereedSession
from cw.server.session import GITHUB
from cw.server.settings import ServerSettings
from cw.server.wsgi import listen, serving

LONGEST_TEAM_ID: Final = 39
"""Letters, digits and hyphens, as in `session.GITHUB`."""

USUAL_PORT: Final = 5000
"""The port that an unmodified client uses."""


@dataclass(frozen=True, slots=True)
class Host:
    """The server of one match, which seats its clients and shows the match."""

    session: RefereedSession[Any, Any]
    address: str
    """Its URL for clients; "" without clients."""
    team_ids: Mapping[str, str]
    """The team id under which each player is shown, by name of the bot."""
    doors: Mapping[str, Door]
    """The door of each client that has its own network, by name; empty if all share one port."""
    policy: LaunchPolicy
    boxes: ExitStack
    """Resources released after the match."""
    spectate: str | None = None
    """The URL for spectators, through which no one can play."""
    untimed: set[Player] = field(default_factory=set)
    """Players without a time limit."""

    def client(self, bot: BotSpec, player: Player) -> ClientSeat:
        """Return the seat of a client program."""
        start = partial(self.start, bot)
        return ClientSeat(self.session, player, GITHUB, self.address, start)

    def announced(self, seat: Seat, player: Player, name: str) -> Seat:
        """Return a seat in this process that registers immediately."""
        if seat.transport == "client":
            return seat
        if seat.transport == "human":
            self.untimed.add(player)
        return AnnouncedSeat(seat, self.session, player, name)

    async def start(self, bot: BotSpec) -> StdioBot | Fault:
        """Start a client, behind its door if it has one; it may import cw.game."""
        door = self.doors.get(bot.name)
        needs = ProgramNeeds(
            {
                "CW_SERVER": self.address,
                # game_ai.py reads its team from the first variable, the kits from the second.
                "BOT_USERNAME": self.team_ids[bot.name],
                "TEAM_ID": self.team_ids[bot.name],
                "PYTHONPATH": str(PACKAGE.parent),
            }
            | pause(),
            client_library(),
            server=door.path if door else None,
        )
        return await launch(bot, bot.command, self.policy, self.boxes, needs)

    def show(self, record: MatchRecord) -> None:
        """Show the start, or a turn."""
        owing = set(record.game.rules.to_move(record.state))
        self.session.show(record, clock_runs=not owing & self.untimed)

    def note_attempts(self, record: MatchRecord) -> None:
        """Record the refused requests of clients as faults."""
        for player, bot in record.bots.items():
            if bot.name in self.doors:
                for sentence in self.doors[bot.name].proxy.attempts.sentences():
                    record.note(player, Fault("illegal", sentence))


def pause() -> dict[str, str]:
    """Return the variable for the pause between requests of our own client, if it is set."""
    return {name: os.environ[name] for name in ("CW_PAUSE",) if name in os.environ}


@contextmanager
def hosting(
    record: MatchRecord,
    protocol_options: Mapping[str, Json],
    policy: LaunchPolicy,
    *,
    spectate: bool,
) -> Iterator[Host]:
    """Serve a match while the block runs; enter it in the event loop of the referee."""
    rules = record.game.rules
    start = rules.new(len(record.bots), record.seed, **record.options)
    limit = time_limit(protocol_options["timeout"])
    session: RefereedSession[Any, Any] = RefereedSession(rules, start, limit, time.monotonic)
    app = create_server(ServerSettings(rooms=False, restart=False), session=session)
    bots = list(record.bots.values())
    ids = team_ids(bots)
    clients = [Client(bot.name, ids[bot.name]) for bot in bots if bot.kind == "exec"]
    with ExitStack() as boxes:
        address, doors = boxes.enter_context(way_in(app, session, clients, policy))
        window = boxes.enter_context(spectators(app)) if spectate else None
        host = Host(session, address, ids, doors, policy, boxes, window)
        try:
            yield host
        finally:
            session.end()


def team_ids(bots: Sequence[BotSpec]) -> dict[str, str]:
    """Return the team id under which each bot is shown, by name; no two are equal.

    A client's is its setting `username` or its name, as far as team ids allow.
    """
    wanted = [team_id(bot) if bot.kind == "exec" else bot.name for bot in bots]
    return {
        bot.name: own
        if bot.kind != "exec" or wanted.count(own) == 1
        else f"{own[: LONGEST_TEAM_ID - 2]}-{number}"
        for number, (bot, own) in enumerate(zip(bots, wanted, strict=True), start=1)
    }


def team_id(bot: BotSpec) -> str:
    """Return the setting `username` of a client, or its name, as far as team ids allow."""
    wanted = bot.settings.get("username") or bot.name
    return re.sub("[^A-Za-z0-9-]+", "-", wanted)[:LONGEST_TEAM_ID]


@contextmanager
def way_in(
    app: Flask, session: RefereedSession[Any, Any], clients: list[Client], policy: LaunchPolicy
) -> Iterator[tuple[str, Mapping[str, Door]]]:
    """Open the clients' access to the server: a door for each if they can be kept apart."""
    if not clients:
        yield "", {}
    # Sockets tell clients apart only in separate networks; otherwise all share one port.
    elif policy.sandbox.problem() is None:
        with player_proxies(app, session, clients) as doors:
            yield f"http://127.0.0.1:{USUAL_PORT}", doors
    else:
        with serving(app, listen_somewhere()) as address:
            yield address, {}


@contextmanager
def spectators(app: Flask) -> Iterator[str]:
    """Serve the match to spectators; yield the base URL."""
    with serving(SpectatorApp(app), listen("127.0.0.1", 0)) as address:
        yield address


def listen_somewhere() -> socket.socket:
    """Open the usual port, or any free one if it is in use."""
    try:
        return listen("127.0.0.1", USUAL_PORT)
    except UsageError:
        return listen("127.0.0.1", 0)
