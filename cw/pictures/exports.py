"""Exports of a replay: one turn as a still image, a span of turns as an animated GIF."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from math import ceil
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta
from PIL import Image

from cw import documents
from cw.drawing import BEFORE, MOST_PLAYERS, STILL, DrawnPlayer, Picture, Scene, Sheet, fitting
from cw.errors import ProtocolError, UsageError
from cw.pictures.raster import coloured, gif, palette_of
from cw.pictures.sheets import MOVING, SMALLEST, Result, board_sheet, sheet_of

T = TypeVar("T")


class Head(msgspec.Struct, frozen=True):
    """The parts of a replay needed for drawing, in addition to its frames."""

    players: Annotated[tuple[DrawnPlayer, ...], Meta(min_length=1, max_length=MOST_PLAYERS)]


def scenes(
    picture: Picture[Any],
    document: Mapping[str, Any],
    frames: Iterable[Any],
    turn_numbers: Sequence[int],
    size: tuple[int, int],
) -> Iterator[Scene[Any]]:
    """Yield the scenes after the chosen turns, which must be in ascending order.

    `size` is the wanted length of the board's longer side, and the maximum cell size, in pixels.
    Raises ProtocolError if the document or a frame is invalid.
    """
    head = read(document, Head, "the replay")
    index = {str(seat.player): number for number, seat in enumerate(head.players)}
    recent: deque[Any] = deque(maxlen=BEFORE + 1)
    targets = frozenset(turn_numbers)
    drawn = {turn - back for turn in targets for back in range(BEFORE + 1)}
    first = max(0, turn_numbers[0] - BEFORE)
    for turn, value in enumerate(islice(frames, first, turn_numbers[-1] + 1), first):
        if turn not in drawn:
            continue
        frame = read(value, picture.frame, f"the frame after turn {turn}")
        if recent and picture.extent(frame) != picture.extent(recent[0]):
            raise ProtocolError(f"the board changes its size in turn {turn}")
        recent.appendleft(frame)
        if turn in targets:
            scale = fitting(picture.extent(frame), *size)
            now, *past = recent
            turns = document["turns"]
            yield Scene(picture, head.players, turn, turns, now, tuple(past), scale, index)


def read(value: Any, kind: type[T], what: str) -> T:
    """Convert a document to a type; if it is invalid, raise ProtocolError saying where."""
    try:
        return documents.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{what} cannot be drawn: {error}") from None


Document = Mapping[str, Any]
Frames = Callable[[], Iterable[Any]]
"""Returns an iterable of all frames of the replay, the start first."""


@dataclass(frozen=True, slots=True)
class DrawnReplay:
    """A replay with the `Picture` of its game, which draws the frames."""

    picture: Picture[Any]
    document: Document
    frames: Frames
    result: Result | None = None
    """The result shown after the last turn, or None."""


@dataclass(frozen=True, slots=True)
class Animation:
    """A GIF file, and the turns it shows."""

    data: bytes
    frames: int
    step: int
    """The number of turns between frames; the last turn always has a frame."""


Watched = Callable[[Iterable[Image.Image], int], Iterable[Image.Image]]
"""Passes on the images of an animation to show progress; the second argument is their number."""

SPEEDS: Final = (0.1, 100)
"""The allowed range of speeds, in turns per second."""

MOST_FRAMES: Final = 300
"""The maximum number of frames in an animation."""

MOST_WORK: Final = 600_000
"""The maximum work for all frames of an animation together, in the unit of `mean_work`.

