"""What can go wrong with a request to a bot, and the messages that say so."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

import aiohttp

from cw.arena.transports.sockets import Forbidden
from cw.games.rules import Fault
from cw.games.wire import QueryLimits, Request

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

The name has no address; no connection in time or no route; nobody listens there; the address is
private and not allowed; TLS failed; connected, but late; closed or reset before the answer was
complete; not HTTP; a compressed body; head or body too large.
"""

Phase: TypeAlias = Literal["resolving", "connecting", "asking", "reading"]


class Exchange(NamedTuple):
    """A request, and the time and size limits of its reply."""

    request: Request
    limits: QueryLimits

    @property
    def name(self) -> str:
        """The request as named in messages."""
        return f"{self.request.method} {self.request.path.partition('?')[0]}"


@dataclass(slots=True)
class RequestProgress:
    """How far a request has come."""

    phase: Phase = "connecting"
    reused: bool = False
    body: bytearray = field(default_factory=bytearray)


def late(exchange: Exchange, progress: RequestProgress) -> Fault:
    """Return the fault for a time-out, by what the request was waiting for."""
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
    """Return the fault for a compressed answer."""
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
