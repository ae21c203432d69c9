"""Creates team tournaments from their configuration: groups, teams and events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from cw import documents
from cw.errors import UsageError, short
from cw.league.ladder import EventKind, Mode
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.events import NewEvent, add_event
from cw_hub.competitions.tournament.groups import NewGroup, add_group
from cw_hub.competitions.tournament.settings import FORMAT, name_key, settings_of
from cw_hub.competitions.tournament.teams import NewTeam, add_teams
from cw_hub.pages.forms import is_slug
from cw_hub.store.database import Session
from cw_hub.store.models import GroupKind

MAIN: Final = "MAIN"
"""The group that a tournament gets if its configuration defines none."""


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """The full specification of a new tournament."""

    slug: str
    game: str
    title: str = ""
    """"": the slug."""
    seed: int | None = None
    """None: generate one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    groups: Sequence[NewGroup] = ()
    teams: Sequence[NewTeam] = ()
    events: Sequence[NewEvent] = ()
    description: str = ""
    """Markdown."""


@dataclass(frozen=True, slots=True)
class NewTournament:
    """A newly created tournament."""

    id: int
    slug: str
    title: str
    teams: tuple[int, ...]
    """The ids of its teams, in configuration order."""


def create(session: Session, config: TournamentConfig) -> NewTournament:
    """Create a tournament with its groups, teams and events; it is a `draft` until it starts.

    Past events are applied immediately. Raises UsageError if the configuration is invalid, and
    CompetitionTaken if there is already a tournament with this slug.
    """
    if not is_slug(config.slug):
        raise UsageError(
            f"{short(config.slug)} is not a valid slug: use 1 to 32 lower-case letters, digits "
            "and hyphens"
        )
    settings_of(config.game, config.settings)
    row = competitions_service.new(
        session,
        FORMAT,
        config.game,
        slug=config.slug,
        title=config.title or config.slug,
        settings=config.settings,
        seed=config.seed,
        description=config.description,
    )
    for group in config.groups or (NewGroup(MAIN),):
        add_group(session, row.id, group)
    teams = add_teams(session, row.id, config.teams) if config.teams else []
    for event in config.events:
        add_event(session, row.id, event, is_late=True)
    return NewTournament(row.id, row.slug, row.title, tuple(teams))


LARGEST_FILE: Final = 1024 * 1024
"""Maximum size of a file, in bytes."""

LONGEST_LINE: Final = 1000
"""Maximum length of a line in a list of teams, in characters; the rest is cut off."""


class GroupTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `[[groups]]`."""

    name: str
    kind: GroupKind | None = None
    slug: str = ""


class TeamTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `[[teams]]`."""

    name: str
    group: str = ""
    bot: str = ""
    out_of_competition: bool = False
    machine: str = ""
    ssh_key: str = ""
    slug: str = ""


class EventTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `[[events]]`."""

    kind: EventKind
    at: datetime
    title: str
    text: str = ""
    group: str = ""
    boards: list[dict[str, Any]] = msgspec.field(default_factory=list)
    mode: Mode = "add"
    announced: bool = False


class TournamentTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole configuration file."""

    game: str = ""
    title: str = ""
    description: str = ""
    seed: int | None = None
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    groups: list[GroupTable] = msgspec.field(default_factory=list)
    teams: list[TeamTable] = msgspec.field(default_factory=list)
    events: list[EventTable] = msgspec.field(default_factory=list)


def read_config(document: Mapping[str, Any], slug: str, game: str = "") -> TournamentConfig:
    """Return the configuration of a tournament; raise a one-sentence UsageError if it is invalid.

    Times without a zone are UTC.
    """
    try:
        table = documents.convert(document, TournamentTable)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"this is not a tournament: {error}") from None
    if game and table.game and game != table.game:
        raise UsageError(f"the file is for {short(table.game)}, not for {game}")
    if not game and not table.game:
        raise UsageError("which game? say --game, or game in the file")
    if table.seed is not None and not 0 <= table.seed < 2**53:
        raise UsageError(f"seed must be a whole number from 0 to {2**53 - 1}")
    return TournamentConfig(
        slug,
        game or table.game,
        table.title,
        table.seed,
        table.settings,
        [NewGroup(group.name, group.kind, group.slug) for group in table.groups],
        [NewTeam(**msgspec.structs.asdict(team)) for team in table.teams],
        [new_event(event) for event in table.events],
        table.description,
    )


def read_event(document: Mapping[str, Any]) -> NewEvent:
    """Return an event to plan; raise a one-sentence UsageError if it is invalid."""
    try:
        return new_event(documents.convert(document, EventTable))
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"this is not an event: {error}") from None


def new_event(table: EventTable) -> NewEvent:
    """Return an event to plan."""
    event = NewEvent(**msgspec.structs.asdict(table))
    return event if event.at.tzinfo else replace(event, at=event.at.replace(tzinfo=UTC))


def team_lines(text: str) -> Iterator[NewTeam]:
    """Yield the teams of a list with one team per line: `NAME` or `NAME, SANDBOX`."""
    for number, line in enumerate(re.split("\r\n|\n|\r", text.removeprefix("\ufeff")), 1):
        if not line.strip():
            continue
        name, comma, group = line[:LONGEST_LINE].rpartition(",")
        if comma:
            yield NewTeam(name.strip(), group.strip(), line=number)
        else:
            yield NewTeam(line[:LONGEST_LINE].strip(), line=number)


def with_teams(config: TournamentConfig, listed: Sequence[NewTeam]) -> TournamentConfig:
    """Return a configuration extended by listed teams, and by their groups if it has none."""
    teams = [*config.teams, *listed]
    if config.groups:
        return replace(config, teams=teams)
    names: dict[str, str] = {}
    for team in teams:
        if team.group:
            names.setdefault(name_key(team.group), team.group)
    return replace(config, groups=[NewGroup(name) for name in names.values()], teams=teams)
