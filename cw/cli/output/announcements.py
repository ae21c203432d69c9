"""Messages that a command prints in addition to its results, each line once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cw.arena.bots import BotSpec
from cw.arena.sandbox import BUBBLEWRAP
from cw.cli.output.stderr import Stderr

UNBOUND: Final = "NO BOUND"
"""Marks a resource without a limit in the description of a program's isolation."""

ALONE: Final = "it sees "
"""Starts the part that says that a program sees only some files of its folder."""


class Announcements:
    """Prints how programs are isolated, and other messages, each line once.

    The usual protection is not mentioned, and a weaker one only briefly; `verbose` prints all
    details.
    """

    def __init__(self, stderr: Stderr, *, verbose: bool = False) -> None:
        """Start with nothing printed."""
        self._stderr = stderr
        self._verbose = verbose
        self._lines: set[str] = set()

    def __call__(self, bot: BotSpec, protection: str) -> None:
        """Report how a program is isolated."""
        text = protection if self._verbose else in_short(protection)
        if text:
            self.tell([f"{bot.name}: {text}"])

    def tell(self, lines: Sequence[str]) -> None:
        """Print the lines that are new."""
        for line in lines:
            if line not in self._lines:
                self._lines.add(line)
                self._stderr.say(line, "dim")


def in_short(protection: str) -> str:
    """Return a short text about a protection weaker than the usual one; "" for the usual one.

    >>> in_short("bubblewrap: files, processes and network of its own; at most 1 GiB of memory")
    ''
    >>> in_short("LIMITS ONLY, it can read your files (the sandbox is switched off); at most 1 GiB")
    'LIMITS ONLY, it can read your files (the sandbox is switched off); -v shows more'
    """
    first, *others = protection.split("; ")
    parts = [first] if not first.startswith(BUBBLEWRAP) else []
    for other in others:
        _, mark, free = other.partition(UNBOUND)
        parts += [f"{mark}{free}"] if mark else []
        # This part explains why a program may not find a file.
        parts += [other] if other.startswith(ALONE) else []
    return "; ".join([*parts, "-v shows more"]) if parts else ""
