"""A host's actions on teams: moves, and their bots, machines and tokens.

Each function locks the competition, as `progress` describes, and is audited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from cw.errors import UsageError, short
from cw_hub.accounts import audit
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.groups import (
    check_room,
    groups_of,
    mark_changed,
    named_group,
)
from cw_hub.competitions.tournament.teams.assigned_bots import assign_bot, check_bot
from cw_hub.competitions.tournament.teams.bots import lacks_secret
from cw_hub.competitions.tournament.teams.machines import check_machine
from cw_hub.competitions.verbs import OPERATOR, lock
from cw_hub.store.tables import (
    Bot,
    Competition,
    Entry,
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


def note(  # noqa: PLR0913, PLR0917
    session: Session, clock: Clock, row: Competition, team: Team, verb: str, actor: str, **more: Any
) -> None:
    """Add an audit entry about a team."""
    subject = f"team:{row.slug}/{team.slug}"[:60]
    audit.note(session, clock, actor, verb, subject, detail=more, competition_id=row.id)


# Groups


def has_played(session: Session, team: int, group: int | None = None) -> bool:
    """Return whether a team was in a planned round, in one group or any."""
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


def move(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    group_name: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Move teams to another group; raise UsageError if one has played already."""
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
            session.add(Entry(group_id=group.id, team_id=team.id, joined_at=clock()))
            note(session, clock, row, team, "move", actor, to=group.slug)
    check_room(session, row)
    mark_changed(row, *groups_of(session, competition))


def set_out_of_competition(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """Let teams play in every group, without places and prizes.

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
                entries[group.id] = Entry(group_id=group.id, team_id=team.id, joined_at=clock())
                session.add(entries[group.id])
            entries[group.id].status, entries[group.id].reason = model.status, model.reason
        note(session, clock, row, team, "out of competition", actor)
    check_room(session, row)
    mark_changed(row, *groups)


def compete(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    group_name: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Let teams that play in every group compete in one, keeping their points there.

    They leave the other groups; where they have played, they are withdrawn.
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
        note(session, clock, row, team, "compete", actor, to=group.slug)
    mark_changed(row, *groups_of(session, competition))


# Bots, machines, tokens


def set_bot(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    bot: str,
    *,
    actor: str = OPERATOR,
) -> bool:
    """Assign a bot to teams: an address, which is checked soon, or `builtin:NAME`.

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
        assign_bot(clock, team_bot, bot)
        bots.append(team_bot)
        note(session, clock, row, team, "set bot", actor, kind=team_bot.kind)
    mark_changed(row)
    return any(map(lacks_secret, bots))


def set_machine(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    ids: Sequence[int],
    machine: str,
    *,
    actor: str = OPERATOR,
) -> None:
    """Set the address of the teams' machine; "" for none."""
    row = lock(session, competition)
    check_machine(machine)
    for team in teams_by_id(session, competition, ids):
        team.machine = machine or None
        note(session, clock, row, team, "machine", actor)
    mark_changed(row)


def revoke_tokens(
    session: Session, clock: Clock, competition: int, ids: Sequence[int], *, actor: str = OPERATOR
) -> None:
    """Revoke the teams' tokens, and the sessions begun with them."""
    row = lock(session, competition)
    for team in teams_by_id(session, competition, ids):
        tickets = (Ticket.team_id == team.id, Ticket.kind.in_(("card", "team")))
        session.execute(delete(Ticket).where(*tickets))
        note(session, clock, row, team, "revoke tokens", actor)
