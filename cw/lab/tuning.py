"""Tunes a bot's numbers: in each step it plays itself, with the numbers moved in both directions.

The numbers are a function of the finished matches, in the order of the steps. So an interrupted
tuning resumes where it was.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from cw.arena.bots import OWN_SETTING, SETTINGS
from cw.documents import read_toml
from cw.drawing import LIGHT, Part, Point, Rectangle, Shape, Sheet, Stroke, Text, colour_of
from cw.errors import UsageError, short
from cw.files import write_whole
from cw.games.rules import Json
from cw.lab.comparison import LineUp
from cw.lab.journal import Journal, Players
from cw.league.strength_tests import Point as TunedPoint
from cw.league.strength_tests import Tunable, gain, moved, settled, start_of, trial
from cw.matches.spec import MatchSpec
from cw.pictures.svg import svg

LARGEST: Final = 64 * 1024
"""Maximum bytes of a file of numbers."""

MOST: Final = 50
"""Maximum number of numbers tuned together."""

LARGEST_NUMBER: Final = 2**53

FIELDS: Final = ("start", "low", "high", "step")

EXAMPLE: Final = "[depth]\nstart = 4\nlow = 1\nhigh = 9\nstep = 2"
"""An example of a file of numbers."""


def read_parameters(file: Path) -> tuple[Tunable, ...]:
    """Read the numbers in a file; raise UsageError that names the file and the problem."""
    tables = read_toml(file, LARGEST)
    try:
        return parameters(tables)
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None


def parameters(tables: dict[str, Any]) -> tuple[Tunable, ...]:
    """Return the numbers in the tables of a file; raise ValueError for an invalid one.

    >>> from cw.documents import parse_toml
    >>> [each.whole for each in parameters(parse_toml(EXAMPLE.encode(), LARGEST))]
    [True]
    """
    if not 1 <= len(tables) <= MOST:
        raise ValueError(
            f"1 to {MOST} numbers can be tuned, each in a table like this one:\n{EXAMPLE}"
        )
    return tuple(parameter(name, table) for name, table in tables.items())


def parameter(name: str, table: Any) -> Tunable:
    """Return a number; it is whole if all its values are written as integers."""
    if not OWN_SETTING.fullmatch(name) or name in SETTINGS:
        raise ValueError(
            f"{short(name)} cannot be the name of a number: use up to 40 lower-case letters, digits"
            f" and _, a letter first, and none of {', '.join(SETTINGS)}"
        )
    if not isinstance(table, dict) or set(table) != set(FIELDS):
        raise ValueError(f"[{name}] needs {', '.join(FIELDS)}, and nothing else")
    for key in FIELDS:
        value = table[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{key} of [{name}] is not a number: {short(value)}")
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            raise ValueError(f"{key} of [{name}] is too large: {short(value)}")
    start, low, high, step = (float(table[key]) for key in FIELDS)
    number = Tunable(name, start, low, high, step, is_whole(table))
    if not number.low <= number.start <= number.high:
        raise ValueError(f"start of [{name}] must be from low to high")
    if not 0 < number.step <= number.high - number.low:
        raise ValueError(f"step of [{name}] must be above 0 and at most high - low")
    return number


def is_whole(table: dict[str, Any]) -> bool:
    """Return whether a number has only whole values."""
    return all(isinstance(table[key], int) for key in FIELDS)


def as_setting(number: Tunable, value: float) -> str:
    """Return a value as a setting of the bot.

    >>> as_setting(Tunable("depth", 4, 1, 9, 2, whole=True), 7.0)
    '7'
    """
    return str(round(value)) if number.whole else f"{value:.6g}"


@dataclass(frozen=True, slots=True)
class Tuning:
    """The settings of a tuning; the same settings give the same result."""

    base: LineUp
    """The line-up of the bot against itself, with the bots that fill the other seats."""
    numbers: tuple[Tunable, ...]
    steps: int
    pairs: int
    """Number of pairs per step."""
    seed: int

    @property
    def head(self) -> dict[str, Json]:
        """The header of its journal: everything on which the matches depend."""
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

    def between(self, first: tuple[str, TunedPoint], second: tuple[str, TunedPoint]) -> LineUp:
        """Return the line-up of two versions of the bot, each given as name suffix and point."""
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

    def settings(self, point: TunedPoint) -> dict[str, str]:
        """Return the bot's settings at a point."""
        return {number.name: as_setting(number, point[number.name]) for number in self.numbers}

    def pairs_of(self, line_up: LineUp, step: int) -> list[list[MatchSpec]]:
        """Return the matches of a step, pair by pair; steps are counted from 1."""
        first = self.seed + (step - 1) * self.pairs
        return [
            line_up.pair(f"step-{step}-pair-{pair}", first + pair) for pair in range(self.pairs)
        ]

    @property
    def contest_seed(self) -> int:
        """The seed of the final comparison; no match of the tuning is repeated."""
        return self.seed + self.steps * self.pairs


