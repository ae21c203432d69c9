"""The board as an array of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cw.drawing.scenes import STILL
from cw.games.registry import load_picture
from cw.games.rules import Json, Player
from cw.pictures.brush import image_of
from cw.pictures.scenes import scenes
from cw.pictures.sheets import board_sheet


def image(game: str, frame: Json, players: Sequence[Player]) -> NDArray[np.uint8]:
    """Return the board as rows x columns x red, green and blue, of one size throughout a game."""
    seats = [{"player": player, "name": str(player), "bot": ""} for player in players]
    document: dict[str, Any] = {"players": seats, "turns": []}
    (scene,) = scenes(load_picture(game), document, [frame], [0], STILL)
    return np.asarray(image_of(board_sheet(scene)).convert("RGB"))
