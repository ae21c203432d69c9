"""`cw hub competition`: competitions, for the operator."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click
from sqlalchemy.orm import Session

from cw.cli.groups import HelpfulGroup
from cw.errors import UsageError
from cw_hub.cli import daily, tournament
from cw_hub.cli.competition.acting import do
from cw_hub.cli.competition.creation import new
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import FILE
from cw_hub.cli.tournament.creation import read_text
from cw_hub.cli.user import opened, tell
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.dates import Dates, dates_of, field_text, read_dates
from cw_hub.competitions.format import Format, format_named
from cw_hub.competitions.verbs import OPERATOR, CompetitionFacts
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import FORMATS
from cw_hub.store.tables import CompetitionState

NONE: Final = "none"
"""The value for no date."""


@click.group(cls=HelpfulGroup)
def competition() -> None:
    """Create, configure, pause and resume competitions.

    NAME is the name of a game, such as end-of-codes, or FORMAT/NAME where several have it.
    Each change is recorded in the audit log. The site may keep running.
    """


def format_of(facts: CompetitionFacts) -> Format:
    """Return the format of a competition; raise UsageError if this site does not have it."""
    format_ = format_named(FORMATS, facts.format)
    if format_ is None:
        raise UsageError(f"this program does not support the format {facts.format!r}")
    return format_


@competition.command("list")
@with_settings
@as_json
def list_command(settings: HubSettings, *, as_json: bool) -> None:
    """Print all competitions, one per line."""
    with opened(settings) as database, database.reading() as session:
        rows = competitions.everything(session)
    for one in rows:
        tell(asdict(one), f"{one.format}/{one.slug}  {one.state}  {one.title}", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def show(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print the details of a competition."""
    with opened(settings) as database, database.reading() as session:
        document = asdict(competitions.named(session, name))
    tell(document, "\n".join(f"{key}: {value}" for key, value in document.items()), as_json=as_json)


@competition.command()
@click.argument("name")
@click.option("--title", help="Title of the competition on pages.")
@click.option("--description", type=FILE, help="Markdown file with the description for its page.")
@with_settings
@as_json
def describe(
    settings: HubSettings, name: str, title: str | None, description: Path | None, *, as_json: bool
) -> None:
    """Change title and description; an empty file removes the description."""
    if title is None and description is None:
        raise UsageError("give --title, --description or both")
    words = None if description is None else read_text(description)

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> None:
        competitions.describe(session, clock, of.id, title=title, description=words)

    do(settings, name, act)
    tell({"competition": name}, f"updated {name}", as_json=as_json)


@competition.command("dates")
@click.argument("name")
@click.option("--starts", help="When it begins, such as 2027-01-31T18:00, or none.")
@click.option("--ends", help="When it ends, in the same form, or none.")
@click.option("--zone", help="Time zone of both, such as Europe/Athens.  [default: the one it has]")
@with_settings
@as_json
def dates_command(
    settings: HubSettings,
    name: str,
    starts: str | None,
    ends: str | None,
    zone: str | None,
    *,
    as_json: bool,
) -> None:
    """Set or print the times at which a competition begins and ends.

    A draft begins once it is announced: cw hub competition announce NAME
    """

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> Dates:
        before, own_zone = dates_of(session, of.id), zone or of.zone
        start, end = (
            field_text(at, own_zone) if text is None else "" if text == NONE else text
            for text, at in ((starts, before.starts), (ends, before.ends))
        )
        if starts is not None or ends is not None or zone is not None:
            dates = read_dates(start, end, own_zone)
            format_of(of).schedule(session, clock, of, dates, OPERATOR)
        return dates_of(session, of.id)

    dates = do(settings, name, act)
    moments = {"starts": dates.starts, "ends": dates.ends}
    words = (f"{what} {at:%Y-%m-%d %H:%M} UTC" for what, at in moments.items() if at is not None)
    text = f"{name} {' and '.join(words) or 'has no start and no end'}"
    tell({"competition": name, **moments}, text, as_json=as_json)


def change_state(
    settings: HubSettings, name: str, state: CompetitionState, *, as_json: bool
) -> None:
    """Set the state of a competition."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> None:
        format_of(of).steer(session, clock, of, state, OPERATOR)

    do(settings, name, act)
    tell({"competition": name, "state": state}, f"{name} is {state}", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def resume(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Start or resume a competition; anything due meanwhile is skipped."""
    change_state(settings, name, "running", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def announce(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Publish a draft; it begins at its start time."""
    change_state(settings, name, "planned", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def pause(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Pause a competition; planned matches are still played."""
    change_state(settings, name, "paused", as_json=as_json)


@competition.command("set")
@click.argument("name")
@click.argument("values", nargs=-1, required=True, metavar="NAME=VALUE...")
@with_settings
@as_json
def set_command(
    settings: HubSettings, name: str, values: tuple[str, ...], *, as_json: bool
) -> None:
    """Change settings of a competition.

    A daily one has time (18:00), zone (UTC) and options, a JSON object with options of the game:
    cw hub competition set end-of-codes zone=Europe/Athens options='{"M": 15}'
    A rated one has formats (2,4), options, rest (seconds), warm_up, matches, same_owner and
    house_plays.
    A tournament has parallel, per_bot, round_every and more: see hub/docs/tournaments.md.
    A cup has contest (round-robin), bots (Ada,Bob,Cid), options, groups, players and rounds.
    """
    changes = dict(read_value(text) for text in values)

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> None:
        format_of(of).change(session, clock, of, changes, OPERATOR)

    do(settings, name, act)
    words = ", ".join(f"{key} is {json.dumps(value)}" for key, value in changes.items())
    tell({"competition": name, "settings": changes}, words, as_json=as_json)


def read_value(text: str) -> tuple[str, Any]:
    """Read a setting `NAME=VALUE`; a value that begins with a brace is JSON."""
    name, equals, value = text.partition("=")
    if not equals or name == competitions.SINCE:
        raise UsageError(f"{text!r} is not a setting (try time=18:00)")
    if not value.startswith("{"):
        return name, value
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from None


for command in (new, *daily.COMMANDS, *tournament.COMMANDS):
    competition.add_command(command)
