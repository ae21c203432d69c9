"""Matches played by the server while pages watch, between bots and with people."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import Any, Final, TypeAlias, TypeVar

from cw.arena.launch import warn_of
from cw.arena.seats.human import HumanSeat
from cw.errors import Abandoned, ArenaError, CapacityError, QuotaError, UsageError
from cw.games.rules import Json
from cw.matches.run import OnLaunch, run_match
from cw.matches.spec import NO_SECRETS, MatchResult, MatchSpec, Secrets
from cw.server.rooms import KeepReplay
from cw.server.session import Clock
from cw.web.live.live_match import Guest, LiveMatch
from cw.web.live.loop_thread import LoopThread
from cw.web.live.shares import PART, MatchMeter, Shares

CAPACITY: Final = 64
"""Most matches kept, running ones included; beyond this, finished ones are dropped."""

MOST_WITH_GUESTS: Final = 16
"""Most matches with guests' bots at once, in addition to all others."""

MOST_WAITING: Final = 24
"""Most matches in the queue."""

MOST_WAITING_OF_ONE: Final = 3
"""Most matches of one visitor in the queue."""

UNWATCHED: Final = 60.0
"""Seconds unwatched after which a match may be closed to make room, or leaves the queue."""

UNMOVED: Final = 5 * 60.0
"""Seconds without a move by its person after which a match may be closed to make room."""

LONGEST: Final = 30 * 60.0
"""Seconds after which any match may be closed to make room."""

T = TypeVar("T")

Play: TypeAlias = Callable[..., Coroutine[Any, Any, MatchResult]]
"""Plays a match; takes the arguments of `run_match`."""

logger = logging.getLogger(__name__)


