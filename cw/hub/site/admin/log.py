"""The audit as admins read it: who did what to whom, by the names that people know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from cw.hub.accounts.people import username_key
from cw.hub.bots.views import name_key
from cw.hub.site.admin.lists import Page, page_of
from cw.hub.store.tables import Audit, Bot, User

LAST: Final = 8
"""Lines on the first page."""

LONGEST_DETAIL: Final = 300
"""Characters of what is said beside an act."""


@dataclass(frozen=True, slots=True)
class LogChoice:
    """Which lines of the log are wanted, by parts of what they say; "": all."""

    who: str = ""
    verb: str = ""
    of: str = ""
    """Part of the object, or the name of a person or a bot."""

    @property
    def narrows(self) -> bool:
        """Whether some lines are not wanted."""
        return self != LogChoice()


@dataclass(frozen=True, slots=True)
class Line:
    """An act."""

    at: datetime
    actor: str
    verb: str
    object: str
    """As the log has it, such as `user:7`."""
    name: str
    """Of the person or the bot that it is about; "" for anything else, and for who is gone."""
    detail: str


def log(session: Session, choice: LogChoice, number: int) -> Page[Line]:
    """Return a page of what was done, the latest first: three statements."""
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
    """Return what was done last."""
    return lines(session, session.scalars(ordered(select(Audit)).limit(LAST)).all())


def ordered(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Return a query with the latest line first."""
    return query.order_by(Audit.id.desc())


def objects_named(session: Session, name: str) -> list[str]:
    """Return the objects of the log that bear a name: a person, and bots of any game."""
    people = select(User.id).where(User.username_key == username_key(name), User.username_key != "")
    bots = select(Bot.bot_id).where(Bot.name_key == name_key(name)).limit(LAST)
    return [
        *(f"user:{row}" for row in session.scalars(people)),
        *(f"bot:{row}" for row in session.scalars(bots)),
    ]


def lines(session: Session, rows: Sequence[Audit]) -> list[Line]:
    """Return acts with the names of what they are about, in two statements."""
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
    """Return the names of people and bots, by what the log calls them."""
    parts = [one.partition(":")[::2] for one in objects]
    users = {int(key) for kind, key in parts if kind == "user" and key.isdecimal()}
    bots = {key for kind, key in parts if kind == "bot"}
    people = select(User.id, User.username).where(User.id.in_(users))
    programs = select(Bot.bot_id, Bot.name).where(Bot.bot_id.in_(bots))
    names = {f"user:{key}": name or "" for key, name in session.execute(people)}
    return names | {f"bot:{key}": name for key, name in session.execute(programs)}


def words_of(detail: Mapping[str, Any]) -> str:
    """Return what is said beside an act in a line: `SUSPENDED to PENDING, reason: floods us`."""
    others = {key: value for key, value in detail.items() if value not in ("", None)}
    change = ""
    if {"from", "to"} <= others.keys():
        change = f"{others.pop('from')} to {others.pop('to')}"
    words = [change, *(f"{key}: {value}" for key, value in others.items())]
    return ", ".join(filter(None, words))[:LONGEST_DETAIL]
