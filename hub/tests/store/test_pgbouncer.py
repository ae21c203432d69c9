"""A hub whose connections go through a PgBouncer that lends them for one transaction."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import func, select

from cw_hub.matches.results import queue_all
from cw_hub.operation import backups, scheduler
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.processes import begin_site, tick
from cw_hub.store.database import Database
from cw_hub.store.migrations import current, head, upgrade
from cw_hub.store.models import Competition
from hub.tests.conftest import StillClock
from hub.tests.services import is_open, new_postgresql
from hub.tests.sites import HeldQueue
from hub.tests.test_deploy import DEPLOY
from tests.ports import free_port
from tests.tools import PGBOUNCER

pytestmark = pytest.mark.thorough


@contextmanager
def pooled() -> Iterator[int]:
    """Run a PgBouncer as hub/deploy/ sets it, before the PostgreSQL here; gives its port."""
    program = PGBOUNCER.program("pgbouncer", "/usr/sbin/pgbouncer")
    port, folder = free_port(), Path(mkdtemp(prefix="cw-pgbouncer-"))
    text = (DEPLOY / "pgbouncer.ini").read_text()
    for name, value in {
        "host=postgresql port=5432": "host=127.0.0.1 port=5432",
        "listen_addr = 0.0.0.0": "listen_addr = 127.0.0.1",
        "listen_port = 6432": f"listen_port = {port}\nunix_socket_dir =",
        "auth_type = scram-sha-256": "auth_type = any",
        "* = host=127.0.0.1": "* = user=postgres host=127.0.0.1",
        "auth_file = /tmp/userlist.txt\n": "",
        # So few that connections are shared.
        "default_pool_size = 20": "default_pool_size = 2",
        # As many wait for those few on a machine that may be slow.
        "query_wait_timeout = 10": "query_wait_timeout = 300",
        "server_connect_timeout = 5": "server_connect_timeout = 60",
    }.items():
        assert name in text
        text = text.replace(name, value)
    (folder / "pgbouncer.ini").write_text(text)
    command = [str(program), str(folder / "pgbouncer.ini")]
    if os.geteuid() == 0:
        # It does not run as root.
        shutil.chown(folder, "postgres")
        command[1:1] = ["-u", "postgres"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        while not is_open(port):
            assert process.poll() is None, (folder / "log").read_text()
        yield port
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


@pytest.fixture
def pooler() -> Iterator[int]:
    with pooled() as port:
        yield port


def test_a_hub_works_through_a_pooler(pooler: int, tmp_path: Path, hub_clock: StillClock) -> None:
    with new_postgresql() as direct, new_postgresql() as other:
        url, to = (one.replace(":5432/", f":{pooler}/") for one in (direct, other))
        with closing(Database(url)) as one, ThreadPoolExecutor() as threads:
            list(threads.map(upgrade, [one] * 3))
            assert current(one) == head()
        settings = HubSettings(
            data=tmp_path,
            database_url=url,
            master_keys="k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            secret_key="0" * 64,
        )
        with opened(settings, HeldQueue(), hub_clock) as resources:
            begin_site(resources)

            def see(number: int) -> None:
                tick(resources)
                with resources.database.writing() as session:
                    scheduler.see_worker(session, f"worker {number}", "1", 1)

            with ThreadPoolExecutor(8) as threads:
                list(threads.map(see, range(40)))
            with resources.database.reading() as session:
                assert scheduler.live_workers(session) == 40
            assert resources.database.now() is not None
            file = io.BytesIO()
            backup = backups.write(resources.database, file)
            file.seek(0)
            with closing(Database(to)) as there:
                assert backups.restore(there, file, queue_all).rows == backup.rows > 200
                with there.reading() as session:
                    assert session.scalar(select(func.count()).select_from(Competition)) == 2
