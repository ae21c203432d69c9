"""What a host has written of a tournament: a table as in `duel.toml`, and lists of teams."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from cw.errors import UsageError, short
from cw.hub.services.team_names import name_key
from cw.hub.services.tournaments import (
    EventKind,
    Mode,
    NewEvent,
    NewGroup,
    NewTeam,
    TournamentConfig,
)
from cw.hub.store.tables import GroupKind

LARGEST: Final = 1_000_000
"""Bytes of such a file."""

LONGEST_LINE: Final = 1000


class SaidGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `[[groups]]`."""

    name: str
    kind: GroupKind | None = None
    slug: str = ""


class SaidTeam(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `[[teams]]`."""

    name: str
    group: str = ""
    bot: str = ""
    out_of_competition: bool = False
    machine: str = ""
    ssh_key: str = ""
    slug: str = ""


class SaidEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `[[events]]`."""

    kind: EventKind
    at: datetime
    title: str
    text: str = ""
    group: str = ""
    boards: list[dict[str, Any]] = msgspec.field(default_factory=list)
    mode: Mode = "add"
    announced: bool = False


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    game: str = ""
    title: str = ""
    seed: int | None = None
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    groups: list[SaidGroup] = msgspec.field(default_factory=list)
    teams: list[SaidTeam] = msgspec.field(default_factory=list)
    events: list[SaidEvent] = msgspec.field(default_factory=list)


def read_table(data: bytes, name: object) -> dict[str, Any]:
    """Return what a TOML file holds; raise UsageError for one that is none."""
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def read_config(said: Mapping[str, Any], slug: str, game: str = "") -> TournamentConfig:
    """Return what a tournament is made from; raise UsageError, in one sentence, for a wrong table.

    Times without a zone are UTC.
    """
    try:
        read = msgspec.convert(said, Said)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"this is no tournament: {error}") from None
    if game and read.game and game != read.game:
        raise UsageError(f"the file is for {short(read.game)}, not for {game}")
    if not game and not read.game:
        raise UsageError("which game? say --game, or game in the file")
    if read.seed is not None and not 0 <= read.seed < 2**53:
        raise UsageError(f"seed must be a whole number from 0 to {2**53 - 1}")
    return TournamentConfig(
        slug,
        game or read.game,
        read.title,
        read.seed,
        read.settings,
        [NewGroup(one.name, one.kind, one.slug) for one in read.groups],
        [new_team(one) for one in read.teams],
        [new_event(one) for one in read.events],
    )


def new_team(one: SaidTeam) -> NewTeam:
    """Return a team of a file."""
    return NewTeam(
        one.name,
        one.group,
        one.bot,
        one.out_of_competition,
        one.machine,
        one.ssh_key,
        one.slug,
    )


def read_event(said: Mapping[str, Any]) -> NewEvent:
    """Return an event to be planned; raise UsageError, in one sentence, for a wrong one."""
    try:
        return new_event(msgspec.convert(said, SaidEvent))
    except (msgspec.ValidationError, RecursionError) as error:
        raise UsageError(f"this is no event: {error}") from None


def new_event(one: SaidEvent) -> NewEvent:
    """Return an event of a file."""
    at = one.at if one.at.tzinfo else one.at.replace(tzinfo=UTC)
    texts = (one.title, one.text, one.group)
    return NewEvent(one.kind, at, *texts, one.boards, one.mode, announced=one.announced)


def team_lines(text: str) -> Iterator[NewTeam]:
    """Give the teams of a list, a line each: `NAME` or `NAME, SANDBOX`; others are empty."""
    for number, line in enumerate(re.split("\r\n|\n|\r", text.removeprefix("\ufeff")), 1):
        if not line.strip():
            continue
        name, comma, group = line[:LONGEST_LINE].rpartition(",")
        if comma:
            yield NewTeam(name.strip(), group.strip(), line=number)
        else:
            yield NewTeam(line[:LONGEST_LINE].strip(), line=number)


def with_teams(config: TournamentConfig, listed: Sequence[NewTeam]) -> TournamentConfig:
    """Return what a tournament is made from, with the teams of a list.

    Where the file names no sandbox, those of the list are made.
    """
    if config.groups:
        return replace(config, teams=[*config.teams, *listed])
    names: dict[str, str] = {}
    for team in (*config.teams, *listed):
        if team.group:
            names.setdefault(name_key(team.group), team.group)
    groups = [NewGroup(name) for name in names.values()]
    return replace(config, groups=groups, teams=[*config.teams, *listed])
