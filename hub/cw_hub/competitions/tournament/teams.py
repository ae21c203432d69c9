"""A tournament's teams: enrolment, token cards and their printed sheet, and machines."""

from __future__ import annotations

import secrets
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from jinja2 import Environment, FileSystemLoader
from sqlalchemy import delete, func, select, update

from cw.errors import UsageError
from cw_hub.accounts import audit, tickets
from cw_hub.assets import asset
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.groups import (
    MOST_TEAMS,
    full,
    group_sizes,
    groups_of,
    mark_changed,
    most_entries,
    named_group,
)
from cw_hub.competitions.tournament.settings import (
    FORMAT,
    LONGEST_TEAM,
    TEAM_WORDS,
    clean_name,
    defaults_of,
    name_key,
    slug_for,
    stored_settings,
)
from cw_hub.competitions.tournament.team_bots import assign_bot, check_bot
from cw_hub.context import Clock
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Entry, Event, Group, Team, Ticket

NO_SSH_KEY: Final = "This is not a public SSH key"
PRIVATE_KEY: Final = "This is a private key: never paste it anywhere"

LONGEST_MACHINE: Final = 120
LONGEST_KEY: Final = 4096

KEY_KINDS: Final = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)


def check_machine(machine: str) -> None:
    """Raise UsageError unless a text is a valid machine address or ""."""
    if len(machine) > LONGEST_MACHINE or not machine.isprintable() or " " in machine:
        raise UsageError(f"a machine is an address of at most {LONGEST_MACHINE} characters")


def read_ssh_key(text: str) -> str:
    """Return a public key on one line, or ""; raise UsageError if it is invalid."""
    key = " ".join(text.split())
    if "PRIVATE KEY" in key.upper() or key.startswith("PuTTY-User-Key-File"):
        raise UsageError(PRIVATE_KEY)
    if not key:
        return ""
    kind, _, rest = key.partition(" ")
    body, _, comment = rest.partition(" ")
    if len(key) > LONGEST_KEY or not key.isprintable() or kind not in KEY_KINDS:
        raise UsageError(NO_SSH_KEY)
    try:
        data = b64decode(body, validate=True)
    except ValueError:
        raise UsageError(NO_SSH_KEY) from None
    # Key data starts with its kind, prefixed by the kind's length in four bytes.
    prefix = len(kind).to_bytes(4, "big") + kind.encode()
    if not data.startswith(prefix) or len(data) < len(prefix) + 32 or not comment.isascii():
        raise UsageError(NO_SSH_KEY)
    return key


NAME_TAKEN: Final = "this name is taken"


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team to add."""

    name: str
    group: str = ""
    """The name of its group; "": the only one."""
    bot: str = ""
    """A URL, or `builtin:NAME`; "": none yet."""
    out_of_competition: bool = False
    machine: str = ""
    ssh_key: str = ""
    slug: str = ""
    """"": derived from the name."""
    line: int = 0
    """Its line in a list of teams; 0: not from a list."""


class BadLines(UsageError):
    """Some teams of a list are invalid, so none was added."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Take one message per invalid team."""
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{more}")
        self.problems = tuple(problems)


def add_teams(
    session: Session,
    competition: int,
    teams: Sequence[NewTeam],
) -> list[int]:
    """Add teams, each with its entries and a bot yet to be set up; return their ids.

    All or none: raises BadLines with a message for each invalid team.
    """
    enrolment = Enrolment(session, competitions_service.lock(session, competition))
    problems, admitted = [], []
    for team in teams:
        try:
            admitted.append(enrolment.admit(team))
        except UsageError as error:
            problems.append(f"line {team.line}: {error}" if team.line else f"{team.name}: {error}")
    if problems:
        raise BadLines(problems)
    return enrolment.enrol(session, admitted)


@dataclass(frozen=True, slots=True)
class AdmittedTeam:
    """A validated team."""

    team: NewTeam
    name: str
    slug: str
    groups: tuple[Group, ...]


