"""Matches survive whatever becomes of the processes that play them."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
import redis
from sqlalchemy import select

from cw_hub.matches import planning
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from cw_hub.site.demo import BOTS
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Match, Worker
from hub.tests import patience
from hub.tests.campaign import (
    HASTY,
    KILLS,
    PATIENCE,
    Role,
    check_everything,
    is_done,
    on_services,
    one_after_the_other,
    plan_matches,
    roles,
    run,
    wait_until,
)
from hub.tests.services import new_postgresql, new_redis
from hub.tests.sites import Visitor

EACH = 8
"""Matches for every stroke."""


@contextmanager
def silent_bot() -> Iterator[str]:
    """Listen, and never answer; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_hub_in_one_process_is_killed_again_and_again(tmp_path: Path) -> None:
    number, environment = KILLS * EACH, {"CW_DATA": str(tmp_path / "data"), **HASTY}
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings)) as resources:
        plan_matches(resources, number)
        hub = Role(["serve", "--port", "0"], environment, tmp_path / "hub.log")
        with roles(hub):

            def strike(_: int) -> None:
                hub.kill()
                hub.start()

            one_after_the_other(resources, number, KILLS, strike)
        check_everything(resources, number)


@pytest.mark.thorough
def test_workers_are_killed_and_stopped_and_redis_is_emptied(tmp_path: Path) -> None:
    number = KILLS * EACH
    with new_postgresql() as database, new_redis(tmp_path) as broker:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path / "data", database, broker)
        settings = read_settings(environment)
        with opened(settings, CeleryQueue(settings)) as resources:
            plan_matches(resources, number)
            workers = [Role(["worker"], environment, tmp_path / f"{one}.log") for one in "ab"]
            scheduler = Role(["scheduler"], environment, tmp_path / "scheduler.log")
            with roles(*workers, scheduler):

                def strike(stroke: int) -> None:
                    worker = workers[stroke % 2]
                    if stroke % 3 == 1:
                        worker.stop()
                    else:
                        worker.kill()
                    if stroke % 4 == 2:
                        redis.Redis.from_url(broker).flushall()
                        scheduler.kill()
                        scheduler.start()
                    worker.start()

                one_after_the_other(resources, number, KILLS, strike)
            check_everything(resources, number)


def begun(role: Role, resources_of: Database) -> bool:
    assert role.process.poll() is None, role.log.read_text()
    with resources_of.reading() as session:
        return session.scalar(select(Match.id).where(Match.state == "in_progress")) is not None


def seen_slots(database: Database) -> list[int]:
    with database.reading() as session:
        return list(session.scalars(select(Worker.slots)))


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_told_to_end_gives_its_match_back_at_once(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The match is a long one: its bot does not answer, and has the time that tests give."""
    with new_postgresql() as database, new_redis(tmp_path) as broker, silent_bot() as address:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path / "data", database, broker) | {"CW_LEASE": "600"}
        settings = read_settings(environment)
        with opened(settings, CeleryQueue(settings)) as resources:
            seats = (planning.Seat("slow", spec=address), planning.Seat("b", spec="builtin:random"))
            with resources.database.writing() as session:
                plan = planning.Plan("practice", "k", "hexagon", seats)
                match = planning.plan(session, plan)
            resources.queue.send("play_match", match, queue="practice")
            log = tmp_path / "worker.log"
            worker = Role(["worker"], environment, log, program=patience.PROGRAM[1:])
            with roles(worker):
                wait_until(lambda: begun(worker, resources.database), "the match")
                # It is seen by a thread of its own, which a match does not wait for.
                wait_until(lambda: seen_slots(resources.database) == [1], "the worker's row")
                worker.process.send_signal(number)
                assert worker.process.wait(PATIENCE) == 0
            with resources.database.reading() as session:
                row = session.scalars(select(Match)).one()
                assert session.scalars(select(Worker)).all() == []
            assert (row.state, row.troubles) == ("interrupted", 0)
            assert row.reason == "its worker was stopped"


@pytest.mark.thorough
def test_the_demonstration_shows_people_bots_and_played_matches(tmp_path: Path) -> None:
    environment = {"CW_DATA": str(tmp_path / "data")}
    settings = read_settings(environment)
    hub = Role(["demo", "--port", "0"], environment, tmp_path / "hub.log")
    with roles(hub):
        wait_until(lambda: "Hub: " in hub.log.read_text(), "the hub")
        with opened(settings, CeleryQueue(settings)) as resources:
            wait_until(partial(is_done, resources, len(BOTS)), "the last match")
        output = hub.log.read_text()
        matches = re.search(r"password (\w+)\n", output), re.search(r"Hub: (\S+)/", output)
        assert matches[0]
        assert matches[1]
        ada = Visitor(matches[1][1])
        assert ada.log_in("ada", matches[0][1]).status_code == 303
        own, _, _ = ada.open("/bots").text.partition('id="latest"')
        for bot in BOTS:
            assert (bot.name in own) == (bot.owner == "ada")
        hub.kill()
        hub.log.write_bytes(b"")
        hub.start()
        wait_until(lambda: "Hub: " in hub.log.read_text(), "the hub")
        assert matches[0][0] in hub.log.read_text()
        with opened(settings, CeleryQueue(settings)) as resources:
            assert is_done(resources, len(BOTS))


@pytest.mark.thorough
def test_a_second_hub_on_a_folder_is_refused(tmp_path: Path) -> None:
    environment = {"CW_DATA": str(tmp_path / "data")}
    hub = Role(["serve", "--port", "0"], environment, tmp_path / "hub.log")
    with roles(hub):
        wait_until(lambda: "Hub: " in hub.log.read_text(), "the hub")
        second = run("serve", "--port", "0", CW_DATA=environment["CW_DATA"])
        assert second.returncode == 2
        assert "another process uses the folder" in second.stderr
        assert run("db", "check", CW_DATA=environment["CW_DATA"]).returncode == 0
        hub.stop()
        assert hub.process.returncode == 0
