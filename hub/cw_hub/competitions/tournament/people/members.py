"""Forming and joining teams: captains, members, the waiting list.

Each function locks the competition, as `progress` describes, and is audited.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.groups import (
    groups_of,
    mark_changed,
    most_entries,
    named_group,
)
from cw_hub.competitions.tournament.names import LONGEST_TEAM, clean_name, name_key
from cw_hub.competitions.tournament.people.invitations import LETTERS, InvitationView, guest_named
from cw_hub.competitions.tournament.people.invitations import find as find_invitation
from cw_hub.competitions.tournament.teams.enrolment import NAME_TAKEN, Enrolment, NewTeam
from cw_hub.competitions.verbs import lock
from cw_hub.store.tables import Competition, Entry, Group, Team, TeamMember, User

IN_A_TEAM: Final = "You are already in a team of this tournament"
OVER: Final = "The tournament is over"
NOT_INVITED: Final = (
    "Only people on the host's list may take part: confirm the e-mail address that the host has"
    " for you"
)
WRONG_CODE: Final = "No team of this tournament has this code"
NOT_CAPTAIN: Final = "Only the captain of a team can do that"
STARTED: Final = "The tournament has started: teams keep their names"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a team."""

    user_id: int
    username: str
    is_captain: bool


def check_may_come(
    session: Session, row: Competition, invitation: InvitationView, user_id: int
) -> None:
    """Raise a one-sentence UsageError if an account may not take part in a tournament."""
    if row.state == "over":
        raise UsageError(OVER)
    if session.get(TeamMember, (row.id, user_id)) is not None:
        raise UsageError(IN_A_TEAM)
    if not invitation.is_open and guest_named(session, row.id, email_of(session, user_id)) is None:
        raise UsageError(NOT_INVITED)


def email_of(session: Session, user_id: int) -> str | None:
    """Return the confirmed address of an account, or None."""
    confirmed = (User.id == user_id, User.email_verified_at.is_not(None))
    return session.scalar(select(User.email).where(*confirmed))


def form_team(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    invitation: InvitationView,
    user_id: int,
    name: str,
    *,
    group: str = "",
    actor: str,
) -> bool:
    """Form a team with an account as captain; return False if it has to wait for room.

    `group` is the name or slug of a public group; "": the only one. Raises UsageError for another
    group, for a taken or invalid name, and for those who may not come. Of concurrent callers with
    one name, exactly one succeeds.
    """
    row = lock(session, invitation.competition_id)
    check_may_come(session, row, invitation, user_id)
    enrolment = Enrolment(session, row)
    chosen = public_group(enrolment.groups, group)
    plays = has_room(session, row, invitation, chosen.slug)
    if not plays:
        enrolment.most = max(enrolment.most, sum(enrolment.sizes.values()) + 1)
    admitted = enrolment.admit(NewTeam(name, chosen.name))
    (team_id,) = enrolment.enrol(session, clock, [admitted], actor)
    team = session.get_one(Team, team_id)
    team.code = "".join(secrets.choice(LETTERS) for _ in range(8))
    if not plays:
        entries = update(Entry).where(Entry.team_id == team_id)
        session.execute(entries.values(status="waiting"))
    add_member(session, clock, team, user_id, is_captain=True)
    return plays


def public_group(groups: Sequence[Group], name: str) -> Group:
    """Return the public group that an invited person chose; it is never the final."""
    public = [group for group in groups if group.kind == "public"]
    if name:
        return named_group(public, name)
    if len(public) != 1:
        raise UsageError("Please choose a sandbox" if public else "No sandbox is open to all")
    return public[0]


def has_room(session: Session, row: Competition, invitation: InvitationView, group: str) -> bool:
    """Return whether another team can play, within the limits of the invitation and the group.

    `group` is the slug of a group other than the final.
    """
    sizes = dict(
        session.execute(
            select(Group.slug, func.count(Entry.team_id).filter(Entry.status == "playing"))
            .outerjoin(Entry, Entry.group_id == Group.id)
            .where(Group.competition_id == row.id, Group.kind != "final")
            .group_by(Group.slug)
        ).all()
    )
    is_full = sizes.get(group, 0) >= most_entries(row)
    return sum(sizes.values()) < invitation.most_teams and not is_full


