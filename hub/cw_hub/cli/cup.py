"""Players for `cw` championships whose matches are played by a hub's workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from cw.championship.journal import Journal
from cw.championship.teams import Team
from cw_hub.competitions.cup.queued import HubPlayers, Say, connected
from cw_hub.competitions.cup.service import MOST_OPEN
from cw_hub.operation.settings import read_settings

NewPlayers: TypeAlias = Callable[[Journal, Sequence[Team], Say], HubPlayers]


@contextmanager
def workers(jobs: int | None) -> Iterator[NewPlayers]:
    """Yield a factory of players that use the configured hub, for `jobs` concurrent matches."""
    with connected(read_settings(os.environ)) as resources:

        def of(journal: Journal, teams: Sequence[Team], say: Say) -> HubPlayers:
            return HubPlayers(resources, journal, teams, jobs or MOST_OPEN, say)

        yield of
