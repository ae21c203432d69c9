"""Checks of everything that a hub needs, with advice on what to fix; they repair nothing."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address, ip_network
from os import name as system
from pathlib import Path
from secrets import token_hex
from typing import Final
from urllib.parse import urlsplit

from cryptography.x509 import load_der_x509_certificate
from sqlalchemy import make_url

from cw.arena.transports.networks import is_public
from cw.errors import Failure
from cw.server.names import LOCAL_NAMES
from cw_hub.context import Clock, utc_now
from cw_hub.operation import heartbeats, keys
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings, setting_rows
from cw_hub.operation.smtp import connection_to
from cw_hub.store.database import Database
from cw_hub.store.migrations import current, differences, head, in_words
from cw_hub.store.objects import NoBucket, ObjectStore, bucket_of
from cw_hub.store.replica import PATIENCE as REPLICA_PATIENCE

CERTIFICATE_EVERY: Final = 3600.0
"""Seconds between two checks of the certificate."""

PATIENCE: Final = 10.0
"""Timeout of the connection to the site, in seconds."""


def note(resources: Resources) -> None:
    """Record when the certificate of the site's public URL expires; do nothing for http.

    Raises Failure if it cannot be read; the recorded time then stays.
    """
    address = urlsplit(resources.settings.address)
    if address.scheme != "https":
        return
    ends = end_of(address.hostname or "", address.port or 443)
    with resources.database.writing() as session:
        heartbeats.record(session, heartbeats.CERTIFICATE, ends)


def end_of(host: str, port: int, patience: float = PATIENCE) -> datetime:
    """Return when a server's certificate expires; raise Failure if it cannot be read."""
    # Nothing is sent or trusted, so expired and self-signed certificates can be read too.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=patience) as plain,
            context.wrap_socket(plain, server_hostname=host) as connection,
        ):
            data = connection.getpeercert(binary_form=True) or b""
        return load_der_x509_certificate(data).not_valid_after_utc
    except (OSError, ValueError) as error:
        raise Failure(f"the certificate of {host}:{port} cannot be read: {error}") from None


MOST: Final = 5.0
"""Maximum difference between the clocks, in seconds."""

CLOCK_EVERY: Final = 60.0
"""Seconds between two comparisons of the clocks."""

logger = logging.getLogger(__name__)


class ClockCheck:
    """Compares the clocks on its first call, then at most once a minute."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Schedule the first comparison for the first call; `elapsed` returns seconds."""
        self._elapsed = elapsed
        self._due = elapsed()
        self._is_right = True

    def is_right(self, resources: Resources) -> bool:
        """Return whether this host's clock is right; log an error if not."""
        if self._elapsed() >= self._due:
            off = seconds_off(resources)
            self._is_right = abs(off) <= MOST
            self._due = self._elapsed() + CLOCK_EVERY
            if not self._is_right:
                logger.error(
                    "the clock of this machine is %.0f s off the database's:"
                    " nothing is played and nothing ticks here until it is corrected",
                    off,
                )
        return self._is_right


def seconds_off(resources: Resources) -> float:
    """Return by how many seconds this host's clock is ahead of the database's."""
    database_time = resources.database.now()
    return 0.0 if database_time is None else (resources.clock() - database_time).total_seconds()


MOST_PROXIES: Final = 256
"""Maximum size, in IP addresses, of a network that may consist of proxies only."""


def exposure_problems(settings: HubSettings) -> Iterator[str]:
    """Yield what must be fixed before a site with these settings is opened to users."""
    if not settings.has_safe_accounts:
        yield "accounts are disabled without https: set CW_PUBLIC_URL=https://..."
    elif is_https(settings.public_url) and not settings.trusted_proxy:
        yield "no proxy is trusted to report https: set CW_TRUSTED_PROXY"
    yield from problems_of_links(settings)
    yield from problems_of_bots(settings)


