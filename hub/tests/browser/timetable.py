"""What the steps of a walk take: of the clock, and of the processor for the hub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

TICKS = os.sysconf("SC_CLK_TCK")
SESSION, USED = 3, slice(11, 15)
"""Fields of /proc/PID/stat after the name: the session, and the ticks of all in it."""


def processor_time(session: int) -> float:
    """Return the seconds of a processor that the processes of a session have used."""
    return sum(ticks_of(stat, session) for stat in Path("/proc").glob("[0-9]*/stat")) / TICKS


def ticks_of(stat: Path, session: int) -> int:
    """Return the ticks of a process and of its children that have ended; 0 for another session."""
    with suppress(OSError):
        fields = stat.read_text().rpartition(")")[2].split()
        return sum(map(int, fields[USED])) if int(fields[SESSION]) == session else 0
    return 0


@dataclass
class Timetable:
    """The steps of a walk so far."""

    session: int
    """Of the processes of the hub."""
    rows: list[tuple[str, float, float]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step."""
        begun, used = monotonic(), processor_time(self.session)
        yield
        self.rows.append((name, monotonic() - begun, processor_time(self.session) - used))

    def __str__(self) -> str:
        """Return them as a table."""
        head = "| step | seconds | of them the hub's processor |\n|---|--:|--:|"
        return "\n".join(
            [head, *(f"| {name} | {took:.1f} | {used:.1f} |" for name, took, used in self.rows)]
        )
