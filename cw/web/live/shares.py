"""Shares of the processor time of live matches: one per visitor, and one for all together."""

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
"""Processor seconds per second that all live matches together may use; pages need the rest.

Only one thread of a Python process computes at a time.
"""

PART: Final = 3
"""One visitor may use a third of the time, and a third of the slots."""

AT_ONCE: Final = 1.0
"""Seconds that may be used before a rest is due, so that people who play by hand never wait."""

MOST_VISITORS: Final = 1000
"""Most visitors whose use is remembered; the one idle for longest is forgotten first."""


class Share:
    """An allowance of processor seconds per second; use beyond it has to be rested off."""

    def __init__(self, rate: float, clock: Clock = monotonic, whole: Share | None = None) -> None:
        """Allow `rate` seconds per second; use counts for the `whole` too."""
        self._rate = rate
        self._clock = clock
        self._whole = whole
        self._lock = Lock()
        self._used = 0.0
        self._at = clock()
        self.busy = Lock()
        """Held while a long request of the visitor is computed."""

    def charge(self, seconds: float) -> None:
        """Record the use of processor time."""
        with self._lock:
            self._used = self._left() + seconds
            self._at = self._clock()
        if self._whole is not None:
            self._whole.charge(seconds)

    def rest(self) -> float:
        """Return for how many seconds nothing may be used; almost always 0."""
        with self._lock:
            own = max(0.0, self._left() - AT_ONCE) / self._rate
        return own if self._whole is None else max(own, self._whole.rest())

    def _left(self) -> float:
        """Return the use not yet rested off, in processor seconds."""
        return max(0.0, self._used - self._rate * (self._clock() - self._at))


class Shares:
    """The shares of all visitors of a server."""

    def __init__(self, clock: Clock = monotonic) -> None:
        """Begin with all shares unused."""
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
        """Charge a long computation in the block to a visitor, who may run one at a time.

        Raises QuotaError if another one runs, or if the visitor has to rest. The owner is never
        charged.
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
    """Charges the use of one match to a share."""

    def __init__(self, share: Share) -> None:
        """Charge nothing yet."""
        self._share = share
        self._since: float | None = None

    async def rest(self) -> None:
        """Wait until the share allows more."""
        await asyncio.sleep(self._share.rest())

    def think(self, began: float) -> None:
        """Charge for a bot's thinking, from `began`, a time of `perf_counter`, until now."""
        self._share.charge(perf_counter() - began)
        self._since = thread_time()

    def turn(self) -> None:
        """Charge what the thread of the matches has computed since a bot's last thinking."""
        # Not wall time: a person may have thought in between.
        if self._since is not None:
            self._share.charge(thread_time() - self._since)
        self._since = None
