"""Creates a new game: an installable package that works as is, to be replaced file by file."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cw.assets import asset
from cw.errors import UsageError, short
from cw.games.installed import LONGEST_NAME, NAME
from cw.games.registry import game_entries

FOLDER: Final = "sample_game"
"""The folder of the template files; `PACKAGE` in their names is the game's package."""

PACKAGE: Final = "PACKAGE"
ENDING: Final = ".jinja"
MOST_PLAYERS: Final = 4
"""The template's board has four corners for players to start in."""


@dataclass(frozen=True, slots=True)
class NewGame:
    """The name of a new game, and the options for its template."""

    name: str
    fewest: int = 2
    most: int = 2
    simultaneous: bool = False
    hidden: bool = False

    def __post_init__(self) -> None:
        """Raise UsageError for an invalid name or number of players."""
        refuse_name(self.name)
        if not 2 <= self.fewest <= self.most <= MOST_PLAYERS:
            raise UsageError(
                f"players must be a number or a range such as 2-4, from 2 to {MOST_PLAYERS}, not"
                f" {self.fewest}-{self.most}; to allow more, change rules.py"
            )

    @property
    def package(self) -> str:
        """The name of its Python package."""
        return self.name.replace("-", "_")

    def values(self) -> dict[str, Any]:
        """Return the template variables."""
        words = self.name.split("-")
        return {
            "name": self.name,
            "package": self.package,
            "class_name": "".join(word.capitalize() for word in words),
            "title": " ".join(word.capitalize() for word in words),
            "fewest": self.fewest,
            "most": self.most,
            "simultaneous": self.simultaneous,
            "hidden": self.hidden,
        }


def refuse_name(name: str) -> None:
    """Raise UsageError if a name is invalid for a new game."""
    if not re.fullmatch(NAME, name) or len(name) > LONGEST_NAME:
        raise UsageError(
            "the name of a game must be lower-case letters and digits, with - between words,"
            f" at most {LONGEST_NAME} characters, not {short(name)}"
        )
    if name in game_entries():
        raise UsageError(f"there is a game {name} already; choose another name")
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or find_spec(package):
        raise UsageError(f"there is a Python module {package} already; choose another name")


def new_game(game: NewGame, target: Path) -> list[Path]:
    """Write the package of a game into a new or empty folder; return its files.

    Raises UsageError if the target is not empty or not a folder.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(f"{target} already exists and is not an empty folder; choose another one")
    files = dict(rendered(game))
    for name, text in files.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [target / name for name in files]


def rendered(game: NewGame) -> Iterator[tuple[str, str]]:
    """Yield the files of a package as relative paths and texts."""
    place = asset(FOLDER)
    # The output is code and plain text, never HTML.
    templates = Environment(  # noqa: S701
        loader=FileSystemLoader(place),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    for file in sorted(place.rglob(f"*{ENDING}")):
        name = file.relative_to(place).as_posix()
        text = templates.get_template(name).render(game.values())
        yield name.removesuffix(ENDING).replace(PACKAGE, game.package), text
