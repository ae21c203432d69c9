"""Commands of `cw hub competition` for team tournaments."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, get_args

import click

from cw.documents import read_toml
from cw.errors import UsageError, short
from cw.files import write_whole
from cw.league.ladder import EventKind
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.site import opened, tell
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts, Dates
from cw_hub.competitions.tournament import events as tournament_events
from cw_hub.competitions.tournament import export as tournament_export
from cw_hub.competitions.tournament import host_overview, host_rounds, host_teams, progress
from cw_hub.competitions.tournament import teams as tournament_teams
from cw_hub.competitions.tournament.creation import (
    LARGEST_FILE,
    TournamentConfig,
    create,
    read_config,
    read_event,
    team_lines,
    with_teams,
)
from cw_hub.competitions.tournament.events import schedule
from cw_hub.competitions.tournament.format import typed
from cw_hub.competitions.tournament.groups import NewGroup, add_group
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.tournament.team_bots import WHERE_SECRET
from cw_hub.competitions.tournament.teams import Card, NewTeam, add_teams, printed
from cw_hub.context import utc_now
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import OPERATOR, Session
from cw_hub.store.models import GroupKind
from cw_hub.store.objects import ObjectStore

P = ParamSpec("P")
T = TypeVar("T")

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE: Final = click.Path(dir_okay=False, path_type=Path)


def act(
    settings: HubSettings,
    slug: str,
    verb: Callable[Concatenate[Session, int, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run a function on a tournament in a separate transaction, and advance the tournament."""
    with opened(settings) as database, database.writing(OPERATOR) as session:
        competition = find(session, slug)
        result = verb(session, competition.id, *args, **kwargs)
        progress.advance(session, competition.id)
        return result


def find(session: Session, slug: str) -> CompetitionFacts:
    """Return a tournament; raise UsageError if there is none."""
    competition = competitions_service.named(session, slug if "/" in slug else f"{FORMAT}/{slug}")
    if competition.format != FORMAT:
        raise UsageError(f"{competition.format}/{competition.slug} is not a tournament of teams")
    return competition


def ids_of(settings: HubSettings, slug: str, names: Sequence[str]) -> list[int]:
    """Return the ids of the teams with these slugs or names; without names, of all teams."""
    with opened(settings) as database, database.reading() as session:
        competition = find(session, slug).id
        if not names:
            return [team.id for team in host_overview.teams_overview(session, competition)]
        return [host_teams.team_named(session, competition, name).id for name in names]


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
    ids = ids_of(settings, slug, teams)
    if revoke:
        act(settings, slug, host_teams.revoke_tokens, ids)
        tell(
            {"revoked": len(ids)},
            f"revoked the tokens of {counted(len(ids), 'team')}",
            as_json=as_json,
        )
        return
    if file is not None:
        refuse_existing(file)
    with opened(settings) as database, database.writing(OPERATOR) as session:
        competition = find(session, slug)
        issued = tournament_teams.issue(session, competition.id, ids)
        if file is not None:
            write_cards(settings, file, competition.slug, competition.title, issued)
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
    token = printed(act(settings, slug, tournament_teams.issue_to_host, keep=keep))
    tell({"host_token": token}, token, as_json=as_json)


def write_cards(
    settings: HubSettings, file: Path, slug: str, title: str, cards: Sequence[Card]
) -> None:
    """Write the cards as a printable page that only its owner can read."""
    page = tournament_teams.whole_file(title, address_of(settings, slug), cards)
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
class NewTournament:
    """The options of `new`."""

    slug: str
    game: str
    title: str
    description: str
    """"": the one from the file."""
    config: Path | None
    teams: Path | None
    cards: Path | None
    dates: Dates
    settings: Mapping[str, Any]
    """Settings as in a file: those of the tournament that is copied."""
    groups: Sequence[str]


