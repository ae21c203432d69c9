"""`cw hub ratings`: the ratings, proven from the matches, and rewritten."""

from __future__ import annotations

import json
from itertools import islice
from typing import Final

import click

from cw.cli.hub_options import as_json, with_settings
from cw.errors import UsageError
from cw.hub.jobs.app import CeleryQueue
from cw.hub.resources import opened
from cw.hub.services import audit, rated, ratings
from cw.hub.settings import HubSettings
from cw.hub.store.tables import Competition

MOST_SHOWN: Final = 100
SLUG = click.argument("slug", required=False)


@click.group("ratings")
def ratings_group() -> None:
    """Prove the ratings of rated competitions from their matches, or rewrite them."""


@ratings_group.command()
@with_settings
@SLUG
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="How far a figure may be off: another machine may differ in the last digits.",
)
@as_json
def verify(settings: HubSettings, slug: str | None, tolerance: float, as_json: bool) -> None:
    """Rate all matches of the competition SLUG again, and compare; without SLUG of all.

    Exit code 1 if anything differs.
    """
    found: list[tuple[str, ratings.Difference]] = []
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.reading() as session,
    ):
        for one in chosen(rated.competitions(session), slug):
            differences = islice(ratings.verify(session, one.id, tolerance), MOST_SHOWN)
            found += [(one.slug, difference) for difference in differences]
    if as_json:
        said = [{"competition": name, **difference._asdict()} for name, difference in found]
        click.echo(json.dumps({"differences": said}, default=str))
    else:
        for name, difference in found:
            click.echo(f"{name}: {difference}")
        click.echo("The ratings are what the matches say." if not found else "They differ.")
    if found:
        raise SystemExit(1)


@ratings_group.command()
@with_settings
@SLUG
def rebuild(settings: HubSettings, slug: str | None) -> None:
    """Rewrite the ratings of the competition SLUG from its matches; without SLUG, of all."""
    with (
        opened(settings, CeleryQueue(settings)) as resources,
        resources.database.writing() as session,
    ):
        for one in chosen(rated.competitions(session), slug):
            number = ratings.rebuild(session, one.id)
            about = {"matches": number}
            clock = resources.clock
            audit.note(session, clock, "operator", "rebuild", f"rated/{one.slug}", detail=about)
            click.echo(f"{one.slug}: {number} matches")


def chosen(competitions: list[Competition], slug: str | None) -> list[Competition]:
    """Return the competition of a name, or all; raise UsageError if there is none of it."""
    found = [one for one in competitions if slug in (None, one.slug)]
    if slug is not None and not found:
        raise UsageError(f"there is no rated competition {slug!r}")
    return found
