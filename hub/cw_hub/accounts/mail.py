"""The outbox table, message texts, limits per recipient, and subscriptions of emails."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Final, Literal, TypeAlias, TypeGuard, cast, get_args

from itsdangerous import BadSignature, URLSafeSerializer
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import InstrumentedAttribute

from cw_hub.operation import heartbeats
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session, insert_missing, inserts
from cw_hub.store.models import Bot, Mail, MailCount, MailState, User

NewsKind: TypeAlias = Literal["inactive", "announce"]
"""News about an unreachable bot, and announcements by the host of a tournament."""

MailKind: TypeAlias = Literal["reset", "verify", "email", "moving", "github"] | NewsKind
"""The kinds of emails: transactional ones, and news.

They reset a password, confirm the email address or a new one, warn of a change of email address, or
report that GitHub was connected or disconnected.
"""

PAUSES: Final = (1, 4, 16, 64)
"""Minutes between attempts to send an email."""

ATTEMPTS: Final = len(PAUSES) + 1
"""Number of attempts to send an email before it counts as dead."""

LEASE: Final = timedelta(minutes=5)
"""How long a sender has exclusive use of an email: longer than any mail server may take."""

RETENTION: Final = timedelta(days=7)
"""How long sent and dropped emails are stored."""

DEAD_RETENTION: Final = timedelta(days=30)
"""How long dead emails are stored, in case an admin sends them again."""

AT_ONCE: Final = 100
"""Emails per query."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An email claimed by this process, which alone may send it."""

    mail_id: int
    attempt: int
    message_id: str
    kind: MailKind
    user_id: int
    bot_id: int | None = None
    """The primary key of the bot that the email is about, if any."""
    email: str | None = None
    """The recipient, if not the account's own email address."""
    words: Mapping[str, Any] | None = None
    """The text, if it was fixed when the email was queued."""


@dataclass(frozen=True, slots=True)
class News:
    """News for several users."""

    kind: NewsKind
    key: str
    """Its unique key, such as `event:7`, at most 40 characters."""
    words: Mapping[str, Any]
    """The subject and the paragraphs."""


def put(
    session: Session,
    kind: MailKind,
    user_id: int,
    bot: int | None = None,
    *,
    email: str | None = None,
) -> int:
    """Queue an email to a user, sent once this transaction is committed; return its id.

    Each call queues another. Without `email` it goes to the email address that the account has when
    it is sent.
    """
    now = session.now()
    message_id = token_urlsafe(24)
    mail = Mail(
        message_id=message_id,
        kind=kind,
        user_id=user_id,
        bot_id=bot,
        email=email,
        due_at=now,
        created_at=now,
    )
    session.add(mail)
    session.flush()
    return mail.id


def put_news(session: Session, news: News, users: Iterable[int]) -> int:
    """Queue news to users, sent once this transaction is committed; return to how many.

    No user receives the same news twice.
    """
    now = session.now()
    about = {
        "kind": news.kind,
        "news_key": news.key,
        "words": news.words,
        "state": "waiting",
        "attempt": 0,
        "reason": "",
        "due_at": now,
        "created_at": now,
    }
    rows = [{"message_id": token_urlsafe(24), "user_id": user, **about} for user in users]
    new = inserts(session, Mail, rows)
    unseen = (insert.on_conflict_do_nothing().returning(Mail.id) for insert in new)
    return sum(len(session.scalars(insert).all()) for insert in unseen)


def has_mail(session: Session, kind: MailKind, user_id: int, bot: int, since: datetime) -> bool:
    """Return whether an email of a kind about a bot was queued to a user since the given time."""
    same = (Mail.kind == kind, Mail.user_id == user_id, Mail.bot_id == bot)
    query = select(Mail.id).where(*same, Mail.created_at > since).limit(1)
    return session.scalar(query) is not None


def due(session: Session) -> Sequence[int]:
    """Return the ids of emails that may be sent now, up to one batch.

    News comes last, so that emails with links do not wait behind it.
    """
    waiting = select(Mail.id).where(Mail.state == "waiting", Mail.due_at <= session.now())
    in_order = waiting.order_by(Mail.news_key.is_not(None), Mail.due_at)
    return session.scalars(in_order.limit(AT_ONCE)).all()


