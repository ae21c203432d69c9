"""Enrolment of teams in a tournament: admission, and the rows of a new team."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.groups import (
    MOST_TEAMS,
    full,
    group_sizes,
    groups_of,
    mark_changed,
    most_entries,
    named_group,
)
from cw_hub.competitions.tournament.names import (
    LONGEST_TEAM,
    TEAM_WORDS,
    clean_name,
    name_key,
    slug_for,
)
from cw_hub.competitions.tournament.settings import FORMAT, defaults_of
from cw_hub.competitions.tournament.teams.assigned_bots import assign_bot, check_bot
from cw_hub.competitions.tournament.teams.machines import check_machine, read_ssh_key
from cw_hub.competitions.verbs import OPERATOR
from cw_hub.store.tables import Bot, Competition, Entry, Group, Team

NAME_TAKEN: Final = "this name is taken"


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team to add."""

    name: str
    group: str = ""
    """The name of its group; "": the only one."""
    bot: str = ""
    """An address, or `builtin:NAME`; "": none yet."""
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
        """Take one problem sentence per team."""
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{more}")
        self.problems = tuple(problems)


def add_teams(
    session: Session,
    clock: Clock,
    competition: int,
    teams: Sequence[NewTeam],
    actor: str = OPERATOR,
) -> list[int]:
    """Add teams, each with its entries and a bot yet to be set up; return their ids.

    All or none: raises BadLines with a sentence for each invalid team.
    """
    enrolment = Enrolment(session, competitions.lock(session, competition))
    problems, admitted = [], []
    for team in teams:
        try:
            admitted.append(enrolment.admit(team))
        except UsageError as error:
            problems.append(f"line {team.line}: {error}" if team.line else f"{team.name}: {error}")
    if problems:
        raise BadLines(problems)
    return enrolment.enrol(session, clock, admitted, actor)


@dataclass(frozen=True, slots=True)
class AdmittedTeam:
    """A validated team."""

    team: NewTeam
    name: str
    slug: str
    groups: tuple[Group, ...]


class Enrolment:
    """The names and places in use in a tournament; admits further teams."""

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
        """Reserve name and places for a team; raise a short UsageError if that is impossible."""
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

    def enrol(
        self, session: Session, clock: Clock, admitted: Sequence[AdmittedTeam], actor: str
    ) -> list[int]:
        """Add the rows of admitted teams; return their ids."""
        competition = self.competition
        rows = [self.team_row(team) for team in admitted]
        session.add_all(rows)
        session.flush()
        for row, team in zip(rows, admitted, strict=True):
            for group in team.groups:
                session.add(Entry(group_id=group.id, team_id=row.id, joined_at=clock()))
            bot = bot_row(clock, competition.game, row)
            session.add(bot)
            if team.team.bot:
                assign_bot(clock, bot, team.team.bot)
        mark_changed(competition, *{group for team in admitted for group in team.groups})
        subject = f"competition:{FORMAT}/{competition.slug}"
        slugs = {"teams": [row.slug for row in rows]}
        audit.note(
            session,
            clock,
            actor,
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
