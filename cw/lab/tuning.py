"""Tunes numbers of a bot: in each step it plays itself, with the numbers moved either way.

The numbers are a function of the finished matches, in the order of the steps. So an interrupted
tuning resumes where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from cw.games.rules import Json
from cw.lab.journal import Journal
from cw.lab.line_up import LineUp
from cw.lab.parameters import as_setting
from cw.lab.playing import Players
from cw.league.statistics.spsa import Point, Tunable, gain, moved, settled, start_of, trial
from cw.matches.spec import MatchSpec


@dataclass(frozen=True, slots=True)
class Tuning:
    """The settings of a tuning; the same settings give the same result."""

    base: LineUp
    """The bot twice, and the bots that fill the other seats."""
    numbers: tuple[Tunable, ...]
    steps: int
    pairs: int
    """Pairs per step."""
    seed: int

    @property
    def head(self) -> dict[str, Json]:
        """The header of its journal: everything that the matches depend on."""
        return {
            "kind": "tuning",
            "game": self.base.game,
            "bots": [bot.spec for bot in self.base.bots],
            "settings": self.base.new_bot.own_settings,
            "options": self.base.options,
            "numbers": [msgspec.to_builtins(number) for number in self.numbers],
            "steps": self.steps,
            "pairs": self.pairs,
            "seed": self.seed,
        }

    def between(self, first: tuple[str, Point], second: tuple[str, Point]) -> LineUp:
        """Return the line-up of two versions of the bot, each a name suffix and a point."""
        bot, secrets = self.base.new_bot, self.base.secrets
        versions = [
            msgspec.structs.replace(
                bot.with_settings(self.settings(point)), name=f"{bot.name}-{suffix}"
            )
            for suffix, point in (first, second)
        ]
        known = {version.name: secrets.get(bot.name, {}) for version in versions}
        return replace(
            self.base, bots=(*versions, *self.base.bots[2:]), secrets={**secrets, **known}
        )

    def settings(self, point: Point) -> dict[str, str]:
        """Return the bot's settings for a point."""
        return {number.name: as_setting(number, point[number.name]) for number in self.numbers}

    def pairs_of(self, line_up: LineUp, step: int) -> list[list[MatchSpec]]:
        """Return the matches of a step, counted from 1, pair by pair."""
        first = self.seed + (step - 1) * self.pairs
        return [
            line_up.pair(f"step-{step}-pair-{pair}", first + pair) for pair in range(self.pairs)
        ]

    @property
    def contest_seed(self) -> int:
        """The seed of the final comparison, which repeats no match of the tuning."""
        return self.seed + self.steps * self.pairs


@dataclass(frozen=True, slots=True)
class Course:
    """The course of the numbers: the point at the start, then the point after each step."""

    tuning: Tuning
    points: tuple[Point, ...]
    scores: tuple[float, ...] = ()
    """For each step, the score of the side whose lots were `plus`, from 0 to 1."""

    @property
    def steps(self) -> int:
        """The number of finished steps."""
        return len(self.scores)

    @property
    def result(self) -> dict[str, float]:
        """The bot's final numbers; before the first step, those of the start."""
        numbers = self.tuning.numbers
        return settled(numbers, self.points[1:] or self.points)

    @property
    def settings(self) -> dict[str, str]:
        """The result as bot settings."""
        return self.tuning.settings(self.result)


def moves(course: Course) -> list[str]:
    """Return the start and the result of each number."""
    start = course.tuning.settings(course.points[0])
    return [f"{name}: {start[name]} -> {value}" for name, value in course.settings.items()]


Watch: TypeAlias = Callable[[Course], None]
"""Called with the course after each step."""


async def tune(tuning: Tuning, journal: Journal, playing: Players, watch: Watch) -> Course:
    """Play all steps, and return the course of the numbers; recorded matches are not repeated."""
    course = Course(tuning, (start_of(tuning.numbers),))
    for _ in range(tuning.steps):
        course = await after_step(course, journal, playing)
        watch(course)
    return course


async def after_step(course: Course, journal: Journal, playing: Players) -> Course:
    """Play one more step."""
    tuning, step, point = course.tuning, course.steps + 1, course.points[-1]
    sides = trial(tuning.numbers, point, step, tuning.seed)
    line_up = tuning.between(("plus", sides.plus), ("minus", sides.minus))
    pairs = tuning.pairs_of(line_up, step)
    specs = [spec for pair in pairs for spec in pair]
    async with aclosing(playing.play(specs, line_up.secrets, journal)) as finished:
        async for _ in finished:
            pass
    scores = [line_up.score(spec, journal.lines[spec.id].ranks) for spec in specs]
    score = sum(scores) / len(scores)
    share = gain(step, tuning.steps)
    after = moved(tuning.numbers, point, sides.signs, score, share)
    return replace(course, points=(*course.points, after), scores=(*course.scores, score))
