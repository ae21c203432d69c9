"""The end of a bot's output for a terminal, without kits' logs, and with repetitions counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from cw.arena.exceptions import last_exception

LONGEST: Final = 2000
"""Maximum characters shown of a bot's output."""

SEARCHED: Final = 400
"""Number of lines at the end that are searched for repetitions."""

LOGGED: Final = re.compile(
    r"(?:[A-Z]+ /\S* \d{3}|turns_left \d+: .*|ready as .*) \d+\.\d ms"
    r"|turn \d+ \d+\.\d ms \d+ moves|listening on \S+"
    r"|.+ is player [12]\. Watch the game at \S+"
)
"""A line in which a kit logs a request, a turn, its player, or an address."""


class Repeated(NamedTuple):
    """A repetition at the end of a text: its number of lines, and how often they occur."""

    size: int
    times: int


def last_words(output: str) -> str:
    r"""Return the end of a bot's output, in whole lines, without those that kits log.

    Repetitions at the end, such as the traceback of every turn, are shown once and counted.

    >>> print(last_words("KeyError: 3\n" * 7))
    KeyError: 3
    (and the same 6 more times)
    """
    written = output.rstrip().lstrip("\r\n").splitlines()
    lines = [line for line in written if not LOGGED.fullmatch(line)]
    size, times = repeated(lines[-SEARCHED:])
    once = lines[: len(lines) - size * (times - 1)]
    counted = f"\n(and the same {times - 1} more time{'s' * (times > 2)})" if times > 1 else ""
    return ending("\n".join(once).rstrip()) + counted


def repeated(lines: Sequence[str]) -> Repeated:
    """Return the repetition that makes up most of the end of a text; (0, 1) if there is none.

    >>> repeated(["a", "b", "c", "b", "c"])
    Repeated(size=2, times=2)
    """
    sizes = range(1, len(lines) // 2 + 1)
    endings = (Repeated(size, times_at_end(lines, size)) for size in sizes)
    repetitions = [ending for ending in endings if ending.times > 1]
    return max(repetitions, key=lambda each: each.size * each.times, default=Repeated(0, 1))


def times_at_end(lines: Sequence[str], size: int) -> int:
    """Return how often the last `size` lines occur in a row at the end."""
    block, times = lines[-size:], 1
    while lines[-size * (times + 1) : -size * times] == block:
        times += 1
    return times


def ending(text: str) -> str:
    """Return a text, or an excerpt of its end if it is too long.

    The excerpt is the last exception from its start, if there is one, otherwise the last whole
    lines.
    """
    if len(text) <= LONGEST:
        return text
    raised = last_exception(text)
    lines = text.split("\n")[raised.at if raised else 0 :]
    half = LONGEST // 2 if raised else 0
    head, tail = "\n".join(lines)[:half], "\n".join(lines)[half:][half - LONGEST :]
    # Cut at line ends, unless a single line is longer than all that is shown.
    beginning = head.rpartition("\n")[0]
    return "\n".join(filter(None, (beginning, "...", tail.partition("\n")[2] or tail)))
