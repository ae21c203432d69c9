"""Opens the seat of a bot: starts its program, waits for its service, or makes a strategy."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from cw.arena.bots import BotSpec
from cw.arena.launch import VARIABLES, LaunchPolicy, launch, prepare, start
from cw.arena.sandbox import ProgramNeeds
from cw.arena.seats import Seat
from cw.arena.seats.http import HttpSeat
from cw.arena.seats.in_process import InProcessSeat
from cw.arena.seats.lines import ClassSeat, LineSeat
from cw.arena.seats.wrappers import FailedSeat, SandboxedSeat
from cw.arena.transports.http import ANYWHERE, HttpBot, check_base
from cw.arena.transports.sockets import Reachable, Traffic
from cw.arena.transports.stdio import Answer, StdioBot
from cw.arena.transports.tunnel import reach
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Fault, Json, Player, Strategy
from cw.games.wire import Transport

SERVICE_READY: Final = 10.0
"""Seconds that the program of a web service has until it listens."""

LOOK: Final = 0.02
"""Seconds between two looks whether it does."""

KNOCKED: Final = 1.0
"""Seconds that a look may take: a bot can stop its forwarder, which then never answers."""

LISTENING: Final = b"listening on "

RUNNER: Final = files("cw.arena") / "class_runner.py"

OWN_NAMES: Final = ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1")  # noqa: S104

QUOTED: Final = 200


@dataclass(frozen=True, slots=True)
class SeatContext:
    """What is the same for all seats of a match."""

    game: str
    transports: Sequence[Transport]
    """How the game's bots may be reached."""
    signed_with: str | None
    """The setting that a web service of the game must share with us, if there is one."""
    strategy: Callable[[str, Player], Strategy[Any, Any]]
    """Makes a built-in strategy for a player; raises UsageError for an unknown name."""
    write_view: Callable[[Any], Json]
    read_action: Callable[[Player, Json], Any]
    policy: LaunchPolicy
    reachable: Reachable = ANYWHERE
    """Which addresses web services may have."""
    client: Callable[[BotSpec, Player], Seat] | None = None
    """Makes the seat of a program that is a client of our server."""


async def open_seat(bot: BotSpec, player: Player, context: SeatContext) -> Seat:
    """Seat a bot; raise UsageError for one that this game cannot ask.

    A program that cannot be started gets a seat that says so when it is asked.
    """
    if bot.kind == "builtin":
        return InProcessSeat(context.strategy(bot.target, player))
    if bot.kind == "absent":
        return FailedSeat(context.transports[0], Fault("startup", bot.target))
    if bot.kind == "http":
        refuse_unsigned(bot, context.signed_with)
        return HttpSeat(HttpBot(bot.target, reachable=context.reachable))
    if bot.kind == "exec" and context.client is not None:
        return context.client(bot, player)
    with ExitStack() as stack:
        if bot.kind == "python":
            seat = await open_class(bot, player, context, stack)
        elif speaks_lines(bot, context):
            seat = await open_lines(bot, context, stack)
        else:
            seat = await open_service(bot, context, stack)
        return SandboxedSeat(seat, stack.pop_all())


def refuse_unsigned(bot: BotSpec, setting: str | None) -> None:
    """Raise UsageError for a web service without the setting that its requests are signed with."""
    if setting is not None and not bot.settings.get(setting):
        variable = VARIABLES[setting]
        raise UsageError(
            f"bot {bot.name}: requests of this game are signed with the {setting} of the web"
            f" service; give it by --set {bot.name}.{setting}=env:{variable}, with the {setting}"
            f" in the variable {variable} of the environment"
        )


def speaks_lines(bot: BotSpec, context: SeatContext) -> bool:
    """Return whether a program is asked on its standard input: if the game or its owner says so."""
    form = bot.settings.get("form")
    chosen = form if form in ("lines", "http") else context.transports[0]
    if chosen not in context.transports:
        known = " or ".join(context.transports)
        raise UsageError(f"bot {bot.name}: programs of this game speak {known}, not {chosen}")
    return chosen == "lines"


