"""Which processes of the site are running, in which roles, and their figures."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.operation.resources import Resources
from cw.hub.store.tables import Heartbeat
from cw.hub.store.upsert import insert_or_set

Role: TypeAlias = Literal["pages", "scheduler", "worker"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

EVERY: Final = 20.0
"""Seconds between two signs of life of a process."""

LIVE: Final = timedelta(seconds=60)
"""How long ago a process that lives was seen at most."""

GONE: Final = timedelta(days=1)
"""How long a process that is not seen any more is remembered."""

MOST_SILENT: Final = 50
"""Roles of processes that live no more, of which somebody is told."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the site, as the others know it."""

    name: str
    """`host:pid:start`."""
    version: str
    roles: Sequence[Role]
    started_at: datetime
    about: Mapping[str, Any] = field(default_factory=dict)
    """What it says of itself beside its figures, by name."""

    def beat(self, resources: Resources) -> None:
        """Note that this process lives, and how it does. Twice: seen later."""
        about = {
            "process": self.name,
            "version": self.version,
            "started_at": self.started_at,
            "seen_at": resources.clock(),
            "figures": {**figures(resources.settings.data), **self.about},
        }
        rows = [{"role": role, **about} for role in self.roles]
        with resources.database.writing() as session:
            insert_or_set(session, Heartbeat, rows, ["seen_at", "figures"])


def figures(folder: Path) -> dict[str, float]:
    """Return how this process does: seconds of processor, bytes of memory and disk, threads."""
    disk = shutil.disk_usage(folder)
    return {
        "cpu_seconds": round(time.process_time(), 2),
        "memory_bytes": peak_memory(),
        "threads": threading.active_count(),
        "disk_free_bytes": disk.free,
        "disk_bytes": disk.total,
    }


def peak_memory() -> int:
    """Return how many bytes of memory this process has had at most; 0 where nobody tells."""
    most = 0
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def live(session: Session, clock: Clock) -> Sequence[Heartbeat]:
    """Return the roles of processes that live, by role."""
    query = select(Heartbeat).where(Heartbeat.seen_at > clock() - LIVE)
    return session.scalars(query.order_by(Heartbeat.role, Heartbeat.process)).all()


def silent(session: Session, clock: Clock) -> Sequence[Heartbeat]:
    """Return the roles of processes that were seen within a day but live no more, the last first.

    At most 50.
    """
    query = select(Heartbeat).where(Heartbeat.seen_at <= clock() - LIVE)
    return session.scalars(query.order_by(Heartbeat.seen_at.desc()).limit(MOST_SILENT)).all()


def by_role(beats: Sequence[Heartbeat]) -> Mapping[str, int]:
    """Return how many processes live in each role."""
    return {role: sum(beat.role == role for beat in beats) for role in ROLES}


def sweep(session: Session, clock: Clock) -> None:
    """Forget processes that are gone for a day. Twice: the same."""
    session.execute(delete(Heartbeat).where(Heartbeat.seen_at <= clock() - GONE))
