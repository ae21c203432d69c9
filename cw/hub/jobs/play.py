"""Plays one match: claims it, plays it while its lease is renewed, stores its replay, ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from threading import Timer
from typing import Any, Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw import __version__
from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.errors import ArenaError
from cw.hub.jobs.checks import isolation_of
from cw.hub.resources import Resources
from cw.hub.services import matches, replays, upkeep
from cw.hub.services.matches import BattleResult, Claim, ClaimedSeat, SlotResult
from cw.hub.store.database import is_away
from cw.hub.store.objects import StoreAway
from cw.hub.store.sealing import Sealed
from cw.matches.run import MatchProgress, run_match
from cw.matches.spec import MatchResult, MatchSpec

T = TypeVar("T")

RENEWED: Final = 15.0
"""Seconds between two renewals of a lease; a quarter of the lease if that is shorter."""

PAUSES: Final = (1.0, 4.0, 16.0)
"""Seconds between tries to store a replay."""

PATIENCE: Final = 600.0
"""Seconds for which the end of a match is kept while the database is away."""

AWAY_PAUSE: Final = 1.0
"""Seconds between two tries to reach the database."""

OVERDUE: Final = 60.0
"""Seconds after the end of a lease after which a process that hangs ends itself."""

logger = logging.getLogger(__name__)


class Lost(Exception):
    """The match is not this attempt's any more."""


class Away(Exception):
    """The database or the object store has been away for too long."""


