"""API operations of tournaments: the list, one tournament with its groups, and ladders."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from cw.league.ladder import Phase
from cw_hub.api import List, PlacesQuery, Routes, document, list_of
from cw_hub.competitions.tournament import views
from cw_hub.competitions.tournament.ladder import LadderView, ladder_view, tournament_or_404
from cw_hub.competitions.tournament.standings import (
    GroupStandings,
    RoundMatch,
    RoundRecord,
    TableRow,
)
from cw_hub.competitions.tournament.views import TournamentRow as ViewsTournamentRow
from cw_hub.competitions.tournament.words import plain
from cw_hub.matches.listings import PageRequest, cut_by_place
from cw_hub.pages.request import one_reading
from cw_hub.store.models import CompetitionState, EntryStatus, GroupKind, MatchState


class TournamentRow(Struct, frozen=True, kw_only=True):
    """A tournament in the list; `next_at` is its next announced event."""

    slug: str
    game: str
    title: str
    description: str
    state: CompetitionState
    teams: int
    groups: list[str]
    next_at: datetime | None
    next_title: str | None


class GroupFacts(Struct, frozen=True, kw_only=True):
    """A group of a tournament; `rounds` counts those begun."""

    slug: str
    name: str
    kind: GroupKind
    rounds: int


class TournamentFacts(Struct, frozen=True, kw_only=True):
    """A tournament with its groups; its description is Markdown."""

    slug: str
    game: str
    title: str
    description: str
    state: CompetitionState
    groups: list[GroupFacts]


class LadderRound(Struct, frozen=True, kw_only=True):
    """A round; match points are multiplied by `factor`; `played` of `matches` are over."""

    number: int
    board: str
    factor: int
    played: int
    matches: int


class LadderEntry(Struct, frozen=True, kw_only=True):
    """A team on a ladder; `change` is the number of places gained in the last closed round."""

    place: int | None
    team: str
    slug: str
    points: float
    last_round: float
    change: int
    won: int
    drawn: int
    lost: int
    status: EntryStatus


class Ladder(Struct, frozen=True, kw_only=True):
    """The ladder of a group."""

    group: str
    name: str
    phase: Phase
    round: LadderRound | None
    next_round_at: datetime | None
    entries: list[LadderEntry]


class RoundQuery(PlacesQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Selects matches of a group."""

    round: Annotated[str, Meta(pattern="^([1-9][0-9]{0,5})?$", description="Empty: the last.")] = ""


class RoundMatchFacts(Struct, frozen=True, kw_only=True):
    """A match of a round; teams and their points are by seat.

    `result` is such as `2:0`; null if the match gives no points or has more than two teams.
    """

    match_id: str
    state: MatchState
    teams: list[str]
    """Slugs."""
    points: list[int]
    result: str | None


class TeamRound(Struct, frozen=True, kw_only=True):
    """A team's results in a closed round; `total` and `place` are those after it."""

    number: int
    points: float
    total: float
    place: int
    won: int
    drawn: int
    lost: int


routes: Final = Routes()


@routes.add("GET", "/tournaments")
def tournaments(query: PlacesQuery) -> List[TournamentRow]:
    """Return the tournaments that have a public event, latest first."""
    with one_reading() as reading:
        rows = views.listing(reading)
    return list_of(cut_by_place(rows, PageRequest(query.limit, query.after)), tournament_row)


def tournament_row(row: ViewsTournamentRow) -> TournamentRow:
    """Return a listed tournament as an API response."""
    coming = row.next
    return document(
        TournamentRow,
        row,
        groups=list(row.groups),
        next_at=coming and coming.at,
        next_title=coming and coming.title,
    )


@routes.add("GET", "/tournaments/<slug>")
def tournament(slug: str) -> TournamentFacts:
    """Return a tournament with its groups."""
    with one_reading() as reading:
        view = tournament_or_404(reading, slug)
    groups = [document(GroupFacts, group) for group in view.groups]
    return document(TournamentFacts, view, groups=groups)


@routes.add("GET", "/tournaments/<slug>/groups/<group>")
def ladder(slug: str, group: str) -> Ladder:
    """Return the ladder of a group with its last round, best first."""
    return ladder_document(ladder_view(slug, group))


def ladder_document(view: LadderView) -> Ladder:
    """Return a ladder as an API response."""
    last = view.group.last_closed
    entries = [ladder_entry(row, last) for row in view.standings.rows]
    return Ladder(
        group=view.group.slug,
        name=view.group.name,
        phase=view.phase,
        round=round_of(view),
        next_round_at=view.next_at,
        entries=entries,
    )


def round_of(view: LadderView) -> LadderRound | None:
    """Return a group's last round, or None if none has started."""
    current = view.group.round
    if current is None:
        return None
    standings = view.standings
    return LadderRound(
        number=current.number,
        board=current.board.name,
        factor=current.board.factor,
        played=standings.played,
        matches=len(standings.matches),
    )


def ladder_entry(row: TableRow, last: int) -> LadderEntry:
    """Return a ladder row as an API response; `last` is the number of the last closed round."""
    return document(
        LadderEntry,
        row,
        team=row.name,
        points=plain(row.points),
        last_round=plain(row.points_of(last)),
        change=row.change or 0,
    )


@routes.add("GET", "/tournaments/<slug>/groups/<group>/matches")
def round_matches(slug: str, group: str, query: RoundQuery) -> List[RoundMatchFacts]:
    """Return the matches of a group's round, in order of play."""
    standings = ladder_view(slug, group).standings
    part = cut_by_place(standings.matches, PageRequest(query.limit, query.after))
    return list_of(part, lambda match: round_match(standings, match))


def round_match(standings: GroupStandings, match: RoundMatch) -> RoundMatchFacts:
    """Return a match of a round as an API response."""
    is_pair = len(match.teams) == 2
    return document(
        RoundMatchFacts,
        match,
        teams=[standings.by_id[team].slug for team in match.teams if team in standings.by_id],
        points=list(standings.points(match)),
        result=str(standings.result(match)) if match.counts and is_pair else None,
    )


@routes.add("GET", "/tournaments/<slug>/groups/<group>/teams/<team>")
def team_rounds(slug: str, group: str, team: str, query: PlacesQuery) -> List[TeamRound]:
    """Return a team's points and results in each closed round, in order."""
    row = ladder_view(slug, group, team).standings.by_slug[team]
    return list_of(cut_by_place(row.history, PageRequest(query.limit, query.after)), team_round)


def team_round(record: RoundRecord) -> TeamRound:
    """Return a team's results in a round as an API response."""
    return document(
        TeamRound,
        record,
        points=plain(record.points),
        total=plain(record.total),
        place=record.position,
    )
