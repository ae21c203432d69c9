"""Commands of `cw hub competition` for team tournaments."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import click
from msgspec.structs import replace

from cw.documents import read_toml
from cw.errors import UsageError, short
from cw.files import write_whole
from cw.league.ladder import EventKind
from cw_hub.cli.options import as_json, opened, tell, with_settings
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import NewCompetition
from cw_hub.competitions.service import CompetitionFacts, Dates
from cw_hub.competitions.tournament import export as tournament_export
from cw_hub.competitions.tournament import views
from cw_hub.competitions.tournament.actions import ACTIONS, Action, perform
from cw_hub.competitions.tournament.service import (
    LARGEST_FILE,
    TournamentConfig,
    create,
    read_config,
    read_event,
    schedule,
    settings_and_groups,
    team_lines,
    with_teams,
)
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.tournament.team_bots import WHERE_SECRET
from cw_hub.competitions.tournament.teams import (
    Card,
    NewGroup,
    issue,
    issue_to_host,
    printed,
    team_named,
    whole_file,
)
from cw_hub.context import utc_now
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import OPERATOR, Session
from cw_hub.store.models import GroupKind
from cw_hub.store.objects import ObjectStore

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE: Final = click.Path(dir_okay=False, path_type=Path)


class TextFile(click.Path):
    """A file, of which a command gets the text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text of the file."""
        path: Any = super().convert(value, param, ctx)
        return read_text(Path(path))


TYPES: Final[Mapping[str, Any]] = {
    "text": str,
    "number": int,
    "file": TextFile(exists=True, dir_okay=False),
}
"""The types of options by those of the values of actions."""

Command: TypeAlias = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Change:
    """A transaction that changes a tournament."""

    session: Session
    competition: CompetitionFacts

    def do(self, name: str, **arguments: Any) -> Any:
        """Perform an action on the tournament; return its result."""
        action = ACTIONS[name]
        return perform(self.session, self.competition.id, action, arguments)

    def do_chosen(self, options: Mapping[str, Any]) -> None:
        """Perform the actions that were chosen by options, in the order of the table."""
        for name, action in ACTIONS.items():
            typed = options.get(variable(name))
            if is_given(typed):
                values = typed if isinstance(typed, tuple) else (typed,)
                if typed is True:  # A flag, which has no values.
                    values = ()
                self.do(name, **action.arguments(self.session, self.competition.id, values))

    def ids_of(self, names: Sequence[str]) -> list[int]:
        """Return the ids of the teams with these slugs or names; without names, of all teams."""
        competition = self.competition.id
        if not names:
            return [team.id for team in views.teams_overview(self.session, competition)]
        return [team_named(self.session, competition, name).id for name in names]


@contextmanager
def changing(settings: HubSettings, slug: str) -> Iterator[Change]:
    """Change a tournament in one transaction, so that a command does all or nothing."""
    with opened(settings) as database, database.writing(OPERATOR) as session:
        yield Change(session, find(session, slug))


@contextmanager
def reading(settings: HubSettings, slug: str) -> Iterator[tuple[Session, CompetitionFacts]]:
    """Read a tournament."""
    with opened(settings) as database, database.reading() as session:
        yield session, find(session, slug)


def find(session: Session, slug: str) -> CompetitionFacts:
    """Return a tournament; raise UsageError if there is none."""
    competition = competitions_service.named(session, slug if "/" in slug else f"{FORMAT}/{slug}")
    if competition.format != FORMAT:
        raise UsageError(f"{competition.format}/{competition.slug} is not a tournament of teams")
    return competition


def with_actions(command: str) -> Callable[[Command], Command]:
    """Add the actions that are options of a command."""

    def added(function: Command) -> Command:
        for name, action in reversed(list(ACTIONS.items())):
            if action.command == command:
                function = option_of(name, action)(function)
        return function

    return added


def option_of(name: str, action: Action) -> Callable[[Command], Command]:
    """Return an option for an action: a flag, or one that takes the values of its form."""
    values, names = action.form.parameters, (f"--{action.option or name}", variable(name))
    if not values:
        return click.option(*names, is_flag=True, help=action.help)
    types = tuple(TYPES[value.type] for value in values)
    metavar = " ".join(value.metavar for value in values)
    return click.option(
        *names, type=types if len(types) > 1 else types[0], metavar=metavar, help=action.help
    )


def variable(name: str) -> str:
    """Return the name of the variable that receives an action's option."""
    return name.replace("-", "_")


def is_given(value: Any) -> bool:
    """Return whether an option was typed."""
    return value is not None and value is not False


