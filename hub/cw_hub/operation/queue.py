"""The queue: Celery, over Redis between processes, or in memory within one process."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celery import Celery, Task
from celery.signals import worker_process_init
from kombu.exceptions import KombuError, OperationalError
from redis.exceptions import RedisError

from cw_hub import origin
from cw_hub.operation.broker import ON_UNREADABLE, TASK
from cw_hub.operation.health import counts, logs
from cw_hub.operation.health.counts import Counts
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings

JOBS: Final = "jobs"
"""The queue of mail, and of all jobs that contact no bot."""

CHECKS: Final = "checks"
"""The queue of checks of bots."""

PROGRAMS: Final = "programs"
"""The queue of matches and checks that run uploaded programs."""

WORKSHOP: Final = "workshop"
"""The queue of workshop tasks, which run drafts of programs."""

PROBES: Final = "probes"
"""The queue of readiness probes of bots."""

SWEEPS: Final = "sweeps"
"""The queue of sweeps over the health of all bots."""

LANES: Final[Mapping[str, int]] = {JOBS: 4, CHECKS: 8, PROBES: 8, SWEEPS: 2}
"""The queues of all work but matches, with the threads of each: a silent bot, or its name server,
delays only jobs in its own queue.
"""

VISIBILITY: Final = 7200
"""Seconds after which Redis gives a job to another worker; no job takes that long."""

TRANSPORT: Final = "cw_hub.operation.broker:Transport"
"""The transport of messages over Redis."""

REQUEST_ID: Final = origin.REQUEST_ID
"""The message header with the id of the request that caused the job."""

Job: TypeAlias = Callable[..., object]
"""Runs a job: called with the resources of the process, then the arguments of the message."""

logger = logging.getLogger(__name__)


class CeleryQueue:
    """The sending side of the queue."""

    def __init__(self, settings: HubSettings) -> None:
        """Set the broker address; the connection is opened lazily."""
        self.settings = settings
        self._celery = new_celery(settings)

    def send(self, job: str, *arguments: int | str, queue: str = JOBS, after: float = 0) -> bool:
        """Enqueue a job, after some seconds if given; return whether the queue was reached."""
        # Lets readers of the log trace a job back to its request.
        headers = {REQUEST_ID: origin.present_id()}
        about = {
            "args": [job, *arguments],
            "queue": queue,
            "countdown": after or None,
            "headers": headers,
        }
        try:
            self._celery.send_task(TASK, **about, retry=False)
        except (KombuError, OperationalError, RedisError, OSError) as error:
            logger.warning("the queue is away, %s is not sent: %s", job, error)
            return False
        return True

    def is_there(self) -> bool:
        """Return whether the broker answers."""
        try:
            with self._celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1)
        except (KombuError, OperationalError, RedisError, OSError):
            return False
        return True


class JobTaker:
    """Takes jobs from queues, and runs them with the resources of this process."""

    def __init__(self, resources: Resources, jobs: Mapping[str, Job]) -> None:
        """Register the jobs by name; nothing is taken yet."""
        self._resources = resources
        self._jobs = jobs
        self.counts = Counts()
        """Counters to be written to the database from time to time."""
        # A forked process cannot share its parent's database connection.
        worker_process_init.connect(
            lambda **_: resources.database.engine.dispose(close=False), weak=False
        )

    def work_in_thread(self, name: str, queues: Sequence[str], slots: int) -> None:
        """Take messages in threads of this process; if the worker ends, so does the process."""
        # Kombu's event loop is global to the process, so threads would share it.
        worker = self._celery(name).WorkController(
            **about(name, queues, slots, "threads"), use_eventloop=False
        )
        self._resources.threads.start(name, worker.start)

    def work(self, name: str, queues: Sequence[str], slots: int) -> None:
        """Take messages in child processes until this one is told to stop.

        Returns only if no more messages can be taken.
        """
        pool = "threads" if sys.platform == "win32" else "prefork"
        options = about(name, queues, slots, pool)
        self._celery(name).Worker(**options, loglevel="WARNING", quiet=True).start()

    def _celery(self, name: str) -> Celery:
        """Return a separate Celery for each worker, as its queues are set on it."""
        celery = new_celery(self._resources.settings)
        celery.conf.broker_transport_options[ON_UNREADABLE] = self._note_unreadable
        worker = name.partition("@")[2]

        def do(task: Task, job: str, *arguments: int | str) -> None:
            header = (task.request.headers or {}).get(REQUEST_ID)
            request_id = logs.request_id(header) if header else None
            with logs.about(worker=worker, request_id=request_id):
                run_job(self._resources, self._jobs, job, arguments)

        celery.task(name=TASK, shared=False, bind=True)(do)
        # Threads of its pool look up the task in the default Celery of the process.
        celery.set_default()
        return celery

    def _note_unreadable(self) -> None:
        self.counts.add(counts.UNREADABLE)


def new_celery(settings: HubSettings) -> Celery:
    """Return a Celery connected to the broker of a hub."""
    # Without a host, Kombu warns about the address.
    broker = "memory://hub/" if settings.is_embedded else settings.broker_url
    celery = Celery("cw", broker=broker, set_as_current=False)
    celery.conf.update(configuration(settings))
    return celery


def about(name: str, queues: Sequence[str], slots: int, pool: str) -> dict[str, Any]:
    """Return the options of a Celery worker; workers need not know of each other."""
    alone = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
    return {"hostname": name, "queues": queues, "concurrency": slots, "pool": pool, **alone}


def run_job(
    resources: Resources, jobs: Mapping[str, Job], job: str, arguments: Sequence[Any]
) -> None:
    """Run the job of a message; errors are logged, and the job is not retried."""
    if job not in jobs:
        logger.error("there is no job %r; the jobs are: %s", job, ", ".join(jobs))
        return
    began = time.perf_counter()
    try:
        jobs[job](resources, *arguments)
    except Exception:
        logger.exception("the job %s %s", job, arguments)
    else:
        ms = round((time.perf_counter() - began) * 1000, 1)
        logger.info("the job %s %s is done", job, arguments, extra={"ms": ms})


def configuration(settings: HubSettings) -> dict[str, Any]:
    """Return the Celery configuration: messages are acknowledged after their job, and JSON only."""
    redis = {
        "visibility_timeout": VISIBILITY,
        "unacked_restore_throttle": 1,
        "socket_timeout": 5,
        "socket_connect_timeout": 5,
    }
    return {
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_ignore_result": True,
        "worker_prefetch_multiplier": 1,
        "task_serializer": "json",
        "accept_content": ["json"],
        "broker_transport": None if settings.is_embedded else TRANSPORT,
        "broker_transport_options": {"polling_interval": 0.1} if settings.is_embedded else redis,
        "broker_connection_timeout": 5,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_redirect_stdouts": False,
        "worker_hijack_root_logger": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "task_default_queue": JOBS,
        "timezone": "UTC",
    }
