"""The games by name; a game's modules are loaded when it is asked for.

Another package adds a game with an entry point in the group `cw.games` that names a GameEntry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias, cast

from rich.text import Text

from cw.drawing.scenes import Picture
from cw.errors import UsageError, choices, short
from cw.games.codec import Conduct, DefaultCodec, Game, default_codec
from cw.games.defaults.bot_server import DefaultBotHandler
from cw.games.defaults.checks import DefaultChecks
from cw.games.defaults.play_options import default_play_options
from cw.games.defaults.protocol import DefaultProtocol
from cw.games.defaults.text import draw_in_terminal, text_picture
from cw.games.endings import Endings
from cw.games.own_format import Retold
from cw.games.play_options import PlayOptions
from cw.games.rules import Json, MapMaker, StrategyFactory
from cw.games.spaces import Spaces
from cw.games.wire import Admission, BotContext, BotHandler, Checks, Credits, WireProtocol

AnyMapMaker: TypeAlias = MapMaker[Any]
Strategies: TypeAlias = Mapping[str, StrategyFactory[Any, Any]]

DrawInTerminal: TypeAlias = Callable[[Json], Text]
"""Draws a frame of a replay."""

Exporter: TypeAlias = Callable[[Mapping[str, Any], Sequence[Any], Credits | None], bytes]
"""Returns the bytes of a file from a replay's document, all its states, and the names that a site
has for them; None where no site has played the match."""

Importer: TypeAlias = Callable[[Json], Retold | None]
"""Returns the match that the JSON of a file tells, None for a file of another format; raises
ProtocolError for one that cannot be played."""


@dataclass(frozen=True, slots=True)
class GameEntry:
    """Where the parts of a game are, each as `module:name`; None where the default is used."""

    rules: str
    """The class of its rules."""
    strategies: str
    """A mapping from names to strategy classes, the weakest first."""
    codec: str | None = None
    """Returns the codec for these rules."""
    protocol: str | None = None
    """The class of its wire protocol."""
    bot_handler: str | None = None
    """The class that lets a built-in strategy speak that protocol."""
    checks: str | None = None
    """The class of what a bot is tried with before it plays."""
    admission: str | None = None
    """The class of what a web service is asked before it may play on a site; None: its checks."""
    play_options: str | None = None
    """How it is offered to people: matches to watch, and playing by hand."""
    picture: str | None = None
    """How its frames are drawn as pictures."""
    terminal: str | None = None
    """A function that draws a frame in the terminal."""
    spaces: str | None = None
    """How its views and actions become arrays."""
    maps: str | None = None
    """The class of its map maker; None for a game that is not played on stored maps."""
    exporter: str | None = None
    """A function that writes a replay in a format of the game's own; None if there is none."""
    importer: str | None = None
    """A function that reads that format back."""
    conduct: str | None = None
    """What its protocol may make of a match beside the rules."""
    endings: str | None = None
    """The words in which its results are told."""
    rules_version: int = 1
    """Grows when old replays would be played otherwise."""
    seed_bits: int = 63
    """How long a seed may be."""

    @property
    def has_checks(self) -> bool:
        """Whether bots can be tried: by checks of its own, or by those of the default protocol."""
        return self.checks is not None or self.protocol is None

    @property
    def has_clients(self) -> bool:
        """Whether its bots are clients of our server, which has a page for the live game."""
        return self.protocol is not None and self.bot_handler is None


USUAL: Final[Mapping[str, str]] = {
    "rules": "rules:{}",
    "codec": "codec:{}Codec",
    "strategies": "strategies:STRATEGIES",
    "protocol": "protocol:{}Protocol",
    "bot_handler": "bot_server:{}BotHandler",
    "checks": "checks:{}Checks",
    "admission": "admission:{}Admission",
    "play_options": "play_options:PLAY_OPTIONS",
    "picture": "picture:PICTURE",
    "terminal": "terminal:draw",
    "spaces": "spaces:SPACES",
    "maps": "map_maker:{}Maps",
    "exporter": "exporter:export",
    "importer": "importer:read",
    "conduct": "conduct:CONDUCT",
    "endings": "endings:ENDINGS",
}
"""Where the parts of a game stand in its folder; `{}` is the name of the folder, as a class."""


def in_folder(package: str, rules_version: int = 1, seed_bits: int = 63) -> GameEntry:
    """Return the entry of a game whose parts stand where they usually do.

    `package` is the dotted name of its folder. A part whose module is missing is the default.
    """
    stem = "".join(word.capitalize() for word in package.rpartition(".")[2].split("_"))
    parts = {
        part: f"{package}.{place.format(stem)}"
        for part, place in USUAL.items()
        if find_spec(f"{package}.{place.partition(':')[0]}") is not None
    }
    return GameEntry(**parts, rules_version=rules_version, seed_bits=seed_bits)


GAMES: Mapping[str, GameEntry] = {
    "circuit-wars": in_folder("cw.games.circuit_wars"),
    "code-battle": in_folder("cw.games.code_battle"),
    "end-of-codes": in_folder("cw.games.end_of_codes", seed_bits=31),
    "hexagon": in_folder("cw.games.hexagon"),
    "paint": in_folder("cw.games.paint", seed_bits=31),
}


def game_entries() -> dict[str, GameEntry]:
    """Return our games and those of other packages; nobody can take the name of one of ours.

    Raises UsageError for an entry point that cannot be loaded.
    """
    others = {entry.name: loaded(entry) for entry in entry_points(group="cw.games")}
    return others | dict(GAMES)


