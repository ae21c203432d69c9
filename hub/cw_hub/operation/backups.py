"""The daily backup: all rows in one stored file, copied with the objects to a second store."""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from errno import EDQUOT, ENOSPC
from functools import reduce
from itertools import islice
from operator import or_
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.types import TypeEngine

from cw import documents
from cw.errors import Failure, UsageError, short
from cw_hub.context import Clock
from cw_hub.operation import heartbeats
from cw_hub.operation.resources import Resources
from cw_hub.operation.scheduler import last_due
from cw_hub.store import migrations
from cw_hub.store.database import Database, Session, is_away, reason, waiting
from cw_hub.store.models import Base, Moment
from cw_hub.store.objects import ObjectStore
from cw_hub.store.sealing import Sealer, open_file, seal_file

PREFIX: Final = "backups"
"""Prefix of backups in the object store; nothing below it is ever signed."""

SEALED: Final = ".sealed"
"""Key suffix of a backup in another store, sealed with the master keys."""

KEY: Final = re.compile(rf"{PREFIX}/(\d{{8}}T\d{{6}}Z)\.jsonl\.gz(?:{re.escape(SEALED)})?")
TIME: Final = "%Y%m%dT%H%M%SZ"

NAMED_WITHIN: Final = timedelta(minutes=1)

DAILY: Final = 14
WEEKLY: Final = 8
"""How many backups are kept: the last one of each of so many days, and of so many weeks."""

AT_ONCE: Final = 1000
"""Rows read or written per batch."""

LONGEST: Final = 1 << 24
"""Maximum length of a line in bytes; the longest values are program logs."""

LEVEL: Final = 3
"""Compression level of gzip."""

AS_GZIP: Final = 16 + zlib.MAX_WBITS
"""The `wbits` value that makes zlib write the gzip format, without a timestamp."""

REVISIONS: Final = "alembic_version"
"""The table that stores the revision of a database."""

Kind: TypeAlias = Literal["int", "real", "text", "yes_no", "moment", "date", "bytes", "json"]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
MomentOfZone: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]

READ: Final[dict[Kind, Any]] = {
    "int": Int64,
    "real": float,
    "text": str,
    "yes_no": bool,
    "moment": MomentOfZone,
    "date": date,
    "bytes": bytes,
    "json": Any,
}
"""The types that values are read as, by the kind of their column."""

TYPES: Final[dict[Kind, TypeEngine[Any]]] = {
    "int": BigInteger(),
    "real": Float(),
    "text": String(),
    "yes_no": Boolean(),
    "moment": Moment(),
    "date": Date(),
    "bytes": LargeBinary(),
    "json": JSON(),
}
"""The column types that values are written as, by the kind of their column."""


class TableHeader(msgspec.Struct, forbid_unknown_fields=True):
    """The columns of a table in a backup, and its row count; a kind ending in `?` is nullable."""

    columns: dict[str, str]
    rows: Annotated[int, msgspec.Meta(ge=0)]


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """The first line of a backup; each following line is a row, table by table."""

    format: Literal["circuit-wars-backup"]
    version: Literal[1]
    revision: str
    at: MomentOfZone
    tables: dict[str, TableHeader]

    @property
    def rows(self) -> int:
        """The total number of rows."""
        return sum(table.rows for table in self.tables.values())


def key_of(moment: datetime) -> str:
    """Return the key of a backup made at this time."""
    return f"{PREFIX}/{moment:{TIME}}.jsonl.gz"


def time_of(key: str) -> datetime | None:
    """Return when a backup was made, or None if the key is not that of a backup."""
    match = KEY.fullmatch(key)
    return match and datetime.strptime(f"{match[1]}+0000", f"{TIME}%z")


