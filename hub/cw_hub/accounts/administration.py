"""The operator's actions on accounts, and account deletion; all of them are audited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import delete as sqlalchemy_delete
from sqlalchemy import or_, select, update

from cw.errors import UsageError
from cw_hub.accounts import audit, mail, personal_limits, tickets
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.service import Account, forget_places, touch
from cw_hub.operation import heartbeats
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    BotActivation,
    BotVersion,
    Comparison,
    CompetitionHost,
    DraftFile,
    Friend,
    Guest,
    Mail,
    MatchParticipant,
    PersonalLimit,
    Role,
    TeamMember,
    User,
    WorkshopTask,
)
from cw_hub.store.objects import ObjectStore
from cw_hub.store.revisions import show_anew


def delete_account(session: Session, account: Account) -> None:
    """Delete an account whose password has been checked; its row stays, without personal data.

    Raises Refused if the account has been deleted, or its password has changed, since the check.
    """
    touch(session, account, deleted_at=session.now())
    forget(session, account.user_id)


def forget(session: Session, user_id: int) -> None:
    """Erase the data of a user marked as deleted, and retire their bots. Idempotent.

    The username stays reserved for 90 days, so that no one can impersonate the user.
    """
    address = select(User.email).where(User.id == user_id).scalar_subquery()
    session.execute(sqlalchemy_delete(Guest).where(Guest.email == address))
    session.execute(
        update(User)
        .where(User.id == user_id)
        .values(
            username=None,
            display_name=None,
            email=None,
            email_verified_at=None,
            password_hash=None,
            github_id=None,
            country=None,
            born=None,
            avatar=None,
        )
    )
    session.execute(update(Mail).where(Mail.user_id == user_id).values(email=None, words=None))
    tickets.revoke_all(session, user_id)
    forget_places(session, user_id)
    session.execute(
        sqlalchemy_delete(Friend).where(or_(Friend.user_id == user_id, Friend.friend_id == user_id))
    )
    for table in (TeamMember, CompetitionHost, DraftFile, PersonalLimit, WorkshopTask):
        session.execute(sqlalchemy_delete(table).where(table.user_id == user_id))
    _retire_bots(session, user_id)


def _retire_bots(session: Session, user_id: int) -> None:
    session.execute(
        update(Bot)
        .where(Bot.user_id == user_id)
        .values(status="RETIRED", endpoint="", secret=None, key_id=None, check_due_at=None)
    )
    its = select(Bot.id).where(Bot.user_id == user_id)
    for table in (BotVersion, BotActivation, Comparison):
        # The daily maintenance deletes the uploads, which no version refers to any more.
        session.execute(
            sqlalchemy_delete(table)
            .where(table.bot_id.in_(its))
            .execution_options(synchronize_session=False)
        )
    # A bot for End of Codes has its user's name, including in past matches.
    named = select(Bot.id).where(Bot.user_id == user_id, Bot.game == "end-of-codes")
    name = f"deleted-{user_id}"
    session.execute(
        update(MatchParticipant)
        .where(MatchParticipant.bot_id.in_(named))
        .values(name=name)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        update(Bot)
        .where(Bot.user_id == user_id, Bot.game == "end-of-codes")
        .values(name=name, name_key=name)
    )
    # Last, because the lock order is the bot first, then its competition.
    show_anew(session, Bot.user_id == user_id)


class NoAddress(UsageError):
    """The account has no email address."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The account data shown to the operator."""

    id: int
    username: str
    role: str
    email: str | None
    is_confirmed: bool
    country: str | None
    created_at: datetime
    locked_at: datetime | None


def everybody(session: Session) -> list[Facts]:
    """Return all accounts that have not been deleted, oldest first."""
    users = select(User).where(User.deleted_at.is_(None)).order_by(User.id)
    return [_facts(user) for user in session.scalars(users)]


def find(session: Session, username: str) -> Facts:
    """Return the account with a name, ignoring case; raise UsageError if there is none."""
    return _facts(_find(session, username))


def _find(session: Session, username: str) -> User:
    key = accounts_service.username_key(username)
    query = select(User).where(User.username_key == key, User.deleted_at.is_(None))
    user = session.scalars(query.with_for_update()).one_or_none()
    if user is None:
        raise UsageError(f"there is no user {username!r}; cw hub user list prints all users")
    return user


def _facts(user: User) -> Facts:
    return Facts(
        user.id,
        user.username or "",
        user.role,
        user.email,
        user.email_verified_at is not None,
        user.country,
        user.created_at,
        user.locked_at,
    )


def _note(
    session: Session,
    verb: str,
    user: User,
    **detail: Any,
) -> None:
    audit.record(session, f"user {verb}", f"user:{user.id}", detail=detail)


def set_role(session: Session, username: str, role: Role) -> None:
    """Make a user an admin, or a player again. Idempotent, but recorded each time."""
    user = _find(session, username)
    user.role = role
    _note(session, "admin", user, role=role)


def lock(session: Session, username: str) -> None:
    """Lock a user and revoke all their tickets; repeated calls keep the first timestamp."""
    user = _find(session, username)
    user.locked_at = user.locked_at or session.now()
    tickets.revoke_all(session, user.id)
    _note(session, "lock", user)


def unlock(session: Session, username: str) -> None:
    """Unlock a user. Idempotent."""
    user = _find(session, username)
    user.locked_at = None
    _note(session, "unlock", user)


