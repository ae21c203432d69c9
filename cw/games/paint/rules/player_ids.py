"""The ids of players (rule book, "Terms")."""

from __future__ import annotations

import re
from typing import Final

from cw.errors import ProtocolError, short
from cw.games.rules import Json

PLAYER_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def check_ids(players: Json) -> tuple[str, ...]:
    """Return the ids in a list; raise ProtocolError unless at least 2, all valid and distinct."""
    if not isinstance(players, list | tuple):
        raise ProtocolError(f"players must be a list of ids, not {short(players)}")
    if len(players) < 2:
        raise ProtocolError(f"at least 2 players are needed, not {len(players)}")
    for number, player in enumerate(players):
        if not isinstance(player, str) or not PLAYER_ID.fullmatch(player):
            raise ProtocolError(
                f"player id {short(player)} must be 1 to 64 letters, digits or the characters _ . -"
            )
        if player in players[:number]:
            raise ProtocolError(f"two players have the id {short(player)}")
    return tuple(players)
