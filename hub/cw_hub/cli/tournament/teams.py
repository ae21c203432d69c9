"""The teams of a tournament and their bots."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import FILE, act, find, ids_of
from cw_hub.cli.tournament.creation import lines_of
from cw_hub.cli.user import opened, tell
from cw_hub.competitions.tournament.host import disqualification, overview, undo
from cw_hub.competitions.tournament.host import teams as host_teams
from cw_hub.competitions.tournament.teams.bot_setup import WHERE_SECRET
from cw_hub.competitions.tournament.teams.enrolment import add_teams
from cw_hub.operation.settings import HubSettings


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
    for verb, team in ((undo.remove, remove), (undo.undo_remove, undo_remove)):
        if team is not None:
            act(settings, slug, verb, ids_of(settings, slug, [team]))
    with opened(settings) as database, database.reading() as session:
        listed = overview.teams(session, find(session, slug).id)
    for row in listed:
        bot = row.bot_kind if row.has_bot else "no bot yet"
        words = f"{row.slug}  {row.name}  {', '.join(row.groups)}  {row.status}  {bot}"
        tell({**asdict(row), "address": ""}, words, as_json=as_json)


def judge(
    settings: HubSettings, slug: str, disqualified: tuple[str, str] | None, reinstated: str | None
) -> None:
    """Disqualify a team for a reason, and reinstate another; None for neither."""
    if disqualified is not None:
        (team,) = ids_of(settings, slug, disqualified[:1])
        act(settings, slug, disqualification.disqualify, team, disqualified[1])
    if reinstated is not None:
        (team,) = ids_of(settings, slug, [reinstated])
        act(settings, slug, disqualification.reinstate, team)


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
        keys = overview.ssh_keys(session, find(session, slug).id)
    for team, machine, key in keys:
        tell(
            {"team": team, "machine": machine, "key": key},
            f"{team}  {machine or '-'}  {key}",
            as_json=as_json,
        )
