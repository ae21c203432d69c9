"""Daily games end once, whatever is killed: `make soak`, at full size."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import update

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from cw_hub.store.models import Bot
from hub.tests.campaign import HASTY, ROOT, Role, roles, wait_until
from hub.tests.competitions.daily.test_daily_kills import play_alone, play_on_services
from hub.tests.daily_hub import Hub
from hub.tests.served_bots import Bots, serving_bots
from hub.tests.sites import Visitor

pytestmark = pytest.mark.thorough

KILLS = 20
CROWD = 100
PROCESSES = 4
PAGES = ("/ranking", "/login", "/matches")

logger = logging.getLogger(__name__)


@pytest.fixture
def bots() -> Iterator[Bots]:
    with serving_bots() as bots:
        yield bots


def test_a_hub_in_one_process_is_killed_in_each_of_20_games(tmp_path: Path, bots: Bots) -> None:
    play_alone(tmp_path, bots, KILLS)


def test_a_worker_is_killed_in_each_of_20_games(tmp_path: Path, bots: Bots) -> None:
    play_on_services(tmp_path, bots, KILLS)


@contextmanager
def crowd() -> Iterator[str]:
    """Serve bots in a process of their own; gives the beginning of their addresses."""
    command = [sys.executable, "-m", "hub.tests.soak.crowd"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def peak_memory(pid: int) -> int:
    """Return how many MiB a process has had at most."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert match
    return int(match[1]) // 1024


def opened_pages(visitor: Visitor, number: int) -> list[float]:
    """Return how many milliseconds each of some requests for pages has taken."""
    times = []
    for one in range(number):
        begun = time.perf_counter()
        assert visitor.open(PAGES[one % len(PAGES)]).status_code == 200
        times.append((time.perf_counter() - begun) * 1000)
    return times


def percentile_99(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100]


def test_a_hundred_bots_play_a_game_to_its_end_and_hang_in_another(
    tmp_path: Path, bots: Bots
) -> None:
    environment = {"CW_DATA": str(tmp_path / "data"), **HASTY}
    settings = read_settings(environment)
    with ExitStack() as stack:
        resources = stack.enter_context(opened(settings, CeleryQueue(settings)))
        hub = Hub(resources, {"M": 15, "MAX_HP": 5, "max_rounds": 200, "timeout": 30})
        hub.rest_elsewhere()
        bases = [stack.enter_context(crowd()) for _ in range(PROCESSES)]
        for number in range(CROWD):
            name = f"bot{number}"
            hub.player(name, f"{bases[number % PROCESSES]}/{name}")
        server = Role(["serve", "--port", "0"], environment, tmp_path / "hub.log")
        stack.enter_context(roles(server))
        wait_until(lambda: "Hub: " in server.log.read_text(), "the hub")
        match = re.search(r"Hub: (\S+)/", server.log.read_text())
        assert match
        before = peak_memory(server.process.pid)
        hub.begin()
        wait_until(lambda: hub.outcomes()[0][0] == "done", "the end")
        game = hub.games()[0]
        assert game.started_at
        assert game.finished_at
        took = (game.finished_at - game.started_at).total_seconds()
        memory = peak_memory(server.process.pid)
        logger.info("%s bots, %s rounds: %.0f s, %s", CROWD, game.turn, took, game.reason)
        logger.info("the hub: %s MiB at most, %s before", memory, before)
        assert (game.players, game.troubles) == (CROWD, 0)
        faults = [seat.faults for seat in hub.seats() if seat.faults]
        assert faults == []
        visitor = Visitor(match[1])
        idle = opened_pages(visitor, 300)
        hanging: list[float] = []
        with resources.database.writing() as session:
            session.execute(update(Bot).values(endpoint=bots.at("slow")))
        with bots.held_at("bot") as hold:
            for _ in range(6):
                hold.caught.clear()
                hub.begin()
                hold.wait()
                hanging += opened_pages(visitor, 50)
                wait_until(lambda: {state for state, _ in hub.outcomes()} == {"done"}, "the end")
        logger.info(
            "pages, p99: %.0f ms idle, %.0f ms while %s hang",
            percentile_99(idle),
            percentile_99(hanging),
            CROWD,
        )