class Enrolment:
    """Admits teams to a tournament, and tracks its used names and group sizes."""

    def __init__(self, session: Session, competition: Competition) -> None:
        """Read the teams and groups of a tournament whose row is locked."""
        self.competition = competition
        self.groups = groups_of(session, competition.id)
        teams = Team.competition_id == competition.id
        rows = session.execute(select(Team.slug, Team.name_key).where(teams)).all()
        self.slugs = {slug for slug, _ in rows} | TEAM_WORDS
        self.keys = {key for _, key in rows}
        self.sizes = Counter(group_sizes(session, competition.id))
        self.most = most_entries(competition)

    def admit(self, team: NewTeam) -> AdmittedTeam:
        """Reserve a name and slots for a team; raise a short UsageError if that is impossible."""
        name = clean_name(team.name, LONGEST_TEAM)
        if name_key(name) in self.keys:
            raise UsageError(NAME_TAKEN)
        groups = self.groups if team.out_of_competition else [self.group_of(team)]
        check_bot(self.competition.game, team.bot)
        check_machine(team.machine)
        team = replace(team, ssh_key=read_ssh_key(team.ssh_key))
        for group in groups:
            if self.sizes[group.id] >= self.most:
                raise full(group, self.most)
        if len(self.keys) >= MOST_TEAMS:
            raise UsageError(f"a tournament has at most {MOST_TEAMS} teams")
        slug = slug_for(name, team.slug, self.slugs, "team")
        self.slugs.add(slug)
        self.keys.add(name_key(name))
        self.sizes.update(group.id for group in groups)
        return AdmittedTeam(team, name, slug, tuple(groups))

    def group_of(self, team: NewTeam) -> Group:
        """Return the group that a team names, or else the only group."""
        if team.group:
            return named_group(self.groups, team.group)
        candidates = [group for group in self.groups if group.kind != "final"]
        if len(candidates) != 1:
            raise UsageError("its sandbox is missing: NAME, SANDBOX")
        return candidates[0]

    def enrol(self, session: Session, admitted: Sequence[AdmittedTeam]) -> list[int]:
        """Add the rows of admitted teams; return their ids."""
        competition = self.competition
        rows = [self.team_row(team) for team in admitted]
        session.add_all(rows)
        session.flush()
        for row, team in zip(rows, admitted, strict=True):
            for group in team.groups:
                session.add(Entry(group_id=group.id, team_id=row.id, joined_at=session.now()))
            bot = bot_row(session.clock, competition.game, row)
            session.add(bot)
            if team.team.bot:
                assign_bot(session.clock, bot, team.team.bot)
        mark_changed(competition, *{group for team in admitted for group in team.groups})
        subject = f"competition:{FORMAT}/{competition.slug}"
        slugs = {"teams": [row.slug for row in rows]}
        audit.note(
            session,
            "add teams",
            subject,
            detail=slugs,
            competition_id=competition.id,
        )
        session.flush()
        return [row.id for row in rows]

    def team_row(self, admitted: AdmittedTeam) -> Team:
        """Return the row of a new team."""
        return Team(
            competition_id=self.competition.id,
            slug=admitted.slug,
            name=admitted.name,
            name_key=name_key(admitted.name),
            out_of_competition=admitted.team.out_of_competition,
            machine=admitted.team.machine or None,
            ssh_key=admitted.team.ssh_key or None,
        )


def bot_row(clock: Clock, game: str, team: Team) -> Bot:
    """Return the row of a team's bot, which is yet to be set up."""
    return Bot(
        bot_id=f"b_{secrets.token_hex(4)}",
        game=game,
        team_id=team.id,
        name=team.slug,
        name_key=team.slug,
        kind=defaults_of(game).kinds[0],
        endpoint="",
        secret_version=0,
        status="PENDING",
        created_at=clock(),
    )


AFTER_END: Final = timedelta(days=7)
"""How long tokens stay valid after the end of a tournament."""

WITHOUT_END: Final = timedelta(days=180)
"""How long tokens are valid if no end is planned."""

LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Characters used in tokens, without look-alikes."""

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


def ends_of(session: Session, competition: int) -> datetime:
    """Return when a tournament's tokens expire, according to its planned events."""
    ends = (Event.competition_id == competition, Event.kind == "end", Event.group_id.is_(None))
    end = session.scalar(select(func.max(Event.at)).where(*ends))
    return session.now() + WITHOUT_END if end is None else end + AFTER_END


def renew_ends(session: Session, competition: int) -> None:
    """Update the expiry of all tokens of a tournament."""
    cards = (Ticket.competition_id == competition, Ticket.kind.in_(("card", "host_card")))
    ends = ends_of(session, competition)
    session.execute(update(Ticket).where(*cards).values(expires_at=ends))


def draw_token() -> str:
    """Return a random token of 16 letters."""
    return "".join(secrets.choice(LETTERS) for _ in range(TOKEN_LENGTH))


def printed(token: str) -> str:
    """Return a token in printed form: groups of four letters."""
    return "-".join(token[at : at + 4] for at in range(0, TOKEN_LENGTH, 4))


def issue(
    session: Session,
    competition: int,
    team_ids: Sequence[int],
    *,
    nonce: str = "",
) -> list[Card]:
    """Issue new tokens to teams, which revokes their earlier tokens and sessions.

    Raises UsageError if a form with this nonce was submitted before, as tokens cannot be shown
    again.
    """
    row = competitions_service.lock(session, competition)
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
            token = add_ticket(session, Ticket(kind="card", **columns))
            cards.append(Card(team.id, team.name, team.slug, group, token))
    detail = {"teams": [team.slug for team, _ in teams]}
    audit.note(session, "issue tokens", subject, detail=detail, competition_id=row.id)
    return cards


def add_ticket(session: Session, ticket: Ticket) -> str:
    """Add a ticket with a new token, storing only its digest; return the token."""
    token = draw_token()
    ticket.digest, ticket.created_at = tickets.digest_of(token), session.now()
    ticket.expires_at = ends_of(session, ticket.competition_id or 0)
    session.add(ticket)
    return token


def teams_with_group(
    session: Session, competition: int, team_ids: Sequence[int]
) -> Iterator[tuple[Team, str]]:
    """Yield teams sorted by group and id, each with the name of its first group.

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


def issue_to_host(session: Session, competition: int, *, keep: bool = False) -> str:
    """Return a new token for hosts; unless `keep`, revoke earlier ones and their sessions."""
    row = competitions_service.lock(session, competition)
    if not keep:
        earlier = (Ticket.competition_id == competition, Ticket.kind == "host_card")
        session.execute(delete(Ticket).where(*earlier))
    token = add_ticket(session, Ticket(kind="host_card", competition_id=competition))
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.note(session, "host token", subject, competition_id=row.id)
    return token


def revoke(session: Session, competition: int, team_ids: Sequence[int]) -> int:
    """Revoke teams' tokens, and the sessions started with them; return their number."""
    cards = (Ticket.competition_id == competition, Ticket.kind == "card")
    query = delete(Ticket).where(*cards, Ticket.team_id.in_(team_ids)).returning(Ticket.digest)
    return len(session.scalars(query).all())


TEMPLATE: Final = "hub/competitions/tournament/card_sheet.html"
PER_PAGE: Final = 8
SECRECY: Final = "Keep your login token and the IP address of your droplet a secret"


def values_of(title: str, address: str, cards: Sequence[Card]) -> dict[str, object]:
    """Return the template values of a card sheet."""
    tokens = [(card, printed(card.token)) for card in cards]
    pages = [tokens[at : at + PER_PAGE] for at in range(0, len(tokens), PER_PAGE)]
    return {"title": title, "address": address, "pages": pages, "secrecy": SECRECY}


def whole_file(title: str, address: str, cards: Sequence[Card]) -> str:
    """Return a card sheet as a single HTML file, including its style."""
    templates = Environment(loader=FileSystemLoader(asset("templates")), autoescape=True)
    style = asset("static").joinpath("hub", "card_sheet.css").read_text(encoding="utf-8")
    values = values_of(title, address, cards)
    return templates.get_template(TEMPLATE).render(**values, style=style)
