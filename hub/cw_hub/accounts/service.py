"""Account operations: register, log in, change and find accounts, profiles and passwords."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from threading import BoundedSemaphore
from typing import Any, Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ColumnElement, bindparam, delete, exists, select, update
from sqlalchemy.exc import IntegrityError

from cw.errors import UsageError
from cw_hub.accounts import audit, mail, tickets
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Friend, KnownPlace, TicketKind, User
from cw_hub.store.revisions import show_anew

NAME: Final = re.compile("[A-Za-z0-9_]{3,32}")
"""The format of usernames."""

HOUSE: Final = "house"
"""The username of the site's own account, which no one can register."""

RESTS: Final = timedelta(days=90)
"""How long the username of a deleted account stays reserved."""

PASSED_ON: Final[tuple[TicketKind, ...]] = ("session", *tickets.LINKS)
"""The kinds of tickets that are revoked when the password changes."""


class UsernameTaken(UsageError):
    """Another account has this name, ignoring case."""


class GitHubTaken(UsageError):
    """Another account is connected to this GitHub account."""


class NoSuchUser(UsageError):
    """The account does not exist, or was deleted."""


class Refused(UsageError):
    """The password was changed, or the account locked or deleted, since it was checked."""


class LinkExpired(UsageError):
    """The ticket of a link is unknown, used or expired."""


@dataclass(frozen=True, slots=True)
class Account:
    """The fields of an account that decide whether its user may log in."""

    user_id: int
    username: str
    password_hash: str | None
    is_locked: bool


@dataclass(frozen=True, slots=True)
class GitHubPerson:
    """A user signed in with GitHub, and their data there."""

    github_id: int
    login: str
    name: str
    email: str
    is_verified: bool
    """Whether GitHub has verified that the email address is theirs."""
    picture: str
    """The URL of their avatar, or ""."""


def username_key(username: str) -> str:
    """Return the form of a username used for comparison; "", which no one has, if invalid."""
    return username.lower() if NAME.fullmatch(username) else ""


