"""The registry of games by name, and functions that load their parts on demand.

Another package adds a game with an entry point in the group `cw.games` that names a GameEntry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cw.errors import UsageError, choices, short
from cw.games.codec import DefaultCodec, Game
from cw.games.endings import Endings
from cw.games.entry import GameEntry, game_of, in_folder
from cw.games.installed import InstalledGame, LeftOut, found_games
from cw.games.rules import Json, MapMaker, StrategyFactory

if TYPE_CHECKING:
    # Libraries for drawing or computing are imported with the part that needs them.
    from rich.text import Text

    from cw.drawing import Picture
    from cw.games.entry import OwnMatch, PlayOptions, Shorthand
    from cw.games.spaces import Spaces
    from cw.games.wire import Admission, BotContext, BotHandler, Checks, Credits, WireProtocol

AnyMapMaker: TypeAlias = MapMaker[Any]
Strategies: TypeAlias = Mapping[str, StrategyFactory[Any, Any]]

DrawInTerminal: TypeAlias = "Callable[[Json], Text]"
"""Renders a frame of a replay in the terminal."""

Exporter: TypeAlias = "Callable[[Mapping[str, Any], Sequence[Any], Credits | None], bytes]"
"""Returns the bytes of a file, given a replay's document, all its states, and a site's names.

The names are those of the match and its players, or None if no site played the match.
"""

Importer: TypeAlias = "Callable[[Json], OwnMatch | None]"
"""Returns the match in a file's JSON, or None for another format.

Raises ProtocolError if the match cannot be played.
"""


GAMES: Mapping[str, GameEntry] = {
    "circuit-wars": in_folder("cw.games.circuit_wars"),
    "code-battle": in_folder("cw.games.code_battle", has_hidden_information=True),
    "end-of-codes": in_folder("cw.games.end_of_codes", seed_bits=31),
    "hexagon": in_folder("cw.games.hexagon"),
    "paint": in_folder("cw.games.paint", seed_bits=31),
}


@cache
def games_with_hidden_information() -> frozenset[str]:
    """Return the games whose players see only part of the state."""
    return frozenset(name for name, entry in game_entries().items() if entry.has_hidden_information)


def game_entries() -> dict[str, GameEntry]:
    """Return the built-in games, then the playable ones of other packages."""
    return {**GAMES, **{game.name: game.entry for game in installed_games()}}


def installed_games() -> tuple[InstalledGame, ...]:
    """Return the playable games of other packages, by name.

    The names of built-in games are reserved; of two packages with the same name, the first one
    keeps it.
    """
    return found_games(frozenset(GAMES))[0]


def games_left_out() -> tuple[LeftOut, ...]:
    """Return the games of other packages that cannot be played, and why."""
    return found_games(frozenset(GAMES))[1]


def game_entry(name: str) -> GameEntry:
    """Return the entry of a game; raise UsageError if unknown."""
    if name in GAMES:
        return GAMES[name]
    entries = game_entries()
    if name in entries:
        return entries[name]
    why = next((left_out.sentence for left_out in games_left_out() if left_out.name == name), None)
    raise UsageError(why or f"there is no game {short(name)}; {choices(name, entries)}")


def load_game(name: str) -> Game:
    """Load the rules of a game and its codec; raise UsageError if unknown.

    >>> load_game("hexagon").rules.seats
    range(2, 3)
    """
    return game_of(game_entry(name))


def load_strategies(name: str) -> Strategies:
    """Load the built-in strategies of a game; raise UsageError if unknown."""
    return cast(Strategies, resolve_name(game_entry(name).strategies))


def load_strategy(game: str, name: str) -> StrategyFactory[Any, Any]:
    """Load a built-in strategy; raise UsageError if the game has none with that name.

    >>> load_strategy("paint", "greedy").__name__
    'Greedy'
    """
    strategies = load_strategies(game)
    if name not in strategies:
        raise UsageError(f"{game} has no strategy {short(name)}; {choices(name, strategies)}")
    return strategies[name]


def load_protocol(name: str) -> WireProtocol:
    """Load the wire protocol of a game: its own, or the default one."""
    where = game_entry(name).protocol
    if where is None:
        default = resolve_name("cw.games.defaults:DefaultProtocol")
        return cast("WireProtocol", default(load_game(name), load_play_options(name).moves))
    return cast("WireProtocol", resolve_name(where)())


def load_bot_handler(name: str, context: BotContext) -> BotHandler:
    """Create a built-in bot that speaks a game's wire protocol.

    Raises UsageError if the game's bots are clients of its server, or if its views cannot be read
    back: with the default protocol a strategy receives them only as JSON.
    """
    entry = game_entry(name)
    if entry.bot_handler is not None:
        return cast("BotHandler", resolve_name(entry.bot_handler)(context))
    if entry.has_clients:
        raise UsageError(f"the bots of {name} are clients of its server: they cannot be served")
    codec = load_game(name).codec
    if not isinstance(codec, DefaultCodec):
        raise UsageError(f"bots of {name} cannot be served: its codec does not read views")
    default = resolve_name("cw.games.defaults:DefaultBotHandler")
    return cast("BotHandler", default(context, codec))


def load_checks(name: str) -> Checks:
    """Load the checks of a game's bots; raise UsageError if there are none."""
    entry = game_entry(name)
    if entry.checks is not None:
        return cast("Checks", resolve_name(entry.checks)())
    if not entry.has_checks:
        raise UsageError(f"there are no checks for the bots of {name}")
    default = resolve_name("cw.games.defaults:DefaultChecks")
    moves = load_play_options(name).moves
    return cast("Checks", default(load_game(name), list(load_strategies(name)), moves))