def claim(session: Session, mail_id: int) -> Claim | None:
    """Claim an email to send it; return None if it is not due, or already claimed.

    Of concurrent callers, at most one succeeds. A sender that does not report within the lease
    loses the email, which is dead after the last attempt.
    """
    now = session.now()
    row = session.execute(
        update(Mail)
        .where(Mail.id == mail_id, Mail.state == "waiting", Mail.due_at <= now)
        .values(attempt=Mail.attempt + 1, due_at=now + LEASE)
        .returning(Mail)
    ).scalar_one_or_none()
    if row is None:
        return None
    claim = Claim(
        mail_id,
        row.attempt,
        row.message_id,
        cast(MailKind, row.kind),
        row.user_id,
        row.bot_id,
        row.email,
        row.words,
    )
    if claim.attempt > ATTEMPTS:
        end(session, claim, "dead", "the process that was sending it has ended")
        return None
    return claim


def end(session: Session, claim: Claim, state: MailState, reason: str = "") -> bool:
    """Record the result of sending an email; return False if the claim is no longer valid."""
    # A dead email may be sent again; for others the email address and text are no longer needed.
    erased = {} if state == "dead" else {"email": None, "words": None}
    is_mine = _set(session, claim, state=state, reason=reason, ended_at=session.now(), **erased)
    if is_mine and state == "sent":
        heartbeats.add_now(session, heartbeats.MAILS_SENT)
    return is_mine


def fail(session: Session, claim: Claim, reason: str) -> bool:
    """Record a failed attempt to send an email; retry after growing pauses, or mark it as dead.

    Returns whether it is dead.
    """
    heartbeats.add_now(session, heartbeats.MAILS_FAILED)
    if claim.attempt >= ATTEMPTS:
        end(session, claim, "dead", reason)
        return True
    pause = timedelta(minutes=PAUSES[claim.attempt - 1])
    _set(session, claim, due_at=session.now() + pause, reason=reason)
    return False


def _set(session: Session, claim: Claim, **values: Any) -> bool:
    is_mine = (Mail.id == claim.mail_id, Mail.state == "waiting", Mail.attempt == claim.attempt)
    change = update(Mail).where(*is_mine).values(**values).returning(Mail.id)
    return session.execute(change).one_or_none() is not None


def numbers(session: Session) -> dict[str, int]:
    """Return how many emails are waiting, and how many are dead."""
    query = select(Mail.state, func.count()).where(Mail.state.in_(("waiting", "dead")))
    return {"waiting": 0, "dead": 0, **dict(session.execute(query.group_by(Mail.state)).all())}


def send_again(session: Session, mail_id: int) -> bool:
    """Put a dead email back into the queue; return False if it is not dead."""
    is_dead = (Mail.id == mail_id, Mail.state == "dead")
    values = {"state": "waiting", "attempt": 0, "due_at": session.now(), "ended_at": None}
    change = update(Mail).where(*is_dead).values(**values).returning(Mail.id)
    return session.execute(change).one_or_none() is not None


def drop_of(session: Session, kind: MailKind, user_id: int) -> None:
    """Drop a user's waiting emails of a kind. Idempotent."""
    waiting = (Mail.kind == kind, Mail.user_id == user_id, Mail.state == "waiting")
    values = {"state": "dropped", "email": None, "ended_at": session.now()}
    session.execute(
        update(Mail).where(*waiting).values(reason="the recipient no longer wants it", **values)
    )


def drop_waiting(session: Session) -> None:
    """Drop all waiting emails, as a restored backup is out of date. Idempotent."""
    values = {"state": "dropped", "reason": "restored from a backup", "ended_at": session.now()}
    session.execute(update(Mail).where(Mail.state == "waiting").values(**values))


def sweep(session: Session) -> None:
    """Delete emails whose sending ended long ago. Idempotent."""
    now = session.now()
    ended = Mail.ended_at <= now - RETENTION
    session.execute(delete(Mail).where(Mail.state.in_(("sent", "dropped")), ended))
    session.execute(delete(Mail).where(Mail.state == "dead", Mail.ended_at <= now - DEAD_RETENTION))


DAY: Final = timedelta(days=1)

MOST_OF_A_KIND: Final = 3
MOST: Final = 5
"""Maximum number of requested emails to one recipient per day: of one kind, and in total."""

MOST_NEWS: Final[Mapping[MailKind, int]] = {"inactive": 3, "announce": 10}
"""Maximum number of news emails to one recipient per day, by kind."""


