"""The list of tournaments, and the teams in each group of a tournament."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import Session

from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.tournament.timeline import EVENT_COLUMNS, EventView
from cw_hub.pages.names import natural_order
from cw_hub.store.tables import Competition, CompetitionState, Entry, Event, Group, Team

MOST_LISTED: Final = 200
PER_PAGE: Final = 30
"""Number of tournaments per page."""

Phase: TypeAlias = Literal["running", "coming", "over"]
PHASES: Final[tuple[Phase, ...]] = ("running", "coming", "over")
"""The phases of tournaments in list order; a paused tournament counts as running."""

IS_PUBLIC: Final = or_(Event.announced, Event.applied_at.is_not(None))
"""Conditions for a public event."""

IS_LISTED: Final = and_(
    Competition.format == FORMAT, exists().where(Event.competition_id == Competition.id, IS_PUBLIC)
)
"""Conditions for a public tournament."""


@dataclass(frozen=True, slots=True)
class ListedTournament:
    """A tournament in the list."""

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
    """The next announced event."""

    @property
    def phase(self) -> Phase:
        """Its phase in the list."""
        return phase_of(self.state, has_begun=self.has_begun)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The selection of a page of the list."""

    page: int = 1
    text: str = ""
    """Part of the title; "" for all."""
    phase: Phase | None = None
    """None: all phases."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of the matching tournaments, with their number in each phase."""

    rows: Sequence[ListedTournament]
    page: int
    pages: int
    counts: Mapping[Phase, int]
    """The number of tournaments with a matching title, by phase."""


def list_page(session: Session, wanted: Wanted) -> ListPage:
    """Return a page of the public tournaments; a page beyond the last means the last.

    Running tournaments come first, then upcoming, then finished ones; each by title.
    """
    text = wanted.text.casefold()
    outlines = [outline for outline in all_outlines(session) if text in outline.title.casefold()]
    counts = Counter(outline.phase for outline in outlines)
    fitting = [outline for outline in outlines if wanted.phase in (None, outline.phase)]
    pages = max(1, -(-len(fitting) // PER_PAGE))
    page = min(wanted.page, pages)
    ids = [outline.id for outline in fitting[(page - 1) * PER_PAGE : page * PER_PAGE]]
    return ListPage(of_ids(session, ids), page, pages, counts)


@dataclass(frozen=True, slots=True)
class Outline:
    """The data that determines a tournament's position in the list."""

    id: int
    title: str
    phase: Phase


def all_outlines(session: Session) -> list[Outline]:
    """Return the outlines of all public tournaments in list order."""
    has_begun = exists().where(
        Event.competition_id == Competition.id,
        Event.kind == "start",
        Event.applied_at.is_not(None),
    )
    rows = session.execute(
        select(Competition.id, Competition.title, Competition.state, has_begun).where(IS_LISTED)
    )
    outlines = [
        Outline(id_, title, phase_of(state, has_begun=begun)) for id_, title, state, begun in rows
    ]
    return sorted(
        outlines, key=lambda one: (PHASES.index(one.phase), natural_order(one.title), one.id)
    )


def phase_of(state: CompetitionState, *, has_begun: bool) -> Phase:
    """Return the phase of a tournament."""
    if state == "over":
        return "over"
    return "running" if has_begun else "coming"


def listing(session: Session) -> list[ListedTournament]:
    """Return the tournaments with a public event, latest first. Four statements."""
    latest = select(Competition.id).where(IS_LISTED).order_by(Competition.id.desc())
    return of_ids(session, session.scalars(latest.limit(MOST_LISTED)).all())


def of_ids(session: Session, ids: Sequence[int]) -> list[ListedTournament]:
    """Return tournaments with their groups and events, in the given order. Three statements."""
    teams = (
        select(func.count())
        .where(Team.competition_id == Competition.id, Team.removed_at.is_(None))
        .correlate(Competition)
        .scalar_subquery()
    )
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
        ).where(Competition.id.in_(ids))
    )
    by_id = {row.id: row for row in rows}
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
        for row in (by_id[each] for each in ids if each in by_id)
    ]


def group_names(session: Session, ids: Sequence[int]) -> Mapping[int, list[str]]:
    """Return the names of the groups of tournaments, by tournament id."""
    names: dict[int, list[str]] = defaultdict(list)
    query = select(Group.competition_id, Group.name).where(Group.competition_id.in_(ids))
    for competition, name in session.execute(query.order_by(Group.id)):
        names[competition].append(name)
    return names


def public_events(session: Session, ids: Sequence[int]) -> Mapping[int, list[EventView]]:
    """Return the public events of tournaments, by tournament id."""
    events: dict[int, list[EventView]] = defaultdict(list)
    query = select(Event.competition_id, *EVENT_COLUMNS)
    query = query.where(Event.competition_id.in_(ids), IS_PUBLIC).order_by(Event.at, Event.id)
    for competition, *columns in session.execute(query):
        events[competition].append(EventView(*columns))
    return events


@dataclass(frozen=True, slots=True)
class GroupTeam:
    """A team in its group's list."""

    group_id: int
    slug: str
    name: str
    is_out: bool
    """Whether it plays out of competition."""


def playing_teams(session: Session, competition: int) -> list[GroupTeam]:
    """Return the playing teams of each group, by name."""
    rows = session.execute(
        select(Entry.group_id, Team.slug, Team.name, Team.out_of_competition)
        .join(Team, Team.id == Entry.team_id)
        .where(Team.competition_id == competition, Entry.status == "playing")
    )
    teams = [GroupTeam(*row) for row in rows]
    return sorted(teams, key=lambda team: (team.is_out, natural_order(team.name)))
