"""Users' profiles, e-mail addresses and friends."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Final

from sqlalchemy import ColumnElement, bindparam, delete, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw_hub.accounts import audit
from cw_hub.accounts.access import tickets
from cw_hub.accounts.mails import outbox
from cw_hub.accounts.people import (
    LinkExpired,
    NoSuchUser,
    find_account,
    is_confirmed,
    is_named,
    redeem,
    save,
    username_key,
)
from cw_hub.clock import Clock
from cw_hub.store.revisions import show_anew
from cw_hub.store.tables import Bot, Friend, User


@dataclass(frozen=True, slots=True)
class Profile:
    """The public profile of a user."""

    user_id: int
    username: str
    display_name: str | None
    avatar: str | None
    country: str | None
    is_friend: bool = False
    """Whether the viewer has added them as a friend."""


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """Settings that only the user can see."""

    profile: Profile
    email: str | None
    is_confirmed: bool
    born: date | None
    has_password: bool
    has_github: bool
    """Whether a GitHub account can log in."""
    bot_mails: bool
    """Whether to mail that a bot cannot be reached."""
    host_mails: bool
    """Whether to mail what hosts of tournaments announce."""


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

    For a viewer it includes whether they have added this user as a friend.
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
    """Set whether to mail that a bot cannot be reached, and what hosts announce.

    The last call wins.
    """
    save(session, user_id, bot_mails=about_bots, host_mails=from_hosts)


def ask_for_email(session: Session, clock: Clock, user_id: int, email: str) -> list[int]:
    """Mail a link that confirms a new address, and notify the old one; return the ids of the mails.

    Nothing else changes until it is confirmed. An unconfirmed old address is not notified: it may
    belong to a stranger. An earlier request is cancelled.
    """
    columns = select(User.username, User.email, User.email_verified_at)
    row = session.execute(columns.where(User.id == user_id, User.deleted_at.is_(None))).one()
    tickets.revoke_all(session, user_id, "email")
    outbox.drop_of(session, clock, "email", user_id)
    audit.note(session, clock, row.username, "ask-for-email", f"user:{user_id}")
    mails = [outbox.put(session, clock, "email", user_id, email=email)]
    if row.email and row.email_verified_at is not None:
        mails.append(outbox.put(session, clock, "moving", user_id, email=row.email))
    return mails


def tell_of_github(session: Session, clock: Clock, user_id: int) -> int | None:
    """Queue a mail that GitHub was connected or disconnected; return its id.

    None if the address is unconfirmed: it may belong to a stranger.
    """
    if not is_confirmed(session, user_id):
        return None
    return outbox.put(session, clock, "github", user_id)


def change_email(session: Session, clock: Clock, link: str) -> int:
    """Set a user's address to the one that a link was sent to, as confirmed; return the user's id.

    All links of the user end, as they were sent to the old address. Raises LinkExpired if the link
    is invalid or used. Concurrent callers: exactly one succeeds.
    """
    redeemed = redeem(session, clock, "email", link)
    changed = session.execute(
        update(User)
        .where(User.id == redeemed.user_id, User.locked_at.is_(None), User.deleted_at.is_(None))
        .values(email=redeemed.email, email_verified_at=clock())
        .returning(User.username)
    )
    username = changed.scalar_one_or_none()
    if username is None:
        raise LinkExpired("the account is locked or deleted")
    tickets.revoke_all(session, redeemed.user_id, *tickets.LINKS)
    # The audit log is kept for ever, so it does not contain the address.
    audit.note(session, clock, username, "change-email", f"user:{redeemed.user_id}")
    return redeemed.user_id


def set_avatar(session: Session, user_id: int, digest: str) -> None:
    """Set the picture of a user by its SHA-256; the last call wins."""
    save(session, user_id, avatar=digest)
    show_anew(session, Bot.user_id == user_id)


def befriend(session: Session, clock: Clock, user_id: int, username: str) -> str:
    """Add a user as a friend; return the stored name. Idempotent, even with concurrent callers.

    Raises NoSuchUser if there is no other user with the name.
    """
    # Lock both users: a concurrent deletion would not see this friendship.
    lock_user(session, User.id == user_id, User.deleted_at.is_(None))
    friend_id, name = lock_user(session, User.id != user_id, *is_named(username))
    with suppress(IntegrityError), session.begin_nested():
        session.add(Friend(user_id=user_id, friend_id=friend_id, created_at=clock()))
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
