"""The orders in a reply (rule book, "On the wire"): only an unusable entry itself is ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from cw.errors import short
from cw.games.code_battle.rules.state import Slot, State
from cw.games.code_battle.rules.torus import DIRECTIONS, Direction, Tile
from cw.games.rules import Json

Orders: TypeAlias = Mapping[Tile, Direction]
"""The tile of a bot -> the direction in which it moves."""


def read_orders(state: State, slot: Slot, entries: list[Json]) -> tuple[Orders, list[str]]:
    """Return the orders in a reply, and a message for each entry that is not a usable order."""
    bots = {bot.tile for bot in state.bots if bot.owner == slot}
    orders: dict[Tile, Direction] = {}
    wrong = []
    for number, entry in enumerate(entries):
        reason = why_unusable(state, bots, orders, entry)
        if reason:
            wrong.append(f"moves[{number}]: {reason}")
        else:
            orders[cast(Tile, tile_of(state, entry))] = entry["direction"]
    return orders, wrong


def why_unusable(state: State, bots: set[Tile], orders: Orders, entry: Json) -> str | None:
    """Return why an entry is not a usable order, or None if it is."""
    if not isinstance(entry, dict):
        return f"must be an object, not {short(entry)}"
    tile = tile_of(state, entry)
    if tile is None:
        return "has neither row and col nor position with two whole numbers on the grid"
    if tile not in bots:
        return f"you have no bot on [{tile // state.config.cols}, {tile % state.config.cols}]"
    direction = entry.get("direction")
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        return f"direction must be N, E, S or W, not {short(direction)}"
    if tile in orders:
        return "an earlier entry has already moved this bot"
    return None


def tile_of(state: State, entry: Mapping[str, Json]) -> Tile | None:
    """Return the tile that an entry names, directly or in `position`, or None if off the grid."""
    for place in (entry, entry.get("position")):
        if isinstance(place, dict):
            row, col = place.get("row"), place.get("col")
            if type(row) is int and type(col) is int:
                config = state.config
                inside = 0 <= row < config.rows and 0 <= col < config.cols
                return row * config.cols + col if inside else None
    return None


def write_orders(state: State, orders: Orders) -> Iterator[dict[str, Json]]:
    """Yield the entries of a reply with these orders."""
    cols = state.config.cols
    for tile, direction in orders.items():
        yield {"row": tile // cols, "col": tile % cols, "direction": direction}
