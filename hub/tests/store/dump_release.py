"""Writes down a hub as this revision leaves it, for the tests of all later ones.

    python -m hub.tests.store.dump_release

To be run once for each revision that hubs are at, and committed.
"""

from __future__ import annotations

import gzip
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import func, select

from cw_hub.operation import backups
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.demo import fill
from cw_hub.site.processes import everything
from cw_hub.store.migrations import head
from cw_hub.store.models import Match

RELEASES: Final = Path(__file__).parent / "releases"

PLAYED: Final = 20
"""Matches that such a hub has played at least."""


def main() -> None:
    """Fill a hub, let it play some matches, and write it as SQL and as a back-up."""
    with TemporaryDirectory() as folder:
        settings = HubSettings(data=Path(folder))
        with opened(settings, CeleryQueue(settings)) as resources:
            fill(resources)
            with everything(resources, 1):
                while played(resources) < PLAYED:
                    time.sleep(1)
            write(resources)


def played(resources: Resources) -> int:
    """Return how many matches are done."""
    with resources.database.reading() as session:
        done = select(func.count()).select_from(Match).where(Match.state == "done")
        return session.scalars(done).one()


def write(resources: Resources) -> None:
    """Write all rows of a hub in both ways."""
    path = resources.database.engine.url.database
    with closing(sqlite3.connect(str(path))) as connection:
        lines = "\n".join(connection.iterdump()).encode()
    (RELEASES / f"{head()}.sql.gz").write_bytes(gzip.compress(lines, mtime=0))
    with (RELEASES / f"{head()}.jsonl.gz").open("wb") as file:
        backups.write(resources.database, file)


if __name__ == "__main__":
    main()
