"""The figures of a site as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from cw_hub.operation.health import counts, heartbeats, marks
from cw_hub.operation.health.heartbeats import Beat
from cw_hub.site.monitoring.figures import Present, Totals

COUNTS: Final = {
    counts.UNREADABLE: "Messages of the queue that were dropped because they could not be read.",
    counts.ENDED: "Processes that exited because one of their threads had ended.",
    counts.MAILS_SENT: "Mails sent.",
    counts.MAILS_FAILED: "Failed attempts to send a mail.",
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
    "backup_age_seconds": "Seconds since the last daily back-up.",
    "copy_age_seconds": "Seconds since objects were last copied to the second store.",
    "certificate_seconds": "Seconds until the certificate of the site expires.",
    "replica_up": "Whether the read replica answers this process.",
    "replica_lag_seconds": "Seconds by which the read replica lags, as of the last tick.",
}
"""Help texts of single figures."""

OF_PROCESSES: Final = {
    "memory_bytes": "Peak memory of a process, in bytes.",
    "threads": "Threads of a process.",
    "disk_free_bytes": "Free bytes of the disk with the data folder of a process.",
    "disk_bytes": "Size in bytes of the disk with the data folder of a process.",
}
"""Help texts of the figures reported by processes; their processor time is a counter."""


def gauge(name: str, value: float) -> Metric:
    """Return a single figure."""
    return GaugeMetricFamily(f"cw_{name}", WORDS[name], value)


def by_label(name: str, words: str, label: str, values: Mapping[Any, float]) -> Metric:
    """Return a figure for each value of a label."""
    family = GaugeMetricFamily(f"cw_{name}", words, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def of_present(present: Present) -> Iterator[Metric]:
    """Yield the metrics that a few rows provide."""
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
        values = {process: getattr(figures, name) for process, figures in own.items()}
        yield by_label(f"process_{name}", words, "process", values)
    words = "Seconds of CPU time that a process has used."
    seconds = CounterMetricFamily("cw_process_cpu_seconds", words, labels=["process"])
    for process, figures in own.items():
        seconds.add_metric([process], figures.cpu_seconds)
    yield seconds


def of_marks(ages: Mapping[str, float], *, copies: bool) -> Iterator[Metric]:
    """Yield the ages of recorded events; those that never occurred are infinitely old.

    `copies` says whether back-ups should be copied elsewhere.
    """
    yield gauge("tick_age_seconds", ages.get(marks.TICK, inf))
    yield gauge("backup_age_seconds", ages.get(marks.BACKUP, inf))
    if copies:
        yield gauge("copy_age_seconds", ages.get(marks.COPY, inf))
    if marks.CERTIFICATE in ages:
        yield gauge("certificate_seconds", -ages[marks.CERTIFICATE])


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
