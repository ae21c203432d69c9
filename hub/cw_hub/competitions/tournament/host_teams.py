"""Host actions on teams and settings, and undoing an end or a removal.

Each function locks the competition, as `progress` describes, and adds an audit entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import and_, delete, select, update

from cw.errors import UsageError, short
from cw_hub.accounts import audit
from cw_hub.bots import versions
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import lock
from cw_hub.competitions.tournament import teams as tournament_teams
from cw_hub.competitions.tournament.events import TAKEN_BACK
from cw_hub.competitions.tournament.groups import (
    check_room,
    groups_of,
    mark_changed,
    named_group,
)
from cw_hub.competitions.tournament.settings import CHANGEABLE, FORMAT, settings_of, stored_settings
from cw_hub.competitions.tournament.team_bots import assign_bot, check_bot, lacks_secret
from cw_hub.competitions.tournament.teams import check_machine
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    Competition,
    Entry,
    Event,
    Match,
    MatchParticipant,
    Round,
    RoundScore,
    Team,
    Ticket,
)

NO_TEAM: Final = "Please choose a team"


def team_named(session: Session, competition: int, name: str) -> Team:
    """Return a team by slug or name; raise UsageError if there is none."""
    is_named = (Team.slug == name) | (Team.name == name)
    query = select(Team).where(Team.competition_id == competition, is_named)
    team = session.scalars(query.order_by(Team.slug != name)).first()
    if team is None:
        raise UsageError(f"there is no team {short(name)}")
    return team


def teams_by_id(session: Session, competition: int, ids: Sequence[int]) -> list[Team]:
    """Return the teams of a tournament with these ids; raise UsageError if none matches."""
    query = select(Team).where(Team.competition_id == competition, Team.id.in_(ids))
    teams = list(session.scalars(query.order_by(Team.id)))
    if not teams:
        raise UsageError(NO_TEAM)
    return teams


def note(session: Session, row: Competition, team: Team, verb: str, **more: Any) -> None:
    """Add an audit entry about a team."""
    subject = f"team:{row.slug}/{team.slug}"[:60]
    audit.note(session, verb, subject, detail=more, competition_id=row.id)


# Groups


def has_played(session: Session, team: int, group: int | None = None) -> bool:
    """Return whether a team has been in a planned round, in one group or in any."""
    rounds = select(Round.id)
    if group is not None:
        rounds = rounds.where(Round.group_id == group)
    matches = (
        select(MatchParticipant.match_id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(Bot.team_id == team, Match.round_id.in_(rounds))
        .limit(1)
    )
    scores = (
        select(RoundScore.team_id)
        .where(RoundScore.team_id == team, RoundScore.round_id.in_(rounds))
        .limit(1)
    )
    return session.scalar(matches) is not None or session.scalar(scores) is not None


def entries_of(session: Session, team: int) -> dict[int, Entry]:
    """Return the entries of a team by group id."""
    query = select(Entry).where(Entry.team_id == team).order_by(Entry.group_id)
    return {entry.group_id: entry for entry in session.scalars(query)}


def move(
    session: Session,
    competition: int,
    ids: Sequence[int],
    group_name: str,
) -> None:
    """Move teams to another group; raise UsageError if one has already played."""
    row = lock(session, competition)
    group = named_group(groups_of(session, competition), group_name)
    teams = teams_by_id(session, competition, ids)
    for team in teams:
        if team.out_of_competition:
            raise UsageError(f"{team.name} plays in every sandbox")
        if has_played(session, team.id):
            raise UsageError(f"{team.name} has played: it stays in its sandbox")
    members = set(session.scalars(select(Entry.team_id).where(Entry.group_id == group.id)))
    for team in teams:
        if team.id not in members:
            session.execute(delete(Entry).where(Entry.team_id == team.id))
            session.add(Entry(group_id=group.id, team_id=team.id, joined_at=session.now()))
            note(session, row, team, "move", to=group.slug)
    check_room(session, row)
    mark_changed(row, *groups_of(session, competition))


def set_out_of_competition(session: Session, competition: int, ids: Sequence[int]) -> None:
    """Let teams play in every group out of competition, without ranks and prizes.

    A disqualified or withdrawn team has this status in all groups.
    """
    row = lock(session, competition)
    groups = groups_of(session, competition)
    for team in teams_by_id(session, competition, ids):
        team.out_of_competition = True
        entries = entries_of(session, team.id)
        playing = [entry for entry in entries.values() if entry.status == "playing"]
        model = (playing or list(entries.values()))[0]
        for group in groups:
            if group.id not in entries:
                entries[group.id] = Entry(
                    group_id=group.id, team_id=team.id, joined_at=session.now()
                )
                session.add(entries[group.id])
            entries[group.id].status, entries[group.id].reason = model.status, model.reason
        note(session, row, team, "out of competition")
    check_room(session, row)
    mark_changed(row, *groups)


def compete(
    session: Session,
    competition: int,
    ids: Sequence[int],
    group_name: str,
) -> None:
    """Let teams that play in every group compete in one, keeping their points there.

    They leave the other groups; in those where they have played, they are withdrawn.
    """
    row = lock(session, competition)
    group = named_group(groups_of(session, competition), group_name)
    for team in teams_by_id(session, competition, ids):
        if not team.out_of_competition:
            continue
        team.out_of_competition = False
        for entry in entries_of(session, team.id).values():
            if entry.group_id == group.id:
                continue
            if has_played(session, team.id, entry.group_id):
                entry.status = "withdrawn"
            else:
                session.delete(entry)
        note(session, row, team, "compete", to=group.slug)
    mark_changed(row, *groups_of(session, competition))


# Bots, machines, tokens


def set_bot(
    session: Session,
    competition: int,
    ids: Sequence[int],
    bot: str,
) -> bool:
    """Assign a bot to teams: a URL, which is checked soon, or `builtin:NAME`.

    Returns whether one of the teams has yet to be shown its bot's secret.
    """
    row = lock(session, competition)
    if not bot:
        raise UsageError("Please enter a bot URL or builtin:NAME")
    check_bot(row.game, bot)
    bots = []
    for team in teams_by_id(session, competition, ids):
        team_bot = session.scalars(
            select(Bot).where(Bot.team_id == team.id).with_for_update()
        ).one()
        assign_bot(session.clock, team_bot, bot)
        bots.append(team_bot)
        note(session, row, team, "set bot", kind=team_bot.kind)
    mark_changed(row)
    return any(map(lacks_secret, bots))


def set_machine(
    session: Session,
    competition: int,
    ids: Sequence[int],
    machine: str,
) -> None:
    """Set the address of the teams' machine; "" for none."""
    row = lock(session, competition)
    check_machine(machine)
    for team in teams_by_id(session, competition, ids):
        team.machine = machine or None
        note(session, row, team, "machine")
    mark_changed(row)


