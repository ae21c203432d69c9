"""A tournament with its groups and their rounds for pages, read in one statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, and_, bindparam, case, exists, func, select
from sqlalchemy.orm import Session

from cw.league.ladder.boards import BoardSpec
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings, stored_settings
from cw_hub.store.tables import (
    Competition,
    CompetitionState,
    Entry,
    Group,
    GroupKind,
    Match,
    MatchState,
    Round,
)


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round of a group."""

    id: int
    number: int
    board: BoardSpec
    positions: Mapping[int, int]
    """Positions at the start of the round, by team id."""
    opened_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of teams, with one of its rounds."""

    id: int
    slug: str
    name: str
    kind: GroupKind
    round: RoundView | None
    """The requested round, or the last one."""
    rounds: int
    """The number of rounds begun."""
    is_open: bool
    """Whether its last round is being played."""
    mark: str
    """Changes with the group's ladder."""

    @property
    def shows_last(self) -> bool:
        """Whether its round is the last one."""
        return self.round is None or self.round.number == self.rounds

    @property
    def last_closed(self) -> int:
        """The number of the last closed round, or 0."""
        return self.rounds - self.is_open


@dataclass(frozen=True, slots=True)
class TournamentView:
    """A tournament with its groups."""

    id: int
    slug: str
    game: str
    title: str
    description: str
    """Markdown."""
    picture: str | None
    """The SHA-256 of its picture."""
    state: CompetitionState
    seed: int
    revision: int
    settings: TournamentSettings
    groups: tuple[GroupView, ...]

    @property
    def only_group(self) -> GroupView | None:
        """Its only group, or None if it has several."""
        return self.groups[0] if len(self.groups) == 1 else None

    def group(self, slug: str) -> GroupView | None:
        """Return a group by slug, or None."""
        return next((group for group in self.groups if group.slug == slug), None)

    def by_id(self, group_id: int | None) -> GroupView | None:
        """Return a group by id, or None."""
        return next((group for group in self.groups if group.id == group_id), None)


WEIGHTS: Final[Mapping[MatchState, int]] = {
    "queued": 1,
    "interrupted": 2,
    "in_progress": 3,
    "done": 5,
    "void": 7,
    "failed": 11,
}
"""A match's contribution to its group's mark, by state; it is multiplied by the match id.

Revisions are not enough: they stay the same when a match is interrupted or fails.
"""

_LAST_NUMBER: Final = (
    select(func.max(Round.number))
    .where(Round.group_id == Group.id)
    .correlate(Group)
    .scalar_subquery()
)
_IS_OPEN: Final = (
    exists().where(Round.group_id == Group.id, Round.closed_at.is_(None)).correlate(Group)
)
_MATCH_STATES: Final = (
    select(func.sum(Match.id * case(WEIGHTS, value=Match.state, else_=0)))
    .where(Match.round_id == Round.id)
    .correlate(Round)
    .scalar_subquery()
)
_WANTED_NUMBER: Final = case(
    (Group.slug == bindparam("group"), func.coalesce(bindparam("number"), _LAST_NUMBER)),
    else_=_LAST_NUMBER,
)

TOURNAMENT: Final = (
    select(
        Competition.id,
        Competition.slug,
        Competition.game,
        Competition.title,
        Competition.description,
        Competition.picture,
        Competition.state,
        Competition.seed,
        Competition.revision,
        Competition.settings,
        Group.id.label("group_id"),
        Group.slug.label("group_slug"),
        Group.name,
        Group.kind,
        Group.revision.label("group_revision"),
        Round.id.label("round_id"),
        Round.number,
        Round.board,
        Round.positions,
        Round.opened_at,
        Round.closed_at,
        _LAST_NUMBER.label("rounds"),
        _IS_OPEN.label("is_open"),
        _MATCH_STATES.label("match_states"),
    )
    .outerjoin(Group, Group.competition_id == Competition.id)
    .outerjoin(Round, and_(Round.group_id == Group.id, Round.number == _WANTED_NUMBER))
    .where(Competition.format == FORMAT, Competition.slug == bindparam("slug"))
    .order_by(Group.id)
)
"""A tournament: one row per group with its last round, or for one group the requested round."""


def find(
    session: Session, slug: str, group: str = "", number: int | None = None
) -> TournamentView | None:
    """Return a tournament, or None; with a number, that round of the group."""
    rows = session.execute(TOURNAMENT, {"slug": slug, "group": group, "number": number}).all()
    if not rows:
        return None
    first = rows[0]
    return TournamentView(
        first.id,
        first.slug,
        first.game,
        first.title,
        first.description,
        first.picture,
        first.state,
        first.seed,
        first.revision,
        stored_settings(first.game, first.settings),
        tuple(group_view(row) for row in rows if row.group_id is not None),
    )


def group_view(row: Row[*tuple[Any, ...]]) -> GroupView:
    """Convert a row of TOURNAMENT to a group."""
    revisions = (row.revision, row.group_revision)
    mark = (*revisions, row.rounds, row.round_id, row.is_open, row.match_states)
    return GroupView(
        row.group_id,
        row.group_slug,
        row.name,
        row.kind,
        None if row.round_id is None else round_view(row),
        row.rounds or 0,
        bool(row.is_open),
        "-".join(map(str, mark)),
    )


def round_view(row: Row[*tuple[Any, ...]]) -> RoundView:
    """Convert a row of TOURNAMENT to a round."""
    return RoundView(
        row.round_id,
        row.number,
        BoardSpec.from_json(row.board),
        {int(team): position for team, position in row.positions.items()},
        row.opened_at,
        row.closed_at,
    )


def home_group(session: Session, team: int) -> int | None:
    """Return the id of a team's home group: the first one if it plays in all."""
    return session.scalar(
        select(Entry.group_id)
        .join(Group, Group.id == Entry.group_id)
        .where(Entry.team_id == team)
        .order_by(Group.kind == "final", Entry.status != "playing", Group.id)
        .limit(1)
    )