def key_of(secret: str, email: str) -> str:
    """Return the digest under which emails to an email address, in ASCII, are counted.

    Addresses that differ only in case, or in what follows a `+`, count as one, because they belong
    to the same user.
    """
    mailbox, _, domain = email.lower().rpartition("@")
    mailbox = mailbox.partition("+")[0] or mailbox
    return hmac.new(secret.encode(), f"{mailbox}@{domain}".encode(), "sha256").hexdigest()


def count(session: Session, key: str, kind: MailKind, *, is_confirmed: bool) -> bool:
    """Count an email to a recipient and return True; return False if the quota is used up.

    `is_confirmed` says whether the recipient's account has confirmed the email address. The last
    email of a day, and the last to reset a password, are reserved for such accounts: otherwise
    anyone could register with another user's email address and use up the emails that they need to
    log in again. Concurrent callers cannot exceed the quota.
    """
    now = session.now()
    insert_missing(session, MailCount, [{"address": key, "sent": [], "last_at": now}])
    row = session.scalars(select(MailCount).where(MailCount.address == key).with_for_update()).one()
    recent = [[of, at] for of, at in row.sent if datetime.fromisoformat(at) > now - DAY]
    if not has_room([of for of, _ in recent], kind, reserve=0 if is_confirmed else 1):
        return False
    row.sent = [*recent, [kind, now.isoformat()]]
    row.last_at = now
    return True


def has_room(sent: Sequence[str], kind: MailKind, reserve: int) -> bool:
    """Return whether one more email of a kind fits into the quota of a day.

    News is counted separately, so as not to block emails that users need to log in again.
    """
    of_kind = sent.count(kind)
    if kind in MOST_NEWS:
        return of_kind < MOST_NEWS[kind]
    asked_for = sum(of not in MOST_NEWS for of in sent)
    most_of_kind = MOST_OF_A_KIND - (reserve if kind == "reset" else 0)
    return asked_for < MOST - reserve and of_kind < most_of_kind


def take_back(session: Session, key: str, kind: MailKind) -> None:
    """Uncount the latest email of a kind, which could not be sent; ignored if none is counted."""
    query = select(MailCount).where(MailCount.address == key).with_for_update()
    row = session.scalars(query).one_or_none()
    places = [place for place, (of, _) in enumerate(row.sent) if of == kind] if row else []
    if row and places:
        row.sent = [pair for place, pair in enumerate(row.sent) if place != places[-1]]


NEWS: Final[tuple[NewsKind, ...]] = get_args(NewsKind)


@dataclass(frozen=True, slots=True)
class MailFilter:
    """A user's setting for news of one kind."""

    column: InstrumentedAttribute[bool]
    """The column that stores whether the emails are wanted."""
    about: str
    """What the emails are about, as it follows the word `mails`."""


