"""Per-request records: an id, a line in the log, and metrics."""

from __future__ import annotations

import logging
import time
from typing import Final
from urllib.parse import quote

from flask import Flask, Response, g, request

from cw_hub.operation.health import logs
from cw_hub.site.errors import masked_path
from cw_hub.site.monitoring import metrics

HEADER: Final = "X-Request-Id"

LONGEST: Final = 200
"""Maximum length of an address in the log, in characters."""

access = logging.getLogger("cw.hub.access")


def install(app: Flask) -> None:
    """Record all requests of an app, also those refused by the arena's own guards."""
    app.before_request_funcs.setdefault(None, []).insert(0, begin)
    app.after_request(end)
    app.teardown_request(lambda _: logs.forget())


def begin() -> None:
    """Assign a request its id, which is passed on to services called for it."""
    g.began = time.perf_counter()
    g.request_id = logs.request_id(request.headers.get(HEADER))
    logs.forget()
    logs.note(request_id=g.request_id)


def end(response: Response) -> Response:
    """Count a request and log it: who, what, how it ended, and how long it took.

    The line contains no query and no ticket of a link. The requester is logged as an address, and
    as a user if the response depends on who it is.
    """
    seconds = time.perf_counter() - g.began
    rule = request.url_rule
    metrics.of_app().note(rule.rule if rule else None, response.status_code, seconds)
    path = quote(masked_path()[:LONGEST], safe="/:@,=+~")
    ms = round(seconds * 1000, 1)
    about = {
        "address": request.remote_addr,
        "status": response.status_code,
        "ms": ms,
        "counted": "requests",
    }
    access.info("%s %s %s", request.method, path, response.status_code, extra=about)
    response.headers[HEADER] = g.request_id
    return response
