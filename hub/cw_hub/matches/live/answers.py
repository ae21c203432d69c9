"""Responses for viewers of live matches: read once a second for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

import msgspec
from cachetools import TTLCache

from cw.matches.processes.live_file import LiveDocument
from cw_hub.matches.live.broadcast import RunningMatch, so_far
from cw_hub.operation.passing_lines import LinesAway, PassingLines

FRESH: Final = 1.0
"""Seconds for which a response is reused."""

MOST: Final = 64 * 1024 * 1024
"""Bytes of cached responses."""

MOST_READ: Final = 128 * 1024 * 1024
"""Bytes of cached matches."""

SOON: Final = "the first turns of this match"
AWAY: Final = "the result, as running matches cannot be shown just now"


class Wish(NamedTuple):
    """What a page requests of a match."""

    match_id: str
    run: str = ""
    """The attempt and game that the page knows; for any other one it gets the whole match."""
    after: int | None = None
    """How many turns of that run it has."""


class Answer(NamedTuple):
    """A response to such a request."""

    status: int
    tag: str
    """"" if it must not be cached."""
    body: bytes


def answer_of(running: RunningMatch, wish: Wish) -> Answer:
    """Return a match for a page: all of it, or the new turns."""
    after = wish.after if wish.run == running.run else None
    news = running.match.since(after)
    tag = "" if news["more"] else f"{running.run}-{len(running.match.turns)}"
    state: LiveDocument = {"live": {"over": False, "trouble": "", "run": running.run}}
    return Answer(200, tag, msgspec.json.encode(news | state | {"yours": None, "replay": None}))


def waiting(reason: str) -> Answer:
    """Return the response for a page that has to wait."""
    return Answer(202, "", msgspec.json.encode({"waiting": f"waiting for {reason}", "over": False}))


def size_of(answer: Answer) -> int:
    """Return the size of a response in bytes."""
    return len(answer.body) + 200


@dataclass(slots=True)
class Answers:
    """The matches and responses of the last second, shared by all threads.

    Requests with ever different runs or turn counts share the cached match: it is not unpacked
    again.
    """

    lock: Lock = field(default_factory=Lock)
    matches: TTLCache[str, RunningMatch] = field(
        default_factory=lambda: TTLCache(MOST_READ, ttl=FRESH, getsizeof=lambda one: one.size)
    )
    cache: TTLCache[Wish, Answer] = field(
        default_factory=lambda: TTLCache(MOST, ttl=FRESH, getsizeof=size_of)
    )

    def find(self, wish: Wish) -> Answer | None:
        """Return a response cached within the last second."""
        with self.lock:
            return self.cache.get(wish)

    def keep(self, wish: Wish, answer: Answer) -> None:
        """Cache a response for a second; one that is too large is rebuilt each time."""
        with self.lock:
            if size_of(answer) <= MOST:
                self.cache[wish] = answer

    def answer_to(self, lines: PassingLines, wish: Wish) -> Answer:
        """Return the match so far, the new turns, or why the page has to wait."""
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
