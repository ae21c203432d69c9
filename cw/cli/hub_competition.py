"""`cw hub competition`: what the operator does with competitions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import click
from sqlalchemy.orm import Session

from cw.cli import hub_tournament
from cw.cli.groups import HelpfulGroup
from cw.cli.hub_options import as_json, with_settings
from cw.cli.hub_tournament import FILE, NEW_FILE, NewTournament
from cw.cli.hub_user import opened, tell
from cw.errors import UsageError, choices
from cw.games.registry import load_game
from cw.hub.clock import Clock, utc_now
from cw.hub.services import competitions, daily, tournament_host, tournament_settings
from cw.hub.services.competitions import CompetitionFacts
from cw.hub.settings import HubSettings
from cw.hub.store.tables import CompetitionState

P = ParamSpec("P")
T = TypeVar("T")

Check = Callable[[Mapping[str, Any]], object]

FORMATS: Final[Mapping[str, Check]] = {
    daily.FORMAT: daily.read_settings,
    tournament_settings.FORMAT: dict,
}
"""The formats of which competitions can be made, and what checks their settings."""

SHOWN: Final = 5
"""Due times that are printed."""


@click.group(cls=HelpfulGroup)
def competition() -> None:
    """Make competitions, set them, let them run and pause.

    NAME is the name of a game, such as end-of-codes, or FORMAT/NAME where several have it.
    Each change is noted in the audit. The site may run meanwhile.
    """


def do(
    settings: HubSettings,
    name: str,
    act: Callable[Concatenate[Session, Clock, CompetitionFacts, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Do something with a competition in a transaction of its own; return what comes of it."""
    with opened(settings) as database, database.writing() as session:
        return act(session, utc_now, competitions.named(session, name), *args, **kwargs)


@competition.command("list")
@with_settings
@as_json
def list_command(settings: HubSettings, *, as_json: bool) -> None:
    """Print all competitions, a line each."""
    with opened(settings) as database, database.reading() as session:
        found = competitions.everything(session)
    for one in found:
        tell(asdict(one), f"{one.format}/{one.slug}  {one.state}  {one.title}", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def show(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print what is known of a competition."""
    with opened(settings) as database, database.reading() as session:
        said = asdict(competitions.named(session, name))
    tell(said, "\n".join(f"{key}: {value}" for key, value in said.items()), as_json=as_json)


@competition.command()
@click.argument("name", metavar="SLUG")
@click.argument("of_game", metavar="[GAME]", default="")
@click.option("--game", default="", help="The game.")
@click.option("--format", "format_name", default="", help="Such as daily, or ladder.")
@click.option("--title", default="", help="What pages call it; else the game and the format.")
@click.option("--config", "file", type=FILE, help="The file that describes a tournament.")
@click.option("--teams", type=FILE, help="Of a tournament: a line each, NAME or NAME, SANDBOX.")
@click.option("--cards", type=NEW_FILE, help="Of a tournament: the cards to print, as a page.")
@with_settings
@as_json
def new(
    settings: HubSettings,
    name: str,
    of_game: str,
    game: str,
    format_name: str,
    title: str,
    file: Path | None,
    teams: Path | None,
    cards: Path | None,
    *,
    as_json: bool,
) -> None:
    """Make a competition: a tournament of teams, or FORMAT GAME, such as `daily paint`.

    \b
      new duel --game hexagon --format ladder --teams names.txt --cards cards.html
      new daily paint          resume paint lets it run

    A tournament prints the token of its host, this once, and with --json those of the cards.
    """
    slug = "" if of_game else name
    format_name, game = (name, of_game) if of_game else (format_name, game)
    if format_name == tournament_settings.FORMAT:
        wanted = NewTournament(name if not of_game else game, game, title, file, teams, cards)
        hub_tournament.make(settings, wanted, as_json=as_json)
        return
    if file or teams or cards:
        raise UsageError("--config, --teams and --cards are for --format ladder")
    if format_name not in FORMATS:
        raise UsageError(f"there is no format {format_name!r}; {choices(format_name, FORMATS)}")
    load_game(game)
    with opened(settings) as database, database.writing() as session:
        made = competitions.new(session, utc_now, format_name, game, slug=slug, title=title)
    name = f"{made.format}/{made.slug}"
    tell(
        {"competition": name}, f"{name} is made; cw hub competition resume {name}", as_json=as_json
    )


def change_state(
    settings: HubSettings, name: str, state: CompetitionState, *, as_json: bool
) -> None:
    """Set the state of a competition."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> None:
        if of.format == tournament_settings.FORMAT:
            verb = "resume" if state == "running" else "pause"
            raise UsageError(f"a tournament has events: cw hub competition event {of.slug} {verb}")
        competitions.set_state(session, clock, of.id, state)

    do(settings, name, act)
    tell({"competition": name, "state": state}, f"{name} is {state}", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def resume(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Let a competition run; what was due before is not caught up with."""
    change_state(settings, name, "running", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def pause(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Plan no further matches of a competition; those that are planned are played."""
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

    A daily one has time (18:00), zone (UTC) and options, a JSON object that the game is begun
    with: cw hub competition set end-of-codes zone=Europe/Athens options='{"M": 15}'
    A tournament has parallel, per_bot, round_every and more: see docs/hub.md.
    """
    given = dict(read_value(text) for text in values)

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> None:
        if of.format == tournament_settings.FORMAT:
            tournament_host.change_settings(session, clock, of.id, hub_tournament.typed(given))
            return
        known = {**of.settings, **given}
        FORMATS.get(of.format, dict)(known)
        competitions.set_values(session, clock, of.id, given)

    do(settings, name, act)
    words = ", ".join(f"{key} is {json.dumps(value)}" for key, value in given.items())
    tell({"competition": name, "settings": given}, words, as_json=as_json)


def read_value(text: str) -> tuple[str, Any]:
    """Return a setting `NAME=VALUE`; a value that is a JSON object counts as one."""
    name, equals, value = text.partition("=")
    if not equals or name == competitions.SINCE:
        raise UsageError(f"{text!r} is no setting; one is time=18:00")
    if not value.startswith("{"):
        return name, value
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise UsageError(f"{name} is no JSON: {error}") from None


def daily_only(of: CompetitionFacts) -> None:
    """Raise UsageError for a competition without due times."""
    if of.format != daily.FORMAT:
        raise UsageError(f"{of.format}/{of.slug} has no due times: it is not daily")


@competition.command("next")
@click.argument("name")
@with_settings
@as_json
def next_command(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print the next due times of a daily competition."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> list[str]:
        daily_only(of)
        return [f"{due:%Y-%m-%d %H:%M} UTC" for due in daily.upcoming(session, clock, of, SHOWN)]

    dues = do(settings, name, act)
    tell({"competition": name, "next": dues}, "\n".join(dues) or "none is planned", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def run(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Begin a game of a daily competition now; the site plays it."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> str:
        daily_only(of)
        return daily.begin(session, clock, of.id)

    game = do(settings, name, act)
    tell({"competition": name, "match": game}, f"{game} is queued", as_json=as_json)


@competition.command()
@click.argument("name")
@with_settings
@as_json
def skip(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Call the next due time of a daily competition off."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> str:
        daily_only(of)
        return f"{daily.skip(session, clock, of.id):%Y-%m-%d %H:%M} UTC"

    due = do(settings, name, act)
    tell({"competition": name, "skipped": due}, f"there is no game at {due}", as_json=as_json)


for command in hub_tournament.COMMANDS:
    competition.add_command(command)
