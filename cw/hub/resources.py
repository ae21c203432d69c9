"""What a process of the hub holds: its settings, its database, its keys, its clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cw.files import make_folder
from cw.hub.clock import Clock, utc_now
from cw.hub.settings import HubSettings
from cw.hub.store.database import Database
from cw.hub.store.migrations import prepare
from cw.hub.store.sealing import Sealer, kept, new_master_key, new_secret_key


@dataclass(frozen=True, slots=True)
class Resources:
    """What pages, jobs and commands work with; to be shared by all threads of a process."""

    settings: HubSettings
    database: Database
    sealer: Sealer
    secret_key: str
    clock: Clock = utc_now


def open_resources(settings: HubSettings, clock: Clock = utc_now) -> Resources:
    """Open what a process needs; an empty data folder is filled first.

    Raises UsageError for a database that is not at the revision of this program.
    """
    make_folder(settings.data)
    master_keys = settings.master_keys or kept(settings.data / "master.key", new_master_key)
    secret_key = settings.secret_key or kept(settings.data / "secret.key", new_secret_key)
    database = Database(settings.database)
    prepare(database)
    return Resources(settings, database, Sealer(master_keys), secret_key, clock)


@contextmanager
def opened(settings: HubSettings, clock: Clock = utc_now) -> Iterator[Resources]:
    """Open what a process needs while the block runs."""
    resources = open_resources(settings, clock)
    try:
        yield resources
    finally:
        resources.database.close()
