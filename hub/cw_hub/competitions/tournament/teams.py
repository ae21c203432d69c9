"""A tournament's groups and teams: enrolment, changes by hosts, cards, and removal.

Pages call groups sandboxes. Each function that changes something locks the competition, as
`progress` describes, and adds an audit entry.
"""

from __future__ import annotations

import secrets
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from msgspec import Struct
from sqlalchemy import and_, delete, func, select, update

from cw.errors import UsageError, short
from cw.games.registry import load_game
from cw_hub.accounts import audit, tickets
from cw_hub.assets import asset
from cw_hub.bots import versions
from cw_hub.bots.addresses import check_address
from cw_hub.competitions.service import lock
from cw_hub.competitions.tournament.settings import (
    FORMAT,
    GROUP_WORDS,
    LONGEST_GROUP,
    LONGEST_TEAM,
    TEAM_WORDS,
    clean_name,
    defaults_of,
    name_key,
    slug_for,
    stored_settings,
)
from cw_hub.competitions.tournament.team_bots import BUILTIN, assign_bot, check_bot, lacks_secret
from cw_hub.context import Clock
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    Competition,
    Entry,
    Event,
    Group,
    GroupKind,
    Match,
    MatchParticipant,
    Round,
    RoundScore,
    Team,
    Ticket,
)

KIND_BY_NAME: Final[Mapping[str, GroupKind]] = {"internal": "internal", "final": "final"}
"""The default kind of a group by its name key; other groups are public."""

MOST_GROUPS: Final = 50
MOST_TEAMS: Final = 1000
"""Maximum number of teams in a tournament."""

MOST_BY_PAIRS: Final = 100
"""Maximum number of entries in a group where every pair meets."""


class NewGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """A group to add; an entry of `[[groups]]` in a configuration file."""

    name: str
    kind: GroupKind | None = None
    """None: derived from the name."""
    slug: str = ""
    """"": derived from the name."""


def groups_of(session: Session, competition: int) -> list[Group]:
    """Return the groups of a tournament in order of creation."""
    query = select(Group).where(Group.competition_id == competition).order_by(Group.id)
    return list(session.scalars(query))


def named_group(groups: Iterable[Group], name: str) -> Group:
    """Return the group with this name or slug; raise UsageError if there is none."""
    key = name_key(name.strip())
    for group in groups:
        if key in (name_key(group.name), group.slug):
            return group
    text = name if len(name) <= LONGEST_TEAM and name.isprintable() else short(name)
    raise UsageError(f"no sandbox named {text}")


def add_group(session: Session, competition: int, group: NewGroup) -> int:
    """Add a group, with an entry for each team that plays in all groups; return its id.

    Raises UsageError if the name is taken, even by a concurrent caller, and for a second final.
    """
    row = lock(session, competition)
    others = groups_of(session, competition)
    name = clean_name(group.name, LONGEST_GROUP)
    kind = group.kind or KIND_BY_NAME.get(name_key(name), "public")
    if name_key(name) in {name_key(other.name) for other in others}:
        raise UsageError(f"there is a sandbox {name} already")
    if kind == "final" and any(other.kind == "final" for other in others):
        raise UsageError("there is already a final sandbox; there can be only one")
    if len(others) >= MOST_GROUPS:
        raise UsageError(f"a tournament has at most {MOST_GROUPS} sandboxes")
    slug = slug_for(name, group.slug, GROUP_WORDS | {other.slug for other in others}, "sandbox")
    new = Group(competition_id=competition, slug=slug, name=name, kind=kind)
    session.add(new)
    session.flush()
    guests = (Team.competition_id == competition, Team.out_of_competition)
    for team in session.scalars(select(Team.id).where(*guests).order_by(Team.id)):
        session.add(Entry(group_id=new.id, team_id=team, joined_at=session.now()))
    mark_changed(row)
    subject, detail = f"group:{row.slug}/{new.id}", {"slug": slug}
    audit.record(session, "add group", subject, detail=detail, competition_id=row.id)
    return new.id


# Capacity


def group_sizes(session: Session, competition: int) -> dict[int, int]:
    """Return the number of playing entries by group id."""
    sizes = (
        select(Entry.group_id, func.count())
        .join(Group, Group.id == Entry.group_id)
        .where(Group.competition_id == competition, Entry.status == "playing")
        .group_by(Entry.group_id)
    )
    return dict(session.execute(sizes).all())


def most_entries(competition: Competition) -> int:
    """Return the maximum number of entries in a group."""
    if stored_settings(competition.game, competition.settings).plan == "pairs":
        return MOST_BY_PAIRS
    return min(load_game(competition.game).rules.seats[-1], MOST_TEAMS)


def full(group: Group, most: int) -> UsageError:
    """Return the error for a full group."""
    return UsageError(f"{group.name} is full: it holds at most {most} teams")


def check_room(session: Session, competition: Competition) -> None:
    """Raise UsageError if a group has more entries than can play in it."""
    session.flush()
    sizes, most = group_sizes(session, competition.id), most_entries(competition)
    for group in groups_of(session, competition.id):
        if sizes.get(group.id, 0) > most:
            raise full(group, most)


# Revision counters: an increase makes pages reload


def mark_changed(competition: Competition, *groups: Group) -> None:
    """Increment the revisions of a tournament and of the given groups."""
    competition.revision += 1
    for group in groups:
        group.revision += 1


