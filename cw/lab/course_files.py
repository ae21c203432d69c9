"""The course of tuned numbers, as CSV for spreadsheets and as a picture."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Final

from cw.drawing.palette import LIGHT, colour_of
from cw.drawing.shapes import Part, Point, Rectangle, Shape, Sheet, Stroke, Text
from cw.files import write_whole
from cw.lab.parameters import as_setting
from cw.lab.tuning import Course
from cw.league.statistics.spsa import Tunable
from cw.pictures.svg import svg

CSV_FILE: Final = "numbers.csv"
PICTURE: Final = "numbers.svg"

WIDTH: Final = 720
PANEL: Final = 150
"""The height of a number's panel, in pixels."""

PLOT: Final = (70.0, 40.0, 620.0, 80.0)
"""The position of the curve in a panel: left, top, width and height."""

SIZE: Final = 13
"""The size of text, in pixels."""

MOST_DRAWN: Final = 1000
"""Most points drawn of a curve: more cannot be distinguished."""


def write_course(folder: Path, course: Course) -> None:
    """Write both files; raise Failure if either cannot be written."""
    write_whole(folder / CSV_FILE, table(course).encode())
    write_whole(folder / PICTURE, svg(picture(course)))


def table(course: Course) -> str:
    """Return one line per step: the score of its trial, and each number after it."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [number.name for number in course.tuning.numbers]
    writer.writerow(["step", "score", *names])
    for step, point in enumerate(course.points):
        score = f"{course.scores[step - 1]:.6g}" if step else ""
        writer.writerow([step, score, *(f"{point[name]:.6g}" for name in names)])
    return text.getvalue()


def picture(course: Course) -> Sheet:
    """Return one panel per number, with its curve between its bounds and its result."""
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
    """Yield the panel of a number."""
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
    """Yield the bounds to the left of a panel, and its first and last step below."""
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
    """Return the height of a value in a panel, in pixels from the top."""
    _, top, _, height = PLOT
    return top + height * (number.high - value) / (number.high - number.low)
