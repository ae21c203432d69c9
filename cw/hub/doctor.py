"""Looks at all that a hub needs, and says what is to be done: nothing is made, or mended."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from os import name as system
from pathlib import Path
from secrets import token_hex
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy import make_url

from cw.arena.sandbox import bubblewrap
from cw.errors import Failure
from cw.hub.clock import Clock, utc_now
from cw.hub.jobs.app import CeleryQueue
from cw.hub.jobs.clock_check import MOST
from cw.hub.jobs.mail import spoken_to
from cw.hub.pages.security import has_safe_accounts
from cw.hub.services import keys
from cw.hub.settings import HubSettings, shown
from cw.hub.store.database import Database
from cw.hub.store.migrations import current, head
from cw.hub.store.objects import ObjectStore
from cw.hub.store.replica import PATIENCE
from cw.hub.store.sealing import Sealer

LEAST_FREE: Final = 2**30
"""Bytes that should be free in the data folder."""

LONGEST: Final = 200
"""Characters of what an error says."""

TO_SERVE: Final = "cw hub serve makes it; if the hub is elsewhere, set CW_DATA to its folder"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one thing."""

    name: str
    ok: bool
    needed: bool
    found: str
    advice: str = ""


def examine(settings: HubSettings, clock: Clock = utc_now) -> Iterator[Finding]:
    """Give a finding about each thing; what does not answer is given up after some seconds."""
    yield look_at_settings(settings)
    yield look_at_folder(settings)
    with closing(Database(settings.database)) as database:
        found = tried("database", lambda: look_at_database(settings, database))
        yield found
        if found.ok:
            yield tried("clock", lambda: look_at_clock(database, clock))
    if settings.database_read_url:
        with closing(Database(settings.database_read_url, PATIENCE)) as replica:
            yield tried("read replica", lambda: look_at_replica(replica))
    yield tried("broker", lambda: look_at_broker(settings))
    yield tried("store", lambda: look_at_store(settings))
    yield tried("mail", lambda: look_at_mail(settings))
    yield tried("keys", lambda: look_at_keys(settings))
    if found.ok:
        with closing(Database(settings.database)) as database:
            yield tried("secrets", lambda: look_at_secrets(settings, database))
    yield look_at_sandbox()


def tried(name: str, look: Callable[[], Finding]) -> Finding:
    """Return what was found, or that looking failed; what an error says is cut to a line."""
    try:
        return look()
    except Exception as error:
        said = str(getattr(error, "orig", None) or error).strip().partition("\n")[0][:LONGEST]
        return Finding(name, False, True, said or type(error).__name__, ADVICE.get(name, ""))


ADVICE: Final = {
    "database": "start it, or correct CW_DATABASE_URL",
    "read replica": "start it, or correct CW_DATABASE_READ_URL; the database is read meanwhile",
    "store": "see that it answers and may be written, or correct CW_STORE_URL and AWS_...",
    "mail": "start the mail server, or correct CW_MAIL",
    "keys": "give the files of the keys to the user who runs the hub",
    "secrets": "see that the database answers and has its tables: cw hub db check",
}
"""What to do about what does not answer."""


def look_at_settings(settings: HubSettings) -> Finding:
    """Find what goes wrong with settings of which each is right."""
    count = sum(value != default for _, value, default, _ in shown(settings))
    found = f"{count} set, the site is at {settings.address}"
    advice = ""
    if not has_safe_accounts(settings):
        advice = "accounts are closed without https: set CW_PUBLIC_URL=https://..."
    elif settings.public_url.startswith("https:") and not settings.trusted_proxy:
        advice = "no proxy may say that people come by https: set CW_TRUSTED_PROXY"
    return Finding("settings", not advice, True, found, advice)


def look_at_folder(settings: HubSettings) -> Finding:
    """Find out how much is free where the data folder is, or will be."""
    path = settings.data.absolute()
    place = next(one for one in (path, *path.parents) if one.is_dir())
    free = shutil.disk_usage(place).free
    found = f"{settings.data}, {free / 2**30:.1f} GiB are free"
    return Finding("data folder", free >= LEAST_FREE, True, found, "make room, or move CW_DATA")


def look_at_database(settings: HubSettings, database: Database) -> Finding:
    """Connect, and compare the revision; a file that is not there is not made."""
    path = make_url(settings.database).database
    if settings.is_sqlite and path and not Path(path).is_file():
        return Finding("database", False, True, f"there is no file {path}", TO_SERVE)
    at, needed = current(database), head()
    kind = "SQLite" if settings.is_sqlite else "PostgreSQL"
    if at == needed:
        return Finding("database", True, True, f"{kind} at revision {at}")
    found = f"{kind} at {at or 'nothing'}, this program needs {needed}"
    return Finding("database", False, True, found, "cw hub db upgrade")