def counted(number: int, word: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


NO_ADDRESS: Final = "The cards have no address of the site: set CW_PUBLIC_URL, or write it on them."


@click.command()
@click.argument("slug")
@click.argument("teams", nargs=-1, metavar="[TEAM...]")
@click.option(
    "--cards", "file", type=NEW_FILE, help="Output file for the cards to print, an HTML page."
)
@click.option("--revoke", is_flag=True, help="Revoke the tokens, and issue no new ones.")
@with_settings
@as_json
def cards(
    settings: HubSettings,
    slug: str,
    teams: tuple[str, ...],
    file: Path | None,
    *,
    revoke: bool,
    as_json: bool,
) -> None:
    """Issue new login tokens to the given teams, or to all; earlier ones become invalid."""
    if revoke:
        with changing(settings, slug) as change:
            ids = change.ids_of(teams)
            change.do("revoke-tokens", ids=ids)
        tell(
            {"revoked": len(ids)},
            f"revoked the tokens of {counted(len(ids), 'team')}",
            as_json=as_json,
        )
        return
    if file is not None:
        refuse_existing(file)
    with changing(settings, slug) as change:
        issued = change.do("issue-tokens", ids=change.ids_of(teams))
        if file is not None:
            facts = change.competition
            write_cards(settings, file, facts.slug, facts.title, issued)
    words = "\n".join(f"{card.slug}  {printed(card.token)}" for card in issued)
    tell(
        {"cards": documents_of(issued)},
        f"Cards to print: {file}" if file else words,
        as_json=as_json,
    )


@click.command("host-token")
@click.argument("slug")
@click.option("--keep", is_flag=True, help="Keep earlier tokens valid.")
@with_settings
@as_json
def host_token(settings: HubSettings, slug: str, *, keep: bool, as_json: bool) -> None:
    """Print a new token for the host, once; earlier tokens become invalid."""
    with changing(settings, slug) as change:
        token = printed(issue_to_host(change.session, change.competition.id, keep=keep))
    tell({"host_token": token}, token, as_json=as_json)


def write_cards(
    settings: HubSettings, file: Path, slug: str, title: str, cards: Sequence[Card]
) -> None:
    """Write the cards as a printable page that only its owner can read."""
    page = whole_file(title, address_of(settings, slug), cards)
    if not settings.public_url:
        click.echo(NO_ADDRESS, err=True)
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as sheet:
            sheet.write(page)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None


def refuse_existing(file: Path) -> None:
    """Raise UsageError if the card file exists, as others may be able to read it."""
    if file.exists():
        raise UsageError(f"{file} exists already: choose another file for the cards")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {file.absolute().parent}")


def address_of(settings: HubSettings, slug: str) -> str:
    """Return the URL of a tournament's pages.

    If the site has no public URL, only the path: this process cannot know where the site listens.
    """
    return f"{settings.public_url}/t/{slug}/"


def documents_of(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """Return the cards as JSON."""
    return [
        {"team": card.team, "slug": card.slug, "group": card.group, "token": printed(card.token)}
        for card in cards
    ]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a new tournament; None: none."""

    config: Path | None
    teams: Path | None
    cards: Path | None


def make(
    settings: HubSettings, wanted: NewCompetition, dates: Dates, files: Files, *, as_json: bool
) -> None:
    """Create a tournament, and print the token of its host."""
    config = config_of(wanted, files)
    if files.cards is not None:
        refuse_existing(files.cards)
    with opened(settings) as database, database.writing(OPERATOR) as session:
        new = create(session, config)
        if dates != Dates():
            facts = competitions_service.named(session, f"{FORMAT}/{new.slug}")
            schedule(session, facts, dates)
        token = printed(issue_to_host(session, new.id))
        cards: list[Card] = []
        if new.teams and (files.cards is not None or as_json):
            cards = issue(session, new.id, new.teams)
        if files.cards is not None:
            write_cards(settings, files.cards, new.slug, new.title, cards)
    name, address = f"{FORMAT}/{new.slug}", address_of(settings, new.slug)
    lines = [f"created {name} with {counted(len(new.teams), 'team')}"]
    lines += [f"Its page: {address}", f"Token of the host: {token}"]
    if files.cards is not None:
        lines.append(f"Cards to print: {files.cards}")
    late = sum(event.at < utc_now() for event in config.events)
    if late:
        lines.append(f"{counted(late, 'event')} in the past: they take effect at once")
    document = {"competition": name, "address": address, "host_token": token}
    tell({**document, "cards": documents_of(cards)}, "\n".join(lines), as_json=as_json)


def config_of(wanted: NewCompetition, files: Files) -> TournamentConfig:
    """Return the configuration of a tournament: from its file, list of teams and options."""
    table = {} if files.config is None else read_toml(files.config, LARGEST_FILE)
    try:
        config = read_config(table, wanted.slug, wanted.game)
    except UsageError as error:
        raise UsageError(f"{files.config}: {error}" if files.config else str(error)) from None
    settings, groups = settings_and_groups(wanted.settings)
    config = replace(
        config,
        settings={**settings, **config.settings},
        groups=config.groups or groups,
        title=wanted.title or config.title,
        description=wanted.description or config.description,
    )
    return with_teams(config, list(team_lines(read_text(files.teams))))


def read_text(file: Path | None) -> str:
    """Return the text of a file, or "" without one; raise UsageError if it is not UTF-8."""
    try:
        return "" if file is None else read_bounded(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{file}: not UTF-8 text") from None


def read_bounded(file: Path) -> bytes:
    """Return the content of a file; raise UsageError if it is unreadable or too large."""
    try:
        with file.open("rb") as source:
            data = source.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{file}: larger than {LARGEST_FILE} bytes")
    return data


@click.command()
@click.argument("slug")
@click.argument("kind", type=click.Choice(get_args(EventKind)), required=False)
@click.option("--at", default="", help="Time in UTC, such as 2027-01-31T18:00.  [default: now]")
@click.option("--title", default="", help="Title of the countdown.  [default: the kind]")
@click.option("--text", default="", help="Further text, shown once it has occurred.")
@click.option("--group", default="", help="Sandbox of the event.  [default: all]")
@click.option("--boards", default="", help="JSON: a list of boards with their options.")
@click.option("--replace", "replaces", is_flag=True, help="Replace the other boards by these.")
@click.option("--announced", is_flag=True, help="Show the title in advance.")
@with_actions("event")
@with_settings
@as_json
def event(
    settings: HubSettings,
    slug: str,
    kind: EventKind | None,
    at: str,
    title: str,
    text: str,
    group: str,
    boards: str,
    *,
    replaces: bool,
    announced: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Plan or cancel an event; without KIND, list the events."""
    if kind is not None or any(map(is_given, chosen.values())):
        with changing(settings, slug) as change:
            change.do_chosen(chosen)
            if kind is not None:
                required = {"kind": kind, "at": read_time(at), "title": title or kind.capitalize()}
                texts = {"text": text, "group": group, "mode": "replace" if replaces else "add"}
                planned = read_event(
                    {**required, **texts, "announced": announced, "boards": read_json(boards)}
                )
                change.do("add-event", event=planned, is_late=not at)
    with reading(settings, slug) as (session, competition):
        listed = views.events_overview(session, competition.id)
    for event in listed:
        state = "occurred" if event.applied_at else "planned"
        words = (
            f"{event.id}  {event.at:%Y-%m-%d %H:%M:%S} UTC  {event.kind}  {event.title}  {state}"
        )
        tell(asdict(event), words, as_json=as_json)


def read_time(text: str) -> datetime:
    """Return the given time, or now; raise UsageError if invalid."""
    try:
        return datetime.fromisoformat(text) if text else utc_now()
    except ValueError:
        raise UsageError(f"{short(text)} is not a time (try 2027-01-31T18:00)") from None


def read_json(text: str) -> Any:
    """Return the given list of boards; raise UsageError if it is not JSON."""
    try:
        return json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise UsageError(
            f'{short(text)} is not JSON (try [{{"options": {{"size": 5}}}}])'
        ) from None


@click.command()
@click.argument("slug")
@click.option("--out", "file", type=NEW_FILE, help="Zip file to write.  [default: SLUG.zip]")
@click.option("--replays", is_flag=True, help="Include the replays of all matches.")
@with_settings
@as_json
def export(
    settings: HubSettings, slug: str, file: Path | None, *, replays: bool, as_json: bool
) -> None:
    """Export a tournament as a zip file, from which `new --config` recreates it."""
    file = file or Path(f"{slug.rpartition('/')[2]}.zip")
    if file.exists():
        raise UsageError(f"{file} exists already: choose another file with --out")
    with reading(settings, slug) as (session, competition):
        data = BytesIO()
        tournament_export.write_zip(session, competition.id, data)
        if replays:
            tournament_export.add_replays(
                session, ObjectStore(settings.store), competition.id, data
            )
    write_whole(file, data.getvalue())
    tell(
        {"competition": f"{FORMAT}/{competition.slug}", "file": str(file)},
        f"wrote {file}",
        as_json=as_json,
    )


@click.command()
@click.argument("slug")
@with_settings
@as_json
def status(settings: HubSettings, slug: str, *, as_json: bool) -> None:
    """Print the progress of each sandbox of a tournament, and what could not be played."""
    with reading(settings, slug) as (session, competition):
        groups = views.groups_overview(session, competition.id)
        phases = views.phases_of(session, competition.slug)
        failed = [
            match.match_id
            for match in views.matches_overview(session, competition.id)
            if match.state == "failed"
        ]
    listed = [{**asdict(group), "phase": phases[group.id]} for group in groups]
    words = [f"{competition.title}: {competition.state}"]
    for group in groups:
        opened_round = (
            f"round {group.round}, {group.played} of {group.matches} played" if group.round else "-"
        )
        teams = counted(group.teams, "team")
        words.append(f"{group.name}  {phases[group.id]}  {teams}  {opened_round}")
    words += [f"could not be played: {name}" for name in failed]
    document = {
        "competition": f"{FORMAT}/{competition.slug}",
        "state": competition.state,
        "groups": listed,
    }
    tell({**document, "failed": failed}, "\n".join(words), as_json=as_json)


@click.command("add-sandbox")
@click.argument("slug")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(get_args(GroupKind)),
    help="Kind of the sandbox; public ones win prizes.  [default: by name]",
)
@with_settings
@as_json
def add_sandbox(
    settings: HubSettings, slug: str, name: str, kind: GroupKind | None, *, as_json: bool
) -> None:
    """Add a sandbox, with the teams that play in all of them."""
    with changing(settings, slug) as change:
        change.do("add-sandbox", group=NewGroup(name, kind))
    tell({"competition": slug, "sandbox": name}, f"added the sandbox {name}", as_json=as_json)


@click.command()
@click.argument("slug")
@with_actions("rounds")
@with_settings
@as_json
def rounds(settings: HubSettings, slug: str, *, as_json: bool, **chosen: Any) -> None:
    """Print the failed, running and waiting matches of open rounds; cancel or replay some."""
    do_chosen(settings, slug, chosen)
    with reading(settings, slug) as (session, competition):
        listed = views.matches_overview(session, competition.id)
    for match in listed:
        met = f"{match.group}  round {match.round}  {' : '.join(match.teams)}"
        tell(
            asdict(match),
            f"{match.match_id}  {met}  {match.state}  {match.reason}",
            as_json=as_json,
        )


def do_chosen(settings: HubSettings, slug: str, options: Mapping[str, Any]) -> None:
    """Perform the actions that were chosen by options: all or none."""
    if any(map(is_given, options.values())):
        with changing(settings, slug) as change:
            change.do_chosen(options)


@click.command("carry-over")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings
@as_json
def carry_over(settings: HubSettings, slug: str, *, yes: bool, as_json: bool) -> None:
    """Move the strongest teams to the final when the open rounds are over."""
    if not yes:
        click.confirm("End the ladders of the other sandboxes for good?", abort=True, err=True)
    with changing(settings, slug) as change:
        done = change.do("carry-over")
    words = (
        "the final begins when the open rounds are over" if done else "the final has begun already"
    )
    tell({"competition": slug, "carried_over": done}, words, as_json=as_json)


@click.command()
@click.argument("slug")
@with_actions("teams")
@with_settings
@as_json
def teams(settings: HubSettings, slug: str, *, as_json: bool, **chosen: Any) -> None:
    """Print the teams of a tournament, one per line; add, move or remove some."""
    do_chosen(settings, slug, chosen)
    with reading(settings, slug) as (session, competition):
        listed = views.teams_overview(session, competition.id)
    for row in listed:
        bot = row.bot_kind if row.has_bot else "no bot yet"
        words = f"{row.slug}  {row.name}  {', '.join(row.groups)}  {row.status}  {bot}"
        tell({**asdict(row), "address": ""}, words, as_json=as_json)


@click.command()
@click.argument("slug")
@click.argument("team")
@click.argument("bot")
@with_settings
@as_json
def bot(settings: HubSettings, slug: str, team: str, bot: str, *, as_json: bool) -> None:
    """Set the bot of TEAM: the address of a web service, or builtin:NAME."""
    with changing(settings, slug) as change:
        lacks_secret = change.do("set-bot", ids=change.ids_of([team]), bot=bot)
    words = f"set the bot of {team}" + (f"\n{WHERE_SECRET}" if lacks_secret else "")
    tell({"team": team, "set": True}, words, as_json=as_json)


@click.command("ssh-keys")
@click.argument("slug")
@with_settings
@as_json
def ssh_keys(settings: HubSettings, slug: str, *, as_json: bool) -> None:
    """Print the public keys of the teams, for `dokku ssh-keys:add`."""
    with reading(settings, slug) as (session, competition):
        keys = views.ssh_keys(session, competition.id)
    for team, machine, key in keys:
        tell(
            {"team": team, "machine": machine, "key": key},
            f"{team}  {machine or '-'}  {key}",
            as_json=as_json,
        )


COMMANDS: Final = (
    *(teams, cards, bot, event, rounds, status, add_sandbox),
    *(host_token, ssh_keys, carry_over, export),
)
"""The commands of `cw hub competition` for tournaments only."""

MAKERS: Final = {FORMAT: make}
"""Functions that create competitions needing more than a game, by the name of the format."""
