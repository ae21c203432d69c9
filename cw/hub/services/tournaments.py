"""Tournaments of teams: made from what a host has written, with groups, teams and events.

How their rounds are played is said in ladder.py.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cw.errors import UsageError, short
from cw.games.registry import load_game, load_strategy
from cw.hub.clock import Clock
from cw.hub.services import audit, matches, team_bots, tournament_cards
from cw.hub.services.competitions import OPERATOR, CompetitionTaken, held
from cw.hub.services.team_names import (
    GROUP_WORDS,
    LONGEST_GROUP,
    LONGEST_TEAM,
    TEAM_WORDS,
    clean_name,
    is_slug,
    name_key,
    slug_for,
)
from cw.hub.services.tournament_settings import (
    FORMAT,
    ladder_of,
    read_boards,
    settings_of,
)
from cw.hub.store.tables import (
    Bot,
    Competition,
    Entry,
    Event,
    Group,
    GroupKind,
    Team,
)

EventKind: TypeAlias = Literal["start", "boards", "pause", "resume", "final", "end", "note"]
Mode: TypeAlias = Literal["add", "replace"]

MAIN: Final = "MAIN"
"""The sandbox of a tournament that names none."""

GROUP_KINDS: Final[Mapping[str, GroupKind]] = {"internal": "internal", "final": "final"}
"""What a sandbox is by its name, where nobody says."""

MOST_TEAMS: Final = 1000
MOST_GROUPS: Final = 50
MOST_EVENTS: Final = 200
MOST_OF_PAIRS: Final = 100
"""Entries of a group in which every two meet."""

LONGEST_TITLE: Final = 80
LONGEST_EVENT_TITLE: Final = 120
LONGEST_EVENT_TEXT: Final = 2000
LONGEST_MACHINE: Final = 120

NO_TIME: Final = "Please enter a time"
PAST: Final = "The time lies in the past"
NO_TITLE: Final = "Please enter a title"
NAME_TAKEN: Final = "this name is taken"


# What a host writes


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A sandbox to be made; without a kind its name decides, and most are public."""

    name: str
    kind: GroupKind | None = None
    slug: str = ""
    """"": made from the name."""


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team to be made."""

    name: str
    group: str = ""
    """The name of its sandbox; "" where only one comes into question."""
    bot: str = ""
    """An address, or `builtin:NAME`; "": it has none yet."""
    out_of_competition: bool = False
    machine: str = ""
    ssh_key: str = ""
    slug: str = ""
    """"": made from the name."""
    line: int = 0
    """Where it stands in a list; 0: in none."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to be planned."""

    kind: EventKind
    at: datetime
    title: str
    text: str = ""
    group: str = ""
    """The name of its sandbox; "": all of them."""
    boards: Sequence[Mapping[str, Any]] = ()
    mode: Mode = "add"
    announced: bool = False


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """All that a tournament is made from."""

    slug: str
    game: str
    title: str = ""
    seed: int | None = None
    """None: drawn."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    groups: Sequence[NewGroup] = ()
    teams: Sequence[NewTeam] = ()
    events: Sequence[NewEvent] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """A new tournament."""

    id: int
    slug: str
    title: str
    teams: tuple[int, ...]


class BadLines(UsageError):
    """Some teams of a list cannot be made, and so none is."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Take a sentence for each."""
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{more}")
        self.problems = tuple(problems)


