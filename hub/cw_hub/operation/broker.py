"""Messages from Redis are not trusted: unreadable ones are dropped.

Kombu and Celery expect only what they have sent themselves; anything else would end the thread
that takes messages.
"""

from __future__ import annotations

import logging
from base64 import b64decode
from collections.abc import Callable
from queue import Empty
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from kombu.transport import redis, virtual
from msgspec import Meta
from redis.exceptions import RedisError

from cw import documents

TASK: Final = "cw.job"
"""The name of the hub's only Celery task."""

ON_UNREADABLE: Final = "on_unreadable"
"""The transport option that is called for each dropped message."""

LARGEST: Final = 65_536
"""Maximum length of a message body in characters."""

IDLE_READS: Final = 10
"""Reads of an empty queue, of about a second each, between two checks for unfinished jobs."""

OF_REDIS: Final = (RedisError, OSError, Empty)
"""Errors of the connection, not of a message."""

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
    """Return the known fields of a message only; raise ValueError if it is invalid.

    Any other header, such as a time limit, could end the worker that reads it.
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
    """The messages being worked on; unreadable ones are not put back."""

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
    """Takes messages from the queues of a process."""

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
            # The message has left the queue with this reply, and is recorded nowhere.
            self.drop(error)
            raise Empty from None

    def drop(self, error: Exception) -> None:
        """Log that a message was dropped, and why, but not its untrusted content."""
        logger.error("a message that cannot be read is dropped: %s", type(error).__name__)
        self.connection.client.transport_options[ON_UNREADABLE]()


class Transport(redis.Transport):
    """The Redis transport of a hub."""

    Channel = Channel
