"""The steps of `cw check` for a bot: in a process of their own, which can be ended at any step."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from typing import Final

import msgspec

from cw import documents
from cw.arena.bots import BotSpec
from cw.arena.processes import KILL, OWN_GROUP, kill_group
from cw.arena.sources import anchored, source_of
from cw.errors import Failure
from cw.workshop.project import MINE, Project

LEAVING: Final = 0.5
"""Seconds that it has to end its programs."""

LONGEST_LINE: Final = 1024 * 1024
QUOTED: Final = 2000
"""Characters of what is told where it fails."""


class Step(msgspec.Struct, frozen=True):
    """A step of a check, as `cw check --json` tells it."""

    step: str
    ok: bool
    problem: str = ""
    fix: str = ""
    warning: bool = False
    """Whether a problem does not decide about the bot."""


class Check:
    """A check of a bot, while it goes on and afterwards."""

    def __init__(self, project: Project) -> None:
        """Prepare to check a bot as it is now."""
        bot = f"{MINE}={whole(project.bot())}"
        isolation = f"--sandbox={project.isolation.sandbox}"
        self._command = ("-m", "cw", "check", project.game, bot, "--json", isolation)
        self.steps: list[Step] = []
        self._other = ""
        """What else it told."""

    async def run(self) -> None:
        """Take all steps, up to the first that fails; raise Failure if none can be taken.

        Afterwards, also when cancelled, nothing of it runs.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LONGEST_LINE,
            **OWN_GROUP,
        )
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                self._take(line)
            await process.wait()
        finally:
            await ended(process)
        if not self.steps:
            raise Failure(self._other.strip() or "the check did not start")

    def _take(self, line: bytes) -> None:
        """Take in a line: a step, or words about why there is none."""
        try:
            self.steps.append(documents.decode(line, Step))
        except msgspec.DecodeError:
            self._other = (self._other + line.decode(errors="replace"))[-QUOTED:]


async def ended(process: asyncio.subprocess.Process) -> None:
    """End a process with all that it has started."""
    if process.returncode is not None:
        return
    kill_group(process.pid, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), LEAVING)
    except TimeoutError:
        kill_group(process.pid, KILL)
        await process.wait()


def whole(bot: BotSpec) -> str:
    """Return the argument of a command for a program, with the files of its folder by whole paths.

    The process of the check is not started in that folder: Python would import modules from there.
    """
    source = source_of(bot)
    return f"exec:{shlex.join(anchored(part, source) for part in bot.command)}"
