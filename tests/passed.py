"""Tests that have passed in one run and are left out of the next: a gate runs each once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


class Passed:
    """Notes which tests pass, and leaves out those that have passed before."""

    def __init__(self, to: Path | None, before: Path | None) -> None:
        """Take the files that names of tests, a line each, are written to and read from."""
        self._to = None if "PYTEST_XDIST_WORKER" in os.environ else to
        self._before = frozenset(before.read_text("utf-8").splitlines() if before else ())
        self._passed: list[str] = []

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what has passed before."""
        left_out = [item for item in items if item.nodeid in self._before]
        if left_out:
            items[:] = [item for item in items if item.nodeid not in self._before]
            config.hook.pytest_deselected(items=left_out)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that has passed."""
        if report.when == "call" and report.passed:
            self._passed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the names of the tests that have passed."""
        if self._to is not None:
            self._to.write_text("".join(f"{name}\n" for name in self._passed), "utf-8")
