"""The first admin page: problems of the site, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.operation.health import heartbeats, marks
from cw_hub.operation.health.heartbeats import Beat
from cw_hub.site.monitoring import figures
from cw_hub.site.monitoring.figures import Present
from cw_hub.store.tables import Comparison, Competition, User

OLD: Final = timedelta(hours=26)
"""Maximum age of the last back-up, as in the alert."""

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
    """The comparisons that take too long."""

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
    """People who registered within a week."""


def service(session: Session, clock: Clock) -> Service:
    """Return the status of the site; the number of statements does not depend on its size."""
    now = clock()
    people = select(func.count(), func.count().filter(User.created_at > now - WEEK))
    total, new = session.execute(people.where(User.deleted_at.is_(None))).one()
    slow = select(func.count(), func.min(Comparison.created_at)).where(
        Comparison.state == "running", Comparison.created_at < now - SLOW
    )
    running = select(func.count()).where(Competition.state == "running")
    return Service(
        figures.present(session, clock),
        heartbeats.silent(session, clock),
        Slow(*session.execute(slow).one()),
        session.scalars(running).one(),
        total,
        new,
    )


def problems(service: Service, now: datetime, *, copies: bool) -> list[Problem]:
    """Return the problems, the worst first; `copies`: back-ups should be copied elsewhere."""
    return [
        *of_processes(service, now),
        *of_backups(service.present, now, copies=copies),
        *of_matches(service, now),
        *of_others(service.present, now),
    ]


def of_processes(service: Service, now: datetime) -> Iterator[Problem]:
    """Yield problems of processes: no ticks, a role has ended, a disk is full."""
    present, page = service.present, "admin_matches.page"
    last = noted(present, marks.TICK, now)
    if last is None or now - last > marks.TICKING:
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
    """Yield problems of back-ups."""
    wanted = {marks.BACKUP: "back-up"} | ({marks.COPY: "copy elsewhere"} if copies else {})
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
    """Yield problems of mails, bots and the certificate."""
    if dead := present.mails["dead"]:
        yield Problem(f"{counted(dead, 'mail', 'mails')} could not be sent.", "admin_mails.page")
    if present.failing > max(1, 0.5 * present.bots["ACTIVE"]):
        words = f"{counted(present.failing, 'bot fails', 'bots fail')} at once: does the site"
        yield Problem(f"{words} reach the network where they are?", "admin_bots.page")
    end = noted(present, marks.CERTIFICATE, now)
    if end is not None and end - now < SOON:
        yield Problem("The certificate of the site expires soon.", "admin.page", end)


def noted(present: Present, name: str, now: datetime) -> datetime | None:
    """Return a recorded time by name, or None."""
    age = present.ages.get(name)
    return None if age is None else now - timedelta(seconds=age)


def counted(number: int, one: str, several: str) -> str:
    """Return a number with the singular or plural noun."""
    return f"{number} {one if number == 1 else several}"
