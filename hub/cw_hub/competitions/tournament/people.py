"""Tournament participants: invitations, guests, members, hosts, readiness, announcements."""

from __future__ import annotations

import csv
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, TypeAlias

from sqlalchemy import exists, func, select, update

from cw.errors import UsageError
from cw_hub.accounts import administration, audit, mail
from cw_hub.accounts.forms import is_email
from cw_hub.accounts.mail import CHOICES, News, Words
from cw_hub.bots.versions import failed_step
from cw_hub.competitions.service import lock
from cw_hub.competitions.tournament.service import NewEvent, add_event
from cw_hub.competitions.tournament.settings import LONGEST_TEAM, clean_name, name_key
from cw_hub.competitions.tournament.teams import (
    MOST_TEAMS,
    NAME_TAKEN,
    Enrolment,
    NewTeam,
    groups_of,
    mark_changed,
    most_entries,
    named_group,
    note,
    set_status,
)
from cw_hub.competitions.tournament.views import view
from cw_hub.store.database import SITE, Session
from cw_hub.store.models import (
    Bot,
    Competition,
    CompetitionHost,
    Entry,
    Event,
    Group,
    Guest,
    Invitation,
    Team,
    TeamMember,
    User,
)

LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Characters used in codes, without look-alikes."""

LENGTH: Final = 10

LINK: Final = re.compile(r"/join/(\w{1,40})")
"""Matches the path of an invitation."""

USUAL_TEAMS: Final = 100
USUAL_MEMBERS: Final = 4
MOST_MEMBERS: Final = 50
MOST_GUESTS: Final = 5000
LONGEST_LIST: Final = 200_000
"""Maximum length of a list of email addresses, in characters."""

LONGEST_LINE: Final = 1000
"""Maximum length of one of its lines, in characters."""

TEAM: Final = "team"
"""The heading of the column with team names in a list."""


@dataclass(frozen=True, slots=True)
class InvitationView:
    """A tournament's current invitation."""

    competition_id: int
    code: str
    is_open: bool
    """Whether it is open to anyone with the code, or only to users on the host's list."""
    most_teams: int
    most_members: int
    slug: str = ""
    """The competition's slug, if found by code."""


