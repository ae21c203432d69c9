"""The cards that teams and hosts of a tournament are given: tokens on paper, which end with it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.hub.clock import Clock
from cw.hub.services import audit, tickets
from cw.hub.services.competitions import OPERATOR, held
from cw.hub.services.tournament_settings import FORMAT, settings_of
from cw.hub.store.tables import Entry, Event, Group, Team, Ticket

AFTER_END: Final = timedelta(days=7)
"""For how long tokens are valid after the end of a tournament."""

WITHOUT_END: Final = timedelta(days=180)
"""For how long they are valid where no end is planned."""

LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Of tokens: none is taken for another."""

TOKEN_LENGTH: Final = 16

ISSUED: Final = "These cards were issued already and cannot be shown again."


@dataclass(frozen=True, slots=True)
class Card:
    """What a team is given on paper; its token is shown to nobody again."""

    team_id: int
    team: str
    slug: str
    group: str
    token: str


def ends_of(session: Session, clock: Clock, competition: int) -> datetime:
    """Return when tokens that are issued now end: a week after the end, as far as it is known."""
    ends = (Event.competition_id == competition, Event.kind == "end", Event.group_id.is_(None))
    end = session.scalar(select(func.max(Event.at)).where(*ends))
    return clock() + WITHOUT_END if end is None else end + AFTER_END


def renew_ends(session: Session, clock: Clock, competition: int) -> None:
    """Let the cards that are out end when the tournament as it is planned now wants it."""
    cards = (Ticket.competition_id == competition, Ticket.kind.in_(("card", "host_card")))
    ends = ends_of(session, clock, competition)
    session.execute(update(Ticket).where(*cards).values(expires_at=ends))


def draw_token() -> str:
    """Draw a token: 16 letters, as `digest_of` is told it."""
    return "".join(secrets.choice(LETTERS) for _ in range(TOKEN_LENGTH))


def shown(token: str) -> str:
    """Return a token as it is printed: in groups of four letters."""
    return "-".join(token[at : at + 4] for at in range(0, TOKEN_LENGTH, 4))


def issue(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    team_ids: Sequence[int],
    *,
    nonce: str = "",
    actor: str = OPERATOR,
) -> list[Card]:
    """Give teams new tokens, which are told this once; their earlier ones and sessions end.

    The same form again, whose nonce it is, or two of it at once: UsageError for the second.
    """
    row = held(session, competition)
    nonce = nonce or secrets.token_hex(16)
    what = f"cards:{nonce}"
    if audit.history(session, what):
        raise UsageError(ISSUED)
    found = list(holders(session, competition, team_ids))
    if not found:
        raise UsageError("Please choose a team")
    revoke(session, competition, [team.id for team, _ in found])
    cards, count = [], settings_of(row.game, row.settings).tokens_per_team
    for team, group in found:
        for _ in range(count):
            of_team = {"competition_id": competition, "team_id": team.id, "label": nonce}
            token = add(session, clock, Ticket(kind="card", **of_team))
            cards.append(Card(team.id, team.name, team.slug, group, token))
    detail = {"teams": [team.slug for team, _ in found]}
    audit.note(session, clock, actor, "issue tokens", what, detail=detail, competition_id=row.id)
    return cards


def add(session: Session, clock: Clock, ticket: Ticket) -> str:
    """Draw a token and keep its digest; return the token."""
    token = draw_token()
    ticket.digest, ticket.created_at = tickets.digest_of(token), clock()
    ticket.expires_at = ends_of(session, clock, ticket.competition_id or 0)
    session.add(ticket)
    return token


def holders(
    session: Session, competition: int, team_ids: Sequence[int]
) -> Iterator[tuple[Team, str]]:
    """Give teams of a tournament in the order of sandboxes and names, each with its first sandbox.

    One that plays in all of them is given without.
    """
    rows = session.execute(
        select(Team, Group.name)
        .join(Entry, Entry.team_id == Team.id)
        .join(Group, Group.id == Entry.group_id)
        .where(Team.competition_id == competition, Team.id.in_(team_ids))
        .order_by(Team.out_of_competition, Group.id, Team.id)
    )
    seen: set[int] = set()
    for team, group in rows:
        if team.id not in seen:
            seen.add(team.id)
            yield team, "" if team.out_of_competition else group


def issue_to_host(
    session: Session, clock: Clock, competition: int, *, keep: bool = False, actor: str = OPERATOR
) -> str:
    """Return a new token for hosts; earlier ones and their sessions end, unless they are kept."""
    row = held(session, competition)
    if not keep:
        theirs = (Ticket.competition_id == competition, Ticket.kind == "host_card")
        session.execute(delete(Ticket).where(*theirs))
    token = add(session, clock, Ticket(kind="host_card", competition_id=competition))
    what = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, clock, actor, "host token", what, competition_id=row.id)
    return token


def revoke(session: Session, competition: int, team_ids: Sequence[int]) -> int:
    """End the tokens of teams, and what was made from them; return how many. Twice: 0."""
    theirs = (Ticket.competition_id == competition, Ticket.kind == "card")
    gone = delete(Ticket).where(*theirs, Ticket.team_id.in_(team_ids)).returning(Ticket.digest)
    return len(session.scalars(gone).all())
