"""Matches and workers as admins see them: what waits, what has failed, and who plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, case, func, select
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.matches.interruptions import OPEN
from cw.hub.operation.health import counts, heartbeats
from cw.hub.operation.health.heartbeats import Beat
from cw.hub.site.admin.lists import Page, page_of
from cw.hub.store.tables import (
    Competition,
    Match,
    MatchState,
    Round,
    Worker,
)

SHOWN: Final[tuple[MatchState, ...]] = ("failed", "interrupted", "in_progress", "queued")
"""The states of which matches are listed, those first that need somebody."""

ORDER: Final = {state: number for number, state in enumerate(SHOWN)}


@dataclass(frozen=True, slots=True)
class ListedMatch:
    """A match that is not over, or that has failed."""

    match_id: str
    kind: str
    game: str
    competition: str | None
    """The title."""
    state: MatchState
    reason: str | None
    troubles: int
    worker: str | None
    planned_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    request_id: str | None
    """By which the log of the processes tells more."""
    is_settled: bool
    """Whether its round is over, so that it is not played again."""

    @property
    def can_be_requeued(self) -> bool:
        """Whether it may be given another five attempts."""
        return self.state == "failed" and not self.is_settled

    @property
    def can_be_voided(self) -> bool:
        """Whether it may be called off."""
        return self.state in ("queued", "interrupted")


@dataclass(frozen=True, slots=True)
class Machines:
    """Who plays matches, and which processes live."""

    workers: Sequence[Worker]
    processes: Sequence[Beat]
    silent: Sequence[Beat]
    replay_bytes: int | None
    """As the upkeep of the day has summed them; None before the first."""

    @property
    def slots(self) -> int:
        """How many matches can be played at once."""
        return sum(worker.slots for worker in self.workers)


def find_matches(session: Session, state: str, number: int) -> Page[ListedMatch]:
    """Return a page of the matches that are not over or have failed, in one statement.

    Those of one state, or of all, the failed ones first; of each state the latest.
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
    """Return a row as a match."""
    return ListedMatch(*row)


def machines(session: Session, clock: Clock) -> Machines:
    """Return who plays, which processes live, and how much replays take."""
    live = select(Worker).where(Worker.seen_at > clock() - heartbeats.LIVE).order_by(Worker.id)
    return Machines(
        session.scalars(live).all(),
        heartbeats.live(session, clock),
        heartbeats.silent(session, clock),
        counts.value_of(session, counts.REPLAY_BYTES),
    )
