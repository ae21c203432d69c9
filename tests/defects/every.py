"""All defects that are seeded."""

from __future__ import annotations

from typing import Final

from tests.defects import of_games, of_playing, of_the_hub
from tests.defects.defect import Defect

DEFECTS: Final[tuple[Defect, ...]] = (
    *of_games.GAMES,
    *of_games.LEAGUE,
    *of_games.SUITE,
    *of_games.DRAWN,
    *of_playing.ARENA,
    *of_playing.MATCHES,
    *of_playing.CHAMPIONSHIP,
    *of_playing.LAB,
    *of_playing.REPLAYS,
    *of_playing.SERVER,
    *of_playing.PAGES,
    *of_playing.WORKSHOP,
    *of_playing.COMMANDS,
    *of_the_hub.ACCOUNTS,
    *of_the_hub.SITE,
    *of_the_hub.MATCHES,
    *of_the_hub.BOTS,
    *of_the_hub.COMPETITIONS,
)
