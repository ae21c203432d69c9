"""Benchmark of matches between two `agent` files, compared to kaggle-environments."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from bench.rows import INSTALL, Effort, Row, medians
from cw.arena.bots import BotSpec
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec

FIRST_FREE_SEGMENT: Final = """
BORDERS = {1: "top", 2: "right", 4: "bottom", 8: "left"}

def agent(observation, configuration):
    for y, row in enumerate(observation.board):
        for x, square in enumerate(row):
            for bit, border in BORDERS.items():
                if not square & bit:
                    return f"{x},{y},{border}"
"""

FIRST_FREE_COLUMN: Final = """
def agent(observation, configuration):
    for column in range(configuration.columns):
        if observation.board[column] == 0:
            return column
"""

OURS: Final = "Circuit Wars 7x7, two files, a process each"
CONNECT_X: Final = "kaggle-environments connectx, in its process"


def rows(effort: Effort) -> list[Row]:
    """Compare calls of agents per second."""
    with TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "segments.py"), Path(folder, "columns.py")
        ours.write_text(FIRST_FREE_SEGMENT, encoding="utf-8")
        theirs.write_text(FIRST_FREE_COLUMN, encoding="utf-8")
        runs: dict[str, Callable[[], float]] = {OURS: partial(play, ours)}
        if (environment := connect_x()) is not None:
            runs[CONNECT_X] = partial(play_connect_x, environment, theirs)
        figures = medians(runs, effort.matches)
    note = "" if CONNECT_X in figures else INSTALL
    return [
        Row("agents", OURS, figures[OURS], "calls/s", CONNECT_X, figures.get(CONNECT_X), note=note)
    ]


def play(file: Path) -> float:
    """Play a match between two processes of the file; return the calls per second.

    The first two calls, before which Python starts, do not count.
    """
    times = []

    def note(_: MatchProgress) -> None:
        times.append(perf_counter())

    bots = tuple(BotSpec(name, "python", str(file)) for name in ("one", "two"))
    asyncio.run(run_match(MatchSpec("bench", "circuit-wars", bots, 1), on_turn=note))
    counted = times[2:]
    return (len(counted) - 1) / (counted[-1] - counted[0])


def connect_x() -> Any:
    """Make the environment; None where the package is missing."""
    # It prints which of its other environments lack a package.
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return import_module("kaggle_environments").make("connectx")
        except ImportError:
            return None


def play_connect_x(environment: Any, file: Path) -> float:
    """Play a match between the file and itself; return the calls per second."""
    environment.reset()
    began = perf_counter()
    steps = environment.run([str(file), str(file)])
    return (len(steps) - 1) / (perf_counter() - began)
