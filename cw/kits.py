"""The bot kits: which there are, what each language needs, and a copy of one to start from."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cw.assets import asset
from cw.errors import UsageError, choices, short

INCLUDES = Path("/usr/include")


@dataclass(frozen=True, slots=True)
class Language:
    """How bots in a language are built and run, the same for all games."""

    title: str
    programs: tuple[str, ...]
    """Programs that must be on the search path."""
    packages: str
    """The Debian packages that bring them."""
    run: str
    """The command that runs the bot, given in its folder."""
    bot: str
    """The bot as `cw check` and `cw play` take it, in its folder."""
    build: str = ""
    """The command that must be given there before; "" for none."""
    headers: tuple[str, ...] = ()
    """Files that must stand below INCLUDES."""

    def missing(self) -> list[str]:
        """Name what this machine lacks to build and run bots."""
        programs = [name for name in self.programs if shutil.which(name) is None]
        return programs + [name for name in self.headers if not (INCLUDES / name).exists()]


LANGUAGES: Mapping[str, Language] = {
    "python": Language("Python", ("python3",), "python3", "python3 bot.py", "bot.py"),
    "javascript": Language("JavaScript", ("node",), "nodejs", "node bot.js", "bot.js"),
    "php": Language("PHP", ("php",), "php-cli", "php bot.php", "bot.php"),
    "ruby": Language("Ruby", ("ruby",), "ruby", "ruby bot.rb", "bot.rb"),
    "go": Language("Go", ("go",), "golang-go", "./bot", "./bot", "go build -o bot ."),
    "java": Language(
        "Java",
        ("javac", "jar", "java"),
        "default-jdk-headless",
        "java -jar bot.jar",
        "exec:java -jar bot.jar",
        "javac -d classes *.java && jar cfe bot.jar Bot -C classes .",
    ),
    "c": Language(
        "C",
        ("cc",),
        "gcc libc6-dev libcjson-dev",
        "./bot",
        "./bot",
        "cc -O2 -pthread -o bot *.c -lcjson",
        ("cjson/cJSON.h",),
    ),
    "cpp": Language(
        "C++",
        ("c++",),
        "g++ libcjson-dev",
        "./bot",
        "./bot",
        "c++ -std=c++17 -O2 -pthread -o bot *.cpp -lcjson",
        ("cjson/cJSON.h",),
    ),
}
"""The languages, in the order in which they are listed."""


def games() -> list[str]:
    """Name the games that there are kits for."""
    folders = asset("sample_bots").iterdir()
    return sorted(
        game.name for game in folders if any((game / name).is_dir() for name in LANGUAGES)
    )


def languages_of(game: str) -> dict[str, str]:
    """Return the languages of the kits for a game, with their names for people."""
    return {name: one.title for name, one in LANGUAGES.items()} if game in games() else {}


def folder(game: str, language: str) -> Path:
    """Return the folder of a kit; raise UsageError for one that there is not."""
    if game not in games():
        raise UsageError(f"there is no kit for the game {short(game)}; {choices(game, games())}")
    if language not in LANGUAGES:
        said = choices(language, LANGUAGES)
        raise UsageError(f"there is no kit in the language {short(language)}; {said}")
    return asset("sample_bots") / game / language


def new_bot(game: str, language: str, target: Path) -> list[Path]:
    """Copy a kit into a new or empty folder; give the files in it.

    Raises UsageError for an unknown kit, and for a folder that is not empty or no folder.
    """
    source = folder(game, language)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"{target} exists already and is no empty folder; name another one")
    target.mkdir(parents=True, exist_ok=True)
    return [Path(shutil.copy(file, target)) for file in sources(source)]


def sources(kit: Path) -> list[Path]:
    """Name the files that a kit consists of, without what building it has left there."""
    built = {"bot", "bot.jar"}
    return sorted(file for file in kit.iterdir() if file.is_file() and file.name not in built)
