"""The benchmark with the least effort, for tests of what it measures."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from bench.rows import INSTALL, Effort, Row

TINY = Effort(repeats=2, seconds=0.005, matches=1, rooms=2, size=1)


class Recorded(subprocess.Popen[str]):
    """A process that is remembered."""

    started: ClassVar[list[subprocess.Popen[str]]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.started.append(self)


@pytest.fixture(name="processes")
def started_processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[str]]]:
    """All processes that are started; none may be left after the test."""
    monkeypatch.setattr(subprocess, "Popen", Recorded)
    monkeypatch.setattr(Recorded, "started", [])
    yield Recorded.started
    assert all(process.returncode is not None for process in Recorded.started)


def check(rows: list[Row], part: str) -> None:
    assert rows
    for row in rows:
        assert row.part == part
        assert row.what
        assert row.unit
        assert row.yardstick
        assert row.ours is not None
        assert row.ours >= 0
        assert row.ratio is not None or row.note == INSTALL
        assert row.met is None or row.aim
