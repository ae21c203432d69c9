"""Whether a process can do its work: `/ready`, for those who send people to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Final

from flask import Blueprint, Response

from cw.hub.pages.actor import resources
from cw.hub.resources import Resources
from cw.hub.store.migrations import current, head

routes = Blueprint("ready", __name__)

PATIENCE: Final = 2.0
"""Seconds in which all that is needed must have answered."""

log = logging.getLogger("cw.hub.pages")


@routes.get("/ready")
def ready() -> Response:
    """Say that the process can do its work, or name what does not answer."""
    absent = without_answer(needed(resources()))
    words = f"no answer: {', '.join(absent)}\n" if absent else "ready\n"
    answer = Response(words, 503 if absent else 200, content_type="text/plain; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def needed(held: Resources) -> Mapping[str, Callable[[], bool]]:
    """Return what asks each thing that a process needs; False or an error is a no."""
    return {
        "database": lambda: bool(current(held.database)),
        "migrations": lambda: current(held.database) == head(),
        "broker": held.queue.is_there,
        "store": lambda: held.objects.get("ready") is None,
    }


def without_answer(asked: Mapping[str, Callable[[], bool]]) -> list[str]:
    """Ask all at once; return the names of those that have not said yes in time."""
    said: dict[str, bool] = {}

    def ask(name: str, does_answer: Callable[[], bool]) -> None:
        try:
            said[name] = does_answer()
        except Exception as error:
            log.warning("%s does not answer: %s", name, type(error).__name__)

    threads = [Thread(target=ask, args=one, daemon=True) for one in asked.items()]
    given_up = time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, given_up - time.monotonic()))
    return [name for name in asked if not said.get(name)]