def is_named(username: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that select the account with a name, ignoring case."""
    return (User.username_key == username_key(username), User.deleted_at.is_(None))


def find_account(session: Session, username: str) -> Account | None:
    """Return the account with a name, ignoring case, or None."""
    return _account(session, *is_named(username))


def find_account_of(session: Session, user_id: int) -> Account | None:
    """Return the account with an id, or None if it does not exist or was deleted."""
    return _account(session, User.id == user_id, User.deleted_at.is_(None))


def find_account_at_github(session: Session, github_id: int) -> Account | None:
    """Return the account connected to a GitHub id, or None."""
    return _account(session, User.github_id == github_id, User.deleted_at.is_(None))


def _account(session: Session, *conditions: ColumnElement[bool]) -> Account | None:
    columns = select(User.id, User.username, User.password_hash, User.locked_at)
    row = session.execute(columns.where(*conditions)).one_or_none()
    if row is None:
        return None
    return Account(row.id, row.username, row.password_hash, row.locked_at is not None)


# Register, log in and out


def register(session: Session, username: str, email: str, password_hash: str) -> tuple[int, str]:
    """Create an account; return its id and the ticket of a session for this browser.

    Raises UsernameTaken, including for the name of an account deleted less than 90 days ago. Of
    concurrent or repeated calls with one name, exactly one succeeds.
    """
    user = User(
        username=username,
        username_key=username_key(username),
        email=email,
        password_hash=password_hash,
        created_at=session.now(),
    )
    return _registered(session, user)


def register_from_github(
    session: Session,
    username: str,
    email: str,
    person: GitHubPerson,
    avatar: str | None,
) -> tuple[int, str]:
    """Create an account without a password; return its id and the ticket of a session.

    The email address counts as confirmed if it is the one that GitHub has verified. Raises
    UsernameTaken, including for the later of two concurrent callers with the same GitHub account.
    """
    now = session.now()
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
    return _registered(session, user)


def _registered(session: Session, user: User) -> tuple[int, str]:
    if user.username_key == HOUSE:
        raise UsernameTaken(f"the username {user.username} is reserved")
    _release_names(session, User.username_key == user.username_key)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:
        # The unique key decides, not an earlier check: one of two concurrent callers fails here.
        raise UsernameTaken(f"the username {user.username} is taken") from None
    return user.id, tickets.issue_session(session, user.id, remembered=False)


def release_names(resources: Resources) -> int:
    """Release the usernames of accounts deleted 90 days ago; return how many."""
    with resources.database.writing() as session:
        return _release_names(session)


def _release_names(session: Session, *conditions: ColumnElement[bool]) -> int:
    rested = (User.username_key.is_not(None), User.deleted_at <= session.now() - RESTS, *conditions)
    change = update(User).where(*rested).values(username_key=None).returning(User.id)
    return len(session.scalars(change).all())


def log_in(
    session: Session,
    account: Account,
    *,
    remembered: bool,
    renewed_hash: str | None = None,
) -> str:
    """Return the ticket of a new session for an account authenticated by GitHub or by us.

    `renewed_hash` replaces a hash computed at another cost. Each call opens another session. Raises
    Refused if the password was changed, or the account locked or deleted, since the check.
    """
    touch(session, account, password_hash=renewed_hash or account.password_hash)
    return tickets.issue_session(session, account.user_id, remembered=remembered)


def touch(session: Session, account: Account, **values: Any) -> None:
    """Update an account if its password is still the one that was checked, or raise Refused."""
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

    Raises GitHubTaken if it is connected to another account.
    """
    try:
        save(session, user_id, github_id=github_id)
    except IntegrityError:
        raise GitHubTaken("the GitHub account is connected to another account") from None


# Passwords and links


def reset_password(session: Session, link: str, password_hash: str) -> tuple[int, str]:
    """Change a password by a link; return the user's id and the ticket of a new session.

    Revokes all the user's tickets and forgets their known places; a link that was emailed confirms
    the email address. Raises LinkExpired if the link is invalid or used; of concurrent callers,
    exactly one succeeds.
    """
    redeemed = redeem(session, "reset", link)
    now = session.now()
    values: dict[str, Any] = {"password_hash": password_hash}
    # A link printed by an operator proves nothing about the email address.
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
    # Someone who knew the old password may still be logged in.
    tickets.revoke_all(session, redeemed.user_id)
    mail.drop_of(session, "email", redeemed.user_id)
    forget_places(session, redeemed.user_id)
    ticket = tickets.issue_session(session, redeemed.user_id, remembered=False)
    return redeemed.user_id, ticket


def redeem(session: Session, kind: tickets.LinkKind, link: str) -> tickets.Redeemed:
    """Use up a link and return its contents; raise LinkExpired if it is invalid."""
    redeemed = tickets.redeem(session, kind, link)
    if redeemed is None:
        raise LinkExpired("the link is unknown, used or expired")
    return redeemed


def confirm_email(session: Session, link: str) -> int:
    """Confirm a user's email address by a link; return the user's id.

    Raises LinkExpired if the link is invalid or used. Of concurrent callers, exactly one succeeds.
    """
    redeemed = redeem(session, "verify", link)
    session.execute(
        update(User)
        .where(User.id == redeemed.user_id, User.deleted_at.is_(None))
        .values(email_verified_at=session.now())
    )
    return redeemed.user_id


def change_password(
    session: Session, account: Account, password_hash: str, *, remembered: bool
) -> str:
    """Change the password of an account whose old one was checked; return a new session.

    Revokes the user's sessions and links. Raises Refused if another change came first.
    """
    touch(session, account, password_hash=password_hash)
    tickets.revoke_all(session, account.user_id, *PASSED_ON)
    mail.drop_of(session, "email", account.user_id)
    return tickets.issue_session(session, account.user_id, remembered=remembered)


def save(session: Session, user_id: int, **values: Any) -> None:
    """Update a user, unless it has been deleted in the meantime."""
    session.execute(
        update(User).where(User.id == user_id, User.deleted_at.is_(None)).values(**values)
    )


def is_confirmed(session: Session, user_id: int) -> bool:
    """Return whether a user has confirmed their email address."""
    return session.scalar(select(User.email_verified_at).where(User.id == user_id)) is not None


def forget_places(session: Session, user_id: int) -> None:
    """Delete a user's known places."""
    session.execute(delete(KnownPlace).where(KnownPlace.user_id == user_id))


@dataclass(frozen=True, slots=True)
class Profile:
    """The public profile of a user."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    country: str | None
    is_friend: bool = False
    """Whether the viewer has added this user as a friend."""


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """Settings that only the user can see."""

    profile: Profile
    email: str | None
    is_confirmed: bool
    born: date | None
    has_password: bool
    has_github: bool
    """Whether a connected GitHub account can log in."""
    bot_mails: bool
    """Whether to email the user when a bot cannot be reached."""
    host_mails: bool
    """Whether to email the user the announcements of tournament hosts."""


PROFILE: Final = select(
    User.id,
    User.username,
    User.display_name,
    User.avatar,
    User.country,
    exists()
    .where(Friend.user_id == bindparam("viewer"), Friend.friend_id == User.id)
    .label("is_friend"),
).where(User.username_key == bindparam("key"), User.deleted_at.is_(None))


OWN_SETTINGS: Final = select(
    User.id,
    User.username,
    User.display_name,
    User.avatar,
    User.country,
    User.email,
    User.email_verified_at,
    User.born,
    User.password_hash.is_not(None).label("has_password"),
    User.github_id.is_not(None).label("has_github"),
    User.bot_mails,
    User.host_mails,
).where(User.id == bindparam("user"))


def find_profile(session: Session, username: str, viewer: int | None = None) -> Profile | None:
    """Return the public profile of a user by name, ignoring case, or None.

    It includes whether the viewer, if any, has added this user as a friend.
    """
    parameters = {"key": username_key(username), "viewer": viewer}
    row = session.execute(PROFILE, parameters).one_or_none()
    if row is None or row.username is None:
        return None
    return Profile(
        row.id, row.username, row.display_name, row.avatar, row.country, bool(row.is_friend)
    )


def own_settings(session: Session, user_id: int) -> OwnSettings:
    """Return a user's private settings; raise NoSuchUser if the account was deleted."""
    row = session.execute(OWN_SETTINGS, {"user": user_id}).one_or_none()
    if row is None or row.username is None:
        raise NoSuchUser(f"there is no user {user_id}")
    return OwnSettings(
        Profile(row.id, row.username, row.display_name, row.avatar, row.country),
        row.email,
        row.email_verified_at is not None,
        row.born,
        bool(row.has_password),
        bool(row.has_github),
        row.bot_mails,
        row.host_mails,
    )


def save_profile(session: Session, user_id: int, country: str | None, born: date | None) -> None:
    """Set a country and a date of birth; None clears either. The last call wins."""
    save(session, user_id, country=country, born=born)


def set_display_name(session: Session, user_id: int, name: str | None) -> None:
    """Set the name shown above the username; None clears it. The last call wins."""
    save(session, user_id, display_name=name)


def want_mails(session: Session, user_id: int, *, about_bots: bool, from_hosts: bool) -> None:
    """Set whether to email about unreachable bots, and announcements of tournament hosts.

    The last call wins.
    """
    save(session, user_id, bot_mails=about_bots, host_mails=from_hosts)


def ask_for_email(session: Session, user_id: int, email: str) -> list[int]:
    """Queue emails that confirm a new email address and notify the old one; return their ids.

    Nothing else changes until it is confirmed. An unconfirmed old address is not notified: it may
    belong to someone else. An earlier request is cancelled.
    """
    columns = select(User.username, User.email, User.email_verified_at)
    row = session.execute(columns.where(User.id == user_id, User.deleted_at.is_(None))).one()
    tickets.revoke_all(session, user_id, "email")
    mail.drop_of(session, "email", user_id)
    session.actor = row.username
    audit.record(session, "ask-for-email", f"user:{user_id}")
    mails = [mail.put(session, "email", user_id, email=email)]
    if row.email and row.email_verified_at is not None:
        mails.append(mail.put(session, "moving", user_id, email=row.email))
    return mails


def tell_of_github(session: Session, user_id: int) -> int | None:
    """Queue an email that GitHub was connected or disconnected; return its id.

    Returns None if the email address is unconfirmed: it may belong to someone else.
    """
    if not is_confirmed(session, user_id):
        return None
    return mail.put(session, "github", user_id)


def change_email(session: Session, link: str) -> int:
    """Set a user's email address, confirmed by the link sent to it; return the user's id.

    All the user's links are revoked, as they were sent to the old address. Raises LinkExpired if
    the link is invalid or used. Of concurrent callers, exactly one succeeds.
    """
    redeemed = redeem(session, "email", link)
    changed = session.execute(
        update(User)
        .where(User.id == redeemed.user_id, User.locked_at.is_(None), User.deleted_at.is_(None))
        .values(email=redeemed.email, email_verified_at=session.now())
        .returning(User.username)
    )
    username = changed.scalar_one_or_none()
    if username is None:
        raise LinkExpired("the account is locked or deleted")
    tickets.revoke_all(session, redeemed.user_id, *tickets.LINKS)
    session.actor = username
    # The audit log is kept forever, so it must not contain the email address.
    audit.record(session, "change-email", f"user:{redeemed.user_id}")
    return redeemed.user_id


def set_avatar(session: Session, user_id: int, digest: str) -> None:
    """Set a user's avatar by its SHA-256; the last call wins."""
    save(session, user_id, avatar=digest)
    show_anew(session, Bot.user_id == user_id)


def befriend(session: Session, user_id: int, username: str) -> str:
    """Add a user as a friend; return the stored name. Idempotent, even with concurrent callers.

    Raises NoSuchUser if there is no other user with the name.
    """
    # Lock both users: otherwise a concurrent deletion would not see this friendship.
    lock_user(session, User.id == user_id, User.deleted_at.is_(None))
    friend_id, name = lock_user(session, User.id != user_id, *is_named(username))
    with suppress(IntegrityError), session.begin_nested():
        session.add(Friend(user_id=user_id, friend_id=friend_id, created_at=session.now()))
    return name


def lock_user(session: Session, *conditions: ColumnElement[bool]) -> tuple[int, str]:
    """Return the id and name of a user, locked against deletion until this transaction ends.

    Raises NoSuchUser.
    """
    query = select(User.id, User.username).where(*conditions).with_for_update(read=True)
    row = session.execute(query).one_or_none()
    if row is None:
        raise NoSuchUser("there is no such user")
    return row.id, row.username


def unfriend(session: Session, user_id: int, username: str) -> str:
    """Remove a friend; return the stored name. Idempotent.

    Raises NoSuchUser if there is no other user with the name.
    """
    friend = find_account(session, username)
    if friend is None or friend.user_id == user_id:
        raise NoSuchUser(f"there is no other user {username}")
    session.execute(
        delete(Friend).where(Friend.user_id == user_id, Friend.friend_id == friend.user_id)
    )
    return friend.username


MOST_AT_ONCE: Final = 4
"""Limited, because each hash takes 64 MiB and a core while it is computed."""


class Passwords:
    """Computes and verifies password hashes; shared by all threads of a process."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        """Set the cost of hashes; the default is that of argon2-cffi."""
        self._hasher = hasher or PasswordHasher()
        self._room = BoundedSemaphore(MOST_AT_ONCE)

    def hash(self, password: str) -> str:
        """Return a hash of a password, with its salt and cost."""
        with self._room:
            return self._hasher.hash(password)

    def fits(self, password: str, hashed: str | None) -> bool:
        """Return whether a password matches a hash; False for an account without a password."""
        if hashed is None:
            return False
        try:
            with self._room:
                return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    def is_dated(self, hashed: str) -> bool:
        """Return whether a hash was computed at a cost other than that of new ones."""
        return self._hasher.check_needs_rehash(hashed)
