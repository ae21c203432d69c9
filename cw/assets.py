"""Where the files stand that are no modules: beside the package, or inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def asset(name: str) -> Path:
    """Return the path of `static`, `templates`, `docs`, `game_ai.py` and the like."""
    packed = _PACKAGE / "_assets" / name
    return packed if packed.exists() else _PACKAGE.parent / name
