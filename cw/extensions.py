"""What other packages add to the arena, by entry points: games, commands and so on."""

from __future__ import annotations

import sys
from functools import lru_cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Its import takes longer than that of most commands: it is loaded when somebody asks.
    from importlib.metadata import EntryPoint


def extensions(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, by name, then by package."""
    return _known(group, tuple(sys.path))


def extension(group: str, name: str) -> Any:
    """Load the first extension of that name in a group; None if there is none.

    None too if its package was installed once, and its modules have moved since.
    """
    point = next((point for point in extensions(group) if point.name == name), None)
    try:
        return point.load() if point else None
    except ModuleNotFoundError:
        return None


def source_of(point: EntryPoint) -> tuple[str, str]:
    """Return the name and the version of the package that has an entry point."""
    return (point.dist.name, point.dist.version) if point.dist else ("a package", "without version")


@lru_cache(maxsize=32)
def _known(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    known = resolve_name("importlib.metadata:entry_points")(group=group)
    return tuple(sorted(known, key=lambda point: (point.name, *source_of(point))))
