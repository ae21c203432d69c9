"""Heartbeats of the site's processes, named timestamps, and shared event counters."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Meta
from sqlalchemy import delete, select

from cw import documents
from cw_hub.context import Clock
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Database, Session, insert_or_add, insert_or_set
from cw_hub.store.models import Count, Heartbeat, Mark

Role: TypeAlias = Literal["pages", "scheduler", "worker"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

EVERY: Final = 20.0
"""Seconds between two heartbeats of a process."""

LIVE: Final = timedelta(seconds=60)
"""A process counts as live if it was seen within this time."""

GONE: Final = timedelta(days=1)
"""How long a process is remembered after it was last seen."""

MOST_SILENT: Final = 50
"""Maximum number of silent roles reported."""

Figure: TypeAlias = Annotated[float, Meta(ge=0, le=1e18)]
Word: TypeAlias = Annotated[str, Meta(max_length=40)]


class Figures(msgspec.Struct, frozen=True, omit_defaults=True):
    """Metrics that a process reports about itself; as workers are not trusted, all are typed."""

    cpu_seconds: Figure = 0
    memory_bytes: Figure = 0
    """The peak since the process started."""
    threads: Figure = 0
    disk_free_bytes: Figure = 0
    disk_bytes: Figure = 0
    program_slots: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """The number of programs it runs concurrently."""
    program_kinds: tuple[Word, ...] = ()
    """The kinds of matches it plays, in addition to those with programs."""
    languages: dict[Word, Word] = {}
    """The versions of the languages it runs, by the names that kits use."""


NO_PROGRAMS: Final = Figures()


class Beat(NamedTuple):
    """A role of a process, and its metrics."""

    process: str
    """`host:pid:start`."""
    role: str
    version: str
    started_at: datetime
    seen_at: datetime
    figures: Figures


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the site, as it presents itself to the others."""

    name: str
    """`host:pid:start`."""
    version: str
    roles: Sequence[Role]
    started_at: datetime
    programs: Figures = NO_PROGRAMS
    """Metrics of the programs that it runs."""

    def beat(self, resources: Resources) -> None:
        """Record that this process is live, with its metrics. Each call updates the time."""
        about = {
            "process": self.name,
            "version": self.version,
            "started_at": self.started_at,
            "seen_at": resources.clock(),
            "figures": msgspec.to_builtins(measured(resources.settings.data, self.programs)),
        }
        rows = [{"role": role, **about} for role in self.roles]
        with resources.database.writing() as session:
            insert_or_set(session, Heartbeat, rows, ["seen_at", "figures"])


def measured(folder: Path, programs: Figures) -> Figures:
    """Return the metrics of this process, combined with those of its programs."""
    disk = shutil.disk_usage(folder)
    return msgspec.structs.replace(
        programs,
        cpu_seconds=round(time.process_time(), 2),
        memory_bytes=peak_memory(),
        threads=threading.active_count(),
        disk_free_bytes=disk.free,
        disk_bytes=disk.total,
    )


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, or 0 if unknown."""
    most = 0
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def live(session: Session) -> list[Beat]:
    """Return the roles of live processes, ordered by role."""
    query = select(Heartbeat).where(Heartbeat.seen_at > session.now() - LIVE)
    rows = session.scalars(query.order_by(Heartbeat.role, Heartbeat.process))
    return [beat_of(row) for row in rows]


def silent(session: Session) -> list[Beat]:
    """Return the roles of processes seen within a day but not live, most recent first.

    Returns at most 50.
    """
    query = select(Heartbeat).where(Heartbeat.seen_at <= session.now() - LIVE)
    rows = session.scalars(query.order_by(Heartbeat.seen_at.desc()).limit(MOST_SILENT))
    return [beat_of(row) for row in rows]


def beat_of(row: Heartbeat) -> Beat:
    """Return a row as a `Beat`; its metrics are dropped if invalid."""
    try:
        figures = documents.convert(row.figures, Figures)
    except msgspec.ValidationError:
        figures = NO_PROGRAMS
    return Beat(row.process, row.role, row.version, row.started_at, row.seen_at, figures)


def by_role(beats: Sequence[Beat]) -> Mapping[str, int]:
    """Return how many processes are live in each role."""
    return {role: sum(beat.role == role for beat in beats) for role in ROLES}


def sweep(session: Session) -> None:
    """Delete the heartbeats of processes not seen for a day. Idempotent."""
    session.execute(delete(Heartbeat).where(Heartbeat.seen_at <= session.now() - GONE))


TICK: Final = "tick"
"""Name of the time when a scheduler last completed a tick."""

BACKUP: Final = "back-up"
"""Name of the time of the last daily backup."""

COPY: Final = "back-up elsewhere"
"""Name of the time when objects were last copied to CW_BACKUP_OBJECTS."""

DELETIONS: Final = "deletions"
"""Name of the time when account deletions were last recorded in the stores."""

CERTIFICATE: Final = "certificate"
"""Name of the time when the site's certificate expires."""


