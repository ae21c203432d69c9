"""The WSGI server around the app: waitress, one process, several threads."""

from __future__ import annotations

import logging
import select
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any, TypeAlias, cast

from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher, WSGITask

from cw.errors import UsageError
from cw.server.names import is_unspecified
from cw.server.settings import LARGEST_REQUEST

WSGIApp: TypeAlias = Callable[[dict[str, Any], Any], Iterable[bytes]]

THREADS = 8
LANE_THREADS = 2
QUICK = ("/health", "/static/")
"""Prefixes of paths that are answered without waiting for anything."""

CROWDED = ("/workshop/",)
"""Prefixes of paths that a whole class may ask for at the same moment."""

MOST_CONNECTIONS = 1000
"""A class of 50 games keeps 150 connections open, and each browser several."""

SPARE = 50
"""Connections below the most from which on the idlest end, so that a new one is always taken."""

MOST_OF_ONE_ADDRESS = 500
"""Of one address; a class behind one router has one, and so has everything on this machine."""

HAS_POLL = hasattr(select, "poll")
"""Where it is missing, on Windows, there is select with its limit of connections."""

BACKLOG = 1024
"""Connections that wait to be accepted."""

LEAVING = 1
"""Seconds that the requests in flight have when the process is told to end."""

FINISHING = 5
"""Seconds that they have where the process goes on: whoever played a match hears how it ended."""


def listen(host: str, port: int) -> socket.socket:
    """Open the server's socket, port 0 for any free one; raise UsageError with what to do."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"cannot listen on {host!r}: {error}") from None
    if sys.platform != "win32":
        # Elsewhere this only skips the wait after a restart; there it would share the port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot listen on {host} port {port}: {error.strerror or error};"
            " stop the program that uses the port, or choose another with --port"
        ) from None
    return listener


class Parser(HTTPRequestParser):
    """A request as it comes in; one that cannot be read is answered with 400."""

    path = ""
    """That of a request whose first line cannot be read."""
    headers: dict[str, str]
    proxy_netloc: str

    def parse_header(self, header_plus: bytes) -> None:
        """Read the first line and the headers; raise ParsingError if they cannot be read."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # Python reads neither the address `http://[` nor a length of 5000 digits.
            raise ParsingError(f"The request cannot be read: {error}") from None
        if self.proxy_netloc:
            # Of a target `http://host/path` the host counts, whatever the header says (RFC 9112).
            self.headers["HOST"] = self.proxy_netloc

    def received(self, data: bytes) -> int:
        """Take in what has come, and return how many bytes belong to this request."""
        consumed: int = super().received(data)
        if self.completed:
            # Else "100 Continue" would be the whole answer to a request that is refused.
            self.expect_continue = False
        return consumed


class KeepAliveTask(WSGITask):
    """A request whose connection stays open after a 304.

    waitress ends the connection after every answer without a length, to mark where it ends; a 304
    has no body, and a monitor gets five a second.
    """

    def set_close_on_finish(self) -> None:
        """Leave the connection open after a 304 unless the client asked to close it."""
        headers = cast(HTTPRequestParser, self.request).headers
        closes = headers.get("CONNECTION", "").lower() == "close"
        if closes or self.version != "1.1" or not self.status.startswith("304"):
            super().set_close_on_finish()


class Channel(HTTPChannel):
    """A connection that serves its requests with KeepAliveTask, and makes room for others."""

    parser_class = Parser
    task_class = KeepAliveTask

    def __init__(self, server: Any, connection: Any, address: Any, *rest: Any, **more: Any) -> None:
        """Take a connection; where there are too many, the one that is idle for longest ends."""
        super().__init__(server, connection, address, *rest, **more)
        longest = longest_idle(server.active_channels.values(), self)
        if longest is not None:
            longest.will_close = True


