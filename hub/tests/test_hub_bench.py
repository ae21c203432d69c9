"""The parts of `cw bench` that measure a hub."""

from __future__ import annotations

import asyncio

import pytest

from cw.assets import is_checkout
from cw.cli.bench import PARTS, parts_known
from hub.bench import daily, hub, hub_workshop, operation, rated
from tests.benches import (
    TINY,
    check,
    check_figures,
    measured_at_once,
    started_processes,  # noqa: F401 - a fixture
)
from tests.tools import NEEDS_BUBBLEWRAP
from tests.typed import ROOT


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_hub_counts_statements_and_compares_pages() -> None:
    *rows, share = hub.rows(TINY)
    check(rows, "hub")
    # A difference of two times, each of one match: on a busy machine it may be below 0.
    assert (share.what, share.unit) == ("its share of a match of 200 turns", "ms")
    assert share.ours is not None
    counted = {row.what: row.ours for row in rows if row.unit == "statements"}
    assert counted["session check"] == 1
    pages = [row.yardstick for row in rows if row.what.startswith("page: ")]
    assert pages == ["a bare route", "Flask alone"] * 3


@pytest.mark.thorough
def test_daily_compares_pages_with_the_bare_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "PLAYERS", 12)
    monkeypatch.setattr(daily, "GAMES", 3)
    rows = daily.rows(TINY)
    check(rows, "daily")
    assert all(row.met for row in rows if row.unit in ("statements", "KB"))
    assert [row.unit for row in rows] == ["ms", "statements", "KB"] * 6 + ["ms"]


@pytest.mark.thorough
def test_rated_times_pages_ticks_and_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rated, "BOTS", 400)
    monkeypatch.setattr(rated, "SOME_BOT", "bot-123")
    monkeypatch.setattr(rated, "OTHERS", range(200, 203))
    monkeypatch.setattr(rated, "MATCHES", 60)
    monkeypatch.setattr(rated, "FEW_MATCHES", 60)
    monkeypatch.setattr(rated, "AT_LEAST", 0.01)
    rows = rated.rows(TINY)
    check(rows, "rated")
    assert all(row.met for row in rows if row.unit == "statements")
    counts = [row.theirs for row in rows if row.yardstick == "matches made"]
    assert set(counts) == {100}
    assert [row.what for row in rows][-1] == "results, PostgreSQL, 8 writers"


@pytest.mark.thorough
@pytest.mark.usefixtures("processes")
def test_operation_times_upkeep_workers_and_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"BOTS": 20, "MATCHES": 20, "WORKERS": (1,), "FOR_EACH": 4, "LEFT_OUT": 1}
    for name, value in {**small, "BROWSERS": 5, "PACE": 0.2, "WATCHED": 1.0}.items():
        monkeypatch.setattr(operation, name, value)
    rows = operation.rows(TINY)
    check(rows, "operation")
    units = ["rows/s", "rows/s", "matches/s", "s", "matches/min", "s", "cores"]
    assert [row.unit for row in rows] == units


@pytest.mark.thorough
@NEEDS_BUBBLEWRAP
def test_runs_on_a_hub_are_timed_beside_pages_of_others() -> None:
    with hub_workshop.hub() as address:
        ends, pages = asyncio.run(hub_workshop.many(address, 2))
    assert len(ends) == 2
    assert min(ends + pages) > 0


@pytest.mark.skipif(not is_checkout(), reason="a wheel of the arena measures nothing")
def test_the_parts_of_a_hub_are_measured_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    own = parts_known().keys() - PARTS.keys()
    assert own == {"daily", "hub", "hub-workshop", "operation", "rated"}
    assert measured_at_once(monkeypatch, parts_known()) == list(parts_known())


def test_the_figures_of_all_parts_fit_on_a_page_with_those_of_a_hub() -> None:
    texts = [(ROOT / docs / "performance.md").read_text() for docs in ("docs", "hub/docs")]
    # Its workshop has no yardstick.
    check_figures("\n".join(texts), parts_known().keys() - {"hub-workshop"})
