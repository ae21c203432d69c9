"""Monitoring: metrics, the request log, and the readiness check of a process."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from math import inf
from threading import Condition, Thread
from typing import Any, Final, TypeAlias, cast
from urllib.parse import quote

from cachetools import TTLCache, cached
from flask import Blueprint, Flask, Response, abort, current_app, g, request
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

from cw_hub.operation import heartbeats, logs
from cw_hub.operation.heartbeats import Beat
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings, is_loopback
from cw_hub.pages.request import resources
from cw_hub.site import figures
from cw_hub.site.figures import Present, Totals
from cw_hub.store.database import AWAY
from cw_hub.store.migrations import current, head

COUNTS: Final = {
    heartbeats.UNREADABLE: "Messages of the queue that were dropped as they could not be read.",
    heartbeats.ENDED: "Processes that exited because one of their threads had ended.",
    heartbeats.MAILS_SENT: "Mails sent.",
    heartbeats.MAILS_FAILED: "Failed attempts to send a mail.",
}
"""Help texts of the events counted by processes."""

WORDS: Final = {
    "replay_quota_bytes": "Disk space that replays should take, in bytes.",
    "database_up": "Whether the database answers this process.",
    "workers_live": "Workers seen lately.",
    "queue_depth": "Matches that wait for a worker.",
    "queue_wait_seconds": "Seconds that the longest waiting match has waited for a worker.",
    "bots_failing": "Bots that passed a check within the last day and failed their last one.",
    "replay_bytes": "Size of the stored replays, in bytes.",
    "tick_age_seconds": "Seconds since a scheduler last completed a tick.",
    "backup_age_seconds": "Seconds since the last daily backup.",
    "copy_age_seconds": "Seconds since objects were last copied to the second store.",
    "certificate_seconds": "Seconds until the certificate of the site expires.",
    "replica_up": "Whether the read replica answers this process.",
    "replica_lag_seconds": "Seconds by which the read replica lags, as of the last tick.",
}
"""Help texts of metrics with a single value."""

OF_PROCESSES: Final = {
    "memory_bytes": "Peak memory of a process, in bytes.",
    "threads": "Threads of a process.",
    "disk_free_bytes": "Free bytes of the disk with the data folder of a process.",
    "disk_bytes": "Size in bytes of the disk with the data folder of a process.",
}
"""Help texts of the metrics reported by processes; their processor time is a counter."""


def gauge(name: str, value: float) -> Metric:
    """Return a metric with a single value."""
    return GaugeMetricFamily(f"cw_{name}", WORDS[name], value)


def by_label(name: str, words: str, label: str, values: Mapping[Any, float]) -> Metric:
    """Return a metric with a value for each value of a label."""
    family = GaugeMetricFamily(f"cw_{name}", words, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def of_present(present: Present) -> Iterator[Metric]:
    """Yield the metrics that are cheap to query."""
    yield gauge("workers_live", present.workers)
    yield gauge("queue_depth", present.queued)
    yield gauge("queue_wait_seconds", present.waiting)
    yield by_label("matches", "Matches that are not done.", "state", present.matches)
    yield by_label("bots", "Bots by their status.", "status", present.bots)
    yield gauge("bots_failing", present.failing)
    failures = "Health checks that bots have failed."
    yield CounterMetricFamily("cw_bot_health_failures", failures, present.health_failures)
    yield by_label("mails", "Mails that wait, or could not be sent.", "state", present.mails)
    for name, words in COUNTS.items():
        yield CounterMetricFamily(f"cw_{name}", words, present.counts[name])
    yield from of_processes(present.processes)


def of_processes(beats: Sequence[Beat]) -> Iterator[Metric]:
    """Yield the metrics reported by all processes, whichever one is asked."""
    roles = heartbeats.by_role(beats)
    yield by_label("processes", "Processes seen lately, by role.", "role", roles)
    own = {beat.process: beat.figures for beat in beats}
    for name, words in OF_PROCESSES.items():
        values = {process: getattr(numbers, name) for process, numbers in own.items()}
        yield by_label(f"process_{name}", words, "process", values)
    words = "Seconds of CPU time that a process has used."
    seconds = CounterMetricFamily("cw_process_cpu_seconds", words, labels=["process"])
    for process, numbers in own.items():
        seconds.add_metric([process], numbers.cpu_seconds)
    yield seconds


def of_marks(ages: Mapping[str, float], *, copies: bool) -> Iterator[Metric]:
    """Yield the ages of recorded events; those that never occurred are infinitely old.

    `copies` indicates whether backups should be copied elsewhere.
    """
    yield gauge("tick_age_seconds", ages.get(heartbeats.TICK, inf))
    yield gauge("backup_age_seconds", ages.get(heartbeats.BACKUP, inf))
    if copies:
        yield gauge("copy_age_seconds", ages.get(heartbeats.COPY, inf))
    if heartbeats.CERTIFICATE in ages:
        yield gauge("certificate_seconds", -ages[heartbeats.CERTIFICATE])


def of_totals(totals: Totals) -> Iterator[Metric]:
    """Yield the counts over whole tables."""
    done = CounterMetricFamily("cw_matches_done", "Matches played.", labels=["game", "kind"])
    for (game, kind), count in totals.done.items():
        done.add_metric([game, kind], count)
    yield done
    yield gauge("replay_bytes", totals.replay_bytes)


def of_replica(answers: bool, behind: float) -> Iterator[Metric]:
    """Yield the status of the read replica."""
    yield gauge("replica_up", answers)
    if answers:
        yield gauge("replica_lag_seconds", behind)


metrics_routes = Blueprint("metrics", __name__)

FRESH: Final = 5.0
"""Seconds for which cheap metrics are cached, however often they are requested."""

FRESH_TOTALS: Final = 60.0
"""Seconds for which counts over whole tables are cached."""

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Histogram buckets of response times in seconds; the alert is at 0.5."""

