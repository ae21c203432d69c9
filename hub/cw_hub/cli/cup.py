"""The workers of a hub as the players of a championship, for `cw championship run --queue`."""

from __future__ import annotations

from cw_hub.competitions.cup.queued import NewPlayers, workers

__all__ = ["NewPlayers", "workers"]
