"""Commands of `cw hub competition` for daily competitions."""

from __future__ import annotations

from typing import Final

import click

from cw.errors import UsageError
from cw_hub.cli.site import NAME, Answer, reading, writing
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.store.database import Session

MOST_TIMES: Final = 5
"""Maximum number of due times printed."""


def daily_named(session: Session, name: str) -> CompetitionFacts:
    """Return a daily competition; raise UsageError for one without due times."""
    facts = competitions_service.named(session, name)
    if facts.format != daily_service.FORMAT:
        raise UsageError(f"{facts.format}/{facts.slug} has no due times: it is not daily")
    return facts


@click.command("next")
@NAME
@reading
def next_command(session: Session, name: str) -> Answer:
    """Print the next due times of a daily competition."""
    dues = daily_service.upcoming(session, daily_named(session, name), MOST_TIMES)
    lines = [f"{due:%Y-%m-%d %H:%M} UTC" for due in dues]
    return {"competition": name, "next": lines}, "\n".join(lines) or "no game is planned"


@click.command()
@NAME
@writing
def run(session: Session, name: str) -> Answer:
    """Start a game of a daily competition now; the site plays it."""
    game = daily_service.begin(session, daily_named(session, name).id)
    return {"competition": name, "match": game}, f"queued {game}"


@click.command()
@NAME
@writing
def skip(session: Session, name: str) -> Answer:
    """Cancel the next due time of a daily competition."""
    due = daily_service.skip(session, daily_named(session, name).id)
    words = f"{due:%Y-%m-%d %H:%M} UTC"
    return {"competition": name, "skipped": words}, f"cancelled the game at {words}"


COMMANDS: Final = (next_command, run, skip)
"""The commands of `cw hub competition` for daily competitions only."""
