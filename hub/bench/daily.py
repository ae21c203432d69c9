"""Benchmark of daily game pages: 1,000 players and 1,000 games, compared to the bare layout."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from bench.rows import Effort, Goal, Row
from hub.bench.hub import BARE, Browser, browsers, compare

PLAYERS: Final = 1000
GAMES: Final = 1000

LAYOUT: Final = f"{BARE}layout"
NOW: Final = "/ranking/now"

GOALS: Final = {"ranking": (3, 5), "profile": (3, 3), "match": (2, 2)}
"""How many times as long as the bare layout a page may take, for a visitor and for a player."""

STATEMENTS: Final = {"ranking": (6, 11), "profile": (6, 6), "match": (4, 4)}
LARGEST: Final = 60
LARGEST_WITH_GRAPH: Final = 90
"""Kilobytes of a page, packed."""


@contextmanager
def visitors() -> Iterator[tuple[Browser, Browser, str]]:
    """Run a hub with a long history while the block runs; gives as `browsers` does."""
    with browsers("--players", str(PLAYERS), "--games", str(GAMES)) as hub:
        yield hub


def rows(effort: Effort) -> list[Row]:
    """Compare the time of pages, count their statements and bytes."""
    with visitors() as (player, visitor, match):
        pages = {"ranking": "/ranking", "profile": "/user/player2", "match": f"/match/{match}"}
        results = [
            row
            for name, path in pages.items()
            for who, browser in enumerate((visitor, player))
            for row in page(browser, name, path, who, effort)
        ]
        return [*results, poll(visitor, effort)]


def page(browser: Browser, name: str, path: str, who: int, effort: Effort) -> list[Row]:
    """Measure a page for a visitor (0) or a player (1)."""
    what = f"{name}, {('visitor', 'player')[who]}"
    body = browser.ask(path).body
    asked = browser.statements(partial(browser.ask, path))
    ours, bare = compare(browser, effort, *(partial(browser.ask, at) for at in (path, LAYOUT)))
    packed, whole = (size / 1000 for size in (len(gzip.compress(body)), len(body)))
    with_graph = name == "profile" or (name == "ranking" and who == 1)
    largest = LARGEST_WITH_GRAPH if with_graph else LARGEST
    fewest = Goal("<=", STATEMENTS[name][who], "ours")
    return [
        Row("daily", what, ours, "ms", "bare layout", bare, Goal("<=", GOALS[name][who])),
        Row("daily", what, asked, "statements", "one", 1, fewest),
        Row("daily", what, packed, "KB", "plain", whole, Goal("<=", largest, "ours")),
    ]


def poll(visitor: Browser, effort: Effort) -> Row:
    """Compare polls of what is going on, while nothing changes, with fixed bytes."""
    first = visitor.ask(NOW)
    again = partial(visitor.ask, NOW, 304, first.response.headers["ETag"])
    fixed = partial(visitor.ask, f"{BARE}{len(first.body)}")
    ours, bare = compare(visitor, effort, again, fixed)
    return Row("daily", "what is going on, 304", ours, "ms", "fixed bytes", bare, Goal("<=", 1.2))