def revoke_tokens(session: Session, competition: int, ids: Sequence[int]) -> None:
    """Revoke the teams' tokens, and the sessions started with them."""
    row = lock(session, competition)
    for team in teams_by_id(session, competition, ids):
        tickets = (Ticket.team_id == team.id, Ticket.kind.in_(("card", "team")))
        session.execute(delete(Ticket).where(*tickets))
        note(session, row, team, "revoke tokens")


UNDONE_FOR: Final = timedelta(hours=1)
"""How long an end or a removal can be undone."""

TOO_LATE: Final = "The tournament has not ended within the last hour: nothing can be undone."
NOT_REMOVED: Final = "These teams were not removed within the last hour: nothing can be undone."


# The end


def end_to_undo(session: Session, competition: int) -> Event | None:
    """Return the end of a tournament that can be undone, or None."""
    is_end = and_(Event.competition_id == competition, Event.kind == "end")
    recent = Event.applied_at > session.now() - UNDONE_FOR
    query = select(Event).where(is_end, recent, Event.group_id.is_(None))
    return session.scalars(query.order_by(Event.id.desc()).limit(1)).one_or_none()


def undo_end(session: Session, competition: int) -> None:
    """Resume an ended tournament; its end becomes a note among the events.

    Raises UsageError if it has not ended within the last hour. Of concurrent callers, exactly one
    succeeds.
    """
    row = lock(session, competition)
    end = end_to_undo(session, competition)
    if end is None:
        raise UsageError(TOO_LATE)
    end.kind, end.title = "note", TAKEN_BACK
    row.state = "running"
    tournament_teams.renew_ends(session, competition)
    mark_changed(row, *groups_of(session, competition))
    subject = f"event:{row.slug}/{end.id}"
    audit.note(session, "undo end", subject, competition_id=row.id)


# Removed teams


def remove(session: Session, competition: int, ids: Sequence[int]) -> None:
    """Remove teams: they stop playing, and no one can act for them. Idempotent.

    This can be undone for an hour; after that, `forget_removed` makes it final.
    """
    row = lock(session, competition)
    for team in teams_by_id(session, competition, ids):
        if team.removed_at is None:
            note(session, row, team, "remove")
            team.removed_at = session.now()
            set_status(session, team.id, "playing", "removed")
    mark_changed(row, *groups_of(session, competition))


def removed(session: Session, competition: int) -> list[Team]:
    """Return the teams whose removal can be undone, latest first."""
    recent = Team.removed_at > session.now() - UNDONE_FOR
    query = select(Team).where(Team.competition_id == competition, recent)
    return list(session.scalars(query.order_by(Team.removed_at.desc(), Team.id)))


def undo_remove(session: Session, competition: int, ids: Sequence[int]) -> None:
    """Restore removed teams with their cards and points."""
    row = lock(session, competition)
    back = [team for team in removed(session, competition) if team.id in ids]
    if not back:
        raise UsageError(NOT_REMOVED)
    for team in back:
        note(session, row, team, "undo remove")
        team.removed_at = None
        set_status(session, team.id, "removed", "playing")
    mark_changed(row, *groups_of(session, competition))


def set_status(session: Session, team: int, before: str, after: str) -> None:
    """Change the status of a team's entries that have the status `before`."""
    entries = and_(Entry.team_id == team, Entry.status == before)
    session.execute(update(Entry).where(entries).values(status=after))


def forget_removed(session: Session) -> int:
    """Delete the teams whose removal was not undone; those that have played become withdrawn.

    Returns their number. Idempotent, also when called concurrently.
    """
    due = select(Team).where(Team.removed_at <= session.now() - UNDONE_FOR).order_by(Team.id)
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


def change_settings(
    session: Session,
    competition: int,
    values: Mapping[str, Any],
) -> None:
    """Change settings of a tournament; after its start, only those in CHANGEABLE.

    Raises UsageError if a setting is invalid.
    """
    row = competitions_service.lock(session, competition)
    before = stored_settings(row.game, row.settings)
    after = settings_of(row.game, {**row.settings, **values})
    fixed = [name for name in values if name not in CHANGEABLE]
    if row.state != "draft" and any(
        getattr(before, name) != getattr(after, name) for name in fixed
    ):
        raise UsageError(f"after the start only {', '.join(CHANGEABLE)} may change")
    row.settings = {**row.settings, **values}
    mark_changed(row, *groups_of(session, competition))
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, "set", subject, detail=values, competition_id=row.id)
