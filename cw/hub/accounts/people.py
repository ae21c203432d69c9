"""What people do with their accounts; texts for them are the pages' matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.accounts.access import tickets
from cw.hub.accounts.mails import outbox
from cw.hub.clock import Clock
from cw.hub.operation.resources import Resources
from cw.hub.store.tables import KnownPlace, TicketKind, User

NAME: Final = re.compile("[A-Za-z0-9_]{3,32}")
"""The form of usernames."""

HOUSE: Final = "house"
"""The username of the site's own account, which nobody can register."""

RESTS: Final = timedelta(days=90)
"""How long the username of a deleted account is nobody's."""

PASSED_ON: Final[tuple[TicketKind, ...]] = ("session", *tickets.LINKS)
"""What a new password ends."""


class UsernameTaken(UsageError):
    """Another account bears this name, in whatever case."""


class GitHubTaken(UsageError):
    """Another account is connected with this one of GitHub."""


class NoSuchUser(UsageError):
    """There is no such account, or it was deleted."""


class Refused(UsageError):
    """The password was changed, or the account locked or deleted, since it was looked at."""


class LinkExpired(UsageError):
    """The ticket of a link is unknown, used or too old."""


@dataclass(frozen=True, slots=True)
class Account:
    """What is needed to decide whether somebody may log in."""

    user_id: int
    username: str
    password_hash: str | None
    is_locked: bool


@dataclass(frozen=True, slots=True)
class GitHubPerson:
    """Whom GitHub has named, and what it tells of them."""

    github_id: int
    login: str
    name: str
    email: str
    is_verified: bool
    """Whether the address is theirs, as GitHub knows."""
    picture: str
    """Its address; "" for none."""


def username_key(username: str) -> str:
    """Return the form in which two names are one; "", which nobody has, for what is not a name."""
    return username.lower() if NAME.fullmatch(username) else ""


def is_named(username: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that an account of a name in any case fulfils."""
    return (User.username_key == username_key(username), User.deleted_at.is_(None))


def find_account(session: Session, username: str) -> Account | None:
    """Return the account of a name in any case, None if there is none."""
    return _account(session, *is_named(username))


def find_account_of(session: Session, user_id: int) -> Account | None:
    """Return the account of an id, None if there is none or it was deleted."""
    return _account(session, User.id == user_id, User.deleted_at.is_(None))


def find_account_at_github(session: Session, github_id: int) -> Account | None:
    """Return the account that somebody at GitHub is connected with, None if there is none."""
    return _account(session, User.github_id == github_id, User.deleted_at.is_(None))


def _account(session: Session, *conditions: ColumnElement[bool]) -> Account | None:
    columns = select(User.id, User.username, User.password_hash, User.locked_at)
    row = session.execute(columns.where(*conditions)).one_or_none()
    if row is None:
        return None
    return Account(row.id, row.username, row.password_hash, row.locked_at is not None)


# Coming and going


def register(
    session: Session, clock: Clock, username: str, email: str, password_hash: str
) -> tuple[int, str]:
    """Make an account; return its id and the ticket of a session for this browser.

    Raises UsernameTaken, also for the name of an account that was deleted less than 90 days ago. Of
    two at once with one name the unique key lets one through, and so it is when it is called twice.
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
    """Make an account without a password; return its id and the ticket of a session.

    The address counts as confirmed if it is the one that GitHub has verified. Raises UsernameTaken,
    also for the later of two at once for one account of GitHub.
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
        # The unique key decides, not a look before: of two at once, one gets this.
        raise UsernameTaken(f"the username {user.username} is taken") from None
    return user.id, tickets.issue_session(session, clock, user.id, remembered=False)


def release_names(resources: Resources) -> int:
    """Let go of the usernames of accounts that were deleted 90 days ago; return how many."""
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
    """Return the ticket of a new session for an account whose password GitHub or we have checked.

    `renewed_hash` takes the place of one that was made at another cost. Each call opens another
    session. Raises Refused if the password was changed, or the account locked or deleted, since.
    """
    touch(session, account, password_hash=renewed_hash or account.password_hash)
    return tickets.issue_session(session, clock, account.user_id, remembered=remembered)


def touch(session: Session, account: Account, **values: Any) -> None:
    """Change an account if it still has the password that was checked; raise Refused if not."""
    changed = session.execute(
        update(User)
        .where(
            User.id == account.user_id,
            # Checked again within the statement: the password may have changed since it was
            # verified (decisions 0007).
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
    """End a session; twice is once."""
    tickets.revoke(session, ticket)


# GitHub


def connect_github(session: Session, user_id: int, github_id: int) -> None:
    """Let somebody at GitHub log in as a user; the last call wins.

    Raises GitHubTaken where the GitHub account is connected with another account.
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

    Ends all tickets of the user, and no place counts as known any more; a link that came by mail
    confirms the address. Raises LinkExpired, also for all but one of those who use a link at once
    or again.
    """
    redeemed = redeem(session, clock, "reset", link)
    now = clock()
    values: dict[str, Any] = {"password_hash": password_hash}
    # A link that an operator printed proves nothing about the address.
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
    # Whoever knew the old password may still have a session open.
    tickets.revoke_all(session, redeemed.user_id)
    outbox.drop_of(session, clock, "email", redeemed.user_id)
    forget_places(session, redeemed.user_id)
    ticket = tickets.issue_session(session, clock, redeemed.user_id, remembered=False)
    return redeemed.user_id, ticket


def redeem(session: Session, clock: Clock, kind: tickets.LinkKind, link: str) -> tickets.Redeemed:
    """Use a link up and return what it said; raise LinkExpired for one that is of no use."""
    redeemed = tickets.redeem(session, clock, kind, link)
    if redeemed is None:
        raise LinkExpired("the link is unknown, used or expired")
    return redeemed


def confirm_email(session: Session, clock: Clock, link: str) -> int:
    """Note by a link that its user reads the mail of their address; return the user's id.

    Raises LinkExpired, also for all but one of those who use a link at once or again.
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
    """Change the password of an account whose old one has been checked; return a new session.

    Ends the sessions and links of the user. Raises Refused for the later of two at once.
    """
    touch(session, account, password_hash=password_hash)
    tickets.revoke_all(session, account.user_id, *PASSED_ON)
    outbox.drop_of(session, clock, "email", account.user_id)
    return tickets.issue_session(session, clock, account.user_id, remembered=remembered)


def save(session: Session, user_id: int, **values: Any) -> None:
    """Change a user who is there; one who was deleted meanwhile stays empty."""
    session.execute(
        update(User).where(User.id == user_id, User.deleted_at.is_(None)).values(**values)
    )


def is_confirmed(session: Session, user_id: int) -> bool:
    """Return whether a user has confirmed the e-mail address."""
    return session.scalar(select(User.email_verified_at).where(User.id == user_id)) is not None


def forget_places(session: Session, user_id: int) -> None:
    """Let no place count as known any more from which a user has logged in."""
    session.execute(delete(KnownPlace).where(KnownPlace.user_id == user_id))
