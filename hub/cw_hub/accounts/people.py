"""Operations on accounts; messages for people are the pages' concern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts.access import tickets
from cw_hub.accounts.mails import outbox
from cw_hub.clock import Clock
from cw_hub.operation.resources import Resources
from cw_hub.store.tables import KnownPlace, TicketKind, User

NAME: Final = re.compile("[A-Za-z0-9_]{3,32}")
"""The format of usernames."""

HOUSE: Final = "house"
"""The username of the site's own account, which nobody can register."""

RESTS: Final = timedelta(days=90)
"""How long the username of a deleted account stays reserved."""

PASSED_ON: Final[tuple[TicketKind, ...]] = ("session", *tickets.LINKS)
"""The kinds of tickets that a new password ends."""


class UsernameTaken(UsageError):
    """Another account has this name, ignoring case."""


class GitHubTaken(UsageError):
    """Another account is connected with this GitHub account."""


class NoSuchUser(UsageError):
    """The account does not exist, or was deleted."""


class Refused(UsageError):
    """The password was changed, or the account locked or deleted, since it was read."""


class LinkExpired(UsageError):
    """The ticket of a link is unknown, used or expired."""


@dataclass(frozen=True, slots=True)
class Account:
    """What decides whether somebody may log in."""

    user_id: int
    username: str
    password_hash: str | None
    is_locked: bool


@dataclass(frozen=True, slots=True)
class GitHubPerson:
    """A person signed in with GitHub, and their data there."""

    github_id: int
    login: str
    name: str
    email: str
    is_verified: bool
    """Whether GitHub has verified that the address is theirs."""
    picture: str
    """The address of their picture, or ""."""


def username_key(username: str) -> str:
    """Return the form in which names are compared; "", which nobody has, if invalid."""
    return username.lower() if NAME.fullmatch(username) else ""


