"""Matches in progress: streamed line by line from the workers, and served to viewers."""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

import msgspec
from cachetools import TTLCache

from cw import documents
from cw.matches.live_file import LiveDocument, MatchSoFar, match_of
from cw_hub.operation.shared import LinesAway, PassingLines
from cw_hub.players.messages import Live
from cw_hub.players.reading import SHOWN, SHOWN_UNPACKED, Room

OF_A_TURN: Final = 100
"""Bytes of memory for a turn in addition to its text."""

logger = logging.getLogger(__name__)


class Broadcast:
    """Broadcasts the lines of one game; if that fails, the game continues."""

    def __init__(self, lines: PassingLines, match_id: str) -> None:
        """Prepare a broadcast; nothing is sent yet."""
        self._lines = lines
        self._match_id = match_id
        self._passed: list[bytes] = []
        self._is_whole = True
        """Whether all lines so far have arrived."""

    def take(self, line: Live) -> None:
        """Send a line; after a loss, send all lines again."""
        self._passed = [line.data] if line.is_head else [*self._passed, line.data]
        try:
            if self._is_whole and not line.is_head:
                self._is_whole = self._add(line.data)
            else:
                self._is_whole = False
            if not self._is_whole:
                self._begin_again()
        except LinesAway as error:
            self._is_whole = False
            logger.warning("%s is not shown while it is played: %s", self._match_id, error)

    def _add(self, line: bytes) -> bool:
        return self._lines.add(self._match_id, line) == len(self._passed)

    def _begin_again(self) -> None:
        head, *others = self._passed
        self._lines.replace(self._match_id, head)
        for line in others:
            self._lines.add(self._match_id, line)
        self._is_whole = True


class RunningMatch(NamedTuple):
    """A game of a match as far as it is known."""

    run: str
    """Identifies the attempt and the game of the match."""
    match: MatchSoFar
    size: int
    """Approximate size in bytes."""


def so_far(lines: PassingLines, match_id: str) -> RunningMatch | None:
    """Return a match as far as it is known, or None if it is not; raise LinesAway.

    Also returns None if the lines cannot come from a player.
    """
    packed, room = lines.read(match_id), Room(SHOWN, SHOWN_UNPACKED)
    if not all(room.fits(line) for line in packed):
        return None
    whole = [zlib.decompressobj().decompress(line, SHOWN_UNPACKED) for line in packed]
    match = match_of(whole)
    if match is None:
        return None
    try:
        run = documents.decode(bytes(match.head["run"]), str)
    except (KeyError, msgspec.MsgspecError):
        return None
    return RunningMatch(run, match, sum(map(len, whole)) + OF_A_TURN * len(match.turns))


FRESH: Final = 1.0
"""Seconds for which a response is reused."""

MOST: Final = 64 * 1024 * 1024
"""Maximum bytes of cached responses."""

MOST_READ: Final = 128 * 1024 * 1024
"""Maximum bytes of cached matches."""

SOON: Final = "the first turns of this match"
AWAY: Final = "the result, as running matches cannot be shown just now"


class Wish(NamedTuple):
    """A page's request for a match."""

    match_id: str
    run: str = ""
    """The attempt and game that the page knows; for any other, it gets the whole match."""
    after: int | None = None
    """The number of turns of that run that the page has."""


class Answer(NamedTuple):
    """A response to such a request."""

    status: int
    tag: str
    """"" if it must not be cached."""
    body: bytes


def answer_of(running: RunningMatch, wish: Wish) -> Answer:
    """Return the response with a match for a page: all of it, or only the new turns."""
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
    """A cache of the matches and responses of the last second, shared by all threads.

    Requests with ever different runs or turn counts share the cached match, so that it is not
    unpacked again.
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
        """Return the response with the match so far, the new turns, or the reason for waiting."""
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
