"""Benchmark of a hub: pages and polls vs. bare routes, and its share of a match vs. `cw play`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPConnection
from itertools import count, cycle
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from bench.client import Answer, connect, get
from bench.rows import Effort, Goal, NotMeasured, Row, medians
from bench.server import running

BARE: Final = "/bare/"
"""Where the server has its bare routes, each of as many bytes as its name says."""

FLASK: Final = "/flask"
"""Where an app of Flask alone has the same, without the guards and headers of the hub."""

PAGES: Final = {"profile": "/user/grace", "log-in": "/login", "settings": "/settings"}
FOR_VISITORS: Final = "/login"

REMEMBERED: Final = {
    "home": ("/?", 0.15),
    "matches": ("/matches?", 0.15),
    "best matches": ("/matches?best={month}&", 0.1),
    "leaderboard": ("/leaderboard?", 0.2),
}
"""Pages that all visitors share, each with its goal: the least share of requests per second."""

HISTORY: Final = ("--bots", "200", "--matches", "2000")
"""What these pages show."""

ADDRESSES: Final = 250
"""From so many addresses requests seem to come: each has its limit for a minute."""

POLLS: Final = 20
"""Polls whose statements are counted."""


@dataclass
class Browser:
    """Asks a hub over one connection that stays open, and keeps its cookie."""

    connection: HTTPConnection
    cookie: str = ""
    addresses: Iterator[int] = field(default_factory=lambda: cycle(range(ADDRESSES)))

    def ask(self, path: str, expected: int = 200, tag: str = "") -> Answer:
        """Ask for a path; raise NotMeasured if another status comes back."""
        headers = {"X-Forwarded-For": f"10.0.0.{next(self.addresses)}"}
        headers |= {"Cookie": f"cw={self.cookie}"} if self.cookie else {}
        headers |= {"If-None-Match": tag} if tag else {}
        answer = get(self.connection, path, headers)
        if answer.response.status != expected:
            raise NotMeasured(f"{path} was answered {answer.response.status}, not {expected}")
        set_cookie = answer.response.getheader("Set-Cookie", "")
        if set_cookie:
            self.cookie = set_cookie.partition(";")[0].removeprefix("cw=")
        return answer

    def statements(self, step: Callable[[], object]) -> int:
        """Return how many statements the database of the hub is asked by a step."""
        before = int(self.ask(f"{BARE}statements").body)
        step()
        return int(self.ask(f"{BARE}statements").body) - before

    def milliseconds(self, step: Callable[[], object], seconds: float) -> float:
        """Return the milliseconds of a processor that the server needs for a step."""
        before, number, start = self.processor(), 0, perf_counter()
        while perf_counter() - start < seconds:
            step()
            number += 1
        return (self.processor() - before) * 1000 / number

    def processor(self) -> float:
        """Return the seconds of a processor that the server has needed so far."""
        return float(self.ask(f"{BARE}processor").body)


@contextmanager
def browsers(*options: str) -> Iterator[tuple[Browser, Browser, str]]:
    """Run a hub while the block runs; gives a player, a visitor, and the name of a match."""
    with TemporaryDirectory() as folder, served(folder, *options) as visitors:
        yield visitors


@contextmanager
def served(folder: str, *options: str) -> Iterator[tuple[Browser, Browser, str]]:
    """Run a hub that keeps its data in a folder, which stays; gives as `browsers` does."""
    with running(folder, *options, module="hub.bench.hub_server") as line:
        address, cookie, match = line.split()
        with closing(connect(address)) as one, closing(connect(address)) as other:
            yield Browser(one, cookie), Browser(other), match


def rows(effort: Effort) -> list[Row]:
    """Compare requests per second, count statements, and play matches."""
    # Not before: other benches import this one, and need neither.
    from hub.bench import hub_ladder  # noqa: PLC0415
    from hub.bench.hub_match import share_of_match  # noqa: PLC0415

    with browsers() as (player, visitor, match):
        results = [session_check(player), *poll(visitor, f"/match/{match}/state", effort)]
        for name, path in PAGES.items():
            results += page(visitor if path == FOR_VISITORS else player, name, path, effort)
    with browsers(*HISTORY) as (_, visitor, _):
        for name, (path, least) in REMEMBERED.items():
            month = datetime.now(UTC).strftime("%Y-%m")
            results += for_visitors(visitor, name, path.format(month=month), least, effort)
    return [*results, *hub_ladder.rows(effort), share_of_match(effort)]


def for_visitors(
    visitor: Browser, name: str, path: str, least: float, effort: Effort
) -> Iterator[Row]:
    """Compare a page that all visitors share, remembered and made anew, with fixed bytes."""
    size = len(visitor.ask(path).body)
    numbers = count()
    per_second = (
        1000 / ms
        for ms in compare(
            visitor,
            effort,
            partial(visitor.ask, path),
            lambda: visitor.ask(f"{path}n={next(numbers)}"),
            partial(visitor.ask, f"{BARE}{size}"),
        )
    )
    shared, anew, bare = per_second
    what, unit = f"{name}, visitors, {size / 1000:.1f} kB", "requests/s"
    yield Row("hub", what, shared, unit, "fixed bytes", bare, Goal(">=", least))
    yield Row("hub", f"{what}, made anew", anew, unit, "fixed bytes", bare)


def page(browser: Browser, name: str, path: str, effort: Effort) -> list[Row]:
    """Compare the time of a page with that of fixed ones of the same size."""
    size = len(browser.ask(path).body)
    what = f"page: {name}, {size / 1000:.1f} kB"
    fixed = (f"{BARE}{size}", f"{FLASK}/{size}")
    ours, bare, alone = compare(
        browser, effort, *(partial(browser.ask, at) for at in (path, *fixed))
    )
    return [
        Row("hub", what, ours, "ms", "a bare route", bare, Goal("<=", 3)),
        Row("hub", what, ours, "ms", "Flask alone", alone),
    ]


def session_check(player: Browser) -> Row:
    """Count the statements of a page that asks nothing but who asks."""
    count = player.statements(partial(player.ask, "/forgot", 303))
    return Row("hub", "session check", count, "statements", "one", 1, Goal("=", 1, "ours"))


def poll(visitor: Browser, path: str, effort: Effort) -> list[Row]:
    """Compare polls of a match that has not changed with fixed bytes; count their statements."""
    first = visitor.ask(path)
    again = partial(visitor.ask, path, 304, first.response.headers["ETag"])
    fixed = partial(visitor.ask, f"{BARE}{len(first.body)}")
    ours, bare = (1000 / ms for ms in compare(visitor, effort, again, fixed))
    visitor.ask(path)
    asked = visitor.statements(lambda: [again() for _ in range(POLLS)])
    unit, none = "requests/s", Goal("=", 0, "ours")
    return [
        Row("hub", "poll, 304", ours, unit, "fixed bytes", bare, Goal(">=", 0.7)),
        Row("hub", f"{POLLS} polls, 304", asked, "statements", "polls", POLLS, none),
    ]


def compare(browser: Browser, effort: Effort, *steps: Callable[[], object]) -> list[float]:
    """Return how many milliseconds of a processor the server needs for each of some steps."""
    runs = {
        str(number): partial(browser.milliseconds, step, effort.seconds)
        for number, step in enumerate(steps)
    }
    return list(medians(runs, effort.repeats).values())
