"""Codecs, which convert the states, views, actions and results of a game to and from JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, get_type_hints

import msgspec

from cw import documents
from cw.errors import ProtocolError, UsageError, short
from cw.games.rules import Action, Fault, Json, Outcome, Player, Rules, State, View, View_contra

UNREADABLE: Final = (msgspec.ValidationError, RecursionError, UnicodeError)
"""The errors of `msgspec.convert` for invalid input; a lone surrogate is not valid Unicode."""


LONGEST_ERROR: Final = 200
PLACE: Final = re.compile(r" - at `\$((?:\.\w+|\[\d+\])+)`$")
"""The location of an error reported by msgspec, unless it is among the members of a mapping."""

STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")


class Codec(Protocol[State, Action, View_contra]):
    """Writes the values of one game as JSON, and reads untrusted JSON.

    Every method that reads raises only ProtocolError, with the location of the error.

    >>> from cw.games.registry import load_game
    >>> game = load_game("hexagon")
    >>> state = game.rules.new(2, 7, size=2)
    >>> document = game.codec.state_to_json(state)
    >>> document["color"], game.codec.state_from_json(document) == state
    (1, True)
    """

    def state_to_json(self, state: State) -> Json:
        """Return the state as JSON."""

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state.

        `options` are the members next to the state in a line of `cw step` or `cw observe`: the few
        that a game's rule book names, if the state alone does not contain everything that its rules
        need.
        """

    def view_to_json(self, view: View_contra) -> Json:
        """Return the view as JSON."""

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a player from its name in JSON."""

    def action_to_json(self, action: Action) -> Json:
        """Return the action as JSON."""

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> Mapping[Player, Action | Fault]:
        """Read the actions and faults of a turn.

        An action that the rules do not allow is not an error here: `step` judges it.
        """

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the members next to the state in the output of `cw step`: `outcome` and more."""


def restarted(
    rules: Rules[State, Any, Any], start: State, seed: int, options: Mapping[str, Json]
) -> State:
    """Return the start of a new game with the players of a recorded one.

    Raises UsageError if the options or the seed are invalid for the game.
    """
    players = rules.players(start)
    # Games whose players have names get the names back; all others get the number of players.
    named = any(isinstance(player, str) for player in players)
    return rules.new(list(players) if named else len(players), seed, **options)


def numbered_name(player: Player) -> str:
    """Return a pseudonym for a player, used where names are hidden."""
    return f"player{player}"


@dataclass(frozen=True, slots=True)
class Conduct:
    """What a game's protocol decides about a match beyond its rules.

    This lets a recorded match be verified without asking any bot.
    """

    restart: Callable[[Any, Any, int, Mapping[str, Json]], Any] = restarted
    """Returns the start state for options, a seed, and the players of a recorded start."""
    unready: Callable[[Any, Sequence[Player]], Outcome | None] = lambda *_: None
    """Returns the outcome if only these players are ready, so that no turn is played."""
    late_faults: bool = False
    """Whether a fault still counts after the rules have ended the match."""
    figures: Callable[[Any], Mapping[Player, Mapping[str, Json]]] = lambda _: {}
    """Returns statistics to store per player in addition to rank and score, from the last state."""
    numbered: Callable[[Json], Json] = lambda state: state
    """Returns the JSON of a state or a full view, with `numbered_name` instead of chosen names."""


@dataclass(frozen=True, slots=True)
class Game:
    """Everything needed to replay a game from JSON."""

    rules: Rules[Any, Any, Any]
    codec: Codec[Any, Any, Any]
    version: int = 1
    """Increases when old replays would play differently."""
    conduct: Conduct = Conduct()

    @property
    def name(self) -> str:
        """The name of the game on the command line."""
        return self.rules.name


class DefaultCodec(Generic[State, Action, View]):
    """Converts states and actions to and from JSON as described by their types.

    The fields of dataclasses and msgspec structs become members of objects, tuples become lists,
    and keys become text. Bounds that a type declares with `msgspec.Meta` are enforced.
    """

    def __init__(
        self,
        rules: Rules[State, Action, View],
        state: type[State],
        action: type[Action],
        view: type[View] | None = None,
    ) -> None:
        """Use the types that the rules take and return.

        By default views are states: nothing is hidden.
        """
        self.rules = rules
        self.state = state
        self.action = action
        self.view: type[Any] = state if view is None else view

    def state_to_json(self, state: State) -> Json:
        """Return the state as JSON."""
        return to_json(state)

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; options have no effect."""
        state: State = from_json(f"state of {self.rules.name}", document, self.state)
        return state

    def view_to_json(self, view: View) -> Json:
        """Return the view as JSON."""
        return to_json(view)

    def view_from_json(self, document: Json) -> View:
        """Read a view, as a built-in strategy does when it receives one over the wire."""
        view: View = from_json(f"view of {self.rules.name}", document, self.view)
        return view

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a player given as a number or text."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Action) -> Json:
        """Return the action as JSON."""
        return to_json(action)

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Action | Fault]:
        """Read actions, and faults as `{"fault": kind, "error"?: message}`, by player."""
        return actions_by_player(self.rules.players(state), document, self._read_action)

    def _read_action(self, player: Player, document: Json) -> Action | Fault:
        if is_fault(document):
            return Fault.from_json(document)
        action: Action = from_json(f"action of player {player}", document, self.action)
        return action

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome."""
        return plain_result(self.rules.outcome(state))