def superseded(keys: Iterable[str]) -> list[str]:
    """Return the backups to delete: all but the last of each recent day and week."""
    by_moment = {moment: key for key in keys if (moment := time_of(key))}
    by_day: dict[date, datetime] = {}
    by_week: dict[tuple[int, int], datetime] = {}
    for moment in sorted(by_moment):
        by_day[moment.date()] = moment
        by_week[moment.isocalendar()[:2]] = moment
    selected = {*list(by_day.values())[-DAILY:], *list(by_week.values())[-WEEKLY:]}
    return [key for moment, key in by_moment.items() if moment not in selected]


# Writing


def write(database: Database, to: IO[bytes]) -> Header:
    """Write a compressed snapshot of all rows; return its header.

    Other writers are not blocked. If no row changes between calls, their output differs only in the
    timestamp.
    """
    # Not a GzipFile: if the disk is full, that of Python 3.13 fails again, unnoticed, when it is
    # garbage-collected.
    packer = zlib.compressobj(LEVEL, wbits=AS_GZIP)
    with database.snapshot() as connection:
        header = describe(connection, database.clock)
        to.write(packer.compress(msgspec.json.encode(header) + b"\n"))
        encoder = msgspec.json.Encoder()
        for table in Base.metadata.sorted_tables:
            for rows in connection.execute(in_order(table)).partitions(AT_ONCE):
                to.write(packer.compress(encoder.encode_lines([tuple(row) for row in rows])))
    to.write(packer.flush())
    return header


def describe(connection: Connection, clock: Clock) -> Header:
    """Return the header of a backup."""
    tables = {
        table.name: TableHeader(
            {column.name: kind_of(column) for column in table.columns},
            connection.scalar(select(func.count()).select_from(table)) or 0,
        )
        for table in Base.metadata.sorted_tables
    }
    revision = migrations.revision_of(connection) or ""
    return Header("circuit-wars-backup", 1, revision, clock(), tables)


def in_order(table: Table) -> Any:
    """Return the query that reads a table, with referenced rows before referring ones."""
    parents = [column.is_not(None) for column in table.columns if refers_to(column, table)]
    rows = select(*table.columns).order_by(*parents, *table.primary_key)
    return rows.execution_options(yield_per=AT_ONCE)


def refers_to(column: Column[Any], table: Table) -> bool:
    """Return whether a column has a foreign key to a table."""
    return any(key.column.table is table for key in column.foreign_keys)


def kind_of(column: Column[Any]) -> str:
    """Return the kind of a column's values."""
    kinds: dict[type, Kind] = {
        Integer: "int",
        Float: "real",
        Boolean: "yes_no",
        Moment: "moment",
        Date: "date",
        LargeBinary: "bytes",
        JSON: "json",
        String: "text",
    }
    kind = next(kind for type_, kind in kinds.items() if isinstance(column.type, type_))
    return f"{kind}?" if column.nullable else kind


# Reading


def restore(
    database: Database,
    packed: IO[bytes],
    then: Callable[[Session], object],
    named: datetime | None = None,
) -> Header:
    """Fill an empty database of either kind, and upgrade it to the revision of this program.

    `then` is called before the commit; `named` is the time in the name of the backup. Raises
    UsageError if the database is not empty, or if the file is damaged, truncated, not a backup, or
    not from the time in its name; the database is then unchanged.
    """
    with gzip.GzipFile("", "rb", fileobj=packed) as stream:
        header = header_of(stream)
        if named is not None and abs(header.at - named) > NAMED_WITHIN:
            times = f"{named:{TIME}} was made at {header.at:{TIME}}"
            raise UsageError(f"the backup {times}: it was replaced by another one")
        try:
            with waiting(None), database.writing_engine.begin() as connection:
                begin(connection, header)
                for name, table in header.tables.items():
                    fill(connection, name, table, stream)
                if line_of(stream):
                    raise UsageError("the backup continues after its last row")
                migrations.upgrade_to(connection, "head")
                with Session(connection) as session:
                    then(session)
        except DBAPIError as error:
            if is_away(error):
                raise Failure(f"the database does not answer: {reason(error)}") from None
            raise UsageError(f"the database does not accept the backup: {reason(error)}") from None
        except (SQLAlchemyError, RecursionError) as error:
            raise UsageError(f"the database does not accept the backup: {short(error)}") from None
    return header


