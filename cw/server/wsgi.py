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
"""Prefixes of paths whose requests are served without waiting for anything."""

CROWDED = ("/workshop/",)
"""Prefixes of paths that a whole class may request at the same time."""

MOST_CONNECTIONS = 1000
"""Enough for a class: 50 games keep 150 connections open, and each browser opens several."""

SPARE = 50
"""Idle connections are closed once fewer than this many are free.

New connections are therefore always accepted.
"""

MOST_OF_ONE_ADDRESS = 500
"""Maximum per IP address, shared by a class behind one router and by all local clients."""

HAS_POLL = hasattr(select, "poll")
"""Whether `poll` exists; Windows has only `select`, with its limit on connections."""

BACKLOG = 1024
"""Connections waiting to be accepted."""

LEAVING = 1
"""Seconds for requests in flight when the process is asked to end."""

FINISHING = 5
"""Seconds for them if the process continues, so that players learn how their match ended."""


def listen(host: str, port: int) -> socket.socket:
    """Open the server's socket, port 0 for any free one; raise UsageError saying what to do."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"cannot listen on {host!r}: {error}") from None
    if sys.platform != "win32":
        # On POSIX this only skips the wait after a restart; on Windows it would share the port.
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
    """A parser of incoming requests; a request that cannot be parsed gets a 400 response."""

    path = ""
    """The path, if the first line of the request cannot be parsed."""
    headers: dict[str, str]
    proxy_netloc: str

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the first line and the headers; raise ParsingError if that fails."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            # Python rejects the URL `http://[`, and a length of 5000 digits.
            raise ParsingError(f"The request cannot be read: {error}") from None
        if self.proxy_netloc:
            # For a target `http://host/path`, this host counts, whatever the header says (RFC
            # 9112).
            self.headers["HOST"] = self.proxy_netloc

    def received(self, data: bytes) -> int:
        """Parse incoming data; return how many bytes belong to this request."""
        consumed: int = super().received(data)
        if self.completed:
            # Otherwise "100 Continue" would be the whole response to a refused request.
            self.expect_continue = False
        return consumed


class KeepAliveTask(WSGITask):
    """A request whose connection stays open after a 304.

    waitress closes the connection after every response without a length, to mark its end; a 304 has
    no body, and a monitor gets five a second.
    """

    def set_close_on_finish(self) -> None:
        """Keep the connection open after a 304 unless the client asked to close it."""
        headers = cast(HTTPRequestParser, self.request).headers
        closes = headers.get("CONNECTION", "").lower() == "close"
        if closes or self.version != "1.1" or not self.status.startswith("304"):
            super().set_close_on_finish()


class Channel(HTTPChannel):
    """A connection that serves its requests with KeepAliveTask, and makes room for others."""

    parser_class = Parser
    task_class = KeepAliveTask

    def __init__(self, server: Any, connection: Any, address: Any, *rest: Any, **more: Any) -> None:
        """Accept a connection; if there are too many, close the one that has been idle longest."""
        super().__init__(server, connection, address, *rest, **more)
        longest = longest_idle(server.active_channels.values(), self)
        if longest is not None:
            longest.will_close = True


class Lanes(ThreadedTaskDispatcher):
    """The threads that serve requests, and LANE_THREADS more for each of two kinds of paths.

    Health checks and static files are thus served while all other threads wait for a database, and
    pages do not queue behind the runs of a class.
    """

    def __init__(self) -> None:
        """Start the threads of all kinds."""
        super().__init__()
        self.lanes = {prefixes: ThreadedTaskDispatcher() for prefixes in (QUICK, CROWDED)}
        for lane in self.lanes.values():
            lane.set_thread_count(LANE_THREADS)
        self.set_thread_count(THREADS)

    def add_task(self, task: Any) -> None:
        """Queue the next request of a connection."""
        path = task.requests[0].path if task.requests else ""
        for prefixes, lane in self.lanes.items():
            if path.startswith(prefixes):
                lane.add_task(task)
                return
        super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: int = LEAVING) -> bool:
        """End all threads within `timeout` seconds; return whether waiting requests were dropped.

        A thread that is still waiting then is abandoned: it ends with the process.
        """
        ends = monotonic() + timeout
        # All of them are signalled first, so that they end concurrently.
        for lane in self.lanes.values():
            lane.set_thread_count(0)
        is_given_up = super().shutdown(cancel_pending, timeout)
        for lane in self.lanes.values():
            # The remaining time, as even an idle thread takes a moment to end.
            lane.shutdown(cancel_pending, max(0, ends - monotonic()))  # type: ignore[arg-type]
        return bool(is_given_up)


def longest_idle(channels: Iterable[Any], newest: Any) -> Any | None:
    """Return the connection to close for the newest one, or None if there is room.

    An IP address with too many connections gives up one of its own, so that it cannot block others.
    A connection with a request in progress is never closed.
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
    """Create the server of an app on an open socket; `channels` collects everything it opens.

    A Flask app sets the maximum size of request bodies in its MAX_CONTENT_LENGTH.
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
        # waitress already refuses a body of exactly this size.
        max_request_body_size=(largest or LARGEST_REQUEST) + 1,
        asyncore_use_poll=HAS_POLL,
        # An app behind proxies decides itself whose headers to trust.
        clear_untrusted_proxy_headers=not (isinstance(app, Flask) and app.config.get("FORWARDED")),
        ident="Circuit Wars",
    )
    server.channel_class = Channel
    return server


# A request that waits for a thread is not unusual: the class bench usually has a queue.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)


def serve(app: Flask, listener: socket.socket) -> None:
    """Serve until Ctrl-C."""
    make_server(app, listener, {}).run()


@contextmanager
def serving(app: WSGIApp, listener: socket.socket) -> Iterator[str]:
    """Serve in a thread during the block; yield the base URL."""
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
        # Everything that could use a socket must end before the sockets are closed.
        stopping.set()
        server.pull_trigger()
        thread.join()
        server.task_dispatcher.shutdown(timeout=FINISHING)
        wasyncore.close_all(channels)


def address_of(listener: socket.socket) -> str:
    """Return the base URL at which a browser on this host reaches the socket."""
    if listener.family not in (socket.AF_INET, socket.AF_INET6):
        return str(listener.getsockname())
    host, port = listener.getsockname()[:2]
    if is_unspecified(host):
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
