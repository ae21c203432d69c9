"""Queries behind the admin pages: problems and metrics of the site, audit log, paginated lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Row, Select, func, or_, select

from cw_hub.accounts.service import username_key
from cw_hub.bots.service import name_key
from cw_hub.operation import heartbeats
from cw_hub.operation.heartbeats import Beat
from cw_hub.site import figures
from cw_hub.site.figures import Present
from cw_hub.store.database import Session
from cw_hub.store.models import Audit, Bot, Comparison, Competition, User

OLD: Final = timedelta(hours=26)
"""Maximum age of the last backup, as in the alert."""

LONG: Final = timedelta(minutes=10)
"""Maximum time for a match to wait for a worker."""

SLOW: Final = timedelta(days=1)
"""Maximum duration of a comparison."""

LEAST_FREE: Final = 0.1
"""Share of a disk that should be free."""

SOON: Final = timedelta(days=14)
"""How long before it expires a certificate should be renewed."""

WEEK: Final = timedelta(days=7)

NO_TICK: Final = (
    "No scheduler is running: nothing is planned, checked, mailed or backed up."
    " Start one: cw hub scheduler"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of the site."""

    sentence: str
    page: str
    """The endpoint of the page with details or actions."""
    since: datetime | None = None
    """When the problem arose, if known."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The number of comparisons that take too long, and when the first of them was created."""

    number: int
    first: datetime | None


@dataclass(frozen=True, slots=True)
class Service:
    """The status of the site."""

    present: Present
    silent: Sequence[Beat]
    slow: Slow
    running: int
    """Competitions that are running."""
    people: int
    new_people: int
    """Users who registered within a week."""


def service(session: Session) -> Service:
    """Return the status of the site; the number of statements does not depend on its size."""
    now = session.now()
    people = select(func.count(), func.count().filter(User.created_at > now - WEEK))
    total, new = session.execute(people.where(User.deleted_at.is_(None))).one()
    slow = select(func.count(), func.min(Comparison.created_at)).where(
        Comparison.state == "running", Comparison.created_at < now - SLOW
    )
    running = select(func.count()).where(Competition.state == "running")
    return Service(
        figures.present(session),
        heartbeats.silent(session),
        Slow(*session.execute(slow).one()),
        session.scalars(running).one(),
        total,
        new,
    )


def problems(service: Service, now: datetime, *, copies: bool) -> list[Problem]:
    """Return the problems, worst first; `copies`: whether backups should be copied elsewhere."""
    return [
        *of_processes(service, now),
        *of_backups(service.present, now, copies=copies),
        *of_matches(service, now),
        *of_others(service.present, now),
    ]


def of_processes(service: Service, now: datetime) -> Iterator[Problem]:
    """Yield problems of processes: no ticks, a role without a process, a nearly full disk."""
    present, page = service.present, "admin_matches.page"
    last = noted(present, heartbeats.TICK, now)
    if last is None or now - last > heartbeats.TICKING:
        yield Problem(NO_TICK, page, last)
    living = {beat.role for beat in present.processes}
    latest = {beat.role: beat.seen_at for beat in reversed(service.silent)}
    for role, seen_at in latest.items():
        if role not in living:
            yield Problem(f"No process in the role {role} is running any more.", page, seen_at)
    for beat in present.processes:
        if beat.figures.disk_free_bytes < LEAST_FREE * beat.figures.disk_bytes:
            words = f"The disk of {beat.process} ({beat.role}) is nearly full."
            yield Problem(words, page, beat.seen_at)


def of_backups(present: Present, now: datetime, *, copies: bool) -> Iterator[Problem]:
    """Yield problems of backups."""
    wanted = {heartbeats.BACKUP: "back-up"} | (
        {heartbeats.COPY: "copy elsewhere"} if copies else {}
    )
    for name, words in wanted.items():
        last = noted(present, name, now)
        if last is None:
            yield Problem(f"No {words} has been made yet.", "admin_matches.page")
        elif now - last > OLD:
            yield Problem(f"The last {words} is too old.", "admin_matches.page", last)


def of_matches(service: Service, now: datetime) -> Iterator[Problem]:
    """Yield problems of matches: failures, long waits, slow comparisons."""
    present, page = service.present, "admin_matches.page"
    if failed := present.matches["failed"]:
        words = f"{counted(failed, 'match has', 'matches have')} failed"
        yield Problem(f"{words}: five attempts ended by an error of the site.", page)
    if present.queued and not present.workers:
        yield Problem(
            "Matches are waiting, and no worker is running. Start one: cw hub worker", page
        )
    elif present.waiting > LONG.total_seconds():
        since = now - timedelta(seconds=present.waiting)
        yield Problem("Matches have been waiting too long: start more workers.", page, since)
    if service.slow.number:
        words = counted(service.slow.number, "comparison has", "comparisons have")
        yield Problem(f"{words} been running for more than a day.", page, service.slow.first)


def of_others(present: Present, now: datetime) -> Iterator[Problem]:
    """Yield problems of emails, bots and the certificate."""
    if dead := present.mails["dead"]:
        yield Problem(f"{counted(dead, 'mail', 'mails')} could not be sent.", "admin_mails.page")
    if present.failing > max(1, 0.5 * present.bots["ACTIVE"]):
        words = f"{counted(present.failing, 'bot fails', 'bots fail')} at once: does the site"
        yield Problem(f"{words} reach the network where they are?", "admin_bots.page")
    end = noted(present, heartbeats.CERTIFICATE, now)
    if end is not None and end - now < SOON:
        yield Problem("The certificate of the site expires soon.", "admin.page", end)


def noted(present: Present, name: str, now: datetime) -> datetime | None:
    """Return a recorded time by name, or None."""
    age = present.ages.get(name)
    return None if age is None else now - timedelta(seconds=age)


def counted(number: int, one: str, several: str) -> str:
    """Return a number with the singular or plural noun."""
    return f"{number} {one if number == 1 else several}"


T = TypeVar("T")

PER_PAGE: Final = 50
"""Number of rows per page."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list, numbered from 1."""

    rows: Sequence[T]
    number: int
    has_more: bool


def page_of(
    session: Session,
    query: Select[*tuple[Any, ...]],
    number: int,
    row_of: Callable[[Row[*tuple[Any, ...]]], T],
) -> Page[T]:
    """Return a page of a query's results, in one statement; `row_of` converts each row."""
    first = (number - 1) * PER_PAGE
    rows = session.execute(query.limit(PER_PAGE + 1).offset(first)).all()
    return Page([row_of(row) for row in rows[:PER_PAGE]], number, len(rows) > PER_PAGE)


LAST: Final = 8
"""Number of log lines on the first page of the admin area."""

LONGEST_DETAIL: Final = 300
"""Maximum length of an action's details, in characters."""


@dataclass(frozen=True, slots=True)
class LogChoice:
    """A filter for log lines, by parts of their text; "" matches all."""

    who: str = ""
    verb: str = ""
    of: str = ""
    """Part of the object, or the name of a user or a bot."""

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
    """The name of the user or bot concerned; "" for anything else, and if deleted."""
    detail: str


def log(session: Session, choice: LogChoice, number: int) -> Page[Line]:
    """Return a page of audited actions, the latest first, in three statements."""
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
    """Return the log objects with a name: a user, and bots of any game."""
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
    """Return the names of users and bots by their log objects."""
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