def header_of(stream: gzip.GzipFile) -> Header:
    """Read the header of a backup."""
    try:
        header = documents.decode(line_of(stream), Header)
    except msgspec.DecodeError:
        raise UsageError("the file is not a backup of a hub: it has another first line") from None
    if not migrations.is_known(header.revision):
        raise UsageError(
            f"the backup is of revision {short(header.revision)}, which this program does not "
            "know: it was made by a newer one"
        )
    return header


def line_of(stream: gzip.GzipFile) -> bytes:
    """Read a line; raise UsageError if it cannot be read."""
    try:
        line = stream.readline(LONGEST)
    except EOFError:
        raise UsageError("the backup is cut short") from None
    except (zlib.error, gzip.BadGzipFile):
        raise UsageError("the file is damaged or not a backup: gzip cannot decompress it") from None
    except OSError as error:
        raise Failure(f"the backup cannot be read: {error.strerror}") from None
    if len(line) >= LONGEST:
        raise UsageError(f"the backup has a line of {LONGEST} bytes or more")
    return line


def begin(connection: Connection, header: Header) -> None:
    """Create the tables of a backup; raise UsageError if the database has rows."""
    at = migrations.revision_of(connection)
    there = [name for name in inspect(connection).get_table_names() if name != REVISIONS]
    full = [name for name in there if connection.scalar(has_rows(name))]
    if full or (there and at != header.revision):
        what = f"{full[0]} has rows" if full else f"it is at revision {at or 'nothing'}"
        raise UsageError(
            f"a backup can only be restored into an empty database; in this one, {what}"
        )
    migrations.upgrade_to(connection, header.revision)
    inspector = inspect(connection)
    columns = {
        name: {column["name"] for column in inspector.get_columns(name)}
        for name in inspector.get_table_names()
        if name != REVISIONS
    }
    if {name: {*table.columns} for name, table in header.tables.items()} != columns:
        raise UsageError(f"the backup does not have the tables of revision {header.revision}")


def has_rows(name: str) -> Any:
    """Return the query that checks whether a table has any row."""
    return select(select(text("1")).select_from(Table(name, MetaData())).exists())


def fill(connection: Connection, name: str, header: TableHeader, stream: gzip.GzipFile) -> None:
    """Insert the rows of a table."""
    table = Table(name, MetaData(), *columns_of(header))
    decoder = msgspec.json.Decoder(tuple[*types_of(header)])  # type: ignore[misc]
    names = table.columns.keys()
    rows = rows_of(name, header.rows, decoder, stream)
    while batch := list(islice(rows, AT_ONCE)):
        connection.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in batch])
    key = inspect(connection).get_pk_constraint(name)["constrained_columns"]
    if connection.dialect.name == "postgresql" and key == ["id"]:
        go_on_from_the_last(connection, table)


def columns_of(header: TableHeader) -> Iterator[Column[Any]]:
    """Yield the columns of a table in a backup."""
    for column, text_of_kind in header.columns.items():
        kind = text_of_kind.removesuffix("?")
        if kind not in TYPES:
            raise UsageError(f"the backup has a column of an unknown kind: {short(kind)}")
        # In a nullable column None is SQL NULL, not the null of JSON.
        is_json = kind == "json" and text_of_kind.endswith("?")
        yield Column(column, JSON(none_as_null=True) if is_json else TYPES[kind])


def types_of(header: TableHeader) -> Iterator[Any]:
    """Yield the types that the values of a row are read as."""
    for text_of_kind in header.columns.values():
        kind: Any = READ[text_of_kind.removesuffix("?")]  # type: ignore[index]
        is_optional = text_of_kind.endswith("?") and kind is not Any
        yield reduce(or_, (kind, None)) if is_optional else kind


