"""The words for the faults of bots, on pages, in commands and in reports.

`docs/make_words.py` copies them for the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cw.arena.seats import STRAY
from cw.errors import FaultKind
from cw.games.status_faults import SERVER_ERROR
from cw.matches.spec import MatchFault

DID: Final[Mapping[FaultKind, str]] = {
    "startup": "could not be started",
    "disconnected": "closed its connection",
    "timeout": "did not answer in time",
    "crashed": "crashed",
    "malformed": "sent an unreadable answer",
    "illegal": "made an illegal move",
    "oversize": "sent an answer that was too long",
}
"""What a bot did, by the kind of its fault."""

CAUSED: Final[Mapping[str, str]] = {
    SERVER_ERROR: "answered with an error",
    STRAY: "printed a line that is not an answer",
}
"""What a bot with an unreadable answer did, by the cause of its fault."""


def did(fault: MatchFault) -> str:
    """Return what a bot did to commit a fault, to follow its name."""
    caused = CAUSED.get(fault.cause) if fault.kind == "malformed" else None
    return caused or DID[fault.kind]