def problems_of_links(settings: HubSettings) -> Iterator[str]:
    """Yield reasons why browsers could not follow links to replays."""
    url = settings.store_public_url
    if not url:
        return
    host = urlsplit(url).hostname or ""
    leave_out = "or leave it out: then the site serves replays itself"
    if is_https(settings.address) and not is_https(url):
        yield f"browsers block http:// on an https site: correct CW_STORE_PUBLIC_URL, {leave_out}"
    elif not settings.is_local and is_private(host):
        yield f"browsers elsewhere cannot reach {host}: correct CW_STORE_PUBLIC_URL, {leave_out}"


def problems_of_bots(settings: HubSettings) -> Iterator[str]:
    """Yield what players' bots could reach in the hub's own networks."""
    first, *networks = settings.bots_may_be
    if settings.is_local or not settings.public_url:
        return
    if first == "any":
        networks = ["any"]
    inner = [network for network in networks if not is_public_network(network)]
    if inner:
        yield (
            f"bots of all players may have addresses in {', '.join(inner)}, and so probe "
            "services there: set CW_BOT_NETWORK=public, and CW_HOUSE_NETWORK for bots of your own"
        )


def exposure_warnings(settings: HubSettings) -> Iterator[str]:
    """Yield settings that are acceptable only if something else compensates for them."""
    wide = [name for name in settings.trusted_proxy if size_of(name) > MOST_PROXIES]
    if wide:
        yield (
            f"any machine in {', '.join(wide)} can forge the address of its clients: set "
            "CW_TRUSTED_PROXY to the proxy alone, or let nothing else reach the pages"
        )


def is_https(url: str) -> bool:
    """Return whether a URL uses https."""
    return url.startswith("https:")


def is_private(host: str) -> bool:
    """Return whether a host is known to be unreachable from the internet."""
    try:
        return not is_public(str(ip_address(host)))
    except ValueError:
        return host in LOCAL_NAMES or "." not in host or host.endswith((".local", ".internal"))


def is_public_network(network: str) -> bool:
    """Return whether a network is on the open internet; `any` is not considered one."""
    return network != "any" and is_public(str(ip_network(network).network_address))


def size_of(network: str) -> int:
    """Return the number of IP addresses of a network; for IPv6, the number of /64 networks."""
    parsed = ip_network(network)
    return parsed.num_addresses if parsed.version == 4 else 2 ** max(0, 64 - parsed.prefixlen)


LEAST_FREE: Final = 2**30
"""Minimum free space in the data folder, in bytes."""

LONGEST: Final = 200
"""Maximum length of an error message, in characters."""

MOST_NAMED: Final = 5
"""Maximum number of differences between tables that are listed."""

A_PAGE: Final = "CREATE TEMPORARY TABLE doctor ON COMMIT DROP AS SELECT 1"
"""A statement that makes a PostgreSQL server allocate a page on its disk temporarily."""

TO_SERVE: Final = "cw hub serve creates it; if the hub is elsewhere, set CW_DATA to its folder"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    needed: bool
    found: str
    advice: str = ""

    def __str__(self) -> str:
        """Return the result as a line of text, with the advice."""
        mark = "ok" if self.ok else "to do" if self.needed else "no"
        advice = f"; {self.advice}" if self.advice and not self.ok else ""
        return " ".join(f"{mark:5}  {self.name:12}  {self.found}{advice}".splitlines())


def examine(settings: HubSettings, clock: Clock = utc_now) -> Iterator[Finding]:
    """Yield the result of each check; unresponsive services time out after some seconds."""
    yield look_at_settings(settings)
    yield look_at_folder(settings)
    with closing(Database(settings.database)) as database:
        database_finding = tried("database", lambda: look_at_database(settings, database))
        yield database_finding
        if database_finding.ok:
            if not database.is_sqlite:
                yield tried("writing", lambda: look_at_writing(database))
            yield tried("clock", lambda: look_at_clock(database, clock))
            yield tried("processes", lambda: look_at_processes(database, clock))
    if settings.database_read_url:
        with closing(Database(settings.database_read_url, REPLICA_PATIENCE)) as replica:
            yield tried("read replica", lambda: look_at_replica(replica))
    yield tried("broker", lambda: look_at_broker(settings))
    yield tried("store", lambda: look_at_store(settings))
    yield tried("mail", lambda: look_at_mail(settings))
    yield tried("keys", lambda: look_at_keys(settings))
    if database_finding.ok:
        with closing(Database(settings.database)) as database:
            yield tried("secrets", lambda: look_at_secrets(settings, database))


