"""Time for bots on a busy machine, also for those that the players of a hub play with.

As a program it is `cw`, as tests.patience is; the hub that it runs has players that are it too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Final

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests import patience

PROGRAM: Final = (sys.executable, __file__)
PLAYER: Final = (*PROGRAM, "hub", "player")


def start_patient_players(connections: ModuleType) -> None:
    """Let players, which are programs of their own, be patient."""
    setattr(connections, "COMMAND", PLAYER)  # noqa: B010


CHANGES: Final = {
    **patience.CHANGES,
    # What a process has time for that is told to end.
    **patience.changes({"cw_hub.operation.resources": ("LAST_WORDS",)}),
    "cw_hub.players.players": start_patient_players,
}

if __name__ == "__main__":
    patience.main(CHANGES)
