"""The games by name; a game's modules are loaded when it is asked for.

Another package adds a game with an entry point in the group `cw.games` that names a Listing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, TypeAlias, cast

from cw.errors import Refused
from cw.games.base import Game, MapMaker, StrategyFactory
from cw.games.offer import Offer
from cw.games.wire import Checks, Conductor, Duty, Service

AnyGame: TypeAlias = Game[Any, Any, Any]
AnyMapMaker: TypeAlias = MapMaker[Any]
Strategies: TypeAlias = Mapping[str, StrategyFactory[Any, Any]]

Exporter: TypeAlias = Callable[[Mapping[str, Any], Sequence[Any]], bytes]
"""Gives the bytes of a file from a replay's document and all its states."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Where the parts of a game are, each as `module:name`."""

    game: str
    """The class of its rules."""
    strategies: str
    """A mapping from names to strategy classes, the weakest first."""
    conductor: str | None = None
    """The class of its wire protocol; None where bots come to us."""
    service: str | None = None
    """The class that lets a built-in strategy speak that protocol."""
    checks: str | None = None
    """The class of what a bot is tried with before it plays."""
    maps: str | None = None
    """The class of its map maker, for a game that is played on stored maps."""
    offer: str | None = None
    """What pages offer of it: matches to watch, and playing by hand."""
    exporter: str | None = None
    """A function that writes a replay in a format of the game's own."""
    rules_version: int = 1
    """Grows when old replays would be played otherwise."""


GAMES: Mapping[str, Listing] = {
    "circuit-wars": Listing(
        game="cw.games.circuit_wars.rules:CircuitWars",
        strategies="cw.games.circuit_wars.strategies:STRATEGIES",
        checks="cw.games.circuit_wars.checks:CircuitWarsChecks",
        offer="cw.games.circuit_wars.offer:OFFER",
    ),
    "code-battle": Listing(
        game="cw.games.code_battle.rules:CodeBattle",
        strategies="cw.games.code_battle.strategies:STRATEGIES",
        conductor="cw.games.code_battle.protocol:CodeBattleProtocol",
        service="cw.games.code_battle.service:CodeBattleService",
        checks="cw.games.code_battle.checks:CodeBattleChecks",
        offer="cw.games.code_battle.offer:OFFER",
        maps="cw.games.code_battle.map_maker:CodeBattleMaps",
        exporter="cw.games.code_battle.replay:export",
    ),
    "end-of-codes": Listing(
        game="cw.games.end_of_codes.rules:EndOfCodes",
        strategies="cw.games.end_of_codes.strategies:STRATEGIES",
        conductor="cw.games.end_of_codes.protocol:EndOfCodesProtocol",
        service="cw.games.end_of_codes.service:EndOfCodesService",
        checks="cw.games.end_of_codes.checks:EndOfCodesChecks",
        offer="cw.games.end_of_codes.offer:OFFER",
    ),
    "hexagon": Listing(
        game="cw.games.hexagon.rules:Hexagon",
        strategies="cw.games.hexagon.strategies:STRATEGIES",
        conductor="cw.games.hexagon.protocol:HexagonProtocol",
        service="cw.games.hexagon.service:HexagonService",
        checks="cw.games.hexagon.checks:HexagonChecks",
        offer="cw.games.hexagon.offer:OFFER",
    ),
    "paint": Listing(
        game="cw.games.paint.rules:Paint",
        strategies="cw.games.paint.strategies:STRATEGIES",
        conductor="cw.games.paint.protocol:PaintProtocol",
        service="cw.games.paint.service:PaintService",
        checks="cw.games.paint.checks:PaintChecks",
        offer="cw.games.paint.offer:OFFER",
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


def load_conductor(name: str) -> Conductor:
    """Load the wire protocol of a game; raise Refused for a game whose bots come to the arena."""
    where = listing(name).conductor
    if where is None:
        raise Refused(f"the bots of {name} are clients of its server: they are not called")
    return cast(Conductor, resolve_name(where)())


def load_service(name: str, duty: Duty) -> Service:
    """Make a built-in bot of a game that is asked over the wire."""
    where = listing(name).service
    if where is None:
        raise Refused(f"the bots of {name} are clients of its server: they cannot be served")
    return cast(Service, resolve_name(where)(duty))


def load_checks(name: str) -> Checks:
    """Load what bots of a game are tried with; raise Refused for a game that has nothing."""
    where = listing(name).checks
    if where is None:
        raise Refused(f"there are no checks for the bots of {name}")
    return cast(Checks, resolve_name(where)())


def load_offer(name: str) -> Offer:
    """Load what pages offer of a game; raise Refused for a game of which they offer nothing."""
    where = listing(name).offer
    if where is None:
        raise Refused(f"{name} is not played on pages")
    return cast(Offer, resolve_name(where))


def load_exporter(name: str) -> Exporter:
    """Load what writes a game's own replay format; raise Refused for a game that has none."""
    where = listing(name).exporter
    if where is None:
        raise Refused(f"{name} has no replay format of its own; write it as json or gz")
    return cast(Exporter, resolve_name(where))


def load_map_maker(name: str) -> AnyMapMaker:
    """Load the map maker of a game; raise Refused for an unknown name and a game without maps."""
    where = listing(name).maps
    if where is None:
        having = ", ".join(other for other, entry in listings().items() if entry.maps)
        raise Refused(f"{name} has no maps; the games with maps are: {having}")
    return cast(AnyMapMaker, resolve_name(where)())
