"""The start of a game: presets, start squares and obstacles (rule book, "Start")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from random import Random
from types import MappingProxyType
from typing import Final

from cw.errors import ProtocolError, UsageError
from cw.games.paint.state import DIRECTIONS, Square, State, check_ids
from cw.games.rules import Json, refuse_unknown_options, whole_number

LONGEST_SIDE: Final = 100
MOST_TURNS: Final = 5000
FARTHEST_FIRST: Final = "cw.games.paint.farthest_first:farthest_first"
OPTIONS: Final = ("board", "width", "height", "turns", "obstacle_percent", "history")


@dataclass(frozen=True, slots=True)
class Preset:
    """A board as described by the options."""

    width: int
    height: int
    turns: int
    starts: tuple[Square, ...] = ()
    """The start square of each player; empty if the placement rule decides."""
    painted: tuple[tuple[Square, ...], ...] = ()
    """The squares that each player owns at the start; empty if each owns only its start square."""
    obstacle_percent: int = 0
    """The maximum share of obstacles among all squares, in percent."""


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "square": Preset(10, 10, 100),
        "wide": Preset(
            11,
            5,
            110,
            starts=((2, 3), (2, 7)),
            painted=(
                ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3)),
                ((2, 7), (2, 8), (2, 9), (3, 8), (3, 9)),
            ),
        ),
        "duel": Preset(13, 7, 130, starts=((3, 1), (3, 11))),
        "crossed": Preset(13, 7, 130, starts=((5, 5), (1, 7))),
        "rocks": Preset(13, 9, 130, obstacle_percent=12),
        "large": Preset(20, 20, 200),
    }
)


def new_state(players: Json, seed: int, options: Mapping[str, Json]) -> State:
    """Return the start state; raise UsageError if an option is unknown or invalid."""
    refuse_unknown_options(options, OPTIONS)
    whole_number("seed", seed, 0, 2**31 - 1)
    preset = choose_preset(options)
    ids = choose_ids(players, preset.width * preset.height)
    if preset.starts and len(ids) != len(preset.starts):
        raise UsageError(
            f"board {options.get('board')!r} is for {len(preset.starts)} players, not {len(ids)}"
        )
    starts = preset.starts or place_starts(preset.height, preset.width, len(ids))
    painted = preset.painted or tuple((start,) for start in starts)
    obstacles = place_obstacles(preset, starts, painted, Random(seed))
    free = preset.width * preset.height - len(obstacles)
    if len(ids) > free:
        raise UsageError(f"{len(ids)} players, but the board has {free} free squares")
    return State(
        width=preset.width,
        height=preset.height,
        players=ids,
        positions=tuple(starts),
        colors=paint(preset, painted),
        obstacles=obstacles,
        turns_left=preset.turns,
        history=choose_history(options.get("history", "all")),
    )


def choose_preset(options: Mapping[str, Json]) -> Preset:
    """Return the board that the options describe, with its turns and share of obstacles."""
    base = choose_size(options)
    turns = whole_number("turns", options.get("turns", base.turns), 1, MOST_TURNS)
    percent = options.get("obstacle_percent", base.obstacle_percent)
    return Preset(
        base.width,
        base.height,
        turns,
        base.starts,
        base.painted,
        whole_number("obstacle_percent", percent, 0, 30),
    )


def choose_size(options: Mapping[str, Json]) -> Preset:
    """Return the preset of the option `board`, or a plain one of `width` x `height`."""
    sized = [name for name in ("width", "height") if name in options]
    if not sized:
        name = options.get("board", "square")
        if not isinstance(name, str) or name not in PRESETS:
            raise UsageError(f"board must be one of {', '.join(PRESETS)}, not {name!r}")
        return PRESETS[name]
    if "board" in options:
        raise UsageError("board and width/height exclude each other")
    if len(sized) == 1:
        raise UsageError("give both width and height, or neither")
    width = whole_number("width", options["width"], 1, LONGEST_SIDE)
    height = whole_number("height", options["height"], 1, LONGEST_SIDE)
    if width * height < 2:
        raise UsageError("a board has at least 2 squares, not 1")
    return Preset(width, height, 10 * max(width, height))


def choose_ids(players: Json, squares: int) -> tuple[str, ...]:
    """Return the player ids: those of a list, or `p1`, `p2`, ... for a number."""
    if not isinstance(players, list | tuple):
        most = LONGEST_SIDE * LONGEST_SIDE
        number = whole_number("players", players, 2, most)
        players = [f"p{seat}" for seat in range(1, number + 1)]
    try:
        ids = check_ids(players)
    except ProtocolError as error:
        raise UsageError(str(error)) from None
    if len(ids) > squares:
        raise UsageError(f"{len(ids)} players, but the board has {squares} free squares")
    return ids


def choose_history(history: Json) -> int | None:
    """Return how many turns the option `history` shows to players, or None for all."""
    return None if history == "all" else whole_number("history", history, 0, MOST_TURNS)


def place_starts(height: int, width: int, players: int) -> tuple[Square, ...]:
    """Return the start squares: the corners, then each time the one farthest from all so far."""
    corners = ((0, 0), (height - 1, width - 1), (0, width - 1), (height - 1, 0))
    starts = tuple(dict.fromkeys(corners))[:players]
    if len(starts) == players:
        return starts
    # Imported on demand: few games have more players than corners, and loading numpy takes longer
    # than a match.
    farthest: Callable[..., tuple[Square, ...]] = resolve_name(FARTHEST_FIRST)
    return farthest(height, width, starts, players)


def paint(preset: Preset, painted: Sequence[Iterable[Square]]) -> tuple[int | None, ...]:
    """Return the colours of all squares at the start, in reading order."""
    colors: list[int | None] = [None] * (preset.width * preset.height)
    for player, squares in enumerate(painted):
        for row, col in squares:
            colors[row * preset.width + col] = player
    return tuple(colors)


def place_obstacles(
    preset: Preset,
    starts: Sequence[Square],
    painted: Sequence[Iterable[Square]],
    rng: Random,
) -> frozenset[Square]:
    """Return the obstacles: random orbits of squares that leave the free squares connected."""
    most = preset.width * preset.height * preset.obstacle_percent // 100
    if not most:
        return frozenset()
    occupied = {*starts, *(square for squares in painted for square in squares)}
    free = [orbit for orbit in orbits(preset, len(starts)) if not occupied & orbit]
    # Sorting by random() shuffles like shuffle(), but the same in every version of Python.
    drawn = sorted([(rng.random(), index) for index in range(len(free))])
    obstacles: frozenset[Square] = frozenset()
    for _, index in drawn:
        more = obstacles | free[index]
        if len(more) <= most and is_connected(preset, more):
            obstacles = more
    return obstacles


def orbits(preset: Preset, players: int) -> list[frozenset[Square]]:
    """Return each square with its images, in reading order of their first squares.

    A half turn swaps two players. With more players, starts are in all four corners, so the images
    in both mirrors belong to the orbit too: no corner is better than another.
    """
    bottom, last = preset.height - 1, preset.width - 1
    sets: dict[frozenset[Square], None] = {}
    for row in range(preset.height):
        for col in range(preset.width):
            orbit = {(row, col), (bottom - row, last - col)}
            if players > 2:
                orbit |= {(row, last - col), (bottom - row, col)}
            sets[frozenset(orbit)] = None
    return list(sets)


def is_connected(preset: Preset, obstacles: frozenset[Square]) -> bool:
    """Return whether the free squares are connected, with neighbours in eight directions."""
    free = {(row, col) for row in range(preset.height) for col in range(preset.width)} - obstacles
    if not free:
        return True
    queue = [free.pop()]
    while queue:
        row, col = queue.pop()
        for down, right in DIRECTIONS:
            square = (row + down, col + right)
            if square in free:
                free.remove(square)
                queue.append(square)
    return not free
