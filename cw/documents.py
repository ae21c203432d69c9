"""Thread-safe, bounded decoding of JSON and TOML into typed values, and safe spreadsheet cells.

msgspec analyses a type on first use, and caches the result before it is complete: a second thread
that decodes the same type at that time crashes the process. So types are analysed here, under a
lock.
"""

from __future__ import annotations

import re
import threading
import tomllib
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from cw.errors import UsageError

T = TypeVar("T")

LEARNED: Final[set[Any]] = set()
LEARNING: Final = threading.Lock()


def learn(kind: Any) -> None:
    """Make a type safe to decode from any thread."""
    if kind not in LEARNED:
        with LEARNING:
            msgspec.json.Decoder(kind)
            LEARNED.add(kind)


def decode(data: bytes | str, kind: type[T]) -> T:
    """Decode JSON as msgspec does; raise its DecodeError if the data is invalid."""
    learn(kind)
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise msgspec.DecodeError("JSON is nested too deeply") from None
    except UnicodeError as error:
        raise msgspec.DecodeError(f"JSON is not UTF-8: {error}") from None


def convert(value: Any, kind: type[T], *, strict: bool = True, str_keys: bool = False) -> T:
    """Convert built-in values to a type as msgspec does; raise its errors."""
    learn(kind)
    return msgspec.convert(value, kind, strict=strict, str_keys=str_keys)


CELL: Final = re.compile(r'((?:^|[;,\t\r\n])[;,\s"]*)([=+\-@\uff1d\uff0b\uff0d\uff20]?)')
"""What may precede a cell, and the character that would make it a formula, full-width or not.

Any separator in a text may start a cell: spreadsheets use their locale's, often a semicolon, or
several of them.
"""


def harmless(value: Any) -> Any:
    """Return a value that no spreadsheet reads as a formula, whatever its cell separator.

    >>> [harmless(value) for value in ("=1+1", "x; =1+1", "x - 1; y", -1)]
    ["'=1+1", "x; '=1+1", 'x - 1; y', -1]
    """
    if not isinstance(value, str):
        return value
    return CELL.sub(lambda cell: f"{cell[1]}'{cell[2]}" if cell[2] else cell[0], value)


MOST_PARTS: Final = 4
"""Maximum number of parts in a key, such as the four in `settings.boards.options.size`."""

MOST_DIGITS: Final = 20
"""Maximum number of digits in a number; 64-bit integers have up to 20."""

MOST_VALUES: Final = 20_000
"""Maximum number of keys, tables and lists per file. Each takes up to 4 KB of memory."""

DEEPEST: Final = 8
"""Maximum nesting depth of lists and inline tables."""

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
"""Strings and comments are separate tokens, so that their contents are not scanned."""

LONG_NUMBER: Final = re.compile(
    rf"0[xob](?:_?[0-9A-Fa-f]){{{MOST_DIGITS + 1}}}|(?:[0-9]_?){{{MOST_DIGITS + 1}}}"
)


def read_toml(file: Path, largest: int) -> dict[str, Any]:
    """Parse a file of at most `largest` bytes; raise UsageError with its name if that fails."""
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
    """Raise UsageError if parsing a text would take too much time or memory.

    Text after an unterminated string is not checked: the parser stops there too.
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
