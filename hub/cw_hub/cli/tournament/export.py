"""A tournament as a zip."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import click

from cw.errors import UsageError
from cw.files import write_whole
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import NEW_FILE, find
from cw_hub.cli.user import opened, tell
from cw_hub.clock import utc_now
from cw_hub.competitions.tournament.host import export as tournament_export
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.operation.settings import HubSettings
from cw_hub.store.objects import ObjectStore


@click.command()
@click.argument("slug")
@click.option("--out", "file", type=NEW_FILE, help="Zip file to write.  [default: SLUG.zip]")
@click.option("--replays", is_flag=True, help="Include the replays of all matches.")
@with_settings
@as_json
def export(
    settings: HubSettings, slug: str, file: Path | None, *, replays: bool, as_json: bool
) -> None:
    """Export a tournament as a zip file, from which `new --config` recreates it."""
    file = file or Path(f"{slug.rpartition('/')[2]}.zip")
    if file.exists():
        raise UsageError(f"{file} exists already: choose another file with --out")
    with opened(settings) as database, database.reading() as session:
        competition = find(session, slug)
        data = BytesIO()
        tournament_export.write_zip(session, utc_now, competition.id, data)
        if replays:
            tournament_export.add_replays(
                session, ObjectStore(settings.store), competition.id, data
            )
    write_whole(file, data.getvalue())
    tell(
        {"competition": f"{FORMAT}/{competition.slug}", "file": str(file)},
        f"wrote {file}",
        as_json=as_json,
    )
