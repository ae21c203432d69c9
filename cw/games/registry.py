"""The games by name; a game's modules are loaded when it is asked for.

Another package adds a game with an entry point in the group `cw.games` that names a Listing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, TypeAlias, cast

from cw.errors import UsageError
from cw.games.codec import Game
from cw.games.play_options import PlayOptions
from cw.games.rules import MapMaker, StrategyFactory
from cw.games.wire import BotContext, BotHandler, Checks, WireProtocol

AnyMapMaker: TypeAlias = MapMaker[Any]
Strategies: TypeAlias = Mapping[str, StrategyFactory[Any, Any]]

Exporter: TypeAlias = Callable[[Mapping[str, Any], Sequence[Any]], bytes]
"""Returns the bytes of a file from a replay's document and all its states."""


@dataclass(frozen=True, slots=True)
class GameEntry:
    """Where the parts of a game are, each as `module:name`."""

    rules: str
    """The class of its rules."""
    codec: str
    """Returns the codec for these rules."""
    strategies: str
    """A mapping from names to strategy classes, the weakest first."""
    protocol: str | None = None
    """The class of its wire protocol; None where bots come to us."""
    bot_handler: str | None = None
    """The class that lets a built-in strategy speak that protocol."""
    checks: str | None = None
    """The class of what a bot is tried with before it plays."""
    maps: str | None = None
    """The class of its map maker, for a game that is played on stored maps."""
    play_options: str | None = None
    """What pages offer of it: matches to watch, and playing by hand."""
    exporter: str | None = None
    """A function that writes a replay in a format of the game's own."""
    rules_version: int = 1
    """Grows when old replays would be played otherwise."""


GAMES: Mapping[str, GameEntry] = {
    "circuit-wars": GameEntry(
        protocol="cw.games.circuit_wars.protocol:CircuitWarsProtocol",
        rules="cw.games.circuit_wars.rules:CircuitWars",
        codec="cw.games.circuit_wars.codec:CircuitWarsCodec",
        strategies="cw.games.circuit_wars.strategies:STRATEGIES",
        checks="cw.games.circuit_wars.checks:CircuitWarsChecks",
        play_options="cw.games.circuit_wars.play_options:PLAY_OPTIONS",
    ),
    "code-battle": GameEntry(
        rules="cw.games.code_battle.rules:CodeBattle",
        codec="cw.games.code_battle.codec:CodeBattleCodec",
        strategies="cw.games.code_battle.strategies:STRATEGIES",
        protocol="cw.games.code_battle.protocol:CodeBattleProtocol",
        bot_handler="cw.games.code_battle.bot_server:CodeBattleBotHandler",
        checks="cw.games.code_battle.checks:CodeBattleChecks",
        play_options="cw.games.code_battle.play_options:PLAY_OPTIONS",
        maps="cw.games.code_battle.map_maker:CodeBattleMaps",
        exporter="cw.games.code_battle.replay:export",
    ),
    "end-of-codes": GameEntry(
        rules="cw.games.end_of_codes.rules:EndOfCodes",
        codec="cw.games.end_of_codes.codec:EndOfCodesCodec",
        strategies="cw.games.end_of_codes.strategies:STRATEGIES",
        protocol="cw.games.end_of_codes.protocol:EndOfCodesProtocol",
        bot_handler="cw.games.end_of_codes.bot_server:EndOfCodesBotHandler",
        checks="cw.games.end_of_codes.checks:EndOfCodesChecks",
        play_options="cw.games.end_of_codes.play_options:PLAY_OPTIONS",
    ),
    "hexagon": GameEntry(
        rules="cw.games.hexagon.rules:Hexagon",
        codec="cw.games.hexagon.codec:HexagonCodec",
        strategies="cw.games.hexagon.strategies:STRATEGIES",
        protocol="cw.games.hexagon.protocol:HexagonProtocol",
        bot_handler="cw.games.hexagon.bot_server:HexagonBotHandler",
        checks="cw.games.hexagon.checks:HexagonChecks",
        play_options="cw.games.hexagon.play_options:PLAY_OPTIONS",
    ),
    "paint": GameEntry(
        rules="cw.games.paint.rules:Paint",
        codec="cw.games.paint.codec:PaintCodec",
        strategies="cw.games.paint.strategies:STRATEGIES",
        protocol="cw.games.paint.protocol:PaintProtocol",
        bot_handler="cw.games.paint.bot_server:PaintBotHandler",
        checks="cw.games.paint.checks:PaintChecks",
        play_options="cw.games.paint.play_options:PLAY_OPTIONS",
    ),
}


def game_entries() -> dict[str, GameEntry]:
    """Return our games and those of other packages; nobody can take the name of one of ours."""
    others = {entry.name: cast(GameEntry, entry.load()) for entry in entry_points(group="cw.games")}
    return others | dict(GAMES)


def game_entry(name: str) -> GameEntry:
    """Return the listing of a game; raise UsageError for an unknown name."""
    known = game_entries()
    if name not in known:
        raise UsageError(f"there is no game {name!r}; the games are: {', '.join(known)}")
    return known[name]


def load_game(name: str) -> Game:
    """Load the rules of a game and its codec; raise UsageError for an unknown name."""
    entry = game_entry(name)
    rules = resolve_name(entry.rules)()
    return Game(rules, resolve_name(entry.codec)(rules), entry.rules_version)


def load_strategies(name: str) -> Strategies:
    """Load the built-in strategies of a game; raise UsageError for an unknown name."""
    return cast(Strategies, resolve_name(game_entry(name).strategies))


def load_protocol(name: str) -> WireProtocol:
    """Load the wire protocol of a game; raise UsageError for a game whose bots come to us."""
    where = game_entry(name).protocol
    if where is None:
        raise UsageError(f"the bots of {name} are clients of its server: they are not called")
    return cast(WireProtocol, resolve_name(where)())


def load_bot_handler(name: str, context: BotContext) -> BotHandler:
    """Make a built-in bot of a game that is asked over the wire."""
    where = game_entry(name).bot_handler
    if where is None:
        raise UsageError(f"the bots of {name} are clients of its server: they cannot be served")
    return cast(BotHandler, resolve_name(where)(context))


def load_checks(name: str) -> Checks:
    """Load what bots of a game are tried with; raise UsageError for a game that has nothing."""
    where = game_entry(name).checks
    if where is None:
        raise UsageError(f"there are no checks for the bots of {name}")
    return cast(Checks, resolve_name(where)())


def load_play_options(name: str) -> PlayOptions:
    """Load what pages offer of a game; raise UsageError for a game of which they offer nothing."""
    where = game_entry(name).play_options
    if where is None:
        raise UsageError(f"{name} is not played on pages")
    return cast(PlayOptions, resolve_name(where))


def load_exporter(name: str) -> Exporter:
    """Load what writes a game's own replay format; raise UsageError for a game that has none."""
    where = game_entry(name).exporter
    if where is None:
        raise UsageError(f"{name} has no replay format of its own; write it as json or gz")
    return cast(Exporter, resolve_name(where))


def load_map_maker(name: str) -> AnyMapMaker:
    """Load the map maker of a game; raise UsageError for a game without maps."""
    where = game_entry(name).maps
    if where is None:
        having = ", ".join(other for other, entry in game_entries().items() if entry.maps)
        raise UsageError(f"{name} has no maps; the games with maps are: {having}")
    return cast(AnyMapMaker, resolve_name(where)())
