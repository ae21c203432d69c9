"""The bots' standard error: private files next to a replay, two for each seat.

They are not part of the replay: sharing it does not share what its bots printed. One file holds the
text; the other has a line for each turn with output: its number, from 1 (0 is before the first),
and the index in the text where its part begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

ENDING: Final = ".stderr"
TURNS_ENDING: Final = ".stderr-turns"
TURN: Final = re.compile(r"[0-9]{1,9} [0-9]{1,9}")
LARGEST: Final = 256 * 1024
"""Maximum bytes of an output to read."""


class Output(NamedTuple):
    """The output of a bot, and the turns in which it was written."""

    text: str = ""
    turns: Sequence[tuple[int, int]] = ()
    """The turns with output, in order, and where in the text each starts; () if unknown."""

    @property
    def parts(self) -> list[tuple[int, str]]:
        r"""The output of each turn.

        >>> Output("ready\nmove 1\n", [(0, 0), (3, 6)]).parts
        [(0, 'ready\n'), (3, 'move 1\n')]
        """
        begins = [begin for _, begin in self.turns]
        ends = [*begins[1:], len(self.text)]
        return [
            (turn, self.text[begin:end])
            for (turn, begin), end in zip(self.turns, ends, strict=False)
        ]


def write_outputs(replay: Path, outputs: Sequence[Output]) -> None:
    """Write the output of each seat, in seat order; a silent seat gets no files.

    Raises OSError if files cannot be written.
    """
    for seat, output in enumerate(outputs, 1):
        lines = (f"{turn} {begin}\n" for turn, begin in output.turns)
        write_file(place(replay, seat, ENDING), output.text)
        write_file(place(replay, seat, TURNS_ENDING), "".join(lines))


def write_file(file: Path, text: str) -> None:
    """Write a text file; remove it if the text is empty."""
    if text:
        # Converted line ends would shift the positions where turns start.
        file.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    else:
        file.unlink(missing_ok=True)


def read_outputs(replay: Path, seats: int) -> list[Output]:
    """Return the output of each seat, in seat order; empty if there is no file."""
    return [
        Output(
            read_output(place(replay, seat, ENDING)),
            read_turns(read_output(place(replay, seat, TURNS_ENDING))),
        )
        for seat in range(1, seats + 1)
    ]


def read_turns(text: str) -> list[tuple[int, int]]:
    """Parse the turns in a file; [] if it is invalid."""
    lines = text.splitlines()
    if not all(TURN.fullmatch(line) for line in lines):
        return []
    pairs = (line.split() for line in lines)
    return [(int(turn), int(begin)) for turn, begin in pairs]


def read_output(file: Path) -> str:
    """Return the text of a file; "" if it does not exist or is a link."""
    if file.is_symlink() or not file.is_file():
        return ""
    with file.open("rb") as source:
        return source.read(LARGEST).decode(errors="replace")


def place(replay: Path, seat: int, ending: str) -> Path:
    """Return the path for the output of a seat, counted from 1."""
    stem = replay.name.removesuffix(".gz").removesuffix(".json")
    return replay.with_name(f"{stem}.{seat}{ending}")
