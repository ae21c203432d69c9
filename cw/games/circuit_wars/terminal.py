"""Renders Circuit Wars boards in the terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from cw import documents
from cw.drawing import color
from cw.errors import IllegalAction
from cw.games.circuit_wars.board import Move, is_drawn, owner, parse_move
from cw.games.circuit_wars.rules import State
from cw.games.rules import Json

DRAWN = "bold"
LAST = "bold magenta"


def draw(frame: Json) -> Text:
    """Render a frame of a match."""
    return draw_state(documents.convert(frame, State))


def draw_state(state: State) -> Text:
    """Render a position: segments as lines, owned squares with their owner's number."""
    style = segment_style(state)
    text = Text()
    for y in range(state.size + 1):
        side = (y, "top") if y < state.size else (y - 1, "bottom")
        for x in range(state.size):
            line = style(Move(x, *side))
            text.append("•")
            text.append("───" if line else "   ", line)
        text.append("•\n")
        if y < state.size:
            _draw_squares(text, state, y, style)
    return text


def _draw_squares(text: Text, state: State, y: int, style: Callable[[Move], str]) -> None:
    for x in range(state.size + 1):
        line = style(Move(x, y, "left") if x < state.size else Move(x - 1, y, "right"))
        text.append("│" if line else " ", line)
        if x < state.size:
            player = owner(state.board[y][x])
            text.append(f" {player or ' '} ", color(player - 1) if player else "")
    text.append("\n")


def segment_style(state: State) -> Callable[[Move], str]:
    """Return a function that maps a segment to its style, "" if it is not drawn."""
    try:
        last = parse_move(state.last_move)
    except IllegalAction:
        last = None

    def style(move: Move) -> str:
        if last in (move, move.from_across()):
            return LAST
        return DRAWN if is_drawn(state.board, move) else ""

    return style