def tried(name: str, look: Callable[[], Finding]) -> Finding:
    """Return the result of a check, or its error, shortened to one line."""
    try:
        return look()
    except Exception as error:
        message = str(getattr(error, "orig", None) or error).strip().partition("\n")[0][:LONGEST]
        return Finding(name, False, True, message or type(error).__name__, ADVICE.get(name, ""))


ADVICE: Final = {
    "database": "start it, or correct CW_DATABASE_URL",
    "writing": "make room on the disk of the database, and let its user make temporary tables",
    "read replica": "start it, or correct CW_DATABASE_READ_URL; the database is read meanwhile",
    "store": "make sure that it answers and is writable, or correct CW_STORE_URL and AWS_...",
    "mail": "start the mail server, or correct CW_MAIL",
    "keys": "give the files of the keys to the user who runs the hub",
    "secrets": "make sure that the database answers and has its tables: cw hub db check",
}
"""What to do if a check fails, by the name of the check."""


def look_at_settings(settings: HubSettings) -> Finding:
    """Check for conflicts between settings that are valid individually."""
    count = sum(value != default for _, value, default, _ in setting_rows(settings))
    text = f"{count} set, the site is at {settings.address}"
    problems = "; ".join(exposure_problems(settings))
    warnings = "; ".join(exposure_warnings(settings))
    if problems or not warnings:
        return Finding("settings", not problems, True, text, problems)
    return Finding("settings", False, False, text, warnings)


