"""Untrusted text for a terminal: displayed, never interpreted."""

from __future__ import annotations

import io
import re
from typing import Final, TextIO

OBEYED: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline
    r"\u2028\u2029"  # other line separators
    r"\u200e\u200f\u202a-\u202e\u2066-\u2069"  # characters that change the writing direction
    r"\ud800-\udfff]"  # surrogates, which no terminal can print
)


def visible(text: str) -> str:
    r"""Return text that is safe to print: control sequences are replaced by escapes.

    Tabs and line ends stay; Windows line ends become plain ones.

    >>> visible("\x1b[31mred")
    '\\x1b[31mred'
    """
    return OBEYED.sub(lambda match: ascii(match[0])[1:-1], text.replace("\r\n", "\n"))


def escape_unencodable(stream: TextIO) -> None:
    """Make a stream escape characters that its encoding lacks, instead of raising.

    On Windows, standard output redirected to a file or pipe uses the regional code page.
    """
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")
