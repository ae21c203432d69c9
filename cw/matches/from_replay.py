"""Reading a match's result from its replay, to describe it like one that was just played."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from cw import documents
from cw.errors import ArenaError, ProtocolError, UsageError
from cw.games.codec import Game
from cw.games.registry import load_game, load_protocol
from cw.games.rules import Json, Player
from cw.matches.run import check_number
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.verdict import leaders, tie_breaks, verdict
from cw.replays import document as replays_document
from cw.replays.document import Document, states

Numbers: TypeAlias = dict[str, int | float] | list[int | float]
"""A number for each player, by name or in seat order."""


class Ended(msgspec.Struct, frozen=True):
    """The outcome in a replay file; some games name its members differently."""

    ranks: Numbers
    winner: Player | None
    reason: str = ""
    condition: str = ""
    scores: Numbers = {}
    final_scores: Numbers = {}


def verdict_of(document: replays_document.Document) -> str | None:
    """Return who won a recorded match, how and in which turn; None if it has no outcome.

    Raises UsageError for an unknown game, and ProtocolError if the result cannot be read.
    """
    outcome = document["result"].get("outcome")
    if outcome is None:
        return None
    spec = spec_of(document)
    result = result_of(document, outcome)
    if len(leaders(result)) > 1:
        result = msgspec.structs.replace(result, tie_breaks=figures_of(document))
    return verdict(spec, result)


def spec_of(document: replays_document.Document) -> MatchSpec:
    """Return the specification of a match, as far as describing the match requires it."""
    bots = [{"name": seat["name"], "kind": "human", "target": ""} for seat in document["players"]]
    return MatchSpec.from_json(
        {"id": "replay", "game": document["game"], "bots": bots, "seed": document["seed"]}
    )


def result_of(document: replays_document.Document, outcome: Json) -> MatchResult:
    """Return the result of a match; raise ProtocolError if its outcome cannot be read."""
    try:
        ended = documents.convert(outcome, Ended)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"the outcome of the replay cannot be read: {error}") from None
    players = [str(seat["player"]) for seat in document["players"]]
    seats = {player: number for number, player in enumerate(players)}
    return MatchResult.from_json(
        {
            "id": "replay",
            "game": document["game"],
            "reason": ended.reason or ended.condition,
            "winner": seats.get(str(ended.winner)),
            "ranks": in_seats(ended.ranks, players),
            "scores": in_seats(ended.scores or ended.final_scores, players),
            "faults": [
                {**fault, "bot": seats[str(fault["player"])]}
                for fault in document["faults"]
                if str(fault["player"]) in seats
            ],
            "seconds": [[] for _ in players],
            "turns": len(document["turns"]),
            "stderr": [""] * len(players),
            "replay": {"turns": document["turns"]},
        }
    )


def in_seats(numbers: Numbers, players: Sequence[str]) -> list[int | float | None]:
    """Return the number of each player in seat order, None for a missing one."""
    named = numbers if isinstance(numbers, dict) else dict(zip(players, numbers, strict=False))
    return [named.get(player) for player in players]


def figures_of(document: replays_document.Document) -> dict[str, tuple[Any, ...]]:
    """Return the tie-break values that a game compares; empty if its rules cannot compute them."""
    players = [seat["player"] for seat in document["players"]]
    try:
        (last,) = deque(replays_document.states(load_game(document["game"]), document), maxlen=1)
        return tie_breaks(document["game"], last, players)
    except (ArenaError, KeyError):
        return {}


@dataclass(frozen=True, slots=True)
class Position:
    """What a match needs to start at a turn of another one."""

    game: str
    options: dict[str, Json]
    """Options of the rules; those of the protocol are set by each match."""
    players: tuple[Player, ...]
    """The players in seat order, as the game names them."""
    start: Json
    """The state as JSON."""

    def begin(self, spec: MatchSpec) -> MatchSpec:
        """Return a match between the same bots that starts here."""
        begun = {"options": self.options, "start": self.start, "players": self.players}
        return replace(spec, **begun)


def position_of(document: Document, turn: int) -> Position:
    """Return the position in a replay after `turn` turns.

    Raises UsageError if the replay has other rules or too many players, and if the turn is out of
    range or ends the match.
    """
    game = continuable(document)
    last = len(document["turns"])
    if not 0 <= turn <= last:
        raise UsageError(f"turn must be a number from 0 to {last}, not {turn}")
    foreign = load_protocol(game.name).options
    return Position(
        game.name,
        {key: value for key, value in document["options"].items() if key not in foreign},
        tuple(seat["player"] for seat in document["players"]),
        state_after(game, document, turn),
    )


def continuable(document: Document) -> Game:
    """Return the game of a replay; raise UsageError if it had other rules, or too many players."""
    game = load_game(document["game"])
    if document["rules"] != game.version:
        raise UsageError(
            f"the match was played with version {document['rules']} of the rules; this is version"
            f" {game.version}"
        )
    check_number(game.name, game.rules.seats, len(document["players"]))
    return game


def state_after(game: Game, document: Document, turn: int) -> Json:
    """Return the state after `turn` turns as JSON; raise UsageError if that is the end."""
    try:
        state = next(islice(states(game, document), turn, None))
    except RecursionError:
        raise UsageError("the replay is nested too deeply") from None
    if game.rules.outcome(state) is not None:
        raise UsageError(f"the match is over in turn {turn}: play on from an earlier one")
    return game.codec.state_to_json(state)
