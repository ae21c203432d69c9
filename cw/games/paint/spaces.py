"""Paint boards as arrays, and the actions by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from cw.games.paint.state import ACTIONS, Action, State
from cw.games.rules import Json, Player
from cw.games.spaces import Mask, Planes, Spaces, empty_planes

PLANES: Final = (
    "own squares",
    "squares of others",
    "obstacles",
    "own avatar",
    "avatars of others",
    "turns left",
)


def write_view(view: Json, player: Player) -> Planes:
    """Return the owner and the avatar of each square; opponents are not distinguished."""
    planes = empty_planes(view["height"], view["width"], PLANES)
    for row, owners in enumerate(view["colors"]):
        for column, owner in enumerate(owners):
            if owner is not None:
                planes[row, column, 0 if owner == player else 1] = 1
    for row, column in view.get("obstacles", ()):
        planes[row, column, 2] = 1
    for name, (row, column) in view["player_positions"].items():
        planes[row, column, 3 if name == player else 4] = 1
    planes[:, :, 5] = view["turns_left"]
    return planes


def mask(view: Json, _player: Player) -> Mask:
    """Return a mask that allows every action while turns are left."""
    return np.full((1, len(ACTIONS)), view["turns_left"] > 0, np.int8)


def read_action(_view: Json, _player: Player, numbers: Sequence[int]) -> Action:
    """Return an action by its number in ACTIONS."""
    return ACTIONS[numbers[0]]


SPACES: Final[Spaces[State, Action, Json]] = Spaces(
    planes=PLANES,
    board=lambda start: (start.height, start.width),
    choices=lambda _: (1, len(ACTIONS)),
    write_view=write_view,
    mask=mask,
    read_action=read_action,
)
