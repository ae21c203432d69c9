"""Reads documents as values of their types, on any thread.

msgspec learns a type when it first reads one, and caches what it knows before it knows all of it:
a second thread that reads the same type at that moment crashes the process. So types are learned
here, one after the other.
"""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

LEARNED: Final[set[Any]] = set()
LEARNING: Final = threading.Lock()


def learn(kind: Any) -> None:
    """Let any thread read a type from now on."""
    if kind not in LEARNED:
        with LEARNING:
            msgspec.json.Decoder(kind)
            LEARNED.add(kind)


def decode(data: bytes | str, kind: type[T]) -> T:
    """Return the value that JSON is, as msgspec does; raise its DecodeError for anything else."""
    learn(kind)
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError("JSON is nested too deeply") from None
    except UnicodeError as error:
        raise msgspec.DecodeError(f"JSON is not UTF-8: {error}") from None


def convert(value: Any, kind: type[T], *, strict: bool = True, str_keys: bool = False) -> T:
    """Return the value that a document is, as msgspec does; raise its errors."""
    learn(kind)
    return msgspec.convert(value, kind, strict=strict, str_keys=str_keys)
