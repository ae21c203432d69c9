"""Limits how many mails an address is sent per day, whoever requests them."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.accounts.mails.outbox import MailKind
from cw_hub.clock import Clock
from cw_hub.store.tables import MailCount
from cw_hub.store.upsert import insert_missing

DAY: Final = timedelta(days=1)

MOST_OF_A_KIND: Final = 3
MOST: Final = 5
"""Maximum number of requested mails to one address per day: of one kind, and in total."""

MOST_NEWS: Final[Mapping[MailKind, int]] = {"inactive": 3, "announce": 10}
"""Maximum number of news mails to one address per day, by kind."""


def key_of(secret: str, email: str) -> str:
    """Return the digest under which mails to an address, in ASCII, are counted.

    Addresses that differ only in case, or in what follows a `+`, count as one: one person reads
    them.
    """
    mailbox, _, domain = email.lower().rpartition("@")
    mailbox = mailbox.partition("+")[0] or mailbox
    return hmac.new(secret.encode(), f"{mailbox}@{domain}".encode(), "sha256").hexdigest()


def count(session: Session, clock: Clock, key: str, kind: MailKind, *, is_confirmed: bool) -> bool:
    """Count a mail to an address and return True; return False if the quota is used up.

    `is_confirmed` says whether the recipient's account has confirmed the address. The last mail of
    a day, and the last to reset a password, are reserved for such accounts: otherwise anybody could
    register with somebody else's address and use up the mails that they need to log in again.
    Concurrent callers cannot exceed the quota.
    """
    now = clock()
    insert_missing(session, MailCount, [{"address": key, "sent": [], "last_at": now}])
    row = session.scalars(select(MailCount).where(MailCount.address == key).with_for_update()).one()
    recent = [[of, at] for of, at in row.sent if datetime.fromisoformat(at) > now - DAY]
    if not has_room([of for of, _ in recent], kind, reserve=0 if is_confirmed else 1):
        return False
    row.sent = [*recent, [kind, now.isoformat()]]
    row.last_at = now
    return True


def has_room(sent: Sequence[str], kind: MailKind, reserve: int) -> bool:
    """Return whether one more mail of a kind fits into the quota of a day.

    News is counted separately, so as not to block mails that people need to log in again.
    """
    of_kind = sent.count(kind)
    if kind in MOST_NEWS:
        return of_kind < MOST_NEWS[kind]
    asked_for = sum(of not in MOST_NEWS for of in sent)
    most_of_kind = MOST_OF_A_KIND - (reserve if kind == "reset" else 0)
    return asked_for < MOST - reserve and of_kind < most_of_kind


def take_back(session: Session, key: str, kind: MailKind) -> None:
    """Uncount the latest mail of a kind, which could not be sent; do nothing if none is counted."""
    query = select(MailCount).where(MailCount.address == key).with_for_update()
    row = session.scalars(query).one_or_none()
    places = [place for place, (of, _) in enumerate(row.sent) if of == kind] if row else []
    if row and places:
        row.sent = [pair for place, pair in enumerate(row.sent) if place != places[-1]]
