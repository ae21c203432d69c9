"""First start of a site: the initial competitions of its formats, and maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cw_hub.competitions import maps
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.format import Format
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import FORMATS


def begin_site(
    resources: Resources, formats: Sequence[Format] = FORMATS, /, **settings: Any
) -> None:
    """Create the initial competitions of a site with `settings`, and store their maps.

    Idempotent, also for concurrent callers: existing ones stay as they are.
    """
    values = {"same_owner": resources.settings.is_local, **settings}
    on_maps = [format_.name for format_ in formats if format_.has_maps]
    with resources.database.writing() as session:
        for format_ in formats:
            if format_.begin is not None:
                format_.begin(session, resources.clock, values)
        played = competitions.everything(session)
    for game in sorted({row.game for row in played if row.format in on_maps}):
        store_maps(resources, game)


def store_maps(resources: Resources, game: str) -> None:
    """Put a game's maps into the store, then into the table, so that a listed map is complete."""
    with resources.database.reading() as session:
        stored = maps.stored_names(session, game)
    missing = [map_ for map_ in maps.library(game) if map_.map_id not in stored]
    for map_ in missing:
        resources.objects.put_new(map_.key, map_.data)
    with resources.database.writing() as session:
        maps.put(session, missing)
