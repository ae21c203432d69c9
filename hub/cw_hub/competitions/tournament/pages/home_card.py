"""A tournament on the home page: its leaders or winners, and when it ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw_hub.competitions.format import HomeCard, Place
from cw_hub.competitions.tournament import timeline, views
from cw_hub.competitions.tournament.pages.ladder_view import ON_PODIUM, cached
from cw_hub.competitions.tournament.standings import TableRow
from cw_hub.competitions.tournament.views import GroupView, TournamentView
from cw_hub.competitions.tournament.words import plain
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.pages.parts import address_of
from cw_hub.pages.request import resources
from cw_hub.store.tables import Competition, Event, Group, Round


def address(competition: CompetitionFacts) -> str:
    """Return the address of a tournament."""
    return address_of("tournaments.choose", slug=competition.slug)


def leaders(session: Session, competition: int) -> Sequence[Place]:
    """Return the top teams of the deciding group; none before a round, or without such a group."""
    slug = session.scalar(
        select(Competition.slug)
        .join(Group, Group.competition_id == Competition.id)
        .join(Round, Round.group_id == Group.id)
        .where(Competition.id == competition)
        .limit(1)
    )
    tournament = slug and views.find(session, slug)
    group = tournament and deciding_group(tournament)
    if not tournament or not group:
        return ()
    events = timeline.events_of(session, competition)
    phase = timeline.phase_of(group, events, resources().clock())
    rows = cached(session, tournament, group, phase).rows[:ON_PODIUM]
    return [place_of(row) for row in rows if row.place and row.history]


def deciding_group(tournament: TournamentView) -> GroupView | None:
    """Return the final if it has begun, or the only group, or None."""
    finals = (group for group in tournament.groups if group.kind == "final" and group.rounds)
    return next(finals, tournament.only_group)


def place_of(row: TableRow) -> Place:
    """Return the place of a team."""
    return Place(row.place or 0, row.name, None, None, row.prize or f"{plain(row.points)} points")


def ended_at(session: Session, competition: int) -> datetime | None:
    """Return when a tournament ended, or None."""
    its = (Event.competition_id == competition, Event.kind == "end", Event.group_id.is_(None))
    return session.scalar(select(func.max(Event.applied_at)).where(*its))


CARD: Final = HomeCard(
    address=address, leaders=leaders, ended_at=ended_at, idle="teams on a ladder"
)
