"""The back-up of a day: all rows into a file of the object store, and its objects elsewhere."""

from __future__ import annotations

import logging
from datetime import timedelta
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from cw.hub.operation.backup import backups
from cw.hub.operation.health import marks
from cw.hub.operation.resources import Resources
from cw.hub.operation.upkeep_job import last_due
from cw.hub.store.objects import ObjectStore

DUE: Final = timedelta(hours=3, minutes=30)
"""When it is due, after midnight in UTC."""

COPIED: Final = ("replays", "maps", "bots", "avatars")
"""What is copied elsewhere: the back-ups themselves are not."""

logger = logging.getLogger(__name__)


class Backup(NamedTuple):
    """A back-up in the object store."""

    key: str
    rows: int
    objects: int
    """How many were copied."""


def do_daily(resources: Resources) -> None:
    """Make the back-up of the day, unless one was made since it was due, and let old ones go.

    Twice: nothing. By two at once: two back-ups, of which the later one is kept. Late: at once.
    """
    due = last_due(resources.clock, DUE)
    moments = [backups.time_of(key) for key in resources.objects.keys(backups.PREFIX)]
    if any(moment is not None and moment >= due for moment in moments):
        return
    elsewhere = resources.settings.backup_objects
    backup = make(resources, elsewhere)
    with resources.database.writing() as session:
        for name in (marks.BACKUP, marks.COPY) if elsewhere else (marks.BACKUP,):
            marks.note(session, name, resources.clock())
    for key in backups.superseded(resources.objects.keys(backups.PREFIX)):
        resources.objects.delete(key)
    logger.info("back-up: %s, %s rows, %s objects copied", *backup)


def make(resources: Resources, objects: str = "") -> Backup:
    """Make a back-up, and copy to another store, if one is named, the objects it has not yet."""
    key = backups.key_of(resources.clock())
    # Without a name: whatever kills this process, nothing is left behind.
    with TemporaryFile(dir=resources.settings.data) as file:
        header = backups.write(resources.database, resources.clock, file)
        file.seek(0)
        resources.objects.put_private(key, file)
    return Backup(key, header.rows, copy(resources.objects, objects) if objects else 0)


def copy(objects: ObjectStore, url: str) -> int:
    """Copy what another store does not have yet; return how many objects."""
    to = ObjectStore(url)
    return sum(objects.copy_missing(prefix, to) for prefix in COPIED)
