"""Deletions that a restored back-up must not undo: recorded in the stores, besides the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw_hub.accounts.deletion import forget
from cw_hub.operation.health import marks
from cw_hub.operation.resources import Resources
from cw_hub.store.objects import ObjectStore
from cw_hub.store.tables import User

PREFIX: Final = "deletions"
TIME: Final = "%Y%m%dT%H%M%S.%fZ"
KEY: Final = re.compile(rf"{PREFIX}/(\d+)-(\d{{8}}T\d{{6}}\.\d{{6}}Z)-(\d{{8}}T\d{{6}}\.\d{{6}}Z)")


class Deletion(NamedTuple):
    """The deletion of an account; its creation time tells it from others with the same id."""

    user_id: int
    created_at: datetime
    deleted_at: datetime

    @property
    def key(self) -> str:
        """Return the key of the empty object that records it."""
        begin, end = (f"{at.astimezone(UTC):{TIME}}" for at in self[1:])
        return f"{PREFIX}/{self.user_id}-{begin}-{end}"


def deletion_of(key: str) -> Deletion | None:
    """Return the deletion that a key records, or None if it is another key."""
    match = KEY.fullmatch(key)
    return match and Deletion(int(match[1]), moment_of(match[2]), moment_of(match[3]))


def moment_of(text: str) -> datetime:
    """Parse a time in a key."""
    return datetime.strptime(f"{text}+0000", f"{TIME}%z")


def note_new(resources: Resources) -> None:
    """Record in all stores of the site which accounts were deleted since the last call. Idempotent.

    Raises StoreAway if a store cannot be reached; the next call retries.
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
    """Yield the accounts deleted since a moment, or all if it is None."""
    columns = select(User.id, User.created_at, User.deleted_at)
    rows = columns.where(User.deleted_at.is_not(None))
    if since is not None:
        # A transaction that began before the last call may have been committed after it.
        rows = rows.where(User.deleted_at > since - marks.TICKING)
    for user_id, created_at, deleted_at in session.execute(rows):
        yield Deletion(user_id, created_at, deleted_at or created_at)


def noted(stores: Iterable[ObjectStore]) -> set[Deletion]:
    """Return all deletions recorded in the stores; raise StoreAway if one cannot be reached."""
    notes = (deletion_of(key) for store in stores for key in store.keys(PREFIX))
    return {one for one in notes if one is not None}


def repeat(session: Session, deletions: Iterable[Deletion]) -> int:
    """Delete accounts again that a back-up has restored; return how many. Idempotent."""
    count = 0
    for one in deletions:
        same = (User.id == one.user_id, User.created_at == one.created_at)
        change = update(User).where(*same, User.deleted_at.is_(None))
        values = change.values(deleted_at=one.deleted_at).returning(User.id)
        if session.execute(values).one_or_none() is not None:
            forget(session, one.user_id)
            count += 1
    return count
