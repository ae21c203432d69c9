"""The cards of a tournament: printed login tokens for its teams and its hosts."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.accounts.access import tickets
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.settings import FORMAT, stored_settings
from cw_hub.competitions.verbs import OPERATOR
from cw_hub.store.tables import Entry, Event, Group, Team, Ticket

AFTER_END: Final = timedelta(days=7)
"""How long tokens stay valid after the end of a tournament."""

WITHOUT_END: Final = timedelta(days=180)
"""How long tokens are valid if no end is planned."""

LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""The letters of tokens, without look-alikes."""

TOKEN_LENGTH: Final = 16

ISSUED: Final = "These cards were issued already and cannot be shown again."


@dataclass(frozen=True, slots=True)
class Card:
    """A team's card; its token cannot be read again."""

    team_id: int
    team: str
    slug: str
    group: str
    """"" for a team that plays in every group."""
    token: str


def ends_of(session: Session, clock: Clock, competition: int) -> datetime:
    """Return when a tournament's tokens expire, according to its planned events."""
    ends = (Event.competition_id == competition, Event.kind == "end", Event.group_id.is_(None))
    end = session.scalar(select(func.max(Event.at)).where(*ends))
    return clock() + WITHOUT_END if end is None else end + AFTER_END


def renew_ends(session: Session, clock: Clock, competition: int) -> None:
    """Update the expiry of all tokens of a tournament."""
    cards = (Ticket.competition_id == competition, Ticket.kind.in_(("card", "host_card")))
    ends = ends_of(session, clock, competition)
    session.execute(update(Ticket).where(*cards).values(expires_at=ends))


def draw_token() -> str:
    """Return a random token of 16 letters."""
    return "".join(secrets.choice(LETTERS) for _ in range(TOKEN_LENGTH))


def printed(token: str) -> str:
    """Return a token in printed form: groups of four letters."""
    return "-".join(token[at : at + 4] for at in range(0, TOKEN_LENGTH, 4))


def issue(  # noqa: PLR0913
    session: Session,
    clock: Clock,
    competition: int,
    team_ids: Sequence[int],
    *,
    nonce: str = "",
    actor: str = OPERATOR,
) -> list[Card]:
    """Issue new tokens to teams, which revokes their earlier tokens and sessions.

    Raises UsageError if a form with this nonce was sent before, as tokens cannot be shown again.
    """
    row = competitions.lock(session, competition)
    nonce = nonce or secrets.token_hex(16)
    subject = f"cards:{nonce}"
    if audit.history(session, subject):
        raise UsageError(ISSUED)
    teams = list(teams_with_group(session, competition, team_ids))
    if not teams:
        raise UsageError("Please choose a team")
    revoke(session, competition, [team.id for team, _ in teams])
    cards, count = [], stored_settings(row.game, row.settings).tokens_per_team
    for team, group in teams:
        for _ in range(count):
            columns = {"competition_id": competition, "team_id": team.id, "label": nonce}
            token = add_ticket(session, clock, Ticket(kind="card", **columns))
            cards.append(Card(team.id, team.name, team.slug, group, token))
    detail = {"teams": [team.slug for team, _ in teams]}
    audit.note(session, clock, actor, "issue tokens", subject, detail=detail, competition_id=row.id)
    return cards


def add_ticket(session: Session, clock: Clock, ticket: Ticket) -> str:
    """Add a ticket with a new token, storing only its digest; return the token."""
    token = draw_token()
    ticket.digest, ticket.created_at = tickets.digest_of(token), clock()
    ticket.expires_at = ends_of(session, clock, ticket.competition_id or 0)
    session.add(ticket)
    return token


def teams_with_group(
    session: Session, competition: int, team_ids: Sequence[int]
) -> Iterator[tuple[Team, str]]:
    """Yield teams in order of groups and names, each with the name of its first group.

    The name is "" for a team that plays in all groups.
    """
    rows = session.execute(
        select(Team, Group.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .where(Team.competition_id == competition, Team.id.in_(team_ids))
        .order_by(Team.out_of_competition, Group.id, Team.id)
    )
    ids: set[int] = set()
    for team, group in rows:
        if team.id not in ids:
            ids.add(team.id)
            yield team, "" if team.out_of_competition else group


def issue_to_host(
    session: Session, clock: Clock, competition: int, *, keep: bool = False, actor: str = OPERATOR
) -> str:
    """Return a new token for hosts; unless `keep`, revoke earlier ones and their sessions."""
    row = competitions.lock(session, competition)
    if not keep:
        earlier = (Ticket.competition_id == competition, Ticket.kind == "host_card")
        session.execute(delete(Ticket).where(*earlier))
    token = add_ticket(session, clock, Ticket(kind="host_card", competition_id=competition))
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, clock, actor, "host token", subject, competition_id=row.id)
    return token


def revoke(session: Session, competition: int, team_ids: Sequence[int]) -> int:
    """Revoke teams' tokens, and the sessions begun with them; return their number."""
    cards = (Ticket.competition_id == competition, Ticket.kind == "card")
    query = delete(Ticket).where(*cards, Ticket.team_id.in_(team_ids)).returning(Ticket.digest)
    return len(session.scalars(query).all())
