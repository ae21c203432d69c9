"""Renders Paint boards in the terminal."""

from __future__ import annotations

from rich.text import Text

from cw.drawing import DIM, color, letter
from cw.games.rules import Json


def draw(frame: Json) -> Text:
    """Render squares in the colour of their owners, avatars as letters."""
    players = list(frame["player_positions"])
    numbers = {player: number for number, player in enumerate(players)}
    avatars = {tuple(place): player for player, place in frame["player_positions"].items()}
    obstacles = {tuple(place) for place in frame.get("obstacles", ())}
    text = Text()
    for row, owners in enumerate(frame["colors"]):
        for col, owner in enumerate(owners):
            here = avatars.get((row, col))
            sign = letter(numbers[here]) if here else "#" if (row, col) in obstacles else " "
            style = color(numbers[owner]) if owner is not None else DIM
            text.append(f"{sign} " if here or sign == "#" else "  " if owner else "· ", style)
        text.append("\n")
    return text
