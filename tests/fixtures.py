"""Fixtures that all tests share; pytest loads them as a plugin (pyproject.toml)."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from flask import Flask
from hypothesis import settings

from cw.matches import workers
from cw.server.wsgi import listen, serving
from cw.web import app as web_app
from cw.web import championship, create_app
from cw.web.settings import SiteSettings
from tests import patience, routes
from tests.chance import Chance
from tests.effort import amount
from tests.passed import Passed
from tests.tools import not_tried
from tests.typed import Terminal, opened_terminal

Serve = Callable[[Flask], str]

# In the background of a shell Ctrl-C is ignored, also by the programs to which tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine is no reason to fail.
settings.register_profile("cw", deadline=None, max_examples=amount(25, 60))
settings.load_profile("cw")

routes.compile_once()


IMPATIENT = (
    (web_app, "ReplayStore"),
    (web_app, "Thumbnails"),
    (championship, "Thumbnails"),
)


SELDOM = (20_000, 10, 50)
"""Objects, and collections of younger ones, between two collections of garbage."""

REASON = 2000
"""Characters of the end of a failure's text."""


class FakeClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let tests run in a random order, repeatedly, or only where they have not passed before."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a random order")
    parser.addoption("--repeat", type=int, metavar="TIMES", default=1, help="run each so often")
    parser.addoption("--passed-to", type=Path, metavar="FILE", help="note there what passes")
    parser.addoption("--passed", type=Path, metavar="FILE", help="leave out what passed before")


def pytest_configure(config: pytest.Config) -> None:
    """Draw by a seed, and know what has passed before."""
    config.pluginmanager.register(Chance(config.getoption("shuffle"), config.getoption("repeat")))
    config.pluginmanager.register(Passed(config.getoption("passed_to"), config.getoption("passed")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what was not tried, and how to get it."""
    reasons = (report.longrepr for report in terminalreporter.getreports("skipped"))
    line = not_tried(str(reason[2]) for reason in reasons if isinstance(reason, tuple))
    if line:
        terminalreporter.write_line(line)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Show a failure at once: a long run that is stopped never comes to its summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        failure = f"\nFAILED {report.nodeid} ({report.when})\n{report.longreprtext[-REASON:]}"
        print(failure, file=sys.__stderr__, flush=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among modules and tests, of which none goes away before the end.

    That would take a third of the time of their collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        # Memory is not short, and time is.
        gc.set_threshold(*SELDOM)


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give bots more time than any needs, but in tests of the limits that the rules set.

    Pages wait for what they show, where they would say after seconds that it is not ready.
    """
    for module, name in IMPATIENT:
        patient = partial(getattr(module, name), patience=patience.SECONDS)
        monkeypatch.setattr(module, name, patient)
    if request.node.get_closest_marker("limits_of_the_rules") is None:
        patience.be_patient(monkeypatch.setattr)
        monkeypatch.setattr(workers, "WORKER", patience.PROGRAM)


@pytest.fixture
def patient_painters(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give bots of Paint more time than any needs too: all of their lines are as they should be.

    But in tests of the limits that the rules set.
    """
    if request.node.get_closest_marker("limits_of_the_rules") is None:
        patience.be_patient(monkeypatch.setattr, patience.FOR_PAINTERS)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def app(clock: FakeClock) -> Flask:
    """The app that pytest-flask's client speaks to: 3 s a turn on a clock that stands still."""
    return create_app(SiteSettings(timeout=3), clock)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve apps over real sockets until the test ends; gives the base address of each."""
    with ExitStack() as servers:
        yield lambda app: servers.enter_context(serving(app, listen("127.0.0.1", 0)))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Return a terminal in a checkout for which the packages have been fetched."""
    with opened_terminal(tmp_path) as terminal:
        yield terminal