CHOICES: Final[Mapping[NewsKind, MailFilter]] = {
    "inactive": MailFilter(User.bot_mails, about="about your bots"),
    "announce": MailFilter(User.host_mails, about="from the hosts of your tournaments"),
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """News of one kind to one user."""

    user_id: int
    kind: NewsKind


def is_news(kind: MailKind) -> TypeGuard[NewsKind]:
    """Return whether a kind of email is news, which can be turned off."""
    return kind in NEWS


def wants(session: Session, user_id: int, kind: NewsKind) -> bool:
    """Return whether a user wants news of a kind."""
    query = select(User.id).where(User.id == user_id, CHOICES[kind].column)
    return session.scalar(query) is not None


def turn_off(session: Session, subscription: Subscription) -> None:
    """Turn off news of a kind for a user. Idempotent; ignored if the user was deleted."""
    choice = CHOICES[subscription.kind]
    is_theirs = (User.id == subscription.user_id, User.deleted_at.is_(None))
    session.execute(update(User).where(*is_theirs).values({choice.column: False}))


def ticket_of(secret_key: str, subscription: Subscription) -> str:
    """Return the ticket of an unsubscribe link: signed, and valid forever."""
    value = [subscription.user_id, subscription.kind]
    return signer(secret_key).dumps(value)


def read_ticket(secret_key: str, ticket: str) -> Subscription | None:
    """Return what an unsubscribe link turns off, or None if this site did not issue it."""
    try:
        user_id, kind = signer(secret_key).loads(ticket)
    except BadSignature:
        return None
    return Subscription(user_id, kind) if kind in NEWS else None


def signer(secret_key: str) -> URLSafeSerializer:
    """Return the signer of the unsubscribe links."""
    return URLSafeSerializer(secret_key, salt="news")


SUBJECTS: Final = {
    "reset": "Reset password",
    "verify": "Confirm your email address",
    "email": "Confirm your new email address",
}
REASONS: Final = {
    "reset": "You requested to change your {site} password. To reset your password, please"
    " click the following link:",
    "verify": "To confirm your email address, please click the following link:",
    "email": "To use this email address for your {site} account from now on, please click the"
    " following link:",
}

HELP: Final = "If you keep having problems, just reply to this e-mail and we'll be happy to help."

MOVING: Final = (
    "Someone logged in to your {site} account asked to change its email address. The new "
    "address will replace this one once it is confirmed.",
    "If this was you, you can ignore this email. If not, change your password now to cancel the "
    "change:",
    "{address}/settings",
)

GITHUB: Final = (
    "Someone logged in to your {site} account connected it to GitHub, or disconnected it.",
    "If this was you, you can ignore this email. If not, change your password now and disconnect "
    "GitHub if it is connected; changing the password does not disconnect it:",
    "{address}/settings",
)

INACTIVE: Final = (
    "Your bot {name} is inactive: it could not be reached three times in a row. The last error: "
    "{reason}",
    "Start it again, and check that its address is right. Then press Test now on its page:",
    "{link}",
    "We also check it from time to time; it plays again once it answers.",
)

TURN_OFF: Final = "To stop emails {about}: {link}"


@dataclass(frozen=True, slots=True)
class Words:
    """The subject and the paragraphs of an email."""

    subject: str
    paragraphs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the subject and paragraphs as JSON, to be stored with a waiting email."""
        return {"subject": self.subject, "paragraphs": list(self.paragraphs)}


def stored(words: Mapping[str, Any]) -> Words:
    """Return the subject and paragraphs stored with an email."""
    return Words(words["subject"], tuple(words["paragraphs"]))


@dataclass(frozen=True, slots=True)
class Letter:
    """An email to a user."""

    to: str
    username: str
    kind: MailKind
    words: Words
    message_id: str
    site: str
    """The site's name in the signature."""
    turns_off: str = ""
    """The link that turns off such emails, or "" if they cannot be turned off."""

    def body(self) -> str:
        """Return the text of the email."""
        ending = ("Best,", f"The {self.site} Team.\n")
        paragraphs = (*self.words.paragraphs, *self.way_out())
        return "\n\n".join((f"Hi {self.username},", *paragraphs, *ending))

    def way_out(self) -> Iterator[str]:
        """Yield the paragraph that explains how to turn off such emails, if possible."""
        if is_news(self.kind):
            about = CHOICES[self.kind].about
            yield TURN_OFF.format(about=about, link=self.turns_off)


def with_link(kind: MailKind, link: str, site: str) -> Words:
    """Return the subject and text of an email with a ticket link."""
    return Words(SUBJECTS[kind], (REASONS[kind].format(site=site), link, HELP))


def about_move(settings: HubSettings) -> Words:
    """Return the email saying that another email address is to replace this one."""
    facts = {"site": settings.signed_by, "address": settings.address}
    return Words(
        "Your email address is about to change", tuple(text.format(**facts) for text in MOVING)
    )


def about_github(settings: HubSettings) -> Words:
    """Return the email saying that GitHub was connected or disconnected."""
    facts = {"site": settings.signed_by, "address": settings.address}
    return Words("Log-in with GitHub has changed", tuple(text.format(**facts) for text in GITHUB))


def about_bot(session: Session, settings: HubSettings, claim: Claim) -> Words | None:
    """Return the email saying that a bot is inactive, or None if it no longer is."""
    row = session.execute(
        select(Bot.name, Bot.game, Bot.reason)
        .where(Bot.id == claim.bot_id, Bot.user_id == claim.user_id)
        .where(Bot.status == "INACTIVE")
    ).one_or_none()
    if row is None:
        return None
    facts = {
        "name": row.name,
        "reason": row.reason,
        "link": f"{settings.address}/bot/{row.name}?game={row.game}",
    }
    return Words(
        f"Your bot {row.name} is inactive", tuple(text.format(**facts) for text in INACTIVE)
    )
