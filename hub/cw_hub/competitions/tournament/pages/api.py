"""Tournaments in the API: the list, a tournament with its groups, and ladders."""

from __future__ import annotations

from typing import Final

from cw_hub.api.documents import List, document, list_of
from cw_hub.api.operations import Routes
from cw_hub.api.queries import PlacesQuery
from cw_hub.competitions.tournament import listing
from cw_hub.competitions.tournament.listing import ListedTournament
from cw_hub.competitions.tournament.pages.api_documents import (
    GroupFacts,
    Ladder,
    LadderEntry,
    LadderRound,
    RoundMatchFacts,
    RoundQuery,
    TeamRound,
    TournamentFacts,
    TournamentRow,
)
from cw_hub.competitions.tournament.pages.header import tournament_or_404
from cw_hub.competitions.tournament.pages.ladder_view import LadderView, ladder_view
from cw_hub.competitions.tournament.rounds.matches import RoundMatch
from cw_hub.competitions.tournament.standings import GroupStandings, RoundRecord, TableRow
from cw_hub.competitions.tournament.words import plain
from cw_hub.matches.listings import Cut, cut_by_place
from cw_hub.pages.request import one_reading

routes: Final = Routes()


@routes.add("GET", "/tournaments")
def tournaments(query: PlacesQuery) -> List[TournamentRow]:
    """Return the tournaments that have a public event, latest first."""
    with one_reading() as reading:
        rows = listing.listing(reading)
    return list_of(cut_by_place(rows, Cut(query.limit, query.after)), tournament_row)


def tournament_row(row: ListedTournament) -> TournamentRow:
    """Return a listed tournament as an API document."""
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
    view = ladder_view(slug, group)
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
    """Return the last round of a group, or None if none has begun."""
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
    """Return a ladder row as an API document; `last` is the number of the last closed round."""
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
    part = cut_by_place(standings.matches, Cut(query.limit, query.after))
    return list_of(part, lambda match: round_match(standings, match))


def round_match(standings: GroupStandings, match: RoundMatch) -> RoundMatchFacts:
    """Return a match of a round as an API document."""
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
    return list_of(cut_by_place(row.history, Cut(query.limit, query.after)), team_round)


def team_round(record: RoundRecord) -> TeamRound:
    """Return a team's round as an API document."""
    return document(
        TeamRound,
        record,
        points=plain(record.points),
        total=plain(record.total),
        place=record.position,
    )
