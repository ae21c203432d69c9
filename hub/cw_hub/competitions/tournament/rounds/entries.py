"""The entries of a group during its rounds, and their positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.league.ladder import places
from cw_hub.store.tables import Bot, Entry, EntryStatus, Group, Round, RoundScore, Team


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A team's present entry in a group."""

    team_id: int
    slug: str
    bot_id: int | None
    """Its bot's row id."""
    status: EntryStatus
    out_of_competition: bool
    total: int
    """Its points from all closed rounds."""

    @property
    def competes(self) -> bool:
        """Whether it has a place."""
        return self.status == "playing" and not self.out_of_competition


def entries_of(session: Session, group_id: int) -> list[GroupEntry]:
    """Return all entries of a group, by team id."""
    totals = (
        select(RoundScore.team_id, func.sum(RoundScore.points).label("total"))
        .join(Round, Round.id == RoundScore.round_id)
        .where(Round.group_id == group_id)
        .group_by(RoundScore.team_id)
        .subquery()
    )
    rows = session.execute(
        select(Team.id, Team.slug, Bot.id, Entry.status, Team.out_of_competition, totals.c.total)
        .select_from(Entry)
        .join(Team, Team.id == Entry.team_id)
        .outerjoin(Bot, Bot.team_id == Team.id)
        .outerjoin(totals, totals.c.team_id == Team.id)
        .where(Entry.group_id == group_id)
        .order_by(Team.id)
    )
    return [
        GroupEntry(team, slug, bot, status, is_out, int(total or 0))
        for team, slug, bot, status, is_out, total in rows
    ]


def positions(entries: Sequence[GroupEntry]) -> dict[int, int]:
    """Return the position of each entry, by team id."""
    totals = {entry.team_id: entry.total for entry in entries}
    return places.positions(totals, [entry.team_id for entry in entries if entry.competes])


def playing_somewhere(competition_id: int) -> Any:
    """Return a query for the ids of a tournament's teams that play in any group."""
    return (
        select(Entry.team_id)
        .join(Group, Group.id == Entry.group_id)
        .where(Group.competition_id == competition_id, Entry.status == "playing")
    )
