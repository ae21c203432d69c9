"""HTTP client for bots that are web services: sends one request at a time, reads the response."""

from __future__ import annotations

import asyncio
import errno
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias

import aiohttp
from yarl import URL

from cw.arena.transports.base_address import check_base
from cw.arena.transports.resolver import QuietResolver
from cw.arena.transports.sockets import ANYWHERE, Forbidden, Reachable, Traffic, open_socket
from cw.arena.transports.tunnel import TunnelConnector
from cw.games.rules import Fault
from cw.games.wire import QueryLimits, Reply, Request

TOO_LARGE: Final = ("Got more than", "Too many headers")
"""Prefixes of aiohttp's messages about an oversized head."""

NO_ROUTE: Final = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT)
QUOTED: Final = 200

Cause: TypeAlias = Literal[
    "unresolved",
    "unreachable",
    "refused",
    "forbidden",
    "tls",
    "timeout",
    "broken",
    "not_http",
    "compressed",
    "oversize",
]
"""What went wrong, in more detail than the kind of a fault.

In this order: the name does not resolve; no connection in time or no route; connection refused; the
address is private and not allowed; TLS failed; connected, but late; closed or reset before the
response was complete; not HTTP; a compressed body; head or body too large.
"""

Phase: TypeAlias = Literal["resolving", "connecting", "asking", "reading"]


class Exchange(NamedTuple):
    """A request, and the time and size limits of its response."""

    request: Request
    limits: QueryLimits

    @property
    def name(self) -> str:
        """The request as named in messages."""
        return f"{self.request.method} {self.request.path.partition('?')[0]}"


@dataclass(slots=True)
class RequestProgress:
    """The progress of a request."""

    phase: Phase = "connecting"
    reused: bool = False
    body: bytearray = field(default_factory=bytearray)


def late(exchange: Exchange, progress: RequestProgress) -> Fault:
    """Return the fault for a timeout, by what the request was waiting for."""
    seconds = exchange.limits.seconds
    if progress.phase in ("resolving", "connecting"):
        seconds = min(seconds, exchange.limits.connect_seconds or seconds)
    detail, cause = _waiting(exchange, progress)
    return Fault("timeout", f"{detail} within {seconds:g} s", cause)


def _waiting(exchange: Exchange, progress: RequestProgress) -> tuple[str, Cause]:
    match progress.phase:
        case "resolving":
            return "the bot's host name was not resolved", "unresolved"
        case "connecting":
            return "no connection to the bot", "unreachable"
        case "asking":
            return f"connected, but no answer to {exchange.name} came", "timeout"
    came = f"received: its headers and {len(progress.body)} bytes of its body"
    return f"the answer to {exchange.name} was not complete ({came})", "timeout"


def large_head(exchange: Exchange, why: str) -> Fault:
    """Return the fault for headers that are too large."""
    return Fault("oversize", f"the headers of the answer to {exchange.name}: {why}", "oversize")


def large_body(exchange: Exchange) -> Fault:
    """Return the fault for a body that is too large."""
    detail = f"the answer to {exchange.name} is longer than {exchange.limits.most_body} bytes"
    return Fault("oversize", detail, "oversize")


def compressed(exchange: Exchange, coding: str) -> Fault:
    """Return the fault for a compressed response."""
    why = f"compressed (Content-Encoding: {plain(coding)}), but only plain answers are accepted"
    return Fault("malformed", f"the answer to {exchange.name} is {why}", "compressed")


def failed(exchange: Exchange, error: Exception) -> Fault:
    """Return the fault for a request that failed with an exception."""
    match error:
        case aiohttp.ClientConnectorDNSError() | aiohttp.InvalidURL() | UnicodeError():
            return _gone(f"the bot's host name cannot be resolved: {error}", "unresolved")
        case aiohttp.ClientConnectorSSLError() | aiohttp.ClientConnectorCertificateError():
            return _gone(f"no secure connection (TLS): {error}", "tls")
        case aiohttp.ClientConnectorError():
            return _unconnected(error)
        case aiohttp.ClientResponseError():
            return _unreadable(exchange, error)
    return _gone(f"the connection was closed before the answer to {exchange.name} was complete")


