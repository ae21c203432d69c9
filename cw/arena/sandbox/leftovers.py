"""Removes what killed processes left behind: folders, control groups, and processes in them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple

from cw.arena.sandbox.owners import left_in, prefix, temporary_folder
from cw.arena.sandbox.removal import remove_later, remove_tree
from cw.arena.sandbox.shares import Share, places

MOST: Final = 1000
"""Folders, and groups of a place, that are removed at once."""

LOG: Final = logging.getLogger(__name__)


class Swept(NamedTuple):
    """How much was removed."""

    folders: int = 0
    groups: int = 0

    def describe(self) -> str:
        """Return it in words."""
        return f"removed {self.folders} folders and {self.groups} control groups of killed runs"


@cache
def sweep_once() -> None:
    """Sweep in a thread, at the first program that this process starts."""
    remove_later(sweep)


def sweep() -> Swept:
    """Remove what is left of processes that have ended; what others still use stays."""
    groups = [group for place in places() for group in islice(left_in(place.folder), MOST)]
    folders = list(islice(left_in(temporary_folder()), MOST))
    return Swept(removed(remove_folder, folders), removed(remove_group, groups))


def removed(remove: Callable[[Path], None], left: Iterable[Path]) -> int:
    """Remove what can be removed; return how much that was."""
    return sum(is_removed(remove, place) for place in left)


def is_removed(remove: Callable[[Path], None], place: Path) -> bool:
    """Remove one thing, and return whether it was ours to remove: another may have been first."""
    try:
        remove(place)
    except FileNotFoundError:
        return False
    except OSError as error:
        LOG.warning("something is left behind: %s", error)
        return False
    return True


def remove_folder(place: Path) -> None:
    """Take a folder over, which only one can do, and remove it."""
    remove_tree(place.rename(place.with_name(f"{prefix('swept')}{token_hex(4)}")))


def remove_group(place: Path) -> None:
    """Kill who is left in a control group, and remove it."""
    Share((place,), frozenset()).remove()
