"""A server of its own for the clients of one match of Circuit Wars."""

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
"""Letters, digits and hyphens, as `session.GITHUB` has them."""

USUAL_PORT: Final = 5000
"""The port that an unmodified client asks."""


@dataclass(frozen=True, slots=True)
class Host:
    """The server of one match: the seats of its clients, and what there is to see."""

    session: RefereedSession[Any, Any]
    address: str
    """Where clients find it; "" where nobody comes."""
    doors: Mapping[str, Door]
    """By name the way in of each client that has a network of its own; none where all share one."""
    policy: LaunchPolicy
    boxes: ExitStack
    """What is removed after the match."""
    spectate: str | None = None
    """The address at which people can watch, through which nobody plays."""
    untimed: set[Player] = field(default_factory=set)
    """Players without a time limit."""

    def client(self, bot: BotSpec, player: Player) -> ClientSeat:
        """Return the seat of a program that is a client."""
        start = partial(self.start, bot)
        return ClientSeat(self.session, player, GITHUB, self.address, start)

    def announced(self, seat: Seat, player: Player, name: str) -> Seat:
        """Return a seat of this process that registers at once."""
        if seat.transport == "client":
            return seat
        if seat.transport == "human":
            self.untimed.add(player)
        return AnnouncedSeat(seat, self.session, player, name)

    async def start(self, bot: BotSpec) -> StdioBot | Fault:
        """Start a client, behind its door if there is one; it may import cw.game."""
        door = self.doors.get(bot.name)
        needs = ProgramNeeds(
            {
                "CW_SERVER": self.address,
                # game_ai.py takes its team from the one, the kits from the other.
                "BOT_USERNAME": team_id(bot),
                "TEAM_ID": team_id(bot),
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
        """Note what clients asked for and were refused."""
        for player, bot in record.bots.items():
            if bot.name in self.doors:
                for sentence in self.doors[bot.name].proxy.attempts.sentences():
                    record.note(player, Fault("illegal", sentence))


def pause() -> dict[str, str]:
    """Return the pause between the requests of our own client, if the owner has set one."""
    return {name: os.environ[name] for name in ("CW_PAUSE",) if name in os.environ}


@contextmanager
def hosting(
    record: MatchRecord,
    protocol_options: Mapping[str, Json],
    policy: LaunchPolicy,
    *,
    spectate: bool,
) -> Iterator[Host]:
    """Serve a match while the block runs; to be entered in the event loop of its referee."""
    rules = record.game.rules
    start = rules.new(len(record.bots), record.seed, **record.options)
    limit = time_limit(protocol_options["timeout"])
    session: RefereedSession[Any, Any] = RefereedSession(rules, start, limit, time.monotonic)
    app = create_server(ServerSettings(rooms=False, restart=False), session=session)
    clients = clients_of(list(record.bots.values()))
    with ExitStack() as boxes:
        address, doors = boxes.enter_context(way_in(app, session, clients, policy))
        window = boxes.enter_context(spectators(app)) if spectate else None
        host = Host(session, address, doors, policy, boxes, window)
        try:
            yield host
        finally:
            session.end()


def clients_of(bots: Sequence[BotSpec]) -> list[Client]:
    """Return the clients among bots; one with a `username` must register under that name."""
    return [
        Client(
            bot.name,
            bot.settings.get("username"),
            # Neither client may take the other's name, in whichever order they register.
            frozenset(name for other in bots if other is not bot for name in names_of(other)),
        )
        for bot in bots
        if bot.kind == "exec"
    ]


def team_id(bot: BotSpec) -> str:
    """Return the team id of a client that is told none: its name, as far as team ids go."""
    fitting = re.sub("[^A-Za-z0-9]+", "-", bot.name)[:LONGEST_TEAM_ID]
    return bot.settings.get("username") or fitting


def names_of(bot: BotSpec) -> set[str]:
    """Return the names that no other client may take: those by which people know a bot."""
    return {bot.name, team_id(bot)}


@contextmanager
def way_in(
    app: Flask, session: RefereedSession[Any, Any], clients: list[Client], policy: LaunchPolicy
) -> Iterator[tuple[str, Mapping[str, Door]]]:
    """Open the way of clients to the server: one for each where they can be kept apart."""
    if not clients:
        yield "", {}
    # Only in networks of their own do sockets tell clients apart; else they all share one port.
    elif policy.sandbox.problem() is None:
        with player_proxies(app, session, clients) as doors:
            yield f"http://127.0.0.1:{USUAL_PORT}", doors
    else:
        with serving(app, listen_somewhere()) as address:
            yield address, {}


@contextmanager
def spectators(app: Flask) -> Iterator[str]:
    """Serve the match to spectators; yields the address."""
    with serving(SpectatorApp(app), listen("127.0.0.1", 0)) as address:
        yield address


def listen_somewhere() -> socket.socket:
    """Open the usual port, or any free one if another program uses it."""
    try:
        return listen("127.0.0.1", USUAL_PORT)
    except UsageError:
        return listen("127.0.0.1", 0)
