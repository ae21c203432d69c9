"""How the processor time of live matches is shared: each visitor has a part, and all together."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic, perf_counter, thread_time
from typing import Final

from cw.errors import QuotaError
from cw.server.session import Clock

WHOLE: Final = 0.5
"""Seconds of a processor that all live matches together may use in a second: pages need the rest,
and only one thread of a Python process computes at a time."""

PART: Final = 3
"""One visitor may use a third, of the time as of the places."""

AT_ONCE: Final = 1.0
"""Seconds that may be used before anybody has to rest, so that who plays by hand never waits."""

MOST_VISITORS: Final = 1000
"""Visitors whose use is remembered; who has used nothing for longest is forgotten first."""


class Share:
    """So many seconds of a processor in a second; what is used beyond them has to be rested off."""

    def __init__(self, rate: float, clock: Clock = monotonic, whole: Share | None = None) -> None:
        """Share out `rate` seconds a second; what is used counts for the `whole` too."""
        self._rate = rate
        self._clock = clock
        self._whole = whole
        self._lock = Lock()
        self._used = 0.0
        self._at = clock()
        self.busy = Lock()
        """Taken while a request of a visitor computes for long."""

    def charge(self, seconds: float) -> None:
        """Note that so many seconds were used."""
        with self._lock:
            self._used = self._left() + seconds
            self._at = self._clock()
        if self._whole is not None:
            self._whole.charge(seconds)

    def rest(self) -> float:
        """Return for how many seconds nothing may be used; 0 for as good as always."""
        with self._lock:
            own = max(0.0, self._left() - AT_ONCE) / self._rate
        return own if self._whole is None else max(own, self._whole.rest())

    def _left(self) -> float:
        """Return what has been used and not yet rested off, in seconds of a processor."""
        return max(0.0, self._used - self._rate * (self._clock() - self._at))


class Shares:
    """The shares of all visitors of a server."""

    def __init__(self, clock: Clock = monotonic) -> None:
        """Nobody has used anything."""
        self._clock = clock
        self._whole = Share(WHOLE, clock)
        self._lock = Lock()
        self._of: OrderedDict[str, Share] = OrderedDict()

    def of(self, visitor: str) -> Share:
        """Return the share of a visitor."""
        with self._lock:
            if visitor not in self._of:
                self._of[visitor] = Share(WHOLE / PART, self._clock, self._whole)
            self._of.move_to_end(visitor)
            while len(self._of) > MOST_VISITORS:
                self._of.popitem(last=False)
            return self._of[visitor]

    @contextmanager
    def computing(self, visitor: str) -> Iterator[None]:
        """Let a request compute for long while the block runs, one at a time of each visitor.

        Raises QuotaError if another one does, or if the visitor has to rest; the owner never has.
        """
        if not visitor:
            yield
            return
        share = self.of(visitor)
        rest = share.rest()
        if rest > 0:
            raise QuotaError(
                "your matches have used your share of the processor: "
                f"try again in {int(rest) + 1} seconds"
            )
        if not share.busy.acquire(blocking=False):
            raise QuotaError("another request of yours is still running: try again when it is done")
        began = thread_time()
        try:
            yield
        finally:
            share.charge(thread_time() - began)
            share.busy.release()


class MatchMeter:
    """Measures what one match uses of a share."""

    def __init__(self, share: Share) -> None:
        """Begin with nothing."""
        self._share = share
        self._since: float | None = None

    async def rest(self) -> None:
        """Wait until the share allows more."""
        await asyncio.sleep(self._share.rest())

    def think(self, began: float) -> None:
        """Note a thought that began at a moment of `perf_counter` and ends now."""
        self._share.charge(perf_counter() - began)
        self._since = thread_time()

    def turn(self) -> None:
        """Note what was computed in the thread of the matches from the last thought to now."""
        # Not by the clock on the wall: a person may have thought in between.
        if self._since is not None:
            self._share.charge(thread_time() - self._since)
        self._since = None
