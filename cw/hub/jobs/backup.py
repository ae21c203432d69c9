"""The back-up of a day: all rows into a file of the object store, and its objects elsewhere."""

from __future__ import annotations

import logging
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from cw.hub.jobs.upkeep import last_due
from cw.hub.resources import Resources
from cw.hub.services import backups
from cw.hub.store.objects import ObjectStore

DUE: Final = timedelta(hours=3, minutes=30)
"""When it is due, after midnight in UTC."""

COPIED: Final = ("replays", "maps", "bots", "avatars")
"""What is copied elsewhere: the back-ups themselves are not."""

logger = logging.getLogger(__name__)


class Made(NamedTuple):
    """A back-up that was made."""

    key: str
    rows: int
    objects: int
    """How many were copied."""


def do_daily(resources: Resources) -> None:
    """Make the back-up of the day, unless one was made since it was due, and let old ones go.

    Twice: nothing. By two at once: two back-ups, of which the later one is kept. Late: at once.
    """
    due = last_due(resources.clock, DUE)
    made = [backups.made_at(key) for key in resources.objects.keys(backups.PREFIX)]
    if any(moment is not None and moment >= due for moment in made):
        return
    done = make(resources, resources.settings.backup_objects)
    for key in backups.not_kept(resources.objects.keys(backups.PREFIX)):
        resources.objects.delete(key)
    logger.info("back-up: %s, %s rows, %s objects copied", *done)


def make(resources: Resources, objects: str = "") -> Made:
    """Make a back-up, and copy to another store, if one is named, the objects it has not yet."""
    key = backups.key_of(resources.clock())
    # Without a name: whatever kills this process, nothing is left behind.
    with TemporaryFile(dir=resources.settings.data) as file:
        header = backups.write(resources.database, resources.clock, file)
        file.seek(0)
        resources.objects.put_private(key, file)
    return Made(key, header.rows, copy(resources.objects, objects) if objects else 0)


def copy(objects: ObjectStore, url: str) -> int:
    """Copy what another store does not have yet; return how many objects."""
    to = ObjectStore(url)
    return sum(objects.copy_missing(prefix, to) for prefix in COPIED)
