"""Locations of data files, and of the modules that clients import."""

from __future__ import annotations

from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent

CLIENT_MODULES: Final = (
    "__init__.py",
    "errors.py",
    "game.py",
    "games/__init__.py",
    "games/circuit_wars/__init__.py",
    "games/circuit_wars/board.py",
)
"""`cw.game`, which Circuit Wars clients import, and all modules of this package it imports."""


def is_checkout() -> bool:
    """Return whether the files are in an editable checkout, not in an installed wheel."""
    return not (PACKAGE / "_assets").exists()


def asset(name: str) -> Path:
    """Return the path of an asset, such as `static`, `templates`, `docs` or `game_ai.py`."""
    packed = PACKAGE / "_assets" / name
    return packed if packed.exists() else PACKAGE.parent / name


def client_library() -> list[Path]:
    """Return the files of `cw.game` and of everything it imports, including compiled ones."""
    sources = [PACKAGE / name for name in CLIENT_MODULES]
    compiled = [Path(cache_from_source(str(source))) for source in sources]
    return [*sources, *(path for path in compiled if path.exists())]