def make(settings: HubSettings, options: NewTournament, *, as_json: bool) -> None:
    """Create a tournament, and print the token of its host."""
    config = config_of(options)
    if options.cards is not None:
        refuse_existing(options.cards)
    with opened(settings) as database, database.writing(OPERATOR) as session:
        new = create(session, config)
        if options.dates != Dates():
            facts = competitions_service.named(session, f"{FORMAT}/{new.slug}")
            schedule(session, facts, options.dates)
        token = printed(tournament_teams.issue_to_host(session, new.id))
        cards: list[Card] = []
        if new.teams and (options.cards is not None or as_json):
            cards = tournament_teams.issue(session, new.id, new.teams)
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
    """Return the teams listed in a file."""
    return list(team_lines(read_text(file)))


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
@click.option("--cancel", type=int, metavar="ID", help="Cancel the event with this ID.")
@click.option("--undo-end", is_flag=True, help="Undo the end of the tournament, within an hour.")
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
    cancel: int | None,
    *,
    replaces: bool,
    announced: bool,
    undo_end: bool,
    as_json: bool,
) -> None:
    """Plan or cancel an event; without KIND, list the events."""
    if cancel is not None:
        act(settings, slug, tournament_events.remove_event, cancel)
    if undo_end:
        act(settings, slug, host_teams.undo_end)
    if kind is not None:
        required = {"kind": kind, "at": read_time(at), "title": title or kind.capitalize()}
        texts = {"text": text, "group": group, "mode": "replace" if replaces else "add"}
        planned = read_event(
            {**required, **texts, "announced": announced, "boards": read_json(boards)}
        )
        act(settings, slug, tournament_events.add_event, planned, is_late=not at)
    with opened(settings) as database, database.reading() as session:
        listed = host_overview.events_overview(session, find(session, slug).id)
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
    with opened(settings) as database, database.reading() as session:
        competition = find(session, slug)
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
    with opened(settings) as database, database.reading() as session:
        competition = find(session, slug)
        groups = host_overview.groups_overview(session, competition.id)
        phases = [progress.phase_of(session, group.id) for group in groups]
        failed = [
            match.match_id
            for match in host_overview.matches_overview(session, competition.id)
            if match.state == "failed"
        ]
    listed = [
        {**asdict(group), "phase": phase} for group, phase in zip(groups, phases, strict=True)
    ]
    words = [f"{competition.title}: {competition.state}"]
    for group, phase in zip(groups, phases, strict=True):
        opened_round = (
            f"round {group.round}, {group.played} of {group.matches} played" if group.round else "-"
        )
        words.append(f"{group.name}  {phase}  {counted(group.teams, 'team')}  {opened_round}")
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
    act(settings, slug, add_group, NewGroup(name, kind))
    tell({"competition": slug, "sandbox": name}, f"added the sandbox {name}", as_json=as_json)


@click.command()
@click.argument("slug")
@click.option("--void", nargs=2, metavar="MATCH REASON", help="Cancel a match of an open round.")
@click.option("--play-again", "again", metavar="MATCH", help="Play a match of an open round again.")
@click.option(
    "--void-round", nargs=2, metavar="SANDBOX REASON", help="Cancel the open round of a sandbox."
)
@with_settings
@as_json
def rounds(
    settings: HubSettings,
    slug: str,
    void: tuple[str, str] | None,
    again: str | None,
    void_round: tuple[str, str] | None,
    *,
    as_json: bool,
) -> None:
    """Print the failed, running and waiting matches of open rounds; cancel or replay some."""
    if void is not None:
        act(settings, slug, host_rounds.void, *void)
    if again is not None:
        act(settings, slug, host_rounds.play_again, again)
    if void_round is not None:
        act(settings, slug, void_open_round, *void_round)
    with opened(settings) as database, database.reading() as session:
        listed = host_overview.matches_overview(session, find(session, slug).id)
    for match in listed:
        met = f"{match.group}  round {match.round}  {' : '.join(match.teams)}"
        tell(
            asdict(match),
            f"{match.match_id}  {met}  {match.state}  {match.reason}",
            as_json=as_json,
        )


def void_open_round(session: Session, competition: int, sandbox: str, reason: str) -> None:
    """Cancel the open round of a sandbox."""
    number = host_rounds.open_round(session, competition, sandbox)
    host_rounds.void_round(session, competition, number, reason)


@click.command("carry-over")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings
@as_json
def carry_over(settings: HubSettings, slug: str, *, yes: bool, as_json: bool) -> None:
    """Move the strongest teams to the final when the open rounds are over."""
    if not yes:
        click.confirm("End the ladders of the other sandboxes for good?", abort=True, err=True)
    done = act(settings, slug, host_rounds.carry_over)
    words = (
        "the final begins when the open rounds are over" if done else "the final has begun already"
    )
    tell({"competition": slug, "carried_over": done}, words, as_json=as_json)


