"""A turn of a recorded match, from which another match can begin."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from msgspec.structs import replace

from cw.errors import UsageError
from cw.games.codec import Game
from cw.games.registry import load_game, load_protocol
from cw.games.rules import Json, Player
from cw.matches.run import check_number
from cw.matches.spec import MatchSpec
from cw.replays.document import Document, states


@dataclass(frozen=True, slots=True)
class Position:
    """What a match needs to begin at a turn of another one."""

    game: str
    options: dict[str, Json]
    """Options of the rules; those of the protocol are set by each match."""
    players: tuple[Player, ...]
    """The players in seat order, as the game names them."""
    start: Json
    """The document of the state."""

    def begin(self, spec: MatchSpec) -> MatchSpec:
        """Return a match between the same bots that begins here."""
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
    """Return the document of the state after `turn` turns; raise UsageError if that is the end."""
    try:
        state = next(islice(states(game, document), turn, None))
    except RecursionError:
        raise UsageError("the replay is nested too deeply") from None
    if game.rules.outcome(state) is not None:
        raise UsageError(f"the match is over in turn {turn}: play on from an earlier one")
    return game.codec.state_to_json(state)
