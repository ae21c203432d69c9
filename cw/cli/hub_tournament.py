"""Tournaments of teams in the hands of the operator: a part of `cw hub competition`."""

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
from sqlalchemy.orm import Session

from cw.cli.hub_options import as_json, with_settings
from cw.cli.hub_user import opened, tell
from cw.errors import UsageError, short
from cw.files import write_whole
from cw.hub.clock import Clock, utc_now
from cw.hub.pages import card_sheet
from cw.hub.services import (
    competitions,
    ladder,
    ladder_decisions,
    team_bots,
    tournament_cards,
    tournament_export,
    tournament_host,
    tournaments,
)
from cw.hub.services.competitions import CompetitionFacts
from cw.hub.services.tournament_cards import Card, shown
from cw.hub.services.tournament_config import (
    LARGEST,
    read_config,
    read_event,
    read_table,
    team_lines,
    with_teams,
)
from cw.hub.services.tournament_settings import FORMAT
from cw.hub.services.tournaments import (
    EventKind,
    NewGroup,
    TournamentConfig,
)
from cw.hub.settings import HubSettings
from cw.hub.store.objects import ObjectStore
from cw.hub.store.tables import GroupKind

P = ParamSpec("P")
T = TypeVar("T")

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
NO_ADDRESS: Final = (
    "The cards do not say where the site is: set CW_PUBLIC_URL, or write it on them."
)
NEW_FILE: Final = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class NewTournament:
    """What `new` was told."""

    slug: str
    game: str
    title: str
    config: Path | None
    teams: Path | None
    cards: Path | None


def make(settings: HubSettings, wanted: NewTournament, *, as_json: bool) -> None:
    """Make a tournament, and print the token of its host."""
    config = config_of(wanted)
    if wanted.cards is not None:
        refuse_existing(wanted.cards)
    with opened(settings) as database, database.writing() as session:
        made = tournaments.new(session, utc_now, config)
        token = tournament_cards.issue_to_host(session, utc_now, made.id)
        cards: list[Card] = []
        if made.teams and (wanted.cards is not None or as_json):
            cards = tournament_cards.issue(session, utc_now, made.id, made.teams)
        if wanted.cards is not None:
            write_cards(settings, wanted.cards, made.slug, made.title, cards)
    said = {"competition": f"{FORMAT}/{made.slug}", "address": address_of(settings, made.slug)}
    said["host_token"] = shown(token)
    words = [f"{said['competition']} is made, with {counted(len(made.teams), 'team')}"]
    words += [f"Its page: {said['address']}", f"Token of the host: {said['host_token']}"]
    if wanted.cards is not None:
        words.append(f"Cards to print: {wanted.cards}")
    late = sum(event.at < utc_now() for event in config.events)
    if late:
        words.append(f"{counted(late, 'event')} in the past: they occur at once")
    tell({**said, "cards": told(cards)}, "\n".join(words), as_json=as_json)


