"""`cw hub ratings`: verifies or recomputes the ratings of rated competitions."""

from __future__ import annotations

import json
from itertools import islice
from typing import Final

import click

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.cli.options import as_json, with_settings
from cw_hub.competitions.rated import service as rated_service
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import HubSettings
from cw_hub.store.models import Competition

MOST_DIFFERENCES: Final = 100
SLUG = click.argument("slug", required=False)


@click.group("ratings")
def ratings_group() -> None:
    """Verify or recompute the ratings of rated competitions from their matches."""


@ratings_group.command()
@with_settings
@SLUG
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="Allowed difference: other machines may differ in the last digits.",
)
@as_json
def verify(settings: HubSettings, slug: str | None, tolerance: float, as_json: bool) -> None:
    """Recompute the ratings of the competition SLUG, or of all, and compare.

    Exit code 1 if anything differs.
    """
    differences: list[tuple[str, rated_service.Difference]] = []
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.reading() as session,
    ):
        for one in chosen(rated_service.rated_competitions(session), slug):
            own = islice(rated_service.verify(session, one.id, tolerance), MOST_DIFFERENCES)
            differences += [(one.slug, difference) for difference in own]
    if as_json:
        documents = [
            {"competition": name, **difference._asdict()} for name, difference in differences
        ]
        click.echo(json.dumps({"differences": documents}, default=str))
    else:
        for name, difference in differences:
            click.echo(f"{name}: {difference}")
        click.echo(
            "The ratings match the results."
            if not differences
            else "The ratings differ from the results."
        )
    if differences:
        raise SystemExit(1)


@ratings_group.command()
@with_settings
@SLUG
def rebuild(settings: HubSettings, slug: str | None) -> None:
    """Rewrite the ratings of the competition SLUG, or of all, from their matches."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        for one in chosen(rated_service.rated_competitions(session), slug):
            number = rated_service.rebuild(session, one.id)
            about = {"matches": number}
            audit.note(session, "operator", "rebuild", f"rated/{one.slug}", detail=about)
            click.echo(f"{one.slug}: {number} matches")


def chosen(competitions: list[Competition], slug: str | None) -> list[Competition]:
    """Return the named competition, or all; raise UsageError if none has that name."""
    rows = [one for one in competitions if slug in (None, one.slug)]
    if slug is not None and not rows:
        raise UsageError(f"there is no rated competition {slug!r}")
    return rows
