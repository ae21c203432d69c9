"""Output whose reader may leave before its end, as `head` does."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def while_read() -> Iterator[None]:
    """Print while somebody reads; after that, drop the rest of the block and of the output."""
    try:
        yield
    except OSError as error:
        # Windows calls a broken pipe an invalid argument.
        if error.errno not in {errno.EPIPE, errno.EINVAL}:
            raise
        discard_output()


def discard_output() -> None:
    """Redirect all further output, even what is buffered, to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
