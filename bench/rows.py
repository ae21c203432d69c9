"""Result rows of the benchmark: measured values, each next to its yardstick."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from statistics import median
from time import perf_counter
from types import MappingProxyType
from typing import Final, Literal

import click

INSTALL: Final = "not installed: pip install -r bench/requirements.txt"

SIGNS: Final = MappingProxyType(
    {
        ">=": operator.ge,
        ">": operator.gt,
        "<=": operator.le,
        "<": operator.lt,
        "=": operator.eq,
    }
)


class NotMeasured(click.ClickException):
    """Something went wrong that leaves no figures."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    repeats: int
    seconds: float
    """How long each contender runs in each repeat."""
    matches: int
    """How often the whole match is played: once takes a second."""
    rooms: int
    """Games of the classroom."""
    size: int
    """Squares in a row of the classroom's boards."""


FULL: Final = Effort(repeats=101, seconds=0.04, matches=21, rooms=50, size=7)
QUICK: Final = Effort(repeats=11, seconds=0.02, matches=3, rooms=10, size=3)


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on the ratio, or on our own figure."""

    sign: Literal[">=", ">", "<=", "<", "="]
    bound: float
    of: Literal["ratio", "ours"] = "ratio"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside its yardstick; None stands for what could not be measured."""

    part: str
    what: str
    ours: float | None
    unit: str
    yardstick: str
    theirs: float | None
    aim: Goal | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Our figure as a multiple of the yardstick's."""
        return self.ours / self.theirs if self.ours is not None and self.theirs else None

    @property
    def goal(self) -> str:
        """The goal in words, "" if there is none."""
        if self.aim is None:
            return ""
        return f"{self.aim.sign} {self.aim.bound:g} {'x' if self.aim.of == 'ratio' else self.unit}"

    @property
    def figure(self) -> float | None:
        """What the goal bounds; without a goal the ratio."""
        return self.ours if self.aim and self.aim.of == "ours" else self.ratio

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal or without figures."""
        if self.aim is None or self.figure is None:
            return None
        return bool(SIGNS[self.aim.sign](self.figure, self.aim.bound))

    @property
    def margin(self) -> float | None:
        """How many times better than its goal the figure is; None where `met` is None.

        What must equal its goal is infinitely good, or 0.
        """
        if self.aim is None or self.figure is None:
            return None
        if self.aim.sign == "=" or not self.figure:
            return inf if self.met else 0.0
        times = self.figure / self.aim.bound
        return times if self.aim.sign in (">=", ">") else 1 / times


def rate(step: Callable[[], int], seconds: float) -> float:
    """Repeat a step for some time and give what it counts, per second."""
    count = 0
    start = now = perf_counter()
    while now - start < seconds:
        count += step()
        now = perf_counter()
    return count / (now - start)


def medians(runs: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Let all run in turn, again and again, and give the median of each one's figures."""
    # In turn, so that a slow moment of the machine strikes all of them alike.
    rounds = [{name: run() for name, run in runs.items()} for _ in range(repeats)]
    return {name: median(figures[name] for figures in rounds) for name in runs}
