"""`cw championship run --queue`: the workers of a hub play."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from cw.championship.journal import Journal
from cw.championship.teams import Team
from cw.hub.championship import JOBS, HubPlayers, Say, connected, id_of
from cw.hub.settings import read_settings

NewPlayers: TypeAlias = Callable[[Journal, Sequence[Team], Say], HubPlayers]


@contextmanager
def workers(jobs: int | None) -> Iterator[NewPlayers]:
    """Give the workers of the hub that the environment names, for up to so many matches at once."""
    with connected(read_settings(os.environ)) as resources:

        def of(journal: Journal, teams: Sequence[Team], say: Say) -> HubPlayers:
            return HubPlayers(resources, id_of(journal.folder), teams, jobs or JOBS, say)

        yield of
