"""Faults for unexpected status codes of web services."""

from __future__ import annotations

from typing import Final

from cw.games.rules import Fault
from cw.games.wire import Reply

SERVER_ERROR: Final = "server_error"
"""The cause of a fault whose reply has a status of 500 or more: the bot's own code failed."""

LONGEST: Final = 300
"""Characters of a reply quoted in a message."""

CUT: Final = "..."


def status_fault(reply: Reply, expected: int = 200) -> Fault:
    """Return the fault of a reply whose status is not the expected one.

    Its note is the body, if that is plain text: bot kits answer an exception with status 500 and
    the exception, its message, the file and the line.

    >>> status_fault(Reply(b"KeyError: 7 (bot.py, line 12)", 500)).sentence
    'HTTP status 500, expected 200: KeyError: 7 (bot.py, line 12)'
    """
    cause = SERVER_ERROR if reply.status >= 500 else ""
    detail = f"HTTP status {reply.status}, expected {expected}"
    note = "" if reply.status < 400 else plain_text(reply.body)
    return Fault("malformed", detail, cause, note=note)


def plain_text(body: bytes) -> str:
    """Return a body on one line, shortened; "" for an HTML page, which tells its author nothing."""
    text = body[: 4 * LONGEST].decode(errors="replace")
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(printable.split())
    if line.startswith("<"):
        return ""
    return line if len(line) <= LONGEST else line[: LONGEST - len(CUT)] + CUT
