"""Whether a process can do its work: `/ready`, for those who send people to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Condition, Thread
from typing import Final

from cachetools import TTLCache, cached
from flask import Blueprint, Flask, Response, current_app

from cw.hub.operation.resources import Resources
from cw.hub.store.migrations import current, head

routes = Blueprint("ready", __name__)

PATIENCE: Final = 2.0
"""Seconds in which all that is needed must have answered."""

FRESH: Final = 1.0
"""Seconds for which an answer is given again: whoever asks more often costs nothing more."""

log = logging.getLogger(__name__)


def install(app: Flask, resources: Resources) -> None:
    """Let an app ask what it needs, once for all who want to know at the same time."""

    @cached(TTLCache(1, FRESH), condition=Condition())
    def absent() -> list[str]:
        return without_answer(needed(resources))

    app.extensions["absent"] = absent


@routes.get("/ready")
def ready() -> Response:
    """Say that the process can do its work, or name what does not answer."""
    absent: list[str] = current_app.extensions["absent"]()
    words = f"no answer: {', '.join(absent)}\n" if absent else "ready\n"
    answer = Response(words, 503 if absent else 200, content_type="text/plain; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def needed(resources: Resources) -> Mapping[str, Callable[[], bool]]:
    """Return what asks each thing that a process needs; False or an error is a no."""
    return {
        "database": lambda: bool(current(resources.database)),
        "migrations": lambda: current(resources.database) == head(),
        "broker": resources.queue.is_there,
        "store": lambda: resources.objects.get("ready") is None,
        "threads": lambda: not resources.threads.ended,
    }


def without_answer(questions: Mapping[str, Callable[[], bool]]) -> list[str]:
    """Ask all at once; return the names of those that have not said yes in time."""
    answers: dict[str, bool] = {}

    def ask(name: str, does_answer: Callable[[], bool]) -> None:
        try:
            answers[name] = does_answer()
        except Exception as error:
            log.warning("%s does not answer: %s", name, type(error).__name__)

    threads = [Thread(target=ask, args=question, daemon=True) for question in questions.items()]
    given_up = time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, given_up - time.monotonic()))
    return [name for name in questions if not answers.get(name)]
