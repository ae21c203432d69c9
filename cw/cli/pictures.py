"""Frames of games and maps, drawn in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from cw.games.rules import Json

COLORS: Final = (
    "bold white on blue",
    "bold black on orange1",
    "bold white on dark_green",
    "bold white on magenta",
    "bold black on cyan",
    "bold black on yellow",
)
DIM: Final = "grey50"
WALL: Final = "grey30"


def color(number: int) -> str:
    """Return the style of a player."""
    return COLORS[number % len(COLORS)]


def circuit_wars(frame: Json) -> Text:
    """Draw squares with their owners, and segments as lines."""
    board = frame["board"]
    text = Text()
    for y, row in enumerate(board):
        for value in row:
            text.append("•" + ("───" if value & 1 else "   "))
        text.append("•\n")
        for value in row:
            text.append("│" if value & 8 else " ")
            player = value >> 4
            text.append(f" {player or ' '} ", color(player - 1) if player else "")
        text.append("│\n" if row and row[-1] & 2 else "\n")
        if y == len(board) - 1:
            text.append("".join("•" + ("───" if value & 4 else "   ") for value in row) + "•\n")
    return text


def paint(frame: Json) -> Text:
    """Draw squares in the colour of their owners, avatars as letters."""
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


def hexagon(frame: Json) -> Text:
    """Draw the board; odd rows lie half a cell to the right."""
    signs = {-1: ("#", WALL), 0: ("·", DIM), 1: ("1", color(0)), 2: ("2", color(1))}
    text = Text()
    for row, cells in enumerate(frame["cells"]):
        text.append(" " * (row % 2))
        for value in cells:
            sign, style = signs[value]
            text.append(sign, style)
            text.append(" ")
        text.append("\n")
    return text


def end_of_codes(frame: Json) -> Text:
    """Draw the map, north on top: a letter for each living creature's owner."""
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


def code_battle(frame: Json) -> Text:
    """Draw the torus: walls, energy, cores (large letters) and bots (small ones)."""
    rows, cols = frame["config"]["rows"], frame["config"]["cols"]
    signs: dict[tuple[int, int], tuple[str, str]] = {}
    for row, col in frame["walls"]:
        signs[row, col] = "#", WALL
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


def map_in_letters(lines: Sequence[str]) -> Text:
    """Draw a map from its signs: walls, energy, and the letters of the starts."""
    text = Text("\n".join(lines), no_wrap=True)
    styles = {"#": f"white on {WALL}", "*": "bold yellow", ".": DIM}
    for place, sign in enumerate(text.plain):
        if sign != "\n":
            text.stylize(styles.get(sign) or color(ord(sign) - ord("A")), place, place + 1)
    return text


def letter(number: int) -> str:
    """Return the letter of a player."""
    return chr(ord("A") + number % 26)


PICTURES: Final[Mapping[str, Callable[[Any], Text]]] = {
    "circuit-wars": circuit_wars,
    "code-battle": code_battle,
    "end-of-codes": end_of_codes,
    "hexagon": hexagon,
    "paint": paint,
}


def picture(game: str, frame: Json) -> Text:
    """Draw a frame; a game that has no picture is shown as its JSON."""
    draw = PICTURES.get(game)
    return draw(frame) if draw else Text(str(frame))
