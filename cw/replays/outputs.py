"""What bots wrote to their standard error: private files beside a replay, one for each seat.

They are no part of it: whoever hands a replay on does not hand on what its bots have told.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

ENDING: Final = ".stderr"
LARGEST: Final = 256 * 1024
"""Bytes of an output that are read."""


def write_outputs(replay: Path, outputs: Sequence[str]) -> None:
    """Write what each seat has put out, in seat order; a seat that was silent gets no file.

    Raises OSError where files cannot be written.
    """
    for seat, text in enumerate(outputs, 1):
        file = place(replay, seat)
        if text:
            file.write_text(text, encoding="utf-8", errors="replace")
        else:
            file.unlink(missing_ok=True)


def read_outputs(replay: Path, seats: int) -> list[str]:
    """Return what each seat has put out, in seat order, "" where there is no file."""
    return [read_output(place(replay, seat)) for seat in range(1, seats + 1)]


def read_output(file: Path) -> str:
    """Return the text of one file, "" where there is none, or a link."""
    if file.is_symlink() or not file.is_file():
        return ""
    with file.open("rb") as source:
        return source.read(LARGEST).decode(errors="replace")


def place(replay: Path, seat: int) -> Path:
    """Return where the output of a seat, counted from 1, is kept."""
    stem = replay.name.removesuffix(".gz").removesuffix(".json")
    return replay.with_name(f"{stem}.{seat}{ENDING}")
