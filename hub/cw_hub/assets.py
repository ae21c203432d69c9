"""Locations of the site's files other than Python code."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent


def asset(name: str) -> Path:
    """Return the path of one of the site's assets: `static`, `templates` or `docs`."""
    packed = PACKAGE / "_assets" / name
    return packed if packed.exists() else PACKAGE.parent / name
