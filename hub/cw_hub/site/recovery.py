"""Restores a site from a backup, and runs the drill that tests one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import func, select

from cw.errors import UsageError
from cw_hub.accounts import administration, mail
from cw_hub.context import Clock, utc_now
from cw_hub.matches.results import queue_all
from cw_hub.operation import backups, keys
from cw_hub.operation.backups import COPIED, Stored
from cw_hub.operation.doctor import Finding, tried
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import FORMATS
from cw_hub.store.database import Database, Session
from cw_hub.store.models import Battle
from cw_hub.store.objects import ObjectStore
from cw_hub.store.sealing import Sealer

TOLERANCE: Final = 0.001
"""Tolerance for ratings: exp may differ in the last bits on another host."""

MOST_DIFFERENCES: Final = 100
"""Maximum number of differences reported."""

SAMPLE: Final = 100
"""Number of replays checked by a drill, spread over all of them."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """The result of a restore."""

    header: backups.Header
    objects: int
    """The number of objects copied."""
    deleted: int
    """The number of accounts deleted again, because they were deleted after the backup."""
    differences: list[str]
    """Stored ratings that differ from those computed from the matches."""


def restore(settings: HubSettings, database: Database, named: str, objects: bool) -> Recovery:
    """Fill an empty database from a backup, given by its location, its store or its file.

    With `objects`, also copy from its store what the site's own store lacks. Raises UsageError if
    the backup is unreadable or damaged, or the database is not empty; it then stays unchanged.
    """
    source = backups.find(named, settings.store)
    if objects and isinstance(source, Path):
        raise UsageError("a file has no objects beside it: give the store of the backup")
    # Read before anything is written: no deletion may be missed because a store is unavailable.
    deletions = administration.noted(stores_of(source, settings))
    header = fill(database, source, settings)
    count = copy_back(source, settings) if objects and isinstance(source, Stored) else 0
    with database.writing() as session:
        again = administration.repeat(session, deletions)
    return Recovery(header, count, again, differences(database))


def stores_of(source: Stored | Path, settings: HubSettings) -> list[ObjectStore]:
    """Return the stores that may have recorded deletions after a backup."""
    own = ObjectStore(settings.store)
    return [own, backups.store_at(source.place)] if isinstance(source, Stored) else [own]


def fill(database: Database, source: Stored | Path, settings: HubSettings) -> backups.Header:
    """Fill an empty database from a backup; return the backup's header."""
    with backups.opened(source, lambda: sealer_of(settings)) as file:
        at = source.at if isinstance(source, Stored) else None
        return backups.restore(database, file, begin_anew, at)


def sealer_of(settings: HubSettings) -> Sealer:
    """Return the sealer for an encrypted backup; raise UsageError without a key."""
    try:
        return keys.sealer_of(settings)
    except (OSError, ValueError):
        raise UsageError(
            "the backup is encrypted, and there is no master key: set CW_MASTER_KEYS,"
            f" or put the file master.key into {settings.data}"
        ) from None


def begin_anew(session: Session) -> None:
    """Adapt the rows to a site where nothing is running yet."""
    queue_all(session)
    mail.drop_waiting(session)


def copy_back(source: Stored, settings: HubSettings) -> int:
    """Copy objects from a backup's store to the site's; return how many were missing."""
    there, here = backups.store_at(source.place), ObjectStore(settings.store)
    return sum(there.copy_missing(prefix, here) for prefix in COPIED)


def differences(database: Database) -> list[str]:
    """Return the first differences between stored ratings and those computed from matches."""
    with database.reading() as session:
        wrong = chain.from_iterable(each.verify(session, TOLERANCE) for each in FORMATS)
        return list(islice(wrong, MOST_DIFFERENCES))


# The drill


def drill(settings: HubSettings, named: str = "", clock: Clock = utc_now) -> Iterator[Finding]:
    """Restore a backup into a temporary file, and yield a finding about each part.

    Without a name it takes the newest backup of CW_BACKUP_OBJECTS, or of the site's own store.
    Raises UsageError if it cannot be read, and StoreAway if its store cannot be reached.
    """
    source = backups.find(named or settings.backup_objects or settings.store, settings.store)
    yield Finding("back-up", True, True, about(source, clock))
    with (
        TemporaryDirectory() as folder,
        closing(Database(f"sqlite:///{Path(folder) / 'drill.sqlite'}")) as database,
    ):
        yield look_at_rows(database, source, settings)
        yield tried("secrets", lambda: look_at_secrets(database, settings))
        if isinstance(source, Stored):
            yield tried("objects", lambda: look_at_objects(database, source))
        yield tried("ratings", lambda: look_at_ratings(database))


def about(source: Stored | Path, clock: Clock) -> str:
    """Return the name and age of a backup."""
    if isinstance(source, Path):
        return str(source)
    hours = (clock() - source.at).total_seconds() / 3600
    return f"{source}, {hours:.1f} hours old"


def look_at_rows(database: Database, source: Stored | Path, settings: HubSettings) -> Finding:
    """Fill the database, and report how long that takes."""
    began = time.monotonic()
    header = fill(database, source, settings)
    seconds = time.monotonic() - began
    text = f"{header.rows} of revision {header.revision} restored in {seconds:.1f} s"
    return Finding("rows", True, True, text)


def look_at_secrets(database: Database, settings: HubSettings) -> Finding:
    """Decrypt the bots' secrets with the available keys."""
    with database.reading() as session:
        result = keys.try_all(session, sealer_of(settings))
    lost = result.missing.total() + len(result.broken)
    text = f"{result.number - lost} of {result.number} can be decrypted with the master keys"
    return Finding(
        "secrets", not lost, True, text, "add the keys that encrypted the others to CW_MASTER_KEYS"
    )


def look_at_objects(database: Database, source: Stored) -> Finding:
    """Check that some replays are in the backup's store."""
    store = backups.store_at(source.place)
    with database.reading() as session:
        sampled = sample(session)
    absent = [key for key in sampled if not store.has(key)]
    text = f"{len(sampled) - len(absent)} of {len(sampled)} sampled replays exist"
    advice = f"{absent[0]} is missing: cw hub backup --objects {source.place}" if absent else ""
    return Finding("objects", not absent, True, text, advice)


def sample(session: Session) -> list[str]:
    """Return the keys of some replays, spread over all that should exist."""
    stored = (Battle.replay_key.is_not(None), Battle.pruned_at.is_(None))
    count = session.scalars(select(func.count()).select_from(Battle).where(*stored)).one()
    ordered = select(Battle.replay_key).where(*stored).order_by(Battle.match_id, Battle.number)
    every = max(1, count // SAMPLE)
    return [key for key in islice(session.scalars(ordered), 0, None, every) if key][:SAMPLE]


def look_at_ratings(database: Database) -> Finding:
    """Recompute all ratings from the matches, and compare."""
    wrong = differences(database)
    text = wrong[0] if wrong else "they match the results"
    return Finding("ratings", not wrong, True, text, "see cw hub ratings verify")
