"""The invitation of a tournament: its link, its limits, and the host's imported addresses."""

from __future__ import annotations

import csv
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.accounts.forms import is_email
from cw_hub.clock import Clock
from cw_hub.competitions.tournament.groups import MOST_TEAMS
from cw_hub.competitions.tournament.names import LONGEST_TEAM
from cw_hub.competitions.verbs import OPERATOR, lock
from cw_hub.store.tables import Competition, Guest, Invitation

LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters of codes, without look-alikes."""

LENGTH: Final = 10

LINK: Final = re.compile(r"/join/(\w{1,40})")
"""The path of an invitation."""

USUAL_TEAMS: Final = 100
USUAL_MEMBERS: Final = 4
MOST_MEMBERS: Final = 50
MOST_GUESTS: Final = 5000
LONGEST_LIST: Final = 200_000
"""Maximum length of a list of addresses, in characters."""

LONGEST_LINE: Final = 1000
"""Maximum length of one of its lines, in characters."""

TEAM: Final = "team"
"""The title of the list's column with team names."""


@dataclass(frozen=True, slots=True)
class InvitationView:
    """The present invitation of a tournament."""

    competition_id: int
    code: str
    is_open: bool
    """Whether it is open to everybody with the code, or only to the host's list."""
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
    return None if row is None else view_of(row)


def find_by_code(session: Session, code: str) -> InvitationView | None:
    """Return the invitation with a code, ignoring case, or None."""
    query = select(Invitation, Competition.slug).where(Invitation.code == code.upper())
    row = session.execute(
        query.join(Competition, Competition.id == Invitation.competition_id)
    ).one_or_none()
    return None if row is None else view_of(*row)


def invited_to(session: Session, path: str) -> int | None:
    """Return the id of the tournament that a link invites to, or None if it is over."""
    link = LINK.fullmatch(path)
    if link is None:
        return None
    query = select(Competition.id).join(Invitation, Invitation.competition_id == Competition.id)
    goes_on = (Invitation.code == link[1].upper(), Competition.state != "over")
    return session.scalar(query.where(*goes_on))


def view_of(row: Invitation, slug: str = "") -> InvitationView:
    """Convert a row to a value."""
    limits = (row.most_teams, row.most_members)
    return InvitationView(row.competition_id, row.code, row.is_open, *limits, slug)


def invite(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    *,
    most_teams: int = USUAL_TEAMS,
    most_members: int = USUAL_MEMBERS,
    is_open: bool = True,
    is_new: bool = False,
    actor: str = OPERATOR,
) -> str:
    """Create the invitation of a competition, or change its limits; return its code.

    `is_new` replaces the code, which invalidates the old one. Raises UsageError unless there are
    1 to 1,000 teams, and 1 to 50 people per team.
    """
    row = lock(session, competition)
    if not 1 <= most_teams <= MOST_TEAMS:
        raise UsageError(f"Please enter 1 to {MOST_TEAMS} teams")
    if not 1 <= most_members <= MOST_MEMBERS:
        raise UsageError(f"Please enter 1 to {MOST_MEMBERS} people of a team")
    invitation = session.get(Invitation, competition)
    if invitation is None:
        invitation = Invitation(competition_id=competition, code=new_code(), created_at=clock())
        session.add(invitation)
    elif is_new:
        invitation.code = new_code()
    invitation.most_teams, invitation.most_members = most_teams, most_members
    invitation.is_open = is_open
    subject = f"invitation:{row.format}/{row.slug}"
    detail = {"teams": most_teams, "members": most_members, "open": is_open, "new": is_new}
    audit.note(session, clock, actor, "invite", subject, detail=detail, competition_id=row.id)
    return invitation.code


# The host's list


@dataclass(frozen=True, slots=True)
class NewGuest:
    """A listed address, with the name of a team."""

    email: str
    team: str = ""


def guests_of(text: str) -> Iterator[NewGuest]:
    """Yield the addresses of a list, one per line: `E-MAIL` or `E-MAIL, TEAM`.

    The first line may contain titles, with `team` naming a column; tabs and semicolons may replace
    commas. Raises UsageError, with its number, for a line that is too long or lacks an address,
    and for a list that is too long.
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
            raise UsageError(f"line {number}: there is no e-mail address")
        else:
            yield NewGuest(address.lower(), team_of(cells, titles, address)[:LONGEST_TEAM])


def cells_of(line: str) -> list[str]:
    """Split a line, as written or copied from a spreadsheet, into cells."""
    line = line.replace(";", ",").replace("\t", ",")
    return [cell.strip() for cell in next(csv.reader([line]), [])]


def team_of(cells: Sequence[str], titles: Sequence[str], address: str) -> str:
    """Return the team name on a line: from its column, or else the cell beside the address."""
    if TEAM in titles:
        return dict(zip(titles, cells, strict=False)).get(TEAM, "")
    return next((cell for cell in cells if cell and cell != address), "")


def import_guests(
    session: Session, clock: Clock, competition: int, text: str, *, actor: str = OPERATOR
) -> int:
    """Add the addresses of a list, all or none; return how many were new."""
    row = lock(session, competition)
    listed = {guest.email: guest for guest in guests_of(text)}
    of_it = Guest.competition_id == competition
    known = set(session.scalars(select(Guest.email).where(of_it)))
    new = [guest for guest in listed.values() if guest.email not in known]
    if len(known) + len(new) > MOST_GUESTS:
        raise UsageError(f"a tournament has at most {MOST_GUESTS:,} addresses")
    for guest in new:
        about = {"email": guest.email, "team": guest.team, "added_at": clock()}
        session.add(Guest(competition_id=competition, **about))
    subject = f"invitation:{row.format}/{row.slug}"
    detail = {"addresses": len(new)}
    audit.note(session, clock, actor, "import", subject, detail=detail, competition_id=row.id)
    return len(new)


def guest_named(session: Session, competition: int, email: str | None) -> Guest | None:
    """Return the list entry of an address, or None."""
    wanted = (Guest.competition_id == competition, Guest.email == func.lower(email or ""))
    return session.scalars(select(Guest).where(*wanted)).one_or_none()
