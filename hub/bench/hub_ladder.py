"""Benchmark of a group's ladder with 500 teams: its page, its polls, and as many browsers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from html import unescape
from threading import Event, Thread
from typing import Final

from bench.client import connect
from bench.rows import Effort, Goal, NotMeasured, Row
from hub.bench import crowd, ladder_history
from hub.bench.hub import BARE, Browser, browsers, compare

TEAMS: Final = 500
PAGE: Final = f"/t/{ladder_history.SLUG}/{ladder_history.GROUP}/"
EVENTS: Final = f"/t/{ladder_history.SLUG}/events.json"
LAYOUT: Final = f"{BARE}layout"

EVENTS_EVERY: Final = 15.0
"""Seconds between two polls of the countdown: hub/static/hub/ladder_bar.js."""

WATCHED: Final = 30.0
WATCHED_QUICKLY: Final = 2.0
"""Seconds for which browsers look on."""

CHANGE_EVERY: Final = 5.0
"""Seconds from one change of the ladder to the next."""


def rows(effort: Effort) -> list[Row]:
    """Measure the first page of the group, the renewal of pages, and many open pages."""
    with browsers("--teams", str(TEAMS)) as (_, visitor, _):
        return [
            *first_page(visitor, effort),
            *renewal(visitor, effort),
            *open_pages(visitor, effort),
        ]


def first_page(visitor: Browser, effort: Effort) -> Iterator[Row]:
    """Compare the page of the ladder with the bare layout of a page."""
    what = f"ladder of {TEAMS} teams, first page"
    size = len(visitor.ask(PAGE).body) / 1000
    bare = len(visitor.ask(LAYOUT).body) / 1000
    ours, layout = compare(visitor, effort, *(partial(visitor.ask, at) for at in (PAGE, LAYOUT)))
    yield Row("hub", what, size, "KB", "bare layout", bare, Goal("<=", 120, "ours"))
    yield Row("hub", what, ours, "ms", "bare layout", layout, Goal("<=", 8))


def renewal(visitor: Browser, effort: Effort) -> Iterator[Row]:
    """Compare the poll of an open page, which has not changed, with fixed bytes."""
    address, _ = poll_of(visitor)
    first = visitor.ask(address)
    again = partial(visitor.ask, address, 304, first.response.headers["ETag"])
    fixed = partial(visitor.ask, f"{BARE}{len(first.body)}")
    ours, bare = compare(visitor, effort, again, fixed)
    whole = len(json.loads(visitor.ask(PAGE.rstrip("/") + "/ladder.json").body)["entries"])
    if whole != TEAMS:
        raise NotMeasured(f"the ladder has {whole} teams, not {TEAMS}")
    what = f"ladder of {TEAMS} teams"
    page = len(visitor.ask(PAGE).body) / 1000
    yield Row("hub", f"{what}, renewal", len(first.body) / 1000, "KB", "its page", page)
    yield Row("hub", f"{what}, poll, 304", ours, "ms", "fixed bytes", bare, Goal("<=", 1.4))


def open_pages(visitor: Browser, effort: Effort) -> Iterator[Row]:
    """Measure the processor time of a server while many browsers show the ladder."""
    url = f"http://{visitor.connection.host}:{visitor.connection.port}"
    address, every = poll_of(visitor)
    tags = [visitor.ask(at).response.headers["ETag"] for at in (address, EVENTS)]
    polled = [
        crowd.Polled(f"{url}{address}", every, tags[0]),
        crowd.Polled(f"{url}{EVENTS}", EVENTS_EVERY, tags[1]),
    ]
    seconds = WATCHED if effort.repeats > 50 else WATCHED_QUICKLY
    still = cores(url, polled, seconds)
    with changing(url):
        busy = cores(url, polled, seconds)
    what = f"ladder of {TEAMS} teams, {crowd.BROWSERS} browsers"
    most = Goal("<=", 0.25, "ours")
    yield Row("hub", what, still, "cores", "one core", 1, most)
    yield Row(
        "hub", f"{what}, new each {CHANGE_EVERY:g} s", busy, "cores", "no change", still, most
    )


def poll_of(visitor: Browser) -> tuple[str, float]:
    """Return what the page of the ladder polls, and after how many seconds."""
    text = visitor.ask(PAGE).body.decode()
    address = re.search('data-renew="([^"]+)"', text)
    every = re.search('data-every="([^"]+)"', text)
    if address is None or every is None:
        raise NotMeasured("the page of the ladder does not renew itself")
    return unescape(address[1]), float(every[1])


def cores(address: str, polled: Sequence[crowd.Polled], seconds: float) -> float:
    """Return the processor time of the server for each second in which browsers look on."""
    before = processor(address)
    crowd.watch(polled, seconds)
    return (processor(address) - before) / seconds


def processor(address: str) -> float:
    """Return the seconds of a processor that a server has needed so far."""
    # A connection that is not used for so long would be closed.
    with closing(connect(address)) as connection:
        return Browser(connection).processor()


@contextmanager
def changing(address: str) -> Iterator[None]:
    """Give a team a point again and again while the block runs."""
    over = Event()

    def change() -> None:
        while not over.wait(CHANGE_EVERY):
            with closing(connect(address)) as connection:
                Browser(connection).ask(f"{BARE}point")

    thread = Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
