"""Playing with the bots of tests/bots, which misbehave on purpose."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from cw.arena.processes import marked
from cw.arena.transports.stdio import Answer, StdioBot
from cw.games.rules import Fault
from tests.processes import is_running

BOTS = Path(__file__).resolve().parents[1] / "bots"
MOST_GROWTH = 10 * 2**20
PATIENCE = 120.0
"""Seconds that a bot has which is expected to answer: more than any machine needs."""


def memory() -> int:
    """Return the resident bytes of this process; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def small_memory() -> AsyncIterator[None]:
    """Check again and again that this process stays small while the block runs."""
    before = most = memory()

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, memory())
            await asyncio.sleep(0.01)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
    assert max(most, memory()) - before < MOST_GROWTH


@asynccontextmanager
async def playing(name: str, *arguments: str, **caps: Any) -> AsyncIterator[StdioBot]:
    """Run a bot of tests/bots; check that it costs no memory and that none of it is left."""
    async with small_memory():
        bot = await StdioBot.start([sys.executable, str(BOTS / name), *arguments], **caps)
        assert isinstance(bot, StdioBot), bot
        async with bot:
            yield bot
    # The system takes a moment to bury what was killed.
    wait_until(lambda: not list(marked(bot.mark)))
    wait_until(lambda: not is_running(bot.pid))


def processes_with(sign: str) -> dict[int, str]:
    """Return the command lines that hold a word, by the numbers of their processes."""
    commands = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            commands[folder.name] = (folder / "cmdline").read_text()
    return {int(name): command for name, command in commands.items() if sign in command}


def commands_with(sign: str) -> list[str]:
    """List the command lines that hold a word."""
    return [*processes_with(sign).values()]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something holds that must hold soon."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def line_of(answer: Answer | Fault | None) -> bytes:
    """Return the line of what must be an answer."""
    assert isinstance(answer, Answer), answer
    return answer.line


def fault_of(answer: object) -> Fault:
    """Return what must be a fault; its sentence is one a person can read."""
    assert isinstance(answer, Fault), answer
    assert answer.detail
    assert "\n" not in answer.detail.partition("; the end of its error output")[0]
    return answer


@asynccontextmanager
async def serving_bot(name: str) -> AsyncIterator[str]:
    """Run a bot of tests/bots/web; gives its base address."""
    command = [sys.executable, "-m", f"tests.bots.web.{name}"]
    bot = await StdioBot.start(command, cwd=BOTS.parents[1])
    assert isinstance(bot, StdioBot), bot
    async with bot:
        ready = line_of(await bot.receive(PATIENCE)).decode()
        bot.ignore_output()
        async with small_memory():
            yield ready.removeprefix("listening on ")
    wait_until(lambda: not list(marked(bot.mark)))
