"""The values of a game as JSON: the documents of states, views, actions and results."""

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
"""What `msgspec.convert` raises for a document; text of half a surrogate pair is no Unicode."""


LONGEST_ERROR: Final = 200
PLACE: Final = re.compile(r" - at `\$((?:\.\w+|\[\d+\])+)`$")
"""Where msgspec says what it refuses; without places among the members of a mapping."""

STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")


class Codec(Protocol[State, Action, View_contra]):
    """Writes the values of one game as JSON, and reads what others wrote.

    Every method that reads raises ProtocolError, with the place of what is wrong, and nothing else.

    >>> from cw.games.registry import load_game
    >>> game = load_game("hexagon")
    >>> state = game.rules.new(2, 7, size=2)
    >>> document = game.codec.state_to_json(state)
    >>> document["color"], game.codec.state_from_json(document) == state
    (1, True)
    """

    def state_to_json(self, state: State) -> Json:
        """Return the document of the state."""

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state.

        `options` are what a line of `cw step` or `cw observe` says beside the state: the few that
        a game's document names, where the state alone does not hold all that its rules need.
        """

    def view_to_json(self, view: View_contra) -> Json:
        """Return the document of a view."""

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a player as a document names it."""

    def action_to_json(self, action: Action) -> Json:
        """Return the document of an action."""

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> Mapping[Player, Action | Fault]:
        """Read the actions and faults of a turn.

        An action that the rules do not allow is none the less an action: it is for `step`.
        """

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return what `cw step` answers beside the state: `outcome`, and what the document adds."""


def restarted(
    rules: Rules[State, Any, Any], start: State, seed: int, options: Mapping[str, Json]
) -> State:
    """Return the start of a new game with the players of a recorded one.

    Raises UsageError for options and seeds that make no game.
    """
    players = rules.players(start)
    # Games whose document names players get the names back; others only count them.
    named = any(isinstance(player, str) for player in players)
    return rules.new(list(players) if named else len(players), seed, **options)


def numbered_name(player: Player) -> str:
    """Return what a player is called where nobody shall be named."""
    return f"player{player}"


@dataclass(frozen=True, slots=True)
class Conduct:
    """What the protocol of a game may make of a match that its rules do not tell.

    By this a recorded match can be proven without asking anybody.
    """

    restart: Callable[[Any, Any, int, Mapping[str, Json]], Any] = restarted
    """Returns the start which options and seed give to the players of a recorded one."""
    unready: Callable[[Any, Sequence[Player]], Outcome | None] = lambda *_: None
    """Returns how a match ends before its first turn if only these players are ready."""
    late_faults: bool = False
    """Whether a fault counts that comes after the end by the rules."""
    figures: Callable[[Any], Mapping[Player, Mapping[str, Json]]] = lambda _: {}
    """Returns what is kept of players beside rank and score, from the last state."""
    numbered: Callable[[Json], Json] = lambda state: state
    """Returns the document of a state, or of a view of all of it, with `numbered_name` in place of
    the names that people have given themselves."""


@dataclass(frozen=True, slots=True)
class Game:
    """All that is needed to play a game again from its documents."""

    rules: Rules[Any, Any, Any]
    codec: Codec[Any, Any, Any]
    version: int = 1
    """Grows when old replays would be played otherwise."""
    conduct: Conduct = Conduct()

    @property
    def name(self) -> str:
        """The name of the game as on the command line."""
        return self.rules.name


class DefaultCodec(Generic[State, Action, View]):
    """The documents of a game whose states and actions are described by their types.

    Objects have the members that dataclasses and msgspec structs have as fields, tuples are lists,
    keys are text. Bounds that a type states with `msgspec.Meta` are kept.
    """

    def __init__(
        self,
        rules: Rules[State, Action, View],
        state: type[State],
        action: type[Action],
        view: type[View] | None = None,
    ) -> None:
        """Speak of a game whose rules take and return values of these types.

        By default views are states: nothing is hidden.
        """
        self.rules = rules
        self.state = state
        self.action = action
        self.view: type[Any] = state if view is None else view

    def state_to_json(self, state: State) -> Json:
        """Return the state as a document."""
        return to_json(state)

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; options have no effect."""
        state: State = from_json(f"state of {self.rules.name}", document, self.state)
        return state

    def view_to_json(self, view: View) -> Json:
        """Return the view as a document."""
        return to_json(view)

    def view_from_json(self, document: Json) -> View:
        """Read a view, as a built-in strategy does that is told it over the wire."""
        view: View = from_json(f"view of {self.rules.name}", document, self.view)
        return view

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a player by the number or the text that names it."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Action) -> Json:
        """Return the action as a document."""
        return to_json(action)

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Action | Fault]:
        """Read actions, and faults as `{"fault": kind, "error"?: sentence}`, by player."""
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
    """Return the codec of the types that the rules say they return.

    Raises UsageError for rules that do not say what `new`, `sample` or `observe` return.
    """
    state, action, view = (returned(rules, name) for name in ("new", "sample", "observe"))
    return DefaultCodec(rules, state, action, view)