def join_team(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    invitation: InvitationView,
    user_id: int,
    code: str,
    *,
    actor: str,
) -> str:
    """Add an account to the team with a code; return the team's name.

    Raises UsageError for an unknown code, a full team, and those who may not come.
    """
    row = lock(session, invitation.competition_id)
    check_may_come(session, row, invitation, user_id)
    wanted = (Team.competition_id == row.id, Team.code == code.strip().upper())
    team = session.scalars(select(Team).where(*wanted, Team.removed_at.is_(None))).one_or_none()
    if team is None:
        raise UsageError(WRONG_CODE)
    if len(members_of(session, team.id)) >= invitation.most_members:
        raise UsageError(f"{team.name} is full: it has {invitation.most_members} people")
    add_member(session, clock, team, user_id, is_captain=False)
    note(session, clock, row, team, "join", actor)
    return team.name


def add_member(
    session: Session, clock: Clock, team: Team, user_id: int, *, is_captain: bool
) -> None:
    """Add the row of a member."""
    about = {"competition_id": team.competition_id, "user_id": user_id, "team_id": team.id}
    session.add(TeamMember(**about, is_captain=is_captain, joined_at=clock()))
    session.flush()


def members_of(session: Session, team: int) -> list[Member]:
    """Return the members of a team, in order of joining."""
    rows = session.execute(
        select(User.id, User.username, TeamMember.is_captain)
        .join(User, User.id == TeamMember.user_id)
        .where(TeamMember.team_id == team)
        .order_by(TeamMember.joined_at, User.id)
    )
    return [Member(user, name or "", is_captain) for user, name, is_captain in rows]


def code_of(session: Session, team: int) -> str | None:
    """Return the code for joining a team, or None for a team without people."""
    return session.scalar(select(Team.code).where(Team.id == team))


def leave(session: Session, clock: Clock, competition: int, user_id: int, *, actor: str) -> None:
    """Remove an account from its team; the next member becomes captain. Idempotent.

    An empty team is removed before the start; later, it plays on.
    """
    row = lock(session, competition)
    member = session.get(TeamMember, (competition, user_id))
    if member is None:
        return
    team = session.get_one(Team, member.team_id)
    session.delete(member)
    session.flush()
    left = members_of(session, team.id)
    if member.is_captain and left:
        heir = (TeamMember.competition_id == competition, TeamMember.user_id == left[0].user_id)
        session.execute(update(TeamMember).where(*heir).values(is_captain=True))
    if not left and row.state == "draft":
        team.removed_at = clock()
        entries = update(Entry).where(Entry.team_id == team.id)
        session.execute(entries.values(status="removed"))
    note(session, clock, row, team, "leave", actor)
    mark_changed(row, *groups_of(session, competition))


def rename(  # noqa: PLR0913
    session: Session, clock: Clock, competition: int, user_id: int, name: str, *, actor: str
) -> None:
    """Rename a team before the start; its address stays.

    Raises UsageError after the start, for a member who is not the captain, and for a name that is
    invalid or taken.
    """
    row = lock(session, competition)
    member = session.get(TeamMember, (competition, user_id))
    if member is None or not member.is_captain:
        raise UsageError(NOT_CAPTAIN)
    if row.state != "draft":
        raise UsageError(STARTED)
    name = clean_name(name, LONGEST_TEAM)
    same = (Team.competition_id == competition, Team.name_key == name_key(name))
    if session.scalar(select(Team.id).where(*same, Team.id != member.team_id)) is not None:
        raise UsageError(NAME_TAKEN)
    team = session.get_one(Team, member.team_id)
    team.name, team.name_key = name, name_key(name)
    note(session, clock, row, team, "rename", actor, name=name)
    mark_changed(row, *groups_of(session, competition))


def admit_waiting(session: Session, clock: Clock, competition: int) -> int:
    """Admit waiting teams, first come first served, while there is room; return their number."""
    waiting = session.execute(
        select(Entry, Team, Group.slug)
        .join(Team, Team.id == Entry.team_id)
        .join(Group, Group.id == Entry.group_id)
        .where(Team.competition_id == competition, Entry.status == "waiting")
        .order_by(Entry.joined_at, Team.id)
    ).all()
    if not waiting:
        return 0
    row, admitted = lock(session, competition), 0
    invitation = find_invitation(session, competition)
    for entry, team, group in waiting:
        if invitation is not None and has_room(session, row, invitation, group):
            entry.status = "playing"
            session.flush()
            note(session, clock, row, team, "admit", "site")
            admitted += 1
    mark_changed(row, *groups_of(session, competition))
    return admitted


def note(  # noqa: PLR0913, PLR0917
    session: Session, clock: Clock, row: Competition, team: Team, verb: str, actor: str, **more: Any
) -> None:
    """Add an audit entry about a team."""
    subject = f"team:{row.slug}/{team.slug}"[:60]
    audit.note(session, clock, actor, verb, subject, detail=more, competition_id=row.id)
