"""Reads replay files, for all commands of `cw replay`."""

from __future__ import annotations

from pathlib import Path

import click

from cw.errors import UsageError
from cw.replays import document
from cw.replays.own_formats import ReplayFile, decode

FILE = click.Path(path_type=Path, dir_okay=False)


def read(file: Path) -> document.Document:
    """Read a replay, also in the format of its game; raise UsageError if the file is invalid."""
    return read_file(file).document


def read_file(file: Path) -> ReplayFile:
    """Read a replay, with everything else that its file contains."""
    try:
        with file.open("rb") as source:
            data = source.read(document.LARGEST)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    return decode(data)
