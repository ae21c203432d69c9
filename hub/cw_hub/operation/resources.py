"""The resources of a hub process: settings, database, objects, keys, queue, clock, threads."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Final, Protocol

from cw.errors import Failure
from cw.files import make_folder
from cw_hub.context import Clock, utc_now
from cw_hub.operation.settings import HubSettings, begin_to_trust
from cw_hub.operation.shared import OwnLines, PassingLines, RateCounts, lines_at
from cw_hub.players.players import Players
from cw_hub.store.database import AWAY, Database, reason
from cw_hub.store.migrations import prepare
from cw_hub.store.objects import ObjectStore
from cw_hub.store.replica import Replica
from cw_hub.store.sealing import Sealer, new_master_key, new_secret_key, stored_key

LAST_WORDS: Final = 1.0
"""Seconds that an exiting process has to release its matches; it must exit within two."""

logger = logging.getLogger(__name__)


class Threads:
    """The vital threads of a process: if one of them ends, the process exits."""

    def __init__(self, exit_process: Callable[[int], object] = os._exit) -> None:
        """Start without threads; `exit_process` is called with the exit code."""
        self.stopping = Event()
        """Set when the process is asked to stop; from then on, threads may end."""
        self.ended: list[str] = []
        """The names of threads that have ended unexpectedly."""
        self.last_words: Callable[[], object] = lambda: None
        """Called before the process exits."""
        self._exit = exit_process

    def start(self, name: str, do: Callable[[], object]) -> Thread:
        """Run a function in a thread; when it returns or raises, the process exits."""

        def run() -> None:
            try:
                do()
            except BaseException:
                logger.exception("the thread %s has failed", name)
            self.end(name)

        thread = Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def end(self, name: str) -> None:
        """Exit because a vital thread has ended; the supervisor restarts the process."""
        if self.stopping.is_set():
            return
        self.ended.append(name)
        logger.critical("%s has ended: this process exits; start it again", name)
        self.leave(1)

    def wait(self) -> None:
        """Wait until the process is asked to stop, for example by Ctrl-C, then exit.

        Otherwise Python would wait at exit for running jobs, however long they take.
        """
        with suppress(KeyboardInterrupt):
            self.stopping.wait()
        self.leave(0)

    def leave(self, code: int) -> None:
        """Call `last_words` within its time limit, then exit."""
        leaving = Thread(target=self.last_words, daemon=True)
        leaving.start()
        leaving.join(LAST_WORDS)
        self._exit(code)


class Queue(Protocol):
    """The sending interface of the job queue."""

    def send(self, job: str, *arguments: int | str, queue: str = "jobs", after: float = 0) -> bool:
        """Enqueue a job by its name in jobs/registry.py, optionally with a delay in seconds.

        Call it after the commit of the rows that the job needs. Returns whether the queue was
        reached.
        """

    def is_there(self) -> bool:
        """Return whether the queue can be reached."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The shared resources of pages, jobs and commands; shared by all threads of a process."""

    settings: HubSettings
    database: Database
    objects: ObjectStore
    queue: Queue
    sealer: Sealer
    secret_key: str
    rate_counts: RateCounts = field(default_factory=RateCounts)
    """Recent usage, counted across all processes of the site."""
    replica: Replica | None = None
    """The replica that pages for anonymous visitors read from, if there is one."""
    threads: Threads = field(default_factory=Threads)
    """The vital threads of the process."""
    lines: PassingLines = field(default_factory=OwnLines)
    """Lines about matches in progress."""
    players: Players = field(default_factory=Players)
    """The processes that play matches."""

    @property
    def clock(self) -> Clock:
        """The clock of the process, which is that of its database sessions."""
        return self.database.clock


def open_resources(settings: HubSettings, queue: Queue, clock: Clock = utc_now) -> Resources:
    """Open the resources of a process; an empty data folder is filled first.

    Raises UsageError if the database is not at the revision of this program, or if trusted programs
    could read the keys, and Failure if the database does not respond.
    """
    begin_to_trust(settings)
    make_private_folder(settings.data)
    master_keys = settings.master_keys or stored_key(settings.data / "master.key", new_master_key)
    secret_key = settings.secret_key or stored_key(settings.data / "secret.key", new_secret_key)
    database = Database(settings.database, clock=clock)
    try:
        prepare(database)
    except AWAY as error:
        raise Failure(f"the database does not answer: {reason(error)}") from None
    objects = ObjectStore(settings.store, settings.store_public_url)
    read_url = settings.database_read_url
    replica = Replica(read_url, database) if read_url else None
    sealer = Sealer(master_keys)
    rate_counts = RateCounts(settings.broker_url)
    lines = lines_at(settings.broker_url)
    return Resources(
        settings,
        database,
        objects,
        queue,
        sealer,
        secret_key,
        rate_counts,
        replica,
        lines=lines,
        players=Players(settings.players),
    )


def make_private_folder(path: Path) -> None:
    """Create the data folder for its owner only: it contains users' email addresses and keys."""
    if not path.exists():
        make_folder(path)
        path.chmod(0o700)


@contextmanager
def opened(settings: HubSettings, queue: Queue, clock: Clock = utc_now) -> Iterator[Resources]:
    """Yield the resources of a process, and close them at the end of the block."""
    resources = open_resources(settings, queue, clock)
    try:
        yield resources
    finally:
        resources.players.close()
        if resources.replica is not None:
            resources.replica.close()
        resources.database.close()
