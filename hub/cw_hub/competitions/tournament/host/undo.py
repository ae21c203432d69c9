"""Actions a host can undo for an hour: ending a tournament, and removing teams."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import and_, delete, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.bots.versions import verbs as versions
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.events import TAKEN_BACK
from cw_hub.competitions.tournament.groups import groups_of, mark_changed
from cw_hub.competitions.tournament.host.teams import has_played, note, teams_by_id
from cw_hub.competitions.tournament.teams import cards
from cw_hub.competitions.verbs import OPERATOR, lock
from cw_hub.store.tables import Bot, Entry, Event, MatchParticipant, Team, Ticket

UNDONE_FOR: Final = timedelta(hours=1)
"""How long an end or a removal can be undone."""

TOO_LATE: Final = "The tournament has not ended within the last hour: nothing can be undone."
NOT_REMOVED: Final = "These teams were not removed within the last hour: nothing can be undone."


# The end


def end_to_undo(session: Session, clock: Clock, competition: int) -> Event | None:
    """Return the end of a tournament that can be undone, or None."""
    is_end = and_(Event.competition_id == competition, Event.kind == "end")
    recent = Event.applied_at > clock() - UNDONE_FOR
    query = select(Event).where(is_end, recent, Event.group_id.is_(None))
    return session.scalars(query.order_by(Event.id.desc()).limit(1)).one_or_none()


def undo_end(session: Session, clock: Clock, competition: int, *, actor: str = OPERATOR) -> None:
    """Resume an ended tournament; its end becomes a note among the events.

    Raises UsageError if it has not ended within the last hour. Concurrent callers: exactly one
    succeeds.
    """
    row = lock(session, competition)
    end = end_to_undo(session, clock, competition)
    if end is None:
        raise UsageError(TOO_LATE)
    end.kind, end.title = "note", TAKEN_BACK
    row.state = "running"
    cards.renew_ends(session, clock, competition)
    mark_changed(row, *groups_of(session, competition))
    subject = f"event:{row.slug}/{end.id}"
    audit.note(session, clock, actor, "undo end", subject, competition_id=row.id)


# Removed teams


def remove(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """Remove teams: they stop playing, and nobody can act for them. Idempotent.

    This can be undone for an hour; then `forget_removed` makes it final.
    """
    row = lock(session, competition)
    for team in teams_by_id(session, competition, ids):
        if team.removed_at is None:
            note(session, clock, row, team, "remove", actor)
            team.removed_at = clock()
            set_status(session, team.id, "playing", "removed")
    mark_changed(row, *groups_of(session, competition))


def removed(session: Session, clock: Clock, competition: int) -> list[Team]:
    """Return the teams whose removal can be undone, latest first."""
    recent = Team.removed_at > clock() - UNDONE_FOR
    query = select(Team).where(Team.competition_id == competition, recent)
    return list(session.scalars(query.order_by(Team.removed_at.desc(), Team.id)))


def undo_remove(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """Restore removed teams with their cards and points."""
    row = lock(session, competition)
    back = [team for team in removed(session, clock, competition) if team.id in ids]
    if not back:
        raise UsageError(NOT_REMOVED)
    for team in back:
        note(session, clock, row, team, "undo remove", actor)
        team.removed_at = None
        set_status(session, team.id, "removed", "playing")
    mark_changed(row, *groups_of(session, competition))


def set_status(session: Session, team: int, before: str, after: str) -> None:
    """Change the status of a team's entries that have the status `before`."""
    entries = and_(Entry.team_id == team, Entry.status == before)
    session.execute(update(Entry).where(entries).values(status=after))


def forget_removed(session: Session, clock: Clock) -> int:
    """Delete the teams whose removal was not undone; those that have played become withdrawn.

    Returns their number. Idempotent, also when called concurrently.
    """
    due = select(Team).where(Team.removed_at <= clock() - UNDONE_FOR).order_by(Team.id)
    teams = session.scalars(due.with_for_update()).all()
    for team in teams:
        forget(session, team)
    return len(teams)


def forget(session: Session, team: Team) -> None:
    """Delete a removed team, or withdraw it if it has played."""
    session.execute(delete(Ticket).where(Ticket.team_id == team.id))
    bot = session.scalars(select(Bot).where(Bot.team_id == team.id)).one()
    seats = select(MatchParticipant.match_id).where(MatchParticipant.bot_id == bot.id)
    if has_played(session, team.id) or session.scalar(seats.limit(1)) is not None:
        team.removed_at = None
        set_status(session, team.id, "removed", "withdrawn")
        return
    versions.forget(session, [bot.id])
    session.delete(bot)
    session.flush()
    session.delete(team)
