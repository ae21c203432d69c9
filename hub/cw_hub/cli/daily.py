"""Commands of `cw hub competition` for daily competitions."""

from __future__ import annotations

from typing import Final

import click

from cw.errors import UsageError
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.site import act_on_competition, tell
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session

MOST_TIMES: Final = 5
"""Maximum number of due times printed."""


def daily_only(of: CompetitionFacts) -> None:
    """Raise UsageError for a competition without due times."""
    if of.format != daily_service.FORMAT:
        raise UsageError(f"{of.format}/{of.slug} has no due times: it is not daily")


@click.command("next")
@click.argument("name")
@with_settings
@as_json
def next_command(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Print the next due times of a daily competition."""

    def act(session: Session, of: CompetitionFacts) -> list[str]:
        daily_only(of)
        return [
            f"{due:%Y-%m-%d %H:%M} UTC" for due in daily_service.upcoming(session, of, MOST_TIMES)
        ]

    dues = act_on_competition(settings, name, act)
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

    def act(session: Session, of: CompetitionFacts) -> str:
        daily_only(of)
        return daily_service.begin(session, of.id)

    game = act_on_competition(settings, name, act)
    tell({"competition": name, "match": game}, f"queued {game}", as_json=as_json)


@click.command()
@click.argument("name")
@with_settings
@as_json
def skip(settings: HubSettings, name: str, *, as_json: bool) -> None:
    """Cancel the next due time of a daily competition."""

    def act(session: Session, of: CompetitionFacts) -> str:
        daily_only(of)
        return f"{daily_service.skip(session, of.id):%Y-%m-%d %H:%M} UTC"

    due = act_on_competition(settings, name, act)
    tell({"competition": name, "skipped": due}, f"cancelled the game at {due}", as_json=as_json)


COMMANDS: Final = (next_command, run, skip)
"""The commands of `cw hub competition` for daily competitions only."""