def loaded(point: EntryPoint) -> GameEntry:
    """Return what another package says of its game; raise UsageError, with its name, for a fault.

    Whatever its modules raise is its fault: without the sentence nobody would know whose.
    """
    try:
        entry = point.load()
    except Exception as error:
        raise UsageError(
            f"the game {point.name!r} of another package cannot be loaded from {point.value}:"
            f" {error!r}; repair that package, or uninstall it"
        ) from error
    if not isinstance(entry, GameEntry):
        raise UsageError(f"{point.value} must be a GameEntry, not {short(entry)}")
    return entry


def game_entry(name: str) -> GameEntry:
    """Return the entry of a game; raise UsageError for an unknown name."""
    if name in GAMES:
        return GAMES[name]
    known = game_entries()
    if name not in known:
        raise UsageError(f"there is no game {short(name)}; {choices(name, known)}")
    return known[name]


def load_game(name: str) -> Game:
    """Load the rules of a game and its codec; raise UsageError for an unknown name."""
    entry = game_entry(name)
    rules = resolve_name(entry.rules)()
    codec = default_codec if entry.codec is None else resolve_name(entry.codec)
    conduct = Conduct() if entry.conduct is None else resolve_name(entry.conduct)
    return Game(rules, codec(rules), entry.rules_version, conduct)


def load_strategies(name: str) -> Strategies:
    """Load the built-in strategies of a game; raise UsageError for an unknown name."""
    return cast(Strategies, resolve_name(game_entry(name).strategies))


def load_strategy(game: str, name: str) -> StrategyFactory[Any, Any]:
    """Load a built-in strategy; raise UsageError if the game has none of that name."""
    strategies = load_strategies(game)
    if name not in strategies:
        raise UsageError(f"{game} has no strategy {short(name)}; {choices(name, strategies)}")
    return strategies[name]


def load_protocol(name: str) -> WireProtocol:
    """Load the wire protocol of a game: its own, or the default one."""
    where = game_entry(name).protocol
    if where is None:
        return DefaultProtocol(load_game(name))
    return cast(WireProtocol, resolve_name(where)())


def load_bot_handler(name: str, context: BotContext) -> BotHandler:
    """Make a built-in bot of a game that is asked over the wire.

    Raises UsageError for a game whose bots are clients of its server, and for one whose views
    nobody reads: by the default protocol a strategy is told no more than their documents.
    """
    entry = game_entry(name)
    if entry.bot_handler is not None:
        return cast(BotHandler, resolve_name(entry.bot_handler)(context))
    if entry.has_clients:
        raise UsageError(f"the bots of {name} are clients of its server: they cannot be served")
    codec = load_game(name).codec
    if not isinstance(codec, DefaultCodec):
        raise UsageError(f"bots of {name} cannot be served: its codec does not read views")
    return DefaultBotHandler(context, codec)


def load_checks(name: str) -> Checks:
    """Load what bots of a game are tried with; raise UsageError for a game that has nothing."""
    entry = game_entry(name)
    if entry.checks is not None:
        return cast(Checks, resolve_name(entry.checks)())
    if not entry.has_checks:
        raise UsageError(f"there are no checks for the bots of {name}")
    return DefaultChecks(load_game(name), list(load_strategies(name)))


def load_admission(name: str) -> Admission | None:
    """Load what a web service is asked before it plays on a site; None: the steps of its checks."""
    where = game_entry(name).admission
    return None if where is None else cast(Admission, resolve_name(where)())


def load_play_options(name: str) -> PlayOptions:
    """Load how a game is offered to people."""
    where = game_entry(name).play_options
    if where is None:
        return default_play_options(load_game(name), list(load_strategies(name)))
    return cast(PlayOptions, resolve_name(where))


def load_endings(name: str) -> Endings:
    """Load the words in which results of a game are told; without its own, plain ones."""
    where = game_entry(name).endings
    return Endings() if where is None else cast(Endings, resolve_name(where))


def load_picture(name: str) -> Picture[Any]:
    """Load how frames of a game are drawn: by itself, or as text."""
    where = game_entry(name).picture
    return text_picture(name) if where is None else cast(Picture[Any], resolve_name(where))


def load_terminal(name: str) -> DrawInTerminal:
    """Load how frames of a game are drawn in the terminal: by itself, or as text.

    Those of a game that is not here are text too: a replay can be looked at without its rules.
    """
    entry = game_entries().get(name)
    if entry is None or entry.terminal is None:
        return draw_in_terminal
    return cast(DrawInTerminal, resolve_name(entry.terminal))


def load_spaces(name: str) -> Spaces[Any, Any, Any] | None:
    """Load how views and actions of a game become arrays; None for a game that does not say."""
    where = game_entry(name).spaces
    return None if where is None else cast(Spaces[Any, Any, Any], resolve_name(where))


def load_exporter(name: str) -> Exporter:
    """Load what writes a game's own replay format; raise UsageError for a game that has none."""
    where = game_entry(name).exporter
    if where is None:
        raise UsageError(f"{name} has no replay format of its own; write it as json or gz")
    return cast(Exporter, resolve_name(where))


def load_importers() -> dict[str, Importer]:
    """Load what reads games' own replay formats, by game."""
    found = {name: entry.importer for name, entry in game_entries().items()}
    return {name: resolve_name(where) for name, where in found.items() if where is not None}


def load_map_maker(name: str) -> AnyMapMaker:
    """Load the map maker of a game; raise UsageError for a game without maps."""
    where = game_entry(name).maps
    if where is None:
        having = ", ".join(other for other, entry in game_entries().items() if entry.maps)
        raise UsageError(f"{name} has no maps; the games with maps are: {having}")
    return cast(AnyMapMaker, resolve_name(where)())