async def open_lines(bot: BotSpec, context: SeatContext, stack: ExitStack) -> Seat:
    """Start a program that speaks lines."""
    started = await launch(bot, bot.command, context.policy, stack)
    return FailedSeat("lines", started) if isinstance(started, Fault) else LineSeat(started)


async def open_class(bot: BotSpec, player: Player, context: SeatContext, stack: ExitStack) -> Seat:
    """Start the process of a Python class or function."""
    path, name = bot.python_player
    if not Path(path).is_file():
        raise UsageError(f"bot {bot.name}: there is no file {path!r}")
    source = RUNNER.read_text(encoding="utf-8")
    command = [sys.executable, "-c", source, str(Path(path).resolve()), name]
    started = await launch(bot, command, context.policy, stack)
    if isinstance(started, Fault):
        return FailedSeat("in-process", started)

    def read(document: Json) -> Any:
        try:
            return context.read_action(player, document)
        except ProtocolError as error:
            return Fault("malformed", str(error), "unreadable")

    configuration = {"game": context.game, "player": player}
    return ClassSeat(started, configuration, context.write_view, read)


async def open_service(bot: BotSpec, context: SeatContext, stack: ExitStack) -> Seat:
    """Start the program of a web service, and wait until it listens."""
    port = free_port()
    needs = ProgramNeeds({"PORT": str(port), "BOT_PORT": str(port)}, serves=True)
    prepared = await prepare(bot, bot.command, context.policy, stack, needs)
    if isinstance(prepared, Fault):
        return FailedSeat("http", prepared)
    started = await start(prepared)
    if isinstance(started, Fault):
        return FailedSeat("http", started)
    try:
        address = await wait_until_ready(started, port, prepared.tunnel)
    except BaseException:
        await started.close(grace=0)
        raise
    if isinstance(address, Fault):
        await started.close()
        return FailedSeat("http", address, started)
    started.ignore_output()
    return HttpSeat(HttpBot(address, door=prepared.tunnel), started)


async def wait_until_ready(program: StdioBot, port: int, tunnel: Path | None) -> str | Fault:
    """Return the address of a service once it says where it listens, or its port is open.

    The fault is `startup`: it has ended, says what is no address, or is not ready in time.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + SERVICE_READY
    while clock() < until:
        said = await program.receive(0)
        if isinstance(said, Answer) and said.line.startswith(LISTENING):
            return own_address(said.line.removeprefix(LISTENING).decode(errors="replace").strip())
        if ended := await program.ended(LOOK):
            return Fault("startup", ended.detail)
        if await accepts(port, tunnel):
            return f"http://127.0.0.1:{port}"
    return Fault(
        "startup",
        f"it was not ready within {SERVICE_READY:g} s: it must listen on 127.0.0.1 and the port"
        f' in PORT (here {port}), or print "listening on URL"',
    )


def own_address(said: str) -> str | Fault:
    """Return the address that a program says it listens on, if it is one of its own machine.

    It could else have us send requests to whomever it likes.
    """
    try:
        base = check_base(said)
        if urlsplit(base).scheme == "http" and urlsplit(base).hostname in OWN_NAMES:
            return base
    except UsageError:
        pass
    return Fault(
        "startup",
        f'it says that it is "listening on {said[:QUOTED]}", which must be http:// and a port'
        f" of its own machine, such as http://127.0.0.1:3000",
    )


async def accepts(port: int, tunnel: Path | None) -> bool:
    """Return whether a port accepts connections, of this machine or behind a tunnel."""
    try:
        async with asyncio.timeout(KNOCKED):
            if tunnel:
                (await reach(tunnel, port, Traffic())).close()
            else:
                (await asyncio.open_connection("127.0.0.1", port))[1].close()
    except OSError:
        return False
    return True


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
