"""The job queue: Celery over Redis, or in memory within one process."""

from __future__ import annotations

import logging
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from queue import Empty
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from celery import Celery, Task
from celery.signals import worker_process_init
from kombu.exceptions import KombuError, OperationalError
from kombu.transport import redis, virtual
from msgspec import Meta
from redis.exceptions import RedisError

from cw import documents
from cw_hub import context
from cw_hub.operation import heartbeats, logs
from cw_hub.operation.heartbeats import Counts
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings

TASK: Final = "cw.job"
"""The name of the hub's only Celery task."""

ON_UNREADABLE: Final = "on_unreadable"
"""Name of the transport option with the function that is called for each dropped message."""

LARGEST: Final = 65_536
"""Maximum length of a message body in characters."""

IDLE_READS: Final = 10
"""Number of reads of an empty queue, about a second each, between checks for unfinished jobs."""

OF_REDIS: Final = (RedisError, OSError, Empty)
"""Errors of the Redis connection, rather than of a message."""

logger = logging.getLogger(__name__)

Body: TypeAlias = tuple[
    Annotated[list[int | str], Meta(min_length=1)], dict[str, None], dict[str, None]
]
"""The positional arguments of a job; keyword arguments and follow-up tasks must be empty."""


class Delivery(msgspec.Struct):
    """Where a message was sent."""

    exchange: str
    routing_key: str


class Properties(msgspec.Struct):
    """The properties that Kombu reads."""

    delivery_tag: str
    delivery_info: Delivery
    body_encoding: Literal["base64"]


class Headers(msgspec.Struct):
    """The headers that Celery reads, and the id of the request that caused the job."""

    task: Literal["cw.job"]
    id: str
    eta: str | None = None
    expires: str | None = None
    retries: int = 0
    request_id: str | None = None


class Envelope(msgspec.Struct, rename="kebab"):
    """A message as stored in Redis."""

    body: Annotated[str, Meta(max_length=LARGEST)]
    content_type: Literal["application/json"]
    content_encoding: Literal["utf-8"]
    headers: Headers
    properties: Properties


def read(payload: Any) -> dict[str, Any]:
    """Return only the known fields of a message; raise ValueError if it is invalid.

    Any other header, such as a time limit, could terminate the worker that reads it.
    """
    envelope = documents.convert(payload, Envelope)
    documents.decode(b64decode(envelope.body, validate=True), Body)  # type: ignore[arg-type]
    known: dict[str, Any] = msgspec.to_builtins(envelope)
    return known


class Message(virtual.Message):
    """A validated message."""

    def __init__(self, payload: Any, channel: Any = None, **more: Any) -> None:
        """Validate a message; raise ValueError if it is invalid."""
        super().__init__(read(payload), channel=channel, **more)  # type: ignore[no-untyped-call]


class QoS(redis.QoS):
    """The messages in progress; unreadable ones are not put back."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        """Put back a message whose job was never finished."""
        try:
            super().restore_by_tag(tag, client, leftmost)  # type: ignore[no-untyped-call]
        except OF_REDIS:
            raise
        except Exception as error:
            self._remove_from_indices(tag).execute()  # type: ignore[no-untyped-call]
            self.channel.drop(error)


class Channel(redis.Channel):
    """Reads messages from the queues of a process."""

    Message = Message
    QoS = QoS

    def basic_consume(
        self, queue: str, no_ack: bool, callback: Callable[[Any], object], *args: Any, **more: Any
    ) -> None:
        """Consume messages from a queue; one that cannot be processed is dropped."""

        def receive(message: Any) -> None:
            try:
                callback(message)
            except OF_REDIS:
                raise
            except Exception as error:
                message.ack()
                self.drop(error)

        super().basic_consume(queue, no_ack, receive, *args, **more)  # type: ignore[no-untyped-call]

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except Empty:
            # Without an event loop, nothing else puts back unfinished jobs.
            self.qos.restore_visible(num=self.unacked_restore_limit, interval=IDLE_READS)
            raise
        except OF_REDIS:
            raise
        except Exception as error:
            # This response has removed the message from the queue, and it is recorded nowhere else.
            self.drop(error)
            raise Empty from None

    def drop(self, error: Exception) -> None:
        """Log that a message was dropped, and why, but not its untrusted content."""
        logger.error("a message that cannot be read is dropped: %s", type(error).__name__)
        self.connection.client.transport_options[ON_UNREADABLE]()


class Transport(redis.Transport):
    """The Redis transport of a hub."""

    Channel = Channel


JOBS: Final = "jobs"
"""The queue of emails, and of all jobs that contact no bot."""

CHECKS: Final = "checks"
"""The queue of bot checks."""

PROGRAMS: Final = "programs"
"""The queue of matches and checks that run uploaded programs."""

WORKSHOP: Final = "workshop"
"""The queue of workshop tasks, which run drafts of programs."""

PROBES: Final = "probes"
"""The queue of bot readiness probes."""

SWEEPS: Final = "sweeps"
"""The queue of sweeps over the health of all bots."""

LANES: Final[Mapping[str, int]] = {JOBS: 4, CHECKS: 8, PROBES: 8, SWEEPS: 2}
"""The queues of all work except matches, with their thread counts.

