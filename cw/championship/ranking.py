"""The ranking of all teams, from first to last, as rows for pages, files and terminals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cw.championship.config import ChampionshipSettings
from cw.games.rules import Json
from cw.league.contests import Contest
from cw.league.fixtures import Results
from cw.league.standings import Record, tally


def ranking_document(
    settings: ChampionshipSettings, results: Results, teams: Sequence[Mapping[str, Any]]
) -> list[dict[str, Json]]:
    """Return a row for each team, best first; equal teams share a rank.

    Figures cover all matches except tie-break matches; `teams` are the documents of the teams.
    Equal teams are listed by win rate, then by score ratio, highest first.
    """
    contest = settings.contest()
    counted = [result for fixture, result in results.items() if not fixture.tie_break]
    records = tally(counted, settings.teams)
    stages = reached(contest, results)
    documents = {team["id"]: team for team in teams}
    rows: list[dict[str, Json]] = []
    for equal in contest.order(results) if results else ():
        rank = len(rows) + 1
        best_first = sorted(equal, key=lambda team: merit(records[team]), reverse=True)
        rows += (
            {
                "rank": rank,
                "team": team,
                "name": settings.name(team),
                "members": list(settings.members.get(team, ())),
                "reached": stages.get(team, ""),
                **figures(records[team], documents[team]["games"]),
            }
            for team in best_first
        )
    return rows


def merit(record: Record) -> tuple[Any, Any]:
    """Return the sort key of equal teams."""
    return record.win_rate, record.ratio


def figures(record: Record, matches: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Return a team's matches won, drawn and lost, its points, and its faults."""
    own = [match for match in matches if not match["is_tie_break"]]
    ended = Counter(match["result"] for match in own)
    return {
        "matches": record.matches,
        "won": ended["won"],
        "drawn": ended["drawn"],
        "lost": ended["lost"],
        "score_for": as_number(record.score_for),
        "score_against": as_number(record.score_against),
        "ratio": float(record.ratio),
        "matches_with_faults": sum(bool(match["own_faults"]) for match in own),
    }


def as_number(value: Any) -> int | float:
    """Return an exact number as a JSON number."""
    return value if isinstance(value, int) else float(value)


def reached(contest: Contest, results: Results) -> dict[str, str]:
    """Return how far each team has come, if the contest has several stages."""
    standings, bracket = contest.standings(results), contest.bracket(results)
    words: dict[str, str] = {}
    if len(standings) > 1 or bracket:
        words = {
            row.team: f"place {row.rank} of group {table.name}"
            for table in standings
            for row in table.rows
        }
    for ties in bracket:
        for tie in ties:
            words |= {team: tie.stage for team in tie.teams if team is not None}
    final = bracket[-1][0] if bracket else None
    if final is not None and final.winner is not None:
        words[final.winner] = "champion"
    return words