def act(
    settings: HubSettings,
    slug: str,
    verb: Callable[Concatenate[Session, Clock, int, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Do something with a tournament in a transaction of its own, and let it take effect."""
    with opened(settings) as database, database.writing() as session:
        of = found(session, slug)
        done = verb(session, utc_now, of.id, *args, **kwargs)
        ladder.advance(session, utc_now, of.id)
        return done


def found(session: Session, slug: str) -> CompetitionFacts:
    """Return a tournament; raise UsageError where there is none."""
    name = slug if "/" in slug else f"{FORMAT}/{slug}"
    of = competitions.named(session, name)
    if of.format != FORMAT:
        raise UsageError(f"{of.format}/{of.slug} is no tournament of teams")
    return of


def ids_of(settings: HubSettings, slug: str, names: Sequence[str]) -> list[int]:
    """Return teams by their slugs or names; all of them where none is named."""
    with opened(settings) as database, database.reading() as session:
        of = found(session, slug)
        if not names:
            return [one.id for one in tournament_host.teams(session, of.id)]
        return [tournament_host.team_named(session, of.id, name).id for name in names]


@click.command()
@click.argument("slug")
@click.option("--add", "file", type=FILE, help="A line each: NAME or NAME, SANDBOX.")
@click.option("--move", nargs=2, metavar="TEAM SANDBOX", help="Before its first round.")
@click.option("--out-of-competition", "guest", metavar="TEAM", help="It plays everywhere.")
@click.option("--compete", nargs=2, metavar="TEAM SANDBOX", help="Out of competition no more.")
@click.option("--machine", nargs=2, metavar="TEAM ADDRESS", help="Where its machine is.")
@click.option("--disqualify", nargs=2, metavar="TEAM REASON", help="Its open matches are void.")
@click.option("--reinstate", metavar="TEAM", help="It plays from the next round on.")
@click.option("--remove", metavar="TEAM", help="It is deleted, or withdrawn after play.")
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
    compete: tuple[str, str] | None,
    *,
    as_json: bool,
) -> None:
    """Print the teams of a tournament, a line each; add, move or take out some."""
    if file is not None:
        act(settings, slug, tournaments.add_teams, lines_of(file))
    if move is not None:
        act(settings, slug, tournament_host.move, ids_of(settings, slug, move[:1]), move[1])
    if guest is not None:
        ids = ids_of(settings, slug, [guest])
        act(settings, slug, tournament_host.set_out_of_competition, ids)
    if compete is not None:
        ids = ids_of(settings, slug, compete[:1])
        act(settings, slug, tournament_host.compete, ids, compete[1])
    if machine is not None:
        ids = ids_of(settings, slug, machine[:1])
        act(settings, slug, tournament_host.set_machine, ids, machine[1])
    if disqualify is not None:
        (team,) = ids_of(settings, slug, disqualify[:1])
        act(settings, slug, ladder_decisions.disqualify, team, disqualify[1])
    if reinstate is not None:
        (team,) = ids_of(settings, slug, [reinstate])
        act(settings, slug, ladder_decisions.reinstate, team)
    if remove is not None:
        act(settings, slug, tournament_host.remove, ids_of(settings, slug, [remove]))
    with opened(settings) as database, database.reading() as session:
        listed = tournament_host.teams(session, found(session, slug).id)
    for one in listed:
        bot = one.bot_kind if one.has_bot else "no bot yet"
        words = f"{one.slug}  {one.name}  {', '.join(one.groups)}  {one.status}  {bot}"
        tell({**asdict(one), "address": ""}, words, as_json=as_json)


@click.command()
@click.argument("slug")
@click.argument("teams", nargs=-1, metavar="[TEAM...]")
@click.option("--cards", "file", type=NEW_FILE, help="The cards to print, as a page.")
@click.option("--revoke", is_flag=True, help="End the tokens, and issue none.")
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
    """Issue new login tokens to teams, or to all; their earlier ones end."""
    ids = ids_of(settings, slug, teams)
    if revoke:
        act(settings, slug, tournament_host.revoke_tokens, ids)
        tell(
            {"revoked": len(ids)},
            f"the tokens of {counted(len(ids), 'team')} have ended",
            as_json=as_json,
        )
        return
    if file is not None:
        refuse_existing(file)
    with opened(settings) as database, database.writing() as session:
        of = found(session, slug)
        made = tournament_cards.issue(session, utc_now, of.id, ids)
        if file is not None:
            write_cards(settings, file, of.slug, of.title, made)
    words = "\n".join(f"{one.slug}  {shown(one.token)}" for one in made)
    tell({"cards": told(made)}, f"Cards to print: {file}" if file else words, as_json=as_json)


@click.command()
@click.argument("slug")
@click.argument("team")
@click.argument("bot")
@with_settings
@as_json
def bot(settings: HubSettings, slug: str, team: str, bot: str, *, as_json: bool) -> None:
    """Set the bot of TEAM: the address of a web service, or builtin:NAME."""
    ids = ids_of(settings, slug, [team])
    has_secret = act(settings, slug, tournament_host.set_bot, ids, bot)
    words = f"the bot of {team} is set" + (f"\n{team_bots.WHERE_SECRET}" if has_secret else "")
    tell({"team": team, "set": True}, words, as_json=as_json)


@click.command()
@click.argument("slug")
@click.argument("kind", type=click.Choice(get_args(EventKind)), required=False)
@click.option("--at", default="", help="Such as 2027-01-31T18:00, UTC; else now.")
@click.option("--title", default="", help="What the countdown says; else the kind.")
@click.option("--text", default="", help="What else is told when it has occurred.")
@click.option("--group", default="", help="The sandbox; else all.")
@click.option("--boards", default="", help="JSON: a list of boards with their options.")
@click.option("--replace", "replaces", is_flag=True, help="The boards replace the others.")
@click.option("--announced", is_flag=True, help="Tell the title before it occurs.")
@click.option("--cancel", type=int, metavar="ID", help="Call an event off.")
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
    as_json: bool,
) -> None:
    """Plan an event, or call one off; without a KIND, print those there are."""
    if cancel is not None:
        act(settings, slug, tournaments.remove_event, cancel)
    if kind is not None:
        said = {"kind": kind, "at": read_time(at), "title": title or kind.capitalize()}
        more = {"text": text, "group": group, "mode": "replace" if replaces else "add"}
        planned = read_event({**said, **more, "announced": announced, "boards": read_json(boards)})
        act(settings, slug, tournaments.add_event, planned, is_late=not at)
    with opened(settings) as database, database.reading() as session:
        listed = tournament_host.events(session, found(session, slug).id)
    for one in listed:
        state = "occurred" if one.applied_at else "planned"
        words = f"{one.id}  {one.at:%Y-%m-%d %H:%M:%S} UTC  {one.kind}  {one.title}  {state}"
        tell(asdict(one), words, as_json=as_json)


def typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a tournament that were typed: what is JSON counts as such."""
    read: dict[str, Any] = {}
    for name, value in given.items():
        try:
            read[name] = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            read[name] = value
    return read


def read_time(text: str) -> datetime:
    """Return a moment that was typed; without one: now. Raises UsageError for what is none."""
    try:
        return datetime.fromisoformat(text) if text else utc_now()
    except ValueError:
        raise UsageError(f"{short(text)} is no time: one is 2027-01-31T18:00") from None


def read_json(text: str) -> Any:
    """Return a list of boards that was typed; raise UsageError for what is no JSON."""
    try:
        return json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise UsageError(
            f'{short(text)} is no JSON: one is [{{"options": {{"size": 5}}}}]'
        ) from None


@click.command()
@click.argument("slug")
@with_settings
@as_json
def status(settings: HubSettings, slug: str, *, as_json: bool) -> None:
    """Print how far the sandboxes of a tournament are, and what could not be played."""
    with opened(settings) as database, database.reading() as session:
        of = found(session, slug)
        groups = tournament_host.groups(session, of.id)
        phases = [ladder.phase_of(session, utc_now, one.id) for one in groups]
        failed = [
            one.match_id for one in tournament_host.matches(session, of.id) if one.state == "failed"
        ]
    listed = [{**asdict(one), "phase": phase} for one, phase in zip(groups, phases, strict=True)]
    words = [f"{of.title}: {of.state}"]
    for one, phase in zip(groups, phases, strict=True):
        opened_round = (
            f"round {one.round}, {one.played} of {one.matches} played" if one.round else "-"
        )
        words.append(f"{one.name}  {phase}  {counted(one.teams, 'team')}  {opened_round}")
    words += [f"could not be played: {name}" for name in failed]
    said = {"competition": f"{FORMAT}/{of.slug}", "state": of.state, "groups": listed}
    tell({**said, "failed": failed}, "\n".join(words), as_json=as_json)


@click.command("add-sandbox")
@click.argument("slug")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(get_args(GroupKind)),
    help="Public ones win prizes; else by the name.",
)
@with_settings
@as_json
def add_sandbox(
    settings: HubSettings, slug: str, name: str, kind: GroupKind | None, *, as_json: bool
) -> None:
    """Add a sandbox, with the teams that play in all of them."""
    act(settings, slug, tournaments.add_group, NewGroup(name, kind))
    tell({"competition": slug, "sandbox": name}, f"the sandbox {name} is added", as_json=as_json)


@click.command()
@click.argument("slug")
@click.option("--void", nargs=2, metavar="MATCH REASON", help="Call a match off.")
@click.option("--play-again", "again", metavar="MATCH", help="Let a match be played again.")
@click.option("--void-round", nargs=2, metavar="SANDBOX REASON", help="Call its open round off.")
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
    """Print what failed, is played or waits in the open rounds; change it."""
    if void is not None:
        act(settings, slug, tournament_host.void, *void)
    if again is not None:
        act(settings, slug, tournament_host.play_again, again)
    if void_round is not None:
        act(settings, slug, void_open_round, *void_round)
    with opened(settings) as database, database.reading() as session:
        listed = tournament_host.matches(session, found(session, slug).id)
    for one in listed:
        met = f"{one.group}  round {one.round}  {' : '.join(one.teams)}"
        tell(asdict(one), f"{one.match_id}  {met}  {one.state}  {one.reason}", as_json=as_json)


def void_open_round(
    session: Session, clock: Clock, competition: int, sandbox: str, reason: str
) -> None:
    """Call the open round of a sandbox off."""
    number = tournament_host.open_round(session, competition, sandbox)
    tournament_host.void_round(session, clock, competition, number, reason)


@click.command("host-token")
@click.argument("slug")
@click.option("--keep", is_flag=True, help="Let the earlier ones stay valid.")
@with_settings
@as_json
def host_token(settings: HubSettings, slug: str, *, keep: bool, as_json: bool) -> None:
    """Print a new token for the host, this once; earlier ones end."""
    token = shown(act(settings, slug, tournament_cards.issue_to_host, keep=keep))
    tell({"host_token": token}, token, as_json=as_json)


@click.command("ssh-keys")
@click.argument("slug")
@with_settings
@as_json
def ssh_keys(settings: HubSettings, slug: str, *, as_json: bool) -> None:
    """Print the public keys of the teams, for `dokku ssh-keys:add`."""
    with opened(settings) as database, database.reading() as session:
        keys = tournament_host.ssh_keys(session, found(session, slug).id)
    for team, machine, key in keys:
        tell(
            {"team": team, "machine": machine, "key": key},
            f"{team}  {machine or '-'}  {key}",
            as_json=as_json,
        )


@click.command("carry-over")
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_settings
@as_json
def carry_over(settings: HubSettings, slug: str, *, yes: bool, as_json: bool) -> None:
    """Take the strongest teams to the final, when the open rounds are over."""
    if not yes:
        click.confirm("End the ladders of the other sandboxes for good?", abort=True, err=True)
    done = act(settings, slug, ladder_decisions.carry_over)
    words = (
        "the final begins when the open rounds are over" if done else "the final was begun already"
    )
    tell({"competition": slug, "carried_over": done}, words, as_json=as_json)


@click.command()
@click.argument("slug")
@click.option("--out", "file", type=NEW_FILE, help="The zip; else SLUG.zip.")
@click.option("--replays", is_flag=True, help="With all replays.")
@with_settings
@as_json
def export(
    settings: HubSettings, slug: str, file: Path | None, *, replays: bool, as_json: bool
) -> None:
    """Write a tournament into a zip, from which `new --config` makes it again."""
    file = file or Path(f"{slug.rpartition('/')[2]}.zip")
    if file.exists():
        raise UsageError(f"{file} is there already: name another with --out")
    with opened(settings) as database, database.reading() as session:
        of = found(session, slug)
        data = BytesIO()
        tournament_export.write_zip(session, utc_now, of.id, data)
        if replays:
            tournament_export.add_replays(session, ObjectStore(settings.store), of.id, data)
    write_whole(file, data.getvalue())
    tell(
        {"competition": f"{FORMAT}/{of.slug}", "file": str(file)},
        f"{file} is written",
        as_json=as_json,
    )


COMMANDS: Final = (
    *(teams, cards, bot, event, rounds, status, add_sandbox),
    *(host_token, ssh_keys, carry_over, export),
)
"""What `cw hub competition` has for tournaments alone."""


def config_of(wanted: NewTournament) -> TournamentConfig:
    """Return what a tournament is made from: its file, the list of teams, what was typed."""
    table = {} if wanted.config is None else read_table(read_bounded(wanted.config), wanted.config)
    try:
        config = read_config(table, wanted.slug, wanted.game)
    except UsageError as error:
        raise UsageError(f"{wanted.config}: {error}" if wanted.config else str(error)) from None
    if wanted.title:
        config = replace(config, title=wanted.title)
    return with_teams(config, [] if wanted.teams is None else lines_of(wanted.teams))


def lines_of(file: Path) -> Sequence[tournaments.NewTeam]:
    """Return the teams of a list."""
    try:
        return list(team_lines(read_bounded(file).decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise UsageError(f"{file}: the names must be written in UTF-8") from None


def read_bounded(file: Path) -> bytes:
    """Return the bytes of a file of the host; raise UsageError for one that is too large."""
    try:
        with file.open("rb") as source:
            data = source.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise UsageError(f"{file}: larger than {LARGEST} bytes")
    return data


def refuse_existing(file: Path) -> None:
    """Raise UsageError where a file of cards would not be new: others may be able to read it."""
    if file.exists():
        raise UsageError(f"{file} is there already: name another file for the cards")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {file.absolute().parent}")


def write_cards(
    settings: HubSettings, file: Path, slug: str, title: str, cards: Sequence[Card]
) -> None:
    """Write the cards as a page to print, which its owner alone can read."""
    page = card_sheet.whole_file(title, address_of(settings, slug), cards)
    if not settings.public_url:
        click.echo(NO_ADDRESS, err=True)
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as sheet:
            sheet.write(page)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None


def address_of(settings: HubSettings, slug: str) -> str:
    """Return the address of a tournament's pages.

    Where the site has no public one, this process cannot know what it listens on: the path alone.
    """
    return f"{settings.public_url}/t/{slug}/"


def told(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """Return cards as JSON has them."""
    return [
        {"team": one.team, "slug": one.slug, "group": one.group, "token": shown(one.token)}
        for one in cards
    ]


def counted(number: int, word: str) -> str:
    """Return a number of things in words."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
