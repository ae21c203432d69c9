"""Roles of accounts in tournaments, held without a printed token: team member or host."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import and_, bindparam, select

from cw_hub.accounts.login_cards import TeamHolder
from cw_hub.store.database import Session
from cw_hub.store.models import Competition, CompetitionHost, Group, Team, TeamMember

NO_TICKET: Final = ""
"""The digest of a holder who has no ticket, but whose account is a member of the team."""


@dataclass(frozen=True, slots=True)
class Role:
    """The role of an account in a tournament."""

    team: TeamHolder | None = None
    is_host: bool = False


ROLE: Final = (
    select(
        Competition.id.label("competition_id"),
        Team.id.label("team_id"),
        Team.slug,
        Team.name,
        CompetitionHost.user_id.label("host"),
    )
    .outerjoin(
        TeamMember,
        and_(
            TeamMember.competition_id == Competition.id,
            TeamMember.user_id == bindparam("user"),
        ),
    )
    .outerjoin(Team, and_(Team.id == TeamMember.team_id, Team.removed_at.is_(None)))
    .outerjoin(
        CompetitionHost,
        and_(
            CompetitionHost.competition_id == Competition.id,
            CompetitionHost.user_id == bindparam("user"),
        ),
    )
    .where(
        Competition.slug == bindparam("slug"),
        # Slugs are unique only within a format; only tournaments have groups.
        select(Group.id).where(Group.competition_id == Competition.id).exists(),
    )
)


def find_role(session: Session, slug: str, user_id: int) -> Role:
    """Return the role of an account in a tournament; executes one query."""
    row = session.execute(ROLE, {"slug": slug, "user": user_id}).first()
    if row is None:
        return Role()
    team = None
    if row.team_id is not None:
        about = (row.competition_id, row.team_id, row.slug, row.name)
        team = TeamHolder(*about, NO_TICKET, datetime.max)
    return Role(team, row.host is not None)
