"""Append-only line files with a single writer; a crash can damage only the last line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from cw.errors import Failure, UsageError

LOCK: Final = ".lock"

PATIENCE: Final = 2.0
"""Seconds to wait for the lock, as a check of whether a file is in use also takes it briefly."""


def append_line(file: Path, data: bytes) -> None:
    """Append a line, which must end in a line feed; raise Failure if that fails.

    The line survives a power failure once this returns. After a failure, the file is unchanged.
    """
    before = file.stat().st_size
    try:
        with file.open("ab") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        # A full disk may have stored only part of the line; the next line would be appended to it.
        os.truncate(file, before)
        raise Failure(
            f"{file} cannot be written: {error.strerror}; what was written before is intact"
        ) from None


def mend(file: Path) -> None:
    """Create a file, or remove its incomplete last line; raise Failure if that is impossible."""
    try:
        file.touch()
        cut_torn_line(file)
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}") from None


def cut_torn_line(file: Path) -> None:
    """Remove an unterminated last line."""
    data = file.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(file, whole)


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Hold the lock of a file or folder; raise UsageError if another process holds it."""
    lock = place / LOCK if place.is_dir() else place.with_name(f".{place.name}{LOCK}")
    holder = FileLock(lock)
    try:
        holder.acquire(timeout=PATIENCE)
    except Timeout:
        raise UsageError(f"{place} is being run by another process") from None
    except OSError as error:
        raise Failure(f"{lock} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        holder.release()
