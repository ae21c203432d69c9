"""Code Battle views as arrays, and one order per tile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from cw.games.code_battle.rules import Moves
from cw.games.code_battle.rules.state import DIRECTIONS, State, Tile
from cw.games.code_battle.rules.turn import View
from cw.games.rules import Player
from cw.games.spaces import Mask, Planes, Spaces, empty_planes

PLANES: Final = (
    "walls",
    "energy",
    "own bots",
    "bots of others",
    "own cores",
    "cores of others",
    "razed cores",
    "own energy",
    "turns left",
)

WAYS: Final = tuple(DIRECTIONS)
"""The direction for each number from 1; 0 means hold."""


def write_view(view: View, _player: Player) -> Planes:
    """Return what is visible on each tile; opponents are not distinguished."""
    config = view.config
    planes = empty_planes(config.rows * config.cols, 1, PLANES)
    for plane, tile in in_sight(view):
        planes[tile, 0, plane] = 1
    planes[:, :, 7] = view.energy
    planes[:, :, 8] = config.max_turns - view.turn
    return planes.reshape(config.rows, config.cols, len(PLANES))


def in_sight(view: View) -> Iterator[tuple[int, Tile]]:
    """Yield plane and tile of everything visible; a slot sees itself as owner 0."""
    for tile in view.walls:
        yield 0, tile
    for tile in view.nodes:
        yield 1, tile
    for tile, owner in view.bots:
        yield (3 if owner else 2), tile
    for core in view.cores:
        yield (6 if not core.active else 5 if core.owner else 4), core.tile


def own_tiles(view: View) -> list[Tile]:
    """Return the tiles of the slot's bots."""
    return [tile for tile, owner in view.bots if owner == 0]


def mask(view: View, _player: Player) -> Mask:
    """Return a mask that allows own bots every direction and hold, but other tiles only hold."""
    allowed = np.zeros((view.config.rows * view.config.cols, 1 + len(WAYS)), np.int8)
    allowed[:, 0] = 1
    allowed[own_tiles(view)] = 1
    return allowed


def read_action(view: View, _player: Player, numbers: Sequence[int]) -> Moves:
    """Return the orders to own bots; the numbers of all other tiles are ignored."""
    cols = view.config.cols
    return [
        {"row": tile // cols, "col": tile % cols, "direction": WAYS[numbers[tile] - 1]}
        for tile in own_tiles(view)
        if numbers[tile]
    ]


SPACES: Final[Spaces[State, Moves, View]] = Spaces(
    planes=PLANES,
    board=lambda start: (start.config.rows, start.config.cols),
    choices=lambda start: (start.config.rows * start.config.cols, 1 + len(WAYS)),
    write_view=write_view,
    mask=mask,
    read_action=read_action,
)