def look_at_clock(database: Database, clock: Clock) -> Finding:
    """Compare the clock of this machine with the database's."""
    theirs = database.now()
    if theirs is None:
        return Finding("clock", True, True, "the only one, as the database is a file")
    off = (clock() - theirs).total_seconds()
    advice = "set the clock of this machine (NTP): with more than 5 s it plays nothing"
    return Finding("clock", abs(off) <= MOST, True, f"{off:+.1f} s off the database's", advice)


def look_at_replica(replica: Database) -> Finding:
    """Connect to the read replica, and compare its revision."""
    at, needed = current(replica), head()
    found = f"at {at or 'nothing'}, this program needs {needed}"
    advice = "wait until it has caught up, or correct CW_DATABASE_READ_URL"
    is_fit = at == needed
    return Finding("read replica", is_fit, True, f"at revision {at}" if is_fit else found, advice)


def look_at_broker(settings: HubSettings) -> Finding:
    """Find out whether the broker answers."""
    if settings.is_embedded:
        return Finding("broker", True, True, "within the one process of the hub")
    at = urlsplit(settings.broker_url)
    there = f"{at.hostname}:{at.port or 6379}"
    if CeleryQueue(settings).is_there():
        return Finding("broker", True, True, f"{there} answers")
    advice = "start Redis, or correct CW_BROKER_URL"
    return Finding("broker", False, True, f"{there} does not answer", advice)


def look_at_store(settings: HubSettings) -> Finding:
    """Store a small object, read it back, and delete it."""
    if not settings.store_url and not settings.data.is_dir():
        return Finding("store", False, True, f"there is no folder {settings.data}", TO_SERVE)
    objects = ObjectStore(settings.store)
    key, data = f"doctor-{token_hex(8)}", token_hex(8).encode()
    objects.put_new(key, data)
    try:
        is_same = objects.get(key) == data
    finally:
        objects.delete(key)
    if not is_same:
        raise Failure(f"{settings.store} gives something else than was stored")
    return Finding("store", True, True, f"{settings.store} stores and gives back")


def look_at_mail(settings: HubSettings) -> Finding:
    """Speak to the mail server, up to where a mail would be sent."""
    if settings.mail:
        with spoken_to(settings.mail):
            at = urlsplit(settings.mail)
            return Finding("mail", True, True, f"{at.hostname} takes mails from us")
    advice = "people get no links for new passwords: set CW_MAIL=smtp://user:password@host:587"
    folder = settings.data / "mail"
    return Finding("mail", settings.is_local, True, f"mails are files in {folder}", advice)


def look_at_keys(settings: HubSettings) -> Finding:
    """See that the keys are there, and for nobody else to read."""
    files = [
        settings.data / name
        for name, value in (
            ("master.key", settings.master_keys),
            ("secret.key", settings.secret_key),
        )
        if not value
    ]
    for path in files:
        if not path.is_file():
            return Finding("keys", False, True, f"there is no file {path}", TO_SERVE)
        if system != "nt" and path.stat().st_mode & 0o077:
            found = f"others may read {path}"
            return Finding("keys", False, True, found, f"chmod 600 {path}")
    sealer = sealer_of(settings)
    where = "in the environment" if not files else f"in {settings.data}"
    found = f"{where}; {sealer.key_id} seals, {len(sealer.key_ids)} open"
    return Finding("keys", True, True, found)


def look_at_secrets(settings: HubSettings, database: Database) -> Finding:
    """Open every secret that is sealed in the database."""
    with database.reading() as session:
        found = keys.try_all(session, sealer_of(settings))
    if found.missing:
        names = ", ".join(sorted(found.missing))
        words = f"{found.missing.total()} of {found.number} are under missing keys: {names}"
        return Finding("secrets", False, True, words, "add those keys to CW_MASTER_KEYS")
    if found.broken:
        words = (
            f"{len(found.broken)} of {found.number} cannot be opened, of {found.broken[0]} first"
        )
        advice = "restore the key that sealed them, or let the owners make new secrets"
        return Finding("secrets", False, True, words, advice)
    return Finding("secrets", True, True, f"all {found.number} can be opened")


def sealer_of(settings: HubSettings) -> Sealer:
    """Return what opens secrets, without making a key; raises OSError or ValueError."""
    path = settings.data / "master.key"
    return Sealer(settings.master_keys or path.read_text(encoding="ascii").strip())


def look_at_sandbox() -> Finding:
    """Find out whether uploaded programs can be played on this machine."""
    problem = bubblewrap.problem()
    advice = "only needed where uploaded programs are played"
    return Finding("programs", problem is None, False, problem or "bubblewrap works", advice)
