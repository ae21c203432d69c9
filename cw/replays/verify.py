"""Verification of replays: played again by the rules, they must give the same match."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from cw.errors import ArenaError
from cw.games.codec import Game
from cw.games.rules import Fault, Json, Player, resignation
from cw.replays.document import POSITION, Document, digest, frame_of, frames, states
from cw.replays.json_diff import difference

PERSON: Final = "human"
"""The bot of a human player."""


def verify(game: Game, document: Document) -> str | None:
    """Return where a replay contradicts its options, seed and rules, or None if nowhere.

    An unfinished match proves nothing, and is rejected. If it starts from a given position
    (`from`), the position is trusted, and nothing else.

    >>> from cw.games.registry import load_game
    >>> from cw.notebook import play
    >>> document = play("paint", "builtin:random", "builtin:still", seed=1, turns=2).document
    >>> verify(load_game("paint"), document) is None
    True
    >>> verify(load_game("paint"), {**document, "seed": 2})
    'the hash does not fit the actions and the result: the file was changed'
    """
    if digest(document) != document["hash"]:
        return "the hash does not fit the actions and the result: the file was changed"
    if document["rules"] != game.version:
        return f"it needs version {document['rules']} of the rules; this is {game.version}"
    try:
        return wrong_course(game, document)
    except ArenaError as error:
        return f"the rules refuse a turn: {error}"
    except RecursionError:
        return "it is nested too deeply"


def wrong_course(game: Game, document: Document) -> str | None:
    """Return what is wrong with a match from its start to its result, or None."""
    course = enumerate(zip(states(game, document), frames(document), strict=True))
    state = None
    for number, (after, frame) in course:
        problem = (
            wrong_turn(game, document, number, state)
            if number
            else wrong_start(game, document, after) or wrong_players(game, document, after)
        )
        if problem is not None:
            return problem
        state = after
        if difference(as_read(frame_of(game, state)), frame):
            return f"the frame after turn {number} is not what the rules give"
    return wrong_result(game, document, state)


def wrong_start(game: Game, document: Document, start: Any) -> str | None:
    """Return a message if options and seed give another start, or None."""
    if document.get("from") == POSITION:
        return None
    if "from" in document:
        return f"its 'from' can only be {POSITION!r}"
    try:
        again = game.conduct.restart(game.rules, start, document["seed"], document["options"])
    except ArenaError as error:
        return f"its options and seed give no valid start: {error}"
    if game.codec.state_to_json(again) != game.codec.state_to_json(start):
        return "the start does not follow from the options and the seed"
    return None


def wrong_players(game: Game, document: Document, start: Any) -> str | None:
    """Return a message if the players are not those of the start, or None.

    Players missing from the game must have a fault saying that their bot did not start.
    """
    seats, playing = [seat["player"] for seat in document["players"]], game.rules.players(start)
    missing = unready(document)
    if list(playing) != [seat for seat in seats if seat in playing or seat not in missing]:
        return "its players differ from those of the start"
    return None


def wrong_turn(game: Game, document: Document, number: int, before: Any) -> str | None:
    """Return a message if a turn comes after the end, or None."""
    if game.rules.outcome(before) is None:
        return None
    actions = game.codec.actions_from_json(before, document["turns"][number - 1]["actions"])
    if game.conduct.late_faults and all(isinstance(action, Fault) for action in actions.values()):
        return None
    return f"turn {number} comes after the end"


def wrong_result(game: Game, document: Document, last: Any) -> str | None:
    """Return what is wrong with the result of the last state or an empty match, or None."""
    turns, result = len(document["turns"]), document["result"]
    if game.rules.outcome(last) is not None:
        fits = as_read(game.codec.result_to_json(last)) == result
        return None if fits else "the result differs from that of the rules"
    if is_resigned(game, document, last):
        return None
    if turns:
        return f"the match is not over: by the rules it continues after turn {turns}"
    missing = unready(document)
    ready = [player for player in game.rules.players(last) if player not in missing]
    ended = game.conduct.unready(last, ready)
    if ended is None or as_read({"outcome": ended.to_json()}) != result:
        return "the match has no turns, and its faults do not explain its result"
    return None


def is_resigned(game: Game, document: Document, last: Any) -> bool:
    """Return whether the result is a resignation, which is allowed to human players only."""
    people = [seat["player"] for seat in document["players"] if seat.get("bot") == PERSON]
    players = game.rules.players(last)
    outcomes = (resignation(players, player) for player in players if player in people)
    return document["result"] in [as_read({"outcome": outcome.to_json()}) for outcome in outcomes]


def unready(document: Document) -> list[Player]:
    """Return the players whose bots did not start."""
    faults = document["faults"]
    return [fault["player"] for fault in faults if fault["kind"] == "startup"]


def as_read(document: Json) -> Json:
    """Return a document as if read from a file: keys become text, tuples become lists."""
    return msgspec.json.decode(msgspec.json.encode(document))
