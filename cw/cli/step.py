"""`cw step` and `cw observe`: apply the rules of a game, JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import click
import msgspec

from cw.errors import ArenaError, ProtocolError, short
from cw.games.codec import Game
from cw.games.registry import load_game
from cw.games.rules import Json

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Maximum bytes of a line; a state of the largest End of Codes game is below 16 MiB."""


@click.command()
@click.argument("game")
def step(game: str) -> None:
    """Apply actions to a state by the rules of GAME.

    Reads a JSON object from each line of standard input, and answers it with one line at once:
    {"state": STATE, "outcome": null or OUTCOME}, or {"error": "what and why"}. A line is

    \b
      {"state": STATE, "actions": {PLAYER: ACTION}}   to play a turn
      {"state": null, "options": {"seed": 1, ...}}    to get the start state

    \b
    Try it:
      echo '{"state": null, "actions": {"1": "2,1,right"}}' | cw step circuit-wars
    """
    answer_lines(load_game(game), step_line)


@click.command()
@click.argument("game")
def observe(game: str) -> None:
    """Show what a player of GAME sees of a state.

    \b
      {"state": STATE, "player": PLAYER}    ->  {"view": VIEW}

    A player of null asks for the referee's view.
    """
    answer_lines(load_game(game), observe_line)


def answer_lines(game: Game, answer: Callable[[Game, dict[str, Json]], Json]) -> None:
    """Write a reply to standard output for each line of standard input, flushed line by line."""
    for line in read_lines(sys.stdin.buffer):
        try:
            reply = answer(game, read_object(line))
        except ArenaError as error:
            reply = {"error": str(error)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the non-empty lines; a line that is too long is cut, and its rest discarded."""
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while not rest.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
            pass
        if line.strip():
            yield line


def read_object(line: bytes) -> dict[str, Json]:
    """Read a JSON object; raise ProtocolError if invalid."""
    try:
        document = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"the line is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ProtocolError("the line must be a JSON object")
    return document


def step_line(game: Game, line: dict[str, Json]) -> Json:
    """Return the reply to a line of `cw step`."""
    actions = read_member(line, "actions")
    options = read_member(line, "options")
    if line.get("state") is None:
        state = start_state(game, line, options)
    else:
        state = game.codec.state_from_json(line["state"], **options)
    if actions or line["state"] is not None:
        state = game.rules.step(state, game.codec.actions_from_json(state, actions))
    return {"state": game.codec.state_to_json(state)} | game.codec.result_to_json(state)


def observe_line(game: Game, line: dict[str, Json]) -> Json:
    """Return the reply to a `cw observe` line; members other than state and player are options."""
    if "state" not in line:
        raise ProtocolError("the line has no 'state'")
    options = {key: value for key, value in line.items() if key not in ("state", "player")}
    state = game.codec.state_from_json(line["state"], **options)
    name = line.get("player")
    player = None if name is None else game.codec.player_from_json(state, name)
    return {"view": game.codec.view_to_json(game.rules.observe(state, player))}


def start_state(game: Game, line: dict[str, Json], options: dict[str, Json]) -> Any:
    """Return the start state for the options of a line."""
    if "state" not in line:
        raise ProtocolError("the line has no 'state'; null asks for the start state")
    settings = {"players": game.rules.seats.start, "seed": 0} | options
    return game.rules.new(settings.pop("players"), settings.pop("seed"), **settings)


def read_member(line: dict[str, Json], name: str) -> dict[str, Json]:
    """Return an optional object of a line; raise ProtocolError if it is something else."""
    member = line.get(name)
    if member is not None and not isinstance(member, dict):
        raise ProtocolError(f"'{name}' must be an object, not {short(member)}")
    return member or {}
