"""Starts a bot's program in the sandbox, with the settings it may see."""

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
"""Prefix of the environment variables for a program's own settings: `depth` is BOT_SET_DEPTH."""

T = TypeVar("T")


def warn_of(bot: BotSpec, protection: str) -> None:
    """Warn that a program starts without isolation, unless somebody reports it better."""
    if not protection.startswith(WALLED):
        LOG.warning("%s: %s", bot.name, protection)


@dataclass(frozen=True, slots=True)
class LaunchPolicy:
    """How programs are started."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    tell: Callable[[BotSpec, str], None] = warn_of
    """Called with each program and the protection it runs under."""
    bots: Sequence[BotSpec] = ()
    """All bots of the match: no program is shown another one's files."""

    def source(self, bot: BotSpec) -> Source:
        """Return what a bot's program gets a copy of."""
        return source_of(bot, [other for other in self.bots if other.name != bot.name])


async def launch(
    bot: BotSpec,
    command: Sequence[str],
    policy: LaunchPolicy,
    stack: ExitStack,
    needs: ProgramNeeds = PLAIN,
) -> StdioBot | Fault:
    """Start a program in the sandbox, which lasts as long as the stack.

    `command` is the bot's own, or one that runs it. The fault is `startup`. Raises UsageError for a
    policy that cannot be kept.
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
    """Prepare a program's start, and report the protection it runs under (see `launch`)."""
    source = policy.source(bot)
    bot_needs = replace(
        needs,
        settings={**environment(bot), **needs.settings},
        readable=[*needs.readable, *(ourselves() if runs_cw(command) else [])],
    )
    # The class runner already names its file by absolute path.
    parts = [anchored(part, source) for part in command] if bot.kind == "exec" else command
    launching = policy.sandbox.prepare(parts, source, bot_needs)
    try:
        prepared = await in_thread(partial(stack.enter_context, launching))
    except UnfitProgram as error:
        return Fault("startup", str(error))
    policy.tell(bot, f"{prepared.protection}{alone(source)}")
    return prepared


def alone(source: Source) -> str:
    """Return a note about a program that gets only part of its folder; "" otherwise."""
    if not source.only:
        return ""
    named = " and ".join(file.name for file in source.only)
    return f"; it sees only {named}: to show it more of {source.folder}, give it its own folder"


async def start(prepared: Launch) -> StdioBot | Fault:
    """Start a prepared program; the fault is `startup`."""
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
    """Return the result of `work`, called in a thread; if cancelled, wait for it first."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


def runs_cw(command: Sequence[str]) -> bool:
    """Return whether a command is our own, which must be able to read the checkout."""
    return list(command[1:3]) == ["-m", "cw"] or Path(command[0]).stem == "cw"


def ourselves() -> list[Path]:
    """Return the paths of our package and of our Python."""
    return [ROOT / "cw", *installation(Path(sys.executable))]


def with_secrets(bot: BotSpec) -> BotSpec:
    """Draw the secrets of a program that we start, unless they are set."""
    if bot.kind != "exec":
        return bot
    drawn = {"secret": secrets.token_hex(32), "api_key": secrets.token_hex(16)}
    return bot.with_settings({**drawn, **bot.settings})


def environment(bot: BotSpec) -> dict[str, str]:
    """Return the environment variables that carry a program's settings."""
    variables = {VARIABLES[key]: value for key, value in bot.settings.items() if key in VARIABLES}
    own = {f"{OWN_VARIABLE}{key.upper()}": value for key, value in bot.own_settings.items()}
    return {"BOT_USERNAME": bot.username, **variables, **own}
