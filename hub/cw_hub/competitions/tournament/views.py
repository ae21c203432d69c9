"""Queries behind the tournament pages: the list, one tournament, and its host pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from sqlalchemy import Row, and_, bindparam, case, exists, func, or_, select

from cw.league.ladder import STOPS, BoardSpec, EventKind, GroupEvent, phase
from cw.league.ladder import Phase as LadderPhase
from cw_hub.competitions.tournament.service import MOST_EVENTS
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings, stored_settings
from cw_hub.competitions.tournament.teams import group_sizes, groups_of
from cw_hub.matches.match_types import title_of
from cw_hub.pages.forms import natural_order
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Audit,
    Bot,
    BotKind,
    BotStatus,
    Competition,
    CompetitionState,
    Entry,
    EntryStatus,
    Event,
    Group,
    GroupKind,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    Team,
    Ticket,
)

T = TypeVar("T")


def view(kind: type[T], row: object, /, **others: Any) -> T:
    """Return a dataclass with the attributes of a row; `others` are fields with other names."""
    names = {field.name for field in fields(cast(Any, kind))} - others.keys()
    return kind(**others, **{name: getattr(row, name) for name in names if hasattr(row, name)})


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
    """The number of rounds started."""
    is_open: bool
    """Whether its last round is being played."""
    mark: str
    """Changes whenever the group's ladder does."""

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
    """The SHA-256 of its image."""
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


STAGES: Final[tuple[MatchState, ...]] = (
    "in_progress",
    "interrupted",
    "failed",
    "done",
    "queued",
    "void",
)
"""The states of a match, each before those that can follow it in the same attempt."""

_LAST_NUMBER: Final = (
    select(func.max(Round.number))
    .where(Round.group_id == Group.id)
    .correlate(Group)
    .scalar_subquery()
)
_IS_OPEN: Final = (
    exists().where(Round.group_id == Group.id, Round.closed_at.is_(None)).correlate(Group)
)
_stage = case({state: number for number, state in enumerate(STAGES)}, value=Match.state)
_STAGES_PASSED: Final = (
    select(func.sum(Match.attempt * len(STAGES) + _stage))
    .where(Match.round_id == Round.id)
    .correlate(Round)
    .scalar_subquery()
)
"""The revision of a round's matches: it grows whenever one of them is added or changes its state.

The revisions of groups are not enough: they stay the same when a match starts, is interrupted or
fails.
"""
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
        _STAGES_PASSED.label("stages_passed"),
    )
    .outerjoin(Group, Group.competition_id == Competition.id)
    .outerjoin(Round, and_(Round.group_id == Group.id, Round.number == _WANTED_NUMBER))
    .where(Competition.format == FORMAT, Competition.slug == bindparam("slug"))
    .order_by(Group.id)
)
"""Selects one row per group with its last round, or for one group the requested round."""


def find(
    session: Session, slug: str, group: str = "", number: int | None = None
) -> TournamentView | None:
    """Return a tournament, or None; `number` selects a round of the group."""
    rows = session.execute(TOURNAMENT, {"slug": slug, "group": group, "number": number}).all()
    if not rows:
        return None
    first = rows[0]
    return view(
        TournamentView,
        first,
        settings=stored_settings(first.game, first.settings),
        groups=tuple(group_view(row) for row in rows if row.group_id is not None),
    )


def group_view(row: Row[*tuple[Any, ...]]) -> GroupView:
    """Convert a row of TOURNAMENT to a group."""
    revisions = (row.revision, row.group_revision)
    mark = (*revisions, row.rounds, row.round_id, row.is_open, row.stages_passed)
    return view(
        GroupView,
        row,
        id=row.group_id,
        slug=row.group_slug,
        round=None if row.round_id is None else round_view(row),
        rounds=row.rounds or 0,
        is_open=bool(row.is_open),
        mark="-".join(map(str, mark)),
    )


def round_view(row: Row[*tuple[Any, ...]]) -> RoundView:
    """Convert a row of TOURNAMENT to a round."""
    positions = {int(team): position for team, position in row.positions.items()}
    board = BoardSpec.from_json(row.board)
    return view(RoundView, row, id=row.round_id, board=board, positions=positions)


