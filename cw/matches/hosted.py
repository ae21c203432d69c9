"""A match of Circuit Wars between clients that we start, on a server of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from cw.arena.bots import BotSpec
from cw.arena.hand import HumanSeat
from cw.arena.launch import LaunchPolicy, launch
from cw.arena.referee import MatchRecord, NotedFault, Turn, Watcher
from cw.arena.sandbox import ProgramNeeds
from cw.arena.transports.stdio import StdioBot
from cw.assets import PACKAGE, client_library
from cw.errors import UsageError
from cw.games.circuit_wars.rules import CircuitWars
from cw.games.registry import game_entry
from cw.games.rules import Fault, Json, Player, Strategy, refuse_unknown_options
from cw.matches.run import PLAIN, FinishedMatch, Setup, conduct, finish, strategy_for
from cw.replays.document import Recorder
from cw.server.app import create_server
from cw.server.player_proxy import Door, SpectatorApp, player_proxies
from cw.server.rooms import CircuitSession, RoomRegistry
from cw.server.session import GITHUB
from cw.server.settings import NO_LIMIT, ServerSettings
from cw.server.wsgi import listen, serving

USUAL_PORT: Final = 5000
"""The port that an unmodified client asks."""

REGISTERED: Final = 10.0
"""Seconds that a client has to register."""

FAREWELL: Final = 2.0
"""Seconds that clients have to see the end and leave."""

LOOK: Final = 0.01
"""Seconds between two looks at the desk."""

MOST_ATTEMPTS: Final = 20
"""UsageError requests that are told one by one."""

WINDOW: Final = ".watch"
"""Ending of the file that says where a game in flight can be watched."""

OPTIONS: Final = ("size", "openings", "timeout")
INSIDE: Final = ("builtin", "human")
"""The kinds of players that need no way to the server."""

MakeStrategy: TypeAlias = Callable[[str, Player], Strategy[Any, Any]]


@dataclass(frozen=True, slots=True)
class Hosting:
    """What a match is played with."""

    bots: Sequence[BotSpec]
    seed: int
    options: Mapping[str, Json]
    """`size`, `openings`, and `timeout` for a turn in seconds."""
    make: MakeStrategy
    watch: Watcher
    guard: LaunchPolicy
    isolated: bool = False
    """Whether each client must register under the name of its bot. It takes bubblewrap.

    With bubblewrap each client has a network of its own, in which only its way to the server is:
    any number of matches can be played at the same time, and no client can speak for another.
    """
    show: Callable[[str], None] | None = None
    """Is told where the match can be watched, through a window through which nobody plays."""
    hands: Mapping[str, HumanSeat] = field(default_factory=dict)
    """The people at the table, by name; the time limit is not for them."""
    pace: float = 0.0
    """Seconds that every move of a strategy takes at least, for those who look on."""


def host(hosting: Hosting) -> MatchRecord:
    """Play one match; raise UsageError for bots and options that cannot be."""
    return asyncio.run(conduct_hosted(hosting))


async def conduct_match(
    game: str,
    bots: Sequence[BotSpec],
    seed: int,
    options: Mapping[str, Json],
    setup: Setup = PLAIN,
) -> FinishedMatch:
    """Play a match of any game: we call the bots, or they come to a server of ours."""
    if game_entry(game).protocol is not None:
        return await conduct(game, bots, seed, options, setup)
    recorder = setup.recorder or Recorder()
    make = partial(strategy_for, game, seed=seed)

    def watch(played: MatchRecord) -> None:
        recorder(played)
        if setup.watch:
            setup.watch(played)

    hosting = Hosting(
        bots, seed, options, make, watch, setup.guard, hands=setup.hands, pace=setup.pace
    )
    return finish(await conduct_hosted(hosting), recorder)


async def conduct_hosted(hosting: Hosting) -> MatchRecord:
    """Play one match of clients that come to us."""
    options = hosting.options
    refuse_unknown_options(options, OPTIONS)
    if len(hosting.bots) != 2:
        raise UsageError(f"Circuit Wars is for 2 bots, not {len(hosting.bots)}")
    rules = {name: value for name, value in options.items() if name != "timeout"}
    start = CircuitWars().new(2, hosting.seed, **rules)
    seated: dict[Player, BotSpec] = dict(enumerate(hosting.bots, start=1))
    played = MatchRecord(CircuitWars(), seated, hosting.seed, rules, start, start)
    settings = ServerSettings(
        timeout=NO_LIMIT if hosting.hands else options.get("timeout"),
        size=start.size,
        openings=options.get("openings", 0),
        seed=hosting.seed,
        rooms=False,
        restart=False,
        team_ids=GITHUB,
    )
    app = create_server(settings)
    rooms: RoomRegistry = app.extensions["rooms"]
    hosting.watch(played)
    session = rooms.find(None).session
    with ExitStack() as boxes:
        if all(bot.kind in INSIDE for bot in hosting.bots):
            way = Way("", {})
        elif hosting.isolated or hosting.guard.sandbox.problem() is None:
            teams = {bot.name: bot.name if hosting.isolated else None for bot in hosting.bots}
            doors = boxes.enter_context(player_proxies(app, session, teams))
            way = Way(f"http://127.0.0.1:{USUAL_PORT}", doors)
        else:
            way = Way(boxes.enter_context(serving(app, listen_somewhere())), {})
        if hosting.show is not None:
            hosting.show(boxes.enter_context(serving(SpectatorApp(app), listen("127.0.0.1", 0))))
        game = Hosted(hosting, played, session, way, boxes)
        try:
            await game.play()
        finally:
            await game.close()
    return played


@dataclass(frozen=True, slots=True)
class Way:
    """How clients reach the server."""

    address: str
    """As a client sees it."""
    doors: Mapping[str, Door]
    """By name of the bot; none where there are no walls."""


def listen_somewhere() -> Any:
    """Open the usual port, or any free one if another program uses it."""
    try:
        return listen("127.0.0.1", USUAL_PORT)
    except UsageError:
        return listen("127.0.0.1", 0)


def pause() -> dict[str, str]:
    """Return the pause between the requests of our own client, if the owner has set one."""
    return {name: os.environ[name] for name in ("CW_PAUSE",) if name in os.environ}


class Hosted:
    """One match on a server: the clients that run, and the strategies that move for us."""

    def __init__(
        self,
        hosting: Hosting,
        played: MatchRecord,
        session: CircuitSession,
        way: Way,
        boxes: ExitStack,
    ) -> None:
        """Start nobody yet; `boxes` are removed after the match."""
        self.hosting = hosting
        self.played = played
        self.session = session
        self.way = way
        self.boxes = boxes
        self.programs: dict[Player, StdioBot] = {}
        self.strategies: dict[Player, Strategy[Any, Any]] = {}
        self.since = 0.0
        """When the current turn began, on the clock of the loop."""

    async def play(self) -> None:
        """Seat both, one after the other, then look on until the game is over."""
        for player, bot in self.played.bots.items():
            fault = await self.seat(player, bot)
            if fault is not None:
                self.lose(player, fault)
        self.since = asyncio.get_running_loop().time()
        while self.played.outcome is None:
            await self.move()
            await asyncio.sleep(LOOK)
            self.take_turns()

    async def seat(self, player: Player, bot: BotSpec) -> Fault | None:
        """Register a strategy, or start a client and wait until it has registered."""
        if self.played.outcome is not None:
            return None
        if bot.name in self.hosting.hands:
            self.session.register(bot.name)
            return None
        if bot.kind == "builtin":
            self.strategies[player] = self.hosting.make(bot.target, player)
            self.session.register(bot.name)
            return None
        if bot.kind != "exec":
            raise UsageError(
                f"bot {bot.name}: bots of Circuit Wars are programs that ask our server"
            )
        program = await self.start(bot)
        if isinstance(program, Fault):
            return program
        self.programs[player] = program
        program.ignore_output()
        return await self.registered(program, int(player))

    async def start(self, bot: BotSpec) -> StdioBot | Fault:
        """Start a client, behind its door if there is one; it may import cw.game."""
        door = self.way.doors.get(bot.name)
        needs = ProgramNeeds(
            {"CW_SERVER": self.way.address, "PYTHONPATH": str(PACKAGE.parent)} | pause(),
            client_library(),
            server=door.path if door else None,
        )
        guard = replace(self.hosting.guard, bots=tuple(self.hosting.bots))
        return await launch(bot, bot.command, guard, self.boxes, needs)

    async def registered(self, program: StdioBot, number: int) -> Fault | None:
        """Wait until one more team is registered."""
        clock = asyncio.get_running_loop().time
        until = clock() + REGISTERED
        while len(self.session.look().snapshot.teams) < number:
            if ended := await program.ended(LOOK):
                return Fault("startup", ended.detail)
            if clock() > until:
                return Fault(
                    "startup",
                    f"it has not registered within {REGISTERED:g} s: it must ask"
                    f" {self.way.address}/reg/<team_id> (the address is in CW_SERVER)",
                )
        return None

    async def move(self) -> None:
        """Let a strategy or a person move, and see whether a client whose turn it is still runs."""
        state = self.session.look().snapshot.state
        if state.ended:
            return
        player = state.player
        name = self.played.bots[player].name
        if name in self.hosting.hands:
            self.session.move(name, await self.hosting.hands[name].act())
        elif player in self.strategies:
            await asyncio.sleep(self.hosting.pace)
            action = await asyncio.to_thread(self.strategies[player].act, state)
            self.session.move(name, action)
        elif ended := await self.programs[player].ended(0):
            self.session.fault(player, ended)
        elif self.hosting.hands and self.is_late():
            self.session.fault(player, Fault("timeout", "its time for a turn is over"))

    def is_late(self) -> bool:
        """Return whether the time for a turn is over; the desk keeps none where a person plays."""
        limit = ServerSettings(timeout=self.hosting.options.get("timeout")).time_limit()
        return limit is not None and asyncio.get_running_loop().time() - self.since > limit

    def take_turns(self) -> None:
        """Take over what has happened at the desk."""
        for turn in self.session.look().snapshot.turns[len(self.played.turns) :]:
            self.step(turn.actions, turn.seconds)

    def lose(self, player: Player, fault: Fault) -> None:
        """End a match that could not begin."""
        if self.played.outcome is None:
            self.step({player: fault}, {})

    def step(self, actions: Mapping[Player, Any], seconds: Mapping[Player, float]) -> None:
        """Note a turn."""
        played = self.played
        for player, action in actions.items():
            if isinstance(action, Fault):
                played.faults.append(NotedFault(len(played.turns), player, action))
        played.state = played.game.step(played.state, actions)
        played.turns.append(Turn(actions, seconds))
        self.since = asyncio.get_running_loop().time()
        self.hosting.watch(played)

    async def close(self) -> None:
        """Let the clients leave by themselves for a moment, then end them."""
        for player, program in self.programs.items():
            await program.close(patience=FAREWELL if self.played.outcome else 0.0)
            self.played.stderr[player] = program.stderr.text()
            door = self.way.doors.get(self.played.bots[player].name)
            for path in door.gate.attempts[:MOST_ATTEMPTS] if door else ():
                fault = Fault("illegal", f"it asked for {path[:80]!r}, which was refused")
                self.played.faults.append(NotedFault(len(self.played.turns), player, fault))
