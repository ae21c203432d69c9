"""`python -m cw_hub.store.migrations WORDS`: writes the migration that the tables need."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command

from cw_hub.store.database import Database
from cw_hub.store.migrations import config_for, head, upgrade


def main(words: str) -> None:
    """Generate the migration from the last revision to the current tables."""
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'empty.sqlite'}")
        upgrade(database)
        with database.writing_engine.begin() as connection:
            number = f"{int(head() or 0) + 1:04}"
            command.revision(config_for(connection), words, autogenerate=True, rev_id=number)
        database.close()


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
