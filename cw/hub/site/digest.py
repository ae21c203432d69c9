"""Digests by mail, to those who chose them: the formats' news of a day or a week."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy.orm import Session

from cw.hub.accounts.mails import outbox
from cw.hub.accounts.mails.letters import Words
from cw.hub.accounts.mails.outbox import News
from cw.hub.accounts.news import digests
from cw.hub.accounts.news.digests import Period
from cw.hub.competitions.format import Format
from cw.hub.operation.resources import Resources

INTRODUCTION: Final = "This has happened since {since:%Y-%m-%d %H:%M} UTC."


def put_due(resources: Resources, formats: Sequence[Format]) -> None:
    """Queue the due digests, each in a transaction. Idempotent, also for concurrent callers."""
    with resources.database.reading() as session:
        users = digests.due(session, resources.clock)
    for user_id in users:
        with resources.database.writing() as session:
            put(session, resources, formats, user_id)


def put(session: Session, resources: Resources, formats: Sequence[Format], user_id: int) -> None:
    """Queue the due digest of a user, unless there is no news."""
    period = digests.take(session, resources.clock, user_id)
    if period is None:
        return
    address = resources.settings.address
    sources = [format_.digest for format_ in formats if format_.digest is not None]
    paragraphs = [text for source in sources for text in source(session, address, user_id, period)]
    if paragraphs:
        words = words_of(paragraphs, period, resources.settings.signed_by)
        news = News("digest", f"digest:{period.until:%Y-%m-%d}", words.to_json())
        outbox.put_news(session, resources.clock, news, [user_id])


def words_of(paragraphs: Sequence[str], period: Period, site: str) -> Words:
    """Return the subject and text of a digest."""
    subject = f"{site}: your digest of {period.until:%Y-%m-%d}"
    return Words(subject, (INTRODUCTION.format(since=period.since), *paragraphs))
