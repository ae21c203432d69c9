"""The due times of a daily competition: printed, brought forward, cancelled."""

from __future__ import annotations

from typing import Final

import click
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw_hub.cli.competition.acting import do
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.user import tell
from cw_hub.clock import Clock
from cw_hub.competitions.daily import verbs as daily
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.operation.settings import HubSettings

MOST_TIMES: Final = 5
"""How many due times are printed."""


def daily_only(of: CompetitionFacts) -> None:
    """Raise UsageError for a competition without due times."""
    if of.format != daily.FORMAT:
        raise UsageError(f"{of.format}/{of.slug} has no due times: it is not daily")


@click.command("next")
@click.argument("name")
@with_settings
@as_json
def next_command(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print the next due times of a daily competition."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> list[str]:
        daily_only(of)
        return [
            f"{due:%Y-%m-%d %H:%M} UTC" for due in daily.upcoming(session, clock, of, MOST_TIMES)
        ]

    dues = do(settings, name, act)
    tell(
        {"competition": name, "next": dues},
        "\n".join(dues) or "no game is planned",
        as_json=as_json,
    )


@click.command()
@click.argument("name")
@with_settings
@as_json
def run(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Start a game of a daily competition now; the site plays it."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> str:
        daily_only(of)
        return daily.begin(session, clock, of.id)

    game = do(settings, name, act)
    tell({"competition": name, "match": game}, f"queued {game}", as_json=as_json)


@click.command()
@click.argument("name")
@with_settings
@as_json
def skip(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Cancel the next due time of a daily competition."""

    def act(session: Session, clock: Clock, of: CompetitionFacts) -> str:
        daily_only(of)
        return f"{daily.skip(session, clock, of.id):%Y-%m-%d %H:%M} UTC"

    due = do(settings, name, act)
    tell({"competition": name, "skipped": due}, f"cancelled the game at {due}", as_json=as_json)
