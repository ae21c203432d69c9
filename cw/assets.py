"""Where non-Python files are, and the modules that clients import."""

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
    "games/circuit_wars/segments.py",
)
"""`cw.game`, which clients of Circuit Wars import, with all that it imports of this package."""


def is_checkout() -> bool:
    """Return whether the files stand in a checkout, where people rewrite them, not in a wheel."""
    return not (PACKAGE / "_assets").exists()


def asset(name: str) -> Path:
    """Return the path of `static`, `templates`, `docs`, `game_ai.py` and the like."""
    packed = PACKAGE / "_assets" / name
    return packed if packed.exists() else PACKAGE.parent / name


def client_library() -> list[Path]:
    """Return the files of `cw.game` and of all that it imports, compiled ones too."""
    sources = [PACKAGE / name for name in CLIENT_MODULES]
    compiled = [Path(cache_from_source(str(source))) for source in sources]
    return [*sources, *(path for path in compiled if path.exists())]
