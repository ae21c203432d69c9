"""`/metrics`: how the site and this process do, for Prometheus."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock
from typing import Final, Generic, TypeVar, cast

from flask import Blueprint, Flask, Response, abort, current_app, request
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from cw.hub.pages.actor import resources
from cw.hub.resources import Resources
from cw.hub.services import figures
from cw.hub.services.figures import Present, Totals
from cw.hub.settings import HubSettings, is_loopback
from cw.hub.store.database import AWAY

T = TypeVar("T")

routes = Blueprint("metrics", __name__)

FRESH: Final = 5.0
"""Seconds for which figures of a few rows are kept: any number may ask."""

FRESH_TOTALS: Final = 60.0
"""Seconds for which counts over whole tables are kept."""

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds of an answer; 0.5 is where the alert is."""

NOWHERE: Final = "none"
"""The route of what no page answers: the addresses of strangers would be without end."""

FORWARDED: Final = ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via")
"""What proxies add."""

log = logging.getLogger("cw.hub.pages")


class Kept(Generic[T]):
    """Asks for something at most once in a while; to be shared by all threads."""

    def __init__(self, ask: Callable[[], T], seconds: float, elapsed: Callable[[], float]) -> None:
        """Ask nothing yet; `elapsed` tells seconds."""
        self._ask, self._seconds, self._elapsed = ask, seconds, elapsed
        self._lock = Lock()
        self._known: tuple[T, float] | None = None

    def get(self) -> T:
        """Return it as it was lately; raises what asking does."""
        with self._lock:
            if self._known is None or self._elapsed() >= self._known[1]:
                asked = self._elapsed()
                self._known = self._ask(), asked + self._seconds
            return self._known[0]


class Rows(Collector):
    """The figures that rows tell; while the database is away there are none."""

    def __init__(self, held: Resources, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Read nothing yet."""
        self._quota = held.settings.replay_quota

        def present() -> Present:
            with held.database.reading() as session:
                return figures.present(session, held.clock)

        def totals() -> Totals:
            with held.database.reading() as session:
                return figures.totals(session)

        self._present = Kept(present, FRESH, elapsed)
        self._totals = Kept(totals, FRESH_TOTALS, elapsed)

    def collect(self) -> Iterator[Metric]:
        """Give the figures."""
        quota = "How much replays should take, in bytes."
        yield GaugeMetricFamily("cw_replay_quota_bytes", quota, self._quota)
        try:
            present, totals = self._present.get(), self._totals.get()
        except AWAY as error:
            log.warning("no figures, the database is away: %s", type(error).__name__)
            return
        yield from of_present(present)
        yield from of_totals(totals)


def of_present(present: Present) -> Iterator[Metric]:
    """Give what a few rows tell."""
    yield GaugeMetricFamily("cw_workers_live", "Workers seen lately.", present.workers)
    yield GaugeMetricFamily("cw_queue_depth", "Matches that wait for a worker.", present.queued)
    bots = GaugeMetricFamily("cw_bots", "Bots by their status.", labels=["status"])
    for status, count in present.bots.items():
        bots.add_metric([status], count)
    yield bots
    failing = "Bots that were well within the last day and have failed their last health check."
    yield GaugeMetricFamily("cw_bots_failing", failing, present.failing)
    failures = "Health checks that bots have failed."
    yield CounterMetricFamily("cw_bot_health_failures", failures, present.health_failures)


def of_totals(totals: Totals) -> Iterator[Metric]:
    """Give what is counted over whole tables."""
    done = CounterMetricFamily("cw_matches_done", "Matches played.", labels=["game", "kind"])
    for (game, kind), count in totals.done.items():
        done.add_metric([game, kind], count)
    yield done
    stored = "What the stored replays take, in bytes."
    yield GaugeMetricFamily("cw_replay_bytes", stored, totals.replay_bytes)


class Metrics:
    """All that an app tells of itself and its site."""

    def __init__(self, held: Resources, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Count nothing yet."""
        # When each counter began would be as many series again.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.registry.register(Rows(held, elapsed))
        self._requests = Counter(
            "cw_http_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "cw_http_request_seconds",
            "Seconds to an answer.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )

    def note(self, route: str | None, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(route or NOWHERE, str(status)).inc()
        self._seconds.labels(route or NOWHERE).observe(seconds)


def install(app: Flask, held: Resources) -> None:
    """Let an app count its requests."""
    app.extensions["metrics"] = Metrics(held)


def of_app() -> Metrics:
    """Return what counts the requests of this app."""
    return cast(Metrics, current_app.extensions["metrics"])


@routes.get("/metrics")
def metrics() -> Response:
    """Tell the figures to those who may read them; for others there is no such page."""
    if not may_read(resources().settings, request.remote_addr or ""):
        abort(404)
    answer = Response(generate_latest(of_app().registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def may_read(settings: HubSettings, address: str) -> bool:
    """Return whether who asks is within the networks that may read the figures.

    Behind a proxy that is not trusted everybody would have its address, which is often this
    machine's: nobody is answered there.
    """
    through_stranger = "werkzeug.proxy_fix.orig" not in request.environ and any(
        name in request.headers for name in FORWARDED
    )
    if through_stranger:
        return False
    try:
        known = ip_address(address)
    except ValueError:
        return False
    if isinstance(known, IPv6Address) and known.ipv4_mapped:
        known = known.ipv4_mapped
    if not settings.metrics_network:
        return is_loopback(str(known))
    return any(known in ip_network(network) for network in settings.metrics_network)