def new(session: Session, clock: Clock, config: TournamentConfig, actor: str = OPERATOR) -> Made:
    """Make a tournament with all that belongs to it, a `draft` until its start is applied.

    Events in the past are taken: they are applied at once. Twice, or by two at once: the unique
    key decides, and the others are told CompetitionTaken.
    """
    if not is_slug(config.slug):
        raise UsageError(
            f"{short(config.slug)} cannot be an address: use small letters, digits and hyphens,"
            " 32 at most"
        )
    settings_of(config.game, config.settings)
    row = Competition(
        slug=config.slug,
        game=config.game,
        format=FORMAT,
        title=clean_name(config.title or config.slug, LONGEST_TITLE),
        settings=dict(config.settings),
        seed=matches.draw_seed(config.game) if config.seed is None else config.seed,
        created_at=clock(),
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:
        raise CompetitionTaken(f"there is a tournament {row.slug} already") from None
    audit.note(
        session, clock, actor, "new", f"competition:{FORMAT}/{row.slug}", competition_id=row.id
    )
    for group in config.groups or (NewGroup(MAIN),):
        add_group(session, clock, row.id, group, actor)
    teams = add_teams(session, clock, row.id, config.teams, actor) if config.teams else []
    for event in config.events:
        add_event(session, clock, row.id, event, actor, is_late=True)
    return Made(row.id, row.slug, row.title, tuple(teams))


def changed(competition: Competition, *groups: Group) -> None:
    """Note that pages of a tournament show something else now."""
    competition.revision += 1
    for group in groups:
        group.revision += 1


def groups_of(session: Session, competition: int) -> list[Group]:
    """Return the groups of a tournament in the order in which they were made."""
    query = select(Group).where(Group.competition_id == competition).order_by(Group.id)
    return list(session.scalars(query))


def add_group(
    session: Session, clock: Clock, competition: int, group: NewGroup, actor: str = OPERATOR
) -> int:
    """Make a group, with the teams that play in all groups; return its id.

    Twice, or by two at once: the second is told that the name is taken. Raises UsageError for a
    second FINAL.
    """
    row = held(session, competition)
    known = groups_of(session, competition)
    name = clean_name(group.name, LONGEST_GROUP)
    kind = group.kind or GROUP_KINDS.get(name_key(name), "public")
    if name_key(name) in {name_key(one.name) for one in known}:
        raise UsageError(f"there is a sandbox {name} already")
    if kind == "final" and any(one.kind == "final" for one in known):
        raise UsageError("there is a final sandbox already, and at most one can be")
    if len(known) >= MOST_GROUPS:
        raise UsageError(f"a tournament has at most {MOST_GROUPS} sandboxes")
    slug = slug_for(name, group.slug, GROUP_WORDS | {one.slug for one in known}, "sandbox")
    made = Group(competition_id=competition, slug=slug, name=name, kind=kind)
    session.add(made)
    session.flush()
    guests = (Team.competition_id == competition, Team.out_of_competition)
    for team in session.scalars(select(Team.id).where(*guests).order_by(Team.id)):
        session.add(Entry(group_id=made.id, team_id=team, joined_at=clock()))
    changed(row)
    what, detail = f"group:{row.slug}/{made.id}", {"slug": slug}
    audit.note(session, clock, actor, "add group", what, detail=detail, competition_id=row.id)
    return made.id


# Teams


def add_teams(
    session: Session,
    clock: Clock,
    competition: int,
    teams: Sequence[NewTeam],
    actor: str = OPERATOR,
) -> list[int]:
    """Make teams, each with its entry and a bot that is not set up yet; return their ids.

    All or none: raises BadLines with a sentence for each that cannot be. Twice, or by two at once:
    the second is told that all names are taken.
    """
    row = held(session, competition)
    plan = Enrolment(session, row)
    problems, fine = [], []
    for team in teams:
        try:
            fine.append(plan.admit(team))
        except UsageError as error:
            problems.append(f"line {team.line}: {error}" if team.line else f"{team.name}: {error}")
    if problems:
        raise BadLines(problems)
    return plan.enrol(session, clock, fine, actor)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A team that can be made."""

    team: NewTeam
    name: str
    slug: str
    groups: tuple[Group, ...]


class Enrolment:
    """What teams of a tournament there are, and which may come to it."""

    def __init__(self, session: Session, competition: Competition) -> None:
        """Look at who is there."""
        self.competition = competition
        self.groups = groups_of(session, competition.id)
        of_this = Team.competition_id == competition.id
        rows = session.execute(select(Team.slug, Team.name_key).where(of_this)).all()
        self.slugs = {slug for slug, _ in rows} | TEAM_WORDS
        self.keys = {key for _, key in rows}
        self.sizes = Counter(sizes_of(session, competition.id))
        self.most = most_entries(competition)

    def admit(self, team: NewTeam) -> Admitted:
        """Take a team in; raise UsageError, in a few words, for one that cannot be."""
        name = clean_name(team.name, LONGEST_TEAM)
        if name_key(name) in self.keys:
            raise UsageError(NAME_TAKEN)
        groups = self.groups if team.out_of_competition else [self.group_of(team)]
        check_bot(self.competition.game, team.bot)
        check_machine(team.machine)
        team = replace(team, ssh_key=team_bots.read_ssh_key(team.ssh_key))
        for group in groups:
            if self.sizes[group.id] >= self.most:
                raise UsageError(f"{group.name} is full: it holds at most {self.most} teams")
        if len(self.keys) >= MOST_TEAMS:
            raise UsageError(f"a tournament has at most {MOST_TEAMS} teams")
        slug = slug_for(name, team.slug, self.slugs, "team")
        self.slugs.add(slug)
        self.keys.add(name_key(name))
        self.sizes.update(group.id for group in groups)
        return Admitted(team, name, slug, tuple(groups))

    def group_of(self, team: NewTeam) -> Group:
        """Return the group of a team: the one that it names, else the only one."""
        if team.group:
            return named_group(self.groups, team.group)
        open_ones = [group for group in self.groups if group.kind != "final"]
        if len(open_ones) != 1:
            raise UsageError("its sandbox is missing: NAME, SANDBOX")
        return open_ones[0]

    def enrol(
        self, session: Session, clock: Clock, admitted: Sequence[Admitted], actor: str
    ) -> list[int]:
        """Make the rows of teams that were admitted; return their ids."""
        rows = [self.team_row(one) for one in admitted]
        session.add_all(rows)
        session.flush()
        for row, one in zip(rows, admitted, strict=True):
            for group in one.groups:
                session.add(Entry(group_id=group.id, team_id=row.id, joined_at=clock()))
            bot = new_bot(clock, self.competition.game, row)
            session.add(bot)
            if one.team.bot:
                give_bot(clock, bot, one.team.bot)
        changed(self.competition, *{group for one in admitted for group in one.groups})
        what = f"competition:{FORMAT}/{self.competition.slug}"
        detail = {"teams": [row.slug for row in rows]}
        of = self.competition.id
        audit.note(session, clock, actor, "add teams", what, detail=detail, competition_id=of)
        session.flush()
        return [row.id for row in rows]

    def team_row(self, one: Admitted) -> Team:
        """Return the row of a new team."""
        return Team(
            competition_id=self.competition.id,
            slug=one.slug,
            name=one.name,
            name_key=name_key(one.name),
            out_of_competition=one.team.out_of_competition,
            machine=one.team.machine or None,
            ssh_key=one.team.ssh_key or None,
        )


def sizes_of(session: Session, competition: int) -> dict[int, int]:
    """Return how many entries the groups of a tournament have, those withdrawn not counted."""
    counted = (
        select(Entry.group_id, func.count())
        .join(Group, Group.id == Entry.group_id)
        .where(Group.competition_id == competition, Entry.status == "playing")
        .group_by(Entry.group_id)
    )
    return dict(session.execute(counted).all())


def most_entries(competition: Competition) -> int:
    """Return how many entries a group holds."""
    if settings_of(competition.game, competition.settings).plan == "pairs":
        return MOST_OF_PAIRS
    return min(load_game(competition.game).rules.seats[-1], MOST_TEAMS)


def check_room(session: Session, competition: Competition) -> None:
    """Raise UsageError where a group has come to hold more entries than can play in it."""
    session.flush()
    sizes, most = sizes_of(session, competition.id), most_entries(competition)
    for group in groups_of(session, competition.id):
        if sizes.get(group.id, 0) > most:
            raise UsageError(f"{group.name} is full: it holds at most {most} teams")


def named_group(groups: Iterable[Group], name: str) -> Group:
    """Return the group of a name, or of a slug; raise UsageError where there is none."""
    key = name_key(name.strip())
    found = [one for one in groups if key in (name_key(one.name), one.slug)]
    if not found:
        raise UsageError(f"no sandbox named {short_name(name)}")
    return found[0]


def short_name(name: str) -> str:
    """Return a name that somebody sent for a sentence."""
    return name if len(name) <= LONGEST_TEAM and name.isprintable() else short(name)


def new_bot(clock: Clock, game: str, team: Team) -> Bot:
    """Return the row of a team's bot, which is not set up yet."""
    return Bot(
        bot_id=f"b_{secrets.token_hex(4)}",
        game=game,
        team_id=team.id,
        name=team.slug,
        name_key=team.slug,
        kind=ladder_of(game).kinds[0],
        endpoint="",
        secret_version=0,
        status="PENDING",
        created_at=clock(),
    )


BUILTIN: Final = "builtin:"


def check_bot(game: str, bot: str) -> None:
    """Raise UsageError unless a host may give a bot to a team: an address, or `builtin:NAME`."""
    if not bot:
        return
    if bot.startswith(BUILTIN):
        load_strategy(game, bot.removeprefix(BUILTIN))
        return
    if "url" not in ladder_of(game).kinds:
        raise UsageError(f"bots of {game} are programs, which teams upload, or {BUILTIN}NAME")
    team_bots.read_url(bot)


def give_bot(clock: Clock, bot: Bot, spec: str) -> None:
    """Let a bot be what `check_bot` has passed.

    Built-in ones are ACTIVE at once, the others are checked by the next sweep.
    """
    is_builtin = spec.startswith(BUILTIN)
    bot.kind = "builtin" if is_builtin else "url"
    bot.endpoint = spec.removeprefix(BUILTIN) if is_builtin else team_bots.read_url(spec)
    bot.status = "ACTIVE" if is_builtin else "PENDING"
    bot.reason, bot.failures, bot.protocol_ok = "", 0, False
    bot.checks, bot.checked_at = [], None
    bot.check_due_at = None if is_builtin else clock()


def check_machine(machine: str) -> None:
    """Raise UsageError for what cannot be the address of a team's machine."""
    if len(machine) > LONGEST_MACHINE or not machine.isprintable() or " " in machine:
        raise UsageError(f"a machine is an address of at most {LONGEST_MACHINE} characters")


# Events


def add_event(  # noqa: PLR0913 - as many things as there are to be said
    session: Session,
    clock: Clock,
    competition: int,
    event: NewEvent,
    actor: str = OPERATOR,
    *,
    is_late: bool = False,
) -> int:
    """Plan an event; return its id. It is applied when it is due, by ladder.py.

    Twice: two events. Raises UsageError for one in the past, unless it may be late, and for
    boards that cannot be played on.
    """
    row = held(session, competition)
    if event.at < clock() and not is_late:
        raise UsageError(PAST)
    title = event.title.strip()
    if not title:
        raise UsageError(NO_TITLE)
    title = clean_name(title, LONGEST_EVENT_TITLE)
    if len(event.text) > LONGEST_EVENT_TEXT:
        raise UsageError(f"longer than {LONGEST_EVENT_TEXT} characters")
    if "\0" in event.text:
        raise UsageError("the text holds signs that cannot be seen")
    groups = groups_of(session, competition)
    group = named_group(groups, event.group) if event.group else None
    if event.kind == "final" and all(one.kind != "final" for one in groups):
        raise UsageError("there is no final sandbox: add one first")
    planned = session.scalar(select(func.count()).where(Event.competition_id == competition)) or 0
    if planned >= MOST_EVENTS:
        raise UsageError(f"a tournament has at most {MOST_EVENTS} events")
    made = Event(
        competition_id=competition,
        group_id=None if group is None else group.id,
        at=event.at,
        kind=event.kind,
        title=title,
        text=event.text.strip(),
        data=event_data(row, event),
        announced=event.announced,
    )
    session.add(made)
    session.flush()
    if event.kind == "end":
        tournament_cards.renew_ends(session, clock, competition)
    changed(row, *groups)
    detail = {"kind": made.kind, "at": made.at.isoformat(), "title": title}
    what = f"event:{row.slug}/{made.id}"
    audit.note(session, clock, actor, "add event", what, detail=detail, competition_id=row.id)
    return made.id


def event_data(competition: Competition, event: NewEvent) -> dict[str, Any]:
    """Return what an event says beside its texts: the boards that it brings."""
    if not event.boards:
        if event.kind == "boards":
            raise UsageError("Please enter a board")
        return {}
    if event.kind not in ("boards", "final"):
        raise UsageError(f"an event {event.kind} brings no boards")
    boards = read_boards(competition.game, event.boards)
    listed = [{"name": one.name, "options": one.options, "factor": one.factor} for one in boards]
    return {"boards": listed, "mode": event.mode}


def remove_event(
    session: Session, clock: Clock, competition: int, event: int, actor: str = OPERATOR
) -> None:
    """Call an event off that was not applied yet. Twice, or late: UsageError."""
    row = held(session, competition)
    waiting = (Event.id == event, Event.competition_id == competition, Event.applied_at.is_(None))
    gone = delete(Event).where(*waiting).returning(Event.title)
    title = session.scalar(gone)
    if title is None:
        raise UsageError("this event is not planned any more")
    tournament_cards.renew_ends(session, clock, competition)
    changed(row, *groups_of(session, competition))
    what, detail = f"event:{row.slug}/{event}", {"title": title}
    audit.note(session, clock, actor, "remove event", what, detail=detail, competition_id=row.id)
