"""A new tournament: its file, its teams, the token of its host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cw.documents.toml import read_toml
from cw.errors import UsageError
from cw_hub.cli.tournament.acting import counted
from cw_hub.cli.tournament.cards import address_of, documents_of, refuse_existing, write_cards
from cw_hub.cli.user import opened, tell
from cw_hub.clock import utc_now
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.dates import Dates
from cw_hub.competitions.tournament.config import (
    LARGEST_FILE,
    read_config,
    team_lines,
    with_teams,
)
from cw_hub.competitions.tournament.creation import TournamentConfig, create
from cw_hub.competitions.tournament.events import schedule
from cw_hub.competitions.tournament.format import typed
from cw_hub.competitions.tournament.groups import NewGroup
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.tournament.teams import cards as tournament_cards
from cw_hub.competitions.tournament.teams.cards import Card, printed
from cw_hub.competitions.tournament.teams.enrolment import NewTeam
from cw_hub.competitions.verbs import OPERATOR
from cw_hub.operation.settings import HubSettings


@dataclass(frozen=True, slots=True)
class NewTournament:
    """The options of `new`."""

    slug: str
    game: str
    title: str
    description: str
    """"": as the file says."""
    config: Path | None
    teams: Path | None
    cards: Path | None
    dates: Dates
    settings: Mapping[str, Any]
    """Settings as in a file: those of the tournament that this one copies."""
    groups: Sequence[str]


def make(settings: HubSettings, options: NewTournament, *, as_json: bool) -> None:
    """Create a tournament, and print the token of its host."""
    config = config_of(options)
    if options.cards is not None:
        refuse_existing(options.cards)
    with opened(settings) as database, database.writing() as session:
        new = create(session, utc_now, config)
        if options.dates != Dates():
            facts = competitions.named(session, f"{FORMAT}/{new.slug}")
            schedule(session, utc_now, facts, options.dates, OPERATOR)
        token = printed(tournament_cards.issue_to_host(session, utc_now, new.id))
        cards: list[Card] = []
        if new.teams and (options.cards is not None or as_json):
            cards = tournament_cards.issue(session, utc_now, new.id, new.teams)
        if options.cards is not None:
            write_cards(settings, options.cards, new.slug, new.title, cards)
    name, address = f"{FORMAT}/{new.slug}", address_of(settings, new.slug)
    lines = [f"created {name} with {counted(len(new.teams), 'team')}"]
    lines += [f"Its page: {address}", f"Token of the host: {token}"]
    if options.cards is not None:
        lines.append(f"Cards to print: {options.cards}")
    late = sum(event.at < utc_now() for event in config.events)
    if late:
        lines.append(f"{counted(late, 'event')} in the past: they take effect at once")
    document = {"competition": name, "address": address, "host_token": token}
    tell({**document, "cards": documents_of(cards)}, "\n".join(lines), as_json=as_json)


def config_of(options: NewTournament) -> TournamentConfig:
    """Return the configuration of a tournament: from its file, list of teams and options."""
    table = {} if options.config is None else read_toml(options.config, LARGEST_FILE)
    try:
        config = read_config(table, options.slug, options.game)
    except UsageError as error:
        raise UsageError(f"{options.config}: {error}" if options.config else str(error)) from None
    if options.settings:
        config = replace(config, settings={**typed(options.settings), **config.settings})
    if options.groups and not config.groups:
        config = replace(config, groups=[NewGroup(name) for name in options.groups])
    if options.title:
        config = replace(config, title=options.title)
    if options.description:
        config = replace(config, description=options.description)
    return with_teams(config, [] if options.teams is None else lines_of(options.teams))


def lines_of(file: Path) -> Sequence[NewTeam]:
    """Return the teams in the file of a list."""
    return list(team_lines(read_text(file)))


def read_text(file: Path | None) -> str:
    """Return the text of a file, or "" without one; raise UsageError if it is not UTF-8."""
    try:
        return "" if file is None else read_bounded(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{file}: not UTF-8 text") from None


def read_bounded(file: Path) -> bytes:
    """Return the bytes of a file of the host; raise UsageError if it is too large."""
    try:
        with file.open("rb") as source:
            data = source.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{file}: larger than {LARGEST_FILE} bytes")
    return data
