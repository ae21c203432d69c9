"""What is noted of each request: its id, its line in the log, and its part of the metrics."""

from __future__ import annotations

import logging
import time
from typing import Final
from urllib.parse import quote

from flask import Flask, Response, g, request

from cw.hub.operation.health import logs
from cw.hub.site.errors import masked_path
from cw.hub.site.monitoring import metrics

HEADER: Final = "X-Request-Id"

LONGEST: Final = 200
"""Characters of an address in the log."""

access = logging.getLogger("cw.hub.access")


def install(app: Flask) -> None:
    """Note all requests of an app, also those that the arena's own guards refuse."""
    app.before_request_funcs.setdefault(None, []).insert(0, begin)
    app.after_request(end)
    app.teardown_request(lambda _: logs.forget())


def begin() -> None:
    """Give a request its id, which those who are asked on its behalf are told too."""
    g.began = time.perf_counter()
    g.request_id = logs.request_id(request.headers.get(HEADER))
    logs.forget()
    logs.note(request_id=g.request_id)


def end(response: Response) -> Response:
    """Count a request and write its line: who, what, how it ended, and how long it took.

    The line has no query and no ticket of a link. Who asks is the address, and the user where the
    answer depends on who it is.
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
