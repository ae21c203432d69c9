"""Queries behind the tournament pages: the list, and one tournament with groups and countdown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Row, Select, and_, bindparam, case, exists, func, or_, select

from cw.league.ladder import STOPS, BoardSpec, EventKind, GameResult, GroupEvent, phase
from cw.league.ladder import Phase as LadderPhase
from cw_hub.competitions.tournament.events import MOST_EVENTS
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings, stored_settings
from cw_hub.pages.forms import natural_order
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    Competition,
    CompetitionState,
    Entry,
    Event,
    Group,
    GroupKind,
    Match,
    MatchParticipant,
    MatchState,
    Round,
    Team,
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
    mark = (*revisions, row.rounds, row.round_id, row.is_open, row.stages_passed)
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
class ListedTournament:
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
class Wanted:
    """The requested page and filters of the list."""

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


@dataclass(frozen=True, slots=True)
class GameView:
    """A game of a match; ranks and scores are by seat."""

    number: int
    reason: str
    ranks: Sequence[int | None]
    scores: Sequence[float | None]
    first_seat: int = 0
    """The seat of the first mover."""


@dataclass(frozen=True, slots=True)
class RoundMatch:
    """A match of a round."""

    id: int
    match_id: str
    key: str
    sequence: int
    state: MatchState
    reason: str | None
    teams: tuple[int, ...]
    """The team ids, by seat."""
    faults: tuple[Mapping[int, int], ...]
    """The number of faults by seat and by game; empty if they were not read."""
    games: tuple[GameView, ...]

    @property
    def pair(self) -> str:
        """Its position in the round's plan, which a match that is played again keeps."""
        return "/".join(self.key.split("/")[:2])

    @property
    def results(self) -> list[GameResult]:
        """The results of its games."""
        return [GameResult(game.ranks, game.scores) for game in self.games]

    @property
    def counts(self) -> bool:
        """Whether it gives points."""
        return self.state == "done"


_ROUND: Final = Match.round_id == bindparam("round")
_TEAM: Final = Match.id.in_(
    select(MatchParticipant.match_id)
    .join(Bot, Bot.id == MatchParticipant.bot_id)
    .where(Bot.team_id == bindparam("team"))
)
_MATCH: Final = Match.id == bindparam("match")

SEATS: Final = (
    select(
        Match.id,
        Match.match_id,
        Match.key,
        Match.sequence,
        Match.state,
        Match.reason,
        Bot.team_id,
    )
    .join(MatchParticipant, MatchParticipant.match_id == Match.id)
    .join(Bot, Bot.id == MatchParticipant.bot_id)
    .where(_ROUND)
    .order_by(Match.sequence, Match.id, MatchParticipant.slot)
)
"""Selects the seats of a round's matches."""

GAMES: Final = (
    select(
        Battle.match_id,
        Battle.number,
        Battle.reason,
        Battle.ranks,
        Battle.scores,
        Battle.first_slot,
    )
    .join(Match, Match.id == Battle.match_id)
    .where(_ROUND)
    .order_by(Battle.match_id, Battle.number)
)
"""Selects the games of a round's matches."""

# Faults are read only for a single team or match, as bots in some games commit many.
SEATS_OF_TEAM: Final = SEATS.add_columns(MatchParticipant.faults).where(_TEAM)
GAMES_OF_TEAM: Final = GAMES.where(_TEAM)
SEATS_OF_MATCH: Final = (
    SEATS.add_columns(MatchParticipant.faults, Team.slug, Team.name, Team.out_of_competition)
    .join(Team, Team.id == Bot.team_id)
    .where(_MATCH)
)
GAMES_OF_MATCH: Final = GAMES.where(_MATCH)


def matches_of(session: Session, round_id: int, team: int | None = None) -> tuple[RoundMatch, ...]:
    """Return the matches of a round in order of play, or those of one team with its faults.

    If a match was played again, only the last one is included. Two statements.
    """
    wanted = {"round": round_id} | ({} if team is None else {"team": team})
    games = games_by_match(session, GAMES if team is None else GAMES_OF_TEAM, wanted)
    seats: dict[int, list[Any]] = defaultdict(list)
    for seat in session.execute(SEATS if team is None else SEATS_OF_TEAM, wanted):
        seats[seat.id].append(seat)
    newest: dict[str, RoundMatch] = {}
    for match_id in sorted(seats):
        match = round_match(seats[match_id], games[match_id])
        newest[match.pair] = match
    return tuple(sorted(newest.values(), key=lambda match: (match.sequence, match.id)))


def games_by_match(
    session: Session, query: Select[*tuple[Any, ...]], wanted: Mapping[str, int]
) -> Mapping[int, list[GameView]]:
    """Return the games selected by a query like GAMES, by match id."""
    games: dict[int, list[GameView]] = defaultdict(list)
    for match_id, *columns in session.execute(query, wanted):
        games[match_id].append(GameView(*columns))
    return games


def round_match(seats: Sequence[Any], games: Sequence[GameView]) -> RoundMatch:
    """Return a match built from the rows of a query like SEATS."""
    first = seats[0]
    return RoundMatch(
        first.id,
        first.match_id,
        first.key,
        first.sequence or 0,
        first.state,
        first.reason,
        tuple(seat.team_id for seat in seats),
        tuple(faults_by_game(getattr(seat, "faults", ())) for seat in seats),
        tuple(games),
    )


def faults_by_game(faults: Iterable[Mapping[str, Any]]) -> Mapping[int, int]:
    """Return the number of faults by game number."""
    return Counter(fault.get("battle", 1) for fault in faults)
