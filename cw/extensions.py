"""Extensions from other packages, found by entry points: games, commands and so on."""

from __future__ import annotations

import sys
from functools import lru_cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Importing it takes longer than most commands, so it is loaded only on demand.
    from importlib.metadata import EntryPoint


def extensions(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, sorted by name, then by package."""
    return _known(group, tuple(sys.path))


def extension(group: str, name: str) -> Any:
    """Load the first extension of that name in a group; None if there is none.

    Also None if its package is still registered, but its modules have been moved.
    """
    point = next((point for point in extensions(group) if point.name == name), None)
    if point is None:
        return None
    try:
        return point.load()
    except ModuleNotFoundError as error:
        if f"{point.module}.".startswith(f"{error.name}."):
            return None
        raise


def source_of(point: EntryPoint) -> tuple[str, str]:
    """Return the name and version of the package that defines an entry point."""
    return (point.dist.name, point.dist.version) if point.dist else ("a package", "without version")


@lru_cache(maxsize=32)
def _known(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    known = resolve_name("importlib.metadata:entry_points")(group=group)
    return tuple(sorted(known, key=lambda point: (point.name, *source_of(point))))