NOWHERE: Final = "none"
"""The route label of unknown URLs: untrusted clients could invent any number of them."""

FORWARDED: Final = ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via")
"""Headers added by proxies."""

log = logging.getLogger(__name__)


class Rows(Collector):
    """Collects the metrics from the database; none while it is unavailable."""

    def __init__(self, resources: Resources, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Start without metrics; `elapsed` returns seconds."""
        self._resources = resources
        self._reading = resources.database.reading
        self._copies = bool(resources.settings.backup_objects)

        @cached(TTLCache(1, FRESH, elapsed), condition=Condition())
        def present() -> Present:
            with self._reading() as session:
                return figures.present(session)

        @cached(TTLCache(1, FRESH_TOTALS, elapsed), condition=Condition())
        def totals() -> Totals:
            with self._reading() as session:
                return figures.totals(session)

        self._present, self._totals = present, totals

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield gauge("replay_quota_bytes", self._resources.settings.replay_quota)
        try:
            present, totals, replica = self._present(), self._totals(), self._behind()
        except AWAY as error:
            log.warning("no metrics, the database cannot be reached: %s", type(error).__name__)
            yield gauge("database_up", 0)
            return
        yield gauge("database_up", 1)
        yield from of_present(present)
        yield from of_marks(present.ages, copies=self._copies)
        yield from of_totals(totals)
        if replica is not None:
            yield from of_replica(*replica)

    def _behind(self) -> tuple[bool, float] | None:
        """Return whether the read replica responds, and by how many seconds it lags.

        The lag is measured by the last tick recorded in both databases. None without a replica.
        """
        if self._resources.replica is None:
            return None
        with self._resources.replica.reading_alone() as copy, self._reading() as session:
            if copy is None:
                return False, 0.0
            here, there = (heartbeats.moments(one).get(heartbeats.TICK) for one in (session, copy))
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
        """Count a completed request."""
        self._requests.labels(route or NOWHERE, str(status)).inc()
        self._seconds.labels(route or NOWHERE).observe(seconds)


def install_metrics(app: Flask, hub: Resources) -> None:
    """Set up the metrics of an app."""
    app.extensions["metrics"] = Metrics(hub)


def of_app() -> Metrics:
    """Return the metrics of this app."""
    return cast(Metrics, current_app.extensions["metrics"])


@metrics_routes.get("/metrics")
def metrics() -> Response:
    """Return the metrics to permitted clients; abort with 404 for others."""
    if not may_read(resources().settings, request.remote_addr or ""):
        abort(404)
    answer = Response(generate_latest(of_app().registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def may_read(settings: HubSettings, address: str) -> bool:
    """Return whether a client is in a network that may read the metrics.

    Behind an untrusted proxy every client would appear with the proxy's IP address, often that of
    this host, so such requests are refused.
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


ready_routes = Blueprint("ready", __name__)

PATIENCE: Final = 2.0
"""Seconds within which all dependencies must respond."""

READY_FRESH: Final = 1.0
"""Seconds for which a result is reused, so that more frequent requests cost nothing more."""

Questions: TypeAlias = Mapping[str, Callable[[], bool]]
"""Checks by name."""


def install_ready(app: Flask, resources: Resources) -> None:
    """Register the checks of an app; concurrent requests share one run."""
    app.extensions["refusals"] = once_a_second(lambda: refusals(own(resources)))
    app.extensions["absent"] = once_a_second(lambda: absent(needed(resources)))


def once_a_second(names: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Cache the result of a function for READY_FRESH seconds."""
    return cached(TTLCache(1, READY_FRESH), condition=Condition())(names)


@ready_routes.get("/ready")
def ready() -> Response:
    """Report whether this process should get requests; `?full=1` checks all its dependencies.

    A dependency shared by all processes is no reason to withhold requests from all of them: there
    would be no readable error pages and no files.
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
    """Return the names of the checks that failed; a missing result is not a failure."""
    return [name for name, answer in answers_to(questions).items() if not answer]


def absent(questions: Questions) -> list[str]:
    """Return the names of the checks that did not succeed in time."""
    answers = answers_to(questions)
    return [name for name in questions if not answers.get(name)]


def answers_to(questions: Questions) -> dict[str, bool]:
    """Run all checks concurrently; return the results that arrive in time."""
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


HEADER: Final = "X-Request-Id"

LONGEST: Final = 200
"""Maximum length of a path in the log, in characters."""

access = logging.getLogger("cw.hub.access")


def install_requests(app: Flask) -> None:
    """Log all requests of an app, including those refused by the arena's own guards."""
    app.before_request_funcs.setdefault(None, []).insert(0, begin)
    app.after_request(end)
    app.teardown_request(lambda _: logs.forget())


def begin() -> None:
    """Assign a request its id, which is passed on to services called for it."""
    g.began = time.perf_counter()
    g.request_id = logs.request_id(request.headers.get(HEADER))
    logs.forget()
    logs.add_fields(request_id=g.request_id)


LINK: Final = re.compile(r"(/(?:reset|verify|email|unsubscribe)/)[^/?]+")


def masked_path() -> str:
    """Return the requested path without the ticket of a link."""
    return LINK.sub(r"\1...", request.path)


def end(response: Response) -> Response:
    """Count a request and log it: who, what, how it ended, and how long it took.

    The line contains no query string and no ticket of a link. The client is logged by its IP
    address, and by its user if the response depends on who it is.
    """
    seconds = time.perf_counter() - g.began
    rule = request.url_rule
    of_app().note(rule.rule if rule else None, response.status_code, seconds)
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
