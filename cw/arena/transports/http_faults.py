"""What can go wrong with a request to a bot, and the sentences that say so."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import aiohttp

from cw.arena.transports.sockets import Forbidden
from cw.games.rules import Fault

TOO_LARGE: Final = ("Got more than", "Too many headers")
"""How the messages of aiohttp about an oversized head begin."""

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
"""What went wrong, finer than the kind of a fault.

The name has no address; no connection in time or no route; nobody listens there; the address is
private and may not be asked; TLS failed; connected, but late; closed or reset before the answer
was complete; no HTTP; a compressed body; head or body above its cap.
"""

Phase: TypeAlias = Literal["resolving", "connecting", "asking", "reading"]


@dataclass(frozen=True, slots=True)
class HttpFault(Fault):
    """A fault with its cause, for games that tell more of them apart."""

    cause: Cause = "broken"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, and how much time and room the answer has."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None
    seconds: float
    most_body: int
    connect_seconds: float | None

    @property
    def name(self) -> str:
        """The request in a sentence."""
        return f"{self.method} {self.path.partition('?')[0]}"


@dataclass(slots=True)
class Progress:
    """How far a request has come."""

    phase: Phase = "connecting"
    reused: bool = False
    body: bytearray = field(default_factory=bytearray)


def late(asked: Request, progress: Progress) -> HttpFault:
    """Say what a request was waiting for when its time was up."""
    seconds = asked.seconds
    if progress.phase in ("resolving", "connecting"):
        seconds = min(seconds, asked.connect_seconds or seconds)
    detail, cause = _waiting(asked, progress)
    return HttpFault("timeout", f"{detail} within {seconds:g} s", cause)


def _waiting(asked: Request, progress: Progress) -> tuple[str, Cause]:
    match progress.phase:
        case "resolving":
            return "no address was found for the bot's name", "unresolved"
        case "connecting":
            return "there was no connection to the bot", "unreachable"
        case "asking":
            return f"connected, but no answer to {asked.name} came", "timeout"
    came = f"its headers and {len(progress.body)} bytes of its body came"
    return f"the answer to {asked.name} was not complete ({came})", "timeout"


def large_head(asked: Request, why: str) -> HttpFault:
    """Say that the headers of an answer are too large."""
    return HttpFault("oversize", f"the headers of the answer to {asked.name}: {why}", "oversize")


def large_body(asked: Request) -> HttpFault:
    """Say that the body of an answer is too large."""
    detail = f"the answer to {asked.name} is longer than {asked.most_body} bytes"
    return HttpFault("oversize", detail, "oversize")


def compressed(asked: Request, coding: str) -> HttpFault:
    """Say that an answer is compressed."""
    why = f"compressed (Content-Encoding: {coding}), which was not asked for"
    return HttpFault("malformed", f"the answer to {asked.name} is {why}", "compressed")


def failed(asked: Request, error: Exception) -> HttpFault:
    """Say why a request has failed."""
    match error:
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return _gone(f"the bot's name has no address: {error}", "unresolved")
        case aiohttp.ClientConnectorSSLError() | aiohttp.ClientConnectorCertificateError():
            return _gone(f"no secure connection (TLS): {error}", "tls")
        case aiohttp.ClientConnectorError():
            return _unconnected(error)
        case aiohttp.ClientResponseError():
            return _unreadable(asked, error)
    return _gone(f"the connection was closed before the answer to {asked.name} was complete")


def _gone(detail: str, cause: Cause = "broken") -> HttpFault:
    return HttpFault("disconnected", detail, cause)


def _unconnected(error: aiohttp.ClientConnectorError) -> HttpFault:
    server, number = f"{error.host}:{error.port}", error.os_error.errno
    if isinstance(error.os_error, Forbidden) or number == errno.EACCES:
        return _gone(f"{server} is not asked: {error.os_error.strerror}", "forbidden")
    if number in NO_ROUTE:
        return _gone(f"there is no way to {server}: {error.os_error.strerror}", "unreachable")
    return _gone(f"nobody listens at {server}: {error.os_error}", "refused")


def _unreadable(asked: Request, error: aiohttp.ClientResponseError) -> HttpFault:
    message = " ".join(error.message.split())[:QUOTED]
    if message.startswith(TOO_LARGE):
        return large_head(asked, message)
    return HttpFault("malformed", f"the answer to {asked.name} is no HTTP: {message}", "not_http")
