"""Compact Code Battle replays: orders refer to bots by id, and the ordered steps are implied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cw.games.code_battle.rules.state import DIRECTIONS
from cw.games.entry import ShortActions
from cw.games.rules import Json

STEPS: Final[Mapping[Any, tuple[int, int]]] = DIRECTIONS
MEMBERS: Final = ["row", "col", "direction"]
"""The members of an order in the arena's replay."""


class CodeBattleShorthand:
    """Shortens orders by omitting the bots' positions, and predicts that bots move as ordered."""

    def shorten(self, frame: Json, actions: Mapping[str, Json]) -> ShortActions:
        """Return the bots' ids by slot, and the letters of their directions as one string."""
        ids = {(bot["row"], bot["col"]): bot["id"] for bot in frame["bots"]}
        units: dict[str, Json] = {}
        ways: dict[str, Json] = {}
        for slot, action in actions.items():
            units[slot] = action
            if isinstance(action, list) and all(is_plain(order, ids) for order in action):
                units[slot] = [ids[order["row"], order["col"]] for order in action]
                ways[slot] = "".join(order["direction"] for order in action)
        return ShortActions(units, ways)

    def lengthen(self, frame: Json, short: ShortActions) -> dict[str, Json]:
        """Return the orders with the positions of the bots restored."""
        bots = {bot["id"]: bot for bot in frame["bots"]}
        return {
            slot: list(orders(bots, units, short.ways[slot])) if slot in short.ways else units
            for slot, units in short.units.items()
        }

    def expected(self, frame: Json, actions: Mapping[str, Json]) -> Json:
        """Return the frame after bots have stepped and the timers of empty nodes have advanced."""
        rows, cols = frame["config"]["rows"], frame["config"]["cols"]
        steps = dict(ordered_steps(actions))
        bots = [
            stepped(bot, steps.get((bot["row"], bot["col"]), (0, 0)), rows, cols)
            for bot in frame["bots"]
        ]
        nodes = [
            node if node["energy"] else {**node, "timer": node["timer"] + 1}
            for node in frame["nodes"]
        ]
        return {**frame, "turn": frame["turn"] + 1, "nodes": nodes, "bots": bots}


def is_plain(order: Json, ids: Mapping[tuple[int, int], int]) -> bool:
    """Return whether an order contains only a bot's position and a direction."""
    return (
        isinstance(order, dict)
        and list(order) == MEMBERS
        and type(order["row"]) is type(order["col"]) is int
        and (order["row"], order["col"]) in ids
        and isinstance(order["direction"], str)
        and order["direction"] in STEPS
    )


def orders(bots: Mapping[Json, Json], ids: Json, ways: Json) -> Iterator[dict[str, Json]]:
    """Yield the orders of a slot."""
    for number, way in zip(ids, ways, strict=True):
        bot = bots[number]
        yield {"row": bot["row"], "col": bot["col"], "direction": way}


def ordered_steps(actions: Mapping[str, Json]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the bot's position and step for each readable order."""
    for action in actions.values():
        for order in action if isinstance(action, list) else ():
            match order:
                case {"row": int(row), "col": int(col), "direction": str(way)} if way in STEPS:
                    yield (row, col), STEPS[way]


def stepped(bot: Json, step: tuple[int, int], rows: int, cols: int) -> Json:
    """Return a bot after its step."""
    if step == (0, 0):
        return bot
    row, col = (bot["row"] + step[0]) % rows, (bot["col"] + step[1]) % cols
    return {**bot, "row": row, "col": col}


SHORTHAND: Final = CodeBattleShorthand()