def rows_of(
    name: str, count: int, decoder: msgspec.json.Decoder[Any], stream: gzip.GzipFile
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table; raise UsageError at an invalid one."""
    for number in range(1, count + 1):
        line = line_of(stream)
        try:
            yield decoder.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError):
            what = "is invalid" if line else "is missing"
            raise UsageError(f"row {number} of {name} {what}: the backup is damaged") from None


def go_on_from_the_last(connection: Connection, table: Table) -> None:
    """Set PostgreSQL's id sequence to the highest id; SQLite needs no such step."""
    of_name = func.pg_get_serial_sequence(table.name, "id")
    if connection.scalar(select(of_name)) is not None:
        last = func.max(table.c.id)
        connection.execute(select(func.setval(of_name, func.coalesce(last, 1), last.is_not(None))))


ADDRESS: Final = re.compile(rf"(?:(.*)/)?({KEY.pattern})", re.S)
"""The location of a backup: its store, and its key there."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A backup in a store."""

    place: str
    """`s3://bucket/prefix`, or a folder."""
    key: str
    at: datetime
    bytes: int = 0

    @property
    def is_sealed(self) -> bool:
        """Whether the backup is sealed, so that only a holder of a master key can have made it."""
        return self.key.endswith(SEALED)

    def __str__(self) -> str:
        """Return its location, as the restore command takes it."""
        return f"{self.place}/{self.key}"


def stored_in(place: str) -> list[Stored]:
    """Return the backups of a store, newest first; raise StoreAway if it cannot be reached."""
    sizes = store_at(place).sizes(PREFIX)
    objects = ((time_of(key), key, size) for key, size in sizes.items())
    stored = [Stored(place, key, at, size) for at, key, size in objects if at]
    return sorted(stored, key=lambda one: one.at, reverse=True)


def store_at(place: str) -> ObjectStore:
    """Open a store for reading; raise UsageError if the folder does not exist."""
    if not place.startswith("s3://") and not Path(place).is_dir():
        raise UsageError(f"{short(place)} cannot be read: there is no such folder")
    return ObjectStore(place)


def find(text: str, own: str) -> Stored | Path:
    """Resolve a backup given by its location, by a store (its newest backup), or by a file.

    In any store but the site's `own`, this is the newest sealed one: anyone who can write there
    could add a forged backup, but could not seal it. Raises UsageError if the store has none, and
    StoreAway if it cannot be reached.
    """
    address = ADDRESS.fullmatch(text)
    if address and (at := time_of(address[2])):
        return Stored(address[1] or ".", address[2], at)
    if not text.startswith("s3://") and not Path(text).is_dir():
        return Path(text)
    stored = stored_in(text.rstrip("/"))
    trusted = stored if is_same(text, own) else [one for one in stored if one.is_sealed]
    if not trusted:
        unsealed = (
            f"; {stored[0]} is not sealed: give its address if you trust it" if stored else ""
        )
        raise UsageError(f"there is no backup in {short(text)}{unsealed}")
    return trusted[0]


def is_same(place: str, other: str) -> bool:
    """Return whether two texts name the same store."""
    if place.startswith("s3://") or other.startswith("s3://"):
        return place.rstrip("/") == other.rstrip("/")
    return Path(place).resolve() == Path(other).resolve()


@contextmanager
def opened(source: Stored | Path, sealer: Callable[[], Sealer]) -> Iterator[IO[bytes]]:
    """Yield a backup as a file, unsealed if necessary; `sealer` is called only in that case.

    Raises UsageError if the backup is missing or damaged.
    """
    if isinstance(source, Stored):
        with TemporaryFile() as file:
            fetch(source, file, sealer)
            file.seek(0)
            yield file
        return
    try:
        with source.open("rb") as file:
            yield file
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}") from None


def fetch(source: Stored, to: IO[bytes], sealer: Callable[[], Sealer]) -> None:
    """Write a backup from a store into a file, unsealed."""
    if not source.is_sealed:
        copy_object(store_at(source.place), source.key, to)
        return
    with TemporaryFile() as sealed:
        copy_object(store_at(source.place), source.key, sealed)
        sealed.seek(0)
        open_file(sealer(), sealed, to)


