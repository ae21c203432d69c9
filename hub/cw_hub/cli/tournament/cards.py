"""The cards and tokens of teams and hosts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from cw.errors import UsageError
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import NEW_FILE, act, counted, find, ids_of
from cw_hub.cli.user import opened, tell
from cw_hub.clock import utc_now
from cw_hub.competitions.tournament.host import teams as host_teams
from cw_hub.competitions.tournament.teams import card_sheet
from cw_hub.competitions.tournament.teams import cards as tournament_cards
from cw_hub.competitions.tournament.teams.cards import Card, printed
from cw_hub.operation.settings import HubSettings

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
    with opened(settings) as database, database.writing() as session:
        competition = find(session, slug)
        issued = tournament_cards.issue(session, utc_now, competition.id, ids)
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
    token = printed(act(settings, slug, tournament_cards.issue_to_host, keep=keep))
    tell({"host_token": token}, token, as_json=as_json)


def write_cards(
    settings: HubSettings, file: Path, slug: str, title: str, cards: Sequence[Card]
) -> None:
    """Write the cards as a page to print, readable by its owner only."""
    page = card_sheet.whole_file(title, address_of(settings, slug), cards)
    if not settings.public_url:
        click.echo(NO_ADDRESS, err=True)
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as sheet:
            sheet.write(page)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None


def refuse_existing(file: Path) -> None:
    """Raise UsageError if a file of cards exists, as others may be able to read it."""
    if file.exists():
        raise UsageError(f"{file} exists already: choose another file for the cards")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {file.absolute().parent}")


def address_of(settings: HubSettings, slug: str) -> str:
    """Return the address of a tournament's pages.

    Without a public address of the site, only the path: this process cannot know where it listens.
    """
    return f"{settings.public_url}/t/{slug}/"


def documents_of(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """Return cards as JSON."""
    return [
        {"team": card.team, "slug": card.slug, "group": card.group, "token": printed(card.token)}
        for card in cards
    ]
