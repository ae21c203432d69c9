"""The common errors of the arena, and the safe display of untrusted text in messages."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from difflib import get_close_matches
from reprlib import Repr
from typing import Any, Final, Literal, TextIO, TypeAlias

FaultKind: TypeAlias = Literal[
    "startup", "disconnected", "timeout", "crashed", "malformed", "illegal", "oversize"
]
"""The kinds of faults that a player can commit."""

LONGEST: Final = 60
"""Maximum length of a value quoted in a message, in characters."""

_shortened = Repr()
_shortened.maxstring = _shortened.maxlong = _shortened.maxother = LONGEST


def short(value: Any) -> str:
    """Return a value as text for a message, truncated however large or deeply nested it is."""
    text = _shortened.repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def choices(name: str, names: Iterable[str]) -> str:
    """Return the valid choices, for a message about an unknown name: the nearest match, then all.

    >>> choices("hexgon", ["paint", "hexagon"])
    'did you mean hexagon? There are: paint, hexagon'
    """
    lowered = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), lowered, 1)
    hint = f"did you mean {lowered[near[0]]}? T" if near else "t"
    return f"{hint}here are: {', '.join(lowered.values())}"


class ArenaError(Exception):
    """Invalid input; the message says what is wrong, why, and how to fix it."""


class ProtocolError(ArenaError):
    """A message or a document that cannot be parsed as the expected type."""


class IllegalAction(ArenaError):
    """An action that the rules do not allow in this position."""

    def __init__(
        self, message: str, kind: FaultKind = "illegal", expected: str = "", actual: str = ""
    ) -> None:
        """Create the error; `kind` is for rule books in which such an action is a different fault.

        `expected` and `actual` are values that reports compare, if the rule book defines them.
        """
        super().__init__(message)
        self.kind = kind
        self.expected = expected
        self.actual = actual


class OutOfTurn(IllegalAction):
    """An action by a player who does not owe one at this time."""


class UsageError(ArenaError):
    """A request that is invalid: an unknown name, a bad option, a missing file."""


class CapacityError(ArenaError):
    """A request that is valid but cannot be served now: everything is in use."""


class QuotaError(CapacityError):
    """A request that is valid but cannot be served now: the caller's quota is exhausted."""


class Failure(ArenaError):
    """Something the arena relies on has failed: a worker, a disk, a program on this host."""


class UnfitProgram(UsageError):
    """A bot's program that cannot be started: it is missing, or its folder is too large."""


class Abandoned(ArenaError):
    """A match that ended without a result because a player left or the match was stopped."""


class MatchChanged(ArenaError):
    """The match has changed since the client last saw it."""


class RegistrationError(ArenaError):
    """A registration, or a move, that a Circuit Wars server rejects."""


class InvalidTeamId(RegistrationError):
    """A malformed team id."""


class TeamIdTaken(RegistrationError):
    """A team id that another team of this game already has."""


class GameStarted(RegistrationError):
    """A registration after both seats are taken."""


class UnknownTeam(RegistrationError):
    """A move by a team that is not registered in this game."""


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
    """Make a stream escape characters that its encoding lacks, instead of raising an error.

    On Windows, standard output redirected to a file or pipe uses the regional code page.
    """
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")