def new_code() -> str:
    """Return a random code."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def find(session: Session, competition: int) -> InvitationView | None:
    """Return the invitation of a competition, or None."""
    row = session.get(Invitation, competition)
    return None if row is None else view(InvitationView, row)


def find_by_code(session: Session, code: str) -> InvitationView | None:
    """Return the invitation with a code, ignoring case, or None."""
    query = select(Invitation, Competition.slug).where(Invitation.code == code.upper())
    found = session.execute(
        query.join(Competition, Competition.id == Invitation.competition_id)
    ).one_or_none()
    return None if found is None else view(InvitationView, found[0], slug=found[1])


def invited_to(session: Session, path: str) -> int | None:
    """Return the id of the tournament that a link invites to, or None if it is over."""
    link = LINK.fullmatch(path)
    if link is None:
        return None
    query = select(Competition.id).join(Invitation, Invitation.competition_id == Competition.id)
    goes_on = (Invitation.code == link[1].upper(), Competition.state != "over")
    return session.scalar(query.where(*goes_on))


def invite(  # noqa: PLR0913
    session: Session,
    competition: int,
    *,
    most_teams: int = USUAL_TEAMS,
    most_members: int = USUAL_MEMBERS,
    is_open: bool = True,
    is_new: bool = False,
) -> str:
    """Create the invitation of a competition, or change its limits; return its code.

    `is_new` replaces the code, which invalidates the old one. Raises UsageError unless there are 1
    to 1,000 teams, and 1 to 50 members per team.
    """
    row = lock(session, competition)
    if not 1 <= most_teams <= MOST_TEAMS:
        raise UsageError(f"Please enter 1 to {MOST_TEAMS} teams")
    if not 1 <= most_members <= MOST_MEMBERS:
        raise UsageError(f"Please enter 1 to {MOST_MEMBERS} people of a team")
    invitation = session.get(Invitation, competition)
    if invitation is None:
        invitation = Invitation(
            competition_id=competition, code=new_code(), created_at=session.now()
        )
        session.add(invitation)
    elif is_new:
        invitation.code = new_code()
    invitation.most_teams, invitation.most_members = most_teams, most_members
    invitation.is_open = is_open
    subject = f"invitation:{row.format}/{row.slug}"
    detail = {"teams": most_teams, "members": most_members, "open": is_open, "new": is_new}
    audit.record(session, "invite", subject, detail=detail, competition_id=row.id)
    return invitation.code


# The host's list


@dataclass(frozen=True, slots=True)
class NewGuest:
    """An email address on a guest list, with the name of a team."""

    email: str
    team: str = ""


def guests_of(text: str) -> Iterator[NewGuest]:
    """Yield the email addresses of a list, one per line: `E-MAIL` or `E-MAIL, TEAM`.

    The first line may contain column headings, with `team` naming a column; tabs and semicolons may
    replace commas. Raises UsageError, with the line number, for a line that is too long or lacks an
    email address, and for a list that is too long.
    """
    if len(text) > LONGEST_LIST:
        raise UsageError(f"The list is longer than {LONGEST_LIST:,} characters")
    titles: list[str] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if len(line) > LONGEST_LINE:
            raise UsageError(
                f"line {number} has {len(line):,} characters, but a line may have at most"
                f" {LONGEST_LINE:,}: put each address on its own line"
            )
        cells = cells_of(line)
        if not any(cells):
            continue
        address = next((cell for cell in cells if is_email(cell)), "")
        if not address and number == 1:
            titles = [cell.casefold() for cell in cells]
        elif not address:
            raise UsageError(f"line {number}: there is no email address")
        else:
            yield NewGuest(address.lower(), team_of(cells, titles, address)[:LONGEST_TEAM])


def cells_of(line: str) -> list[str]:
    """Split a line, as written or copied from a spreadsheet, into cells."""
    line = line.replace(";", ",").replace("\t", ",")
    return [cell.strip() for cell in next(csv.reader([line]), [])]


def team_of(cells: Sequence[str], titles: Sequence[str], address: str) -> str:
    """Return the team name on a line: from its column, or else from the first other cell."""
    if TEAM in titles:
        return dict(zip(titles, cells, strict=False)).get(TEAM, "")
    return next((cell for cell in cells if cell and cell != address), "")


def import_guests(
    session: Session,
    competition: int,
    texts: Sequence[str],
) -> int:
    """Add the email addresses of some lists, all or none; return how many were new."""
    row = lock(session, competition)
    listed: dict[str, NewGuest] = {}
    for text in texts:
        listed = {guest.email: guest for guest in guests_of(text)} | listed
    of_it = Guest.competition_id == competition
    known = set(session.scalars(select(Guest.email).where(of_it)))
    new = [guest for guest in listed.values() if guest.email not in known]
    if len(known) + len(new) > MOST_GUESTS:
        raise UsageError(f"a tournament has at most {MOST_GUESTS:,} addresses")
    for guest in new:
        about = {"email": guest.email, "team": guest.team, "added_at": session.now()}
        session.add(Guest(competition_id=competition, **about))
    subject = f"invitation:{row.format}/{row.slug}"
    detail = {"addresses": len(new)}
    audit.record(session, "import", subject, detail=detail, competition_id=row.id)
    return len(new)


def guest_named(session: Session, competition: int, email: str | None) -> Guest | None:
    """Return the guest list entry of an email address, or None."""
    wanted = (Guest.competition_id == competition, Guest.email == func.lower(email or ""))
    return session.scalars(select(Guest).where(*wanted)).one_or_none()


IN_A_TEAM: Final = "You are already in a team of this tournament"
OVER: Final = "The tournament is over"
NOT_INVITED: Final = (
    "Only people on the host's list may take part: confirm the email address that the host has"
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
    """Return an account's confirmed email address, or None."""
    confirmed = (User.id == user_id, User.email_verified_at.is_not(None))
    return session.scalar(select(User.email).where(*confirmed))


def form_team(
    session: Session,
    invitation: InvitationView,
    user_id: int,
    name: str,
    *,
    group: str = "",
) -> bool:
    """Form a team with an account as captain; return False if it has to wait for room.

    `group` is the name or slug of a public group; "": the only one. Raises UsageError for another
    group, for a taken or invalid name, and for users who may not take part. Of concurrent callers
    with the same name, exactly one succeeds.
    """
    row = lock(session, invitation.competition_id)
    check_may_come(session, row, invitation, user_id)
    enrolment = Enrolment(session, row)
    chosen = public_group(enrolment.groups, group)
    plays = has_room(session, row, invitation, chosen.slug)
    if not plays:
        enrolment.most = max(enrolment.most, sum(enrolment.sizes.values()) + 1)
    admitted = enrolment.admit(NewTeam(name, chosen.name))
    (team_id,) = enrolment.enrol(session, [admitted])
    team = session.get_one(Team, team_id)
    team.code = "".join(secrets.choice(LETTERS) for _ in range(8))
    if not plays:
        set_status(session, team_id, "playing", status="waiting")
    add_member(session, team, user_id, is_captain=True)
    return plays


