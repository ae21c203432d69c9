"""A scheduler that ticks at the moments of a test, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from multiprocessing.synchronize import Barrier

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from cw_hub.site.processes import tick

DUE_TIMES = [datetime(2026, 11, 20 + day, 18, tzinfo=UTC) for day in range(5)]


def tick_at_due_times(environment: Mapping[str, str], barrier: Barrier) -> None:
    """Tick at each due time, at the same moment as all others who wait at a barrier."""
    now = DUE_TIMES[0]
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings), lambda: now) as resources:
        for now in DUE_TIMES:  # noqa: B007 - the clock tells it
            barrier.wait()
            tick(resources)
