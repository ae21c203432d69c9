"""What the owner of a server may choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cw import game
from cw.arena.bots import Bot
from cw.arena.desk import SHORT, TeamIdForm
from cw.errors import Refused

LOCAL_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names by which a browser on this machine reaches the server."""

NO_LIMIT: Final = -1

LARGEST_REQUEST: Final = 16 * 1024
"""Bytes of a request's head, and of its body, but for one that leaves a replay."""

LARGEST_UPLOAD: Final = 8 * 1024 * 1024
"""Bytes of a replay that a viewer may leave here, packed or not."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a Circuit Wars server."""

    timeout: float | None = None
    """Seconds for a turn, -1 for no limit; None takes `TIMEOUT` of cw/game.py."""
    size: int = 7
    """Squares in a row of the board: odd, 1 to 31."""
    openings: int = 0
    """Random segments with which every game starts."""
    seed: int = 0
    """What they are drawn from."""
    rooms: bool = True
    """Whether further games are played under /rooms/."""
    restart: bool = True
    """Whether /restart is there: for development only."""
    team_ids: TeamIdForm = SHORT
    """What a team may call itself."""
    names: frozenset[str] = LOCAL_NAMES
    """The host names under which the server may be asked to change a game."""
    any_address: bool = False
    """Whether every IP address counts as a name of the server."""
    matches: int = 8
    """How many matches the pages may let the server play at once."""
    opponents: Mapping[str, Sequence[Bot]] = field(default_factory=dict)
    """By game the bots that people may choose beside the built-in strategies."""
    replays: Path | None = None
    """The folder, or the one file, of the replays under /replays/; None for none."""
    uploads: bool = False
    """Whether viewers may leave replays in that folder."""

    def folder_for_uploads(self) -> Path | None:
        """Give where viewers may leave replays, None for nowhere.

        Raises Refused if they may, and there is no folder for them.
        """
        if not self.uploads:
            return None
        if self.replays is None or not self.replays.is_dir():
            raise Refused("uploads need a folder of replays to put them into")
        return self.replays

    def largest_body(self) -> int:
        """Give the bytes of the largest body of a request; a form takes some beside its file."""
        return LARGEST_UPLOAD + LARGEST_REQUEST if self.uploads else LARGEST_REQUEST

    def time_limit(self) -> float | None:
        """Give the seconds for a turn, None for no limit; raise Refused if it is no such number."""
        timeout = game.TIMEOUT if self.timeout is None else self.timeout
        if timeout == NO_LIMIT:
            return None
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise Refused(
                f"the time limit must be a number of seconds above 0, or -1 for none,"
                f" not {timeout!r}"
            )
        return float(timeout)


def is_address(name: str) -> bool:
    """Tell whether a host name is an IP address: no resolver can be made to lie about it."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_unspecified(host: str) -> bool:
    """Tell whether listening on this address means all networks of the machine."""
    return is_address(host) and ip_address(host).is_unspecified
