"""The daily back-up: all rows in one stored file, copied with its objects to a second store."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from errno import EDQUOT, ENOSPC
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple

from cw.errors import Failure
from cw_hub.operation.backup import backups, sources
from cw_hub.operation.health import marks
from cw_hub.operation.resources import Resources
from cw_hub.operation.upkeep_job import last_due
from cw_hub.store.objects import ObjectStore
from cw_hub.store.sealed_files import seal_file

DUE: Final = timedelta(hours=3, minutes=30)
"""When the back-up is due, after midnight UTC."""

COPIED: Final = ("replays", "maps", "bots", "avatars")
"""Prefixes of objects that are copied to the second store unchanged."""

logger = logging.getLogger(__name__)


class Backup(NamedTuple):
    """A back-up in the object store."""

    key: str
    rows: int
    objects: int
    """How many objects were copied."""


def do_daily(resources: Resources) -> None:
    """Make the daily back-up and copy it to the second store, unless done since it was due.

    Idempotent. Two concurrent callers make two back-ups, and the later one is kept. A late call
    runs at once. A failed copy is retried the next time.
    """
    due = last_due(resources.clock, DUE)
    moments = [backups.time_of(key) for key in resources.objects.keys(backups.PREFIX)]
    if not any(moment is not None and moment >= due for moment in moments):
        backup = make(resources)
        note(resources, marks.BACKUP)
        delete_old(resources.objects)
        logger.info("back-up: %s, %s rows", backup.key, backup.rows)
    elsewhere = resources.settings.backup_objects
    if elsewhere and (copied_at(resources) or datetime.min.replace(tzinfo=due.tzinfo)) < due:
        count = copy(resources, elsewhere)
        note(resources, marks.COPY)
        delete_old(ObjectStore(elsewhere))
        logger.info("back-up: sealed and taken elsewhere, %s objects copied", count)


def note(resources: Resources, name: str) -> None:
    """Record that something was done now."""
    with resources.database.writing() as session:
        marks.note(session, name, resources.clock())


def copied_at(resources: Resources) -> datetime | None:
    """Return when a back-up was last copied to the second store, or None."""
    with resources.database.reading() as session:
        return marks.moments(session).get(marks.COPY)


def delete_old(store: ObjectStore) -> None:
    """Delete superseded back-ups."""
    for key in backups.superseded(store.keys(backups.PREFIX)):
        store.delete(key)


def make(resources: Resources, elsewhere: str = "") -> Backup:
    """Make a back-up, and copy it and the objects to another store if one is given."""
    with temporary_file(resources.settings.data) as file:
        header = backups.write(resources.database, resources.clock, file)
        file.seek(0)
        key = backups.key_of(header.at)
        resources.objects.put_private(key, file)
    return Backup(key, header.rows, copy(resources, elsewhere) if elsewhere else 0)


def copy(resources: Resources, elsewhere: str) -> int:
    """Copy the newest back-up, sealed, and all missing objects to another store.

    Returns how many objects were copied.
    """
    to = ObjectStore(elsewhere)
    newest = max(filter(backups.time_of, resources.objects.keys(backups.PREFIX)), default=None)
    if newest is not None and not to.has(newest + backups.SEALED):
        seal_to(to, resources, newest)
    return sum(resources.objects.copy_missing(prefix, to) for prefix in COPIED)


def seal_to(to: ObjectStore, resources: Resources, key: str) -> None:
    """Put a back-up of this site into another store, sealed with the first master key."""
    folder = resources.settings.data
    with temporary_file(folder) as file, temporary_file(folder) as sealed:
        sources.copy_object(resources.objects, key, file)
        file.seek(0)
        seal_file(resources.sealer, file, sealed)
        sealed.seek(0)
        to.put_private(key + backups.SEALED, sealed)


@contextmanager
def temporary_file(folder: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file in a folder; raise Failure if its disk is full."""
    try:
        # Unnamed: nothing is left behind even if this process is killed.
        with TemporaryFile(dir=folder) as file:
            yield file
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            raise
        raise Failure(
            f"there is no room for a back-up in {folder}: {error.strerror};"
            " make room, or move CW_DATA"
        ) from None
