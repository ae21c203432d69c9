"""Replays: a match as a JSON document, enough to render it and to play it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cw.replays.loaded import LoadedReplay

__all__ = ["load"]


def load(path: str | Path) -> LoadedReplay:
    """Read a replay file, packed or not, in the arena's or a game's own format.

    Raises Failure if the file cannot be read, ProtocolError if it is not a replay.

        load("replays/hexagon-1.json.gz").outcome["winner"]
    """
    # Its dependencies, numpy among them, are loaded only if replays are analysed.
    from cw.replays.loaded import read_replay  # noqa: PLC0415

    return read_replay(path)
