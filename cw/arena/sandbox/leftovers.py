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
"""Maximum number of folders, and of groups per place, removed in one sweep."""

LOG: Final = logging.getLogger(__name__)


class Swept(NamedTuple):
    """The numbers of removed items."""

    folders: int = 0
    groups: int = 0

    def describe(self) -> str:
        """Return a description."""
        return f"removed {self.folders} folders and {self.groups} control groups of killed runs"


@cache
def sweep_once() -> None:
    """Sweep in a thread, before the first program that this process starts."""
    remove_later(sweep)


def sweep() -> Swept:
    """Remove what ended processes left; keep what others still use."""
    groups = [group for place in places() for group in islice(left_in(place.folder), MOST)]
    folders = list(islice(left_in(temporary_folder()), MOST))
    return Swept(removed(remove_folder, folders), removed(remove_group, groups))


def removed(remove: Callable[[Path], None], left: Iterable[Path]) -> int:
    """Remove what can be removed; return the number removed."""
    return sum(is_removed(remove, place) for place in left)


def is_removed(remove: Callable[[Path], None], place: Path) -> bool:
    """Remove one item; return whether we did, as somebody else may have been first."""
    try:
        remove(place)
    except FileNotFoundError:
        return False
    except OSError as error:
        LOG.warning("something is left behind: %s", error)
        return False
    return True


def remove_folder(place: Path) -> None:
    """Take over a folder, which only one process can do, and remove it."""
    remove_tree(place.rename(place.with_name(f"{prefix('swept')}{token_hex(4)}")))


def remove_group(place: Path) -> None:
    """Kill the remaining processes of a control group, and remove it."""
    Share((place,), frozenset()).remove()
