"""Tournaments of teams, their groups, rounds and events, as pages show them, in few statements."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Row, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.orm import Session

from cw.hub.services.tournament_settings import FORMAT, TournamentSettings, settings_of
from cw.hub.store.tables import (
    Competition,
    CompetitionState,
    Entry,
    Event,
    Group,
    GroupKind,
    Match,
    MatchState,
    Round,
    Team,
)
from cw.league import ladder
from cw.league.ladder import Board, Happened, Phase

MOST: Final = 200
"""Tournaments, and events of one, that are shown."""


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round of a group."""

    id: int
    number: int
    board: Board
    positions: Mapping[int, int]
    """At its start, by team."""
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
    """The one that is asked for, else the last."""
    rounds: int
    """Those that have begun."""
    is_open: bool
    """Whether its last round is being played."""
    mark: str
    """What differs whenever the ladder of the group does."""

    @property
    def shows_last(self) -> bool:
        """Whether its round is the last one."""
        return self.round is None or self.round.number == self.rounds


@dataclass(frozen=True, slots=True)
class TournamentView:
    """A tournament with its groups."""

    id: int
    slug: str
    game: str
    title: str
    state: CompetitionState
    seed: int
    revision: int
    settings: TournamentSettings
    groups: tuple[GroupView, ...]

    def group(self, slug: str) -> GroupView | None:
        """Return a group by its slug, None if there is none."""
        return next((one for one in self.groups if one.slug == slug), None)

    def by_id(self, group: int | None) -> GroupView | None:
        """Return a group by its id, None if there is none."""
        return next((one for one in self.groups if one.id == group), None)


@dataclass(frozen=True, slots=True)
class EventView:
    """An event, applied or planned."""

    id: int
    group_id: int | None
    at: datetime
    kind: ladder.EventKind
    title: str
    text: str
    announced: bool
    applied_at: datetime | None


@dataclass(frozen=True, slots=True)
class Countdown:
    """The next event of a tournament, and those that have occurred."""

    next: EventView | None
    past: tuple[EventView, ...]
    """The latest first."""
    is_over: bool
    """Whether it has ended."""
    is_preparing: bool
    """Whether a final is due that waits for rounds to end."""


# Tournaments

_COMPETITIONS, _GROUPS, _ROUNDS = Competition.__table__, Group.__table__, Round.__table__
_MATCHES, _EVENTS = Match.__table__, Event.__table__
_TEAMS, _ENTRIES = Team.__table__, Entry.__table__

_LAST: Final = (
    select(func.max(_ROUNDS.c.number))
    .where(_ROUNDS.c.group_id == _GROUPS.c.id)
    .correlate(_GROUPS)
    .scalar_subquery()
)

_OPEN: Final = (
    exists()
    .where(_ROUNDS.c.group_id == _GROUPS.c.id, _ROUNDS.c.closed_at.is_(None))
    .correlate(_GROUPS)
)

WEIGHTS: Final[Mapping[MatchState, int]] = {
    "queued": 1,
    "interrupted": 2,
    "in_progress": 3,
    "done": 5,
    "void": 7,
    "failed": 11,
}
"""What a match in a state adds to the mark of its round, times its id."""

_PROGRESS: Final = (
    select(func.sum(_MATCHES.c.id * case(WEIGHTS, value=_MATCHES.c.state, else_=0)))
    .where(_MATCHES.c.round_id == _ROUNDS.c.id)
    .correlate(_ROUNDS)
    .scalar_subquery()
)

