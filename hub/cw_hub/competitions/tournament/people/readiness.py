"""Teams that are not ready to play, with the reasons, for the host before the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw_hub.bots.versions.verbs import failed_step
from cw_hub.store.tables import Bot, Entry, Group, Guest, Team, TeamMember, User

NO_BOT: Final = "has no bot yet"
NOT_CHECKED: Final = "its bot has not been checked yet"
WAITS: Final = "waits for room"


@dataclass(frozen=True, slots=True)
class TeamReadiness:
    """A team's readiness."""

    name: str
    slug: str
    group: str
    people: int
    problem: str
    """"" if the team is ready."""


@dataclass(frozen=True, slots=True)
class GuestView:
    """An address on the host's list."""

    email: str
    team: str
    username: str | None
    """Username of the account with this confirmed address."""
    in_team: str | None


def teams(session: Session, competition: int) -> list[TeamReadiness]:
    """Return the playing and waiting teams, those that are not ready first. One statement."""
    people = (
        select(func.count()).where(TeamMember.team_id == Team.id).correlate(Team).scalar_subquery()
    )
    rows = session.execute(
        select(Team.name, Team.slug, Group.name, Entry.status, people, Bot)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .join(Bot, Bot.team_id == Team.id)
        .where(Team.competition_id == competition, Group.kind != "final")
        .where(Entry.status.in_(("playing", "waiting")), Team.removed_at.is_(None))
        .order_by(Group.id, Team.name_key)
    )
    listed = [
        TeamReadiness(name, slug, group, number, WAITS if status == "waiting" else problem_of(bot))
        for name, slug, group, status, number, bot in rows
    ]
    return sorted(listed, key=lambda team: not team.problem)


def problem_of(bot: Bot) -> str:
    """Return what keeps a bot from playing, in a few words, or ""."""
    is_set = "version" in bot.settings if bot.kind == "program" else bool(bot.endpoint)
    if not is_set:
        return NO_BOT
    if bot.kind == "builtin":
        return ""
    failed = failed_step(bot.checks or ())
    if failed is not None:
        return f"its bot failed {failed['step']!r}: {failed['problem']}"
    return "" if bot.checks or bot.kind == "program" else NOT_CHECKED


def guests(session: Session, competition: int) -> list[GuestView]:
    """Return the host's list with who has joined which team. One statement."""
    rows = session.execute(
        select(Guest.email, Guest.team, func.min(User.username), func.min(Team.name))
        .outerjoin(
            User,
            (func.lower(User.email) == Guest.email) & User.email_verified_at.is_not(None),
        )
        .outerjoin(
            TeamMember,
            (TeamMember.user_id == User.id) & (TeamMember.competition_id == competition),
        )
        .outerjoin(Team, Team.id == TeamMember.team_id)
        .where(Guest.competition_id == competition)
        .group_by(Guest.email, Guest.team)
        .order_by(Guest.email)
    )
    return [GuestView(*row) for row in rows]
