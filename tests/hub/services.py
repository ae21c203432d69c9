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
    """Start a Redis of our own, which may be emptied and killed; gives its address."""
    program = shutil.which("redis-server")
    if program is None:
        missing("Redis")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [str(program), "--bind", "127.0.0.1", "--port", str(port), "--save", ""]
    with (folder / "redis.log").open("wb") as log:
        server = subprocess.Popen([*command, "--dir", str(folder)], stdout=log, stderr=log)
    try:
        while not is_open(port):
            assert server.poll() is None, (folder / "redis.log").read_text()
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()


def is_open(port: int) -> bool:
    """Return whether somebody listens on a port of this machine."""
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0
