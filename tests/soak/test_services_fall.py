"""Matches survive whatever becomes of the services, too: `make soak`."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from cw.hub.jobs.app import CeleryQueue
from cw.hub.resources import opened
from cw.hub.settings import read_settings
from cw.hub.store.database import Database
from cw.hub.store.migrations import upgrade
from tests.hub.campaign import (
    Role,
    check_everything,
    on_services,
    one_after_the_other,
    plan_matches,
    roles,
)
from tests.hub.services import PostgreSQL, Redis

KILLS = int(os.environ.get("CW_KILLS", "20"))
EACH = 8
WORKERS = 4


def test_workers_schedulers_and_services_fall_again_and_again(tmp_path: Path) -> None:
    number, postgresql, redis = (
        KILLS * EACH,
        PostgreSQL(tmp_path / "postgresql.log"),
        Redis(tmp_path),
    )
    postgresql.start()
    redis.start()
    try:
        with closing(Database(postgresql.url)) as empty:
            upgrade(empty)
        environment = on_services(tmp_path / "data", postgresql.url, redis.url)
        settings = read_settings(environment)
        with opened(settings, CeleryQueue(settings)) as resources:
            plan_matches(resources, number)
            workers = [
                Role(["worker"], environment, tmp_path / f"worker-{one}.log")
                for one in range(WORKERS)
            ]
            schedulers = [
                Role(["scheduler"], environment, tmp_path / f"scheduler-{one}.log")
                for one in range(2)
            ]

            def strike(stroke: int) -> None:
                worker = workers[stroke % WORKERS]
                (worker.stop if stroke % 3 == 1 else worker.kill)()
                if stroke % 5 == 2:
                    redis.kill()
                    redis.start()
                if stroke % 5 == 4:
                    postgresql.stop()
                    postgresql.start()
                if stroke % 6 == 3:
                    schedulers[stroke % 2].kill()
                    schedulers[stroke % 2].start()
                worker.start()

            with roles(*workers, *schedulers):
                one_after_the_other(resources, number, KILLS, strike)
            check_everything(resources, number)
    finally:
        redis.kill()
        postgresql.remove()
