"""What a site creates at its first start: what its formats begin with, and maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cw.hub.competitions import maps
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.format import Format
from cw.hub.operation.resources import Resources
from cw.hub.site.formats import FORMATS


def begin_site(
    resources: Resources, formats: Sequence[Format] = FORMATS, /, **settings: Any
) -> None:
    """Create the competitions that a site begins with, with `settings`, and store their maps.

    Twice, or by two at once: what is there stays as it is.
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
    """Put the maps of a game into the store, then into the table: a map that is there is whole."""
    with resources.database.reading() as session:
        stored = maps.stored_names(session, game)
    missing = [map_ for map_ in maps.library(game) if map_.map_id not in stored]
    for map_ in missing:
        resources.objects.put_new(map_.key, map_.data)
    with resources.database.writing() as session:
        maps.put(session, missing)
