"""The interfaces between games and the arena, and the values that they exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, TypeAlias, TypeVar, get_args

from cw.drawing import Sheet
from cw.errors import FaultKind, ProtocolError, UsageError, choices, short

Player: TypeAlias = int | str
"""A seat: a number or an id, as the game's rule book names it."""

Json: TypeAlias = Any
"""Any value that `json.dumps` takes: dict, list, str, int, float, bool or None."""

FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class Fault:
    """Takes the place of an action that a player failed to provide.

    >>> Fault("timeout", "no line came within 0.5 s").to_json()
    {'fault': 'timeout', 'error': 'no line came within 0.5 s'}
    """

    kind: FaultKind
    detail: str = ""
    cause: str = ""
    """The transport's name for the failure, more specific than the kind; not reported."""
    note: str = field(default="", compare=False)
    """What was received and expected, if `detail` is only a name; for reports, not for rules."""
    lasting: bool = field(default=False, compare=False)
    """Whether it is permanent: the program has ended or never ran, or is no longer asked."""
    expected: str = field(default="", compare=False)
    """What was expected, if a report shows it separately from the note."""
    actual: str = field(default="", compare=False)
    """What was received instead."""
    answer: str = field(default="", compare=False)
    """The beginning of the faulty reply, as received; shown only to the bot's owner."""

    @staticmethod
    def from_json(document: Mapping[str, Json]) -> Fault:
        """Read `{"fault": kind, "error"?: message}`; raise ProtocolError for another kind.

        An error that is null counts as none.
        """
        kind, detail = document["fault"], document.get("error") or ""
        if kind not in FAULT_KINDS:
            raise ProtocolError(f"unknown fault {short(kind)}; known: {', '.join(FAULT_KINDS)}")
        if not isinstance(detail, str):
            raise ProtocolError(f"the error of a fault must be text, not {short(detail)}")
        return Fault(kind, detail)

    @property
    def sentence(self) -> str:
        """The detail, followed by the note if there is one."""
        return f"{self.detail}: {self.note}" if self.note else self.detail

    def to_json(self) -> dict[str, str]:
        """Return the JSON that `from_json` reads."""
        return {"fault": self.kind} | ({"error": self.detail} if self.detail else {})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended; the winner and the reason are separate.

    >>> Outcome("finished", 2, {1: 20, 2: 29}, {1: 2, 2: 1}).to_json()["winner"]
    2
    """

    reason: str
    winner: Player | None
    scores: Mapping[Player, float]
    ranks: Mapping[Player, int]

    def to_json(self) -> dict[str, Json]:
        """Return the outcome as JSON; players that are keys become text."""
        return {
            "reason": self.reason,
            "winner": self.winner,
            "scores": {str(player): score for player, score in self.scores.items()},
            "ranks": {str(player): rank for player, rank in self.ranks.items()},
        }


def resignation(players: Sequence[Player], loser: Player) -> Outcome:
    """Return the outcome of a match that a player has resigned: all others rank above it.

    No rules end a match this way; there are no scores, since the final ones are unknown.
    """
    others = [player for player in players if player != loser]
    winner = others[0] if len(others) == 1 else None
    ranks = {player: len(players) if player == loser else 1 for player in players}
    return Outcome("resigned", winner, {}, ranks)


State = TypeVar("State")
Action = TypeVar("Action")
View = TypeVar("View")
View_co = TypeVar("View_co", covariant=True)
View_contra = TypeVar("View_contra", contravariant=True)
Action_co = TypeVar("Action_co", covariant=True)
Map = TypeVar("Map")


class Rules(Protocol[State, Action, View_co]):
    """The rules of one game: pure, deterministic after `new`, independent of time and transport.

    States, actions and views are frozen. No method changes its arguments.

    >>> from cw.games.hexagon.rules import Hexagon
    >>> rules = Hexagon()
    >>> state = rules.new(2, 7, size=2)
    >>> rules.to_move(state)
    (1,)
    >>> state = rules.step(state, {1: rules.sample(state, 1, Random(7))})
    >>> rules.outcome(state) is None
    False
    """

    name: str
    """The name on the command line, such as `circuit-wars`."""

    seats: range
    """The allowed numbers of players."""

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start state; the same arguments always give the same state.

        `players` is their number, or a list of names if the game's rule book has one. Raises
        UsageError if an option is unknown or out of range.
        """

    def players(self, state: State) -> Sequence[Player]:
        """Return all players in seat order."""

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return the players to move; () when the game is over, or continues by itself."""

    def check(self, state: State, player: Player, action: Action) -> None:
        """Raise IllegalAction, with a message for the player, unless the action is legal."""

    def step(self, state: State, actions: Mapping[Player, Action | Fault]) -> State:
        """Return the state after these actions; must handle any action and any fault."""

    def observe(self, state: State, player: Player | None) -> View_co:
        """Return everything that the player may know; None gives the referee's view."""

    def outcome(self, state: State) -> Outcome | None:
        """Return the outcome, or None while the game continues."""

    def sample(self, state: State, player: Player, rng: Random) -> Action:
        """Return a random legal action."""


class Strategy(Protocol[View_contra, Action_co]):
    """A built-in player in one seat of one match; it may remember what it saw.

    A complete strategy, whose name in `cw play` is that of its entry in `STRATEGIES`:

        class First:
            def __init__(self, player: Player, rng: Random) -> None:
                self.player, self.rng = player, rng

            def act(self, view: State) -> Action:
                return Nim().sample(view, self.player, self.rng)
    """

    def act(self, view: View_contra) -> Action_co:
        """Choose an action for this seat."""


class StrategyFactory(Protocol[View_contra, Action_co]):
    """Creates a strategy for one seat of one match: the strategy's class."""

    def __call__(self, player: Player, rng: Random) -> Strategy[View_contra, Action_co]:
        """Create the strategy for a seat; `rng` makes all its random choices."""


class MapMaker(Protocol[Map]):
    """Makes, reads and renders the maps of a game that is played on stored maps."""

    def ids(self, players: int, number: int) -> Sequence[str]:
        """Return the ids of a series of maps, which can be part of a file name."""

    def make(self, players: int, number: int, seed: int, **options: Json) -> Iterator[Map]:
        """Yield a series of maps; the same arguments give the same maps.

        Raises UsageError if an option is unknown or out of range.
        """

    def library(self, players: int, seed: int) -> Iterator[Map]:
        """Yield the game's library for a number of players, each map tried in a match."""

    def stored(self, players: int) -> Sequence[Map]:
        """Return the stored maps of the library, by id, without generating them again."""

    def encode(self, game_map: Map) -> bytes:
        """Return the content of a map file as bytes."""

    def decode(self, data: bytes, name: str) -> Map:
        """Parse a map file; raise UsageError describing what is wrong with map `name`."""

    def facts(self, game_map: Map) -> dict[str, Json]:
        """Return information about a map, including `map_id` and `seed`."""

    def sheet(self, game_map: Map) -> Sheet:
        """Return an image of a map."""

    def picture(self, game_map: Map) -> Sequence[str]:
        """Return a map as lines of text: wall `#`, open `.`, source `*`, slot 0's start `A`, ..."""


def refuse_unknown_options(options: Mapping[str, Json], names: Sequence[str]) -> None:
    """Raise UsageError for the first option that the game does not have."""
    for name in options:
        if name not in names:
            raise UsageError(f"unknown option {short(name)}; {choices(name, names)}")


def whole_number(name: str, value: Json, low: int, high: int) -> int:
    """Return the value; raise UsageError unless it is a whole number from low to high."""
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name} must be a whole number from {low} to {high}, not {short(value)}")
