"""The services that the hub is tried with: PostgreSQL and Redis of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

SERVER = "postgresql+psycopg://postgres@127.0.0.1:5432"


def missing(service: str) -> None:
    """Skip a test without a service, or fail where none may be missing."""
    if os.environ.get("CW_REQUIRE_SERVICES"):
        pytest.fail(f"{service} is not running")
    pytest.skip(f"{service} is not running")


@contextmanager
def new_postgresql(template: str = "template1") -> Iterator[str]:
    """Make a database in the PostgreSQL of this machine; gives its address."""
    name = f"cw_test_{token_hex(6)}"
    server = create_engine(f"{SERVER}/postgres", isolation_level="AUTOCOMMIT")
    try:
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    except OperationalError:
        missing("PostgreSQL")
    try:
        yield f"{SERVER.replace('+psycopg', '')}/{name}"
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


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
    """A Redis of our own, which may be killed and started again, empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            missing("Redis")
        about = ["--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        command = [str(program), *about, "--dir", str(self.folder)]
        with (self.folder / "redis.log").open("ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log)
        while not is_open(self.port):
            assert self.server.poll() is None, (self.folder / "redis.log").read_text()

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()


class PostgreSQL:
    """A PostgreSQL of our own, which may be shot down and started again."""

    def __init__(self, log: Path) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not found:
            missing("PostgreSQL")
        self.bin, self.log, self.port = found[-1], log, free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        # It does not run as root, and must reach its folder.
        self.folder = Path(mkdtemp(prefix="cw-postgresql-"))
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", str(self.folder), "-U", "postgres", "-A", "trust", "-N")

    def run(self, program: str, *arguments: str) -> None:
        command = [*self.user, str(self.bin / program), *arguments]
        with self.log.open("ab") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd=self.folder)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        self.run("pg_ctl", "-D", str(self.folder), "-w", "-o", options, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder), "-m", "immediate", "stop")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    """Return whether somebody listens on a port of this machine."""
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0
