"""A replay as a picture of one moment, and as an animation of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any, Final

from cw.drawing.scenes import STILL, Picture
from cw.drawing.shapes import Sheet
from cw.errors import UsageError
from cw.pictures.raster import gif
from cw.pictures.scenes import scenes
from cw.pictures.sheets import MOVING, sheet_of

Document = Mapping[str, Any]
Frames = Callable[[], Iterable[Any]]
"""Returns all frames of the replay, the start first."""


@dataclass(frozen=True, slots=True)
class DrawnReplay:
    """A replay, and how its game is drawn."""

    picture: Picture[Any]
    document: Document
    frames: Frames


Watched = Callable[[Iterable[Sheet], int], Iterable[Sheet]]
"""Is given the sheets of an animation and how many there are, and hands them on."""

SPEEDS: Final = (0.1, 100)
MOST_FRAMES: Final = 600
FASTEST: Final = 50
"""Frames a second that programs show as they are meant."""

LAST: Final = 200
"""Hundredths of a second for which the last frame stays."""

SAMPLES: Final = 6
"""Frames from which the colours of an animation are taken."""


def still(replay: DrawnReplay, turn: int) -> Sheet:
    """Draw the moment after so many turns; -1 is the last one, -2 the one before.

    Raises UsageError for a turn that is not there, and ProtocolError for what cannot be read.
    """
    return next(sheets(replay, [number_of(replay.document, turn)], STILL))


def animation(
    replay: DrawnReplay,
    span: tuple[int, int],
    speed: float,
    watched: Watched = lambda sheets, _: sheets,
) -> bytes:
    """Return the GIF file of the turns of a span, both ends with it and counted as in `still`.

    `speed` is turns a second, within SPEEDS. Turns are left out where they would be more than
    MOST_FRAMES, or faster than FASTEST. Raises as `still` does, and UsageError for another speed.
    """
    slowest, fastest = SPEEDS
    if not slowest <= speed <= fastest:
        raise UsageError(f"the speed must be {slowest} to {fastest} turns a second, not {speed}")
    first, last = (number_of(replay.document, turn) for turn in span)
    if first > last:
        raise UsageError(f"turn {first} comes after turn {last}")
    turns = evenly(first, last, ceil(max((last - first) / (MOST_FRAMES - 1), speed / FASTEST)))
    samples = evenly(first, last, ceil((last - first) / (SAMPLES - 1)))
    return gif(
        watched(sheets(replay, turns, MOVING), len(turns)),
        list(sheets(replay, samples, MOVING)),
        times(turns, speed),
    )


def number_of(document: Document, turn: int) -> int:
    """Count a turn from the start; raise UsageError if the replay has it not."""
    last = len(document["turns"])
    number = turn + last + 1 if turn < 0 else turn
    if not 0 <= number <= last:
        raise UsageError(f"the replay has the turns 0 to {last}, not {turn}")
    return number


def evenly(first: int, last: int, step: int) -> list[int]:
    """Return every so manyth turn, and the last one."""
    return [*range(first, last, max(1, step)), last]


def times(turns: Sequence[int], speed: float) -> list[int]:
    """Return how long each turn is shown, in hundredths of a second."""
    begins = [round(100 * turn / speed) for turn in turns]
    return [*(end - begin for begin, end in pairwise(begins)), LAST]


def sheets(replay: DrawnReplay, turns: Sequence[int], size: tuple[int, int]) -> Iterator[Sheet]:
    """Draw turns, in order."""
    return map(sheet_of, scenes(replay.picture, replay.document, replay.frames(), turns, size))