def _gone(detail: str, cause: Cause = "broken") -> Fault:
    return Fault("disconnected", detail, cause)


def _unconnected(error: aiohttp.ClientConnectorError) -> Fault:
    server, number = f"{error.host}:{error.port}", error.os_error.errno
    if isinstance(error.os_error, Forbidden) or number == errno.EACCES:
        return _gone(f"no request is sent to {server}: {error.os_error.strerror}", "forbidden")
    if number in NO_ROUTE:
        return _gone(f"there is no route to {server}: {error.os_error.strerror}", "unreachable")
    if number == errno.ECONNREFUSED:
        return _gone(f"nothing listens at {server}", "refused")
    return _gone(f"nothing listens at {server}: {error.os_error}", "refused")


def _unreadable(exchange: Exchange, error: aiohttp.ClientResponseError) -> Fault:
    message = plain(" ".join(error.message.split())[:QUOTED])
    if message.startswith(TOO_LARGE):
        return large_head(exchange, message)
    return Fault("malformed", f"the answer to {exchange.name} is not HTTP: {message}", "not_http")


def plain(header: str) -> str:
    """Return a header as text, with `?` for bytes that are not UTF-8, so that it can be written."""
    return header.encode(errors="replace").decode()


MOST_HEAD: Final = 32 * 1024
"""Maximum bytes of a response's headers, which may have 128 lines."""

LARGE: Final = 64 * 1024
"""Request bodies of at least this many bytes are sent in pieces."""

KEEPALIVE: Final = 300.0
"""Seconds that an idle connection is kept open."""


class HttpBot:
    """A web service at a base URL, asked one request at a time; must be closed.

    One connection is reused between requests if the bot allows it. If a reused one turns out to
    have been closed before any byte of the response, the request is sent once more on a new one.
    (Windows does not report whether a byte arrived; there it is always sent once more.)
    `keep=False` uses a new connection for each request. `reachable` limits its addresses, including
    those that its name resolves to. Proxies from the environment, cookies and redirects are
    ignored. `door` is the Unix socket of a service in its own network; only the port of its URL
    matters then.

    Must be created in an event loop. Raises UsageError if the base is not a server's URL.
    """

    def __init__(
        self,
        base: str,
        *,
        reachable: Reachable = ANYWHERE,
        keep: bool = True,
        door: Path | None = None,
    ) -> None:
        """Prepare the client; no connection is opened yet."""
        self.base = check_base(base)
        self._traffic = Traffic()
        # One request at a time: bots may keep state per match without locks of their own.
        self._turn = asyncio.Lock()
        options = {"keepalive_timeout": KEEPALIVE} if keep else {"force_close": True}
        self._session = aiohttp.ClientSession(
            connector=_connector(door, self._traffic, reachable, options),
            # No cookies, decompression or redirects: a bot cannot make us remember, unpack or
            # request anything.
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=MOST_HEAD,
            max_field_size=MOST_HEAD,
            skip_auto_headers=("Accept", "Content-Type", "User-Agent"),
            trace_configs=[_tracing()],
        )
        # aiohttp would repeat a GET whenever its connection breaks; a bot that closes it is not
        # asked twice.
        self._session._retry_connection = False

    async def __aenter__(self) -> Self:
        """Return the bot, to be closed at the end of the block."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the bot."""
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._session.close()

    async def request(self, request: Request, limits: QueryLimits) -> Reply | Fault:
        """Send a request to `base + path`; return the complete response, whatever its status.

        Headers are sent exactly as spelled, in addition to Host, Content-Length and
        `Accept-Encoding: identity`. A request waits, without a time limit, until the previous one
        is done; from then on `limits` without `grace` apply, and `connect_seconds` bounds name
        lookup and connecting. Kinds of faults: `timeout`, `disconnected`, `malformed` (not HTTP, or
        compressed) and `oversize`, each with its cause.
        """
        exchange = Exchange(request, limits)
        async with self._turn:
            progress = RequestProgress()
            # The clock starts after the lock: waiting for our own earlier request is not the bot's
            # time.
            began = asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(limits.seconds):
                    answer = await self._ask(exchange, progress)
            except TimeoutError:
                return late(exchange, progress)
            except (aiohttp.ClientError, UnicodeError) as error:
                return failed(exchange, error)
            if isinstance(answer, Fault):
                return answer
            took = asyncio.get_running_loop().time() - began
            return Reply(bytes(progress.body), answer.status, answer.headers, took)

    async def _ask(
        self, exchange: Exchange, progress: RequestProgress
    ) -> aiohttp.ClientResponse | Fault:
        """Send the request; retry once if a reused connection had been closed in the meantime."""
        before = self._traffic.received
        try:
            return await self._exchange(exchange, progress)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            # A server may close an idle connection at any time; once a byte has arrived, it has
            # seen the request.
            if not progress.reused or self._traffic.received > before:
                raise
        progress.reused = False
        return await self._exchange(exchange, progress)

    async def _exchange(
        self, exchange: Exchange, progress: RequestProgress
    ) -> aiohttp.ClientResponse | Fault:
        async with self._session.request(
            exchange.request.method,
            URL(self.base + exchange.request.path, encoded=True),
            headers={"Accept-Encoding": "identity", **exchange.request.headers},
            data=_payload(exchange.request.body),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(
                # aiohttp rounds timeouts above `ceil_threshold` up to whole seconds; deadlines are
                # exact here.
                total=None,
                connect=exchange.limits.connect_seconds,
                ceil_threshold=float("inf"),
            ),
            trace_request_ctx=progress,
        ) as answer:
            progress.phase = "reading"
            fault = _judge_head(exchange, answer) or await _read(exchange, answer, progress.body)
            if fault is not None:
                answer.close()
            return fault or answer


