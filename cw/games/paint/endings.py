"""Wording of Paint results."""

from __future__ import annotations

from typing import Final

from cw.games.endings import Endings

ENDINGS: Final = Endings(
    unit="square",
    reasons={"not_enough_ready": "fewer than two bots were ready"},
)