def mark_all_changed(session: Session, competition: Competition) -> None:
    """Increment the revisions of a tournament and of all its groups."""
    groups = update(Group).where(Group.competition_id == competition.id)
    session.execute(groups.values(revision=Group.revision + 1))
    competition.revision += 1


def mark_round_changed(session: Session, round_id: int) -> None:
    """Increment the revision of a round's group."""
    group = select(Round.group_id).where(Round.id == round_id).scalar_subquery()
    change = update(Group).where(Group.id == group).values(revision=Group.revision + 1)
    session.execute(change, execution_options={"synchronize_session": False})


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


class NewTeam(Struct, frozen=True, forbid_unknown_fields=True):
    """A team to add; an entry of `[[teams]]` in a configuration file."""

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


class ListedTeam(NewTeam, frozen=True):
    """A team from a list, with the number of its line."""

    line: int = 0


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
    enrolment = Enrolment(session, lock(session, competition))
    problems, admitted = [], []
    for team in teams:
        try:
            admitted.append(enrolment.admit(team))
        except UsageError as error:
            where = f"line {team.line}" if isinstance(team, ListedTeam) else team.name
            problems.append(f"{where}: {error}")
    if problems:
        raise BadLines(problems)
    return enrolment.enrol(session, admitted)


@dataclass(frozen=True, slots=True)
class AdmittedTeam:
    """A validated team."""

    team: NewTeam
    name: str
    slug: str
    ssh_key: str
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
        if team.bot:
            check_bot(self.competition.game, team.bot)
        check_machine(team.machine)
        ssh_key = read_ssh_key(team.ssh_key)
        for group in groups:
            if self.sizes[group.id] >= self.most:
                raise full(group, self.most)
        if len(self.keys) >= MOST_TEAMS:
            raise UsageError(f"a tournament has at most {MOST_TEAMS} teams")
        slug = slug_for(name, team.slug, self.slugs, "team")
        self.slugs.add(slug)
        self.keys.add(name_key(name))
        self.sizes.update(group.id for group in groups)
        return AdmittedTeam(team, name, slug, ssh_key, tuple(groups))

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
        audit.record(
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
            ssh_key=admitted.ssh_key or None,
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
    ids: Sequence[int],
    *,
    nonce: str = "",
) -> list[Card]:
    """Issue new tokens to teams, which revokes their earlier tokens and sessions.

    Raises UsageError if a form with this nonce was submitted before, as tokens cannot be shown
    again.
    """
    row = lock(session, competition)
    nonce = nonce or secrets.token_hex(16)
    subject = f"cards:{nonce}"
    if audit.history(session, subject):
        raise UsageError(ISSUED)
    teams = list(teams_with_group(session, competition, ids))
    if not teams:
        raise UsageError("Please choose a team")
    revoke(session, [team.id for team, _ in teams])
    cards, count = [], stored_settings(row.game, row.settings).tokens_per_team
    for team, group in teams:
        for _ in range(count):
            columns = {"competition_id": competition, "team_id": team.id, "label": nonce}
            token = add_ticket(session, Ticket(kind="card", **columns))
            cards.append(Card(team.id, team.name, team.slug, group, token))
    detail = {"teams": [team.slug for team, _ in teams]}
    audit.record(session, "issue tokens", subject, detail=detail, competition_id=row.id)
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
    row = lock(session, competition)
    if not keep:
        earlier = (Ticket.competition_id == competition, Ticket.kind == "host_card")
        session.execute(delete(Ticket).where(*earlier))
    token = add_ticket(session, Ticket(kind="host_card", competition_id=competition))
    subject = f"competition:{FORMAT}/{row.slug}"
    audit.record(session, "host token", subject, competition_id=row.id)
    return token


def revoke(session: Session, ids: Sequence[int]) -> None:
    """Revoke teams' tokens, and the sessions started with them."""
    tickets = (Ticket.team_id.in_(ids), Ticket.kind.in_(("card", "team")))
    session.execute(delete(Ticket).where(*tickets))


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
    audit.record(session, verb, subject, detail=more, competition_id=row.id)


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
    *,
    settings: HubSettings | None = None,
) -> bool:
    """Assign a bot to teams: a URL, which is checked soon, or `builtin:NAME`.

    With `settings`, the site must allow the URL. Returns whether one of the teams has yet to be
    shown its bot's secret.
    """
    row = lock(session, competition)
    if not bot:
        raise UsageError("Please enter a bot URL or builtin:NAME")
    check_bot(row.game, bot)
    if settings is not None and not bot.startswith(BUILTIN):
        check_address(bot.strip(), settings)
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
    row, teams = lock(session, competition), teams_by_id(session, competition, ids)
    revoke(session, [team.id for team in teams])
    for team in teams:
        note(session, row, team, "revoke tokens")


UNDONE_FOR: Final = timedelta(hours=1)
"""How long an end or a removal can be undone."""

NOT_REMOVED: Final = "These teams were not removed within the last hour: nothing can be undone."


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
            set_status(session, team.id, "playing", status="removed")
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
        set_status(session, team.id, "removed", status="playing")
    mark_changed(row, *groups_of(session, competition))


def set_status(session: Session, team: int, before: str, **values: str) -> bool:
    """Change a team's entries that have the status `before`; return whether it has any."""
    entries = and_(Entry.team_id == team, Entry.status == before)
    change = update(Entry).where(entries).values(**values).returning(Entry.group_id)
    return bool(session.scalars(change).all())


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
        set_status(session, team.id, "removed", status="withdrawn")
        return
    versions.forget(session, [bot.id])
    session.delete(bot)
    session.flush()
    session.delete(team)