FOUND: Final = (
    select(
        _COMPETITIONS.c.id,
        _COMPETITIONS.c.slug,
        _COMPETITIONS.c.game,
        _COMPETITIONS.c.title,
        _COMPETITIONS.c.state,
        _COMPETITIONS.c.seed,
        _COMPETITIONS.c.revision,
        _COMPETITIONS.c.settings,
        _GROUPS.c.id.label("group_id"),
        _GROUPS.c.slug.label("group_slug"),
        _GROUPS.c.name,
        _GROUPS.c.kind,
        _GROUPS.c.revision.label("group_revision"),
        _ROUNDS.c.id.label("round_id"),
        _ROUNDS.c.number,
        _ROUNDS.c.board,
        _ROUNDS.c.positions,
        _ROUNDS.c.opened_at,
        _ROUNDS.c.closed_at,
        _LAST.label("rounds"),
        _OPEN.label("is_open"),
        _PROGRESS.label("progress"),
    )
    .outerjoin(_GROUPS, _GROUPS.c.competition_id == _COMPETITIONS.c.id)
    .outerjoin(
        _ROUNDS,
        and_(
            _ROUNDS.c.group_id == _GROUPS.c.id,
            _ROUNDS.c.number
            == case(
                (_GROUPS.c.slug == bindparam("group"), func.coalesce(bindparam("number"), _LAST)),
                else_=_LAST,
            ),
        ),
    )
    .where(_COMPETITIONS.c.format == FORMAT, _COMPETITIONS.c.slug == bindparam("slug"))
    .order_by(_GROUPS.c.id)
)
"""A tournament with its groups, each with its last round, or one of them with another round."""


def find(
    session: Session, slug: str, group: str = "", number: int | None = None
) -> TournamentView | None:
    """Return a tournament, None if there is none; with a number, that round of a group.

    One statement.
    """
    rows = session.execute(FOUND, {"slug": slug, "group": group, "number": number}).all()
    if not rows:
        return None
    first = rows[0]
    return TournamentView(
        first.id,
        first.slug,
        first.game,
        first.title,
        first.state,
        first.seed,
        first.revision,
        known_settings(first.game, json.dumps(first.settings, sort_keys=True)),
        tuple(group_of(row) for row in rows if row.group_id is not None),
    )


@lru_cache(maxsize=256)
def known_settings(game: str, said: str) -> TournamentSettings:
    """Return how a tournament is played, remembered: reading that tries its boards."""
    return settings_of(game, json.loads(said))


def group_of(row: Row[*tuple[Any, ...]]) -> GroupView:
    """Return the group of a row."""
    mark = (row.revision, row.group_revision, row.rounds, row.round_id, row.is_open, row.progress)
    return GroupView(
        row.group_id,
        row.group_slug,
        row.name,
        row.kind,
        None if row.round_id is None else round_of(row),
        row.rounds or 0,
        bool(row.is_open),
        "-".join(str(value) for value in mark),
    )


def round_of(row: Row[*tuple[Any, ...]]) -> RoundView:
    """Return the round of a row."""
    return RoundView(
        row.round_id,
        row.number,
        Board.from_json(row.board),
        {int(team): place for team, place in row.positions.items()},
        row.opened_at,
        row.closed_at,
    )


# Events


def events(session: Session, competition: int) -> list[EventView]:
    """Return the events of a tournament in the order in which they are applied. One statement."""
    columns = [getattr(_EVENTS.c, name) for name in EventView.__dataclass_fields__]
    rows = (
        select(*columns)
        .where(_EVENTS.c.competition_id == competition)
        .order_by(_EVENTS.c.at, _EVENTS.c.id)
        .limit(MOST)
    )
    return [EventView(*row) for row in session.execute(rows)]


def countdown(events: Sequence[EventView], now: datetime) -> Countdown:
    """Return what is next of these events, and what has occurred."""
    waiting = [one for one in events if one.applied_at is None]
    past = [one for one in events if one.applied_at is not None]
    past.sort(key=lambda one: (one.applied_at, one.at, one.id), reverse=True)
    is_over = any(one.kind == "end" and one.group_id is None for one in past)
    coming = waiting[0] if waiting else None
    is_preparing = coming is not None and coming.kind == "final" and coming.at <= now
    return Countdown(coming, tuple(past), is_over, is_preparing)


def phase_of(group: GroupView, events: Iterable[EventView], now: datetime) -> Phase:
    """Return how far a group is."""
    its = [
        Happened(one.kind, one.applied_at is not None)
        for one in events
        if one.group_id in (None, group.id)
        and (one.applied_at is not None or (one.kind == "final" and one.at <= now))
    ]
    return ladder.phase(its, is_final=group.kind == "final", is_open=group.is_open)


