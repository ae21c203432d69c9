"""GameEntry, which locates the parts of a game, and the types of some of these parts.

An entry is all that is known about the game of another package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from random import Random
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from cw.games.codec import Conduct, Game, default_codec
from cw.games.rules import Json, Player, Strategy
from cw.games.wire import Credits


@dataclass(frozen=True, slots=True)
class GameEntry:
    """The locations of a game's parts, each as `module:name`; None uses the default."""

    rules: str
    """The class of its rules."""
    strategies: str
    """A mapping from names to strategy classes, weakest first."""
    codec: str | None = None
    """A function from the rules to their codec."""
    protocol: str | None = None
    """The class of its wire protocol."""
    bot_handler: str | None = None
    """The class that makes a built-in strategy speak that protocol."""
    checks: str | None = None
    """The class of the checks that a bot passes before it plays."""
    admission: str | None = None
    """The class of a web service's checks before it may play on a site; None uses `checks`."""
    play_options: str | None = None
    """The options offered to users: matches to watch, and manual play."""
    picture: str | None = None
    """The picture that renders its frames."""
    terminal: str | None = None
    """A function that renders a frame in the terminal."""
    spaces: str | None = None
    """How its views and actions become arrays."""
    maps: str | None = None
    """The class of its map maker; None for a game without stored maps."""
    exporter: str | None = None
    """A function that writes a replay in the game's own format; None if it has none."""
    importer: str | None = None
    """A function that reads that format."""
    shorthand: str | None = None
    """How its replays are shortened for bulk storage; None if they are not."""
    conduct: str | None = None
    """What its protocol decides about a match beyond the rules."""
    endings: str | None = None
    """The wording of its results."""
    rules_version: int = 1
    """Increases when old replays would play differently."""
    seed_bits: int = 63
    """The maximum length of a seed, in bits."""
    has_hidden_information: bool = False
    """Whether players see only part of the state; during a match, sites show no one more."""
    folder: str | None = None
    """The dotted name of its folder, which may also contain the files of its pages."""

    @property
    def has_checks(self) -> bool:
        """Whether bots can be checked, by its own checks or by those of the default protocol."""
        return self.checks is not None or self.protocol is None

    @property
    def has_clients(self) -> bool:
        """Whether its bots are clients of the arena's server, which has a live game page."""
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
    "shorthand": "shorthand:SHORTHAND",
    "conduct": "conduct:CONDUCT",
    "endings": "endings:ENDINGS",
}
"""The default locations of a game's parts; `{}` is the folder's name as a class name."""


def in_folder(
    package: str,
    rules_version: int = 1,
    seed_bits: int = 63,
    *,
    has_hidden_information: bool = False,
) -> GameEntry:
    """Return the entry of a game whose parts are in the default locations.

    `package` is the dotted name of its folder. A part whose module is missing uses the default.
    """
    stem = "".join(word.capitalize() for word in package.rpartition(".")[2].split("_"))
    parts = {
        part: f"{package}.{place.format(stem)}"
        for part, place in USUAL.items()
        if find_spec(f"{package}.{place.partition(':')[0]}") is not None
    }
    return GameEntry(
        **parts,
        rules_version=rules_version,
        seed_bits=seed_bits,
        has_hidden_information=has_hidden_information,
        folder=package,
    )


def game_of(entry: GameEntry) -> Game:
    """Load the rules of a game and its codec."""
    rules = resolve_name(entry.rules)()
    codec = default_codec if entry.codec is None else resolve_name(entry.codec)
    conduct = Conduct() if entry.conduct is None else resolve_name(entry.conduct)
    return Game(rules, codec(rules), entry.rules_version, conduct)


def files_of(entry: GameEntry) -> Path | None:
    """Return the folder of a game's files, or None if unknown."""
    spec = None if entry.folder is None else find_spec(entry.folder)
    places = None if spec is None else spec.submodule_search_locations
    return None if places is None else Path(next(iter(places)))


@dataclass(frozen=True, slots=True)
class OwnMatch:
    """A match as recorded in a file of a game's own format, unverified."""

    date: str
    seed: int
    options: Mapping[str, Json]
    """The options with which the recorded match starts."""
    names: Sequence[str]
    """The bots' names, by slot."""
    credits: Credits
    start: Json
    """The first state as JSON."""
    actions: Sequence[Mapping[str, Json]]
    """The actions and faults of every turn, in the form that the game's codec reads."""
    recorded: Json
    """What the game's exporter writes for this match if the file is correct.

    Members of its first two levels may be missing.
    """


class ShortActions(NamedTuple):
    """The actions of a turn in two parts, because each compresses better separately."""

    units: Mapping[str, Json]
    """By player: the units that act, or the whole action if it cannot be shortened."""
    ways: Mapping[str, Json]
    """By player: what these units do; missing for a player whose action was not shortened."""


class Shorthand(Protocol):
    """Omits what need not be stored of a turn because it follows from the previous frame.

    Archives depend on it permanently, so it is not part of the rules, which may change.
    """

    def shorten(self, frame: Json, actions: Mapping[str, Json]) -> ShortActions:
        """Return the shortened actions of a turn that starts with a frame."""

    def lengthen(self, frame: Json, short: ShortActions) -> dict[str, Json]:
        """Return the actions restored to full length."""

    def expected(self, frame: Json, actions: Mapping[str, Json]) -> Json:
        """Return the frame after a turn in which only the ordered actions take effect.

        Replays store the difference from the real frame: a good prediction makes a short replay,
        and a bad one is not an error.
        """


Moves: TypeAlias = Callable[[Any, Player], Sequence[Json]]
"""Returns the JSON of all actions available to a player in a state."""


Words: TypeAlias = Callable[[Json], str]
"""Returns a short name for an action given as JSON."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of the game, and the values that users may choose."""

    option: str
    words: str
    """Its description for users."""
    values: Sequence[Json]
    """The allowed values, the default first."""


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """The choices for a match that a server plays."""

    strategies: Sequence[str]
    """The built-in strategies that take seats in turn unless others are chosen.

    They fill as many seats as the game needs, or one each if more are listed.
    """
    most_players: int = 2
    choices: Sequence[Choice] = ()
    moves: Moves | None = None
    """Lists a player's actions in a game with manual play."""
    words: Words | None = None
    """The actions' names on pages; None shows their JSON."""
    measured: Mapping[str, Json] = field(default_factory=dict)
    """The options of the matches that measure the strength of strategies.

    They make matches of two strategies differ if the game does not start at random.
    """


class LateStrategy:
    """Defers loading a strategy's libraries, which listing its name does not need."""

    def __init__(self, where: str, words: str) -> None:
        """Store the location of its class, `module:name`, and its description."""
        self.where = where
        self.__doc__ = words

    def __call__(self, player: Player, rng: Random) -> Strategy[Any, Any]:
        """Load the strategy and create it for a seat; `rng` makes all its random choices."""
        strategy: Strategy[Any, Any] = resolve_name(self.where)(player, rng)
        return strategy
