"""The bot kits: languages and their requirements, and new bots from a kit.

`sample_bots/<game>/<language>/` contains the files specific to a game. Files shared by several kits
are stored once, in `sample_bots/shared/`; `files` lists the contents of a whole kit. A game from
another package may provide `kits/<language>/` in its folder; if it has none, its bots start from
`sample_bots/default/`, which play any game by the default protocol.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cw.assets import asset
from cw.errors import UsageError, choices, short
from cw.games.entry import files_of
from cw.games.registry import game_entries, installed_games

INCLUDES = Path("/usr/include")
SHARED = "shared"
DEFAULT = "default"
NO_GAMES = (SHARED, DEFAULT)
WEB_SERVICES = ("code-battle", "end-of-codes", "hexagon")
"""The games whose bots are web services."""
BUILT = ("bot", "bot.jar")
"""Build products that may be found next to a bot's sources."""


@dataclass(frozen=True, slots=True)
class Language:
    """How bots in one language are built and run, the same for all games."""

    title: str
    programs: tuple[str, ...]
    """Programs that must be on the search path."""
    packages: str
    """The Debian packages that provide them."""
    run: str
    """The command that runs the bot, relative to its folder."""
    bot: str
    """The bot argument for `cw check` and `cw play`, relative to its folder."""
    build: str = ""
    """The build command to run there first; "" for none."""
    headers: tuple[str, ...] = ()
    """Headers that must exist below INCLUDES."""
    shared: tuple[str, ...] = ()
    """Files below SHARED that belong to every kit."""
    server: tuple[str, ...] = ()
    """Files below SHARED that belong to the kits of WEB_SERVICES."""

    def missing(self) -> list[str]:
        """List the programs and headers for building and running bots that this host lacks."""
        programs = [name for name in self.programs if shutil.which(name) is None]
        return programs + [name for name in self.headers if not (INCLUDES / name).exists()]


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        "Python",
        ("python3",),
        "python3",
        "python3 bot.py",
        "bot.py",
        server=("python/bot_server.py", "python/.dockerignore"),
    ),
    "javascript": Language(
        "JavaScript",
        ("node",),
        "nodejs",
        "node bot.js",
        "bot.js",
        server=("javascript/bot_server.js", "javascript/.dockerignore"),
    ),
    "php": Language(
        "PHP",
        ("php",),
        "php-cli",
        "php bot.php",
        "bot.php",
        server=("php/bot_server.php", "php/.dockerignore"),
    ),
    "ruby": Language(
        "Ruby",
        ("ruby",),
        "ruby",
        "ruby bot.rb",
        "bot.rb",
        server=("ruby/bot_server.rb", "ruby/.dockerignore"),
    ),
    "go": Language(
        "Go",
        ("go",),
        "golang-go",
        "./bot",
        "./bot",
        "go build -o bot .",
        shared=("go/go.mod",),
        server=("go/bot_server.go", "compiled/.dockerignore"),
    ),
    "java": Language(
        "Java",
        ("javac", "jar", "java"),
        "default-jdk-headless",
        "java -jar bot.jar",
        "exec:java -jar bot.jar",
        "javac -d classes *.java && jar cfe bot.jar Bot -C classes .",
        shared=("java/Json.java",),
        server=("java/BotServer.java", "java/.dockerignore"),
    ),
    "c": Language(
        "C",
        ("cc",),
        "gcc libc6-dev libcjson-dev",
        "./bot",
        "./bot",
        "cc -O2 -pthread -o bot *.c -lcjson",
        ("cjson/cJSON.h",),
        server=("c/bot_server.c", "c/bot_server.h", "compiled/.dockerignore"),
    ),
    "cpp": Language(
        "C++",
        ("c++",),
        "g++ libcjson-dev",
        "./bot",
        "./bot",
        "c++ -std=c++17 -O2 -pthread -o bot *.cpp -lcjson",
        ("cjson/cJSON.h",),
        shared=("cpp/json.hpp",),
        server=("cpp/bot_server.cpp", "cpp/bot_server.hpp", "compiled/.dockerignore"),
    ),
}
"""The languages, in listing order."""

