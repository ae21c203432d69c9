"""Which processes of the site are running, in which roles, and their figures."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Meta
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from cw import documents
from cw_hub.clock import Clock
from cw_hub.operation.resources import Resources
from cw_hub.store.tables import Heartbeat
from cw_hub.store.upsert import insert_or_set

Role: TypeAlias = Literal["pages", "scheduler", "worker"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

EVERY: Final = 20.0
"""Seconds between two heartbeats of a process."""

LIVE: Final = timedelta(seconds=60)
"""A process is live if it was seen within this time."""

GONE: Final = timedelta(days=1)
"""How long a process that has gone is remembered."""

MOST_SILENT: Final = 50
"""Maximum number of silent roles reported."""

Figure: TypeAlias = Annotated[float, Meta(ge=0, le=1e18)]
Word: TypeAlias = Annotated[str, Meta(max_length=40)]


class Figures(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a process reports about itself; workers are not trusted, so every field is typed."""

    cpu_seconds: Figure = 0
    memory_bytes: Figure = 0
    """The peak since the process started."""
    threads: Figure = 0
    disk_free_bytes: Figure = 0
    disk_bytes: Figure = 0
    program_slots: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """How many programs it runs at once."""
    program_kinds: tuple[Word, ...] = ()
    """The kinds of matches that it plays, besides those with programs."""
    languages: dict[Word, Word] = {}
    """The versions of the languages that it runs, by the names that kits use."""


NO_PROGRAMS: Final = Figures()


class Beat(NamedTuple):
    """A role of a process, and its figures."""

    process: str
    """`host:pid:start`."""
    role: str
    version: str
    started_at: datetime
    seen_at: datetime
    figures: Figures


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the site, as other processes know it."""

    name: str
    """`host:pid:start`."""
    version: str
    roles: Sequence[Role]
    started_at: datetime
    programs: Figures = NO_PROGRAMS
    """Figures of the programs that it runs."""

    def beat(self, resources: Resources) -> None:
        """Record that this process is live, with its figures. Each call updates the time."""
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
    """Return the figures of this process, added to those of its programs."""
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


def live(session: Session, clock: Clock) -> list[Beat]:
    """Return the roles of live processes, ordered by role."""
    query = select(Heartbeat).where(Heartbeat.seen_at > clock() - LIVE)
    rows = session.scalars(query.order_by(Heartbeat.role, Heartbeat.process))
    return [beat_of(row) for row in rows]


def silent(session: Session, clock: Clock) -> list[Beat]:
    """Return the roles of processes seen within a day but not live, the latest first.

    At most 50.
    """
    query = select(Heartbeat).where(Heartbeat.seen_at <= clock() - LIVE)
    rows = session.scalars(query.order_by(Heartbeat.seen_at.desc()).limit(MOST_SILENT))
    return [beat_of(row) for row in rows]


def beat_of(row: Heartbeat) -> Beat:
    """Return a row as a value; its figures are dropped if invalid."""
    try:
        figures = documents.convert(row.figures, Figures)
    except msgspec.ValidationError:
        figures = NO_PROGRAMS
    return Beat(row.process, row.role, row.version, row.started_at, row.seen_at, figures)


def by_role(beats: Sequence[Beat]) -> Mapping[str, int]:
    """Return how many processes are live in each role."""
    return {role: sum(beat.role == role for beat in beats) for role in ROLES}


def sweep(session: Session, clock: Clock) -> None:
    """Delete processes not seen for a day. Idempotent."""
    session.execute(delete(Heartbeat).where(Heartbeat.seen_at <= clock() - GONE))
