"""`cw hub competition new`: creates a competition as the form in the browser does, and more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click
from sqlalchemy.orm import Session

from cw.errors import UsageError, choices
from cw.games.registry import load_game
from cw_hub.cli import tournament
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import FILE, NEW_FILE
from cw_hub.cli.tournament.creation import NewTournament, read_text
from cw_hub.cli.user import opened, tell
from cw_hub.clock import utc_now
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.dates import Dates, read_dates
from cw_hub.competitions.format import Format, NewCompetition, format_named
from cw_hub.competitions.setting_fields import read_all
from cw_hub.competitions.verbs import OPERATOR, CompetitionFacts
from cw_hub.operation.settings import HubSettings
from cw_hub.pages.names import is_slug
from cw_hub.site.formats import FORMATS

NO_SLUG: Final = "SLUG must be 1 to 32 lower-case letters, digits and hyphens, not {!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The requested competition; "" for the default, or for the value that `like` has."""

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
    "format_name",
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
    game: str,
    format_name: str,
    like: str,
    title: str,
    description: Path | None,
    starts: str,
    ends: str,
    zone: str,
    file: Path | None,
    teams: Path | None,
    cards: Path | None,
    *,
    as_json: bool,
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
    slug = "" if of_game else name
    format_name, game = (name, of_game) if of_game else (format_name, game)
    if of_game and format_name in tournament.MAKERS:
        slug = game
    wanted = Wanted(
        format=format_name,
        game=game,
        slug=slug,
        title=title,
        description=description,
        like=like,
        starts=starts,
        ends=ends,
        zone=zone,
    )
    with opened(settings) as database, database.reading() as session:
        planned = plan(session, wanted)
    if make := tournament.MAKERS.get(planned.format.name):
        make(settings, planned.tournament(file, teams, cards), as_json=as_json)
        return
    if file or teams or cards:
        raise UsageError("--config, --teams and --cards are for --format tournament")
    with opened(settings) as database, database.writing() as session:
        facts = planned.create(session)
    name, verb = f"{facts.format}/{facts.slug}", "announce" if starts else "resume"
    words = f"created {name}; {'announce' if starts else 'start'} it with: cw hub competition"
    tell({"competition": name}, f"{words} {verb} {name}", as_json=as_json)


@dataclass(frozen=True, slots=True)
class Plan:
    """A competition that can be created, with its dates."""

    format: Format
    new: NewCompetition
    dates: Dates

    def create(self, session: Session) -> CompetitionFacts:
        """Create it as the form does; raise UsageError if invalid."""
        facts = self.format.create(session, utc_now, self.format, self.new, OPERATOR)
        self.format.schedule(session, utc_now, facts, self.dates, OPERATOR)
        return facts

    def tournament(
        self, file: Path | None, teams: Path | None, cards: Path | None
    ) -> NewTournament:
        """Return it as the makers of tournaments take it, with its file, teams and cards."""
        new, settings = self.new, dict(self.new.settings)
        groups = [name for name in settings.pop("groups", "").split(",") if name]
        words = (new.slug, new.game, new.title, new.description)
        return NewTournament(*words, file, teams, cards, self.dates, settings, groups)


def plan(session: Session, wanted: Wanted) -> Plan:
    """Complete the requested competition; raise UsageError if invalid."""
    new_one = NewCompetition(
        wanted.game, wanted.title, wanted.slug, {}, read_text(wanted.description)
    )
    if wanted.like:
        format_, new_one, zone = like_another(session, wanted, new_one)
    else:
        format_, zone = format_of(wanted.format), wanted.zone or "UTC"
    if format_.name in tournament.MAKERS:
        # Its file may name slug and game.
        return Plan(format_, new_one, read_dates(wanted.starts, wanted.ends, zone))
    load_game(new_one.game)
    slug = new_one.slug or new_one.game
    if not is_slug(slug):
        raise UsageError(NO_SLUG.format(slug))
    dates = read_dates(wanted.starts, wanted.ends, zone)
    return Plan(format_, replace(new_one, slug=slug), dates)


def format_of(name: str) -> Format:
    """Return a format by its name; raise UsageError if there is none."""
    format_ = format_named(FORMATS, name)
    if format_ is None:
        raise UsageError(f"there is no format {name!r}; {choices(name, [f.name for f in FORMATS])}")
    return format_


def like_another(
    session: Session, wanted: Wanted, new_one: NewCompetition
) -> tuple[Format, NewCompetition, str]:
    """Return the format, game, settings, description and time zone of another competition.

    Options of the command take precedence. Raises UsageError if there is no such competition, or if
    it has another format or game than the options, as its settings would be of no use.
    """
    model = competitions.named(session, wanted.like)
    format_ = format_of(model.format)
    for what, asked, its in (
        ("format", wanted.format, model.format),
        ("game", wanted.game, model.game),
    ):
        if asked not in ("", its):
            raise UsageError(f"{wanted.like} has the {what} {its}, not {asked}")
    values = read_all(format_.fields, format_.texts(session, format_, model))
    description = new_one.description or model.description
    like = replace(new_one, game=model.game, settings=values, description=description)
    return format_, like, wanted.zone or model.zone
