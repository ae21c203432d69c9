"""Once a day: what the object store need not keep any more is deleted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, TypeAlias

from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.resources import Resources
from cw.hub.services import championships, upkeep
from cw.hub.services.replays import objects_of

DUE: Final = timedelta(hours=3)
"""When it is due, after midnight in UTC."""

SPARED: Final = timedelta(days=2)
"""How long an object stays that no row names: one that was stored just now may be named soon."""

AT_ONCE: Final = 500
"""Objects that one transaction is asked about."""

Unnamed: TypeAlias = Callable[[Session, Iterable[str]], list[str]]
"""Returns those of some keys that no row names."""

logger = logging.getLogger(__name__)


class Daily:
    """Does the upkeep once for each day, whenever it is asked after its hour."""

    def __init__(self) -> None:
        """Begin as one who has missed the last time."""
        self._done: datetime | None = None

    def do(self, resources: Resources) -> None:
        """Do it if it is due; one that has failed is due again."""
        due = last_due(resources.clock, DUE)
        if due != self._done:
            keep_in_order(resources)
            self._done = due


def last_due(clock: Clock, after_midnight: timedelta) -> datetime:
    """Return when a job of each day was due the last time."""
    now = clock()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0) + after_midnight
    return today if today <= now else today - timedelta(days=1)


def keep_in_order(resources: Resources) -> None:
    """Delete replays that are too old, strays and pictures of nobody. Twice, by two: the same."""
    pruned = prune_replays(resources)
    strays = delete_unnamed(resources, "replays", upkeep.strays)
    pictures = delete_unnamed(resources, "avatars", upkeep.unused_pictures)
    forget_championships(resources)
    logger.info("upkeep: %s replays, %s strays, %s pictures deleted", pruned, strays, pictures)


def forget_championships(resources: Resources) -> None:
    """Delete what matches of championships were sent with, and how they ended, after some time.

    Those who run them have fetched it long ago.
    """
    age = timedelta(days=resources.settings.replay_days)
    for key in list(resources.objects.keys(championships.PREFIX, resources.clock() - age)):
        resources.objects.delete(key)


def prune_replays(resources: Resources) -> int:
    """Delete the replays that are too old; the rows say so first. Returns how many there were."""
    age = timedelta(days=resources.settings.replay_days)
    with resources.database.reading() as session:
        months = upkeep.months_to_prune(session, resources.clock, age)
    count = 0
    for month in months:
        with resources.database.writing() as session:
            keys = upkeep.prune_month(session, resources.clock, month, age)
        for key in keys:
            for one in objects_of(key):
                resources.objects.delete(one)
        count += len(keys)
    return count


def delete_unnamed(resources: Resources, prefix: str, unnamed: Unnamed) -> int:
    """Delete the objects below a prefix that no row names; return how many those were."""
    count, stored = 0, resources.objects.keys(prefix, resources.clock() - SPARED)
    while keys := list(islice(stored, AT_ONCE)):
        with resources.database.reading() as session:
            gone = unnamed(session, keys)
        for key in gone:
            resources.objects.delete(key)
        count += len(gone)
    return count
