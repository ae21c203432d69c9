"""Runs the steps of `cw check` for a bot in a process of its own, which can be stopped any time."""

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
"""Seconds that it has to stop its programs."""

LONGEST_LINE: Final = 1024 * 1024
QUOTED: Final = 2000
"""Characters of output to keep for an error."""


class Step(msgspec.Struct, frozen=True):
    """A step of a check, as reported by `cw check --json`."""

    step: str
    ok: bool
    problem: str = ""
    fix: str = ""
    warning: bool = False
    """Whether a problem does not fail the bot."""


class Check:
    """A check of a bot, running or finished."""

    def __init__(self, project: Project) -> None:
        """Prepare to check a bot in its current state."""
        bot = f"{MINE}={whole(project.bot())}"
        isolation = f"--sandbox={project.isolation.sandbox}"
        self._command = ("-m", "cw", "check", project.game, bot, "--json", isolation)
        self.steps: list[Step] = []
        self._other = ""
        """Any other output."""

    async def run(self) -> None:
        """Run all steps up to the first that fails; raise Failure if none can be run.

        Leaves no process running, even when cancelled.
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
        """Read a line: a step, or text that explains why there is none."""
        try:
            self.steps.append(documents.decode(line, Step))
        except msgspec.DecodeError:
            self._other = (self._other + line.decode(errors="replace"))[-QUOTED:]


async def ended(process: asyncio.subprocess.Process) -> None:
    """Stop a process and all that it has started."""
    if process.returncode is not None:
        return
    kill_group(process.pid, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), LEAVING)
    except TimeoutError:
        kill_group(process.pid, KILL)
        await process.wait()


def whole(bot: BotSpec) -> str:
    """Return the command-line argument for a program, with absolute paths to its folder's files.

    The process of the check does not start in that folder: Python would import modules from there.
    """
    source = source_of(bot)
    return f"exec:{shlex.join(anchored(part, source) for part in bot.command)}"