It takes a few seconds.
"""

REPAINTED: Final = 3
"""The work for painting a changed shape, in addition to drawing it."""

FASTEST: Final = 50
"""The maximum frame rate, per second, that GIF viewers show at its true speed."""

LAST: Final = 200
"""The duration of the last frame, in hundredths of a second."""

SAMPLES: Final = 6
"""The number of frames from which the palette of an animation is made."""


def still(replay: DrawnReplay, turn: int) -> Sheet:
    """Return the sheet of the frame after `turn` turns; -1 is the last frame, -2 the one before.

    Raises UsageError if the replay has no such turn, and ProtocolError if the document is invalid.
    """
    return next(sheets(replay, [number_of(replay.document, turn)], STILL))


def thumbnail(replay: DrawnReplay, *, dark: bool) -> Sheet:
    """Return a small sheet with only the last board, for a light or a dark page.

    A game that is always dark stays dark. Raises the same errors as `still`.
    """
    last = number_of(replay.document, -1)
    picture = replace(replay.picture, dark=dark or replay.picture.dark)
    frames = scenes(picture, replay.document, replay.frames(), [last], SMALLEST)
    return board_sheet(next(frames))


def animation(
    replay: DrawnReplay,
    span: tuple[int, int],
    speed: float,
    watched: Watched = lambda images, _: images,
) -> Animation:
    """Return the animation of a span of turns, both ends included and counted as in `still`.

    `speed` is in turns per second, within SPEEDS. Turns are skipped at regular intervals if there
    would be more than MOST_FRAMES frames, more than MOST_WORK, or more than FASTEST frames per
    second. Raises the same errors as `still`, and UsageError for a speed out of range.
    """
    slowest, fastest = SPEEDS
    if not slowest <= speed <= fastest:
        raise UsageError(f"the speed must be {slowest} to {fastest} turns a second, not {speed}")
    first, last = (number_of(replay.document, turn) for turn in span)
    if first > last:
        raise UsageError(f"turn {first} comes after turn {last}")
    sampled_turns = evenly(first, last, ceil((last - first) / (SAMPLES - 1)))
    samples = list(sheets(replay, sampled_turns, MOVING))
    step = max(1, ceil(max((last - first) / frames_of(samples), speed / FASTEST)))
    turns = evenly(first, last, step)
    with closing(coloured(sheets(replay, turns, MOVING), palette_of(samples))) as images:
        data = gif(watched(images, len(turns)), times(turns, speed))
    return Animation(data, len(turns), step)


def frames_of(samples: Sequence[Sheet]) -> int:
    """Return how many frames like these an animation may have in addition to its first one."""
    return min(MOST_FRAMES - 1, max(1, int(MOST_WORK / mean_work(samples))))


def mean_work(samples: Sequence[Sheet]) -> float:
    """Return the work for a frame like these: drawing all shapes, and painting the changed ones.

    More shapes change between samples than between consecutive frames, so this is an overestimate.
    """
    shapes = [
        Counter(chain.from_iterable(part.shapes for part in sheet.parts)) for sheet in samples
    ]
    changed = sum((after - before).total() for before, after in pairwise(shapes))
    return (sum(count.total() for count in shapes) + REPAINTED * changed) / len(samples)


def number_of(document: Document, turn: int) -> int:
    """Convert a turn to one counted from the start; raise UsageError if it does not exist."""
    last = len(document["turns"])
    number = turn + last + 1 if turn < 0 else turn
    if not 0 <= number <= last:
        raise UsageError(f"the replay has the turns 0 to {last}, not {turn}")
    return number


def evenly(first: int, last: int, step: int) -> list[int]:
    """Return every `step`th turn from the first one, and in any case the last one."""
    return [*range(first, last, max(1, step)), last]


def times(turns: Sequence[int], speed: float) -> list[int]:
    """Return the duration of each turn's frame, in hundredths of a second."""
    begins = [round(100 * turn / speed) for turn in turns]
    return [*(end - begin for begin, end in pairwise(begins)), LAST]


def sheets(replay: DrawnReplay, turns: Sequence[int], size: tuple[int, int]) -> Iterator[Sheet]:
    """Return an iterator over the sheets of some turns, which must be in ascending order."""
    frames = scenes(replay.picture, replay.document, replay.frames(), turns, size)
    return (sheet_of(scene, replay.result) for scene in frames)
