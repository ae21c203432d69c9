"""The settings of a server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from cw import game
from cw.errors import UsageError
from cw.games.circuit_wars.protocol import time_limit
from cw.server.names import HOST, HostNames
from cw.server.session import SHORT, TeamIdForm

LARGEST_REQUEST: Final = 16 * 1024
"""Bytes of a request's head, and of its body; uploads of replays have their own limit."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of a Circuit Wars server."""

    timeout: float | None = None
    """Seconds per turn, -1 for no limit; None uses `TIMEOUT` of cw/game.py."""
    size: int = 7
    """Squares on each side of the board: odd, 1 to 31."""
    openings: int = 0
    """Number of random segments at the start of every game."""
    seed: int = 0
    """The seed for generating them."""
    desk: bool = True
    """Whether a game is played at the root."""
    rooms: bool = True
    """Whether there are more games under /rooms/."""
    restart: bool = True
    """Whether /restart exists: for development only."""
    team_ids: TeamIdForm = SHORT
    """The form of valid team ids."""
    names: HostNames = field(default_factory=HostNames)
    """The host names to which the server responds."""
    further_names: str = ""
    """How the owner can allow another one, as text for a message."""
    origins: frozenset[str] = frozenset()
    """Origins of other sites whose pages may play, as returned by `read_origin`."""

    def time_limit(self) -> float | None:
        """Return the seconds per turn, or None for no limit; raise UsageError if invalid."""
        return time_limit(game.TIMEOUT if self.timeout is None else self.timeout)


ORIGIN: Final = re.compile(f"https?://{HOST}", re.IGNORECASE)


def read_origin(text: str) -> str:
    """Return an origin in the form that browsers send; raise UsageError if invalid."""
    try:
        if not ORIGIN.fullmatch(text):
            raise ValueError
        parts = urlsplit(text.lower())
        host, port = parts.hostname or "", parts.port
        if ":" in host:
            host = f"[{ip_address(host).compressed}]"
    except ValueError:
        raise UsageError(
            f"{text[:200]!r} is not an origin: give the address of the site without a path, such as"
            " http://localhost:3000"
        ) from None
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")
