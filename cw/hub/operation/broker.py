"""Messages from Redis, which are not trusted: one that cannot be read is dropped.

Kombu and Celery expect what they have sent themselves; anything else would end the thread that
takes messages.
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
"""What Celery calls the one task of a hub."""

ON_UNREADABLE: Final = "on_unreadable"
"""The option of the transport that is called for each message that is dropped."""

LARGEST: Final = 65_536
"""Characters of the body of a message."""

IDLE_READS: Final = 10
"""Reads of an empty queue, of about a second each, between two looks for unfinished jobs."""

OF_REDIS: Final = (RedisError, OSError, Empty)
"""Errors that say nothing of a message."""

logger = logging.getLogger(__name__)

Body: TypeAlias = tuple[
    Annotated[list[int | str], Meta(min_length=1)], dict[str, None], dict[str, None]
]
"""The arguments of a job, none by name, and nothing that is to follow."""


class Delivery(msgspec.Struct):
    """Where a message was sent."""

    exchange: str
    routing_key: str


class Properties(msgspec.Struct):
    """What Kombu keeps of a message."""

    delivery_tag: str
    delivery_info: Delivery
    body_encoding: Literal["base64"]


class Headers(msgspec.Struct):
    """What Celery reads of a message, and the request that it goes back to."""

    task: Literal["cw.job"]
    id: str
    eta: str | None = None
    expires: str | None = None
    retries: int = 0
    request_id: str | None = None


class Envelope(msgspec.Struct, rename="kebab"):
    """A message as it lies in Redis."""

    body: Annotated[str, Meta(max_length=LARGEST)]
    content_type: Literal["application/json"]
    content_encoding: Literal["utf-8"]
    headers: Headers
    properties: Properties


def read(payload: Any) -> dict[str, Any]:
    """Return what is known of a message and nothing else; raise ValueError for what is none.

    Any further header, a time limit for example, could end the worker that reads it.
    """
    envelope = documents.convert(payload, Envelope)
    documents.decode(b64decode(envelope.body, validate=True), Body)  # type: ignore[arg-type]
    known: dict[str, Any] = msgspec.to_builtins(envelope)
    return known


class Message(virtual.Message):
    """A message that was checked."""

    def __init__(self, payload: Any, channel: Any = None, **more: Any) -> None:
        """Take a message; raise ValueError for what is none."""
        super().__init__(read(payload), channel=channel, **more)  # type: ignore[no-untyped-call]


class QoS(redis.QoS):
    """The messages that are being worked on; what cannot be read is not put back."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        """Put a message back whose job was never finished."""
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
        """Take messages from a queue; one that nobody can work on is dropped."""

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
            # Where no event loop does it, nobody else puts back what was never finished.
            self.qos.restore_visible(num=self.unacked_restore_limit, interval=IDLE_READS)
            raise
        except OF_REDIS:
            raise
        except Exception as error:
            # It has left the queue with this answer of Redis, and was not noted anywhere else.
            self.drop(error)
            raise Empty from None

    def drop(self, error: Exception) -> None:
        """Say that a message was dropped, and why; what it held may be anybody's."""
        logger.error("a message that cannot be read is dropped: %s", type(error).__name__)
        self.connection.client.transport_options[ON_UNREADABLE]()


class Transport(redis.Transport):
    """Redis, for a hub."""

    Channel = Channel
