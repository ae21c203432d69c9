"""`cw hub match`: matches, for the operator."""

from __future__ import annotations

import click

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.cli.options import with_settings
from cw_hub.matches import interruptions
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings

OPERATOR = "operator"


@click.group()
def match() -> None:
    """Requeue a failed match, or cancel one."""


@match.command()
@with_settings
@click.argument("match_id")
def requeue(settings: HubSettings, match_id: str) -> None:
    """Give the failed match MATCH_ID another five attempts."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        if not interruptions.requeue_failed(session, match_id):
            raise UsageError(f"{match_id} is not a failed match")
        audit.note(session, resources.clock, OPERATOR, "requeue", f"match:{match_id}")
    click.echo(f"queued {match_id}")


@match.command()
@with_settings
@click.argument("match_id")
@click.option(
    "--reason", default="called off by the operator", help="Reason, shown on the page of the match."
)
def void(settings: HubSettings, match_id: str, reason: str) -> None:
    """Cancel the match MATCH_ID, which must not have begun."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        if not interruptions.void(session, resources.clock, match_id, reason):
            raise UsageError(f"{match_id} is not a waiting match")
        audit.note(session, resources.clock, OPERATOR, "void", f"match:{match_id}")
    click.echo(f"cancelled {match_id}")
