"""End of Codes rounds as arrays, and one intent per creature of a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Final

import numpy as np

from cw.games.end_of_codes.state import DIRECTIONS, Column, State
from cw.games.rules import Json, Player
from cw.games.spaces import Mask, Planes, Spaces, empty_planes

PLANES: Final = ("own creature, by its place in the action from 1", "own hit points", "others'")

WORDS: Final = tuple((action, way) for action in ("move", "attack") for way in DIRECTIONS)
"""The order for each number from 1; 0 gives no order."""

CREATURES: Final = 10
"""The default number per player: games with hundreds take long to learn."""

HIT_POINTS: Final = 5


def settled(players: int, options: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the options with everything fixed that determines the array sizes.

    The map is the smallest square with room for four cells per creature.
    """
    filled = {"M": CREATURES, "MAX_HP": HIT_POINTS, **options}
    if "W" in filled or "H" in filled or type(filled["M"]) is not int:
        return filled
    side = max(1, isqrt(4 * players * filled["M"] - 1) + 1)
    return {**filled, "W": side, "H": side}


def own(view: State, player: Player) -> Column:
    """Return the column indices of a player's creatures, including dead ones."""
    return np.flatnonzero(view.owners == player)


def write_view(view: State, player: Player) -> Planes:
    """Return the creatures on the map as planes; the first row is y = 0, in the south."""
    planes = empty_planes(view.height, view.width, PLANES)
    mine, living = own(view, player), view.hp > 0
    place = np.zeros(len(view.ids), np.int16)
    place[mine] = np.arange(1, len(mine) + 1)
    is_own = view.owners == player
    for plane, where, values in (
        (0, living & is_own, place),
        (1, living & is_own, view.hp),
        (2, living & ~is_own, view.hp),
    ):
        planes[view.y[where], view.x[where], plane] = values[where]
    return planes


def mask(view: State, player: Player) -> Mask:
    """Return a mask that allows any order for living creatures and none for dead ones."""
    living = view.hp[own(view, player)] > 0
    allowed = np.repeat(living[:, None], 1 + len(WORDS), axis=1).astype(np.int8)
    allowed[:, 0] = 1
    return allowed


def read_action(view: State, player: Player, numbers: Sequence[int]) -> Json:
    """Return a reply with an intent for each creature that has an order."""
    creatures = view.ids[own(view, player)].tolist()
    orders = [(creature, WORDS[n - 1]) for creature, n in zip(creatures, numbers, strict=True) if n]
    return {
        "intent": [
            {"creatureid": creature, "action": action, "direction": way}
            for creature, (action, way) in orders
        ]
    }


SPACES: Final[Spaces[State, Json, State]] = Spaces(
    planes=PLANES,
    board=lambda start: (start.height, start.width),
    choices=lambda start: (len(start.ids) // len(start.players), 1 + len(WORDS)),
    write_view=write_view,
    mask=mask,
    read_action=read_action,
    settled=settled,
)
