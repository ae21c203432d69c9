"""The settings of a server."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from cw import game
from cw.games.circuit_wars.protocol import time_limit
from cw.server.session import SHORT, TeamIdForm

LOCAL_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names by which a browser on this machine reaches the server."""

LARGEST_REQUEST: Final = 16 * 1024
"""Bytes of a request's head, and of its body; uploads of replays have a limit of their own."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of a Circuit Wars server."""

    timeout: float | None = None
    """Seconds for a turn, -1 for no limit; None takes `TIMEOUT` of cw/game.py."""
    size: int = 7
    """Squares on each side of the board: odd, 1 to 31."""
    openings: int = 0
    """Random segments with which every game starts."""
    seed: int = 0
    """The seed they are drawn from."""
    desk: bool = True
    """Whether a game is played at the root."""
    rooms: bool = True
    """Whether further games are played under /rooms/."""
    restart: bool = True
    """Whether /restart exists: for development only."""
    team_ids: TeamIdForm = SHORT
    """What a team may call itself."""
    names: frozenset[str] = LOCAL_NAMES
    """The host names under which the server may be asked to change a game."""
    any_address: bool = False
    """Whether every IP address counts as a name of the server."""

    def time_limit(self) -> float | None:
        """Return the seconds for a turn, None for no limit; raise UsageError for anything else."""
        return time_limit(game.TIMEOUT if self.timeout is None else self.timeout)


def is_address(name: str) -> bool:
    """Return whether a host name is an IP address: no resolver can be made to lie about it."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_unspecified(host: str) -> bool:
    """Return whether listening on this address means all networks of the machine."""
    return is_address(host) and ip_address(host).is_unspecified