def home_group(session: Session, team: int) -> int | None:
    """Return the id of a team's home group: the first one if it plays in all."""
    return session.scalar(
        select(Entry.group_id)
        .join(Group, Group.id == Entry.group_id)
        .where(Entry.team_id == team)
        .order_by(Group.kind == "final", Entry.status != "playing", Group.id)
        .limit(1)
    )


@dataclass(frozen=True, slots=True)
class EventView:
    """An event, applied or planned."""

    id: int
    group_id: int | None
    at: datetime
    kind: EventKind
    title: str
    text: str
    announced: bool
    applied_at: datetime | None

    def is_about(self, group_id: int) -> bool:
        """Return whether the event concerns a group, alone or with all groups."""
        return self.group_id in (None, group_id)


@dataclass(frozen=True, slots=True)
class Countdown:
    """The next event of a tournament, and its past events."""

    next: EventView | None
    past: tuple[EventView, ...]
    """Latest first."""
    is_over: bool
    """Whether the tournament has ended."""
    is_preparing: bool
    """Whether a final is due but waits for rounds to end."""


EVENT_COLUMNS: Final = tuple(getattr(Event, name) for name in EventView.__dataclass_fields__)
"""The columns of an EventView, in order."""


def events_of(session: Session, competition: int) -> list[EventView]:
    """Return the events of a tournament in order of application."""
    query = (
        select(*EVENT_COLUMNS)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
        .limit(MOST_EVENTS)
    )
    return [EventView(*row) for row in session.execute(query)]


def countdown(events: Sequence[EventView], now: datetime) -> Countdown:
    """Return the countdown of a tournament with these events."""
    coming = next((event for event in events if event.applied_at is None), None)
    past = [event for event in events if event.applied_at is not None]
    past.sort(key=lambda event: (event.applied_at, event.at, event.id), reverse=True)
    is_over = any(event.kind == "end" and event.group_id is None for event in past)
    is_preparing = coming is not None and coming.kind == "final" and coming.at <= now
    return Countdown(coming, tuple(past), is_over, is_preparing)


def phase_of(group: GroupView, events: Iterable[EventView], now: datetime) -> LadderPhase:
    """Return the phase of a group; a due final counts even while it waits."""
    due = [
        GroupEvent(event.kind, event.applied_at is not None)
        for event in events
        if event.is_about(group.id)
        and (event.applied_at is not None or (event.kind == "final" and event.at <= now))
    ]
    return phase(due, is_final=group.kind == "final", is_open=group.is_open)


def phases_of(session: Session, slug: str) -> dict[int, LadderPhase]:
    """Return the phase of each group of a tournament, by id."""
    tournament = find(session, slug)
    if tournament is None:
        return {}
    events, now = events_of(session, tournament.id), session.now()
    return {group.id: phase_of(group, events, now) for group in tournament.groups}


def pause_of(group: GroupView, events: Iterable[EventView]) -> EventView | None:
    """Return the event that paused a group, or None if it is not paused."""
    stops = [
        event
        for event in events
        if event.kind in STOPS and event.applied_at is not None and event.is_about(group.id)
    ]
    return stops[-1] if stops and stops[-1].kind == "pause" else None


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
class TournamentRow:
    """A tournament in the list."""

    slug: str
    game: str
    title: str
    description: str
    picture: str | None
    """The SHA-256 of its image."""
    state: CompetitionState
    teams: int
    groups: Sequence[str]
    has_begun: bool
    next: EventView | None
    """The next announced event."""

    @property
    def phase(self) -> Phase:
        """Its phase in the list."""
        return tournament_phase(self.state, has_begun=self.has_begun)


@dataclass(frozen=True, slots=True)
class TournamentFilter:
    """The requested page and filters of the list."""

    page: int = 1
    text: str = ""
    """Part of the title; "" for all."""
    phase: Phase | None = None
    """None: all phases."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of the matching tournaments, with their number in each phase."""

    rows: Sequence[TournamentRow]
    page: int
    pages: int
    counts: Mapping[Phase, int]
    """The number of tournaments with a matching title, by phase."""


