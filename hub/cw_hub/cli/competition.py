"""`cw hub competition`: manages competitions of every format."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import click

from cw.cli.groups import HelpfulGroup
from cw.errors import UsageError, choices
from cw.games.registry import load_game
from cw_hub.cli import daily, tournament
from cw_hub.cli.options import as_json, opened, tell, with_settings
from cw_hub.cli.site import NAME, Answer, reading, writing
from cw_hub.cli.tournament import FILE, NEW_FILE, Files, read_text
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import Format, NewCompetition, format_named
from cw_hub.competitions.forms import read_all
from cw_hub.competitions.service import (
    CompetitionFacts,
    Dates,
    dates_of,
    field_text,
    read_dates,
)
from cw_hub.operation.settings import HubSettings
from cw_hub.pages.forms import is_slug
from cw_hub.site.formats import FORMATS
from cw_hub.store.database import OPERATOR, Session
from cw_hub.store.models import CompetitionState

NO_SLUG: Final = "SLUG must be 1 to 32 lower-case letters, digits and hyphens, not {!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOptions:
    """The options for a new competition; "": the default, or the value that `like` has."""

    format: str
    game: str
    slug: str
    title: str
    description: Path | None
    like: str
    starts: str
    ends: str
    zone: str


@click.command()
@click.argument("name", metavar="[SLUG]", default="")
@click.argument("of_game", metavar="[GAME]", default="")
@click.option("--game", default="", help="Game that the competition plays.")
@click.option(
    "--format",
    default="",
    help="Format of the competition: daily, rated, tournament or cup.",
)
@click.option(
    "--like",
    default="",
    metavar="NAME",
    help="Copy game, settings and texts from another competition.",
)
@click.option("--title", default="", help="Title on pages; default: game and format.")
@click.option("--description", type=FILE, help="Markdown file with the description for its page.")
@click.option("--starts", default="", help="When it begins, such as 2027-01-31T18:00.")
@click.option("--ends", default="", help="When it ends, in the same form.")
@click.option("--zone", default="", help="Time zone of both, such as Europe/Athens; default: UTC.")
@click.option("--config", "file", type=FILE, help="File that describes a tournament.")
@click.option(
    "--teams",
    type=FILE,
    help="For a tournament: file of teams, one per line: NAME or NAME, SANDBOX.",
)
@click.option(
    "--cards", type=NEW_FILE, help="For a tournament: output file for the cards to print."
)
@with_settings
@as_json
def new(
    settings: HubSettings,
    name: str,
    of_game: str,
    file: Path | None,
    teams: Path | None,
    cards: Path | None,
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Create a competition: a tournament of teams, or FORMAT GAME, such as `daily paint`.

    \b
      new duel --game hexagon --format tournament \\
          --teams names.txt --cards cards.html
      new daily paint          then: resume paint
      new --format rated --game hexagon
      new spring --format cup --game paint --starts 2027-03-01T18:00 \\
          --zone Europe/Athens   then: announce spring
      new summer --like cup/spring

    SLUG is by default the name of the game. A competition with --starts begins at that time once it
    is announced; any other begins when you resume it.

    For a tournament, prints the token of its host once, and with --json those of the cards.
    """
    wanted = NewOptions(slug="" if of_game else name, **options)
    if of_game:
        slug = of_game if name in tournament.MAKERS else ""
        wanted = replace(wanted, format=name, game=of_game, slug=slug)
    with opened(settings) as database, database.reading() as session:
        planned = plan(session, wanted)
    if make := tournament.MAKERS.get(planned.format.name):
        make(settings, planned.new, planned.dates, Files(file, teams, cards), as_json=as_json)
        return
    if file or teams or cards:
        raise UsageError("--config, --teams and --cards are for --format tournament")
    with opened(settings) as database, database.writing(OPERATOR) as session:
        facts = planned.create(session)
    name = f"{facts.format}/{facts.slug}"
    does, verb = ("announce", "announce") if wanted.starts else ("start", "resume")
    words = f"created {name}; {does} it with: cw hub competition"
    tell({"competition": name}, f"{words} {verb} {name}", as_json=as_json)


@dataclass(frozen=True, slots=True)
class Plan:
    """A competition ready to be created, with its dates."""

    format: Format
    new: NewCompetition
    dates: Dates

    def create(self, session: Session) -> CompetitionFacts:
        """Create the competition as the web form does; raise UsageError if it is invalid."""
        facts = self.format.create(session, self.new)
        self.format.schedule(session, facts, self.dates)
        return facts


def plan(session: Session, wanted: NewOptions) -> Plan:
    """Complete the options for a new competition; raise UsageError if they are invalid."""
    new_one = NewCompetition(
        wanted.game, wanted.title, wanted.slug, {}, read_text(wanted.description)
    )
    if wanted.like:
        format_, new_one, zone = like_another(session, wanted, new_one)
    else:
        format_, zone = format_called(wanted.format), wanted.zone or "UTC"
    if format_.name in tournament.MAKERS:
        # Its file may define the slug and the game.
        return Plan(format_, new_one, read_dates(wanted.starts, wanted.ends, zone))
    load_game(new_one.game)
    slug = new_one.slug or new_one.game
    if not is_slug(slug):
        raise UsageError(NO_SLUG.format(slug))
    dates = read_dates(wanted.starts, wanted.ends, zone)
    return Plan(format_, replace(new_one, slug=slug), dates)


def format_called(name: str) -> Format:
    """Return a format by its name; raise UsageError if there is none."""
    format_ = format_named(FORMATS, name)
    if format_ is None:
        raise UsageError(f"there is no format {name!r}; {choices(name, [f.name for f in FORMATS])}")
    return format_


