"""How a bot comes to the table: strategies are seated, programs started, services waited for."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from cw.arena.bots import BotSpec
from cw.arena.sandbox import Sandbox, installation
from cw.arena.seats import Seat
from cw.arena.seats.http import HttpSeat
from cw.arena.seats.in_process import InProcessSeat
from cw.arena.seats.lines import ClassSeat, LineSeat
from cw.arena.seats.wrappers import FailedSeat, SandboxedSeat
from cw.arena.transports.http import ANYWHERE, HttpBot
from cw.arena.transports.sockets import Reachable
from cw.arena.transports.stdio import Answer, StdioBot
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Fault, Json, Player, Strategy
from cw.games.wire import Transport

SERVICE_READY: Final = 10.0
"""Seconds that the program of a web service has until it listens."""

LOOK: Final = 0.05
"""Seconds between two looks whether it does."""

LISTENING: Final = b"listening on "
RUNNER: Final = files("cw.arena") / "class_runner.py"
ROOT: Final = Path(__file__).resolve().parents[2]
VARIABLES: Final = {"secret": "BOT_SECRET", "api_key": "API_KEY", "username": "BOT_USERNAME"}


@dataclass(frozen=True, slots=True)
class LaunchPolicy:
    """How programs are started."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    tell: Callable[[BotSpec, str], None] = lambda *_: None
    """Is told how we are protected from each program."""


@dataclass(frozen=True, slots=True)
class ProgramNeeds:
    """What a program needs beside its command."""

    settings: Mapping[str, str] = field(default_factory=dict)
    network: bool = False
    """Whether it must reach this machine, or be reached."""
    readable: Sequence[Path] = ()


PLAIN: Final = ProgramNeeds()


@dataclass(frozen=True, slots=True)
class SeatContext:
    """What is the same for all seats of a match."""

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
    if bot.kind == "http":
        if "http" not in context.transports:
            raise UsageError(f"bot {bot.name}: bots of this game are programs, not web services")
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


async def launch(
    bot: BotSpec,
    command: Sequence[str],
    policy: LaunchPolicy,
    stack: ExitStack,
    needs: ProgramNeeds = PLAIN,
) -> StdioBot | Fault:
    """Start a program in the sandbox, which lasts as long as the stack.

    `command` is that of the bot, or runs it within another.
    """
    folder = program_folder(bot)
    prepared = stack.enter_context(
        policy.sandbox.prepare(
            [anchored(part, folder) for part in command],
            None if folder == ROOT else folder,
            settings={**environment(bot), **needs.settings},
            network=needs.network,
            readable=[*needs.readable, *(ourselves() if runs_cw(command) else [])],
        )
    )
    policy.tell(bot, prepared.protection)
    return await StdioBot.start(prepared.argv, env=prepared.env, cwd=prepared.cwd)


def program_folder(bot: BotSpec) -> Path | None:
    """Return the folder of a bot's program, of which it gets a copy; None without one.

    That is the first file that its command names; programs on the search path do not count, and
    those of any folder `bin`, then the command itself, only where there is nothing else.
    """
    if bot.kind == "python":
        return Path(bot.target.partition(":")[0]).resolve().parent
    program, *arguments = bot.command
    # Unlike Path.is_file it takes an argument of any length.
    named = [part for part in (*arguments, program) if os.path.isfile(part)]  # noqa: PTH113
    files = [file for file in map(Path, named) if not on_search_path(file)]
    chosen = [file for file in files if file.absolute().parent.name != "bin"] or files
    return chosen[0].resolve().parent if chosen else None


def on_search_path(file: Path) -> bool:
    """Return whether a file is a program in a folder of PATH."""
    folders = [Path(folder).resolve() for folder in os.get_exec_path()]
    return os.access(file, os.X_OK) and file.parent.resolve() in folders


