"""Runs what a command of the lab plays, shows how far it is, and leaves when interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, TypeVar

from cw.cli.lab.progress import LabProgress
from cw.cli.output.announcements import Announcements
from cw.cli.output.stderr import Stderr
from cw.lab.playing import Players, players

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 1 says that a bot is not stronger."""

T = TypeVar("T")

Experiment: TypeAlias = Callable[[Players, LabProgress], Awaitable[T]]


def run(experiment: Experiment[T], jobs: int, to_go_on: str, *, verbose: bool) -> T:
    """Return what an experiment returns; when interrupted, say what goes on with it, and leave."""
    stderr = Stderr()
    announcements = Announcements(stderr, verbose=verbose)

    async def played(progress: LabProgress) -> T:
        async with players(jobs, progress.announce) as playing:
            result = await experiment(playing, progress)
        announcements.tell(playing.workers.warnings())
        return result

    try:
        with LabProgress(stderr, announcements) as progress:
            return asyncio.run(played(progress))
    except KeyboardInterrupt:
        stderr.say(f"interrupted, and no match that was over is lost: {to_go_on}", soft_wrap=True)
        raise SystemExit(INTERRUPTED) from None
