"""Benchmark of the start-up time of commands, compared to importing click."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from resource import RUSAGE_CHILDREN, getrusage
from typing import Final, NamedTuple

from bench.rows import Effort, Goal, NotMeasured, Row, medians
from bench.server import ROOT

YARDSTICK: Final = "import click"
START: Final = '{"state": null, "options": {}}\n'


class Timed(NamedTuple):
    """A command, what it reads, and the milliseconds of CPU that it may take."""

    arguments: Sequence[str]
    most: float
    typed: str = ""


PLAY: Final = ("play", "paint", "builtin:greedy", "builtin:random", "--seed", "1", "--no-replay")

COMMANDS: Final[Mapping[str, Timed]] = {
    "cw --help": Timed(["--help"], 250),
    "cw step paint, one line": Timed(["step", "paint"], 250, START),
    "cw bots": Timed(["bots"], 250),
    "cw play paint, built-ins, 100 turns": Timed(PLAY, 450),
}


def rows(effort: Effort) -> list[Row]:
    """Compare the CPU time of a command, from its start to its end, with that of the import.

    Nothing is waited for, so that a quiet machine takes as long; a busy one distorts it less.
    """
    runs = {
        name: partial(milliseconds, ["-m", "cw", *command.arguments], command.typed)
        for name, command in COMMANDS.items()
    }
    runs[YARDSTICK] = partial(milliseconds, ["-c", YARDSTICK])
    figures = medians(runs, effort.matches)
    return [
        Row(
            "commands",
            name,
            figures[name],
            "ms",
            YARDSTICK,
            figures[YARDSTICK],
            Goal("<=", command.most, "ours"),
        )
        for name, command in COMMANDS.items()
    ]


def milliseconds(arguments: Sequence[str], typed: str = "") -> float:
    """Return the CPU time of an interpreter; raise NotMeasured if it fails."""
    before = spent()
    done = subprocess.run(
        [sys.executable, *arguments],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    duration = spent() - before
    if done.returncode != 0:
        raise NotMeasured(f"{' '.join(arguments)} has failed: {done.stderr.strip()}")
    return duration * 1000


def spent() -> float:
    """Return the seconds of CPU that processes have taken which have ended."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
