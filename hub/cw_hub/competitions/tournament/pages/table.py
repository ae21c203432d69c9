"""The parts of a group's ladder page that depend on the number of teams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import request

from cw_hub.competitions.tournament.names import LONGEST_TEAM
from cw_hub.competitions.tournament.rounds.matches import RoundMatch
from cw_hub.competitions.tournament.standings import GroupStandings, TableRow
from cw_hub.pages.names import natural_order
from cw_hub.pages.queries import whole_number

PER_PAGE: Final = 50
"""Number of teams per page."""

MOST_CROSSED: Final = 20
"""Maximum number of teams for a cross table; with more, only the latest results are listed."""

MOST_LISTED: Final = 12
"""Maximum number of results listed instead of a cross table."""

OFTEN: Final = 2
SELDOM: Final = 10
"""Seconds between the polls of a page; longer where many teams may be watching."""

BESIDE: Final = 6
"""Of many teams, those comparable with one: this many above, below, and at the top."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The selection in a request for a ladder."""

    page: int
    named: str
    """Part of the teams' names; "" for all."""


def wanted() -> Wanted:
    """Return the selection in the address; invalid values count as absent."""
    return Wanted(
        whole_number(request.args.get("page", ""), least=1) or 1,
        request.args.get("q", "").strip()[:LONGEST_TEAM],
    )


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page of a group's competing teams."""

    rows: Sequence[TableRow]
    page: int
    pages: int
    named: str
    is_long: bool
    """Whether the group has more than one page."""

    @property
    def choice(self) -> dict[str, Any]:
        """The query parameters that lead to this page."""
        return {"page": self.page if self.page > 1 else None, "q": self.named or None}


def table_page(standings: GroupStandings, choice: Wanted) -> TablePage:
    """Return the requested page; a page beyond the last means the last."""
    competing = competing_rows(standings)
    wanted_name = choice.named.casefold()
    rows = [row for row in competing if wanted_name in row.name.casefold()]
    pages = max(1, -(-len(rows) // PER_PAGE))
    page = min(choice.page, pages)
    first = (page - 1) * PER_PAGE
    is_long = len(competing) > PER_PAGE
    return TablePage(rows[first : first + PER_PAGE], page, pages, choice.named, is_long)


def competing_rows(standings: GroupStandings) -> list[TableRow]:
    """Return the teams that have a place, best first."""
    return [row for row in standings.rows if row.competes]


def page_of(standings: GroupStandings, team: int) -> int | None:
    """Return the number of a team's page, or None if it has no place."""
    ids = [row.team_id for row in competing_rows(standings)]
    return ids.index(team) // PER_PAGE + 1 if team in ids else None


def seconds_between_polls(standings: GroupStandings) -> int:
    """Return the number of seconds between two polls of an open page."""
    return OFTEN if len(standings.rows) <= MOST_CROSSED else SELDOM


def has_cross_table(standings: GroupStandings) -> bool:
    """Return whether a round's results fit into a cross table."""
    return len(standings.round_rows) <= MOST_CROSSED


def results_by_pair(standings: GroupStandings) -> dict[tuple[int, int], tuple[RoundMatch, int]]:
    """Return the match of each pair of teams, with the seat of the first."""
    return {
        (team, opponent): (match, seat)
        for match in standings.matches
        for seat, team in enumerate(match.teams)
        for opponent in match.teams
        if team != opponent
    }


def last_results(standings: GroupStandings) -> list[RoundMatch]:
    """Return the latest scoring matches of a round, latest first."""
    return [match for match in reversed(standings.matches) if match.counts][:MOST_LISTED]


def comparable(standings: GroupStandings, row: TableRow) -> list[TableRow]:
    """Return the teams comparable with one, by name; of many, those at the top and near it."""
    rows = standings.rows
    others = [other for other in rows if other.team_id != row.team_id]
    if len(rows) <= MOST_CROSSED:
        return sorted(others, key=lambda other: natural_order(other.name))
    index = rows.index(row)
    near = {other.team_id for other in rows[max(0, index - BESIDE) : index + BESIDE + 1]}
    top = {other.team_id for other in rows[:BESIDE]}
    return [other for other in others if other.team_id in near | top]
