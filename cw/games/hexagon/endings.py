"""Wording of Hexagon results."""

from __future__ import annotations

from typing import Final

from cw.games.endings import Endings

ENDINGS: Final = Endings(unit="chip")
