"""What is answered to those who watch: read once a second for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

import msgspec
from cachetools import TTLCache

from cw.hub.matches.live.broadcast import RunningMatch, so_far
from cw.hub.operation.passing_lines import LinesAway, PassingLines
from cw.matches.processes.live_file import LiveDocument

FRESH: Final = 1.0
"""Seconds for which an answer is given again."""

MOST: Final = 64 * 1024 * 1024
"""Bytes of answers that are remembered."""

MOST_READ: Final = 128 * 1024 * 1024
"""Bytes of matches that are remembered."""

SOON: Final = "the first turns of this match"
AWAY: Final = "the result, as running matches cannot be shown just now"


class Wish(NamedTuple):
    """What a page wants of a match."""

    match_id: str
    run: str = ""
    """Which attempt and game the page knows; of another one it gets the whole."""
    after: int | None = None
    """How many turns it knows of that."""


class Answer(NamedTuple):
    """What is answered."""

    status: int
    tag: str
    """"": not to be kept."""
    body: bytes


def answer_of(running: RunningMatch, wish: Wish) -> Answer:
    """Return what a page is told of a match: all of it, or what is new."""
    after = wish.after if wish.run == running.run else None
    news = running.match.since(after)
    tag = "" if news["more"] else f"{running.run}-{len(running.match.turns)}"
    state: LiveDocument = {"live": {"over": False, "trouble": "", "run": running.run}}
    return Answer(200, tag, msgspec.json.encode(news | state | {"yours": None, "replay": None}))


def waiting(reason: str) -> Answer:
    """Return the answer to a page that has to wait for something."""
    return Answer(202, "", msgspec.json.encode({"waiting": f"waiting for {reason}", "over": False}))


def size_of(answer: Answer) -> int:
    """Return what an answer takes, in bytes."""
    return len(answer.body) + 200


@dataclass(slots=True)
class Answers:
    """The matches that were read in the last second, and the answers; shared by all threads.

    Whoever names another run or another number of turns each time is answered from the match that
    was read for the others: it is not unpacked again.
    """

    lock: Lock = field(default_factory=Lock)
    matches: TTLCache[str, RunningMatch] = field(
        default_factory=lambda: TTLCache(MOST_READ, ttl=FRESH, getsizeof=lambda one: one.size)
    )
    cache: TTLCache[Wish, Answer] = field(
        default_factory=lambda: TTLCache(MOST, ttl=FRESH, getsizeof=size_of)
    )

    def find(self, wish: Wish) -> Answer | None:
        """Return the answer that was given within the last second."""
        with self.lock:
            return self.cache.get(wish)

    def keep(self, wish: Wish, answer: Answer) -> None:
        """Give this answer for a second; one that is too large is made anew each time."""
        with self.lock:
            if size_of(answer) <= MOST:
                self.cache[wish] = answer

    def answer_to(self, lines: PassingLines, wish: Wish) -> Answer:
        """Return what a page is told: the match so far or what is new, or why it has to wait."""
        with self.lock:
            match = self.matches.get(wish.match_id)
        if match is None:
            try:
                match = so_far(lines, wish.match_id)
            except LinesAway:
                return waiting(AWAY)
            if match is None:
                return waiting(SOON)
            with self.lock:
                if match.size <= MOST_READ:
                    self.matches[wish.match_id] = match
        return answer_of(match, wish)
