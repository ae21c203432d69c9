"""`cw replay show`: shows a turn of a replay in the terminal."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from cw.cli.replay.reading import FILE, read
from cw.errors import ProtocolError, visible
from cw.games.registry import game_entries, load_picture, load_terminal
from cw.games.rules import Json
from cw.matches.from_replay import verdict_of
from cw.pictures import exports
from cw.pictures.exports import number_of
from cw.replays import document as replays_document

MOST_CELLS: Final = 1_000_000
"""Maximum cells of a board shown in a terminal."""


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--turn",
    type=int,
    default=-1,
    show_default=True,
    help="Turn after which the board is drawn: 0 is the start, -1 the end.",
)
def show(file: Path, turn: int) -> None:
    """Draw a turn of the replay FILE, and list what happened in it."""
    document = read(file)
    last, number = len(document["turns"]), number_of(document, turn)
    frame = next(islice(replays_document.frames(document), number, None))
    console = Console()
    console.print(terminal_board(document["game"], frame), highlight=False)
    names = ", ".join(f"{seat['player']}: {seat['name']}" for seat in document["players"])
    console.print(Text(visible(f"turn {number} of {last}   {names}")))
    if number:
        actions = document["turns"][number - 1]["actions"]
        for player, action in actions.items():
            console.print(Text(visible(f"  {player}  {json.dumps(action)[:200]}")))
    if number == last:
        sentence = (
            verdict_of(document) or f"The match was aborted in turn {last}, without a result."
        )
        console.print(Text(visible(sentence)))


def terminal_board(game: str, frame: Json) -> Text:
    """Render a frame of a file; raise ProtocolError if it cannot be rendered."""
    if game in game_entries():
        picture = load_picture(game)
        width, height = picture.extent(exports.read(frame, picture.frame, "the frame"))
        if width * height > MOST_CELLS:
            raise ProtocolError(f"a board of {width:g} x {height:g} is too large for a terminal")
    try:
        return load_terminal(game)(frame)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Renderers assume that a frame was produced by the rules; a file may contain anything.
        raise ProtocolError(f"the frame cannot be drawn: {error!r}") from None
