"""Opens the seat of a bot: starts its program, waits for its service, or makes a strategy."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from cw.arena.bots import BotSpec
from cw.arena.sandbox import PLAIN, WALLED, Launch, ProgramNeeds, Sandbox, Source
from cw.arena.sandbox.installation import installation
from cw.arena.seats import Seat
from cw.arena.seats.http import HttpSeat
from cw.arena.seats.in_process import InProcessSeat
from cw.arena.seats.lines import ClassSeat, LineSeat
from cw.arena.seats.wrappers import FailedSeat, SandboxedSeat
from cw.arena.sources import ROOT, anchored, source_of
from cw.arena.transports.http import ANYWHERE, HttpBot, check_base
from cw.arena.transports.sockets import Reachable, Traffic
from cw.arena.transports.stdio import Answer, StdioBot
from cw.arena.transports.tunnel import reach
from cw.errors import ProtocolError, UnfitProgram, UsageError
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
LOG: Final = logging.getLogger(__name__)
QUOTED: Final = 200
T = TypeVar("T")

VARIABLES: Final = {"secret": "BOT_SECRET", "api_key": "API_KEY", "username": "BOT_USERNAME"}


def warn_of(bot: BotSpec, protection: str) -> None:
    """Warn of a program that is started without walls, wherever nobody says it better."""
    if not protection.startswith(WALLED):
        LOG.warning("%s: %s", bot.name, protection)


@dataclass(frozen=True, slots=True)
class LaunchPolicy:
    """How programs are started."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    tell: Callable[[BotSpec, str], None] = warn_of
    """Is told how we are protected from each program."""
    bots: Sequence[BotSpec] = ()
    """All bots of the match: none is shown the program of another one."""

    def source(self, bot: BotSpec) -> Source:
        """Return what a bot's program is given a copy of."""
        return source_of(bot, [other for other in self.bots if other.name != bot.name])


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

    `command` is that of the bot, or runs it within another. The fault is `startup`. Raises
    UsageError for a policy that cannot be kept.
    """
    prepared = await prepare(bot, command, policy, stack, needs)
    return prepared if isinstance(prepared, Fault) else await start(prepared)


async def prepare(
    bot: BotSpec,
    command: Sequence[str],
    policy: LaunchPolicy,
    stack: ExitStack,
    needs: ProgramNeeds = PLAIN,
) -> Launch | Fault:
    """Return how a program is started, and say how we are protected from it (see `launch`)."""
    source = policy.source(bot)
    wanted = replace(
        needs,
        settings={**environment(bot), **needs.settings},
        readable=[*needs.readable, *(ourselves() if runs_cw(command) else [])],
    )
    launching = policy.sandbox.prepare(
        [anchored(part, source.folder) for part in command], source, wanted
    )
    try:
        prepared = await in_thread(partial(stack.enter_context, launching))
    except UnfitProgram as error:
        return Fault("startup", str(error))
    policy.tell(bot, f"{prepared.protection}{alone(source)}")
    return prepared


def alone(source: Source) -> str:
    """Return what is to be said of a program that is given a part of its folder; else nothing."""
    if not source.only:
        return ""
    named = " and ".join(file.name for file in source.only)
    return f"; it sees {named} alone: to see more of {source.folder}, it needs a folder of its own"


async def start(prepared: Launch) -> StdioBot | Fault:
    """Start a program that is prepared; the fault is `startup`."""
    started = await StdioBot.start(
        prepared.argv, env=prepared.env, cwd=prepared.cwd, pass_fds=prepared.pass_fds
    )
    for inherited in prepared.inherited:
        inherited.close()
    return started


async def in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, called in a thread; a cancelled call is waited for."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


def runs_cw(command: Sequence[str]) -> bool:
    """Return whether a command is our own, which in a checkout has to read it."""
    return list(command[1:3]) == ["-m", "cw"] or Path(command[0]).stem == "cw"


def ourselves() -> list[Path]:
    """Return where our package is, and our Python."""
    return [ROOT / "cw", *installation(Path(sys.executable))]


async def open_lines(bot: BotSpec, context: SeatContext, stack: ExitStack) -> Seat:
    """Start a program that speaks lines."""
    started = await launch(bot, bot.command, context.policy, stack)
    return FailedSeat("lines", started) if isinstance(started, Fault) else LineSeat(started)


async def open_class(bot: BotSpec, player: Player, context: SeatContext, stack: ExitStack) -> Seat:
    """Start the process of a Python class."""
    path, name = bot.python_class
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

    return ClassSeat(started, context.write_view, read)


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
