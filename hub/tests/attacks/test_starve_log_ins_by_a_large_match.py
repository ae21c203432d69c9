"""A very large match wants all of the processor of a hub's pages: people could not log in.

What the pages spend on it is compared with what is spent on playing it, so that a slow machine
changes nothing. On one server their process also plans the match, takes in what its player reports,
and stores the result. As roles, a worker does that: there the pages spend nothing on a match that
nobody looks at, and the test is that it stays so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import select

from cw.arena.processes import PROC
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.models import Match
from hub.tests.attacks.hubs import SHAPES, Hub, Shape, open_hub
from hub.tests.campaign import wait_until
from hub.tests.sites import PASSWORD

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not PROC.is_dir(), reason="needs /proc")]

SEATS: Final = 500
GAME: Final = "end-of-codes"
OPTIONS: Final = {"max_rounds": 1}
PAUSE: Final = 0.1
SHARE: Final = 0.25
"""Of the processor time of a match, the most that the process of the pages may take."""


@pytest.mark.parametrize("shape", SHAPES)
def test_people_log_in_beside_a_match_of_five_hundred(shape: Shape, tmp_path: Path) -> None:
    with open_hub(shape, tmp_path) as hub, database_of(hub) as database:
        hub.player("ann")
        answers = [log_in(hub) for _ in playing(database)]
        assert state_of(database) == "done"
        assert {*answers} == {303}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_pages_leave_a_match_of_five_hundred_to_others(shape: Shape, tmp_path: Path) -> None:
    with open_hub(shape, tmp_path) as hub, database_of(hub) as database:
        pages = hub.processes[0].process.pid
        before, spent = seconds_of(pages), 0.0
        for _ in playing(database):
            # The player may end with the match.
            spent = max(spent, seconds_of_players(hub))
            time.sleep(PAUSE)
        own = seconds_of(pages) - before
        assert state_of(database) == "done"
        assert own < SHARE * spent


def playing(database: Database) -> Iterator[None]:
    """Plan that match; yield again and again while it is played."""
    plan(database)
    wait_until(lambda: state_of(database) == "in_progress", "the match")
    while state_of(database) == "in_progress":
        yield


@contextmanager
def database_of(hub: Hub) -> Iterator[Database]:
    """Open the database of a hub."""
    with closing(Database(read_settings(hub.environment).database)) as database:
        yield database


def log_in(hub: Hub) -> int:
    """Log somebody in with a new browser; return the status of the answer."""
    return hub.visitor().log_in("ann", PASSWORD).status_code


def plan(database: Database) -> None:
    """Plan a match of five hundred, which the hub plays with its next tick."""
    seats = tuple(Seat(f"bot{number}", spec="builtin:idle") for number in range(SEATS))
    with database.writing() as session:
        planning.plan(session, Plan("practice", "crowd", GAME, seats, OPTIONS))


def state_of(database: Database) -> str | None:
    """Return the state of that match."""
    with database.reading() as session:
        return session.scalar(select(Match.state).where(Match.key == "crowd"))


def seconds_of(process: int) -> float:
    """Return the processor time that a process has taken, 0 for one that has ended."""
    return sum(map(int, stat_of(process)[11:13])) / os.sysconf("SC_CLK_TCK")


def seconds_of_players(hub: Hub) -> float:
    """Return the processor time of all processes that are not a hub's own, but below those."""
    numbers = [int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal()]
    parents = {number: [int(one) for one in stat_of(number)[1:2]] for number in numbers}
    found = below = {role.process.pid for role in hub.processes}
    seconds = 0.0
    while below := {one for one in numbers if below.intersection(parents[one])} - found:
        found = found | below
        seconds += sum(map(seconds_of, below))
    return seconds


def stat_of(process: int) -> list[str]:
    """Return the fields of a process that follow its name, none for one that has ended."""
    with suppress(OSError):
        return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    return []