def load_admission(name: str) -> Admission | None:
    """Load the checks of a web service before it plays on a site; None means the game's checks."""
    where = game_entry(name).admission
    return None if where is None else cast("Admission", resolve_name(where)())


def load_play_options(name: str) -> PlayOptions:
    """Load the play options of a game."""
    where = game_entry(name).play_options
    if where is None:
        default = resolve_name("cw.games.defaults:default_play_options")
        return cast("PlayOptions", default(load_game(name), list(load_strategies(name))))
    return cast("PlayOptions", resolve_name(where))


def load_endings(name: str) -> Endings:
    """Load the wording of a game's results, or a plain default."""
    where = game_entry(name).endings
    return Endings() if where is None else cast(Endings, resolve_name(where))


def load_picture(name: str) -> Picture[Any]:
    """Load a game's picture: its own, or else its terminal board, or else JSON as text."""
    entry = game_entry(name)
    if entry.picture is not None:
        return cast("Picture[Any]", resolve_name(entry.picture))
    if entry.terminal is not None:
        on_terminal = resolve_name("cw.games.defaults:terminal_picture")
        return cast("Picture[Any]", on_terminal(name, resolve_name(entry.terminal)))
    return cast("Picture[Any]", resolve_name("cw.games.defaults:text_picture")(name))


def load_terminal(name: str) -> DrawInTerminal:
    """Load a game's terminal renderer: its own, or JSON as text.

    Games that are not installed are rendered as text too: a replay can be viewed without its rules.
    """
    entry = game_entries().get(name)
    where = None if entry is None else entry.terminal
    return cast("DrawInTerminal", resolve_name(where or "cw.games.defaults:draw_in_terminal"))


def load_spaces(name: str) -> Spaces[Any, Any, Any] | None:
    """Load the array form of a game's views and actions, or None if it has none."""
    where = game_entry(name).spaces
    return None if where is None else cast("Spaces[Any, Any, Any]", resolve_name(where))


def load_exporter(name: str) -> Exporter:
    """Load the exporter of a game's own replay format; raise UsageError if it has none."""
    where = game_entry(name).exporter
    if where is None:
        raise UsageError(f"{name} has no replay format of its own; write it as json or gz")
    return cast("Exporter", resolve_name(where))


def load_importers() -> dict[str, Importer]:
    """Load the importers of games' own replay formats, by game."""
    addresses = {name: entry.importer for name, entry in game_entries().items()}
    return {name: resolve_name(where) for name, where in addresses.items() if where is not None}


def load_shorthand(name: str) -> Shorthand | None:
    """Load the shorthand for a game's replays, or None if they are not shortened."""
    where = game_entry(name).shorthand
    return None if where is None else cast("Shorthand", resolve_name(where))


def load_map_maker(name: str) -> AnyMapMaker:
    """Load the map maker of a game; raise UsageError for a game without maps."""
    where = game_entry(name).maps
    if where is None:
        having = ", ".join(other for other, entry in game_entries().items() if entry.maps)
        raise UsageError(f"{name} has no maps; the games with maps are: {having}")
    return cast(AnyMapMaker, resolve_name(where)())
