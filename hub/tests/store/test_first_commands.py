"""`cw hub keys new` and `cw hub db upgrade --wait`: what a hub on several machines begins with."""

from __future__ import annotations

from pathlib import Path
from threading import Timer

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw_hub.operation.settings import read_settings
from cw_hub.store.sealing import Sealer
from hub.tests.services import PostgreSQL
from tests.ports import free_port


def test_new_keys_are_settings_that_are_taken() -> None:
    first, second = (CliRunner().invoke(main, ["hub", "keys", "new"]).output for _ in range(2))
    assert first != second
    settings = read_settings({}, first.splitlines())
    assert Sealer(settings.master_keys).key_id == "k1"
    named = CliRunner().invoke(main, ["hub", "keys", "new", "2027"]).output
    assert Sealer(read_settings({}, named.splitlines()).master_keys).key_id == "2027"
    refused = CliRunner().invoke(main, ["hub", "keys", "new", "a,b"])
    assert (refused.exit_code, "1 to 16" in refused.output) == (2, True)


def of_postgresql(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in CliRunner().invoke(main, ["hub", "keys", "new"]).output.splitlines():
        monkeypatch.setenv(*line.split("=", 1))
    monkeypatch.setenv("CW_DATABASE_URL", url)


def test_a_database_that_is_away_is_named_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    of_postgresql(f"postgresql://cw:hunter2@127.0.0.1:{free_port()}/cw", monkeypatch)
    result = CliRunner().invoke(main, ["hub", "db", "upgrade", "--wait", "0.1"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: the database does not answer: ")
    assert "hunter2" not in result.output


@pytest.mark.thorough
def test_a_database_that_begins_later_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = PostgreSQL(tmp_path / "log")
    of_postgresql(server.url, monkeypatch)
    start = Timer(1.0, server.start)
    start.start()
    try:
        result = CliRunner().invoke(main, ["hub", "db", "upgrade", "--wait", "60"])
        assert result.exit_code == 0, result.output
    finally:
        start.join()
        server.remove()
