"""What a site has from its first start on: a daily and a rated competition, and maps."""

from __future__ import annotations

from typing import Any, Final

from cw.hub.resources import Resources
from cw.hub.services import daily, maps, rated

GAME: Final = "code-battle"
"""The game of the rated competition that a site begins with."""

TITLE: Final = "AI Code Battle"


def begin_site(resources: Resources, **settings: Any) -> None:
    """Create the daily and the rated competition, the latter with `settings`, and store its maps.

    Twice, or by two at once: what is there stays as it is.
    """
    about = {"same_owner": resources.settings.is_local, **settings}
    with resources.database.writing() as session:
        daily.begin_site(session, resources.clock)
        rated.begin(session, resources.clock, GAME, TITLE, **about)
        games = [competition.game for competition in rated.competitions(session)]
    for game in games:
        store_maps(resources, game)


def store_maps(resources: Resources, game: str) -> None:
    """Put the maps of a game into the store, then into the table: a map that is there is whole."""
    with resources.database.reading() as session:
        known = maps.known(session, game)
    missing = [one for one in maps.library(game) if one.map_id not in known]
    for one in missing:
        resources.objects.put_new(one.key, one.data)
    with resources.database.writing() as session:
        maps.put(session, missing)
