"""Closing of rounds: when a round is complete, and the points that all entries get at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import and_, func, insert, select
from sqlalchemy.orm import Session

from cw.league.ladder.points import Tally, summed
from cw_hub.competitions.tournament.rounds.entries import entries_of, positions
from cw_hub.competitions.tournament.rounds.results import crosstable, newest_matches
from cw_hub.competitions.tournament.rounds.state import TournamentState
from cw_hub.matches.interruptions import OPEN
from cw_hub.store.tables import Group, Match, MatchState, RoundScore

TIME_FOR_HOST: Final = timedelta(minutes=5)
"""How long a round waits for its host once only failed matches are left in it."""


def close_complete(session: Session, tournament: TournamentState) -> int:
    """Close the complete rounds; return their number."""
    rounds = {row.id: group for group in tournament.groups if (row := tournament.open_round(group))}
    if not rounds:
        return 0
    complete = complete_rounds(session, list(rounds), tournament.now)
    for round_id in complete:
        close(session, tournament, rounds[round_id])
    return len(complete)


def complete_rounds(session: Session, rounds: Sequence[int], now: datetime) -> list[int]:
    """Return the rounds that have no match left to play.

    A round with failed matches is complete only once TIME_FOR_HOST has passed since its last match
    ended, as the host may have them played again.
    """
    states: dict[int, set[MatchState]] = {round_id: set() for round_id in rounds}
    ends: dict[int, datetime] = {}
    rows = session.execute(
        select(Match.round_id, Match.state, func.max(Match.finished_at))
        .where(Match.round_id.in_(rounds))
        .group_by(Match.round_id, Match.state)
    )
    for round_id, state, ended_at in cast(Any, rows):
        states[round_id].add(state)
        if ended_at:
            ends[round_id] = max(ends.get(round_id, ended_at), ended_at)
    over = [round_id for round_id in rounds if states[round_id].isdisjoint(OPEN)]
    recent = [
        round_id
        for round_id in over
        if "failed" in states[round_id] and now < ends.get(round_id, now) + TIME_FOR_HOST
    ]
    if not recent:
        return over
    failed = and_(Match.id.in_(newest_matches(recent)), Match.state == "failed")
    waiting = set(session.scalars(select(Match.round_id).where(failed)))
    return [round_id for round_id in over if round_id not in waiting]


def close(session: Session, tournament: TournamentState, group: Group) -> None:
    """Close the open round of a group, and award points, totals and positions to its entries."""
    row = tournament.last_rounds[group.id]
    row.closed_at = tournament.now
    tallies = summed(crosstable(session, [row], tournament.settings))
    entries = [
        replace(entry, total=entry.total + tallies.get(entry.team_id, Tally()).points)
        for entry in entries_of(session, group.id)
    ]
    places = positions(entries)
    scores = [
        {
            "round_id": row.id,
            "team_id": entry.team_id,
            "points": (tally := tallies.get(entry.team_id, Tally())).points,
            "won": tally.won,
            "drawn": tally.drawn,
            "lost": tally.lost,
            "battles_diff": tally.games_diff,
            "score_diff": tally.score_diff,
            "total": entry.total,
            "position": places[entry.team_id],
        }
        for entry in entries
    ]
    if scores:
        session.execute(insert(RoundScore), scores)
    group.revision += 1
    session.flush()
