"""Renders Code Battle boards in the terminal."""

from __future__ import annotations

from rich.text import Text

from cw.drawing import DIM, TERMINAL_WALL, color, letter
from cw.games.rules import Json


def draw(frame: Json) -> Text:
    """Render the torus: walls, energy, cores (large letters) and bots (small ones)."""
    rows, cols = frame["config"]["rows"], frame["config"]["cols"]
    signs: dict[tuple[int, int], tuple[str, str]] = {}
    for row, col in frame["walls"]:
        signs[row, col] = "#", TERMINAL_WALL
    for node in frame["nodes"]:
        signs[node["row"], node["col"]] = "*" if node["energy"] else "°", "yellow"
    for core in frame["cores"]:
        owner = core["owner"]
        sign = letter(owner) if core["active"] else "X"
        signs[core["row"], core["col"]] = sign, color(owner)
    for bot in frame["bots"]:
        signs[bot["row"], bot["col"]] = letter(bot["owner"]).lower(), color(bot["owner"])
    text = Text()
    for row in range(rows):
        for col in range(cols):
            sign, style = signs.get((row, col), ("·", DIM))
            text.append(sign, style)
        text.append("\n")
    return text
