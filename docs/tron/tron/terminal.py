"""The board in the terminal: a letter is a rider, its colour without a letter its wall."""

from __future__ import annotations

from rich.text import Text

from cw.author import DIM, Json, color, letter


def draw(frame: Json) -> Text:
    """Draw the board of a state."""
    squares: dict[tuple[int, int], tuple[str, str]] = {}
    for seat, rider in enumerate(frame["riders"]):
        squares |= {tuple(square): (" ", color(seat)) for square in rider["wall"]}
        squares[tuple(rider["wall"][-1])] = (letter(seat), color(seat))
    text = Text()
    for row in range(frame["size"]):
        for column in range(frame["size"]):
            text.append(*squares.get((row, column), ("·", DIM)))
        text.append("\n")
    return text
