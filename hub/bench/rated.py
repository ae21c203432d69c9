"""Benchmark of leaderboard, bot pages, ticks and results: 10,000 bots, 1,000,000 matches."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Final

from sqlalchemy import create_engine, select, text
from sqlalchemy.exc import OperationalError

from bench.rows import Effort, Goal, NotMeasured, Row
from cw_hub.competitions.rated import pairing
from cw_hub.matches import planning
from cw_hub.matches import results as matches_results
from cw_hub.matches.results import BattleResult, Claim, Finish
from cw_hub.operation import scheduler
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_site
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Match
from hub.bench import rated_history
from hub.bench.hub import BARE, Browser, compare, served

BOTS: Final = 10_000
MATCHES: Final = 1_000_000
FEW_MATCHES: Final = 10_000
"""On PostgreSQL, where no page is measured."""

LAYOUT: Final = f"{BARE}layout"
HUNDRED: Final = f"{BARE}hundred"
SOME_BOT: Final = "bot-1234"
OTHERS: Final = range(2000, 2020)
"""The numbers of bots whose pages nobody has looked at."""
BOARD: Final = "/leaderboard"
RANGE: Final = f"{BOARD}?range=30"

SLOTS: Final = 50
"""Of live workers: a hundred matches are made by a tick."""

WRITERS: Final = 8
AT_LEAST: Final = 3.0
"""Seconds in which results are written."""

MASTER_KEY: Final = f"bench:{'A' * 43}="

POSTGRESQL: Final = "postgresql+psycopg://postgres@127.0.0.1:5432"
NO_POSTGRESQL: Final = "no PostgreSQL at 127.0.0.1:5432"


def rows(effort: Effort) -> list[Row]:
    """Compare pages with bare ones, and time ticks and results on both databases."""
    with TemporaryDirectory() as folder:
        options = ("--bots", str(BOTS), "--matches", str(MATCHES))
        with served(folder, *options) as (_, visitor, _):
            results = [*leaderboard(visitor, effort), *bot_page(visitor, effort)]
        settings = HubSettings(data=Path(folder))
        with opened(settings, CeleryQueue(settings)) as resources:
            results += work(resources, "SQLite", 200)
    return [*results, *on_postgresql()]


def leaderboard(visitor: Browser, effort: Effort) -> list[Row]:
    """Measure the leaderboard: its page, its poll, and a range of time."""
    # Ranges first: what is read once is kept for a while.
    first, again = (seconds(visitor, partial(visitor.ask, RANGE)) for _ in range(2))
    pages = [f"{BOARD}?page={number}" for number in range(2, 22)]
    duration = 1000 * seconds(visitor, lambda: [visitor.ask(at) for at in pages]) / len(pages)
    ours, bare = compare(visitor, effort, *(partial(visitor.ask, at) for at in (BOARD, HUNDRED)))
    packed, whole = (size / 1000 for size in sizes(visitor, BOARD))
    poll = f"{BOARD}?format=json"
    tag = visitor.ask(poll).response.headers["ETag"]
    polled = visitor.statements(partial(visitor.ask, poll, 304, tag))
    what = "leaderboard"
    return [
        Row("rated", what, ours, "ms", "a fixed page of 100 rows", bare, Goal("<=", 5)),
        Row("rated", f"{what}, uncached", duration, "ms", "a fixed page of 100 rows", bare),
        Row("rated", what, packed, "KB", "plain", whole),
        Row("rated", f"{what}, 304", polled, "statements", "one", 1, Goal("=", 0, "ours")),
        Row("rated", f"{what}, 30 days", first, "s", "kept", again, Goal("<=", 0.4, "ours")),
    ]


def bot_page(visitor: Browser, effort: Effort) -> list[Row]:
    """Measure the page of a bot, and the opponents of one that has played 60,000 matches."""
    path = f"/bot/{SOME_BOT}"
    asked = visitor.statements(partial(visitor.ask, path))
    others = [f"/bot/bot-{number}" for number in OTHERS]
    duration = 1000 * seconds(visitor, lambda: [visitor.ask(at) for at in others]) / len(others)
    ours, bare = compare(visitor, effort, *(partial(visitor.ask, at) for at in (path, LAYOUT)))
    bots = "/api/v1/bots/b_00000000"
    busy = seconds(visitor, partial(visitor.ask, f"{bots}/opponents"))
    own = seconds(visitor, partial(visitor.ask, bots))
    what = "opponents after 60,000 matches"
    return [
        Row("rated", "page of a bot", ours, "ms", "bare layout", bare, Goal("<=", 4)),
        Row("rated", "page of a bot, uncached", duration, "ms", "bare layout", bare),
        Row("rated", "page of a bot", asked, "statements", "one", 1, Goal("<=", 8, "ours")),
        Row("rated", what, busy, "s", "the bot alone", own, Goal("<=", 0.4, "ours")),
    ]


def seconds(visitor: Browser, step: Callable[[], object]) -> float:
    """Return the seconds of a processor that the server needs for a step, done once."""
    before = visitor.processor()
    step()
    return visitor.processor() - before


def sizes(visitor: Browser, path: str) -> tuple[int, int]:
    """Return the bytes of a page, packed and plain."""
    body = visitor.ask(path).body
    return len(gzip.compress(body)), len(body)


def on_postgresql() -> list[Row]:
    """Do the same on a PostgreSQL of this machine, in a database of its own."""
    try:
        with new_postgresql() as url, TemporaryDirectory() as folder:
            settings = HubSettings(
                data=Path(folder), database_url=url, master_keys=MASTER_KEY, secret_key="00" * 32
            )
            with opened(settings, CeleryQueue(settings)) as resources:
                begin_site(resources, rest=0)
                with resources.database.writing() as session:
                    rated_history.write(session, BOTS, FEW_MATCHES)
                return work(resources, "PostgreSQL", 20)
    except OperationalError:
        goal = Goal(">=", 20, "ours")
        what = f"results, PostgreSQL, {WRITERS} writers"
        return [Row("rated", what, None, "1/s", "one writer", None, goal, NO_POSTGRESQL)]


@contextmanager
def new_postgresql() -> Iterator[str]:
    """Make a database in the PostgreSQL of this machine while the block runs; gives its address."""
    name = f"cw_bench_{token_hex(6)}"
    server = create_engine(f"{POSTGRESQL}/postgres", isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        url = f"{POSTGRESQL.replace('+psycopg', '')}/{name}"
        with closing(Database(url)) as database:
            upgrade(database)
        yield url
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


def work(resources: Resources, where: str, goal: int) -> list[Row]:
    """Time the tick, and the results of the matches that it has made."""
    tick, matches = timed_tick(resources)
    results = [
        Row("rated", f"tick, {where}", tick, "s", "matches made", matches, Goal("<=", 2, "ours"))
    ]
    alone, together = (results_a_second(resources, writers) for writers in (1, WRITERS))
    what = f"results, {where}, {WRITERS} writers"
    return [
        *results,
        Row("rated", what, together, "1/s", "one writer", alone, Goal(">=", goal, "ours")),
    ]


def timed_tick(resources: Resources) -> tuple[float, int]:
    """Let a tick make a hundred matches; return the seconds of a processor, and how many it made.

    PostgreSQL works in processes of its own, so there they are seconds of the clock.
    """
    timer = process_time if resources.database.is_sqlite else perf_counter
    with resources.database.writing() as session:
        scheduler.see_worker(session, "bench", "1", SLOTS)
    start = timer()
    with resources.database.writing() as session:
        matches = pairing.plan(session)
    return timer() - start, matches


def results_a_second(resources: Resources, writers: int) -> float:
    """Return how many matches end in a second, while so many threads write their results."""
    number, total = 0, 0.0
    with ThreadPoolExecutor(writers) as threads:
        while total < AT_LEAST:
            taken_claims = claimed(resources)
            if not taken_claims:
                raise NotMeasured("no bots are free for a match")
            start = perf_counter()
            for result in threads.map(partial(end, resources), taken_claims):
                number += result == "done"
            total += perf_counter() - start
    return number / total


def claimed(resources: Resources) -> list[Claim]:
    """Plan matches, and claim all that wait."""
    with resources.database.writing() as session:
        scheduler.see_worker(session, "bench", "1", SLOTS)
        pairing.plan(session)
        waiting = session.scalars(select(Match.id).where(Match.state == "queued")).all()
        lease = planning.LOST_AFTER
        candidates = (matches_results.claim(session, one, "bench", lease) for one in waiting)
        return [one for one in candidates if one is not None]


def end(resources: Resources, claim: Claim) -> Finish:
    """Write the result of a match, as a worker does."""
    now, stats = resources.clock(), {"answers": 200, "median_ms": 3.0, "most_ms": 40.0}
    slots = tuple(
        SlotResult(place, float(-place), (), stats) for place, _ in enumerate(claim.seats, 1)
    )
    battle = BattleResult("turn_limit", slots, 200, "replays/none.json.gz", 9000, now, now)
    with resources.database.writing() as session:
        return MATCH_TYPES.finish(session, claim, [battle])
