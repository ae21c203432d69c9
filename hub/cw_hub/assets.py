"""Locations of the site's files that are not Python."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parent


def asset(name: str) -> Path:
    """Return the path of an asset of the site: `static`, `templates` or `docs`."""
    packed = PACKAGE / "_assets" / name
    return packed if packed.exists() else PACKAGE.parent / name