def _connector(
    door: Path | None, traffic: Traffic, reachable: Reachable, options: Mapping[str, Any]
) -> aiohttp.BaseConnector:
    """Return the connector for a service, either direct or through a door."""
    if door is not None:
        return TunnelConnector(door, traffic, **options)
    return aiohttp.TCPConnector(
        socket_factory=lambda info: open_socket(info, traffic, reachable),
        resolver=None if reachable.private else QuietResolver(reachable),
        **options,
    )


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """Return a body in a form that does not block the event loop while it is sent."""
    return io.BytesIO(body) if body is not None and len(body) > LARGE else body


def _tracing() -> aiohttp.TraceConfig:
    """Record the progress of each request in its RequestProgress."""
    config = aiohttp.TraceConfig()

    def note(phase: Phase, reused: bool = False) -> Any:
        async def noted(_session: object, context: Any, _parameters: object) -> None:
            context.trace_request_ctx.phase = phase
            context.trace_request_ctx.reused = reused

        return noted

    config.on_dns_resolvehost_start.append(note("resolving"))
    config.on_dns_resolvehost_end.append(note("connecting"))
    config.on_connection_create_start.append(note("connecting"))
    config.on_connection_create_end.append(note("asking"))
    config.on_connection_reuseconn.append(note("asking", reused=True))
    return config


def _judge_head(exchange: Exchange, answer: aiohttp.ClientResponse) -> Fault | None:
    if sum(len(name) + len(value) + 4 for name, value in answer.raw_headers) > MOST_HEAD:
        return large_head(exchange, f"more than {MOST_HEAD} bytes")
    coding = answer.headers.get("Content-Encoding", "identity").strip()
    return None if coding.lower() in ("", "identity") else compressed(exchange, coding)


async def _read(
    exchange: Exchange, answer: aiohttp.ClientResponse, body: bytearray
) -> Fault | None:
    """Read the body, up to its cap."""
    # Content-Length can save reading the body; it may be absent or wrong, so the bytes are counted
    # as well.
    if (answer.content_length or 0) > exchange.limits.most_body:
        return large_body(exchange)
    async for data in answer.content.iter_any():
        body += data
        if len(body) > exchange.limits.most_body:
            return large_body(exchange)
    return None
