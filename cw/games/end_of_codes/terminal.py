"""Renders End of Codes maps in the terminal."""

from __future__ import annotations

from rich.text import Text

from cw.drawing import DIM, color, letter
from cw.games.rules import Json


def draw(frame: Json) -> Text:
    """Render the map, north on top: a letter for each living creature's owner."""
    users = [player["userid"] for player in frame["players"]]
    numbers = {user: number for number, user in enumerate(users)}
    living = {
        (creature["x"], creature["y"]): creature["userid"]
        for creature in frame["creatures"]
        if creature["hp"] > 0
    }
    text = Text()
    for y in reversed(range(frame["H"])):
        for x in range(frame["W"]):
            owner = living.get((x, y))
            if owner is None:
                text.append("·", DIM)
            else:
                text.append(letter(numbers[owner]), color(numbers[owner]))
        text.append("\n")
    return text
