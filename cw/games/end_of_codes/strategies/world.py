"""The map of a round for strategies: living creatures by cell."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from cw.games.end_of_codes.state import DIRECTIONS, State
from cw.games.rules import Json

Cell: TypeAlias = tuple[int, int]
"""x grows to the east, y to the north."""


class Creature(NamedTuple):
    """A living creature."""

    id: int
    owner: int
    cell: Cell
    hp: int


def living(state: State) -> dict[Cell, Creature]:
    """Return all living creatures by their cell, in ascending id."""
    columns = (state.ids, state.owners, state.x, state.y, state.hp)
    return {
        (x, y): Creature(creature, owner, (x, y), hp)
        for creature, owner, x, y, hp in zip(*(c.tolist() for c in columns), strict=True)
        if hp > 0
    }


def neighbours(state: State, cell: Cell) -> dict[str, Cell]:
    """Return the neighbours of a cell on the map, by direction."""
    x, y = cell
    beside = {way: (x + right, y + up) for way, (right, up) in DIRECTIONS.items()}
    return {
        way: (x, y)
        for way, (x, y) in beside.items()
        if 0 <= x < state.width and 0 <= y < state.height
    }


def intent(creature: Creature, action: str, direction: str) -> Json:
    """Return an intent as JSON."""
    return {"creatureid": creature.id, "action": action, "direction": direction}
