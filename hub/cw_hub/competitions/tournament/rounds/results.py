"""The results of rounds: points between teams, and the final order with its tie-breaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from cw.league.ladder import points
from cw.league.ladder.final_order import EntryTotals, Ranked, final_table
from cw.league.ladder.points import GameResult, PlayedMatch, Scoring, Tally
from cw_hub.competitions.tournament.rounds.entries import entries_of
from cw_hub.competitions.tournament.settings import TournamentSettings
from cw_hub.store.tables import Battle, Bot, Match, MatchParticipant, Round, RoundScore


def scoring_of(row: Round, settings: TournamentSettings) -> Scoring:
    """Return how a round's results turn into points."""
    return Scoring(settings.points, row.board["factor"], settings.tiebreak)


def newest_matches(rounds: Sequence[int]) -> Any:
    """Return a query for the match ids of rounds, with only the newest of repeated matches."""
    return (
        select(func.max(Match.id))
        .where(Match.round_id.in_(rounds))
        .group_by(Match.round_id, Match.sequence)
    )


def crosstable(
    session: Session, rounds: Sequence[Round], settings: TournamentSettings
) -> dict[tuple[int, int], Tally]:
    """Return the tally of each team against each other over rounds, by team ids."""
    table: dict[tuple[int, int], Tally] = {}
    played = played_matches(session, [row.id for row in rounds])
    for row in rounds:
        positions = {int(team): position for team, position in row.positions.items()}
        tallies = points.crosstable(played[row.id], positions, scoring_of(row, settings))
        for pair, tally in tallies.items():
            table[pair] = table.get(pair, Tally()).plus(tally)
    return table


def played_matches(session: Session, rounds: Sequence[int]) -> dict[int, list[PlayedMatch[int]]]:
    """Return the matches that count (done, and not played again), by round id."""
    counts = and_(Match.id.in_(newest_matches(rounds)), Match.state == "done")
    teams: dict[int, list[int]] = defaultdict(list)
    round_of: dict[int, int] = {}
    seats = session.execute(
        select(Match.id, Match.round_id, Bot.team_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(counts)
        .order_by(Match.id, MatchParticipant.slot)
    )
    for match, round_id, team in cast(Any, seats):
        round_of[match] = round_id
        teams[match].append(team)
    games: dict[int, list[GameResult]] = defaultdict(list)
    rows = session.execute(
        select(Battle.match_id, Battle.ranks, Battle.scores)
        .join(Match, Match.id == Battle.match_id)
        .where(counts)
        .order_by(Battle.number)
    )
    for match, ranks, scores in rows:
        games[match].append(GameResult(ranks, scores))
    played: dict[int, list[PlayedMatch[int]]] = {round_id: [] for round_id in rounds}
    for match, round_id in round_of.items():
        played[round_id].append(PlayedMatch(tuple(teams[match]), tuple(games[match])))
    return played


def ranked_teams(
    session: Session, settings: TournamentSettings, seed: int, group_id: int
) -> list[Ranked[int]]:
    """Return the competing teams of a group in final order, with the tie-breaks that decided.

    Ties are broken as in `cw.league.ladder.final_order`; `seed` is that of the tournament.
    """
    competing = [entry.team_id for entry in entries_of(session, group_id) if entry.competes]
    sums = session.execute(
        select(
            RoundScore.team_id,
            func.sum(RoundScore.points),
            func.sum(RoundScore.battles_diff),
            func.sum(RoundScore.score_diff),
        )
        .join(Round, Round.id == RoundScore.round_id)
        .where(Round.group_id == group_id)
        .group_by(RoundScore.team_id)
    )
    by_team = {row[0]: EntryTotals[int](*row) for row in sums}
    totals = [by_team.get(team, EntryTotals(team, 0)) for team in competing]
    head_to_head: dict[tuple[int, int], float] = {}
    # Meetings are read only for tie-breaks, because this reads all matches of the group.
    if len({entry.key for entry in totals}) < len(totals):
        closed = (Round.group_id == group_id, Round.closed_at.is_not(None))
        rounds = session.scalars(select(Round).where(*closed)).all()
        table = crosstable(session, rounds, settings)
        head_to_head = {pair: tally.points for pair, tally in table.items()}
    return final_table(totals, head_to_head, seed)
