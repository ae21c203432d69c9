"""Parses TOML within bounds that are checked before the parser builds anything.

`tomllib` needs memory and time quadratic in the parts of a key, recurses for each nested list, and
accepts integers of any length, which Python then refuses to print. A linear scan rejects such files
first.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from cw.errors import UsageError

MOST_PARTS: Final = 4
"""Parts of a key: `settings.boards.options.size`."""

MOST_DIGITS: Final = 20
"""Digits of a number; 64-bit integers have up to 20."""

MOST_VALUES: Final = 20_000
"""Keys, tables and lists per file. Each takes up to 4 KB of memory."""

DEEPEST: Final = 8
"""Nesting of lists and inline tables."""

TOKEN: Final = re.compile(
    r"""
    (?P<string>
        \"{3} (?: [^"\\] | \\[\s\S] | \"{1,2}(?!") )*+ \"{3,5}
      | '{3} (?: [^'] | '{1,2}(?!') )*+ '{3,5}
      | " (?: [^"\\\n] | \\. )*+ "
      | ' [^'\n]*+ '
    )
  | (?P<word> [A-Za-z0-9_+-]++ )
  | (?P<dot> \. )
  | (?P<blank> [ \t]++ )
  | (?P<opening> [\[{] )
  | (?P<closing> [\]}] )
  | (?P<equals> = )
  | (?P<unterminated> ["'] )
  | (?P<other> \#[^\n]*+ | [^"'A-Za-z0-9_+.=\[\]{}\#\ \t-] )
    """,
    re.VERBOSE,
)
"""Strings and comments are tokens of their own, so that their contents are not scanned."""

LONG_NUMBER: Final = re.compile(
    rf"0[xob](?:_?[0-9A-Fa-f]){{{MOST_DIGITS + 1}}}|(?:[0-9]_?){{{MOST_DIGITS + 1}}}"
)


def read_toml(file: Path, largest: int) -> dict[str, Any]:
    """Parse a file of at most `largest` bytes; otherwise raise UsageError with its name."""
    try:
        with file.open("rb") as source:
            return parse_toml(source.read(largest + 1), largest)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def parse_toml(data: bytes, largest: int) -> dict[str, Any]:
    r"""Return the table in a text of at most `largest` bytes; raise UsageError if invalid.

    >>> parse_toml(b"[teams.red]\nbot = 'red/bot.py'", 1024)
    {'teams': {'red': {'bot': 'red/bot.py'}}}
    """
    if len(data) > largest:
        raise UsageError(f"the file is larger than {largest // 1024} KiB: make it smaller")
    try:
        text = data.decode()
        check_bounds(text.replace("\r\n", "\n"))
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is not TOML: {error}") from None


def check_bounds(text: str) -> None:
    """Raise UsageError if a text would take too much to parse.

    Nothing after an unterminated string is checked: the parser stops there too.
    """
    parts = values = depth = 0
    before = ""
    for token in TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "unterminated":
            return
        if kind in ("string", "word"):
            parts = parts + 1 if before == "dot" else 1
        values += kind in ("opening", "equals")
        depth += (kind == "opening") - (kind == "closing")
        problem = (
            f"a key may have at most {MOST_PARTS} parts"
            if parts > MOST_PARTS
            else f"a number may have at most {MOST_DIGITS} digits"
            if kind == "word" and LONG_NUMBER.search(token[0])
            else f"it may have at most {MOST_VALUES:,} keys, tables and lists"
            if values > MOST_VALUES
            else f"lists and tables may be nested at most {DEEPEST} times"
            if depth > DEEPEST
            else ""
        )
        if problem:
            raise UsageError(f"line {text.count(chr(10), 0, token.start()) + 1}: {problem}")
        before = before if kind == "blank" else kind
