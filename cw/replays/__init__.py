"""A match as a document: enough to draw it, and to play it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cw.replays.loaded import LoadedReplay

__all__ = ["load"]


def load(path: str | Path) -> LoadedReplay:
    """Read the file of a replay, packed or not, also in a game's own format.

    Raises Failure for a file that cannot be read, ProtocolError for one that holds no replay.

        load("replays/hexagon-1.json.gz").outcome["winner"]
    """
    # What it needs, numpy among it, is loaded for those alone who analyse replays.
    from cw.replays.loaded import read_replay  # noqa: PLC0415

    return read_replay(path)
