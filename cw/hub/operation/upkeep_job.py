"""Once a day: deletes what the object store need not keep any longer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.operation.resources import Resources

DUE: Final = timedelta(hours=3)
"""When it is due, after midnight in UTC."""

SPARED: Final = timedelta(days=2)
"""How long an object stays that no row names: one that was stored just now may be named soon."""

AT_ONCE: Final = 500
"""Objects that one transaction is asked about."""

Unnamed: TypeAlias = Callable[[Session, Iterable[str]], list[str]]
"""Returns those of some keys that no row names."""

Chore: TypeAlias = Callable[[Resources], int]
"""Deletes what is not needed any more; returns how much. Twice, or by two at once: the same."""

Chores: TypeAlias = Mapping[str, Chore]
"""By what they delete."""

logger = logging.getLogger(__name__)


class Daily:
    """Does the chores once for each day, whenever it is asked after its hour."""

    def __init__(self, chores: Chores) -> None:
        """Begin as one who has missed the last time."""
        self._chores = chores
        self._done: datetime | None = None

    def do(self, resources: Resources) -> None:
        """Do them if they are due; if one has failed, all are due again."""
        due = last_due(resources.clock, DUE)
        if due != self._done:
            do_chores(resources, self._chores)
            self._done = due


def last_due(clock: Clock, after_midnight: timedelta) -> datetime:
    """Return when a job of each day was due the last time."""
    now = clock()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0) + after_midnight
    return today if today <= now else today - timedelta(days=1)


def do_chores(resources: Resources, chores: Chores) -> None:
    """Do all chores, and log what they have deleted. Twice, by two: the same."""
    counts = [f"{chore(resources)} {name}" for name, chore in chores.items()]
    logger.info("upkeep: %s deleted", ", ".join(counts))


def delete_unnamed(resources: Resources, prefix: str, unnamed: Unnamed) -> int:
    """Delete the objects below a prefix that no row names; return how many those were."""
    count, stored = 0, resources.objects.keys(prefix, resources.clock() - SPARED)
    while keys := list(islice(stored, AT_ONCE)):
        with resources.database.reading() as session:
            strays = unnamed(session, keys)
        for key in strays:
            resources.objects.delete(key)
        count += len(strays)
    return count