TICKING: Final = timedelta(seconds=60)
"""A site counts as ticking if its last tick is no older than this."""


def record(session: Session, name: str, at: datetime) -> None:
    """Record a named time; the last call wins."""
    insert_or_set(session, Mark, [{"name": name, "at": at}], ["at"])


def moments(session: Session) -> dict[str, datetime]:
    """Return the recorded times by name."""
    return {row.name: row.at for row in session.execute(select(Mark.name, Mark.at))}


def age(moments: Mapping[str, datetime], name: str, clock: Clock) -> timedelta | None:
    """Return how long ago a named time was, or None if it is not recorded."""
    return clock() - moments[name] if name in moments else None


def is_ticking(moments: Mapping[str, datetime], clock: Clock) -> bool:
    """Return whether a scheduler has ticked within a minute."""
    last = age(moments, TICK, clock)
    return last is not None and last <= TICKING


UNREADABLE: Final = "messages_unreadable"
"""Counter of messages in the queue that were not valid hub messages."""

ENDED: Final = "threads_ended"
"""Counter of vital threads that have ended."""

MAILS_SENT: Final = "mails_sent"
"""Counter of emails that a server has accepted, or that were written to files."""

MAILS_FAILED: Final = "mails_failed"
"""Counter of failed attempts to send an email."""

REPLAY_BYTES: Final = "replay_bytes"
"""The total size of stored replays: summed once a day, as that reads every replay's row."""


class Counts:
    """Counts events of a process until they are written to the database; thread-safe."""

    def __init__(self) -> None:
        """Start with no counts."""
        self._lock = Lock()
        self._new: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Add one to a counter."""
        with self._lock:
            self._new[name] += 1

    def write(self, database: Database) -> None:
        """Add the new counts to the database rows; they are retained if it is unavailable."""
        with self._lock:
            new, self._new = self._new, Counter()
        if not new:
            return
        rows = [{"name": name, "value": value} for name, value in new.items()]
        try:
            with database.writing() as session:
                insert_or_add(session, Count, rows, ["value"])
        except BaseException:
            with self._lock:
                self._new.update(new)
            raise


def add_now(session: Session, name: str) -> None:
    """Increment a counter within the caller's transaction."""
    insert_or_add(session, Count, [{"name": name, "value": 1}], ["value"])


def put(session: Session, name: str, value: int) -> None:
    """Set a counter to a value. Idempotent."""
    insert_or_set(session, Count, [{"name": name, "value": value}], ["value"])


def value_of(session: Session, name: str) -> int | None:
    """Return the last value set, or None."""
    return session.scalar(select(Count.value).where(Count.name == name))


def totals(session: Session) -> Counter[str]:
    """Return the counts of all processes since the site was first started, by name."""
    rows = session.execute(select(Count.name, Count.value))
    return Counter({row.name: row.value for row in rows})