def like_another(
    session: Session, wanted: NewOptions, new_one: NewCompetition
) -> tuple[Format, NewCompetition, str]:
    """Return the format, game, settings, description and time zone of another competition.

    Options of the command take precedence. Raises UsageError if there is no such competition, or if
    its format or game differs from the options, because its settings would then be useless.
    """
    model = competitions_service.named(session, wanted.like)
    format_ = format_called(model.format)
    for what, asked, its in (
        ("format", wanted.format, model.format),
        ("game", wanted.game, model.game),
    ):
        if asked not in ("", its):
            raise UsageError(f"{wanted.like} has the {what} {its}, not {asked}")
    values = read_all(format_.fields, format_.texts(session, model))
    description = new_one.description or model.description
    like = replace(new_one, game=model.game, settings=values, description=description)
    return format_, like, wanted.zone or model.zone


NONE: Final = "none"
"""The option value that means no date."""


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
@reading
def list_command(session: Session) -> list[Answer]:
    """Print all competitions, one per line."""
    return [
        (asdict(one), f"{one.format}/{one.slug}  {one.state}  {one.title}")
        for one in competitions_service.everything(session)
    ]


@competition.command()
@NAME
@reading
def show(session: Session, name: str) -> Answer:
    """Print the details of a competition."""
    document = asdict(competitions_service.named(session, name))
    return document, "\n".join(f"{key}: {value}" for key, value in document.items())


@competition.command()
@NAME
@click.option("--title", help="Title of the competition on pages.")
@click.option("--description", type=FILE, help="Markdown file with the description for its page.")
@writing
def describe(session: Session, name: str, title: str | None, description: Path | None) -> Answer:
    """Change title and description; an empty file removes the description."""
    if title is None and description is None:
        raise UsageError("give --title, --description or both")
    words = None if description is None else read_text(description)
    of = competitions_service.named(session, name)
    competitions_service.describe(session, of.id, title=title, description=words)
    return {"competition": name}, f"updated {name}"


@competition.command("dates")
@NAME
@click.option("--starts", help="When it begins, such as 2027-01-31T18:00, or none.")
@click.option("--ends", help="When it ends, in the same form, or none.")
@click.option("--zone", help="Time zone of both, such as Europe/Athens.  [default: the one it has]")
@writing
def dates_command(
    session: Session, name: str, starts: str | None, ends: str | None, zone: str | None
) -> Answer:
    """Set or print the times at which a competition begins and ends.

    A draft begins once it is announced: cw hub competition announce NAME
    """
    of = competitions_service.named(session, name)
    before, own_zone = dates_of(session, of.id), zone or of.zone
    start, end = (
        field_text(at, own_zone) if text is None else "" if text == NONE else text
        for text, at in ((starts, before.starts), (ends, before.ends))
    )
    if starts is not None or ends is not None or zone is not None:
        dates = read_dates(start, end, own_zone)
        format_of(of).schedule(session, of, dates)
    dates = dates_of(session, of.id)
    moments = {"starts": dates.starts, "ends": dates.ends}
    words = (f"{what} {at:%Y-%m-%d %H:%M} UTC" for what, at in moments.items() if at is not None)
    text = f"{name} {' and '.join(words) or 'has no start and no end'}"
    return {"competition": name, **moments}, text


def steer(session: Session, name: str, state: CompetitionState) -> Answer:
    """Set the state of a competition; return what the command prints."""
    of = competitions_service.named(session, name)
    format_of(of).steer(session, of, state)
    return {"competition": name, "state": state}, f"{name} is {state}"


@competition.command()
@NAME
@writing
def resume(session: Session, name: str) -> Answer:
    """Start or resume a competition; anything due meanwhile is skipped."""
    return steer(session, name, "running")


@competition.command()
@NAME
@writing
def announce(session: Session, name: str) -> Answer:
    """Publish a draft; it begins at its start time."""
    return steer(session, name, "planned")


@competition.command()
@NAME
@writing
def pause(session: Session, name: str) -> Answer:
    """Pause a competition; planned matches are still played."""
    return steer(session, name, "paused")


@competition.command("set")
@NAME
@click.argument("values", nargs=-1, required=True, metavar="NAME=VALUE...")
@writing
def set_command(session: Session, name: str, values: tuple[str, ...]) -> Answer:
    """Change settings of a competition.

    A daily one has time (18:00), zone (UTC) and options, a JSON object with options of the game:
    cw hub competition set end-of-codes zone=Europe/Athens options='{"M": 15}'
    A rated one has formats (2,4), options, rest (seconds), warm_up, matches, same_owner and
    house_plays.
    A tournament has parallel, per_bot, round_every and more: see hub/docs/tournaments.md.
    A cup has contest (round-robin), bots (Ada,Bob,Cid), options, groups, players and rounds.
    """
    changes = dict(read_value(text) for text in values)
    of = competitions_service.named(session, name)
    format_of(of).change(session, of, changes)
    words = ", ".join(f"{key} is {json.dumps(value)}" for key, value in changes.items())
    return {"competition": name, "settings": changes}, words


def read_value(text: str) -> tuple[str, Any]:
    """Parse a setting `NAME=VALUE`; a value that starts with a brace is JSON."""
    name, equals, value = text.partition("=")
    if not equals or name == competitions_service.SINCE:
        raise UsageError(f"{text!r} is not a setting (try time=18:00)")
    if not value.startswith("{"):
        return name, value
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from None


for command in (new, *daily.COMMANDS, *tournament.COMMANDS):
    competition.add_command(command)