@click.command()
@click.argument("slug")
@click.option(
    "--add", "file", type=FILE, help="File of new teams, one per line: NAME or NAME, SANDBOX."
)
@click.option(
    "--move", nargs=2, metavar="TEAM SANDBOX", help="Move a team, before its first round."
)
@click.option(
    "--out-of-competition",
    "guest",
    metavar="TEAM",
    help="Let it play in all sandboxes, without a place.",
)
@click.option("--compete", nargs=2, metavar="TEAM SANDBOX", help="Let it compete in SANDBOX again.")
@click.option("--machine", nargs=2, metavar="TEAM ADDRESS", help="Set the address of its machine.")
@click.option(
    "--disqualify", nargs=2, metavar="TEAM REASON", help="Disqualify it, and end its open matches."
)
@click.option("--reinstate", metavar="TEAM", help="Let it play again from the next round on.")
@click.option(
    "--remove",
    metavar="TEAM",
    help="Remove it: deleted after an hour, or withdrawn if it has played.",
)
@click.option("--undo-remove", metavar="TEAM", help="Undo its removal, within an hour.")
@with_settings
@as_json
def teams(
    settings: HubSettings,
    slug: str,
    file: Path | None,
    move: tuple[str, str] | None,
    guest: str | None,
    machine: tuple[str, str] | None,
    disqualify: tuple[str, str] | None,
    reinstate: str | None,
    remove: str | None,
    undo_remove: str | None,
    compete: tuple[str, str] | None,
    *,
    as_json: bool,
) -> None:
    """Print the teams of a tournament, one per line; add, move or remove some."""
    if file is not None:
        act(settings, slug, add_teams, lines_of(file))
    for into, placed in ((host_teams.move, move), (host_teams.compete, compete)):
        if placed is not None:
            act(settings, slug, into, ids_of(settings, slug, placed[:1]), placed[1])
    if guest is not None:
        ids = ids_of(settings, slug, [guest])
        act(settings, slug, host_teams.set_out_of_competition, ids)
    if machine is not None:
        ids = ids_of(settings, slug, machine[:1])
        act(settings, slug, host_teams.set_machine, ids, machine[1])
    judge(settings, slug, disqualify, reinstate)
    for verb, team in ((host_teams.remove, remove), (host_teams.undo_remove, undo_remove)):
        if team is not None:
            act(settings, slug, verb, ids_of(settings, slug, [team]))
    with opened(settings) as database, database.reading() as session:
        listed = host_overview.teams_overview(session, find(session, slug).id)
    for row in listed:
        bot = row.bot_kind if row.has_bot else "no bot yet"
        words = f"{row.slug}  {row.name}  {', '.join(row.groups)}  {row.status}  {bot}"
        tell({**asdict(row), "address": ""}, words, as_json=as_json)


def judge(
    settings: HubSettings, slug: str, disqualified: tuple[str, str] | None, reinstated: str | None
) -> None:
    """Disqualify a team for a reason, and reinstate another; None skips the respective step."""
    if disqualified is not None:
        (team,) = ids_of(settings, slug, disqualified[:1])
        act(settings, slug, host_rounds.disqualify, team, disqualified[1])
    if reinstated is not None:
        (team,) = ids_of(settings, slug, [reinstated])
        act(settings, slug, host_rounds.reinstate, team)


@click.command()
@click.argument("slug")
@click.argument("team")
@click.argument("bot")
@with_settings
@as_json
def bot(settings: HubSettings, slug: str, team: str, bot: str, *, as_json: bool) -> None:
    """Set the bot of TEAM: the address of a web service, or builtin:NAME."""
    ids = ids_of(settings, slug, [team])
    has_secret = act(settings, slug, host_teams.set_bot, ids, bot)
    words = f"set the bot of {team}" + (f"\n{WHERE_SECRET}" if has_secret else "")
    tell({"team": team, "set": True}, words, as_json=as_json)


@click.command("ssh-keys")
@click.argument("slug")
@with_settings
@as_json
def ssh_keys(settings: HubSettings, slug: str, *, as_json: bool) -> None:
    """Print the public keys of the teams, for `dokku ssh-keys:add`."""
    with opened(settings) as database, database.reading() as session:
        keys = host_overview.ssh_keys(session, find(session, slug).id)
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
