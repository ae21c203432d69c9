"""The types of settings: how each text is parsed, and what was expected if invalid."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from cw.errors import UsageError
from cw.server.names import LOCAL_NAMES, read_name
from cw_hub.store.sealing import read_keys

Read = Callable[[str], Any]
"""Parses the text of a setting; raises ValueError with what was expected."""


def address(*schemes: str, path: bool = True) -> Read:
    """Parse an address with one of these schemes."""

    def read(text: str) -> str:
        try:
            parts = urlsplit(text)
            fits = parts.scheme in schemes and (parts.port is None or parts.port > 0)
        except ValueError:
            fits = False
        if not fits or (not path and parts.path not in ("", "/")):
            raise ValueError(" or ".join(f"{scheme}://..." for scheme in schemes))
        return text

    return read


def site_address(text: str) -> str:
    """Parse the address of this or another site, without a trailing slash."""
    address("http", "https")(text)
    parts = urlsplit(text)
    if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("http:// or https:// with a host, and optionally a port and a path")
    return text.rstrip("/")


def link(text: str) -> str:
    """Parse a path of this site, or the address of another site."""
    return text if re.fullmatch(r"/([^/\\\s][^\\\s]*)?", text) else site_address(text)


def path_of_site(text: str) -> str:
    """Parse a path of this site."""
    if not re.fullmatch(r"/([a-z0-9][a-z0-9/_-]*)?", text):
        raise ValueError("a path of this site, such as /ranking")
    return text


def switch(text: str) -> bool:
    """Parse 0 or 1."""
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return text == "1"


def seconds(least: float, most: float) -> Read:
    """Parse a number of seconds in a range."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not least <= number <= most:
            raise ValueError(f"seconds, {least:g} to {most:g}")
        return number

    return read


def days(text: str) -> int:
    """Parse a number of days."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise ValueError("days, 1 to 99999")
    return int(text)


def hourly(text: str) -> int:
    """Parse how often something may be done per hour."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise ValueError("a number an hour, 1 to 99999")
    return int(text)


UNITS: Final = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""The suffixes of a number of bytes."""


def size(text: str) -> int:
    """Parse a number of bytes."""
    match = re.fullmatch(r"([1-9][0-9]{0,14})([KMGT]iB)?", text)
    if match is None:
        raise ValueError("a number of bytes, such as 500MiB or 10GiB")
    return int(match[1]) * UNITS[match[2] or ""]


def slugs(text: str) -> tuple[str, ...]:
    """Parse slugs, separated by commas."""
    names = tuple(text.split(","))
    if not all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", name) for name in names):
        raise ValueError("the slugs of tournaments, such as spring-2027,club")
    return names


def socket_address(text: str) -> str:
    """Parse the address of a Unix socket."""
    if not re.fullmatch(r"unix:/.+", text):
        raise ValueError("unix:PATH, such as unix:/run/circuit-wars/players.sock")
    return text


def host_names(text: str) -> tuple[str, ...]:
    """Parse host names, separated by commas."""
    try:
        return tuple(map(read_name, text.split(",")))
    except UsageError:
        raise ValueError("host names without port, separated by commas") from None


def networks(text: str) -> tuple[str, ...]:
    """Parse `any`, or `public` optionally followed by networks such as 10.20.0.0/16."""
    first, *more = text.split(",")
    if first not in ("any", "public") or (first == "any" and more):
        raise ValueError("any, public, or public,10.20.0.0/16")
    try:
        return (first, *(str(ip_network(network)) for network in more))
    except ValueError:
        raise ValueError("any, public, or public,10.20.0.0/16") from None


def proxies(text: str) -> tuple[str, ...]:
    """Parse addresses and networks, separated by commas."""
    try:
        return tuple(str(ip_network(part)) for part in text.split(",") if part)
    except ValueError:
        raise ValueError("addresses or networks, separated by commas") from None


def store_address(text: str) -> str:
    """Parse the address of an object store."""
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[\w./-]*)?", text):
        raise ValueError("s3://bucket/prefix, with AWS_... in the environment")
    return text.rstrip("/")


def store_or_folder(text: str) -> str:
    """Parse the address of an object store, or a folder."""
    return store_address(text) if "://" in text else str(Path(text))


def mail_server(text: str) -> str:
    """Parse the address of a mail server; only one on this machine may be used without TLS."""
    address("smtp", "smtps")(text)
    parts = urlsplit(text)
    if not parts.hostname or parts.path not in ("", "/") or parts.query not in ("", "tls=off"):
        raise ValueError("smtp://user:password@host:587 or smtps://..., optionally with ?tls=off")
    if parts.query and not is_loopback(parts.hostname):
        raise ValueError("an address on this machine if it has ?tls=off")
    return text


def keys(text: str) -> str:
    """Validate master keys; they stay text, so that nothing prints them as bytes."""
    read_keys(text)
    return text


def long_secret(text: str) -> str:
    """Parse a secret that is too long to guess."""
    if len(text) < 32:
        raise ValueError("at least 32 random characters")
    return text


def e_mail(text: str) -> str:
    """Parse an e-mail address; only its form is checked."""
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        raise ValueError("an e-mail address")
    return text


def one_of(*words: str) -> Read:
    """Parse one of these words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return read


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in LOCAL_NAMES