def copy_object(store: ObjectStore, key: str, to: IO[bytes]) -> None:
    """Write an object into a file; raise UsageError if it does not exist."""
    streamed = store.streamed(key)
    if streamed is None:
        raise UsageError(f"there is no backup {short(key)} in this store")
    for piece in streamed.pieces:
        to.write(piece)


DUE: Final = timedelta(hours=3, minutes=30)
"""When the backup is due, as time after midnight UTC."""

COPIED: Final = ("replays", "maps", "bots", "avatars")
"""Key prefixes of objects that are copied to the second store unchanged."""

logger = logging.getLogger(__name__)


class Backup(NamedTuple):
    """A backup in the object store."""

    key: str
    rows: int
    objects: int
    """Number of objects that were copied."""


def do_daily(resources: Resources) -> None:
    """Make the daily backup and copy it to the second store, unless done since it was due.

    Idempotent. Two concurrent callers make two backups, and the later one is kept. A late call runs
    immediately. A failed copy is retried on the next call.
    """
    due = last_due(resources.clock, DUE)
    moments = [time_of(key) for key in resources.objects.keys(PREFIX)]
    if not any(moment is not None and moment >= due for moment in moments):
        backup = make(resources)
        note(resources, heartbeats.BACKUP)
        delete_old(resources.objects)
        logger.info("backup: %s, %s rows", backup.key, backup.rows)
    elsewhere = resources.settings.backup_objects
    if elsewhere and (copied_at(resources) or datetime.min.replace(tzinfo=due.tzinfo)) < due:
        count = copy(resources, elsewhere)
        note(resources, heartbeats.COPY)
        delete_old(ObjectStore(elsewhere))
        logger.info("backup: sealed and copied elsewhere, %s objects copied", count)


def note(resources: Resources, name: str) -> None:
    """Record the current time as that of an event."""
    with resources.database.writing() as session:
        heartbeats.record(session, name, resources.clock())


def copied_at(resources: Resources) -> datetime | None:
    """Return when a backup was last copied to the second store, or None."""
    with resources.database.reading() as session:
        return heartbeats.moments(session).get(heartbeats.COPY)


def delete_old(store: ObjectStore) -> None:
    """Delete superseded backups."""
    for key in superseded(store.keys(PREFIX)):
        store.delete(key)


def make(resources: Resources, elsewhere: str = "") -> Backup:
    """Make a backup, and copy it and the objects to another store if one is given."""
    with temporary_file(resources.settings.data) as file:
        header = write(resources.database, file)
        file.seek(0)
        key = key_of(header.at)
        resources.objects.put_private(key, file)
    return Backup(key, header.rows, copy(resources, elsewhere) if elsewhere else 0)


def copy(resources: Resources, elsewhere: str) -> int:
    """Copy the newest backup, sealed, and all missing objects to another store.

    Returns how many objects were copied.
    """
    to = ObjectStore(elsewhere)
    newest = max(filter(time_of, resources.objects.keys(PREFIX)), default=None)
    if newest is not None and not to.has(newest + SEALED):
        seal_to(to, resources, newest)
    return sum(resources.objects.copy_missing(prefix, to) for prefix in COPIED)


def seal_to(to: ObjectStore, resources: Resources, key: str) -> None:
    """Copy a backup of this site to another store, sealed with the first master key."""
    folder = resources.settings.data
    with temporary_file(folder) as file, temporary_file(folder) as sealed:
        copy_object(resources.objects, key, file)
        file.seek(0)
        seal_file(resources.sealer, file, sealed)
        sealed.seek(0)
        to.put_private(key + SEALED, sealed)


@contextmanager
def temporary_file(folder: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file in a folder; raise Failure if its disk is full."""
    try:
        # The file has no name, so nothing is left behind even if this process is killed.
        with TemporaryFile(dir=folder) as file:
            yield file
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            raise
        raise Failure(
            f"there is no room for a backup in {folder}: {error.strerror};"
            " make room, or move CW_DATA"
        ) from None
