"""What holds after each match."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """No match leaves a child of this process behind, where the system lists them."""
    # A service that other tests are tried with may run all the time.
    before = children()
    yield
    assert children() <= before


def children() -> set[int]:
    """Return the numbers of the processes that this one has started."""
    ids = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = stat.read_text().partition(" ")
            if int(rest.rpartition(")")[2].split()[1]) == os.getpid():
                ids.add(int(number))
    return ids
