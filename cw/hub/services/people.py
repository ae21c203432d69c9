"""What people do with their accounts; texts for them are the pages' matter."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sqlalchemy import ColumnElement, bindparam, delete, exists, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.clock import Clock
from cw.hub.services import competitions, tickets
from cw.hub.store.tables import Bot, Friend, MatchParticipant, TicketKind, User

NAME: Final = re.compile("[A-Za-z0-9_]{3,32}")
"""The form of usernames."""

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
class Profile:
    """What everybody may know of a user."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    country: str | None
    is_friend: bool = False
    """Whether the one who asked has added them."""


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """What users alone know of themselves."""

    profile: Profile
    email: str | None
    is_confirmed: bool
    born: date | None
    has_password: bool
    has_github: bool
    """Whether a GitHub account logs in."""


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


@dataclass(frozen=True, slots=True)
class Address:
    """Where mail to a user goes."""

    username: str
    email: str


def username_key(username: str) -> str:
    """Return the form in which two names are one; "", which nobody has, for what is no name."""
    return username.lower() if NAME.fullmatch(username) else ""


def _named(username: str) -> tuple[ColumnElement[bool], ...]:
    return (User.username_key == username_key(username), User.deleted_at.is_(None))


# Asking. What many pages ask is made once, and of columns alone: that takes a third of the time.

_USERS, _FRIENDS = User.__table__.c, Friend.__table__.c

PROFILE: Final = select(
    _USERS.id,
    _USERS.username,
    _USERS.display_name,
    _USERS.avatar,
    _USERS.country,
    exists()
    .where(_FRIENDS.user_id == bindparam("viewer"), _FRIENDS.friend_id == _USERS.id)
    .label("is_friend"),
).where(_USERS.username_key == bindparam("key"), _USERS.deleted_at.is_(None))

OWN_SETTINGS: Final = select(
    _USERS.id,
    _USERS.username,
    _USERS.display_name,
    _USERS.avatar,
    _USERS.country,
    _USERS.email,
    _USERS.email_verified_at,
    _USERS.born,
    _USERS.password_hash.is_not(None).label("has_password"),
    _USERS.github_id.is_not(None).label("has_github"),
).where(_USERS.id == bindparam("user"))


def find_account(session: Session, username: str) -> Account | None:
    """Return the account of a name in any case, None if there is none."""
    return _account(session, *_named(username))


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


def find_profile(session: Session, username: str, viewer: int | None = None) -> Profile | None:
    """Return what everybody may know of the user of a name in any case, None if there is none.

    For a viewer it says too whether they have added this user as a friend.
    """
    asked = {"key": username_key(username), "viewer": viewer}
    row = session.execute(PROFILE, asked).one_or_none()
    if row is None or row.username is None:
        return None
    return Profile(
        row.id, row.username, row.display_name, row.avatar, row.country, bool(row.is_friend)
    )


def own_settings(session: Session, user_id: int) -> OwnSettings:
    """Return what a user alone may see; raise NoSuchUser if the account was deleted."""
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
    )


def find_address(session: Session, user_id: int) -> Address | None:
    """Return where to write to a user; None for who is locked, was deleted or has no e-mail."""
    columns = select(User.username, User.email)
    row = session.execute(
        columns.where(User.id == user_id, User.locked_at.is_(None), User.deleted_at.is_(None))
    ).one_or_none()
    return Address(row.username, row.email) if row and row.username and row.email else None


# Coming and going


def register(
    session: Session, clock: Clock, username: str, email: str, password_hash: str
) -> tuple[int, str]:
    """Make an account; return its id and the ticket of a session for this browser.

    Raises UsernameTaken. Of two at once with one name the unique key lets one through, and so it is
    when it is called twice.
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
    session.add(user)
    try:
        session.flush()
    except IntegrityError:
        raise UsernameTaken(f"the username {user.username} is taken") from None
    return user.id, tickets.issue_session(session, clock, user.id, remembered=False)


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
    _touch(session, account, password_hash=renewed_hash or account.password_hash)
    return tickets.issue_session(session, clock, account.user_id, remembered=remembered)


def _touch(session: Session, account: Account, **values: Any) -> None:
    """Change an account if it still has the password that was checked; raise Refused if not."""
    changed = session.execute(
        update(User)
        .where(
            User.id == account.user_id,
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

    Raises GitHubTaken where another account is connected with them.
    """
    try:
        _save(session, user_id, github_id=github_id)
    except IntegrityError:
        raise GitHubTaken("another account is connected with them") from None


def disconnect_github(session: Session, user_id: int) -> bool:
    """Let nobody at GitHub log in as a user any more; False for a user without a password."""
    has_password = (User.id == user_id, User.password_hash.is_not(None))
    change = update(User).where(*has_password).values(github_id=None).returning(User.id)
    return session.execute(change).one_or_none() is not None


# Passwords and links