class LiveMatches:
    """The matches of a server, all played in one separate thread."""

    def __init__(self, most: int, clock: Clock, keep_replay: KeepReplay | None = None) -> None:
        """Play up to `most` matches at once; `keep_replay` saves their replays, None for none."""
        self._most = most
        self._clock = clock
        self._keep_replay = keep_replay
        self.shares = Shares()
        self._lock = Lock()
        self._loop_thread: LoopThread | None = None
        self._matches: dict[str, LiveMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def is_open(self) -> bool:
        """Return whether matches can be played here."""
        return self._most > 0

    def of(self, game: str) -> list[LiveMatch]:
        """Return the public matches of a game, latest first."""
        with self._lock:
            matches = list(self._matches.values())
        return [
            match for match in reversed(matches) if match.spec.game == game and match.guest is None
        ]

    def find(self, name: str) -> LiveMatch | None:
        """Return a waiting, running or finished match, or None; counts as a look at it."""
        with self._lock:
            match = self._matches.get(name)
            if match is not None:
                match.seen = self._clock()
                if match.waits:
                    self._admit()
            return match

    def begin(  # noqa: PLR0913 - each of them is a thing of its own
        self,
        spec: MatchSpec,
        *,
        visitor: str = "",
        pace: float = 0.0,
        bot_secrets: Secrets = NO_SECRETS,
        on_launch: OnLaunch = warn_of,
        choices: tuple[str, ...] = (),
        guest: Guest | None = None,
        room: ExitStack | None = None,
        play: Play = run_match,
    ) -> LiveMatch:
        """Begin a match, or queue it while somebody watches its page.

        `visitor` is the requester, who gets at most a third of the slots; "" for the owner, who may
        use all. `room` holds the resources of the bots: the match takes it over, and closes it at
        its end. `play` replaces `run_match` where more has to be done. Raises CapacityError if too
        many matches wait, and QuotaError if too many of this visitor do.
        """
        with self._lock:
            self._check(visitor, guest)
            people = {bot.name: HumanSeat() for bot in spec.bots if bot.kind == "human"}
            now = self._clock()
            match = LiveMatch(
                spec, people, secrets.token_urlsafe(16), choices, now, now, visitor, guest
            )
            match.meter = MatchMeter(self.shares.of(visitor)) if visitor else None
            match.work = partial(
                play,
                spec,
                on_turn=match.watch,
                on_launch=on_launch,
                people=people,
                pace=pace,
                meter=match.meter,
                secrets=bot_secrets,
            )
            self._matches[match.name] = match
            if room is not None:
                # Taken over only once the match is kept: if anything above raises, the caller still
                # closes it.
                match.room = room.pop_all()
            self._admit()
            self._forget()
            return match

    def play(self, name: str, key: str, turn: int, action: Json) -> None:
        """Play an action by hand; raise an ArenaError if it cannot be played."""
        match = self._matches.get(name)
        if match is None:
            raise UsageError("there is no such match")

        async def play() -> None:
            match.play(key, turn, action)
            match.moved = self._clock()

        self.run(play())

    def resign(self, name: str, key: str) -> None:
        """Resign a match for its person, who loses it; without the key, do nothing."""
        match = self._matches.get(name)
        if match is None or not match.fits(key):
            return
        people = match.people.values()
        with self._lock:
            if match.waits:
                self._leave(match, "its player resigned before it began")
                return

        async def resign() -> None:
            for seat in people:
                seat.resigned.set()

        self.run(resign())

    def stop(self, name: str, why: str) -> None:
        """Abort a match and leave nothing of it running. A finished match stays as it is."""
        with self._lock:
            match = self._matches.get(name)
            if match is None or match.over:
                return
            match.leaving = why
            if match.waits:
                self._leave(match, why)
            else:
                self.run(self._cancel([name]))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the thread of the matches, and wait for its result."""
        if self._loop_thread is None:
            self._loop_thread = LoopThread()
        return self._loop_thread.run(work)

    def close(self) -> None:
        """End all matches, and leave nothing of them running."""
        with self._lock:
            for match in self._waiting():
                self._leave(match, match.leaving)
            if self._loop_thread is not None:
                self._loop_thread.close()
                self._loop_thread = None

    async def _start(self, match: LiveMatch, work: Coroutine[Any, Any, MatchResult]) -> None:
        self._tasks[match.name] = asyncio.create_task(self._conduct(match, work))

    async def _conduct(self, match: LiveMatch, work: Coroutine[Any, Any, MatchResult]) -> None:
        try:
            result = await work
            if self._keep_replay is not None:
                match.replay = await asyncio.to_thread(
                    self._keep_replay, match.public(result.replay)
                )
            match.result.set_result(result)
        except asyncio.CancelledError:
            match.result.set_exception(Abandoned(match.leaving))
        except Exception as error:
            if not isinstance(error, ArenaError):
                logger.exception("match %s of %s", match.name, match.spec.game)
            match.result.set_exception(error)
        finally:
            match.room.close()
            match.version += 1
            del self._tasks[match.name]

    async def _cancel(self, names: Sequence[str]) -> None:
        tasks = [self._tasks[name] for name in names if name in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _leave(self, match: LiveMatch, why: str) -> None:
        """Remove a match from the queue."""
        match.result.set_exception(Abandoned(why))
        match.room.close()

    def _check(self, visitor: str, guest: Guest | None) -> None:
        """Raise an ArenaError if no match may be requested now, or none by this visitor."""
        if not self.is_open:
            raise UsageError("this server plays no matches")
        for match in self._waiting():
            if self._clock() - match.seen >= UNWATCHED:
                self._leave(match, "nobody looked at its page while it waited")
        if guest is not None and self._in_the_way(self._of_guest(guest), 1) is None:
            raise CapacityError(f"{guest.title} is already playing online: end that match first")
        waiting = self._waiting()
        own = sum(match.visitor == visitor for match in waiting)
        if visitor and own >= MOST_WAITING_OF_ONE:
            raise QuotaError(f"{own} matches of yours are waiting: watch or resign those first")
        if len(waiting) >= MOST_WAITING:
            raise CapacityError(f"{len(waiting)} matches are waiting: try again later")

    def _waiting(self) -> list[LiveMatch]:
        """Return the waiting matches, the longest-waiting first."""
        return [match for match in self._matches.values() if match.waits]

    def _admit(self) -> None:
        """Begin waiting matches that have a slot, and update the queue positions of the others."""
        for match in self._waiting():
            leaving = self._makes_way_for(match)
            if leaving is not None:
                self.run(self._cancel([other.name for other in leaving]))
                work, match.work = match.work, None
                match.begun = match.moved = self._clock()
                if work is not None:
                    self.run(self._start(match, work()))
        for place, match in enumerate(self._waiting(), start=1):
            match.place = place

    def _makes_way_for(self, match: LiveMatch) -> list[LiveMatch] | None:
        """Return the matches to close for a waiting one; None if it gets no slot yet."""
        # Two pools: guests' matches cannot crowd out those of the site, nor the reverse.
        most = self._most if match.guest is None else MOST_WITH_GUESTS
        alike = [
            other for other in self._played() if (other.guest is None) == (match.guest is None)
        ]
        bounds = [(alike, most)]
        if match.visitor:
            of_visitor = [other for other in alike if other.visitor == match.visitor]
            bounds.insert(0, (of_visitor, max(1, most // PART)))
        if match.guest is not None:
            bounds.insert(0, (self._of_guest(match.guest), 1))
        leaving: list[LiveMatch] = []
        for others, bound in bounds:
            staying = [other for other in others if other not in leaving]
            more = self._in_the_way(staying, bound)
            if more is None:
                return None
            leaving += more
        return leaving

    def _in_the_way(self, others: Sequence[LiveMatch], bound: int) -> list[LiveMatch] | None:
        """Return the matches to close so that one more is within the bound, or None."""
        if len(others) < bound:
            return []
        yielding = [match for match in others if self._yields(match)]
        return [min(yielding, key=lambda match: match.seen)] if yielding else None

    def _yields(self, match: LiveMatch) -> bool:
        """Return whether a match may be closed to make room."""
        now = self._clock()
        is_left = bool(match.people) and now - match.moved >= UNMOVED
        return is_left or now - match.seen >= UNWATCHED or now - match.begun >= LONGEST

    def _played(self) -> Iterator[LiveMatch]:
        return (match for match in self._matches.values() if match.is_played)

    def _of_guest(self, guest: Guest) -> list[LiveMatch]:
        """Return the running matches with a guest's bots."""
        return [
            match for match in self._played() if match.guest and match.guest.owner == guest.owner
        ]

    def _forget(self) -> None:
        """Drop finished matches if there are too many, first of the visitor who has the most."""
        while len(self._matches) > CAPACITY:
            counts = Counter(match.visitor for match in self._matches.values())
            over = [match for match in self._matches.values() if match.over]
            if not over:
                return
            del self._matches[max(over, key=lambda match: counts[match.visitor]).name]
