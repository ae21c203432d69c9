"""`cw step` and `cw observe`: the rules of a game, JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import click
import msgspec

from cw.errors import ArenaError, ProtocolError
from cw.games.base import Fault, Json
from cw.games.catalogue import AnyGame, load_game

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes; a state of the largest End of Codes game is below 16 MiB."""


@click.command()
@click.argument("game")
def step(game: str) -> None:
    """Apply actions to a state by the rules of GAME.

    Reads one JSON object a line from standard input and answers each with one line, at once:

    \b
      {"state": STATE, "actions": {PLAYER: ACTION}}     ->  {"state": STATE, "outcome": null or ...}
      {"state": null, "options": {"seed": 1, ...}}      ->  the start state
      anything that cannot be used                      ->  {"error": "what and why"}

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


def answer_lines(game: AnyGame, answer: Callable[[AnyGame, dict[str, Json]], Json]) -> None:
    """Answer each line of standard input on standard output, flushed line by line."""
    for line in read_lines(sys.stdin.buffer):
        try:
            reply = answer(game, read_object(line))
        except ArenaError as error:
            reply = {"error": str(error)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Give the lines that are not empty; one that is too long comes cut, its rest is lost."""
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while not rest.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
            pass
        if line.strip():
            yield line


def read_object(line: bytes) -> dict[str, Json]:
    """Read a JSON object; raise ProtocolError for anything else."""
    try:
        document = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"the line is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise ProtocolError("the line must be a JSON object")
    return document


def step_line(game: AnyGame, line: dict[str, Json]) -> Json:
    """Answer one line of `cw step`."""
    state = start_state(game, line) if line.get("state") is None else read_state(game, line)
    actions = line.get("actions") or {}
    if not isinstance(actions, dict):
        raise ProtocolError("'actions' must be an object from players to actions")
    if actions:
        state = game.step(state, read_actions(game, state, actions))
    outcome = game.outcome(state)
    return {
        "state": game.state_to_json(state),
        "outcome": None if outcome is None else outcome.to_json(),
    }


def observe_line(game: AnyGame, line: dict[str, Json]) -> Json:
    """Answer one line of `cw observe`."""
    state = read_state(game, line)
    name = line.get("player")
    player = None if name is None else game.player_from_json(state, name)
    return {"view": game.view_to_json(game.observe(state, player))}


def start_state(game: AnyGame, line: dict[str, Json]) -> Any:
    """Give the start state that the options of a line ask for."""
    if "state" not in line:
        raise ProtocolError("the line has no 'state'; null asks for the start state")
    options = line.get("options") or {}
    if not isinstance(options, dict):
        raise ProtocolError("'options' must be an object")
    options = {"players": game.seats.start, "seed": 0} | options
    return game.new(**options)


def read_state(game: AnyGame, line: dict[str, Json]) -> Any:
    """Read the state of a line."""
    if "state" not in line:
        raise ProtocolError("the line has no 'state'")
    return game.state_from_json(line["state"])


def read_actions(game: AnyGame, state: Any, actions: dict[str, Json]) -> dict[Any, Any]:
    """Read actions and faults by player."""
    return {
        game.player_from_json(state, name): Fault.from_json(action)
        if isinstance(action, dict) and "fault" in action
        else game.action_from_json(state, action)
        for name, action in actions.items()
    }