def public_group(groups: Sequence[Group], name: str) -> Group:
    """Return the public group that an invited user chose; it is never the final."""
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


def join_team(
    session: Session,
    invitation: InvitationView,
    user_id: int,
    code: str,
) -> str:
    """Add an account to the team with a code; return the team's name.

    Raises UsageError for an unknown code, a full team, and users who may not take part.
    """
    row = lock(session, invitation.competition_id)
    check_may_come(session, row, invitation, user_id)
    wanted = (Team.competition_id == row.id, Team.code == code.strip().upper())
    team = session.scalars(select(Team).where(*wanted, Team.removed_at.is_(None))).one_or_none()
    if team is None:
        raise UsageError(WRONG_CODE)
    if len(members_of(session, team.id)) >= invitation.most_members:
        raise UsageError(f"{team.name} is full: it has {invitation.most_members} people")
    add_member(session, team, user_id, is_captain=False)
    note(session, row, team, "join")
    return team.name


def add_member(session: Session, team: Team, user_id: int, *, is_captain: bool) -> None:
    """Add a member's row."""
    about = {"competition_id": team.competition_id, "user_id": user_id, "team_id": team.id}
    session.add(TeamMember(**about, is_captain=is_captain, joined_at=session.now()))
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
    """Return the code for joining a team, or None for a team without members."""
    return session.scalar(select(Team.code).where(Team.id == team))


def leave(session: Session, competition: int, user_id: int) -> None:
    """Remove an account from its team; the next member becomes captain. Idempotent.

    A team left empty is removed before the start; after the start, it plays on.
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
        team.removed_at = session.now()
        entries = update(Entry).where(Entry.team_id == team.id)
        session.execute(entries.values(status="removed"))
    note(session, row, team, "leave")
    mark_changed(row, *groups_of(session, competition))


def rename(session: Session, competition: int, user_id: int, name: str) -> None:
    """Rename a team before the start; its URL stays the same.

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
    note(session, row, team, "rename", name=name)
    mark_changed(row, *groups_of(session, competition))


def admit_waiting(session: Session, competition: int) -> int:
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
    session.actor = SITE
    row, admitted = lock(session, competition), 0
    invitation = find(session, competition)
    for entry, team, group in waiting:
        if invitation is not None and has_room(session, row, invitation, group):
            entry.status = "playing"
            session.flush()
            note(session, row, team, "admit")
            admitted += 1
    mark_changed(row, *groups_of(session, competition))
    return admitted


def hosts_of(session: Session, competition: int) -> list[str]:
    """Return the usernames of a competition's hosts, in order of addition."""
    query = select(User.username).join(CompetitionHost, CompetitionHost.user_id == User.id)
    wanted = query.where(CompetitionHost.competition_id == competition)
    return [name or "" for name in session.scalars(wanted.order_by(CompetitionHost.added_at))]


def add_host(session: Session, competition: int, username: str) -> None:
    """Make a user a host of a competition; raise UsageError if the name is unknown. Idempotent."""
    row, user = lock(session, competition), find_person(session, username)
    if session.get(CompetitionHost, (competition, user.id)) is None:
        session.add(
            CompetitionHost(competition_id=competition, user_id=user.id, added_at=session.now())
        )
        subject = f"competition:{row.format}/{row.slug}"
        detail = {"host": user.username}
        audit.record(session, "add host", subject, detail=detail, competition_id=row.id)


def remove_host(session: Session, competition: int, username: str) -> None:
    """Remove a host from a competition; raise UsageError if the name is unknown."""
    row, user = lock(session, competition), find_person(session, username)
    host = session.get(CompetitionHost, (competition, user.id))
    if host is None:
        raise UsageError(f"{user.username} is not a host of this tournament")
    session.delete(host)
    subject = f"competition:{row.format}/{row.slug}"
    detail = {"host": user.username}
    audit.record(session, "remove host", subject, detail=detail, competition_id=row.id)


def find_person(session: Session, username: str) -> administration.Facts:
    """Return an account; raise UsageError, with a message for web pages, if there is none."""
    try:
        return administration.find(session, username)
    except UsageError:
        raise UsageError(f"There is no user {username!r} on this site") from None


NO_BOT: Final = "has no bot yet"
NOT_CHECKED: Final = "its bot has not been checked yet"
WAITS: Final = "waits for room"


@dataclass(frozen=True, slots=True)
class TeamReadiness:
    """Whether a team is ready to play, and if not, why."""

    name: str
    slug: str
    group: str
    people: int
    problem: str
    """"" if the team is ready."""


