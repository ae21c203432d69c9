"""The matches of challenges: private, unrated, and played when both bots are free."""

from __future__ import annotations

from typing import Final

from cw_hub.matches.challenges import match_page, turns
from cw_hub.matches.challenges.keys import NAME
from cw_hub.matches.kinds import Kind

CHALLENGE: Final = Kind(
    name=NAME,
    is_public=False,
    plays_at_once=True,
    keeps="none",
    is_of_value=True,
    send=turns.to_send,
    waits_for_ticks=True,
    part=match_page.part,
)