COMPILED: Mapping[str, str] = {".c": "c", ".cpp": "cpp", ".go": "go", ".java": "java"}
"""The compiled languages, by file extension."""


def how_to_build(source: Path) -> str:
    """Return how to build a source file's bot before it can run; "" if no build is needed.

    Java runs single-file programs directly.

    >>> how_to_build(Path("mine/bot.go"))
    'build it first: (cd mine && go build -o bot .), then give mine/bot'
    """
    name = COMPILED.get(source.suffix)
    if name is None or (name == "java" and len(list(source.parent.glob("*.java"))) < 2):
        return ""
    language, folder = LANGUAGES[name], source.parent
    *command, product = shlex.split(language.bot)
    built = " ".join([*command, shlex.quote(str(folder / product))])
    build = language.build
    if folder != Path():
        build = f"(cd {shlex.quote(str(folder))} && {build})"
    return f"build it first: {build}, then give {quoted(built)}"


def quoted(argument: str) -> str:
    """Put an argument in double quotes if it contains a space; escape nothing."""
    return f'"{argument}"' if " " in argument else argument


def games() -> list[str]:
    """List the games that have kits: built-in games first, then those of other packages."""
    folders = [
        each for each in asset("sample_bots").iterdir() if each.name not in (SHARED, DEFAULT)
    ]
    ours = sorted(
        game.name for game in folders if any((game / name).is_dir() for name in LANGUAGES)
    )
    return [*ours, *(game.name for game in installed_games() if kits_of(game.name))]


def kits_of(game: str) -> dict[str, Path]:
    """Return the game-specific kit folders by language; {} if the game has none."""
    own = asset("sample_bots") / game
    if own.is_dir():
        return folders_in(own)
    entry = game_entries().get(game)
    if entry is None:
        return {}
    brought = files_of(entry)
    default = {} if entry.protocol else folders_in(asset("sample_bots") / DEFAULT)
    return default | ({} if brought is None else folders_in(brought / "kits"))


def folders_in(place: Path) -> dict[str, Path]:
    """Return the language folders within a folder, in the order of LANGUAGES."""
    return {name: place / name for name in LANGUAGES if (place / name).is_dir()}


def languages_of(game: str) -> dict[str, str]:
    """Return the languages of a game's kits, with their display names."""
    return {name: LANGUAGES[name].title for name in kits_of(game)} if game in games() else {}


def folder(game: str, language: str) -> Path:
    """Return the game-specific folder of a kit; raise UsageError for an unknown kit."""
    if game not in games():
        raise UsageError(f"there is no kit for the game {short(game)}; {choices(game, games())}")
    folders = kits_of(game)
    if language not in folders:
        suggestion = choices(language, folders)
        raise UsageError(
            f"there is no kit for {game} in the language {short(language)}; {suggestion}"
        )
    return folders[language]


def files(game: str, language: str) -> dict[str, Path]:
    """Return the source paths of a kit's files, by file name in the kit, sorted by name.

    Raises UsageError for an unknown kit.
    """
    place = folder(game, language)
    how = LANGUAGES[language]
    is_default = place.parent.name == DEFAULT
    shared = how.shared + (how.server if game in WEB_SERVICES or is_default else ())
    places = [asset("sample_bots") / SHARED / name for name in shared]
    places += [file for file in place.iterdir() if file.is_file() and file.name not in BUILT]
    return {file.name: file for file in sorted(places, key=lambda file: file.name)}


def new_bot(game: str, language: str, target: Path) -> list[Path]:
    """Copy a kit into a new or empty folder; return its files.

    Raises UsageError for an unknown kit, and for a target that is not empty, not a folder or not
    writable.
    """
    parts = files(game, language)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"{target} already exists and is not an empty folder; choose another one")
    try:
        target.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(file, target)) for file in parts.values()]
    except OSError as error:
        raise UsageError(f"the bot cannot be written to {target}: {error.strerror}") from None
