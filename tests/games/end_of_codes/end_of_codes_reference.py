"""Rules 3 to 8 of End of Codes written down plainly, with dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

Creature = dict[str, int]
Intent = tuple[int, str, str]
STEP = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


def reference_round(
    creatures: Sequence[Creature],
    width: int,
    height: int,
    intents: Sequence[Intent],
    faulty: set[int],
) -> list[Creature]:
    """Return the creatures of the next round; intents of faulty players are not among them."""
    before = {c["creatureid"]: c for c in creatures}
    after = {c["creatureid"]: dict(c) for c in creatures}
    holder = {(c["x"], c["y"]): c for c in creatures if c["hp"] > 0}

    for creatureid, action, direction in intents:
        c = before[creatureid]
        target = (c["x"] + STEP[direction][0], c["y"] + STEP[direction][1])
        on_map = 0 <= target[0] < width and 0 <= target[1] < height
        if action == "attack":
            victim = holder.get(target)
            if victim is not None and victim["userid"] != c["userid"]:
                after[victim["creatureid"]]["hp"] -= 1
        elif on_map:
            after[creatureid]["x"], after[creatureid]["y"] = target

    for creatureid, c in after.items():
        c["hp"] = max(0, c["hp"])
        if c["userid"] in faulty:
            c["hp"] = 0
            c["x"], c["y"] = before[creatureid]["x"], before[creatureid]["y"]

    while True:
        by_cell: dict[tuple[int, int], list[Creature]] = {}
        for c in after.values():
            if c["hp"] > 0:
                by_cell.setdefault((c["x"], c["y"]), []).append(c)
        back = [
            c
            for cell, those in by_cell.items()
            if len(those) > 1
            for c in those
            if (before[c["creatureid"]]["x"], before[c["creatureid"]]["y"]) != cell
        ]
        if not back:
            return sorted(after.values(), key=lambda c: c["creatureid"])
        for c in back:
            c["x"], c["y"] = before[c["creatureid"]]["x"], before[c["creatureid"]]["y"]
