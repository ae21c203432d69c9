"""Readiness of a process: `/ready`, for load balancers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Condition, Thread
from typing import Final, TypeAlias

from cachetools import TTLCache, cached
from flask import Blueprint, Flask, Response, current_app, request

from cw_hub.operation.resources import Resources
from cw_hub.store.migrations import current, head

routes = Blueprint("ready", __name__)

PATIENCE: Final = 2.0
"""Seconds within which all dependencies must answer."""

FRESH: Final = 1.0
"""Seconds for which a result is reused: more frequent requests cost nothing more."""

Questions: TypeAlias = Mapping[str, Callable[[], bool]]
"""Checks by name."""

log = logging.getLogger(__name__)


def install(app: Flask, resources: Resources) -> None:
    """Register the checks of an app; concurrent requests share one run."""
    app.extensions["refusals"] = once_a_second(lambda: refusals(own(resources)))
    app.extensions["absent"] = once_a_second(lambda: absent(needed(resources)))


def once_a_second(names: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Cache the result of a function for FRESH seconds."""
    return cached(TTLCache(1, FRESH), condition=Condition())(names)


@routes.get("/ready")
def ready() -> Response:
    """Report whether this process should get requests; `?full=1` lists all that is missing.

    A dependency shared by all processes is no reason to send requests to none of them: there would
    be no readable error pages and no files.
    """
    is_full = request.args.get("full") == "1"
    names: list[str] = current_app.extensions["absent" if is_full else "refusals"]()
    words = f"no answer: {', '.join(names)}\n" if names else "ready\n"
    answer = Response(words, 503 if names else 200, content_type="text/plain; charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def own(resources: Resources) -> Questions:
    """Return the checks of the process itself: its threads, and its database revision."""
    return {
        "migrations": lambda: current(resources.database) == head(),
        "threads": lambda: not resources.threads.ended,
    }


def needed(resources: Resources) -> Questions:
    """Return the checks of everything a process needs; False or an error means failure."""
    return {
        "database": lambda: bool(current(resources.database)),
        **own(resources),
        "broker": resources.queue.is_there,
        "store": lambda: resources.objects.get("ready") is None,
    }


def refusals(questions: Questions) -> list[str]:
    """Return the names of the checks that failed; no answer is not a failure."""
    return [name for name, answer in answers_to(questions).items() if not answer]


def absent(questions: Questions) -> list[str]:
    """Return the names of the checks that did not succeed in time."""
    answers = answers_to(questions)
    return [name for name in questions if not answers.get(name)]


def answers_to(questions: Questions) -> dict[str, bool]:
    """Run all checks at once; return the results that arrive in time."""
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
