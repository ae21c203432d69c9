"""Benchmark of a hub's workshop: Run to the first rendering, Stop, and many concurrent runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

import aiohttp

from bench.chromium import chromium
from bench.rows import Effort, Goal, NotMeasured, Row
from bench.workshop import run_to_picture
from hub.bench.operation import address_of, role

PAGE: Final = "/workshop/paint/"
PASSWORD: Final = "correct horse"
AUTHORS: Final = 100
OTHERS: Final = "/games/"
"""The page that somebody else asks for meanwhile."""

BETWEEN: Final = 0.1
"""Seconds between two of these."""

LOOK: Final = 1.0
"""Seconds between two looks at a run that waits, as the page has it."""

TOKEN: Final = re.compile(r'(?:name="csrf_token" value|data-token)="([^"]+)"')


@contextmanager
def hub() -> Iterator[str]:
    """Run a hub, all in one process, while the block runs; gives its address."""
    with TemporaryDirectory() as folder:
        environment = {"CW_DATA": folder, "CW_LOG": "text", "CW_TRUSTED_PROXY": "127.0.0.1"}
        with role(environment, "serve", "--port", "0") as server:
            yield address_of(server)


def rows(effort: Effort) -> list[Row]:
    """Measure all of it; without Chromium there are no rows."""
    path = chromium()
    if path is None:
        return []
    repeats = min(effort.repeats, 7)
    with hub() as address:
        pictures, stops = in_chromium(path, address, repeats)
        ends, pages = asyncio.run(many(address, AUTHORS if effort.repeats > repeats else 10))
    busy, most = quantiles(pages, n=100)[-1] * 1000, Goal("<=", 500, of="ours")
    goals = (Goal("<=", 1500, of="ours"), Goal("<=", 1000, of="ours"))
    return [
        row("Run to the first picture", median(pictures), goals[0]),
        row("Stop", median(stops), goals[1]),
        row(f"{len(ends)} runs at once: the last is over", max(ends) * 1000, None),
        row(f"{len(ends)} runs at once: pages of others, p99", busy, most),
    ]


def row(what: str, ours: float, goal: Goal | None) -> Row:
    """Return a row, in milliseconds."""
    return Row("hub-workshop", what, ours, "ms", "-", None, goal)


def in_chromium(path: str, address: str, repeats: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds from Ctrl+Enter to the picture, and those from Stop to the end."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this part needs it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        register(page, address)
        times = [times_of_run(page, address) for _ in range(repeats)]
        browser.close()
    return [picture for picture, _ in times], [stop for _, stop in times]


def register(page: Any, address: str) -> None:
    """Make an account as people do."""
    page.goto(f"{address}/register")
    for field in ("password", "password_repeat"):
        page.fill(f"[name={field}]", PASSWORD)
    page.fill("[name=username]", "Author")
    page.fill("[name=email]", "author@example.org")
    page.press("[name=email]", "Enter")
    page.wait_for_url(lambda url: "/register" not in url)


def times_of_run(page: Any, address: str) -> tuple[float, float]:
    """Return the milliseconds until a run has a picture, and until it is over once stopped."""
    page.goto(f"{address}{PAGE}")
    page.wait_for_selector(".cm-line")
    page.select_option("#opponent", "strong")
    page.focus(".cm-content")
    picture = run_to_picture(page)
    start = perf_counter()
    page.click("#stop")
    page.wait_for_selector("#run:not([aria-busy])")
    return picture * 1000, (perf_counter() - start) * 1000


async def many(address: str, number: int) -> tuple[list[float], list[float]]:
    """Return the seconds after which runs are over that many ask for, and those of other pages."""
    over = asyncio.Event()
    async with aiohttp.ClientSession() as visitor:
        authors = [Author(address, one) for one in range(number)]
        try:
            for author in authors:
                await author.register()
                await author.open()
            asking = asyncio.create_task(others(visitor, address, over))
            ends = await asyncio.gather(*(author.run() for author in authors))
            over.set()
            return list(ends), await asking
        finally:
            for author in authors:
                await author.session.close()


class Author:
    """Somebody with a draft, at an address of the network of their own."""

    def __init__(self, address: str, number: int) -> None:
        """Come to a hub; nothing is asked yet."""
        self.address = address
        self.name = f"author_{number}"
        headers = {"X-Forwarded-For": f"10.1.{number // 250}.{number % 250}"}
        jar = aiohttp.CookieJar(unsafe=True)
        self.session = aiohttp.ClientSession(headers=headers, cookie_jar=jar)
        self.token_of_page = ""

    async def register(self) -> None:
        """Make an account."""
        form = {"username": self.name, "email": f"{self.name}@example.org"}
        form |= {"password": PASSWORD, "password_repeat": PASSWORD}
        form["csrf_token"] = await self.token("/register")
        async with self.session.post(f"{self.address}/register", data=form) as answer:
            if not answer.ok:
                raise NotMeasured(f"an account was answered {answer.status}")

    async def token(self, path: str) -> str:
        """Return what a page sends with what it changes."""
        async with self.session.get(f"{self.address}{path}") as answer:
            token = TOKEN.search(await answer.text())
        if token is None:
            raise NotMeasured(f"{path} has no token")
        return token[1]

    async def open(self) -> None:
        """Open the page on which the draft is run."""
        self.token_of_page = await self.token(PAGE)

    async def run(self) -> float:
        """Run the draft; return the seconds until that is over."""
        headers = {"X-CSRFToken": self.token_of_page, "Accept": "application/json"}
        wanted = {"opponent": "random", "seat": 1, "seed": None}
        place, start = f"{self.address}{PAGE}run", perf_counter()
        async with self.session.post(place, json=wanted, headers=headers) as answer:
            if not answer.ok:
                raise NotMeasured(f"a run was answered {answer.status}")
        while True:
            async with self.session.get(place, headers=headers) as answer:
                run = await answer.json()
            if not run["goes_on"]:
                break
            await asyncio.sleep(LOOK)
        if run["failed"]:
            raise NotMeasured(f"a run has failed: {run['words']}")
        return perf_counter() - start


async def others(visitor: aiohttp.ClientSession, address: str, over: asyncio.Event) -> list[float]:
    """Ask for a page again and again until all is over; return the seconds of each time."""
    times: list[float] = []
    while not over.is_set() or len(times) < 2:
        start = perf_counter()
        async with visitor.get(f"{address}{OTHERS}") as answer:
            await answer.read()
        times.append(perf_counter() - start)
        await asyncio.sleep(BETWEEN)
    return times
