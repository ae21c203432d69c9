"""Runs what a command of the lab plays, shows how far it is, and leaves when interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from cw.cli.lab.progress import LabProgress
from cw.cli.output.announcements import Announcements
from cw.cli.output.readers import while_read
from cw.cli.output.stderr import Stderr
from cw.interruption import INTERRUPTED
from cw.lab.playing import Players, players

T = TypeVar("T")

Experiment: TypeAlias = Callable[[Players, LabProgress], Awaitable[T]]


def run(experiment: Experiment[T], jobs: int, to_go_on: str, *, verbose: bool) -> T:
    """Return what an experiment returns; when interrupted, say what goes on with it, and leave."""
    stderr = Stderr()
    try:
        # Within: what shows progress takes long to load, and may be interrupted too.
        announcements = Announcements(stderr, verbose=verbose)
        with LabProgress(stderr, announcements) as progress:
            return asyncio.run(played(experiment, jobs, progress, announcements))
    except KeyboardInterrupt:
        sentence = f"interrupted; all finished matches are kept: {to_go_on}"
        with while_read():
            stderr.say(sentence, soft_wrap=True)
        raise SystemExit(INTERRUPTED) from None


async def played(
    experiment: Experiment[T], jobs: int, progress: LabProgress, announcements: Announcements
) -> T:
    """Return what an experiment returns, and tell what its processes warned of."""
    async with players(jobs, progress.announce) as playing:
        result = await experiment(playing, progress)
    announcements.tell(playing.workers.warnings())
    return result
