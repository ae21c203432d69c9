"""A real Chromium that watches games on servers of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser.axe import SCREENS
from tests.effort import first_is_fast
from tests.fixtures import FakeClock, Serve
from tests.tools import BROWSER

SLOW = 60_000
"""Milliseconds in which a page has done what is waited for, on the slowest machine too."""

expect.set_options(timeout=SLOW)

FOLDER = Path(__file__).parent

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


each_screen = pytest.mark.parametrize(("scheme", "width"), first_is_fast(SCREENS))

PROGRAMS = ("chromium-headless-shell", "chromium")
"""The first is the same browser without windows, for half of the processor time."""


def find_chromium() -> str:
    """Return the path of Chromium; without one, skip or fail as CW_REQUIRE_BROWSER says."""
    return os.environ.get("CW_CHROMIUM") or BROWSER.program(*PROGRAMS)


@dataclass(frozen=True)
class Running:
    """A browser, and what ends it."""

    browser: Browser
    end: ExitStack


RUNNING = pytest.StashKey[Running]()


@pytest.fixture(scope="module")
def browser(pytestconfig: pytest.Config) -> Browser:
    """Return the browser that the tests of this folder share; it runs until they are left."""
    running = pytestconfig.stash.get(RUNNING, None)
    if running is None:
        path = find_chromium()
        with ExitStack() as stack:
            playwright = stack.enter_context(sync_playwright())
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            stack.callback(browser.close)
            running = Running(browser, stack.pop_all())
        pytestconfig.stash[RUNNING] = running
    return running.browser


def leave(folder: Path, item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the browser before a test that is not in a folder.

    While Playwright runs, so does its event loop, and the thread cannot run another.
    """
    stays = nextitem is not None and nextitem.path.is_relative_to(folder)
    if not stays and RUNNING in item.config.stash:
        running = item.config.stash[RUNNING]
        del item.config.stash[RUNNING]
        running.end.close()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    leave(FOLDER, item, nextitem)


@dataclass
class Game:
    """A game on a served app, played without a network: only the browser uses the socket."""

    app: Flask
    clock: FakeClock
    address: str
    prefix: str = ""

    @property
    def client(self) -> FlaskClient:
        return self.app.test_client()

    def get(self, path: str) -> None:
        """Ask the app for a path of this game."""
        assert self.client.get(f"{self.prefix}/{path}").status_code == 200

    def register(self, *teams: str) -> None:
        """Register teams."""
        for team in teams:
            self.get(f"reg/{team}")

    def play(self, moves: Sequence[str], teams: tuple[str, str] = ("alpha", "beta")) -> None:
        """Register both teams and make moves in turn."""
        self.register(*teams)
        for index, move in enumerate(moves):
            self.get(f"move/{teams[index % 2]}/{move}")


class Host:
    """Makes games on servers that run until the test ends."""

    def __init__(self, serve: Serve) -> None:
        """Start no server yet."""
        self._serve = serve

    def __call__(self, settings: SiteSettings | None = None) -> Game:
        """Serve a game of its own."""
        clock = FakeClock()
        app = create_app(settings or SiteSettings(timeout=3), clock)
        return Game(app, clock, self._serve(app))


@pytest.fixture
def host(serve: Serve) -> Host:
    return Host(serve)


@dataclass
class Watcher:
    """A page that is watched: what it asks for, what it complains of."""

    page: Page
    requests: list[Request] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    server_leaves: bool = False
    """Whether the test closes the server, of which the browser complains by itself."""

    def open(self, address: str) -> Page:
        """Open an address, and wait for the first answer of its server."""
        self.page.goto(address)
        self.page.wait_for_selector("#match:not([data-phase=loading])")
        return self.page

    def ask(self, request: Request) -> None:
        """Keep a request."""
        self.requests.append(request)

    def hear(self, response: Response) -> None:
        """Keep an answer."""
        self.responses.append(response)

    def note(self, message: ConsoleMessage) -> None:
        """Keep what the browser complains of, violations of the policy of the page too."""
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def origins(self) -> set[str]:
        """Return the origins of all requests so far."""
        addresses = [urlsplit(request.url) for request in self.requests]
        return {f"{address.scheme}://{address.netloc}" for address in addresses}

    def statuses(self) -> list[int]:
        """Return the codes of the answers to `status` so far."""
        return [answer.status for answer in self.responses if answer.url.endswith("/status")]


def watch(context: BrowserContext) -> Watcher:
    """Open a page that notes its requests and complaints."""
    watcher = Watcher(context.new_page())
    watcher.page.set_default_timeout(SLOW)
    watcher.page.on("request", watcher.ask)
    watcher.page.on("response", watcher.hear)
    watcher.page.on("console", watcher.note)
    watcher.page.on("pageerror", lambda error: watcher.complaints.append(str(error)))
    return watcher


@pytest.fixture
def watcher(browser: Browser) -> Iterator[Watcher]:
    """Return a new page; afterwards, only its own server was asked and nothing went wrong."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    watcher = watch(context)
    yield watcher
    context.close()
    if watcher.server_leaves:
        watcher.complaints = [
            text for text in watcher.complaints if "Failed to load resource" not in text
        ]
    assert watcher.complaints == []
    assert len(watcher.origins()) == 1
