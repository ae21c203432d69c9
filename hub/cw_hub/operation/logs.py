"""Logging of a process: one line per event, as text or JSON, with common fields.

No line contains a user's email address, the URL of a bot, a password or a key, not even in the
error message of a library.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from cw_hub.context import LONGEST_ID, known, new_id
from cw_hub.operation.settings import HubSettings

CLEARED: Final = "\r\x1b[2K"
"""Escape sequence that moves to the start of the line and clears it."""


class StatusLine(logging.StreamHandler[TextIO]):
    """Log handler that writes warnings as lines, and below them a status line with counts.

    An event is counted if its attribute `counted` names a counter.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to a terminal."""
        super().__init__(stream)
        self._counts = Counter[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Count an event, or write its line; the status line stays last."""
        counted = getattr(record, "counted", None)
        if counted is not None:
            self._counts[counted] += 1
        if record.levelno >= logging.WARNING:
            self.stream.write(CLEARED)
            super().emit(record)
        self._draw()

    def _draw(self) -> None:
        line = "  ".join(f"{name}: {number:,}" for name, number in sorted(self._counts.items()))
        width = shutil.get_terminal_size().columns
        self.stream.write(f"{CLEARED}{line[: width - 1]}")
        self.flush()


TEXT: Final = "%(asctime)s %(levelname)s %(message)s"

FIELDS: Final = (
    *("request_id", "address", "user_id", "bot_id", "match_id", "attempt", "worker"),
    *("status", "ms"),
)
"""The fields that a line may have in addition to its event, if known."""

FOR_PEOPLE: Final = ("address", "user_id", "bot_id", "match_id", "attempt", "ms")
"""The fields that are shown in text lines."""

REQUEST_ID: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_ID}}}")

SECRETS: Final = (
    (re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^\s'\"<>]+"), r"\1..."),
    (re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)+"), "...@..."),
    (re.compile(r"\b(host )[\w.:\[\]-]+"), r"\1..."),
    (re.compile(r"(/(?:reset|verify|email|unsubscribe)/)[^/?\s]+"), r"\1..."),
)
"""Patterns of what is masked in every line, each with its replacement."""


class JsonLines(logging.Formatter):
    """Formats an event as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        event: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "event": record.getMessage() if is_ours(record) else masked(record.getMessage()),
            **known_of(record, FIELDS),
        }
        if record.exc_info:
            event["error"] = masked(self.formatException(record.exc_info))
        return json.dumps(event)


class TextLines(logging.Formatter):
    """Formats an event as text."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as the library has it
        """Return the first line of an event."""
        fields = known_of(record, FOR_PEOPLE)
        return " ".join((super().formatMessage(record), *(f"{k}={v}" for k, v in fields.items())))

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of an event."""
        return masked(super().format(record))


def is_ours(record: logging.LogRecord) -> bool:
    """Return whether the message was composed entirely by this program."""
    return getattr(record, "is_ours", False)


def known_of(record: logging.LogRecord, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields that are set, on the event itself or for the whole thread."""
    values = {**known.get(), **record.__dict__}
    return {name: values[name] for name in names if values.get(name) is not None}


def masked(text: str) -> str:
    """Return a text with URLs, email addresses, host names and tickets in links masked."""
    for pattern, instead in SECRETS:
        text = pattern.sub(instead, text)
    return text


@contextmanager
def about(**more: Any) -> Iterator[None]:
    """Add fields to all lines of this thread while the block runs."""
    token = known.set({**known.get(), **more})
    try:
        yield
    finally:
        known.reset(token)


def add_fields(**more: Any) -> None:
    """Add fields to all lines of this thread from now on."""
    known.set({**known.get(), **more})


def forget() -> None:
    """Remove all fields added to the lines of this thread."""
    known.set({})


def request_id(value: object) -> str:
    """Return the given request id if it is valid, otherwise a new one."""
    if isinstance(value, str) and REQUEST_ID.fullmatch(value):
        return value
    return new_id()


def is_json(settings: HubSettings) -> bool:
    """Return whether the log of this process is JSON."""
    return settings.log == "json" or (settings.log == "auto" and not sys.stderr.isatty())


def begin_log(settings: HubSettings) -> None:
    """Log to standard error, in the format of the settings.

    On a terminal the log is a status line with counts, so that earlier output and errors stay
    visible, unless the settings ask for text.
    """
    quiet = settings.log == "auto" and sys.stderr.isatty()
    handler = StatusLine(sys.stderr) if quiet else logging.StreamHandler()
    handler.setFormatter(JsonLines() if is_json(settings) else TextLines(TEXT))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Otherwise library warnings would appear as plain text between the log lines.
    logging.captureWarnings(True)
    for package in ("cw", "cw_hub"):
        logging.getLogger(package).setLevel(logging.INFO)
