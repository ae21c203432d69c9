"""Whether a process can do its work: `/ready`, for those who send people to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Condition, Thread
from typing import Final, TypeAlias

from cachetools import TTLCache, cached
from flask import Blueprint, Flask, Response, current_app, request

from cw.hub.operation.resources import Resources
from cw.hub.store.migrations import current, head

routes = Blueprint("ready", __name__)

PATIENCE: Final = 2.0
"""Seconds in which all that is needed must have answered."""

FRESH: Final = 1.0
"""Seconds for which an answer is given again: whoever asks more often costs nothing more."""

Questions: TypeAlias = Mapping[str, Callable[[], bool]]
"""What asks one thing after the other, by its name."""

log = logging.getLogger(__name__)


def install(app: Flask, resources: Resources) -> None:
    """Let an app ask what it needs, once for all who want to know at the same time."""
    app.extensions["refusals"] = once_a_second(lambda: refusals(own(resources)))
    app.extensions["absent"] = once_a_second(lambda: absent(needed(resources)))


def once_a_second(names: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Return what asks at most once for so long as an answer is given again."""
    return cached(TTLCache(1, FRESH), condition=Condition())(names)


@routes.get("/ready")
def ready() -> Response:
    """Say whether people may be sent to this process; with `?full=1`, name all that is missing.

    What all processes share is no reason to send people to none of them: they would get no page
    in words, and no file.
    """
    is_full = request.args.get("full") == "1"
    names: list[str] = current_app.extensions["absent" if is_full else "refusals"]()
    words = f"no answer: {', '.join(names)}\n" if names else "ready\n"
    answer = Response(words, 503 if names else 200, content_type="text/plain; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def own(resources: Resources) -> Questions:
    """Return what asks of the process itself: its threads, and whether it fits the database."""
    return {
        "migrations": lambda: current(resources.database) == head(),
        "threads": lambda: not resources.threads.ended,
    }


def needed(resources: Resources) -> Questions:
    """Return what asks each thing that a process needs; False or an error is a no."""
    return {
        "database": lambda: bool(current(resources.database)),
        **own(resources),
        "broker": resources.queue.is_there,
        "store": lambda: resources.objects.get("ready") is None,
    }


def refusals(questions: Questions) -> list[str]:
    """Return the names of those that have said no: silence is none."""
    return [name for name, answer in answers_to(questions).items() if not answer]


def absent(questions: Questions) -> list[str]:
    """Return the names of those that have not said yes in time."""
    answers = answers_to(questions)
    return [name for name in questions if not answers.get(name)]


def answers_to(questions: Questions) -> dict[str, bool]:
    """Ask all at once; return the answers that come in time."""
    answers: dict[str, bool] = {}

    def ask(name: str, does_answer: Callable[[], bool]) -> None:
        try:
            answers[name] = does_answer()
        except Exception as error:
            log.warning("%s does not answer: %s", name, type(error).__name__)

    threads = [Thread(target=ask, args=question, daemon=True) for question in questions.items()]
    deadline = time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return dict(answers)
