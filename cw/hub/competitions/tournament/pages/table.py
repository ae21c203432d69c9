"""What the page of a ladder shows of a group, however many teams it has: a page of its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import request

from cw.hub.competitions.tournament.names import LONGEST_TEAM
from cw.hub.competitions.tournament.rounds.matches import RoundMatch
from cw.hub.competitions.tournament.standings import GroupStandings, TableRow
from cw.hub.pages.names import natural_order
from cw.hub.pages.queries import whole_number

PER_PAGE: Final = 50
"""Teams of a page."""

MOST_CROSSED: Final = 20
"""Teams of which each has a column in the table of results; of more, only the last are listed."""

MOST_LISTED: Final = 12
"""Results that are listed in the place of a table."""

OFTEN: Final = 2
SELDOM: Final = 10
"""Seconds after which a page asks what is new; seldom where many teams look on."""

BESIDE: Final = 6
"""Teams above and below one that can be compared with it, and at the top, of many."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks of a ladder."""

    page: int
    named: str
    """What the names of teams contain; "" for all."""


def wanted() -> Wanted:
    """Return what the address asks for; what it cannot mean counts as absent."""
    return Wanted(
        whole_number(request.args.get("page", ""), least=1) or 1,
        request.args.get("q", "").strip()[:LONGEST_TEAM],
    )


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page of the competing teams of a group."""

    rows: Sequence[TableRow]
    page: int
    pages: int
    named: str
    is_long: bool
    """Whether the group has more teams than a page."""

    @property
    def choice(self) -> dict[str, Any]:
        """What leads to this page, for an address."""
        return {"page": self.page if self.page > 1 else None, "q": self.named or None}


def table_page(standings: GroupStandings, choice: Wanted) -> TablePage:
    """Return the page that was asked for, the last one for a number beyond it."""
    competing = competing_rows(standings)
    wanted_name = choice.named.casefold()
    rows = [row for row in competing if wanted_name in row.name.casefold()]
    pages = max(1, -(-len(rows) // PER_PAGE))
    page = min(choice.page, pages)
    first = (page - 1) * PER_PAGE
    is_long = len(competing) > PER_PAGE
    return TablePage(rows[first : first + PER_PAGE], page, pages, choice.named, is_long)


def competing_rows(standings: GroupStandings) -> list[TableRow]:
    """Return the teams with a place, the first place first."""
    return [row for row in standings.rows if row.competes]


def page_of(standings: GroupStandings, team: int) -> int | None:
    """Return the number of the page on which a team stands, None if it has no place."""
    ids = [row.team_id for row in competing_rows(standings)]
    return ids.index(team) // PER_PAGE + 1 if team in ids else None


def seconds_between_polls(standings: GroupStandings) -> int:
    """Return after how many seconds an open page asks what is new."""
    return OFTEN if len(standings.rows) <= MOST_CROSSED else SELDOM


def has_cross_table(standings: GroupStandings) -> bool:
    """Return whether the results of a round fit into a table of each team against each."""
    return len(standings.round_rows) <= MOST_CROSSED


def results_by_pair(standings: GroupStandings) -> dict[tuple[int, int], tuple[RoundMatch, int]]:
    """Return the match of each two teams, with the seat of the first."""
    return {
        (team, opponent): (match, seat)
        for match in standings.matches
        for seat, team in enumerate(match.teams)
        for opponent in match.teams
        if team != opponent
    }


def last_results(standings: GroupStandings) -> list[RoundMatch]:
    """Return the last matches of a round that give points, the latest first."""
    return [match for match in reversed(standings.matches) if match.counts][:MOST_LISTED]


def comparable(standings: GroupStandings, row: TableRow) -> list[TableRow]:
    """Return the teams to compare with one, by name; of many those at the top and around it."""
    rows = standings.rows
    others = [other for other in rows if other.team_id != row.team_id]
    if len(rows) <= MOST_CROSSED:
        return sorted(others, key=lambda other: natural_order(other.name))
    index = rows.index(row)
    near = {other.team_id for other in rows[max(0, index - BESIDE) : index + BESIDE + 1]}
    top = {other.team_id for other in rows[:BESIDE]}
    return [other for other in others if other.team_id in near | top]