def reset_password(
    session: Session, clock: Clock, link: str, password_hash: str
) -> tuple[int, str]:
    """Change a password by a link; return the user's id and the ticket of a new session.

    Ends all tickets of the user; a link that came by mail confirms the address. Raises LinkExpired,
    also for all but one of those who use a link at once or again.
    """
    redeemed = _redeem(session, clock, "reset", link)
    now = clock()
    values: dict[str, Any] = {"password_hash": password_hash}
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
    tickets.revoke_all(session, redeemed.user_id)
    ticket = tickets.issue_session(session, clock, redeemed.user_id, remembered=False)
    return redeemed.user_id, ticket


def _redeem(session: Session, clock: Clock, kind: tickets.LinkKind, link: str) -> tickets.Redeemed:
    redeemed = tickets.redeem(session, clock, kind, link)
    if redeemed is None:
        raise LinkExpired("the link is unknown, was used or is too old")
    return redeemed


def confirm_email(session: Session, clock: Clock, link: str) -> int:
    """Note by a link that its user reads the mail of their address; return the user's id.

    Raises LinkExpired, also for all but one of those who use a link at once or again.
    """
    redeemed = _redeem(session, clock, "verify", link)
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
    _touch(session, account, password_hash=password_hash)
    tickets.revoke_all(session, account.user_id, *PASSED_ON)
    return tickets.issue_session(session, clock, account.user_id, remembered=remembered)


# Profile and friends


def save_profile(session: Session, user_id: int, country: str | None, born: date | None) -> None:
    """Keep a country and a date of birth, or None for neither; the last call wins."""
    _save(session, user_id, country=country, born=born)


def set_display_name(session: Session, user_id: int, name: str | None) -> None:
    """Choose the name that is shown above the username, None for none; the last call wins."""
    _save(session, user_id, display_name=name)


def set_avatar(session: Session, user_id: int, digest: str) -> None:
    """Name the picture of a user by its SHA-256; the last call wins."""
    _save(session, user_id, avatar=digest)
    competitions.show_anew(session, Bot.user_id == user_id)


def _save(session: Session, user_id: int, **values: Any) -> None:
    """Change a user who is there; one who was deleted meanwhile stays empty."""
    session.execute(
        update(User).where(User.id == user_id, User.deleted_at.is_(None)).values(**values)
    )


def befriend(session: Session, clock: Clock, user_id: int, username: str) -> str:
    """Add a user as a friend; return the name as it is stored. Twice, or by two at once, is once.

    Raises NoSuchUser, also for oneself.
    """
    # Both are held: who deletes one of them meanwhile would not see this friendship.
    _hold(session, User.id == user_id, User.deleted_at.is_(None))
    friend_id, name = _hold(session, User.id != user_id, *_named(username))
    with suppress(IntegrityError), session.begin_nested():
        session.add(Friend(user_id=user_id, friend_id=friend_id, created_at=clock()))
    return name


def _hold(session: Session, *conditions: ColumnElement[bool]) -> tuple[int, str]:
    """Return id and name of a user whom nobody deletes until this transaction ends.

    Raises NoSuchUser.
    """
    found = select(User.id, User.username).where(*conditions).with_for_update(read=True)
    row = session.execute(found).one_or_none()
    if row is None:
        raise NoSuchUser("there is no such user")
    return row.id, row.username


def unfriend(session: Session, user_id: int, username: str) -> str:
    """Remove a friend; return the name as it is stored. Twice is once.

    Raises NoSuchUser, also for oneself.
    """
    friend = find_account(session, username)
    if friend is None or friend.user_id == user_id:
        raise NoSuchUser(f"there is no other user {username}")
    session.execute(
        delete(Friend).where(Friend.user_id == user_id, Friend.friend_id == friend.user_id)
    )
    return friend.username


def is_confirmed(session: Session, user_id: int) -> bool:
    """Return whether a user has confirmed the e-mail address."""
    return session.scalar(select(User.email_verified_at).where(User.id == user_id)) is not None


# Leaving


def delete_account(session: Session, clock: Clock, account: Account) -> None:
    """Delete an account whose password has been checked; its row stays, empty.

    Raises Refused when called twice, for the later of two at once, and if the password was changed
    since it was checked.
    """
    _touch(session, account, deleted_at=clock())
    forget(session, account.user_id)


def forget(session: Session, user_id: int) -> None:
    """Empty what is known of a user whose deletion is noted, and retire the bots; twice is once."""
    session.execute(
        update(User)
        .where(User.id == user_id)
        .values(
            username=None,
            username_key=None,
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
    tickets.revoke_all(session, user_id)
    session.execute(
        delete(Friend).where(or_(Friend.user_id == user_id, Friend.friend_id == user_id))
    )
    _retire_bots(session, user_id)


def _retire_bots(session: Session, user_id: int) -> None:
    session.execute(
        update(Bot)
        .where(Bot.user_id == user_id)
        .values(status="RETIRED", endpoint="", secret=None, key_id=None, check_due_at=None)
    )
    # A bot of End of Codes bears the name of its user, in the games that it has played too.
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
    # Not before: whoever changes a bot holds it first, and its competition then.
    competitions.show_anew(session, Bot.user_id == user_id)
