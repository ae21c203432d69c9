"""Once a day: deletes what the object store no longer needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.operation.resources import Resources

DUE: Final = timedelta(hours=3)
"""When it is due, after midnight UTC."""

SPARED: Final = timedelta(days=2)
"""How long an unreferenced object is kept: a row may be about to refer to one just stored."""

AT_ONCE: Final = 500
"""Objects looked up per transaction."""

Unnamed: TypeAlias = Callable[[Session, Iterable[str]], list[str]]
"""Returns those of some keys that no row refers to."""

Chore: TypeAlias = Callable[[Resources], int]
"""Deletes what is no longer needed; returns how much. Idempotent, and safe to run concurrently."""

Chores: TypeAlias = Mapping[str, Chore]
"""Chores by the name of what they delete."""

logger = logging.getLogger(__name__)


class Daily:
    """Runs the chores once a day, on the first call after they are due."""

    def __init__(self, chores: Chores) -> None:
        """Run on the first call."""
        self._chores = chores
        self._done: datetime | None = None

    def do(self, resources: Resources) -> None:
        """Run the chores if due; if one fails, all are due again."""
        due = last_due(resources.clock, DUE)
        if due != self._done:
            do_chores(resources, self._chores)
            self._done = due


def last_due(clock: Clock, after_midnight: timedelta) -> datetime:
    """Return when a daily job was last due."""
    now = clock()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0) + after_midnight
    return today if today <= now else today - timedelta(days=1)


def do_chores(resources: Resources, chores: Chores) -> None:
    """Run all chores, and log what they deleted. Idempotent, and safe to run concurrently."""
    counts = [f"{chore(resources)} {name}" for name, chore in chores.items()]
    logger.info("upkeep: %s deleted", ", ".join(counts))


def delete_unnamed(resources: Resources, prefix: str, unnamed: Unnamed) -> int:
    """Delete the objects below a prefix that no row refers to; return how many."""
    count, stored = 0, resources.objects.keys(prefix, resources.clock() - SPARED)
    while keys := list(islice(stored, AT_ONCE)):
        with resources.database.reading() as session:
            strays = unnamed(session, keys)
        for key in strays:
            resources.objects.delete(key)
        count += len(strays)
    return count
