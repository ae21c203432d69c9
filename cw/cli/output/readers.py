"""Output whose reader may close the pipe early, as `head` does."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def while_read() -> Iterator[None]:
    """Print until the reader closes the pipe; then skip the rest of the block and of the output."""
    try:
        yield
    except OSError as error:
        # Windows reports a broken pipe as an invalid argument.
        if error.errno not in {errno.EPIPE, errno.EINVAL}:
            raise
        discard_output()


def discard_output() -> None:
    """Redirect all further output, including what is buffered, to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
