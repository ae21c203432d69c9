"""The sandboxes of a tournament, and the matches of their rounds."""

from __future__ import annotations

from dataclasses import asdict
from typing import get_args

import click
from sqlalchemy.orm import Session

from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import act, counted, find
from cw_hub.cli.user import opened, tell
from cw_hub.clock import Clock, utc_now
from cw_hub.competitions.tournament.groups import NewGroup, add_group
from cw_hub.competitions.tournament.host import overview
from cw_hub.competitions.tournament.host import rounds as host_rounds
from cw_hub.competitions.tournament.rounds import progress
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.operation.settings import HubSettings
from cw_hub.store.tables import GroupKind


@click.command()
@click.argument("slug")
@with_settings
@as_json
def status(settings: HubSettings, slug: str, *, as_json: bool) -> None:
    """Print the progress of each sandbox of a tournament, and what could not be played."""
    with opened(settings) as database, database.reading() as session:
        competition = find(session, slug)
        groups = overview.groups(session, competition.id)
        phases = [progress.phase_of(session, utc_now, group.id) for group in groups]
        failed = [
            match.match_id
            for match in overview.matches(session, competition.id)
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
        listed = overview.matches(session, find(session, slug).id)
    for match in listed:
        met = f"{match.group}  round {match.round}  {' : '.join(match.teams)}"
        tell(
            asdict(match),
            f"{match.match_id}  {met}  {match.state}  {match.reason}",
            as_json=as_json,
        )


def void_open_round(
    session: Session, clock: Clock, competition: int, sandbox: str, reason: str
) -> None:
    """Cancel the open round of a sandbox."""
    number = host_rounds.open_round(session, competition, sandbox)
    host_rounds.void_round(session, clock, competition, number, reason)


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
