"""The games that can be drawn, one module each, by their names in replays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cw.pictures.games.circuit_wars import CIRCUIT_WARS
from cw.pictures.games.code_battle import CODE_BATTLE
from cw.pictures.games.end_of_codes import END_OF_CODES
from cw.pictures.games.hexagon import HEXAGON
from cw.pictures.games.paint import PAINT
from cw.pictures.scenes import Game

GAMES: Final[Mapping[str, Game[Any]]] = {
    "circuit-wars": CIRCUIT_WARS,
    "code-battle": CODE_BATTLE,
    "end-of-codes": END_OF_CODES,
    "hexagon": HEXAGON,
    "paint": PAINT,
}
