"""The audit as read by admins: who did what to whom, with readable names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from cw_hub.accounts.people import username_key
from cw_hub.bots.views import name_key
from cw_hub.site.admin.lists import Page, page_of
from cw_hub.store.tables import Audit, Bot, User

LAST: Final = 8
"""Lines on the first page."""

LONGEST_DETAIL: Final = 300
"""Maximum length of an action's details, in characters."""


@dataclass(frozen=True, slots=True)
class LogChoice:
    """A filter for lines of the log, by parts of their text; "" matches all."""

    who: str = ""
    verb: str = ""
    of: str = ""
    """Part of the object, or the name of a person or a bot."""

    @property
    def narrows(self) -> bool:
        """Whether it excludes any lines."""
        return self != LogChoice()


@dataclass(frozen=True, slots=True)
class Line:
    """An audited action."""

    at: datetime
    actor: str
    verb: str
    object: str
    """As stored in the log, such as `user:7`."""
    name: str
    """The name of the person or bot it is about; "" for anything else, and if deleted."""
    detail: str


def log(session: Session, choice: LogChoice, number: int) -> Page[Line]:
    """Return a page of actions, the latest first, in three statements."""
    query = select(Audit)
    for column, text in ((Audit.actor, choice.who), (Audit.verb, choice.verb)):
        if text:
            query = query.where(func.lower(column).contains(text.lower(), autoescape=True))
    if choice.of:
        contained = func.lower(Audit.object).contains(choice.of.lower(), autoescape=True)
        query = query.where(or_(contained, Audit.object.in_(objects_named(session, choice.of))))
    page: Page[Audit] = page_of(session, ordered(query), number, lambda row: row[0])
    return Page(lines(session, page.rows), page.number, page.has_more)


def latest(session: Session) -> Sequence[Line]:
    """Return the latest actions."""
    return lines(session, session.scalars(ordered(select(Audit)).limit(LAST)).all())


def ordered(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Return a query with the latest line first."""
    return query.order_by(Audit.id.desc())


def objects_named(session: Session, name: str) -> list[str]:
    """Return the log objects with a name: a person, and bots of any game."""
    people = select(User.id).where(User.username_key == username_key(name), User.username_key != "")
    bots = select(Bot.bot_id).where(Bot.name_key == name_key(name)).limit(LAST)
    return [
        *(f"user:{row}" for row in session.scalars(people)),
        *(f"bot:{row}" for row in session.scalars(bots)),
    ]


def lines(session: Session, rows: Sequence[Audit]) -> list[Line]:
    """Return actions with the names of their objects, in two statements."""
    names = names_of(session, [row.object for row in rows])
    return [
        Line(
            row.at,
            row.actor,
            row.verb,
            row.object,
            names.get(row.object, ""),
            words_of(row.detail),
        )
        for row in rows
    ]


def names_of(session: Session, objects: Sequence[str]) -> dict[str, str]:
    """Return the names of people and bots by their log objects."""
    parts = [one.partition(":")[::2] for one in objects]
    users = {int(key) for kind, key in parts if kind == "user" and key.isdecimal()}
    bots = {key for kind, key in parts if kind == "bot"}
    people = select(User.id, User.username).where(User.id.in_(users))
    programs = select(Bot.bot_id, Bot.name).where(Bot.bot_id.in_(bots))
    names = {f"user:{key}": name or "" for key, name in session.execute(people)}
    return names | {f"bot:{key}": name for key, name in session.execute(programs)}


def words_of(detail: Mapping[str, Any]) -> str:
    """Return the details of an action in a line: `SUSPENDED to PENDING, reason: floods us`."""
    others = {key: value for key, value in detail.items() if value not in ("", None)}
    change = ""
    if {"from", "to"} <= others.keys():
        change = f"{others.pop('from')} to {others.pop('to')}"
    words = [change, *(f"{key}: {plain(value)}" for key, value in others.items())]
    return ", ".join(filter(None, words))[:LONGEST_DETAIL]


def plain(value: Any) -> str:
    """Return a JSON value in readable form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(plain, value)) if isinstance(value, list) else str(value)