def worker_name(pid: int, started_at: datetime) -> str:
    """Return the name of a worker process: no other one bears it, here or elsewhere."""
    return f"{socket.gethostname()[:50]}:{pid}:{started_at:%Y%m%dT%H%M%S}"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that plays matches."""

    name: str
    slots: int
    version: str = __version__
    ends_itself: bool = False
    """Whether the process may end itself where a match hangs: nothing else runs in it."""

    def play(self, resources: Resources, match: int) -> None:
        """Play a match, if it waits; the job `play_match`."""
        claim = self.claimed(resources, match)
        if claim is not None:
            logger.info("playing %s, attempt %s", claim.match_id, claim.attempt)
            Attempt(resources, claim, self.ends_itself).run()

    def claimed(self, resources: Resources, match: int) -> Claim | None:
        """Claim a match; while the database is away, wait: no message shall be used up for that."""
        lease = timedelta(seconds=resources.settings.lease)
        while True:
            try:
                with resources.database.writing() as session:
                    return matches.claim(session, resources.clock, match, self.name, lease)
            except DBAPIError as error:
                if not is_away(error):
                    raise
                logger.warning("the database is away: %s", error.orig)
                time.sleep(AWAY_PAUSE)

    def leave(self, resources: Resources) -> None:
        """Give back what is played, as the process is told to end."""
        with resources.database.writing() as session:
            matches.interrupt_all_of(session, self.name, "its worker was stopped")
            upkeep.forget_worker(session, self.name)


@dataclass(slots=True)
class Attempt:
    """One attempt to play a match."""

    resources: Resources
    claim: Claim
    ends_itself: bool
    turn: int = 0
    stored: list[str] = field(default_factory=list)
    """The keys of its objects."""

    def run(self) -> None:
        """Play it to its end, or give it back."""
        try:
            battle = asyncio.run(self.played())
            self.end(battle)
        except Lost:
            logger.warning("%s is not ours any more", self.claim.match_id)
            self.forget_objects()
        except (Away, StoreAway) as error:
            logger.warning("%s is given back: %s", self.claim.match_id, error)
            self.give_back(str(error), is_trouble=False)
        except Exception as error:
            logger.exception("%s, attempt %s", self.claim.match_id, self.claim.attempt)
            self.give_back(reason_of(error), is_trouble=True)

    async def played(self) -> BattleResult:
        """Play and store, while the lease is renewed; raise Lost where that cannot be."""
        return await self.while_renewed(self.play_and_store())

    async def play_and_store(self) -> BattleResult:
        """Play the match and store its replay."""
        claim, clock = self.claim, self.resources.clock
        began = clock()
        spec = spec_of(claim, self.resources.settings.bots_may_be)
        result = await run_match(spec, on_turn=self.watch, secrets=self.secrets())
        ended = clock()
        key = replays.replay_key(claim.match_id, claim.planned_at, claim.attempt)
        names = [seat.public for seat in claim.seats]
        replay = await asyncio.to_thread(replays.stored_replay, result.replay, names, key)
        for name, data in replay.objects:
            await self.store(name, data)
        return BattleResult(
            result.reason, slots_of(result), result.turns, replay.key, replay.size, began, ended
        )

    async def store(self, key: str, data: bytes) -> None:
        """Store an object, in several tries; raise StoreAway."""
        self.stored.append(key)
        for pause in (*PAUSES, None):
            try:
                await asyncio.to_thread(self.resources.objects.put_new, key, data)
                return
            except StoreAway:
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    def secrets(self) -> dict[str, dict[str, str]]:
        """Return the secrets of the bots by their names."""
        return {
            seat.name: dict.fromkeys(SECRET_SETTINGS, self.opened(seat.secret, seat.secret_row))
            for seat in self.claim.seats
            if seat.secret is not None
        }

    def opened(self, secret: Sealed, row: str) -> str:
        """Return the secret of a bot."""
        return self.resources.sealer.open(secret, row).decode()

    def watch(self, progress: MatchProgress) -> None:
        """Take in how far the match is."""
        self.turn = progress.turns

    async def while_renewed(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something while the lease is renewed; cancel it where the match is lost."""
        working, renewing = asyncio.create_task(work), asyncio.create_task(self.renew())
        try:
            await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                renewing.result()
            return await working
        finally:
            working.cancel()
            renewing.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)

    async def renew(self) -> None:
        """Renew the lease again and again; raise Lost, or Away after a long time."""
        lease = self.resources.settings.lease
        renewed = time.monotonic()
        while True:
            watchdog = self.watchdog(lease + OVERDUE)
            try:
                await asyncio.sleep(min(RENEWED, lease / 4))
            finally:
                watchdog.cancel()
            try:
                if not await asyncio.to_thread(self.note_progress):
                    raise Lost
                renewed = time.monotonic()
            except DBAPIError as error:
                if not is_away(error) or time.monotonic() - renewed > PATIENCE:
                    raise Away("the database is away") from error

    def watchdog(self, seconds: float) -> Timer:
        """Start what ends the process, if it may be ended, where this loop hangs so long."""
        timer = Timer(seconds, os._exit, [70])
        timer.daemon = True
        if self.ends_itself:
            timer.start()
        return timer

    def note_progress(self) -> bool:
        """Note how far the match is; return whether it is still ours."""
        lease = timedelta(seconds=self.resources.settings.lease)
        with self.resources.database.writing() as session:
            clock = self.resources.clock
            return matches.progress(session, clock, self.claim, self.turn, lease)

    def end(self, battle: BattleResult) -> None:
        """Write the result, once; raise Lost where another attempt has taken over, and Away."""
        given_up = time.monotonic() + PATIENCE
        while True:
            try:
                with self.resources.database.writing() as session:
                    clock = self.resources.clock
                    said = matches.finish(session, clock, self.claim, [battle])
            except DBAPIError as error:
                if not is_away(error) or time.monotonic() > given_up:
                    raise Away("the database is away") from error
                time.sleep(AWAY_PAUSE)
            else:
                if said == "lost":
                    raise Lost
                return

    def give_back(self, reason: str, *, is_trouble: bool) -> None:
        """Give the match back, and take its objects away; where that fails, its lease ends."""
        try:
            with self.resources.database.writing() as session:
                given = matches.trouble if is_trouble else matches.interrupt
                given(session, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be given back", self.claim.match_id)
        self.forget_objects()

    def forget_objects(self) -> None:
        """Delete what this attempt has stored, as far as the store answers."""
        for key in self.stored:
            try:
                self.resources.objects.delete(key)
            except StoreAway as error:
                logger.warning("%s is left behind: %s", key, error)


def spec_of(claim: Claim, bots_may_be: tuple[str, ...]) -> MatchSpec:
    """Return what is to be played."""
    return MatchSpec(
        claim.match_id,
        claim.game,
        tuple(bot_of(seat) for seat in claim.seats),
        claim.seed,
        dict(claim.options),
        isolation=isolation_of(bots_may_be),
    )


def bot_of(seat: ClaimedSeat) -> BotSpec:
    """Return who sits at a slot, for the arena."""
    kind, _, name = seat.spec.partition(":")
    if kind == "builtin":
        return BotSpec(seat.name, "builtin", name)
    return BotSpec(seat.name, "http", seat.spec.rstrip("/"), dict(seat.settings))


def slots_of(result: MatchResult) -> tuple[SlotResult, ...]:
    """Return what came of every slot."""
    return tuple(
        SlotResult(rank, score, [fault.to_json() for fault in result.faults_of(slot)], stats)
        for slot, (rank, score, stats) in enumerate(
            zip(result.ranks, result.scores, map(latencies, result.seconds), strict=True)
        )
    )


def latencies(seconds: tuple[float, ...]) -> Mapping[str, float]:
    """Return how long a bot took for its answers, in milliseconds."""
    if not seconds:
        return {"answers": 0}
    return {
        "answers": len(seconds),
        "median_ms": round(median(seconds) * 1000, 3),
        "most_ms": round(max(seconds) * 1000, 3),
    }


def reason_of(error: Exception) -> str:
    """Return why an attempt was a trouble, in few words; the log has them all."""
    return str(error) if isinstance(error, ArenaError) else type(error).__name__