def end_sessions(session: Session, username: str) -> None:
    """Log a user out of all browsers. Idempotent, but recorded each time."""
    user = _find(session, username)
    tickets.revoke_all(session, user.id, "session")
    _note(session, "end-sessions", user)


def confirm_email(session: Session, username: str) -> None:
    """Confirm a user's email address without sending an email. Idempotent.

    Raises UsageError if the account has no email address.
    """
    user = _find(session, username)
    if not user.email:
        raise NoAddress(f"{user.username} has no email address: cw hub user set-email")
    if user.email_verified_at is None:
        user.email_verified_at = session.now()
        mail.drop_of(session, "verify", user.id)
        _note(session, "confirm-email", user)


def set_limit(
    session: Session,
    username: str,
    name: str,
    most: int | None,
) -> None:
    """Set a user's limit; None resets it. Idempotent, but recorded each time.

    Raises UsageError if the name of the limit is unknown.
    """
    user = _find(session, username)
    personal_limits.put(session, user.id, name, most)
    _note(session, "limit", user, limit=name, most=most)


def delete(session: Session, username: str) -> None:
    """Delete an account as if its user had done so; raise UsageError if already deleted."""
    user = _find(session, username)
    user.deleted_at = session.now()
    session.flush()
    forget(session, user.id)
    _note(session, "delete", user)


def set_email(session: Session, username: str, email: str) -> None:
    """Set a new, unconfirmed email address for a user; links sent to the old one are revoked."""
    user = _find(session, username)
    user.email = email
    user.email_verified_at = None
    tickets.revoke_all(session, user.id, *tickets.LINKS)
    mail.drop_of(session, "email", user.id)
    # The audit log is kept forever, so it must not contain the email address.
    _note(session, "set-email", user)


def reset_link(session: Session, username: str) -> str:
    """Return a new password reset ticket, which does not confirm the email address.

    Raises UsageError if the account is locked, as its tickets are useless.
    """
    user = _find(session, username)
    if user.locked_at:
        raise UsageError(f"{user.username} is locked: cw hub user unlock {user.username}")
    _note(session, "reset-link", user)
    return tickets.issue_link(session, "reset", user.id, tickets.PRINTED)


PREFIX: Final = "deletions"
TIME: Final = "%Y%m%dT%H%M%S.%fZ"
KEY: Final = re.compile(rf"{PREFIX}/(\d+)-(\d{{8}}T\d{{6}}\.\d{{6}}Z)-(\d{{8}}T\d{{6}}\.\d{{6}}Z)")


class Deletion(NamedTuple):
    """The deletion of an account; its creation time distinguishes accounts with the same id."""

    user_id: int
    created_at: datetime
    deleted_at: datetime

    @property
    def key(self) -> str:
        """Return the key of the empty object that records the deletion."""
        begin, end = (f"{at.astimezone(UTC):{TIME}}" for at in self[1:])
        return f"{PREFIX}/{self.user_id}-{begin}-{end}"


def deletion_of(key: str) -> Deletion | None:
    """Return the deletion that an object key records, or None for any other key."""
    match = KEY.fullmatch(key)
    return match and Deletion(int(match[1]), moment_of(match[2]), moment_of(match[3]))


def moment_of(text: str) -> datetime:
    """Parse a timestamp in an object key."""
    return datetime.strptime(f"{text}+0000", f"{TIME}%z")


def note_new(resources: Resources) -> None:
    """Record accounts deleted since the last call in all object stores of the site. Idempotent.

    Raises StoreAway if a store cannot be reached; the next call retries.
    """
    now = resources.clock()
    with resources.database.reading() as session:
        since = heartbeats.moments(session).get(heartbeats.DELETIONS)
        fresh = list(deletions(session, since))
    elsewhere = resources.settings.backup_objects
    for store in (resources.objects, *([ObjectStore(elsewhere)] if elsewhere else ())):
        for one in fresh:
            store.put_new(one.key, b"")
    if fresh or since is None:
        with resources.database.writing() as session:
            heartbeats.record(session, heartbeats.DELETIONS, now)


def deletions(session: Session, since: datetime | None) -> Iterator[Deletion]:
    """Yield the accounts deleted since the given time, or all of them if it is None."""
    columns = select(User.id, User.created_at, User.deleted_at)
    rows = columns.where(User.deleted_at.is_not(None))
    if since is not None:
        # A transaction that started before the last call may have been committed after it.
        rows = rows.where(User.deleted_at > since - heartbeats.TICKING)
    for user_id, created_at, deleted_at in session.execute(rows):
        yield Deletion(user_id, created_at, deleted_at or created_at)


def noted(stores: Iterable[ObjectStore]) -> set[Deletion]:
    """Return all deletions recorded in the stores; raise StoreAway if one cannot be reached."""
    notes = (deletion_of(key) for store in stores for key in store.keys(PREFIX))
    return {one for one in notes if one is not None}


def repeat(session: Session, deletions: Iterable[Deletion]) -> int:
    """Delete accounts again that a backup has restored; return how many. Idempotent."""
    count = 0
    for one in deletions:
        same = (User.id == one.user_id, User.created_at == one.created_at)
        change = update(User).where(*same, User.deleted_at.is_(None))
        values = change.values(deleted_at=one.deleted_at).returning(User.id)
        if session.execute(values).one_or_none() is not None:
            forget(session, one.user_id)
            count += 1
    return count
