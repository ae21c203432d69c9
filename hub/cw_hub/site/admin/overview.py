"""The problems and metrics of the site on the first page of the admin area."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select

from cw_hub.operation import heartbeats
from cw_hub.operation.heartbeats import Beat
from cw_hub.site import figures
from cw_hub.site.figures import Present
from cw_hub.store.database import Session
from cw_hub.store.models import Comparison, Competition, User

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
class Service:
    """The status of the site."""

    present: Present
    silent: Sequence[Beat]
    slow: int
    """Comparisons that take too long."""
    slow_since: datetime | None
    """When the first of them was created."""
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
        *session.execute(slow).one(),
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
    present, page = service.present, "admin.matches"
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
            yield Problem(f"No {words} has been made yet.", "admin.matches")
        elif now - last > OLD:
            yield Problem(f"The last {words} is too old.", "admin.matches", last)


def of_matches(service: Service, now: datetime) -> Iterator[Problem]:
    """Yield problems of matches: failures, long waits, slow comparisons."""
    present, page = service.present, "admin.matches"
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
    if service.slow:
        words = counted(service.slow, "comparison has", "comparisons have")
        yield Problem(f"{words} been running for more than a day.", page, service.slow_since)


def of_others(present: Present, now: datetime) -> Iterator[Problem]:
    """Yield problems of emails, bots and the certificate."""
    if dead := present.mails["dead"]:
        yield Problem(f"{counted(dead, 'mail', 'mails')} could not be sent.", "admin.mails")
    if present.failing > max(1, 0.5 * present.bots["ACTIVE"]):
        words = f"{counted(present.failing, 'bot fails', 'bots fail')} at once: does the site"
        yield Problem(f"{words} reach the network where they are?", "admin.bots")
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
