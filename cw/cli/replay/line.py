"""`cw replay line`: prints a turn of a replay as input for `cw step` and `cw observe`."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import click

from cw.cli.replay.reading import FILE, read
from cw.errors import UsageError, choices, short
from cw.games.registry import load_endings, load_game
from cw.games.rules import Json
from cw.replays import document as replays_document


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--turn",
    type=click.IntRange(0),
    required=True,
    help="The turn, counted from 1; one past the last is the end.",
)
@click.option("--player", help="Print the view of this bot or player, for `cw observe`.")
def line(file: Path, turn: int, player: str | None) -> None:
    """Print a turn as a line for `cw step`, or for `cw observe`.

    The line has the position before the turn, and the actions of the turn. Turns are counted from
    1, in End of Codes from 0, as its bots are told.

    \b
      cw replay line match.json.gz --turn 20 | cw step paint
      cw replay line match.json.gz --turn 20 --player a | cw observe paint
    """
    document = read(file)
    game = load_game(document["game"])
    turns, first = document["turns"], load_endings(document["game"]).first
    played = turn - first
    if not 0 <= played <= len(turns):
        end = first + len(turns)
        raise UsageError(
            f"the replay has the turns {first} to {end - 1}, and {end} for its end, not {turn}"
        )
    state = next(islice(replays_document.states(game, document), played, None))
    members: dict[str, Json] = {"state": game.codec.state_to_json(state)}
    if player is not None:
        seed = {"seed": document["seed"]} if "seed" in document else {}
        members |= {"player": player_of(document, player)} | seed
    elif played < len(turns):
        members |= {"actions": turns[played]["actions"], "options": document["options"]}
    click.echo(json.dumps(members))


def player_of(document: replays_document.Document, name: str) -> str:
    """Return a player by the name of its bot or of the game; raise UsageError if unknown.

    >>> player_of({"players": [{"player": 1, "name": "ann"}]}, "ann")
    '1'
    """
    players = {each["name"]: str(each["player"]) for each in document["players"]}
    if name not in players and name not in players.values():
        raise UsageError(f"there is no player {short(name)}; {choices(name, players)}")
    return players.get(name, name)
