"""The progress display of the lab: one terminal line that is updated in place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from cw.arena.bots import BotSpec
from cw.championship.runner import in_words
from cw.cli.lab.league_table import live
from cw.cli.output.announcements import Announcements
from cw.cli.output.stderr import Stderr
from cw.lab.comparison import Comparison, counted, progress
from cw.lab.league import LeagueStandings
from cw.lab.tuning import Course, moves

if TYPE_CHECKING:
    from rich.console import RenderableType


class LabProgress:
    """A line at the bottom of the terminal; without a terminal, lines at doubling intervals."""

    def __init__(
        self,
        stderr: Stderr,
        announcements: Announcements,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the display without showing it."""
        self._stderr = stderr
        self._announcements = announcements
        self._status = stderr.console.status("starting the bots")
        self._lives = stderr.console.is_terminal
        self._clock = clock
        self._began = clock()
        self._before = 0
        """Matches that were already over at the start."""
        self._next = 1

    def __enter__(self) -> Self:
        """Show the line."""
        self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the line."""
        self._status.stop()

    def announce(self, bot: BotSpec, protection: str) -> None:
        """Report how a program is isolated."""
        self._announcements(bot, protection)

    def show(self, state: RenderableType, number: int) -> None:
        """Show the state after `number` steps: in place, or as a line if there is no terminal."""
        self._status.update(state)
        if not self._lives and number >= self._next:
            self._next = 2 * number
            self._stderr.say(str(state), "dim", soft_wrap=True)

    def comparison(self, comparison: Comparison) -> None:
        """Show the progress of a comparison."""
        left = self._left(len(comparison.matches), comparison.matches_left)
        self.show(f"{progress(comparison)}{left}", comparison.scores.pairs)

    def league(self, standing: LeagueStandings) -> None:
        """Show the progress of a league: in a terminal its table, otherwise the leader."""
        first = standing.places[0]
        count = counted(standing.matches, "match")
        text = f"{count}: {first.name} leads at {first.rating.mu:.0f} ± {first.margin:.0f}"
        self.show(live(standing) if self._lives else text, standing.matches)

    def course(self, course: Course) -> None:
        """Show the progress of a tuning."""
        tuning, numbers = course.tuning, ", ".join(moves(course))
        text = f"step {course.steps} of {tuning.steps}: {numbers}"
        matches = tuning.pairs * len(tuning.base.seatings)
        left = self._left(course.steps * matches, (tuning.steps - course.steps) * matches)
        self.show(f"{text}{left}", course.steps)

    def begin(self, matches: int) -> None:
        """Start the time estimate; `matches` that are already over do not count for the pace."""
        self._before, self._began, self._next = matches, self._clock(), 1

    def _left(self, over: int, left: int) -> str:
        """Return the estimated time for the remaining matches; "" if unknown."""
        played = over - self._before
        if played <= 0 or not left:
            return ""
        seconds = (self._clock() - self._began) / played * left
        return f"; {in_words(seconds)} left"
