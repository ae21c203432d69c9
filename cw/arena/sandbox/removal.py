"""Removes what bots left behind, in the background, while matches go on."""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Final

from cw.arena.sandbox.folders import is_junction

PATIENCE: Final = 120.0
"""Seconds after which the rest of a folder is left in place."""

LOG: Final = logging.getLogger(__name__)


def remove_later(remove: Callable[[], object]) -> None:
    """Call `remove` in its own thread; Python waits for it before it exits.

    Never raises: what cannot be removed is logged and left.
    """
    Thread(target=_remove, args=(remove,)).start()


def remove_tree(folder: Path, patience: float = PATIENCE) -> None:
    """Remove a folder and everything in it; raise OSError if something cannot be removed.

    Nested folders are moved to the top before they are emptied. This keeps paths short and avoids
    recursion, however deep the nesting. Raises TimeoutError after `patience` seconds.
    """
    until = time.monotonic() + patience
    waiting, moved = [folder], 0
    while waiting:
        place = waiting.pop()
        place.chmod(stat.S_IRWXU)
        with os.scandir(place) as scanned:
            for item in scanned:
                if time.monotonic() > until:
                    raise TimeoutError(f"{folder} is not removed within {patience:g} s")
                if is_folder(item):
                    moved += 1
                    # Paths that bots nest deeper than the system's limit can be emptied only from
                    # the top.
                    waiting.append(_moved(Path(item), folder.with_name(f"{folder.name}.{moved}")))
                else:
                    Path(item).unlink()
        place.rmdir()


def is_folder(item: os.DirEntry[str]) -> bool:
    """Return whether an entry is a real folder; targets of links and junctions are not ours."""
    return item.is_dir(follow_symlinks=False) and not is_junction(item.stat(follow_symlinks=False))


def _remove(remove: Callable[[], object]) -> None:
    try:
        remove()
    except OSError as error:
        LOG.warning("something of a bot is left behind: %s", error)


def _moved(place: Path, target: Path) -> Path:
    place.chmod(stat.S_IRWXU)
    return place.rename(target)