def returned(rules: Rules[Any, Any, Any], name: str) -> Any:
    """Return the type that a method says it returns; raise UsageError if it says none."""
    method = getattr(type(rules), name)
    annotation = get_type_hints(method).get("return")
    if annotation is None:
        raise UsageError(
            f"{method.__qualname__} must say which type it returns, or {rules.name} needs a codec"
        )
    return annotation


def to_json(value: Any) -> Json:
    """Return a value as dicts with text as keys, lists, and what JSON has beside them."""
    return listed(msgspec.to_builtins(value, str_keys=True))


def listed(document: Any) -> Json:
    """Return a document with lists in place of its tuples, as it comes out of a file."""
    if isinstance(document, dict):
        return {key: listed(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [listed(value) for value in document]
    return document


def from_json(what: str, document: Json, kind: Any) -> Any:
    """Read a value of a type; raise ProtocolError that says what is wrong, where, and what came.

    `kind` is whatever msgspec converts to, such as `tuple[int, int]`.

    >>> from_json("pair", [1, 2], tuple[int, int])
    (1, 2)
    >>> from_json("pair", ["x"], tuple[int, ...])
    Traceback (most recent call last):
    cw.errors.ProtocolError: this is not a valid pair: Expected `int`, got `str` - at `$[0]`: ...
    """
    try:
        # `str_keys`: JSON has only text as keys, while players may be numbers.
        return documents.convert(document, kind, str_keys=True)
    except UNREADABLE as error:
        raise ProtocolError(
            f"this is not a valid {what}: {explained(str(error), document)}"
        ) from None


def explained(error: str, document: Json) -> str:
    """Return an error of msgspec with the value at the place that it names, cut for a sentence."""
    message = error if len(error) <= LONGEST_ERROR else f"{error[:100]}...{error[-80:]}"
    place = PLACE.search(error)
    if place is None:
        return message
    for member, index in STEP.findall(place[1]):
        document = document[member or int(index)]
    return f"{message}: it is {short(document)}"


def player_named(players: Sequence[Player], name: Json) -> Player:
    """Return the player whom a document names, as itself or as text."""
    return find_player({str(player): player for player in players}, name)


def find_player(named: Mapping[str, Player], name: Json) -> Player:
    """Return a player by its name; raise ProtocolError if nobody is called so."""
    player = named.get(str(name)) if type(name) in (int, str) else None
    if player is None:
        raise ProtocolError(f"unknown player {short(name)}; the players are {enumerated(named)}")
    return player


def enumerated(names: Iterable[str], most: int = 12) -> str:
    """Return names for a sentence, the first ones if there are many."""
    listed = list(names)
    return ", ".join(listed[:most]) + (f", ... ({len(listed)})" if len(listed) > most else "")


def actions_by_player(
    players: Sequence[Player],
    document: Mapping[str, Json],
    read: Callable[[Player, Json], Action | Fault],
) -> dict[Player, Action | Fault]:
    """Read what a turn's document says of each player in it."""
    if not isinstance(document, Mapping):
        raise ProtocolError(f"actions must be an object by player, not {short(document)}")
    named = {str(player): player for player in players}
    seats = [find_player(named, name) for name in document]
    return {seat: read(seat, value) for seat, value in zip(seats, document.values(), strict=True)}


def is_fault(document: Json) -> bool:
    """Return whether a document tells a fault in place of an action."""
    return isinstance(document, dict) and "fault" in document


def plain_result(outcome: Outcome | None) -> dict[str, Json]:
    """Return the result of a game whose document adds nothing to the usual outcome."""
    return {"outcome": None if outcome is None else outcome.to_json()}
