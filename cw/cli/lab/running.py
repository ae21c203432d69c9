"""Runs an experiment for a command of the lab, shows its progress, and exits when interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from cw.cli.lab.progress import LabProgress
from cw.cli.output.announcements import Announcements
from cw.cli.output.readers import while_read
from cw.cli.output.stderr import Stderr
from cw.interruption import INTERRUPTED
from cw.lab.journal import Players, players

T = TypeVar("T")

Experiment: TypeAlias = Callable[[Players, LabProgress], Awaitable[T]]


def run(experiment: Experiment[T], jobs: int, to_go_on: str, *, verbose: bool) -> T:
    """Run an experiment and return its result; when interrupted, print how to continue and exit."""
    stderr = Stderr()
    try:
        # Inside the `try`, because the progress display takes long to load and that may be
        # interrupted too.
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
    """Run an experiment, print the warnings of its processes, and return its result."""
    async with players(jobs, progress.announce) as playing:
        result = await experiment(playing, progress)
    announcements.tell(playing.workers.warnings())
    return result
