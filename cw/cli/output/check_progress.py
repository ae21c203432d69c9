"""The progress display of `cw check`: the current step, the number of steps, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from cw.arena.bots import BotSpec
from cw.cli.output.announcements import Announcements
from cw.cli.output.stderr import Stderr
from cw.matches.check import PROTOCOL, Attempt


class CheckProgress:
    """A line at the bottom of the terminal, hidden while anything else is printed."""

    def __init__(
        self,
        stderr: Stderr,
        announcements: Announcements,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the display without showing it."""
        self.total = 0
        """Number of steps of the whole check, as far as known."""
        self._announcements = announcements
        self._status = stderr.console.status("")
        self._clock = clock
        self._matches: tuple[int, float] | None = None
        """The step number of the first match, and its start time."""

    def __enter__(self) -> Self:
        """Show the line."""
        self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the line."""
        self._status.stop()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the line while the block prints, then show it again."""
        self._status.stop()
        yield
        self._status.start()

    def trying(self, attempt: Attempt) -> None:
        """Show the next step."""
        self.total = attempt.total
        self._status.update(in_words(attempt, self._left(attempt)))

    def _left(self, attempt: Attempt) -> float | None:
        """Return the estimated seconds left, or None before the first match is over."""
        if attempt.name == PROTOCOL:
            return None
        now = self._clock()
        first, began = self._matches = self._matches or (attempt.number, now)
        past = attempt.number - first
        return (now - began) / past * (attempt.total - attempt.number + 1) if past else None

    def announce(self, bot: BotSpec, protection: str) -> None:
        """Report how a program is isolated."""
        with self.hidden():
            self._announcements(bot, protection)


def in_words(attempt: Attempt, left: float | None) -> str:
    """Return the current step as text; `left` is the estimate in seconds, including this step.

    >>> in_words(Attempt("plays on a large board", 4, 9), 60.0)
    'step 4 of 9: plays on a large board; about 1:00 left'
    """
    seconds = round(left or 0)
    estimate = f"; about {seconds // 60}:{seconds % 60:02} left" if seconds else ""
    return f"step {attempt.number} of {attempt.total}: {attempt.name}{estimate}"
