"""The list of all tournaments, and the teams of each group of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import exists, func, or_, select
from sqlalchemy.orm import Session

from cw.hub.competitions.tournament.settings import FORMAT
from cw.hub.competitions.tournament.timeline import EVENT_COLUMNS, EventView
from cw.hub.pages.names import natural_order
from cw.hub.store.tables import Competition, CompetitionState, Entry, Event, Group, Team

MOST_LISTED: Final = 200

IS_PUBLIC: Final = or_(Event.announced, Event.applied_at.is_not(None))
"""Whether everybody may see an event."""


@dataclass(frozen=True, slots=True)
class ListedTournament:
    """A tournament in the list of all."""

    slug: str
    game: str
    title: str
    description: str
    picture: str | None
    """The SHA-256 of its picture."""
    state: CompetitionState
    teams: int
    groups: Sequence[str]
    has_begun: bool
    next: EventView | None
    """The next event that is announced."""


def listing(session: Session) -> list[ListedTournament]:
    """Return the tournaments with a public event, the latest first, in three statements."""
    teams = (
        select(func.count())
        .where(Team.competition_id == Competition.id, Team.removed_at.is_(None))
        .correlate(Competition)
        .scalar_subquery()
    )
    is_listed = exists().where(Event.competition_id == Competition.id, IS_PUBLIC)
    rows = session.execute(
        select(
            Competition.id,
            Competition.slug,
            Competition.game,
            Competition.title,
            Competition.description,
            Competition.picture,
            Competition.state,
            teams.label("teams"),
        )
        .where(Competition.format == FORMAT, is_listed)
        .order_by(Competition.id.desc())
        .limit(MOST_LISTED)
    ).all()
    ids = [row.id for row in rows]
    groups, events = group_names(session, ids), public_events(session, ids)
    return [
        ListedTournament(
            row.slug,
            row.game,
            row.title,
            row.description,
            row.picture,
            row.state,
            row.teams,
            groups[row.id],
            any(event.applied_at and event.kind == "start" for event in events[row.id]),
            next((event for event in events[row.id] if event.applied_at is None), None),
        )
        for row in rows
    ]


def group_names(session: Session, ids: Sequence[int]) -> Mapping[int, list[str]]:
    """Return the names of the groups of tournaments, by the id of the tournament."""
    names: dict[int, list[str]] = defaultdict(list)
    query = select(Group.competition_id, Group.name).where(Group.competition_id.in_(ids))
    for competition, name in session.execute(query.order_by(Group.id)):
        names[competition].append(name)
    return names


def public_events(session: Session, ids: Sequence[int]) -> Mapping[int, list[EventView]]:
    """Return the public events of tournaments, by the id of the tournament."""
    events: dict[int, list[EventView]] = defaultdict(list)
    query = select(Event.competition_id, *EVENT_COLUMNS)
    query = query.where(Event.competition_id.in_(ids), IS_PUBLIC).order_by(Event.at, Event.id)
    for competition, *columns in session.execute(query):
        events[competition].append(EventView(*columns))
    return events


@dataclass(frozen=True, slots=True)
class GroupTeam:
    """A team in the list of its group."""

    group_id: int
    slug: str
    name: str
    is_out: bool
    """Whether it plays out of competition."""


def playing_teams(session: Session, competition: int) -> list[GroupTeam]:
    """Return the teams that play in each group, by name."""
    rows = session.execute(
        select(Entry.group_id, Team.slug, Team.name, Team.out_of_competition)
        .join(Team, Team.id == Entry.team_id)
        .where(Team.competition_id == competition, Entry.status == "playing")
    )
    teams = [GroupTeam(*row) for row in rows]
    return sorted(teams, key=lambda team: (team.is_out, natural_order(team.name)))
