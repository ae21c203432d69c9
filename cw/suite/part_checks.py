"""Checks on the optional parts of a game: those that it has are tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from cw.drawing.scenes import STILL
from cw.games.codec import DefaultCodec
from cw.games.entry import files_of
from cw.games.registry import (
    game_entry,
    load_picture,
    load_play_options,
    load_spaces,
    load_strategies,
    load_terminal,
)
from cw.games.rules import Json
from cw.pictures.scenes import scenes
from cw.pictures.sheets import board_sheet
from cw.replays.document import actions_document, frame_of
from cw.suite.rules_checks import require_legal
from cw.suite.subject import Subject, require

VECTORS: Final = "vectors.jsonl"
"""In the game's folder: lines of `cw step`, each with its answer as `expected`."""


def drawings(subject: Subject) -> None:
    """Check that the picture and the terminal board show all turns of a match."""
    states, turns = played(subject)
    documents = [frame_of(subject.game, state) for state in states]
    document = {"players": list(seats_of(subject, states[0])), "turns": turns}
    numbers = range(len(documents))
    name = subject.game.name
    for scene in scenes(load_picture(name), document, iter(documents), numbers, STILL):
        board_sheet(scene)
        load_picture(name).scores(scene)
    board = load_terminal(name)
    for frame in documents:
        require(board(frame).plain.strip(), "the terminal board is empty")


def played(subject: Subject) -> tuple[list[Any], list[dict[str, Json]]]:
    """Return the states and the turns of a random match."""
    match = list(subject.turns(13))
    state, actions = match[-1]
    states = [state for state, _ in match] + [subject.game.rules.step(state, actions)]
    return states, [{"actions": actions_document(subject.game, actions)} for _, actions in match]


def seats_of(subject: Subject, state: Any) -> Iterator[dict[str, Json]]:
    """Yield the players of a state as replays name them."""
    for player in subject.game.rules.players(state):
        yield {"player": player, "name": str(player)}


def moves(subject: Subject) -> None:
    """Check that moves offered to people are legal and labelled."""
    options = load_play_options(subject.game.name)
    known = load_strategies(subject.game.name)
    unknown = [name for name in options.strategies if name not in known]
    require(not unknown, f"pages offer strategies that do not exist: {', '.join(unknown)}")
    if options.moves is None:
        return
    for state, actions in subject.some(14, most=6):
        for player in actions:
            documents = list(options.moves(state, player))
            require(documents, "a player to move is offered no move")
            for document in documents:
                read = subject.game.codec.actions_from_json(state, {str(player): document})
                require_legal(subject, state, player, read[player], "a move offered to people")
                require(
                    options.words is None or options.words(document),
                    "a move offered to people has no label",
                )


def strategies_over_the_wire(subject: Subject) -> None:
    """Check that a view sent to a bot can be read back."""
    codec, rules = subject.game.codec, subject.game.rules
    if game_entry(subject.game.name).protocol or not isinstance(codec, DefaultCodec):
        return
    for state, _ in subject.some(15, most=4):
        for player in rules.players(state):
            document = codec.view_to_json(rules.observe(state, player))
            again = codec.view_to_json(codec.view_from_json(json.loads(json.dumps(document))))
            require(again == document, "a view changes when it is written as JSON and read back")


def arrays(subject: Subject) -> None:
    """Check that array views fit the board, and that masks allow a move."""
    spaces, rules = load_spaces(subject.game.name), subject.game.rules
    if spaces is None:
        return
    start = subject.start(16)
    shape = (*spaces.board(start), len(spaces.planes))
    for state, actions in subject.some(16, most=6):
        for player in actions:
            view = rules.observe(state, player)
            planes, mask = spaces.write_view(view, player), spaces.mask(view, player)
            require(
                planes.shape == shape, f"a view must be an array of {shape}, not {planes.shape}"
            )
            size = spaces.choices(start)
            require(mask.shape == size, f"a mask must be an array of {size}, not {mask.shape}")
            require(mask[0].any(), "the mask allows no move to the player to move")


def vectors(subject: Subject) -> None:
    """Check that recorded steps still give the recorded results."""
    folder = files_of(game_entry(subject.game.name))
    file = None if folder is None else folder / VECTORS
    if file is None or not file.is_file():
        return
    codec, rules = subject.game.codec, subject.game.rules
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        vector = json.loads(line)
        state = codec.state_from_json(vector["state"])
        after = rules.step(state, codec.actions_from_json(state, vector["actions"]))
        answer = {"state": codec.state_to_json(after), **codec.result_to_json(after)}
        same = json.loads(json.dumps(answer)) == vector["expected"]
        require(same, f"line {number} of {VECTORS}: the rules give another result")