class Lanes(ThreadedTaskDispatcher):
    """The threads that answer requests, and two more for each of two kinds.

    So a process says that it lives, and gives out its files, while all others wait for a database;
    and pages do not wait behind the runs of a class.
    """

    def __init__(self) -> None:
        """Begin with the threads of all."""
        super().__init__()
        self.lanes = {prefixes: ThreadedTaskDispatcher() for prefixes in (QUICK, CROWDED)}
        for lane in self.lanes.values():
            lane.set_thread_count(LANE_THREADS)
        self.set_thread_count(THREADS)

    def add_task(self, task: Any) -> None:
        """Have the next request of a connection answered."""
        path = task.requests[0].path if task.requests else ""
        for prefixes, lane in self.lanes.items():
            if path.startswith(prefixes):
                lane.add_task(task)
                return
        super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: int = LEAVING) -> bool:
        """End all threads, within so many seconds; return whether waiting requests were given up.

        Who waits for something longer than that is left: its thread ends with the process.
        """
        ends = monotonic() + timeout
        # All are told first, so that one time is enough for all.
        for lane in self.lanes.values():
            lane.set_thread_count(0)
        is_given_up = super().shutdown(cancel_pending, timeout)
        for lane in self.lanes.values():
            # What is left of it, as a thread that waits for nothing takes a moment to end, too.
            lane.shutdown(cancel_pending, max(0, ends - monotonic()))  # type: ignore[arg-type]
        return bool(is_given_up)


def longest_idle(channels: Iterable[Any], newest: Any) -> Any | None:
    """Return the connection that shall end for the newest one, None if there is room.

    The address with too many of them makes room itself, so that nobody else is shut out by it.
    One whose request is answered never ends for another.
    """
    others = [channel for channel in channels if channel is not newest and not channel.will_close]
    neighbours = [channel for channel in others if channel.addr[0] == newest.addr[0]]
    if len(neighbours) >= MOST_OF_ONE_ADDRESS:
        others = neighbours
    elif len(others) < MOST_CONNECTIONS - SPARE:
        return None
    idle = (channel for channel in others if not channel.requests)
    return min(idle, key=lambda channel: channel.last_activity, default=None)


def make_server(app: WSGIApp, listener: socket.socket, channels: dict[int, Any]) -> Any:
    """Put waitress around the app, on an open socket; all that it opens stands in `channels`.

    A Flask app says how large the body of a request may be in its MAX_CONTENT_LENGTH.
    """
    largest = app.config["MAX_CONTENT_LENGTH"] if isinstance(app, Flask) else None
    server: Any = create_server(
        app,
        map=channels,
        sockets=[listener],
        _dispatcher=Lanes(),
        threads=THREADS,
        connection_limit=MOST_CONNECTIONS,
        backlog=BACKLOG,
        max_request_header_size=LARGEST_REQUEST,
        # A body of this size is refused already.
        max_request_body_size=(largest or LARGEST_REQUEST) + 1,
        asyncore_use_poll=HAS_POLL,
        # An app behind proxies judges by itself whose headers it believes.
        clear_untrusted_proxy_headers=not (isinstance(app, Flask) and app.config.get("FORWARDED")),
        ident="Circuit Wars",
    )
    server.channel_class = Channel
    return server


# A request that waits for a thread is no news: the class bench has a queue most of the time.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)


def serve(app: Flask, listener: socket.socket) -> None:
    """Serve until Ctrl-C."""
    make_server(app, listener, {}).run()


@contextmanager
def serving(app: WSGIApp, listener: socket.socket) -> Iterator[str]:
    """Serve in a thread while the block runs; gives the base address."""
    channels: dict[int, Any] = {}
    server = make_server(app, listener, channels)
    stopping = Event()

    def serve_until_asked_to_stop() -> None:
        while not stopping.is_set():
            wasyncore.loop(map=channels, use_poll=HAS_POLL, count=1)

    thread = Thread(target=serve_until_asked_to_stop, name="server", daemon=True)
    thread.start()
    try:
        yield address_of(listener)
    finally:
        # All who could use a socket have ended before the sockets are closed.
        stopping.set()
        server.pull_trigger()
        thread.join()
        server.task_dispatcher.shutdown(timeout=FINISHING)
        wasyncore.close_all(channels)


def address_of(listener: socket.socket) -> str:
    """Return the base address under which a browser on this machine reaches the socket."""
    if listener.family not in (socket.AF_INET, socket.AF_INET6):
        return str(listener.getsockname())
    host, port = listener.getsockname()[:2]
    if is_unspecified(host):
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