@dataclass(frozen=True, slots=True)
class GuestView:
    """An email address on the host's list."""

    email: str
    team: str
    username: str | None
    """Username of the account with this confirmed email address."""
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
    """Return briefly what keeps a bot from playing, or ""."""
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
    """Return the host's list, and who has joined which team. One statement."""
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


Audience: TypeAlias = Literal["all", "no bot"]
"""The recipients: all team members, or only those whose team has no working bot."""

MOST_IN_AN_HOUR: Final = 3
"""Maximum number of a tournament's announcements sent by email per hour."""

MOST_PEOPLE: Final = 5000
HOUR: Final = timedelta(hours=1)

SENT_TO: Final[dict[Audience, str]] = {
    "all": "to everybody in a team",
    "no bot": "to teams without a bot that works",
}
TOO_MANY: Final = (
    f"A tournament mails at most {MOST_IN_AN_HOUR} announcements an hour: show "
    "this one only on the pages, or wait"
)
SENT_ALREADY: Final = "This was mailed within the last hour already"
TOO_MANY_PEOPLE: Final = f"More than {MOST_PEOPLE:,} people would get a mail"


@dataclass(frozen=True, slots=True)
class Announcement:
    """An announcement by a tournament's host."""

    title: str
    text: str = ""
    audience: Audience | None = None
    """Who gets an email; None: no one."""


def announce(
    session: Session,
    competition: int,
    new: Announcement,
    *,
    address: str,
) -> int | None:
    """Publish an announcement now; return the number of emails, or None if none was requested.

    `address` is the site's URL. Raises UsageError if the text is invalid, and for emails to too
    many users, too often, or repeating an announcement of the last hour.
    """
    row = lock(session, competition)
    if new.audience:
        check_bounds(session, competition, new)
    note = NewEvent("note", session.now(), new.title, new.text, announced=True)
    event_id = add_event(session, competition, note, is_late=True)
    if not new.audience:
        return None
    event = session.get_one(Event, event_id)
    number = put_mails(session, event, new.audience, words_of(row, event, new.audience, address))
    event.data = detail = {"mailed": new.audience, "people": number}
    subject = f"event:{row.slug}/{event_id}"
    audit.record(session, "mail event", subject, detail=detail, competition_id=row.id)
    return number


def put_mails(session: Session, event: Event, audience: Audience, words: Words) -> int:
    """Enqueue the emails about an event; return their number. Raises UsageError if too many."""
    people = recipients(session, event.competition_id, audience)
    if len(people) > MOST_PEOPLE:
        raise UsageError(TOO_MANY_PEOPLE)
    news = News("announce", f"event:{event.id}", words.to_json())
    return mail.put_news(session, news, people)


def check_bounds(session: Session, competition: int, new: Announcement) -> None:
    """Raise UsageError if this was emailed within the hour, or the hourly limit is reached."""
    recent = (
        Event.competition_id == competition,
        Event.at > session.now() - HOUR,
        Event.kind == "note",
    )
    mailed = [event for event in session.scalars(select(Event).where(*recent)) if event.data]
    if any((event.title, event.text) == (new.title, new.text) for event in mailed):
        raise UsageError(SENT_ALREADY)
    if len(mailed) >= MOST_IN_AN_HOUR:
        raise UsageError(TOO_MANY)


def recipients(session: Session, competition: int, audience: Audience) -> list[int]:
    """Return the user ids of members with a confirmed email address who have not opted out."""
    plays = exists().where(Entry.team_id == Team.id, Entry.status.in_(("playing", "waiting")))
    reachable = (
        User.email_verified_at.is_not(None),
        User.locked_at.is_(None),
        User.deleted_at.is_(None),
        CHOICES["announce"].column,
    )
    rows = session.execute(
        select(TeamMember.user_id, Bot)
        .join(Team, Team.id == TeamMember.team_id)
        .join(Bot, Bot.team_id == Team.id)
        .join(User, User.id == TeamMember.user_id)
        .where(TeamMember.competition_id == competition, Team.removed_at.is_(None), plays)
        .where(*reachable)
        .order_by(TeamMember.user_id)
    )
    return [user for user, bot in rows if audience == "all" or problem_of(bot)]


def words_of(row: Competition, event: Event, audience: Audience, address: str) -> Words:
    """Return the text of the email."""
    why = f"The host of {row.title} sends this {SENT_TO[audience]}:"
    texts = (event.title, event.text, why, f"{address}/t/{row.slug}/")
    return Words(f"{row.title}: {event.title}", tuple(text for text in texts if text))
