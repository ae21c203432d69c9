"""A PostgreSQL that goes back to a moment, by what hub/docs/backups.md says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import create_engine, text

from hub.tests.services import PostgreSQL

PAGE = Path(__file__).resolve().parents[4] / "hub/docs/backups.md"


def blocks(language: str, folder: Path) -> list[str]:
    """Return what the page shows in a language, in folders of the test."""
    code = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    return [one.replace("/var/lib/", f"{folder}/") for one in code]


@pytest.fixture
def place() -> Iterator[Path]:
    """Where copies and logs of the server go."""
    # As its own folder, it must be one that the server reaches, which does not run as root.
    folder = Path(mkdtemp(prefix="cw-postgresql-"))
    (folder / "wal").mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def server(tmp_path: Path, place: Path) -> Iterator[PostgreSQL]:
    """A server that is gone, and puts nothing there any more, before the place is."""
    server = PostgreSQL(tmp_path / "log")
    if server.user:
        server_owns(place)
    yield server
    server.remove()


@pytest.mark.thorough
def test_a_server_goes_back_to_a_moment(server: PostgreSQL, place: Path) -> None:
    archive, recovery = blocks("ini", place)
    (copy,) = blocks("sh", place)
    settings = server.folder / "postgresql.conf"
    settings.write_text(settings.read_text() + archive)
    server.start()
    say(server, "CREATE TABLE t (word TEXT)", "INSERT INTO t VALUES ('in the base')")
    program, *arguments = copy.split()
    server.run(program, *arguments, "--dbname", server.url)
    say(server, "INSERT INTO t VALUES ('before')")
    moment = ask(server, "SELECT clock_timestamp()::text")
    say(server, "SELECT pg_sleep(0.01)", "DELETE FROM t", "SELECT pg_switch_wal()")
    server.run("pg_ctl", "-D", str(server.folder), "-m", "fast", "stop")
    shutil.rmtree(server.folder)
    shutil.copytree(place / "base", server.folder)
    to = re.sub(r"(?<=recovery_target_time = ')[^']*", moment, recovery)
    settings.write_text(settings.read_text() + to)
    (server.folder / "recovery.signal").touch()
    if server.user:
        server_owns(server.folder)
    server.start()
    # It answers before it takes writes again.
    while ask(server, "SELECT pg_is_in_recovery()") == "True":
        continue
    assert ask(server, "SELECT string_agg(word, ', ') FROM t") == "in the base, before"
    say(server, "INSERT INTO t VALUES ('after')")


def server_owns(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, "postgres")
    folder.chmod(0o700)


def say(server: PostgreSQL, *statements: str) -> None:
    for statement in statements:
        ask(server, statement, gives=False)


def ask(server: PostgreSQL, statement: str, *, gives: bool = True) -> str:
    """Execute a statement in a transaction of its own; return what it gives."""
    engine = create_engine(server.url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.begin() as connection:
        result = connection.execute(text(statement))
        answer = str(result.scalar()) if gives else ""
    engine.dispose()
    return answer
