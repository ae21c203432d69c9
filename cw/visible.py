"""Untrusted text for a terminal: shown, not obeyed."""

from __future__ import annotations

import io
import re
from typing import Final, TextIO

OBEYED: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but for tab and line end
    r"\u2028\u2029"  # further ends of lines
    r"\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    r"\ud800-\udfff]"  # halves of surrogate pairs, which no terminal is able to print
)


def visible(text: str) -> str:
    """Return text that no terminal obeys: what it would take for a command comes as its escape.

    Tabs and ends of lines stay; those of Windows come as plain ones.

    >>> visible("\\x1b[31mred")
    '\\\\x1b[31mred'
    """
    return OBEYED.sub(lambda match: ascii(match[0])[1:-1], text.replace("\r\n", "\n"))


def escape_unencodable(stream: TextIO) -> None:
    """Let a stream show what its encoding lacks as an escape, where that would be an error.

    Windows gives standard output the code page of the country where it is a file or a pipe.
    """
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")
