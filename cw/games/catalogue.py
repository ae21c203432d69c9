"""The games by name; a game's modules are loaded when it is asked for.

Another package adds a game with an entry point in the group `cw.games` that names a Listing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, TypeAlias, cast

from cw.errors import Refused
from cw.games.base import Game, StrategyFactory

AnyGame: TypeAlias = Game[Any, Any, Any]
Strategies: TypeAlias = Mapping[str, StrategyFactory[Any, Any]]


@dataclass(frozen=True, slots=True)
class Listing:
    """Where the parts of a game are, each as `module:name`."""

    game: str
    """The class of its rules."""
    strategies: str
    """A mapping from names to strategy classes, the weakest first."""


GAMES: Mapping[str, Listing] = {
    "circuit-wars": Listing(
        game="cw.games.circuit_wars.rules:CircuitWars",
        strategies="cw.games.circuit_wars.strategies:STRATEGIES",
    ),
    "end-of-codes": Listing(
        game="cw.games.end_of_codes.rules:EndOfCodes",
        strategies="cw.games.end_of_codes.strategies:STRATEGIES",
    ),
    "hexagon": Listing(
        game="cw.games.hexagon.rules:Hexagon",
        strategies="cw.games.hexagon.strategies:STRATEGIES",
    ),
    "paint": Listing(
        game="cw.games.paint.rules:Paint",
        strategies="cw.games.paint.strategies:STRATEGIES",
    ),
}


def listings() -> dict[str, Listing]:
    """Give our games and those of other packages; nobody can take the name of one of ours."""
    others = {entry.name: cast(Listing, entry.load()) for entry in entry_points(group="cw.games")}
    return others | dict(GAMES)


def listing(name: str) -> Listing:
    """Give the listing of a game; raise Refused for an unknown name."""
    known = listings()
    if name not in known:
        raise Refused(f"there is no game {name!r}; the games are: {', '.join(known)}")
    return known[name]


def load_game(name: str) -> AnyGame:
    """Load the rules of a game; raise Refused for an unknown name."""
    return cast(AnyGame, resolve_name(listing(name).game)())


def load_strategies(name: str) -> Strategies:
    """Load the built-in strategies of a game; raise Refused for an unknown name."""
    return cast(Strategies, resolve_name(listing(name).strategies))
