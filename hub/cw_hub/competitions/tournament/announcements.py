"""Announcements by hosts: shown above all tournament pages, and emailed to team members."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, TypeAlias

from sqlalchemy import exists, select

from cw.errors import UsageError
from cw_hub.accounts import audit, mail
from cw_hub.accounts.mail import CHOICES, News, Words
from cw_hub.competitions.service import lock
from cw_hub.competitions.tournament.events import NewEvent, add_event
from cw_hub.competitions.tournament.people import problem_of
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Entry, Event, Team, TeamMember, User

Audience: TypeAlias = Literal["all", "no bot"]
"""The recipients: all team members, or only those whose team has no working bot."""

MOST_IN_AN_HOUR: Final = 3
"""Maximum number of a tournament's announcements sent by email per hour."""

MOST_PEOPLE: Final = 5000
HOUR: Final = timedelta(hours=1)

SENT_TO: Final[dict[Audience, str]] = {
    "all": "to everybody in a team",
    "no bot": "to teams without a bot that works",
}
TOO_MANY: Final = (
    f"A tournament mails at most {MOST_IN_AN_HOUR} announcements an hour: show "
    "this one only on the pages, or wait"
)
SENT_ALREADY: Final = "This was mailed within the last hour already"
TOO_MANY_PEOPLE: Final = f"More than {MOST_PEOPLE:,} people would get a mail"


@dataclass(frozen=True, slots=True)
class Announcement:
    """An announcement by a tournament's host."""

    title: str
    text: str = ""
    audience: Audience | None = None
    """Who gets an email; None: no one."""


def announce(
    session: Session,
    competition: int,
    new: Announcement,
    *,
    address: str,
) -> int | None:
    """Publish an announcement now; return the number of emails, or None if none was requested.

    `address` is the site's URL. Raises UsageError if the text is invalid, and for emails to too
    many users, too often, or repeating an announcement of the last hour.
    """
    row = lock(session, competition)
    if new.audience:
        check_bounds(session, competition, new)
    note = NewEvent("note", session.now(), new.title, new.text, announced=True)
    event_id = add_event(session, competition, note, is_late=True)
    if not new.audience:
        return None
    event = session.get_one(Event, event_id)
    number = put_mails(session, event, new.audience, words_of(row, event, new.audience, address))
    event.data = detail = {"mailed": new.audience, "people": number}
    subject = f"event:{row.slug}/{event_id}"
    audit.note(session, "mail event", subject, detail=detail, competition_id=row.id)
    return number


def put_mails(session: Session, event: Event, audience: Audience, words: Words) -> int:
    """Enqueue the emails about an event; return their number. Raises UsageError if too many."""
    people = recipients(session, event.competition_id, audience)
    if len(people) > MOST_PEOPLE:
        raise UsageError(TOO_MANY_PEOPLE)
    news = News("announce", f"event:{event.id}", words.to_json())
    return mail.put_news(session, news, people)


def check_bounds(session: Session, competition: int, new: Announcement) -> None:
    """Raise UsageError if this was emailed within the hour, or the hourly limit is reached."""
    recent = (
        Event.competition_id == competition,
        Event.at > session.now() - HOUR,
        Event.kind == "note",
    )
    mailed = [event for event in session.scalars(select(Event).where(*recent)) if event.data]
    if any((event.title, event.text) == (new.title, new.text) for event in mailed):
        raise UsageError(SENT_ALREADY)
    if len(mailed) >= MOST_IN_AN_HOUR:
        raise UsageError(TOO_MANY)


def recipients(session: Session, competition: int, audience: Audience) -> list[int]:
    """Return the user ids of members with a confirmed email address who have not opted out."""
    plays = exists().where(Entry.team_id == Team.id, Entry.status.in_(("playing", "waiting")))
    reachable = (
        User.email_verified_at.is_not(None),
        User.locked_at.is_(None),
        User.deleted_at.is_(None),
        CHOICES["announce"].column,
    )
    rows = session.execute(
        select(TeamMember.user_id, Bot)
        .join(Team, Team.id == TeamMember.team_id)
        .join(Bot, Bot.team_id == Team.id)
        .join(User, User.id == TeamMember.user_id)
        .where(TeamMember.competition_id == competition, Team.removed_at.is_(None), plays)
        .where(*reachable)
        .order_by(TeamMember.user_id)
    )
    return [user for user, bot in rows if audience == "all" or problem_of(bot)]


def words_of(row: Competition, event: Event, audience: Audience, address: str) -> Words:
    """Return the text of the email."""
    why = f"The host of {row.title} sends this {SENT_TO[audience]}:"
    texts = (event.title, event.text, why, f"{address}/t/{row.slug}/")
    return Words(f"{row.title}: {event.title}", tuple(text for text in texts if text))
