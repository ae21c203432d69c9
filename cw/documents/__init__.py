"""Decodes documents into typed values, safely from any thread.

msgspec analyses a type on first use, and caches the result before it is complete: a second thread
that decodes the same type at that moment crashes the process. So types are analysed here, under a
lock.
"""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

LEARNED: Final[set[Any]] = set()
LEARNING: Final = threading.Lock()


def learn(kind: Any) -> None:
    """Make a type safe to decode in any thread."""
    if kind not in LEARNED:
        with LEARNING:
            msgspec.json.Decoder(kind)
            LEARNED.add(kind)


def decode(data: bytes | str, kind: type[T]) -> T:
    """Decode JSON like msgspec; raise its DecodeError if invalid."""
    learn(kind)
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError("JSON is nested too deeply") from None
    except UnicodeError as error:
        raise msgspec.DecodeError(f"JSON is not UTF-8: {error}") from None


def convert(value: Any, kind: type[T], *, strict: bool = True, str_keys: bool = False) -> T:
    """Convert a document to a type like msgspec; raise its errors."""
    learn(kind)
    return msgspec.convert(value, kind, strict=strict, str_keys=str_keys)