def list_page(session: Session, wanted: TournamentFilter) -> ListPage:
    """Return a page of the public tournaments, or the last page if the number is too high.

    Running tournaments come first, then upcoming, then finished ones, each sorted by title.
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
        Outline(id_, title, tournament_phase(state, has_begun=begun))
        for id_, title, state, begun in rows
    ]
    return sorted(
        outlines, key=lambda one: (PHASES.index(one.phase), natural_order(one.title), one.id)
    )


def tournament_phase(state: CompetitionState, *, has_begun: bool) -> Phase:
    """Return the phase of a tournament."""
    if state == "over":
        return "over"
    return "running" if has_begun else "coming"


def listing(session: Session) -> list[TournamentRow]:
    """Return the tournaments with a public event, latest first. Four statements."""
    latest = select(Competition.id).where(IS_LISTED).order_by(Competition.id.desc())
    return of_ids(session, session.scalars(latest.limit(MOST_LISTED)).all())


def of_ids(session: Session, ids: Sequence[int]) -> list[TournamentRow]:
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
        view(
            TournamentRow,
            row,
            groups=groups[row.id],
            has_begun=any(event.applied_at and event.kind == "start" for event in events[row.id]),
            next=next((event for event in events[row.id] if event.applied_at is None), None),
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


MOST_OF_LOG: Final = 500
MOST_MATCHES: Final = 200


@dataclass(frozen=True, slots=True)
class HostTeam:
    """A team as shown to its host."""

    id: int
    slug: str
    name: str
    groups: tuple[str, ...]
    status: EntryStatus
    reason: str
    out_of_competition: bool
    machine: str
    has_key: bool
    cards: int
    """The number of its valid tokens."""
    bot_kind: BotKind
    bot_status: BotStatus
    has_bot: bool
    address: str
    """The URL of its bot, or the name of its built-in strategy."""


@dataclass(frozen=True, slots=True)
class HostGroup:
    """A group as shown to its host."""

    id: int
    slug: str
    name: str
    kind: GroupKind
    teams: int
    round: int | None
    """The number of its last round."""
    played: int
    matches: int
    """The number of matches in the last round; `played` counts the finished ones."""


@dataclass(frozen=True, slots=True)
class HostEvent:
    """An event as shown to its host."""

    id: int
    kind: str
    at: datetime
    title: str
    text: str
    group: str
    announced: bool
    applied_at: datetime | None
    boards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostMatch:
    """A match of an open round that is unfinished or failed."""

    match_id: str
    group: str
    round_id: int
    round: int
    state: MatchState
    reason: str
    teams: tuple[str, ...]

    @property
    def title(self) -> str:
        """The players' names, or the match's name if no players are left."""
        return title_of(self.teams, " : ") or self.match_id


def teams_overview(session: Session, competition: int) -> list[HostTeam]:
    """Return a tournament's teams, sorted by group and then by id. Two statements."""
    cards = dict(
        session.execute(
            select(Ticket.team_id, func.count())
            .where(Ticket.competition_id == competition, Ticket.kind == "card")
            .group_by(Ticket.team_id)
        ).all()
    )
    rows = session.execute(
        select(Team, Bot, Entry, Group.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .join(Bot, Bot.team_id == Team.id)
        .where(Team.competition_id == competition)
        .order_by(Team.out_of_competition, Group.id, Team.id)
    ).all()
    groups: dict[int, list[str]] = defaultdict(list)
    for team, _, _, group in rows:
        groups[team.id].append(group)
    # The first entry of a team, in group order, represents all its entries.
    firsts = {team.id: (team, bot, entry) for team, bot, entry, _ in reversed(rows)}
    return [
        host_team(*firsts[team], tuple(names), cards.get(team, 0)) for team, names in groups.items()
    ]


def host_team(team: Team, bot: Bot, entry: Entry, groups: tuple[str, ...], cards: int) -> HostTeam:
    """Return a team as shown to its host."""
    return view(
        HostTeam,
        team,
        groups=groups,
        status=entry.status,
        reason=entry.reason,
        machine=team.machine or "",
        has_key=team.ssh_key is not None,
        cards=cards,
        bot_kind=bot.kind,
        bot_status=bot.status,
        has_bot=bool(bot.endpoint) or "version" in bot.settings,
        address=bot.endpoint,
    )


def groups_overview(session: Session, competition: int) -> list[HostGroup]:
    """Return the groups of a tournament, each with its last round. Four statements."""
    rows, sizes = groups_of(session, competition), group_sizes(session, competition)
    ids = [group.id for group in rows]
    last = select(func.max(Round.id)).where(Round.group_id.in_(ids)).group_by(Round.group_id)
    rounds = {row.group_id: row for row in session.scalars(select(Round).where(Round.id.in_(last)))}
    is_over = Match.state.in_(("done", "void", "failed"))
    counts = session.execute(
        select(Match.round_id, func.count(), func.count().filter(is_over))
        .where(Match.round_id.in_([row.id for row in rounds.values()]))
        .group_by(Match.round_id)
    )
    by_round = {round_id: (played, matches) for round_id, matches, played in counts}
    views = []
    for group in rows:
        last_round = rounds.get(group.id)
        played, matches = by_round.get(last_round.id, (0, 0)) if last_round else (0, 0)
        number = last_round.number if last_round else None
        figures = {"round": number, "played": played, "matches": matches}
        views.append(view(HostGroup, group, teams=sizes.get(group.id, 0), **figures))
    return views


def events_overview(session: Session, competition: int) -> list[HostEvent]:
    """Return the events of a tournament, earliest first."""
    rows = session.execute(
        select(Event, Group.name)
        .outerjoin(Group, Group.id == Event.group_id)
        .where(Event.competition_id == competition)
        .order_by(Event.at, Event.id)
    )
    return [
        view(
            HostEvent,
            event,
            group=group or "",
            boards=tuple(board["name"] for board in event.data.get("boards", ())),
        )
        for event, group in rows
    ]


def matches_overview(session: Session, competition: int) -> list[HostMatch]:
    """Return failed, running and queued matches of open rounds, in this order."""
    rows = session.execute(
        select(Match, Round, Group.name)
        .join(Round, Round.id == Match.round_id)
        .join(Group, Group.id == Round.group_id)
        .where(Group.competition_id == competition, Round.closed_at.is_(None))
        .where(Match.state.in_(("failed", "in_progress", "queued", "interrupted")))
        .order_by(Match.state != "failed", Match.state != "in_progress", Match.sequence, Match.id)
        .limit(MOST_MATCHES)
    ).all()
    ids = [match.id for match, _, _ in rows]
    names: dict[int, list[str]] = defaultdict(list)
    for match, name in session.execute(
        select(MatchParticipant.match_id, Team.name)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .join(Team, Team.id == Bot.team_id)
        .where(MatchParticipant.match_id.in_(ids))
        .order_by(MatchParticipant.match_id, MatchParticipant.slot)
    ):
        names[match].append(name)
    return [
        view(
            HostMatch,
            match,
            group=group,
            round_id=row.id,
            round=row.number,
            reason=match.reason or "",
            teams=tuple(names[match.id]),
        )
        for match, row, group in rows
    ]


def ssh_keys(session: Session, competition: int) -> list[tuple[str, str, str]]:
    """Return slug, machine and public key of each team that has a key."""
    with_key = (Team.competition_id == competition, Team.ssh_key.is_not(None))
    rows = session.execute(select(Team.slug, Team.machine, Team.ssh_key).where(*with_key))
    return [(slug, machine or "", key or "") for slug, machine, key in rows]


def log_overview(session: Session, competition: int) -> list[Audit]:
    """Return a tournament's audit log, latest first."""
    query = select(Audit).where(Audit.competition_id == competition)
    return list(
        session.scalars(query.order_by(Audit.at.desc(), Audit.id.desc()).limit(MOST_OF_LOG))
    )
