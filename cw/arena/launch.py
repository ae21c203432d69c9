"""Starts the program of a bot in the sandbox, with the settings that it may see."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from cw.arena.bots import BotSpec
from cw.arena.sandbox import PLAIN, WALLED, Launch, ProgramNeeds, Sandbox, Source
from cw.arena.sandbox.installation import installation
from cw.arena.sources import ROOT, anchored, source_of
from cw.arena.transports.stdio import StdioBot
from cw.errors import UnfitProgram
from cw.games.rules import Fault

LOG: Final = logging.getLogger(__name__)

VARIABLES: Final = {"secret": "BOT_SECRET", "api_key": "API_KEY", "username": "BOT_USERNAME"}

OWN_VARIABLE: Final = "BOT_SET_"
"""Begins the variable of a setting that a program has of its own: `depth` is BOT_SET_DEPTH."""

T = TypeVar("T")


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
    bot_needs = replace(
        needs,
        settings={**environment(bot), **needs.settings},
        readable=[*needs.readable, *(ourselves() if runs_cw(command) else [])],
    )
    # The runner of a class names its file by the whole path already.
    parts = [anchored(part, source) for part in command] if bot.kind == "exec" else command
    launching = policy.sandbox.prepare(parts, source, bot_needs)
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
    return f"; it sees only {named}: to show it more of {source.folder}, give it its own folder"


async def start(prepared: Launch) -> StdioBot | Fault:
    """Start a program that is prepared; the fault is `startup`."""
    started = await StdioBot.start(
        prepared.argv,
        env=prepared.env,
        cwd=prepared.cwd,
        pass_fds=prepared.pass_fds,
        bounds=prepared.bounds,
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


def with_secrets(bot: BotSpec) -> BotSpec:
    """Draw the secrets of a program that we start, where none are set."""
    if bot.kind != "exec":
        return bot
    drawn = {"secret": secrets.token_hex(32), "api_key": secrets.token_hex(16)}
    return bot.with_settings({**drawn, **bot.settings})


def environment(bot: BotSpec) -> dict[str, str]:
    """Return the variables in which a program gets its settings."""
    variables = {VARIABLES[key]: value for key, value in bot.settings.items() if key in VARIABLES}
    own = {f"{OWN_VARIABLE}{key.upper()}": value for key, value in bot.own_settings.items()}
    return {"BOT_USERNAME": bot.username, **variables, **own}
