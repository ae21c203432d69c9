"""`/metrics`: the figures of the site and of this process, for Prometheus."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address, ip_network
from threading import Condition
from typing import Final, cast

from cachetools import TTLCache, cached
from flask import Blueprint, Flask, Response, abort, current_app, request
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from cw_hub.operation.health import marks
from cw_hub.operation.resources import Resources
from cw_hub.operation.setting_types import is_loopback
from cw_hub.operation.settings import HubSettings
from cw_hub.pages.request import resources
from cw_hub.site.monitoring import families, figures
from cw_hub.site.monitoring.figures import Present, Totals
from cw_hub.store.database import AWAY

routes = Blueprint("metrics", __name__)

FRESH: Final = 5.0
"""Seconds for which cheap figures are cached, however often they are requested."""

FRESH_TOTALS: Final = 60.0
"""Seconds for which counts over whole tables are cached."""

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Histogram buckets of response times in seconds; the alert is at 0.5."""

NOWHERE: Final = "none"
"""The route label of unknown addresses: strangers could invent any number of them."""

FORWARDED: Final = ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via")
"""Headers added by proxies."""

log = logging.getLogger(__name__)


class Rows(Collector):
    """The figures from rows; none while the database is away."""

    def __init__(self, resources: Resources, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Start without figures; `elapsed` returns seconds."""
        self._resources = resources
        self._reading = resources.database.reading
        self._copies = bool(resources.settings.backup_objects)

        @cached(TTLCache(1, FRESH, elapsed), condition=Condition())
        def present() -> Present:
            with self._reading() as session:
                return figures.present(session, resources.clock)

        @cached(TTLCache(1, FRESH_TOTALS, elapsed), condition=Condition())
        def totals() -> Totals:
            with self._reading() as session:
                return figures.totals(session)

        self._present, self._totals = present, totals

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield families.gauge("replay_quota_bytes", self._resources.settings.replay_quota)
        try:
            present, totals, replica = self._present(), self._totals(), self._behind()
        except AWAY as error:
            log.warning("no figures, the database is away: %s", type(error).__name__)
            yield families.gauge("database_up", 0)
            return
        yield families.gauge("database_up", 1)
        yield from families.of_present(present)
        yield from families.of_marks(present.ages, copies=self._copies)
        yield from families.of_totals(totals)
        if replica is not None:
            yield from families.of_replica(*replica)

    def _behind(self) -> tuple[bool, float] | None:
        """Return whether the read replica answers, and by how many seconds it lags.

        The lag is measured by the last tick recorded in both databases. None without a replica.
        """
        if self._resources.replica is None:
            return None
        with self._resources.replica.reading_alone() as copy, self._reading() as session:
            if copy is None:
                return False, 0.0
            here, there = (marks.moments(one).get(marks.TICK) for one in (session, copy))
        return True, figures.seconds_since(there, here) if here else 0.0


class Metrics:
    """All metrics of an app and its site."""

    def __init__(self, resources: Resources, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Start with all counters at 0."""
        # The creation time of each counter would double the number of series.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.registry.register(Rows(resources, elapsed))
        self._requests = Counter(
            "cw_http_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "cw_http_request_seconds",
            "Response time in seconds.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )

    def note(self, route: str | None, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(route or NOWHERE, str(status)).inc()
        self._seconds.labels(route or NOWHERE).observe(seconds)


def install(app: Flask, hub: Resources) -> None:
    """Set up the metrics of an app."""
    app.extensions["metrics"] = Metrics(hub)


def of_app() -> Metrics:
    """Return the metrics of this app."""
    return cast(Metrics, current_app.extensions["metrics"])


@routes.get("/metrics")
def metrics() -> Response:
    """Return the metrics to permitted clients; answer 404 to others."""
    if not may_read(resources().settings, request.remote_addr or ""):
        abort(404)
    answer = Response(generate_latest(of_app().registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def may_read(settings: HubSettings, address: str) -> bool:
    """Return whether a client is in a network that may read the metrics.

    Behind an untrusted proxy every client would appear with the proxy's address, often this
    machine's: such requests are refused.
    """
    through_stranger = "werkzeug.proxy_fix.orig" not in request.environ and any(
        name in request.headers for name in FORWARDED
    )
    if through_stranger:
        return False
    try:
        client = ip_address(address)
    except ValueError:
        return False
    if not settings.metrics_network:
        return is_loopback(str(client))
    return any(client in ip_network(network) for network in settings.metrics_network)
