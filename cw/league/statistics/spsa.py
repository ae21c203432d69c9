"""Simultaneous perturbation: moves a bot's numbers to where it is strongest (Spall, 1992).

In each step every number is moved a little, up or down by lot, and the bot with the numbers of one
side plays the bot with those of the other. All numbers then move towards the winner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Final, TypeAlias

REACH_DECAY: Final = 0.101
GAIN_DECAY: Final = 0.602
"""Exponents by which the reach of a trial and the gain shrink, as recommended by Spall."""

STABLE: Final = 0.1
"""Share of all steps in which the gain hardly shrinks."""

LEAST_REACH: Final = 0.5
"""Minimum reach of an integer, so that both sides of a trial always differ by one."""

SETTLED: Final = 0.5
"""Share of the steps, the last ones, whose mean is the result: single points scatter."""

Point: TypeAlias = Mapping[str, float]
"""The value of each number, by name."""


@dataclass(frozen=True, slots=True)
class Tunable:
    """A number to tune, from `low` to `high`."""

    name: str
    start: float
    low: float
    high: float
    step: float
    """How far the first trial moves it from its value, and at most its result."""
    whole: bool = False
    """Whether the bot gets only integers."""

    def clipped(self, value: float) -> float:
        """Return the nearest value within the bounds."""
        return min(self.high, max(self.low, value))

    def played(self, value: float) -> float:
        """Return the nearest value that the bot can receive; a half is rounded up."""
        return self.clipped(math.floor(value + 0.5) if self.whole else value)


@dataclass(frozen=True, slots=True)
class Trial:
    """Two bots that play each other, with the numbers on each side of a point."""

    plus: Point
    minus: Point
    signs: Mapping[str, int]
    """1 if a number is above its value in `plus`, -1 if below."""


def start_of(numbers: Sequence[Tunable]) -> dict[str, float]:
    """Return the starting point of all numbers."""
    return {number.name: number.start for number in numbers}


def trial(numbers: Sequence[Tunable], point: Point, step: int, seed: int) -> Trial:
    """Return the players of a step, counted from 1; lots are drawn from the seed and the step.

    >>> depth = Tunable("depth", start=4, low=1, high=9, step=2, whole=True)
    >>> both = trial([depth], {"depth": 4.0}, step=1, seed=7)
    >>> sorted((both.plus["depth"], both.minus["depth"]))
    [2, 6]
    """
    lots = Random(f"{seed} {step}")
    signs = {number.name: lots.choice((-1, 1)) for number in numbers}
    shift = {number.name: signs[number.name] * reach(number, step) for number in numbers}
    return Trial(
        {number.name: number.played(point[number.name] + shift[number.name]) for number in numbers},
        {number.name: number.played(point[number.name] - shift[number.name]) for number in numbers},
        signs,
    )


def reach(number: Tunable, step: int) -> float:
    """Return how far a trial moves a number from its value."""
    shrunk = number.step * math.pow(step, -REACH_DECAY)
    return max(LEAST_REACH, shrunk) if number.whole else shrunk


def gain(step: int, steps: int) -> float:
    """Return the share of a number's `step` by which a trial moves it if one side wins all."""
    stable = STABLE * steps
    return math.pow((stable + 1) / (stable + step), GAIN_DECAY) * math.pow(step, REACH_DECAY)


def moved(
    numbers: Sequence[Tunable], point: Point, signs: Mapping[str, int], score: float, share: float
) -> dict[str, float]:
    """Return the point after a trial with this score of `plus`, from 0 to 1.

    `share` is the `gain` of the step.
    """
    lead = 2 * score - 1
    return {
        number.name: number.clipped(
            point[number.name] + number.step * share * lead * signs[number.name]
        )
        for number in numbers
    }


def settled(numbers: Sequence[Tunable], points: Sequence[Point]) -> dict[str, float]:
    """Return the result: the bot's values for the mean of the last points, at least one."""
    last = points[-max(1, round(len(points) * SETTLED)) :]
    return {
        number.name: number.played(fmean(point[number.name] for point in last))
        for number in numbers
    }
