"""Programs that attack, and what the tests of attacks need to let them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, launch
from cw.arena.referee import MatchRecord
from cw.arena.sandbox import Policy, Sandbox
from cw.arena.transports.stdio import StdioBot
from cw.matches.spec import Isolation, MatchSpec
from tests.arena.zoo import PATIENCE, line_of
from tests.interpreter import PYTHON
from tests.matches.playing import play_spec
from tests.tools import NEEDS_BUBBLEWRAP

ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs the rm of POSIX")
RANDOM = BotSpec("random", "builtin", "random")
BOTH = pytest.mark.parametrize("policy", [pytest.param("require", marks=NEEDS_BUBBLEWRAP), "off"])


def program(name: str, file: Path) -> BotSpec:
    """Return the bot of a Python program, which may lie in a folder that is not there yet."""
    return BotSpec(name, "exec", f"{PYTHON} {file}")


def written(folder: Path, name: str, source: str, file: str = "bot.py") -> BotSpec:
    """Write a program into a folder, and return its bot."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(source, encoding="utf-8")
    return program(name, folder / file)


def match(game: str, *bots: BotSpec, policy: Policy = "require", **options: Any) -> MatchRecord:
    """Play a match to its end."""
    isolation = Isolation(policy)
    return play_spec(MatchSpec("attack", game, bots, 1, options, isolation=isolation)).record


def faults(played: MatchRecord, name: str) -> list[str]:
    """Return the kinds of faults of a bot, in their order."""
    return [noted.fault.kind for noted in played.faults if played.bots[noted.player].name == name]


def stderr(played: MatchRecord) -> Mapping[str, str]:
    """Return what programs wrote to their standard error, by their names."""
    return {played.bots[player].name: text for player, text in played.stderr.items()}


async def started(bot: BotSpec, stack: ExitStack, policy: Policy = "require") -> StdioBot:
    """Start the program of a bot as a match would."""
    stdio_bot = await launch(bot, bot.command, LaunchPolicy(Sandbox(policy)), stack)
    assert isinstance(stdio_bot, StdioBot), stdio_bot
    return stdio_bot


async def next_line(bot: StdioBot) -> str:
    """Return the next line that a program writes."""
    return line_of(await bot.receive(PATIENCE)).decode()
