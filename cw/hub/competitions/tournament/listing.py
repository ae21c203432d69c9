"""The list of all tournaments, and the teams of each group of one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import Session

from cw.hub.competitions.tournament.settings import FORMAT
from cw.hub.competitions.tournament.timeline import EVENT_COLUMNS, EventView
from cw.hub.pages.names import natural_order
from cw.hub.store.tables import Competition, CompetitionState, Entry, Event, Group, Team

MOST_LISTED: Final = 200
PER_PAGE: Final = 30
"""Tournaments of a page of the list."""

Phase: TypeAlias = Literal["running", "coming", "over"]
PHASES: Final[tuple[Phase, ...]] = ("running", "coming", "over")
"""What a tournament is in the list, in its order: one that is paused runs."""

IS_PUBLIC: Final = or_(Event.announced, Event.applied_at.is_not(None))
"""Whether everybody may see an event."""

IS_LISTED: Final = and_(
    Competition.format == FORMAT, exists().where(Event.competition_id == Competition.id, IS_PUBLIC)
)
"""Whether everybody may see a tournament."""


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

    @property
    def phase(self) -> Phase:
        """Where it stands in the list."""
        return phase_of(self.state, has_begun=self.has_begun)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a page of the list shows."""

    page: int = 1
    text: str = ""
    """What titles contain; "" for all."""
    phase: Phase | None = None
    """None for all."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of the tournaments that fit, and how many do so in each phase."""

    rows: Sequence[ListedTournament]
    page: int
    pages: int
    counts: Mapping[Phase, int]
    """Of those with such a title, in every phase."""


def list_page(session: Session, wanted: Wanted) -> ListPage:
    """Return a page of the public tournaments, the last one for a number beyond it.

    Those that run are first, then those to come, then those that are over; each by title.
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
    """As much of a tournament as its place in the list depends on."""

    id: int
    title: str
    phase: Phase


def all_outlines(session: Session) -> list[Outline]:
    """Return the outlines of all public tournaments in the order of the list."""
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
    """Return where a tournament stands in the list."""
    if state == "over":
        return "over"
    return "running" if has_begun else "coming"


def listing(session: Session) -> list[ListedTournament]:
    """Return the tournaments with a public event, the latest first, in four statements."""
    latest = select(Competition.id).where(IS_LISTED).order_by(Competition.id.desc())
    return of_ids(session, session.scalars(latest.limit(MOST_LISTED)).all())


def of_ids(session: Session, ids: Sequence[int]) -> list[ListedTournament]:
    """Return tournaments with their groups and events, in this order, in three statements."""
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