def pause_of(group: GroupView, events: Iterable[EventView]) -> EventView | None:
    """Return the event that has paused a group, None if none has."""
    last = None
    for one in events:
        if one.applied_at is not None and one.group_id in (None, group.id):
            last = one if one.kind == "pause" else None if one.kind == "resume" else last
    return last


# Lists


@dataclass(frozen=True, slots=True)
class Listed:
    """A tournament in the list of all."""

    slug: str
    game: str
    title: str
    state: CompetitionState
    teams: int
    groups: Sequence[str]
    has_begun: bool
    next: EventView | None
    """The next event that is announced."""


def listing(session: Session) -> list[Listed]:
    """Return the tournaments of which an event is announced or applied, the latest first.

    Three statements.
    """
    teams = (
        select(func.count())
        .where(_TEAMS.c.competition_id == _COMPETITIONS.c.id)
        .correlate(_COMPETITIONS)
        .scalar_subquery()
    )
    is_told = or_(_EVENTS.c.announced, _EVENTS.c.applied_at.is_not(None))
    told = exists().where(_EVENTS.c.competition_id == _COMPETITIONS.c.id, is_told)
    of = _COMPETITIONS.c
    found = session.execute(
        select(of.id, of.slug, of.game, of.title, of.state, teams.label("teams"))
        .where(of.format == FORMAT, told)
        .order_by(of.id.desc())
        .limit(MOST)
    ).all()
    groups = groups_by_tournament(session, [row.id for row in found])
    events = told_by_tournament(session, [row.id for row in found])
    return [
        Listed(
            *row[1:],
            groups[row.id],
            any(one.applied_at and one.kind == "start" for one in events[row.id]),
            next((one for one in events[row.id] if one.applied_at is None), None),
        )
        for row in found
    ]


def groups_by_tournament(session: Session, ids: Sequence[int]) -> Mapping[int, list[str]]:
    """Return the names of the groups of tournaments."""
    named: dict[int, list[str]] = defaultdict(list)
    columns = _GROUPS.c.competition_id, _GROUPS.c.name
    for of, name in session.execute(
        select(*columns).where(_GROUPS.c.competition_id.in_(ids)).order_by(_GROUPS.c.id)
    ):
        named[of].append(name)
    return named


def told_by_tournament(session: Session, ids: Sequence[int]) -> Mapping[int, list[EventView]]:
    """Return the events of tournaments that may be told: announced or applied."""
    told: dict[int, list[EventView]] = defaultdict(list)
    columns = [getattr(_EVENTS.c, name) for name in EventView.__dataclass_fields__]
    rows = session.execute(
        select(_EVENTS.c.competition_id, *columns)
        .where(
            _EVENTS.c.competition_id.in_(ids),
            or_(_EVENTS.c.announced, _EVENTS.c.applied_at.is_not(None)),
        )
        .order_by(_EVENTS.c.at, _EVENTS.c.id)
    )
    for of, *row in rows:
        told[of].append(EventView(*row))
    return told


@dataclass(frozen=True, slots=True)
class Member:
    """A team in the list of its sandbox."""

    group_id: int
    slug: str
    name: str
    is_out: bool


def members(session: Session, competition: int) -> list[Member]:
    """Return the teams that play in each sandbox, by name. One statement."""
    rows = session.execute(
        select(_ENTRIES.c.group_id, _TEAMS.c.slug, _TEAMS.c.name, _TEAMS.c.out_of_competition)
        .join(_TEAMS, _TEAMS.c.id == _ENTRIES.c.team_id)
        .where(_TEAMS.c.competition_id == competition, _ENTRIES.c.status == "playing")
        .order_by(_TEAMS.c.out_of_competition, _TEAMS.c.name_key)
    )
    return [Member(*row) for row in rows]


def group_of_team(session: Session, team: int) -> int | None:
    """Return the group from which a team comes; one that plays in all of them has the first."""
    return session.scalar(
        select(_ENTRIES.c.group_id)
        .join(_GROUPS, _GROUPS.c.id == _ENTRIES.c.group_id)
        .where(_ENTRIES.c.team_id == team)
        .order_by(_GROUPS.c.kind == "final", _ENTRIES.c.status != "playing", _GROUPS.c.id)
        .limit(1)
    )