def is_named(username: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for the account with a name, ignoring case."""
    return (User.username_key == username_key(username), User.deleted_at.is_(None))


def find_account(session: Session, username: str) -> Account | None:
    """Return the account with a name, ignoring case, or None."""
    return _account(session, *is_named(username))


def find_account_of(session: Session, user_id: int) -> Account | None:
    """Return the account with an id, or None if it does not exist or was deleted."""
    return _account(session, User.id == user_id, User.deleted_at.is_(None))


def find_account_at_github(session: Session, github_id: int) -> Account | None:
    """Return the account connected with a GitHub id, or None."""
    return _account(session, User.github_id == github_id, User.deleted_at.is_(None))


def _account(session: Session, *conditions: ColumnElement[bool]) -> Account | None:
    columns = select(User.id, User.username, User.password_hash, User.locked_at)
    row = session.execute(columns.where(*conditions)).one_or_none()
    if row is None:
        return None
    return Account(row.id, row.username, row.password_hash, row.locked_at is not None)


# Register, log in and out


def register(
    session: Session, clock: Clock, username: str, email: str, password_hash: str
) -> tuple[int, str]:
    """Create an account; return its id and the ticket of a session for this browser.

    Raises UsernameTaken, including for the name of an account deleted less than 90 days ago.
    Concurrent or repeated calls with one name: exactly one succeeds.
    """
    user = User(
        username=username,
        username_key=username_key(username),
        email=email,
        password_hash=password_hash,
        created_at=clock(),
    )
    return _registered(session, clock, user)


def register_from_github(  # noqa: PLR0913, PLR0917 - as many things as there are to be said
    session: Session,
    clock: Clock,
    username: str,
    email: str,
    person: GitHubPerson,
    avatar: str | None,
) -> tuple[int, str]:
    """Create an account without a password; return its id and the ticket of a session.

    The address counts as confirmed if it is the one that GitHub has verified. Raises UsernameTaken,
    including for the later of two concurrent callers with the same GitHub account.
    """
    now = clock()
    is_confirmed = person.is_verified and email == person.email
    user = User(
        username=username,
        username_key=username_key(username),
        display_name=person.name or None,
        email=email,
        email_verified_at=now if is_confirmed else None,
        github_id=person.github_id,
        avatar=avatar,
        created_at=now,
    )
    return _registered(session, clock, user)


def _registered(session: Session, clock: Clock, user: User) -> tuple[int, str]:
    if user.username_key == HOUSE:
        raise UsernameTaken(f"the username {user.username} is reserved")
    _release_names(session, clock, User.username_key == user.username_key)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:
        # The unique key decides, not an earlier check: of two concurrent callers one fails here.
        raise UsernameTaken(f"the username {user.username} is taken") from None
    return user.id, tickets.issue_session(session, clock, user.id, remembered=False)


def release_names(resources: Resources) -> int:
    """Release the usernames of accounts deleted 90 days ago; return how many."""
    with resources.database.writing() as session:
        return _release_names(session, resources.clock)


def _release_names(session: Session, clock: Clock, *conditions: ColumnElement[bool]) -> int:
    rested = (User.username_key.is_not(None), User.deleted_at <= clock() - RESTS, *conditions)
    change = update(User).where(*rested).values(username_key=None).returning(User.id)
    return len(session.scalars(change).all())


def log_in(
    session: Session,
    clock: Clock,
    account: Account,
    *,
    remembered: bool,
    renewed_hash: str | None = None,
) -> str:
    """Return the ticket of a new session for an account that GitHub or we have authenticated.

    `renewed_hash` replaces a hash made at another cost. Each call opens another session. Raises
    Refused if the password was changed, or the account locked or deleted, since the check.
    """
    touch(session, account, password_hash=renewed_hash or account.password_hash)
    return tickets.issue_session(session, clock, account.user_id, remembered=remembered)


def touch(session: Session, account: Account, **values: Any) -> None:
    """Change an account if its password is still the one that was checked; raise Refused if not."""
    changed = session.execute(
        update(User)
        .where(
            User.id == account.user_id,
            # Rechecked in the statement: the password may have changed since it was verified
            # (decisions 0007).
            User.password_hash == account.password_hash,
            User.locked_at.is_(None),
            User.deleted_at.is_(None),
        )
        .values(**values)
        .returning(User.id)
    )
    if changed.one_or_none() is None:
        raise Refused("the account has changed since its password was checked")


def log_out(session: Session, ticket: str) -> None:
    """End a session. Idempotent."""
    tickets.revoke(session, ticket)


# GitHub


def connect_github(session: Session, user_id: int, github_id: int) -> None:
    """Let a GitHub account log in as a user; the last call wins.

    Raises GitHubTaken if it is connected with another account.
    """
    try:
        save(session, user_id, github_id=github_id)
    except IntegrityError:
        raise GitHubTaken("the GitHub account is connected with another account") from None


# Passwords and links


def reset_password(
    session: Session, clock: Clock, link: str, password_hash: str
) -> tuple[int, str]:
    """Change a password by a link; return the user's id and the ticket of a new session.

    Ends all the user's tickets and forgets their known places; a link that came by mail confirms
    the address. Raises LinkExpired if the link is invalid or used; concurrent callers: exactly one
    succeeds.
    """
    redeemed = redeem(session, clock, "reset", link)
    now = clock()
    values: dict[str, Any] = {"password_hash": password_hash}
    # A link printed by an operator proves nothing about the address.
    if redeemed.label != tickets.PRINTED:
        values["email_verified_at"] = now
    changed = session.execute(
        update(User)
        .where(User.id == redeemed.user_id, User.locked_at.is_(None), User.deleted_at.is_(None))
        .values(**values)
        .returning(User.id)
    )
    if changed.one_or_none() is None:
        raise LinkExpired("the account is locked or deleted")
    # Somebody who knew the old password may still be logged in.
    tickets.revoke_all(session, redeemed.user_id)
    outbox.drop_of(session, clock, "email", redeemed.user_id)
    forget_places(session, redeemed.user_id)
    ticket = tickets.issue_session(session, clock, redeemed.user_id, remembered=False)
    return redeemed.user_id, ticket


def redeem(session: Session, clock: Clock, kind: tickets.LinkKind, link: str) -> tickets.Redeemed:
    """Use a link up and return its contents; raise LinkExpired if it is invalid."""
    redeemed = tickets.redeem(session, clock, kind, link)
    if redeemed is None:
        raise LinkExpired("the link is unknown, used or expired")
    return redeemed


def confirm_email(session: Session, clock: Clock, link: str) -> int:
    """Confirm a user's address by a link; return the user's id.

    Raises LinkExpired if the link is invalid or used. Concurrent callers: exactly one succeeds.
    """
    redeemed = redeem(session, clock, "verify", link)
    session.execute(
        update(User)
        .where(User.id == redeemed.user_id, User.deleted_at.is_(None))
        .values(email_verified_at=clock())
    )
    return redeemed.user_id


def change_password(
    session: Session, clock: Clock, account: Account, password_hash: str, *, remembered: bool
) -> str:
    """Change the password of an account whose old one was checked; return a new session.

    Ends the user's sessions and links. Raises Refused if another change came first.
    """
    touch(session, account, password_hash=password_hash)
    tickets.revoke_all(session, account.user_id, *PASSED_ON)
    outbox.drop_of(session, clock, "email", account.user_id)
    return tickets.issue_session(session, clock, account.user_id, remembered=remembered)


def save(session: Session, user_id: int, **values: Any) -> None:
    """Update a user, unless deleted meanwhile."""
    session.execute(
        update(User).where(User.id == user_id, User.deleted_at.is_(None)).values(**values)
    )


def is_confirmed(session: Session, user_id: int) -> bool:
    """Return whether a user has confirmed their e-mail address."""
    return session.scalar(select(User.email_verified_at).where(User.id == user_id)) is not None


def forget_places(session: Session, user_id: int) -> None:
    """Forget the places from which a user has logged in."""
    session.execute(delete(KnownPlace).where(KnownPlace.user_id == user_id))