def look_at_folder(settings: HubSettings) -> Finding:
    """Check the free space of the disk where the data folder is, or will be."""
    path = settings.data.absolute()
    place = next(folder for folder in (path, *path.parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    text = f"{settings.data}, {free / 2**30:.1f} GiB are free"
    return Finding("data folder", free >= LEAST_FREE, True, text, "make room, or move CW_DATA")


def look_at_database(settings: HubSettings, database: Database) -> Finding:
    """Connect, and compare the revision; a missing file is not created."""
    path = make_url(settings.database).database
    if settings.is_sqlite and path and not Path(path).is_file():
        return Finding("database", False, True, f"there is no file {path}", TO_SERVE)
    at, needed = current(database), head()
    kind = "SQLite" if settings.is_sqlite else "PostgreSQL"
    if at == needed:
        return look_at_tables(database, f"{kind} at revision {at}")
    text = f"{kind} at {at or 'nothing'}, this program needs {needed}"
    return Finding("database", False, True, text, "cw hub db upgrade")


def look_at_tables(database: Database, text: str) -> Finding:
    """Compare the tables of an up-to-date database with those of this program."""
    changes = in_words(differences(database))
    if not changes:
        return Finding("database", True, True, text)
    words = f"{text}, but {', '.join(changes[:MOST_NAMED])}"
    advice = "undo what was changed by hand, or restore a backup into an empty database"
    return Finding("database", False, True, words, advice)


def look_at_writing(database: Database) -> Finding:
    """Check that a server's disk has room for a page, with a table that is dropped immediately."""
    with database.reading() as session:
        session.connection().exec_driver_sql(A_PAGE)
    return Finding("writing", True, True, "the disk of the database has room")


def look_at_clock(database: Database, clock: Clock) -> Finding:
    """Compare this host's clock with the database's."""
    database_time = database.now()
    if database_time is None:
        return Finding("clock", True, True, "the only one, as the database is a file")
    off = (clock() - database_time).total_seconds()
    advice = "set the clock of this machine (NTP): beyond 5 s it plays no matches"
    return Finding("clock", abs(off) <= MOST, True, f"{off:+.1f} s off the database's", advice)


def look_at_processes(database: Database, clock: Clock) -> Finding:
    """Check which roles are running; if any is, a scheduler must be ticking."""
    with database.reading() as session:
        roles = heartbeats.by_role(heartbeats.live(session))
        moments = heartbeats.moments(session)
    text = ", ".join(f"{count} {role}" for role, count in roles.items() if count)
    if not text:
        return Finding("processes", False, False, "none was seen in the last minute")
    last = heartbeats.age(moments, heartbeats.TICK, clock)
    ticked = "never" if last is None else f"{last.total_seconds():.0f} s ago"
    advice = "nothing is planned, mailed or backed up: start cw hub scheduler, or read its log"
    is_ticking = heartbeats.is_ticking(moments, clock)
    return Finding("processes", is_ticking, True, f"{text}; the last tick was {ticked}", advice)


def look_at_replica(replica: Database) -> Finding:
    """Connect to the read replica, and compare its revision."""
    at, needed = current(replica), head()
    text = f"at {at or 'nothing'}, this program needs {needed}"
    advice = "wait until it has caught up, or correct CW_DATABASE_READ_URL"
    is_fit = at == needed
    return Finding("read replica", is_fit, True, f"at revision {at}" if is_fit else text, advice)


def look_at_broker(settings: HubSettings) -> Finding:
    """Check whether the broker responds."""
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
    try:
        objects.put_new(key, data)
    except NoBucket:
        text = f"there is no bucket {bucket_of(settings.store_url)}"
        return Finding("store", False, True, text, "cw hub store create")
    try:
        is_same = objects.get(key) == data
    finally:
        objects.delete(key)
    if not is_same:
        raise Failure(f"{settings.store} does not return what was stored")
    return Finding("store", True, True, f"{settings.store} stores and returns objects")


def look_at_mail(settings: HubSettings) -> Finding:
    """Check the mail settings, and log in to the mail server without sending an email."""
    is_fit = settings.is_local or bool(settings.mail_from)
    sender = "" if is_fit else f"CW_MAIL_FROM, or mails come from {settings.sender}"
    if settings.mail:
        with connection_to(settings.mail):
            at = urlsplit(settings.mail)
            return Finding("mail", is_fit, True, f"{at.hostname} accepts mail", f"set {sender}")
    advice = "players cannot reset their passwords: set CW_MAIL=smtp://user:password@host:587"
    advice += f" and {sender}" if sender else ""
    folder = settings.data / "mail"
    return Finding("mail", settings.is_local, True, f"mails are files in {folder}", advice)


def look_at_keys(settings: HubSettings) -> Finding:
    """Check that the key files exist, and that only their owner can read them."""
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
            text = f"others may read {path}"
            return Finding("keys", False, True, text, f"chmod 600 {path}")
    sealer = keys.sealer_of(settings)
    where = "in the environment" if not files else f"in {settings.data}"
    text = f"{where}; {sealer.key_id} encrypts, {len(sealer.key_ids)} decrypt"
    return Finding("keys", True, True, text)


def look_at_secrets(settings: HubSettings, database: Database) -> Finding:
    """Decrypt every secret in the database."""
    with database.reading() as session:
        result = keys.try_all(session, keys.sealer_of(settings))
    if result.missing:
        names = ", ".join(sorted(result.missing))
        words = f"{result.missing.total()} of {result.number} need missing keys: {names}"
        return Finding("secrets", False, True, words, "add those keys to CW_MASTER_KEYS")
    if result.broken:
        words = (
            f"{len(result.broken)} of {result.number} cannot be decrypted, the first of "
            f"{result.broken[0]}"
        )
        advice = "restore the key that encrypted them, or let the owners rotate them"
        return Finding("secrets", False, True, words, advice)
    return Finding("secrets", True, True, f"all {result.number} can be decrypted")
