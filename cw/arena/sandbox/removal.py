"""Removes what a bot has left behind, in the background, while matches go on."""

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
"""Seconds after which the rest of a folder is left where it is."""

LOG: Final = logging.getLogger(__name__)


def remove_later(remove: Callable[[], object]) -> None:
    """Call `remove` in a thread of its own; Python does not end before it is done.

    Nothing is raised: what cannot be removed is logged and left.
    """
    Thread(target=_remove, args=(remove,)).start()


def remove_tree(folder: Path, patience: float = PATIENCE) -> None:
    """Remove a folder and all that is in it; raise OSError for what cannot be removed.

    Folders within folders are moved to the top before they are emptied. So no path gets long and
    nothing is called recursively, however deep they are. Raises TimeoutError after `patience`
    seconds.
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
    """Return whether an entry is a folder; what a link or junction leads to is somebody else's."""
    return item.is_dir(follow_symlinks=False) and not is_junction(item.stat(follow_symlinks=False))


def _remove(remove: Callable[[], object]) -> None:
    try:
        remove()
    except OSError as error:
        LOG.warning("something of a bot is left behind: %s", error)


def _moved(place: Path, target: Path) -> Path:
    place.chmod(stat.S_IRWXU)
    return place.rename(target)
