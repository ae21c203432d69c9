"""The threads of a server end in time, whatever the requests in flight wait for."""

from __future__ import annotations

from itertools import count
from threading import Event
from types import SimpleNamespace

import pytest

from cw.server.wsgi import LEAVING, Lanes
from tests.arena.zoo import PATIENCE

STEP = 0.25
"""Seconds by which the clock goes on whenever it is looked at."""


class Request:
    """A request that is answered when the test says so."""

    def __init__(self, path: str) -> None:
        self.requests = [SimpleNamespace(path=path)]
        self.begun, self.goes_on = Event(), Event()

    def service(self) -> None:
        self.begun.set()
        self.goes_on.wait(PATIENCE)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give the server a clock that goes on with each look, and return the looks."""
    seconds: list[float] = []

    def time() -> float:
        seconds.append(next(steps) * STEP)
        return seconds[-1]

    steps = count()
    monkeypatch.setattr("waitress.task.time", SimpleNamespace(time=time))
    monkeypatch.setattr("cw.server.wsgi.monotonic", time)
    return seconds


@pytest.mark.parametrize("paths", [["/move/ann/0,0,top"], ["/health"], ["/games/", "/health"]])
def test_a_server_that_ends_waits_a_second_for_requests_in_flight(
    paths: list[str], looks: list[float]
) -> None:
    lanes, requests = Lanes(), [Request(path) for path in paths]
    for request in requests:
        lanes.add_task(request)
        assert request.begun.wait(PATIENCE)
    lanes.shutdown()
    # After the second that all have together, each lane looks a few times: no second of its own.
    assert looks[-1] - looks[0] <= LEAVING + (1 + 3 * len(lanes.lanes)) * STEP
    for request in requests:
        request.goes_on.set()


def test_a_quiet_server_ends_without_a_timer(looks: list[float]) -> None:
    lanes = Lanes()
    lanes.shutdown(timeout=int(PATIENCE))
    assert not lanes.threads
    assert not any(lane.threads for lane in lanes.lanes.values())


def test_a_page_does_not_wait_behind_the_runs_of_a_class() -> None:
    lanes, page = Lanes(), Request("/games/")
    runs = [Request("/workshop/paint/run") for _ in range(20)]
    for request in (*runs, page):
        lanes.add_task(request)
    assert page.begun.wait(PATIENCE)
    for request in (*runs, page):
        request.goes_on.set()
    assert all(request.begun.wait(PATIENCE) for request in runs)
    lanes.shutdown()