@dataclass(frozen=True, slots=True)
class Course:
    """The history of the numbers: the point at the start, then the point after each step."""

    tuning: Tuning
    points: tuple[TunedPoint, ...]
    scores: tuple[float, ...] = ()
    """The score of the `plus` side in each step, from 0 to 1."""

    @property
    def steps(self) -> int:
        """The number of finished steps."""
        return len(self.scores)

    @property
    def result(self) -> dict[str, float]:
        """The bot's final numbers; before the first step, the start values."""
        numbers = self.tuning.numbers
        return settled(numbers, self.points[1:] or self.points)

    @property
    def settings(self) -> dict[str, str]:
        """The result as bot settings."""
        return self.tuning.settings(self.result)


def moves(course: Course) -> list[str]:
    """Return a line per number, with its start value and its result."""
    start = course.tuning.settings(course.points[0])
    return [f"{name}: {start[name]} -> {value}" for name, value in course.settings.items()]


Watch: TypeAlias = Callable[[Course], None]
"""Called with the course after each step."""


async def tune(tuning: Tuning, journal: Journal, playing: Players, watch: Watch) -> Course:
    """Play all steps, and return the history of the numbers; recorded matches are not repeated."""
    course = Course(tuning, (start_of(tuning.numbers),))
    for _ in range(tuning.steps):
        course = await after_step(course, journal, playing)
        watch(course)
    return course


async def after_step(course: Course, journal: Journal, playing: Players) -> Course:
    """Play one more step, and return the history with it."""
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


CSV_FILE: Final = "numbers.csv"
PICTURE: Final = "numbers.svg"

WIDTH: Final = 720
PANEL: Final = 150
"""The height of a number's panel, in pixels."""

PLOT: Final = (70.0, 40.0, 620.0, 80.0)
"""The area of the curve in a panel, in pixels: left, top, width and height."""

SIZE: Final = 13
"""The text size, in pixels."""

MOST_DRAWN: Final = 1000
"""Maximum points drawn of a curve: more cannot be distinguished."""


def write_course(folder: Path, course: Course) -> None:
    """Write both files; raise Failure if either cannot be written."""
    write_whole(folder / CSV_FILE, table(course).encode())
    write_whole(folder / PICTURE, svg(picture(course)))


def table(course: Course) -> str:
    """Return CSV with one line per step: the score of its trial, and each number after it."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [number.name for number in course.tuning.numbers]
    writer.writerow(["step", "score", *names])
    for step, point in enumerate(course.points):
        score = f"{course.scores[step - 1]:.6g}" if step else ""
        writer.writerow([step, score, *(f"{point[name]:.6g}" for name in names)])
    return text.getvalue()


def picture(course: Course) -> Sheet:
    """Return a canvas with one panel per number, which shows its curve, bounds and result."""
    numbers = course.tuning.numbers
    bot = course.tuning.base.new
    return Sheet(
        WIDTH,
        PANEL * len(numbers),
        LIGHT.ground,
        f"{bot}: {len(numbers)} numbers over {course.steps} steps",
        tuple(
            Part(tuple(panel(course, number, seat)), y=float(PANEL * seat))
            for seat, number in enumerate(numbers)
        ),
    )


def panel(course: Course, number: Tunable, seat: int) -> Iterator[Shape]:
    """Yield the shapes of a number's panel."""
    left, top, width, height = PLOT
    values = [point[number.name] for point in course.points]
    result = course.result[number.name]
    yield Rectangle(left, top, width, height, LIGHT.line, 0.35)
    yield from scale(course, number)
    start, end = (as_setting(number, value) for value in (number.start, result))
    yield Text(left, top - 18, f"{number.name}: {start} → {end}", SIZE + 2, LIGHT.ink, "start")
    level = height_of(number, result)
    yield Stroke((left, level), (left + width, level), 1, LIGHT.muted, 0.8)
    for before, after in pairwise(curve(number, values, course.tuning.steps)):
        yield Stroke(before, after, 2, colour_of(seat, dark=False))


def scale(course: Course, number: Tunable) -> Iterator[Shape]:
    """Yield the labels of a panel: the bounds on its left, the first and last step below it."""
    left, top, width, height = PLOT
    for value in (number.high, number.low):
        y = height_of(number, value)
        yield Text(left - 8, y, as_setting(number, value), SIZE, LIGHT.muted, "end")
    below = top + height + 14
    yield Text(left, below, "start", SIZE, LIGHT.muted, "start")
    yield Text(left + width, below, f"step {course.tuning.steps}", SIZE, LIGHT.muted, "end")


def curve(number: Tunable, values: Sequence[float], steps: int) -> list[Point]:
    """Return the points of a curve, thinned out to what can be distinguished."""
    left, _, width, _ = PLOT
    stride = max(1, len(values) // MOST_DRAWN)
    return [
        (left + width * step / steps, height_of(number, values[step]))
        for step in range(0, len(values), stride)
    ]


def height_of(number: Tunable, value: float) -> float:
    """Return the y coordinate of a value in a panel, in pixels from the top."""
    _, top, _, height = PLOT
    return top + height * (number.high - value) / (number.high - number.low)