They are separate so that an unresponsive bot, or its name server, delays only jobs in its own
queue.
"""

VISIBILITY: Final = 7200
"""Seconds after which Redis gives a job to another worker; no job takes that long."""

TRANSPORT: Final = "cw_hub.operation.queue:Transport"
"""The Celery transport class for Redis."""

REQUEST_ID: Final = context.REQUEST_ID
"""The message header with the id of the request that caused the job."""

Job: TypeAlias = Callable[..., object]
"""A job function, called with the process's resources, then the message's arguments."""


class CeleryQueue:
    """The sending side of the queue."""

    def __init__(self, settings: HubSettings) -> None:
        """Set the broker URL; the connection is opened lazily."""
        self.settings = settings
        self._celery = new_celery(settings)

    def send(self, job: str, *arguments: int | str, queue: str = JOBS, after: float = 0) -> bool:
        """Enqueue a job, after some seconds if given; return whether the queue was reached."""
        # Allows a job to be traced back to its request in the log.
        headers = {REQUEST_ID: context.present_id()}
        about = {
            "args": [job, *arguments],
            "queue": queue,
            "countdown": after or None,
            "headers": headers,
        }
        try:
            self._celery.send_task(TASK, **about, retry=False)
        except (KombuError, OperationalError, RedisError, OSError) as error:
            logger.warning("the queue cannot be reached, %s is not sent: %s", job, error)
            return False
        return True

    def is_there(self) -> bool:
        """Return whether the broker responds."""
        try:
            with self._celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1)
        except (KombuError, OperationalError, RedisError, OSError):
            return False
        return True


class JobTaker:
    """Takes jobs from queues, and runs them with this process's resources."""

    def __init__(self, resources: Resources, jobs: Mapping[str, Job]) -> None:
        """Register the jobs by name, without consuming messages yet."""
        self._resources = resources
        self._jobs = jobs
        self.counts = Counts()
        """Counters that are written to the database periodically."""
        # A forked process cannot share its parent's database connection.
        worker_process_init.connect(
            lambda **_: resources.database.engine.dispose(close=False), weak=False
        )

    def work_in_thread(self, name: str, queues: Sequence[str], slots: int) -> None:
        """Consume messages in threads of this process; if the worker ends, so does the process."""
        # Kombu's event loop is global to the process, so threads would share it.
        worker = self._celery(name).WorkController(
            **about(name, queues, slots, "threads"), use_eventloop=False
        )
        self._resources.threads.start(name, worker.start)

    def work(self, name: str, queues: Sequence[str], slots: int) -> None:
        """Consume messages in child processes until this process is asked to stop.

        Returns only if no more messages can be consumed.
        """
        pool = "threads" if sys.platform == "win32" else "prefork"
        options = about(name, queues, slots, pool)
        self._celery(name).Worker(**options, loglevel="WARNING", quiet=True).start()

    def _celery(self, name: str) -> Celery:
        """Return a separate Celery app for each worker, as its queues are set on the app."""
        celery = new_celery(self._resources.settings)
        celery.conf.broker_transport_options[ON_UNREADABLE] = self._note_unreadable
        worker = name.partition("@")[2]

        def do(task: Task, job: str, *arguments: int | str) -> None:
            header = (task.request.headers or {}).get(REQUEST_ID)
            request_id = logs.request_id(header) if header else None
            with logs.about(worker=worker, request_id=request_id):
                run_job(self._resources, self._jobs, job, arguments)

        celery.task(name=TASK, shared=False, bind=True)(do)
        # Threads of its pool look up the task in the default Celery app of the process.
        celery.set_default()
        return celery

    def _note_unreadable(self) -> None:
        self.counts.add(heartbeats.UNREADABLE)


def new_celery(settings: HubSettings) -> Celery:
    """Return a Celery app connected to the broker of a hub."""
    # Without a host, Kombu warns about the URL.
    broker = "memory://hub/" if settings.is_embedded else settings.broker_url
    celery = Celery("cw", broker=broker, set_as_current=False)
    celery.conf.update(configuration(settings))
    return celery


def about(name: str, queues: Sequence[str], slots: int, pool: str) -> dict[str, Any]:
    """Return the options of a Celery worker; workers need not know about each other."""
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
    """Return the Celery configuration: acknowledge messages after their job; accept only JSON."""
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
