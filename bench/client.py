"""A minimal HTTP client with a persistent connection to the server that is measured."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPConnection, HTTPResponse
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import urlsplit

PATIENCE: Final = 30.0
"""Seconds after which an answer will not come any more."""

NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class Answer(NamedTuple):
    """What came back; the body has been read."""

    response: HTTPResponse
    body: bytes


def connect(address: str) -> HTTPConnection:
    """Open a connection to a base address."""
    return HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)


def get(connection: HTTPConnection, path: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
    """Make one request over a connection that stays open."""
    connection.request("GET", path, headers=dict(headers))
    response = connection.getresponse()
    return Answer(response, response.read())
