"""Conflict responses of the API: a bot, or its owner, cannot do something as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort

from cw.errors import CapacityError
from cw_hub.bots import verbs as bots
from cw_hub.bots.versions.verbs import NotReady


@contextmanager
def conflicts() -> Iterator[None]:
    """Answer 409 if a bot, or its owner, cannot do something in their current state."""
    try:
        yield
    except (bots.WrongStatus, CapacityError, NotReady) as error:
        abort(409, str(error))
