"""`cw hub ratings`: verifies or recomputes the ratings of rated competitions."""

from __future__ import annotations

from itertools import islice
from typing import Final

import click

from cw.errors import UsageError
from cw_hub.accounts import audit
from cw_hub.cli.options import as_json, opened, tell, with_settings
from cw_hub.cli.site import Answer, writing
from cw_hub.competitions.rated import service as rated_service
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Session
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
    with opened(settings) as database, database.reading() as session:
        for one in chosen(rated_service.rated_competitions(session), slug):
            own = islice(rated_service.verify(session, one.id, tolerance), MOST_DIFFERENCES)
            differences += [(one.slug, difference) for difference in own]
    documents = [{"competition": name, **difference._asdict()} for name, difference in differences]
    ends = "The ratings differ from" if differences else "The ratings match"
    lines = [*(f"{name}: {difference}" for name, difference in differences), f"{ends} the results."]
    tell({"differences": documents}, "\n".join(lines), as_json=as_json)
    if differences:
        raise SystemExit(1)


@ratings_group.command()
@SLUG
@writing
def rebuild(session: Session, slug: str | None) -> list[Answer]:
    """Rewrite the ratings of the competition SLUG, or of all, from their matches."""
    answers = []
    for one in chosen(rated_service.rated_competitions(session), slug):
        detail = {"matches": rated_service.rebuild(session, one.id)}
        audit.record(session, "rebuild", f"rated/{one.slug}", detail=detail)
        words = f"{one.slug}: {detail['matches']} matches"
        answers.append(({"competition": one.slug, **detail}, words))
    return answers


def chosen(competitions: list[Competition], slug: str | None) -> list[Competition]:
    """Return the named competition, or all; raise UsageError if none has that name."""
    rows = [one for one in competitions if slug in (None, one.slug)]
    if slug is not None and not rows:
        raise UsageError(f"there is no rated competition {slug!r}")
    return rows
