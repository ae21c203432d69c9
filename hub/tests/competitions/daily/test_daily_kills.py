"""Daily games end once, whatever is killed: real processes, and bots that are asked over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest
from sqlalchemy import select

from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily.service import GAME
from cw_hub.context import utc_now
from cw_hub.matches import results
from cw_hub.matches.stored_replays import viewed_key
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Battle
from cw_hub.store.objects import file_at
from hub.tests import patience
from hub.tests.campaign import HASTY, KILLS, Role, on_services, roles, wait_until
from hub.tests.conftest import StillClock
from hub.tests.daily_hub import SMALL, Hub
from hub.tests.served_bots import Bots, serving_bots
from hub.tests.services import new_postgresql, new_redis
from hub.tests.ticking import DUE_TIMES, tick_at_due_times

TICKERS = 5
PLAYERS = ("ann", "bob", "cid")
PATIENT = HASTY | {"CW_LEASE": "600"}
"""No lease ends by itself on a busy machine, so that each game has the attempts of its strokes."""

LAST = SMALL["max_rounds"]
MOMENTS = [("round", 3), ("bot", None), ("round", LAST), ("game", None), ("round", 0)]
"""The requests at which a game is cut off, one after the other."""


@pytest.fixture
def bots() -> Iterator[Bots]:
    with serving_bots() as bots:
        yield bots


def patient(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Role:
    """Start a process that takes no bot of this busy machine for late, and none that is held."""
    return Role(arguments, environment, log, program=patience.PROGRAM[1:])


@contextmanager
def hub_on(environment: dict[str, str], bots: Bots) -> Iterator[Hub]:
    """Open a hub that is to be served by others, with a bot for each player."""
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings)) as resources:
        hub = Hub(resources)
        hub.rest_elsewhere()
        for name in PLAYERS:
            hub.player(name, bots.at(name))
        yield hub


def is_over(hub: Hub, number: int) -> bool:
    return [game.state for game in hub.games()] == ["done"] * number


def cut_off(hub: Hub, bots: Bots, strokes: int, strike: Callable[[], None]) -> None:
    """Play games, each of which is cut off once, at another moment; wait for the end of each."""
    for number in range(strokes):
        with bots.held_at(*MOMENTS[number % len(MOMENTS)]) as hold:
            hub.begin()
            hold.wait()
            strike()
        wait_until(lambda done=number + 1: is_over(hub, done), "the end")  # type: ignore[misc]


def check_games(hub: Hub, bots: Bots, number: int) -> None:
    """Hold rows, objects and what bots were told against each other."""
    games = hub.games()
    assert [(game.state, game.reason, game.attempt) for game in games] == [
        ("done", "round_cap", 2)
    ] * number
    assert [seat.rank for seat in hub.seats()] == [1] * len(PLAYERS) * number
    with hub.resources.database.reading() as session:
        battles = session.scalars(select(Battle).order_by(Battle.match_id)).all()
    assert [battle.match_id for battle in battles] == [game.id for game in games]
    for place, (game, battle) in enumerate(zip(games, battles, strict=True)):
        # Everybody was sent round 0 of the same world, some twice if the first attempt came so far.
        starts = bots.starts_of(game.id)
        again = MOMENTS[place % len(MOMENTS)][0] == "round"
        assert len(starts) >= len(PLAYERS) + again
        assert len(set(starts)) == 1
        assert battle.replay_key is not None
        data = file_at(hub.resources.objects, viewed_key(GAME, battle.replay_key))
        assert data is not None
        replay = decode(data)
        assert verify(load_game(GAME), replay) is None
        assert replay["options"]["gameid"] == game.id
    # Each attempt asks each bot twice, before the game and as it begins, unless it is cut off.
    names = [one.name for one in bots.asked if one.request == "bot"]
    assert all(names.count(name) > 2 * number for name in PLAYERS)


def play_alone(folder: Path, bots: Bots, strokes: int) -> None:
    """Kill a hub in one process in each of its games."""
    environment = {"CW_DATA": str(folder / "data"), **PATIENT}
    with hub_on(environment, bots) as hub:
        server = patient(["serve", "--port", "0"], environment, folder / "hub.log")
        with roles(server):

            def strike() -> None:
                server.kill()
                server.start()

            cut_off(hub, bots, strokes, strike)
        check_games(hub, bots, strokes)


def play_on_services(folder: Path, bots: Bots, strokes: int) -> None:
    """Kill the worker of a hub of several processes in each of its games."""
    with new_postgresql() as database, new_redis(folder) as broker:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(folder / "data", database, broker) | PATIENT
        with hub_on(environment, bots) as hub:
            worker = patient(["worker", "--kinds", "daily"], environment, folder / "worker.log")
            scheduler = Role(["scheduler"], environment, folder / "scheduler.log")
            with roles(worker, scheduler):

                def strike() -> None:
                    worker.kill()
                    with hub.resources.database.writing() as session:
                        assert results.reap_all(session) == 1
                    worker.start()

                cut_off(hub, bots, strokes, strike)
            check_games(hub, bots, strokes)


@pytest.mark.thorough
def test_a_hub_in_one_process_is_killed_in_each_game(tmp_path: Path, bots: Bots) -> None:
    play_alone(tmp_path, bots, (KILLS + 1) // 2)


@pytest.mark.thorough
def test_a_worker_is_killed_in_each_game(tmp_path: Path, bots: Bots) -> None:
    play_on_services(tmp_path, bots, (KILLS + 1) // 2)


# Due times


@pytest.mark.thorough
def test_five_processes_that_tick_at_once_make_one_game_a_day(tmp_path: Path) -> None:
    processes = get_context("forkserver")
    processes.set_forkserver_preload(["hub.tests.ticking"])
    with new_postgresql() as database, new_redis(tmp_path) as broker:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path, database, broker)
        settings, clock = read_settings(environment), StillClock()
        clock.now = DUE_TIMES[0] - timedelta(hours=1)
        with opened(settings, CeleryQueue(settings), clock) as resources:
            hub = Hub(resources)
            barrier = processes.Barrier(TICKERS)
            tickers = [
                processes.Process(target=tick_at_due_times, args=(environment, barrier))
                for _ in range(TICKERS)
            ]
            for ticker in tickers:
                ticker.start()
            for ticker in tickers:
                ticker.join()
            assert [ticker.exitcode for ticker in tickers] == [0] * TICKERS
            games = hub.games()
    assert [game.at for game in games] == DUE_TIMES
    # Nobody plays, so the first game stays open, and the others are called off.
    off = [("void", "previous_game_running")] * (len(DUE_TIMES) - 1)
    assert [(game.state, game.reason) for game in games] == [("queued", None), *off]


def since(hub: Hub, ago: timedelta, due: datetime) -> None:
    """Let the competition have been running for a while, with a due time at this time of day."""
    values = {competitions_service.SINCE: (utc_now() - ago).isoformat(), "time": f"{due:%H:%M}"}
    with hub.resources.database.writing() as session:
        competitions_service.set_values(session, hub.id, values)


@pytest.mark.thorough
def test_a_hub_that_was_down_for_three_days_plays_the_last_game(tmp_path: Path, bots: Bots) -> None:
    environment = {"CW_DATA": str(tmp_path / "data"), **HASTY}
    due = (utc_now() - timedelta(hours=1)).replace(second=0, microsecond=0)
    with hub_on(environment, bots) as hub:
        since(hub, timedelta(days=3), due)
        with roles(patient(["serve", "--port", "0"], environment, tmp_path / "hub.log")):
            wait_until(lambda: is_over(hub, 1), "the game")
        (game,) = hub.games()
    assert (game.at, game.reason) == (due, "round_cap")
