"""The services that the hub is tried with: PostgreSQL, Redis and Swift of this machine.

No test of the fast suite needs one: tests of services are marked as `thorough`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp

import obstore
import pytest
import requests
from obstore.store import S3Store
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from tests.ports import free_port
from tests.tools import POSTGRESQL, REDIS, SWIFT

SWIFT_FOLDER = Path("/usr/lib/python3/dist-packages/swift")
"""Debian's python3-swift; its Python, and no other, has what that needs."""

SERVER = "postgresql+psycopg://postgres@127.0.0.1:5432"

PATIENCE = "600"
"""Seconds in which a PostgreSQL of our own begins or ends."""


_permitted = True


def permit(thorough: bool) -> None:
    """Permit services to the next test if it is thorough."""
    global _permitted  # noqa: PLW0603
    _permitted = thorough


def demand(service: str) -> None:
    """Fail a test of the fast suite, which may need no service."""
    if not _permitted:
        pytest.fail(f"this test needs {service}: mark it thorough")


@contextmanager
def new_postgresql() -> Iterator[str]:
    """Make a database in the PostgreSQL of this machine; gives its address."""
    demand("PostgreSQL")
    name = f"cw_test_{token_hex(6)}"
    server = create_engine(f"{SERVER}/postgres", isolation_level="AUTOCOMMIT")
    try:
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
            # It is not to survive a power cut, so that no commit need wait for the disk.
            connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
    except OperationalError:
        POSTGRESQL.missing()
    try:
        yield f"{SERVER.replace('+psycopg', '')}/{name}"
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


def empty_postgresql(url: str) -> None:
    """Delete all rows of a database, and end all connections to it; the next ids are the first.

    That takes a hundredth of the time of a new database.
    """
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.begin() as connection:
        connection.execute(text(END_CONNECTIONS))
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        for table in connection.scalars(text(TABLES)).all():
            connection.execute(text(f'DELETE FROM "{table}"'))
        connection.execute(text(FIRST_IDS))
    engine.dispose()


END_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
TABLES = """
SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
"""
FIRST_IDS = """
SELECT setval(quote_ident(sequencename)::regclass, 1, false) FROM pg_sequences
WHERE schemaname = 'public'
"""


@contextmanager
def new_redis(folder: Path) -> Iterator[str]:
    """Start a Redis of our own, which may be emptied; gives its address."""
    redis = Redis(folder)
    redis.start()
    try:
        yield redis.url
    finally:
        redis.kill()


class Redis:
    """A Redis of our own, which may be killed and started again, empty.

    It listens at an address, and on this machine's own.
    """

    def __init__(self, folder: Path, address: str = "127.0.0.1") -> None:
        self.folder = folder
        self.port = free_port()
        self.addresses = dict.fromkeys(("127.0.0.1", address))
        self.url = f"redis://{address}:{self.port}/0"

    def start(self) -> None:
        demand("Redis")
        program = REDIS.program("redis-server")
        about = ["--bind", *self.addresses, "--port", str(self.port), "--save", ""]
        about += ["--protected-mode", "no"]
        command = [program, *about, "--dir", str(self.folder)]
        with (self.folder / "redis.log").open("ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log)
        while not is_open(self.port):
            assert self.server.poll() is None, (self.folder / "redis.log").read_text()

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()


class PostgreSQL:
    """A PostgreSQL of our own, which may be shot down and started again.

    It listens at an address, and on this machine's own.
    """

    def __init__(self, log: Path, address: str = "127.0.0.1", folder: Path | None = None) -> None:
        demand("PostgreSQL")
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not folders:
            POSTGRESQL.missing()
        self.bin, self.log, self.port = folders[-1], log, free_port()
        self.addresses = ",".join(dict.fromkeys(("127.0.0.1", address)))
        self.url = f"postgresql://postgres@{address}:{self.port}/postgres"
        # It does not run as root, and must reach its folder.
        self.folder = folder or Path(mkdtemp(prefix="cw-postgresql-"))
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", str(self.folder), "-U", "postgres", "-A", "trust", "-N")

    def run(self, program: str, *arguments: str) -> None:
        command = [*self.user, str(self.bin / program), *arguments]
        with self.log.open("ab") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd=self.folder)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses={self.addresses}"
        options += " -c unix_socket_directories="
        self.run("pg_ctl", "-D", str(self.folder), "-w", "-t", PATIENCE, "-o", options, "start")

    def kill(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder), "-m", "immediate", "-t", PATIENCE, "stop")

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)


class Swift:
    """An S3 server of our own, OpenStack Swift, which may be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            "AWS_ENDPOINT": self.address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test:tester",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_CONDITIONAL_PUT": "disabled",
        }

    def start(self) -> None:
        demand("OpenStack Swift")
        if not SWIFT_FOLDER.is_dir():
            SWIFT.missing()
        program = Path(__file__).parent / "swift_server.py"
        command = ["/usr/bin/python3", str(program), str(self.folder), str(self.port)]
        with (self.folder / "swift.log").open("ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log)
        while not is_open(self.port):
            assert self.server.poll() is None, (self.folder / "swift.log").read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()

    def new_bucket(self) -> str:
        """Make a bucket; return the address of a hub's objects in it."""
        name = f"cw-{token_hex(6)}"
        bucket = S3Store(
            name,
            endpoint=self.address,
            region=self.environment["AWS_REGION"],
            access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
            client_options={"allow_http": True},
        )
        answer = requests.put(obstore.sign(bucket, "PUT", "", timedelta(minutes=1)), timeout=30)
        assert answer.status_code == 200, answer.text
        return f"s3://{name}/hub"


@contextmanager
def new_swift(folder: Path) -> Iterator[Swift]:
    """Start a Swift of our own in an empty folder."""
    swift = Swift(folder)
    swift.start()
    try:
        yield swift
    finally:
        swift.kill()


def is_open(port: int) -> bool:
    """Return whether somebody listens on a port of this machine."""
    with socket.socket() as client:
        client.settimeout(60)
        return client.connect_ex(("127.0.0.1", port)) == 0
