"""Opens the seat of a bot: starts its program, waits for its service, or creates a strategy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from cw.arena.bots import BotSpec
from cw.arena.launch import VARIABLES, LaunchPolicy, launch
from cw.arena.seats import Seat
from cw.arena.seats.lines import ClassSeat, LineSeat
from cw.arena.seats.wrappers import FailedSeat, InProcessSeat, SandboxedSeat
from cw.arena.transports.sockets import ANYWHERE, Reachable
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Fault, Json, Player, Strategy
from cw.games.wire import Transport

RUNNER: Final = files("cw.arena") / "class_runner.py"

SERVICES: Final = "cw.arena.seats.http"
"""The module for web services, loaded on first use: most matches have none."""


@dataclass(frozen=True, slots=True)
class SeatContext:
    """The context shared by all seats of a match."""

    game: str
    transports: Sequence[Transport]
    """The transports that the game's bots may use."""
    signed_with: str | None
    """The setting that a web service must share with us, if the game signs its requests."""
    strategy: Callable[[str, Player], Strategy[Any, Any]]
    """Creates a built-in strategy for a player; raises UsageError for an unknown name."""
    write_view: Callable[[Any], Json]
    read_action: Callable[[Player, Json], Any]
    policy: LaunchPolicy
    reachable_by: Callable[[str], Reachable] = lambda _: ANYWHERE
    """Returns the addresses allowed for the web service of the bot with this name."""
    client: Callable[[BotSpec, Player], Seat] | None = None
    """Creates the seat of a program that is a client of our server."""


async def open_seat(bot: BotSpec, player: Player, context: SeatContext) -> Seat:
    """Open a bot's seat; raise UsageError if this game cannot query such a bot.

    A program that cannot be started gets a seat that reports the reason when queried.
    """
    if bot.kind == "builtin":
        return InProcessSeat(context.strategy(bot.target, player))
    if bot.kind == "absent":
        return FailedSeat(context.transports[0], Fault("startup", bot.target))
    if bot.kind == "http":
        refuse_unsigned(bot, context.signed_with)
        reachable = context.reachable_by(bot.name)
        seat: Seat = resolve_name(f"{SERVICES}:service_at")(bot.target, reachable)
        return seat
    if bot.kind == "exec" and context.client is not None:
        return context.client(bot, player)
    with ExitStack() as stack:
        if bot.kind == "python":
            seat = await open_class(bot, player, context, stack)
        elif speaks_lines(bot, context):
            seat = await open_lines(bot, context, stack)
        else:
            seat = await resolve_name(f"{SERVICES}:open_service")(bot, context.policy, stack)
        return SandboxedSeat(seat, stack.pop_all())


def refuse_unsigned(bot: BotSpec, setting: str | None) -> None:
    """Raise UsageError if a web service lacks the setting that signs its requests."""
    if setting is not None and not bot.settings.get(setting):
        variable = VARIABLES[setting]
        raise UsageError(
            f"bot {bot.name}: requests of this game are signed with the {setting} of the web"
            f" service: put it into the environment variable {variable}, and add"
            f" --set {bot.name}.{setting}=env:{variable}"
        )


def speaks_lines(bot: BotSpec, context: SeatContext) -> bool:
    """Return whether a program speaks lines on standard input, by its settings or the game."""
    form = bot.settings.get("form")
    transport = form if form in ("lines", "http") else context.transports[0]
    if transport not in context.transports:
        transports = " or ".join(context.transports)
        raise UsageError(
            f"bot {bot.name}: programs of this game speak {transports}, not {transport}"
        )
    return transport == "lines"


async def open_lines(bot: BotSpec, context: SeatContext, stack: ExitStack) -> Seat:
    """Start a program that speaks lines."""
    started = await launch(bot, bot.command, context.policy, stack)
    return FailedSeat("lines", started) if isinstance(started, Fault) else LineSeat(started)


async def open_class(bot: BotSpec, player: Player, context: SeatContext, stack: ExitStack) -> Seat:
    """Start the process of a Python class or function."""
    path, name = bot.python_player
    file = Path(bot.folder, path)
    if not file.is_file():
        raise UsageError(f"bot {bot.name}: there is no file {path!r}")
    source = RUNNER.read_text(encoding="utf-8")
    command = [sys.executable, "-c", source, str(file if bot.folder else file.resolve()), name]
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