def anchored(part: str, folder: Path | None) -> str:
    """Return the whole path of a file in the bot's folder that is named from where we are.

    The bot works in the copy of its folder, from where a relative path leads elsewhere.
    """
    path = Path(part)
    # Unlike Path.is_file it takes an argument of any length.
    if folder is None or path.is_absolute() or path.name == part or not os.path.isfile(part):  # noqa: PTH113
        return part
    file = path.resolve()
    return str(file) if file.is_relative_to(folder) else part


def runs_cw(command: Sequence[str]) -> bool:
    """Return whether a command is our own, which in a checkout has to read it."""
    return list(command[1:3]) == ["-m", "cw"] or Path(command[0]).stem == "cw"


def ourselves() -> list[Path]:
    """Name where we and our Python are."""
    return [ROOT, *installation(Path(sys.executable), ROOT)]


async def open_lines(bot: BotSpec, context: SeatContext, stack: ExitStack) -> Seat:
    """Start a program that speaks lines."""
    started = await launch(bot, bot.command, context.policy, stack)
    return FailedSeat("lines", started) if isinstance(started, Fault) else LineSeat(started)


async def open_class(bot: BotSpec, player: Player, context: SeatContext, stack: ExitStack) -> Seat:
    """Start the process of a Python class."""
    path, _, name = bot.target.partition(":")
    if not Path(path).is_file():
        raise UsageError(f"bot {bot.name}: there is no file {path!r}")
    source = RUNNER.read_text(encoding="utf-8")
    command = [sys.executable, "-c", source, str(Path(path).resolve()), name or "Bot"]
    started = await launch(bot, command, context.policy, stack)
    if isinstance(started, Fault):
        return FailedSeat("in-process", started)

    def read(document: Json) -> Any:
        try:
            return context.read_action(player, document)
        except ProtocolError as error:
            return Fault("malformed", str(error), "unreadable")

    return ClassSeat(started, context.write_view, read)


async def open_service(bot: BotSpec, context: SeatContext, stack: ExitStack) -> Seat:
    """Start the program of a web service, and wait until it listens."""
    port = free_port()
    needs = ProgramNeeds({"PORT": str(port), "BOT_PORT": str(port)}, network=True)
    started = await launch(bot, bot.command, context.policy, stack, needs)
    if isinstance(started, Fault):
        return FailedSeat("http", started)
    try:
        address = await wait_until_ready(started, port)
    except BaseException:
        await started.close(grace=0)
        raise
    if isinstance(address, Fault):
        await started.close()
        return FailedSeat("http", address, started)
    started.ignore_output()
    return HttpSeat(HttpBot(address), started)


async def wait_until_ready(program: StdioBot, port: int) -> str | Fault:
    """Wait until a program says where it listens, or its port accepts connections."""
    clock = asyncio.get_running_loop().time
    until = clock() + SERVICE_READY
    while clock() < until:
        said = await program.receive(LOOK)
        if isinstance(said, Answer) and said.line.startswith(LISTENING):
            return said.line.removeprefix(LISTENING).decode(errors="replace").strip().rstrip("/")
        if program.gone:
            return Fault("startup", program.gone.detail)
        if await accepts(port):
            return f"http://127.0.0.1:{port}"
    return Fault(
        "startup",
        f"it was not ready within {SERVICE_READY:g} s: it must listen on 127.0.0.1 and the port"
        f' in PORT (here {port}), or print "listening on URL"',
    )


async def accepts(port: int) -> bool:
    """Return whether a port of this machine accepts connections."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def with_secrets(bot: BotSpec) -> BotSpec:
    """Draw the secrets of a program that we start, where none are set."""
    if bot.kind != "exec":
        return bot
    drawn = {"secret": secrets.token_hex(32), "api_key": secrets.token_hex(16)}
    return bot.with_settings({**drawn, **bot.settings})


def environment(bot: BotSpec) -> dict[str, str]:
    """Return the variables in which a program gets its settings."""
    given = {VARIABLES[key]: value for key, value in bot.settings.items() if key in VARIABLES}
    return {"BOT_USERNAME": bot.name, **given}
