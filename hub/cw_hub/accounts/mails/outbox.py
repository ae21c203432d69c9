"""The outbox: mails stored as rows, claimed by senders, and kept if they cannot be sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Final, Literal, TypeAlias, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.operation.health import counts
from cw_hub.store.tables import Mail, MailState
from cw_hub.store.upsert import inserts

NewsKind: TypeAlias = Literal["inactive", "announce"]
"""News of a bot that cannot be reached, and announcements of the host of a tournament."""

MailKind: TypeAlias = Literal["reset", "verify", "email", "moving", "github"] | NewsKind
"""Mails to reset a password, to confirm the address or a new one, to warn of a change of address,
to report that GitHub was connected or disconnected; and news.
"""

PAUSES: Final = (1, 4, 16, 64)
"""Minutes between attempts to send a mail."""

ATTEMPTS: Final = len(PAUSES) + 1
"""How often a mail is tried before it counts as dead."""

LEASE: Final = timedelta(minutes=5)
"""How long a sender has a mail to itself: longer than any mail server may take."""

RETENTION: Final = timedelta(days=7)
"""How long sent and dropped mails are remembered."""

DEAD_RETENTION: Final = timedelta(days=30)
"""How long dead mails are kept, in case somebody sends them again."""

AT_ONCE: Final = 100
"""Mails per query."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A mail claimed by this process, which alone may send it."""

    mail_id: int
    attempt: int
    message_id: str
    kind: MailKind
    user_id: int
    bot_id: int | None = None
    """The row of the bot that the mail is about, if any."""
    email: str | None = None
    """The recipient, if not the address of the account."""
    words: Mapping[str, Any] | None = None
    """The text, if it was fixed when the mail was queued."""


@dataclass(frozen=True, slots=True)
class News:
    """News for several users."""

    kind: NewsKind
    key: str
    """Its unique key, such as `event:7`, at most 40 characters."""
    words: Mapping[str, Any]
    """The subject and the paragraphs."""


def put(  # noqa: PLR0913 - what, about what, and where to
    session: Session,
    clock: Clock,
    kind: MailKind,
    user_id: int,
    bot: int | None = None,
    *,
    email: str | None = None,
) -> int:
    """Queue a mail to a user, sent once this transaction is committed; return its id.

    Each call queues another. Without `email` it goes to the address that the account has when it is
    sent.
    """
    now = clock()
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


def put_news(session: Session, clock: Clock, news: News, users: Iterable[int]) -> int:
    """Queue news to users, sent once this transaction is committed; return to how many.

    Nobody gets the same news twice.
    """
    now = clock()
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
    """Return whether a mail of a kind about a bot was queued to a user since a moment."""
    same = (Mail.kind == kind, Mail.user_id == user_id, Mail.bot_id == bot)
    query = select(Mail.id).where(*same, Mail.created_at > since).limit(1)
    return session.scalar(query) is not None


def due(session: Session, clock: Clock) -> Sequence[int]:
    """Return the ids of mails that may be sent now, up to one batch.

    News comes last, so that mails with links do not wait behind it.
    """
    waiting = select(Mail.id).where(Mail.state == "waiting", Mail.due_at <= clock())
    in_order = waiting.order_by(Mail.news_key.is_not(None), Mail.due_at)
    return session.scalars(in_order.limit(AT_ONCE)).all()


def claim(session: Session, clock: Clock, mail_id: int) -> Claim | None:
    """Claim a mail to send it; None if it is not due, or already claimed.

    Concurrent callers: at most one succeeds. A sender that does not report within the lease loses
    the mail, which is dead after the last attempt.
    """
    now = clock()
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
        end(session, clock, claim, "dead", "the process that was sending it has ended")
        return None
    return claim


def end(session: Session, clock: Clock, claim: Claim, state: MailState, reason: str = "") -> bool:
    """Record the result of a mail; return False if the claim is no longer valid."""
    # A dead mail may be sent again; otherwise its address and text are no longer needed.
    erased = {} if state == "dead" else {"email": None, "words": None}
    is_mine = _set(session, claim, state=state, reason=reason, ended_at=clock(), **erased)
    if is_mine and state == "sent":
        counts.add_now(session, counts.MAILS_SENT)
    return is_mine


def fail(session: Session, clock: Clock, claim: Claim, reason: str) -> bool:
    """Record that a mail could not be sent: it waits longer each time, and finally is dead.

    Returns whether it is dead.
    """
    counts.add_now(session, counts.MAILS_FAILED)
    if claim.attempt >= ATTEMPTS:
        end(session, clock, claim, "dead", reason)
        return True
    pause = timedelta(minutes=PAUSES[claim.attempt - 1])
    _set(session, claim, due_at=clock() + pause, reason=reason)
    return False


def _set(session: Session, claim: Claim, **values: Any) -> bool:
    is_mine = (Mail.id == claim.mail_id, Mail.state == "waiting", Mail.attempt == claim.attempt)
    change = update(Mail).where(*is_mine).values(**values).returning(Mail.id)
    return session.execute(change).one_or_none() is not None


def numbers(session: Session) -> dict[str, int]:
    """Return how many mails are waiting, and how many are dead."""
    query = select(Mail.state, func.count()).where(Mail.state.in_(("waiting", "dead")))
    return {"waiting": 0, "dead": 0, **dict(session.execute(query.group_by(Mail.state)).all())}


def send_again(session: Session, clock: Clock, mail_id: int) -> bool:
    """Put a dead mail back into the queue; return False if it is not dead."""
    is_dead = (Mail.id == mail_id, Mail.state == "dead")
    values = {"state": "waiting", "attempt": 0, "due_at": clock(), "ended_at": None}
    change = update(Mail).where(*is_dead).values(**values).returning(Mail.id)
    return session.execute(change).one_or_none() is not None


def drop_of(session: Session, clock: Clock, kind: MailKind, user_id: int) -> None:
    """Drop a user's waiting mails of a kind. Idempotent."""
    waiting = (Mail.kind == kind, Mail.user_id == user_id, Mail.state == "waiting")
    values = {"state": "dropped", "email": None, "ended_at": clock()}
    session.execute(
        update(Mail).where(*waiting).values(reason="the recipient no longer wants it", **values)
    )


def drop_waiting(session: Session, clock: Clock) -> None:
    """Drop all waiting mails, as a restored back-up is out of date. Idempotent."""
    values = {"state": "dropped", "reason": "restored from a back-up", "ended_at": clock()}
    session.execute(update(Mail).where(Mail.state == "waiting").values(**values))


def sweep(session: Session, clock: Clock) -> None:
    """Delete mails that ended long ago. Idempotent."""
    now = clock()
    ended = Mail.ended_at <= now - RETENTION
    session.execute(delete(Mail).where(Mail.state.in_(("sent", "dropped")), ended))
    session.execute(delete(Mail).where(Mail.state == "dead", Mail.ended_at <= now - DEAD_RETENTION))
