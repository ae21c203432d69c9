"""The deletions that a restored back-up must not undo: noted in the stores, beside the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw.hub.accounts.deletion import forget
from cw.hub.operation.health import marks
from cw.hub.operation.resources import Resources
from cw.hub.store.objects import ObjectStore
from cw.hub.store.tables import User

PREFIX: Final = "deletions"
TIME: Final = "%Y%m%dT%H%M%S.%fZ"
KEY: Final = re.compile(rf"{PREFIX}/(\d+)-(\d{{8}}T\d{{6}}\.\d{{6}}Z)-(\d{{8}}T\d{{6}}\.\d{{6}}Z)")


class Deletion(NamedTuple):
    """That an account was deleted; when it was made tells it from another one of the same id."""

    user_id: int
    created_at: datetime
    deleted_at: datetime

    @property
    def key(self) -> str:
        """Return the key of the empty object that notes it."""
        begin, end = (f"{at.astimezone(UTC):{TIME}}" for at in self[1:])
        return f"{PREFIX}/{self.user_id}-{begin}-{end}"


def deletion_of(key: str) -> Deletion | None:
    """Return what a key notes, None for another one."""
    match = KEY.fullmatch(key)
    return match and Deletion(int(match[1]), moment_of(match[2]), moment_of(match[3]))


def moment_of(text: str) -> datetime:
    """Return a moment as a key has it."""
    return datetime.strptime(f"{text}+0000", f"{TIME}%z")


def note_new(resources: Resources) -> None:
    """Note in all stores of the site who was deleted since the last time. Twice: the same.

    Raises StoreAway if one cannot be reached: the next time tries again.
    """
    now = resources.clock()
    with resources.database.reading() as session:
        since = marks.moments(session).get(marks.DELETIONS)
        fresh = list(deletions(session, since))
    elsewhere = resources.settings.backup_objects
    for store in (resources.objects, *([ObjectStore(elsewhere)] if elsewhere else ())):
        for one in fresh:
            store.put_new(one.key, b"")
    if fresh or since is None:
        with resources.database.writing() as session:
            marks.note(session, marks.DELETIONS, now)


def deletions(session: Session, since: datetime | None) -> Iterator[Deletion]:
    """Give the accounts that were deleted since a moment, all without one."""
    columns = select(User.id, User.created_at, User.deleted_at)
    rows = columns.where(User.deleted_at.is_not(None))
    if since is not None:
        # A transaction that began before the last time may have been committed after it.
        rows = rows.where(User.deleted_at > since - marks.TICKING)
    for user_id, created_at, deleted_at in session.execute(rows):
        yield Deletion(user_id, created_at, deleted_at or created_at)


def noted(stores: Iterable[ObjectStore]) -> set[Deletion]:
    """Return all deletions that stores tell of; raise StoreAway if one cannot be reached."""
    notes = (deletion_of(key) for store in stores for key in store.keys(PREFIX))
    return {one for one in notes if one is not None}


def repeat(session: Session, deletions: Iterable[Deletion]) -> int:
    """Delete again the accounts that rows have back; return how many. Twice: none."""
    count = 0
    for one in deletions:
        same = (User.id == one.user_id, User.created_at == one.created_at)
        change = update(User).where(*same, User.deleted_at.is_(None))
        values = change.values(deleted_at=one.deleted_at).returning(User.id)
        if session.execute(values).one_or_none() is not None:
            forget(session, one.user_id)
            count += 1
    return count
