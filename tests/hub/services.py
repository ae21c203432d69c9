"""The services that the hub is tried with: PostgreSQL and Redis of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
