"""Queries behind the admin page of waiting and failed matches, workers and live processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, case, func, select

from cw_hub.matches.results import OPEN
from cw_hub.operation import heartbeats
from cw_hub.operation.heartbeats import Beat
from cw_hub.site.admin.overview import Page, page_of
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, Match, MatchState, Round, Worker

SHOWN: Final[tuple[MatchState, ...]] = ("failed", "interrupted", "in_progress", "queued")
"""States of the listed matches, those that need attention first."""

ORDER: Final = {state: number for number, state in enumerate(SHOWN)}


@dataclass(frozen=True, slots=True)
class ListedMatch:
    """An unfinished or failed match."""

    match_id: str
    kind: str
    game: str
    competition: str | None
    """The title of its competition."""
    state: MatchState
    reason: str | None
    troubles: int
    worker: str | None
    planned_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    request_id: str | None
    """The id under which it appears in the logs of the processes."""
    is_settled: bool
    """Whether its round is over, so that it will not be played again."""

    @property
    def can_be_requeued(self) -> bool:
        """Whether it may be given another five attempts."""
        return self.state == "failed" and not self.is_settled

    @property
    def can_be_voided(self) -> bool:
        """Whether it may be cancelled."""
        return self.state in ("queued", "interrupted")


@dataclass(frozen=True, slots=True)
class Machines:
    """The workers, and the live processes."""

    workers: Sequence[Worker]
    processes: Sequence[Beat]
    silent: Sequence[Beat]
    replay_bytes: int | None
    """As computed by the daily upkeep; None before its first run."""

    @property
    def slots(self) -> int:
        """How many matches can be played concurrently."""
        return sum(worker.slots for worker in self.workers)


def find_matches(session: Session, state: str, number: int) -> Page[ListedMatch]:
    """Return a page of unfinished and failed matches, in one statement.

    Returns those in one state, or in all states with failed ones first; the latest first within a
    state.
    """
    columns = (Match.match_id, Match.kind, Match.game, Competition.title, Match.state)
    query = (
        select(*columns, Match.reason, Match.troubles, Match.worker, Match.at)
        .add_columns(Match.started_at, Match.finished_at, Match.request_id)
        .add_columns(func.coalesce(Round.closed_at.is_not(None), False))
        .outerjoin(Competition, Competition.id == Match.competition_id)
        .outerjoin(Round, Round.id == Match.round_id)
        .where(Match.state.in_([state] if state else [*OPEN, "failed"]))
        .order_by(case(ORDER, value=Match.state), Match.id.desc())
    )
    return page_of(session, query, number, listed)


def listed(row: Row[*tuple[Any, ...]]) -> ListedMatch:
    """Convert a row to a listed match."""
    return ListedMatch(*row)


def machines(session: Session) -> Machines:
    """Return the workers, the live processes, and the size of the stored replays."""
    live = (
        select(Worker).where(Worker.seen_at > session.now() - heartbeats.LIVE).order_by(Worker.id)
    )
    return Machines(
        session.scalars(live).all(),
        heartbeats.live(session),
        heartbeats.silent(session),
        heartbeats.value_of(session, heartbeats.REPLAY_BYTES),
    )
