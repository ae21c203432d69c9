"""Folders, and files that appear whole or not at all."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Final

from cw.errors import Failure

PAUSES: Final = (0.01, 0.05, 0.2, 0.7) if sys.platform == "win32" else ()
"""Seconds between attempts to replace or remove a file."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees a part of it, and a power cut leaves none.

    Any number of writers may write it at the same time; the last one wins. Raises Failure, with
    the file as it was, if it cannot be written.
    """
    partial = path.with_name(f".{path.name[:100]}.{token_hex(8)}.partial")
    try:
        with partial.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        insist(lambda: partial.replace(path))
    except OSError as error:
        raise Failure(f"{path} cannot be written, and is unchanged: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def insist(change: Callable[[], object]) -> None:
    """Replace or remove a file, on Windows again and again for a second; raise OSError if refused.

    Windows refuses that while another program reads the file, or looks for viruses in it.
    """
    for pause in PAUSES:
        try:
            change()
        except PermissionError:
            time.sleep(pause)
        else:
            return
    change()


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there; raise Failure if that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"the folder {path} cannot be created: {error.strerror}") from None
