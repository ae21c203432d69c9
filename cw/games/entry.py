"""Where the parts of a game are; a game of another package is known by such an entry alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from cw.games.codec import Conduct, Game, default_codec


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
    shorthand: str | None = None
    """How its replays are shortened where many are stored; None: they are not."""
    conduct: str | None = None
    """What its protocol may make of a match beside the rules."""
    endings: str | None = None
    """The words in which its results are told."""
    rules_version: int = 1
    """Grows when old replays would be played otherwise."""
    seed_bits: int = 63
    """How long a seed may be."""
    has_hidden_information: bool = False
    """Whether players see only a part of the state: sites tell nobody more while a match goes on.
    """
    folder: str | None = None
    """The dotted name of its folder; beside its modules may stand the files of its pages."""

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
    "shorthand": "shorthand:SHORTHAND",
    "conduct": "conduct:CONDUCT",
    "endings": "endings:ENDINGS",
}
"""Where the parts of a game stand in its folder; `{}` is the name of the folder, as a class."""


def in_folder(
    package: str,
    rules_version: int = 1,
    seed_bits: int = 63,
    *,
    has_hidden_information: bool = False,
) -> GameEntry:
    """Return the entry of a game whose parts stand where they usually do.

    `package` is the dotted name of its folder. A part whose module is missing is the default.
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
    """Return the folder in which the files of a game stand, None if that is not known."""
    spec = None if entry.folder is None else find_spec(entry.folder)
    places = None if spec is None else spec.submodule_search_locations
    return None if places is None else Path(next(iter(places)))
