"""The final: which teams advance to its group."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw_hub.competitions.tournament.groups import most_entries
from cw_hub.competitions.tournament.rounds.entries import playing_somewhere
from cw_hub.competitions.tournament.rounds.results import ranked_teams
from cw_hub.competitions.tournament.rounds.state import TournamentState
from cw_hub.store.tables import Entry, Group, Team


def seat_finalists(session: Session, tournament: TournamentState) -> None:
    """Enter the top teams of each public group in the final, and the teams out of competition.

    Existing entries stay. If there is no room for all finalists, the first of every group take
    precedence over the second ones.
    """
    final = next((group for group in tournament.groups if group.kind == "final"), None)
    if final is None:
        return
    entered = set(session.scalars(select(Entry.team_id).where(Entry.group_id == final.id)))
    for team in guests(session, tournament):
        if team not in entered:
            entered.add(team)
            enter(session, tournament, final, team, None)
    most = most_entries(tournament.row)
    for team, group in finalists(session, tournament):
        if team not in entered and len(entered) < most:
            entered.add(team)
            enter(session, tournament, final, team, group)
    session.flush()


def guests(session: Session, tournament: TournamentState) -> list[int]:
    """Return the ids of the playing teams that are out of competition."""
    guest = (Team.competition_id == tournament.row.id, Team.out_of_competition.is_(True))
    query = select(Team.id).where(*guest, Team.id.in_(playing_somewhere(tournament.row.id)))
    return list(session.scalars(query))


def finalists(session: Session, tournament: TournamentState) -> list[tuple[int, Group]]:
    """Return finalists' team ids with their groups: all first places, all second places, ..."""
    settings, seed = tournament.settings, tournament.row.seed
    firsts = [
        (rank, ranked.entry, group)
        for group in tournament.groups
        if group.kind == "public"
        for rank, ranked in enumerate(ranked_teams(session, settings, seed, group.id))
        if rank < settings.finalists
    ]
    firsts.sort(key=lambda finalist: finalist[0])
    return [(team, group) for _, team, group in firsts]


def enter(
    session: Session, tournament: TournamentState, final: Group, team: int, origin: Group | None
) -> None:
    """Add a team's entry to the final, without points."""
    entry = Entry(
        group_id=final.id,
        team_id=team,
        joined_at=tournament.now,
        status="playing",
        from_group_id=None if origin is None else origin.id,
    )
    session.add(entry)
