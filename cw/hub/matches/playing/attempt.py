"""One attempt to play a match: played while its lease is renewed, its replays stored, ended."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Timer
from typing import Any, Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw.arena.bot_settings import SECRET_SETTINGS
from cw.arena.bots import BotSpec
from cw.errors import ArenaError, Failure, UsageError
from cw.games.registry import load_game
from cw.hub.bots import programs
from cw.hub.bots.seats import ClaimedSeat, Hosting
from cw.hub.matches import claims, interruptions, replays
from cw.hub.matches.claims import Claim
from cw.hub.matches.kinds import Kind, Kinds
from cw.hub.matches.live.broadcast import Broadcast, broadcast
from cw.hub.matches.playing.specs import slots_of, spec_of
from cw.hub.matches.results import BattleResult, unplayed
from cw.hub.operation.resources import Resources
from cw.hub.store.database import is_away
from cw.hub.store.objects import StoreAway
from cw.hub.store.sealing import Sealed
from cw.matches.processes.workers import MatchFailure
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec

T = TypeVar("T")

RENEWED: Final = 15.0
"""Seconds between two renewals of a lease; a third of the lease if that is shorter."""

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


class Refused(Exception):
    """What was asked for cannot be played."""


class Away(Exception):
    """The database or the object store has not answered for too long."""


@dataclass(slots=True)
class Attempt:
    """One attempt to play a match."""

    resources: Resources
    claim: Claim
    kinds: Kinds
    ends_itself: bool = False
    turn: int = 0
    runs_programs: bool = True
    """Whether programs are run that were seated only as the match began."""
    turns_before: int = 0
    """Of the games of the match that are over."""
    stored: list[str] = field(default_factory=list)
    """The keys of its objects."""
    programs: dict[str, BotSpec] = field(default_factory=dict)
    """By name the bots that run here, or were brought by the format."""
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """The secrets of the bots by their names; one that is rotated changes while it is played."""

    @property
    def kind(self) -> Kind:
        """What is played here."""
        return self.kinds.of(self.claim.kind)

    @property
    def hosting(self) -> Hosting:
        """How uploaded programs are run here."""
        if not self.runs_programs:
            return "off"
        people = programs.hosting_of_people(self.resources.settings)
        return self.claim.hosting if self.claim.tournament else people

    def run(self) -> None:
        """Play it to its end, or give it back."""
        try:
            battles = asyncio.run(self.played())
            self.end(battles)
        except Lost:
            logger.warning("%s belongs to another worker now", self.claim.match_id)
            self.forget_objects()
        except (Away, StoreAway) as error:
            logger.warning("%s is given back: %s", self.claim.match_id, error)
            # Outages are no fault of the match: they do not count towards the five troubles after
            # which it has failed.
            self.give_back(str(error), is_trouble=False)
        except Refused as error:
            logger.warning("%s cannot be played: %s", self.claim.match_id, error)
            self.refuse(str(error))
        except Exception as error:
            logger.exception("%s, attempt %s", self.claim.match_id, self.claim.attempt)
            self.give_back(reason_of(error), is_trouble=True)

    async def played(self) -> Sequence[BattleResult]:
        """Play and store, while the lease is renewed; raise Lost where that cannot be."""
        return await self.while_renewed(self.play_and_store())

    async def play_and_store(self) -> Sequence[BattleResult]:
        """Play the games of the match one after the other, and store the replay of each."""
        self.claim = claim = await self.seated()
        if len(claim.seats) < load_game(claim.game).rules.seats.start:
            return [unplayed(self.resources.clock())]
        self.take_secrets(claim.seats)
        try:
            with ExitStack() as stack:
                await asyncio.to_thread(self.take_programs, stack)
                return [await self.play_battle(number) for number in range(1, claim.battles + 1)]
        except UsageError as error:
            if not await self.report(MatchFailure("usage", str(error))):
                raise
            raise Refused(str(error)) from None

    def take_programs(self, stack: ExitStack) -> None:
        """Unpack the programs that play, and take the bots that the format itself brings."""
        claim, objects = self.claim, self.resources.objects
        uploads = [seat for seat in claim.seats if seat.bot_id]
        unpacked = programs.unpacked(objects, claim.game, uploads, self.hosting)
        self.programs.update(stack.enter_context(unpacked))
        if self.kind.invite is not None:
            guests = stack.enter_context(self.kind.invite(self.resources, claim))
            self.programs.update(guests.bots)
            self.secrets.update({name: dict(secrets) for name, secrets in guests.secrets.items()})

    async def report(self, outcome: MatchResult | MatchFailure) -> bool:
        """Store all that came of a game for those who wait for it; return whether anybody does."""
        if self.kind.report is None:
            return False
        report = await asyncio.to_thread(self.kind.report, self.claim, outcome)
        if report is not None:
            await self.store(*report)
        return report is not None

    async def play_battle(self, number: int) -> BattleResult:
        """Play one game of the match, and store its replay."""
        claim, clock = self.claim.battle(number), self.resources.clock
        began = clock()
        spec = spec_of(claim, self.resources.settings, self.programs)
        async with broadcast(self.resources.lines, claim) as watcher:
            result = await self.play_spec(spec, watcher)
        await self.report(result)
        return await self.stored_battle(claim, number, result, began, clock())

    async def play_spec(self, spec: MatchSpec, watcher: Broadcast) -> MatchResult:
        """Play one game of the match, and let it be told."""

        def watch(progress: MatchProgress) -> None:
            self.turn = self.turns_before + progress.turns
            watcher.watch(progress)

        result = await run_match(spec, on_turn=watch, secrets=self.secrets)
        self.turns_before += result.turns
        return result

    async def stored_battle(
        self, claim: Claim, number: int, result: MatchResult, began: datetime, ended: datetime
    ) -> BattleResult:
        """Store the replay of a game as everybody may read it; return how the game ended."""
        key = replays.replay_key(claim.match_id, claim.planned_at, claim.attempt, number)
        replay = await asyncio.to_thread(
            replays.stored_replay, result.replay, claim, key, names_apart=self.kind.names_apart
        )
        for name, data in replay.objects:
            await self.store(name, data)
        first = self.claim.first_slot(number)
        return BattleResult(
            result.reason,
            slots_of(result, first),
            result.turns,
            replay.key,
            replay.size,
            began,
            ended,
            claim.options,
            first,
        )

    async def seated(self) -> Claim:
        """Return the claim with those who play, where they are found only now; raise Lost."""
        if self.kind.seat is None:
            return self.claim
        claim = await self.kind.seat(self.resources, self.claim)
        if claim is None:
            raise Lost
        return claim

    async def store(self, key: str, data: bytes) -> None:
        """Store an object, in several tries; raise StoreAway.

        Raises Failure for a key that is taken, as in a store older than the database, where a
        back-up was restored: the next attempt has another key. After a try that failed it may well
        be ours.
        """
        self.stored.append(key)
        may_be_ours = False
        for pause in (*PAUSES, None):
            try:
                is_new = await asyncio.to_thread(self.resources.objects.put_new, key, data)
            except StoreAway:
                if pause is None:
                    raise
                # A request that timed out may have been stored all the same; then the key is taken
                # by our own object.
                may_be_ours = True
                await asyncio.sleep(pause)
            else:
                if not (is_new or may_be_ours):
                    self.stored.remove(key)
                    raise Failure(f"{key} is in the store already")
                return

    def take_secrets(self, seats: Iterable[ClaimedSeat]) -> None:
        """Sign requests by the secrets of these bots from now on."""
        for seat in seats:
            if seat.secret is not None:
                secret = self.opened(seat.secret, seat.secret_row)
                self.secrets[seat.name] = dict.fromkeys(SECRET_SETTINGS, secret)

    def opened(self, secret: Sealed, row: str) -> str:
        """Return the secret of a bot."""
        return self.resources.sealer.open(secret, row).decode()

    async def while_renewed(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something while the lease is renewed; cancel it where the match is lost."""
        # What renews begins first: it watches over work that would never let it begin.
        renewing, working = asyncio.create_task(self.renew()), asyncio.create_task(work)
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
                await asyncio.sleep(min(RENEWED, lease / 3))
                if not await asyncio.to_thread(self.note_progress):
                    raise Lost
                renewed = time.monotonic()
            except DBAPIError as error:
                if not is_away(error) or time.monotonic() - renewed > PATIENCE:
                    raise Away("the database is away") from error
            finally:
                watchdog.cancel()

    def watchdog(self, seconds: float) -> Timer:
        """Start what ends the process, if it may be ended, where this loop hangs so long."""
        # A thread, not a task: it must fire where the event loop itself hangs.
        timer = Timer(seconds, os._exit, [70])
        timer.daemon = True
        if self.ends_itself:
            timer.start()
        return timer

    def note_progress(self) -> bool:
        """Note how far the match is, and take new secrets; return whether it is still ours."""
        lease = timedelta(seconds=self.resources.settings.lease)
        with self.resources.database.writing() as session:
            clock = self.resources.clock
            if not claims.progress(session, clock, self.claim, self.turn, lease):
                return False
            rotated = claims.rotated(session, self.claim)
        # With each renewal, so a rotated secret is used within 15 s (see RENEWED).
        self.take_secrets(rotated)
        return True

    def end(self, battles: Sequence[BattleResult]) -> None:
        """Write the result, once; raise Lost where another attempt has taken over, and Away."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self.resources.database.writing() as session:
                    clock = self.resources.clock
                    finish = self.kinds.finish(session, clock, self.claim, battles)
            except DBAPIError as error:
                if not is_away(error) or time.monotonic() > deadline:
                    raise Away("the database is away") from error
                logger.warning("the result waits for the database: %s", error.orig)
                time.sleep(AWAY_PAUSE)
            else:
                if finish == "lost":
                    raise Lost
                return

    def give_back(self, reason: str, *, is_trouble: bool) -> None:
        """Give the match back, and take its objects away; where that fails, its lease ends."""
        try:
            with self.resources.database.writing() as session:
                if is_trouble:
                    interruptions.trouble(session, self.resources.clock, self.claim, reason)
                else:
                    interruptions.interrupt(session, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be given back", self.claim.match_id)
        self.forget_objects()

    def refuse(self, reason: str) -> None:
        """End the match without a result; where that fails, its lease ends, and it is tried again.

        What says why stays in the store.
        """
        try:
            with self.resources.database.writing() as session:
                interruptions.refuse(session, self.resources.clock, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be ended", self.claim.match_id)

    def forget_objects(self) -> None:
        """Delete what this attempt has stored, as far as the store answers."""
        for key in self.stored:
            try:
                self.resources.objects.delete(key)
            except StoreAway as error:
                logger.warning("%s is left behind: %s", key, error)


def reason_of(error: Exception) -> str:
    """Return why an attempt was a trouble, in few words; the log has them all."""
    return str(error) if isinstance(error, ArenaError) else type(error).__name__
