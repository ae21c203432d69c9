"""`cw hub match`: what an operator does with matches."""

from __future__ import annotations

import click

from cw.cli.hub_options import with_settings
from cw.errors import UsageError
from cw.hub.jobs.app import CeleryQueue
from cw.hub.resources import opened
from cw.hub.services import audit, matches
from cw.hub.settings import HubSettings

OPERATOR = "operator"


@click.group()
def match() -> None:
    """Play a match again that has failed, or call one off."""


@match.command()
@with_settings
@click.argument("match_id")
def requeue(settings: HubSettings, match_id: str) -> None:
    """Give the failed match MATCH_ID another five attempts."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        if not matches.requeue_failed(session, match_id):
            raise UsageError(f"{match_id} is no match that has failed")
        audit.note(session, resources.clock, OPERATOR, "requeue", f"match:{match_id}")
    click.echo(f"{match_id} is queued")


@match.command()
@with_settings
@click.argument("match_id")
@click.option("--reason", default="called off by the operator", help="Why, for its page.")
def void(settings: HubSettings, match_id: str, reason: str) -> None:
    """Call the match MATCH_ID off, which has not begun."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        if not matches.void(session, resources.clock, match_id, reason):
            raise UsageError(f"{match_id} is no match that waits")
        audit.note(session, resources.clock, OPERATOR, "void", f"match:{match_id}")
    click.echo(f"{match_id} is called off")