def default_codec(rules: Rules[Any, Any, Any]) -> DefaultCodec[Any, Any, Any]:
    """Return the codec for the types that the rules declare to return.

    Raises UsageError for rules without a return type for `new`, `sample` or `observe`.
    """
    state, action, view = (returned(rules, name) for name in ("new", "sample", "observe"))
    return DefaultCodec(rules, state, action, view)


def returned(rules: Rules[Any, Any, Any], name: str) -> Any:
    """Return the declared return type of a method; raise UsageError if it has none."""
    method = getattr(type(rules), name)
    annotation = get_type_hints(method).get("return")
    if annotation is None:
        raise UsageError(
            f"{method.__qualname__} must say which type it returns, or {rules.name} needs a codec"
        )
    return annotation


def to_json(value: Any) -> Json:
    """Return a value as JSON: dicts with text keys, lists, and scalars."""
    return listed(msgspec.to_builtins(value, str_keys=True))


def listed(document: Any) -> Json:
    """Return JSON with lists in place of tuples, as if read from a file."""
    if isinstance(document, dict):
        return {key: listed(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [listed(value) for value in document]
    return document


def from_json(what: str, document: Json, kind: Any) -> Any:
    """Read a value of a type; raise ProtocolError stating the problem, its location and the value.

    `kind` is whatever msgspec converts to, such as `tuple[int, int]`.

    >>> from_json("pair", [1, 2], tuple[int, int])
    (1, 2)
    >>> from_json("pair", ["x"], tuple[int, ...])
    Traceback (most recent call last):
    cw.errors.ProtocolError: this is not a valid pair: Expected `int`, got `str` - at `$[0]`: ...
    """
    try:
        # `str_keys`: JSON allows only text as keys, while players may be numbers.
        return documents.convert(document, kind, str_keys=True)
    except UNREADABLE as error:
        raise ProtocolError(
            f"this is not a valid {what}: {explained(str(error), document)}"
        ) from None


def explained(error: str, document: Json) -> str:
    """Return an msgspec error with the value at its location, shortened for a message."""
    message = error if len(error) <= LONGEST_ERROR else f"{error[:100]}...{error[-80:]}"
    place = PLACE.search(error)
    if place is None:
        return message
    for member, index in STEP.findall(place[1]):
        document = document[member or int(index)]
    return f"{message}: it is {short(document)}"


def player_named(players: Sequence[Player], name: Json) -> Player:
    """Return the player that JSON names, either as is or as text."""
    return find_player({str(player): player for player in players}, name)


def find_player(named: Mapping[str, Player], name: Json) -> Player:
    """Return a player by name; raise ProtocolError if there is no such player."""
    player = named.get(str(name)) if type(name) in (int, str) else None
    if player is None:
        raise ProtocolError(f"unknown player {short(name)}; the players are {enumerated(named)}")
    return player


def enumerated(names: Iterable[str], most: int = 12) -> str:
    """Join names for a message, only the first ones if there are many."""
    listed = list(names)
    return ", ".join(listed[:most]) + (f", ... ({len(listed)})" if len(listed) > most else "")


def actions_by_player(
    players: Sequence[Player],
    document: Mapping[str, Json],
    read: Callable[[Player, Json], Action | Fault],
) -> dict[Player, Action | Fault]:
    """Read the actions or faults of a turn, an object with one member per player."""
    if not isinstance(document, Mapping):
        raise ProtocolError(f"actions must be an object by player, not {short(document)}")
    named = {str(player): player for player in players}
    seats = [find_player(named, name) for name in document]
    return {seat: read(seat, value) for seat, value in zip(seats, document.values(), strict=True)}


def is_fault(document: Json) -> bool:
    """Return whether JSON contains a fault instead of an action."""
    return isinstance(document, dict) and "fault" in document


def plain_result(outcome: Outcome | None) -> dict[str, Json]:
    """Return the result of a game whose JSON adds nothing to the usual outcome."""
    return {"outcome": None if outcome is None else outcome.to_json()}
