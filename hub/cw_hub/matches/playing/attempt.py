"""One attempt at a match: play it while renewing the lease, store its replays, end it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw.errors import ArenaError, Failure, UsageError
from cw.games.registry import load_game
from cw.matches.processes.workers import MatchFailure
from cw_hub.matches import claims, interruptions
from cw_hub.matches.claims import Claim
from cw_hub.matches.kinds import Kind, Kinds
from cw_hub.matches.live.broadcast import Broadcast
from cw_hub.matches.playing.line_up import LineUp, refuse_unfit
from cw_hub.matches.results import BattleResult, unplayed
from cw_hub.operation.resources import Resources
from cw_hub.players.connections import PlayersAway
from cw_hub.players.messages import Built, Live, Played, Secrets, Turn
from cw_hub.players.players import Defect, Play, PlayerGone
from cw_hub.players.playing import Outcome
from cw_hub.store.database import is_away
from cw_hub.store.objects import StoreAway

T = TypeVar("T")

RENEWED: Final = 15.0
"""Seconds between renewals of a lease; a third of the lease if that is shorter."""

PAUSES: Final = (1.0, 4.0, 16.0)
"""Seconds between attempts to store a replay."""

PATIENCE: Final = 600.0
"""Seconds for which a result is kept while the database is away."""

AWAY_PAUSE: Final = 1.0
"""Seconds between attempts to reach the database."""

logger = logging.getLogger(__name__)


class Lost(Exception):
    """The match no longer belongs to this attempt."""


class Refused(Exception):
    """The requested match cannot be played."""


class Away(Exception):
    """The database or the object store has not answered for too long."""


@dataclass(slots=True)
class Attempt:
    """One attempt to play a match."""

    resources: Resources
    claim: Claim
    kinds: Kinds
    turn: int = 0
    runs_programs: bool = True
    """Whether programs may run that were seated only when the match began."""
    turns_before: int = 0
    """Turns in the finished games of the match."""
    stored: list[str] = field(default_factory=list)
    """Keys of the objects stored so far."""
    line_up: LineUp = field(init=False)
    """The players."""
    play: Play | None = None
    """The current game."""

    def __post_init__(self) -> None:
        """Take the players from the claim."""
        self.line_up = LineUp(self.resources, self.claim, self.kind, self.runs_programs)

    @property
    def kind(self) -> Kind:
        """The kind of the match."""
        return self.kinds.of(self.claim.kind)

    def run(self) -> None:
        """Play the match to its end, or release it."""
        try:
            battles = asyncio.run(self.played())
            self.end(battles)
        except Lost:
            logger.warning("%s belongs to another worker now", self.claim.match_id)
            self.forget_objects()
        except (Away, StoreAway, PlayersAway) as error:
            logger.warning("%s is given back: %s", self.claim.match_id, error)
            # Outages are not the match's fault: they do not count towards the five troubles after
            # which it fails.
            self.give_back(str(error), is_trouble=False)
        except Refused as error:
            logger.warning("%s cannot be played: %s", self.claim.match_id, error)
            self.refuse(str(error))
        except (ArenaError, Defect) as error:
            logger.error("%s, attempt %s: %s", self.claim.match_id, self.claim.attempt, error)
            self.give_back(str(error), is_trouble=True)
        except Exception as error:
            logger.exception("%s, attempt %s", self.claim.match_id, self.claim.attempt)
            self.give_back(type(error).__name__, is_trouble=True)

    async def played(self) -> Sequence[BattleResult]:
        """Play and store while renewing the lease; raise Lost if that fails."""
        return await self.while_renewed(self.play_and_store())

    async def play_and_store(self) -> Sequence[BattleResult]:
        """Play the games of the match one after the other, and store their replays."""
        self.claim = self.line_up.claim = claim = await self.seated()
        if len(claim.seats) < load_game(claim.game).rules.seats.start:
            return [unplayed(self.resources.clock())]
        self.line_up.take_secrets(claim.seats)
        try:
            await asyncio.to_thread(self.line_up.take_bots)
            return [await self.play_battle(number) for number in range(1, claim.battles + 1)]
        except UsageError as error:
            key = self.line_up.outcome_key
            if key is None:
                raise
            await self.store(key, Outcome(error=MatchFailure("usage", str(error))).packed())
            raise Refused(str(error)) from None

    async def play_battle(self, number: int) -> BattleResult:
        """Play one game of the match, and store its replay."""
        began = self.resources.clock()
        task = self.line_up.task(number)
        with self.resources.players.play(task, self.line_up.sent_programs()) as play:
            self.play = play
            played = await asyncio.to_thread(self.follow, play)
        refuse_unfit(task, played)
        self.turns_before += played.turns
        if (key := self.line_up.outcome_key) is not None:
            await self.store(key, played.outcome)
        for name, data in played.replay.objects:
            await self.store(name, data)
        return BattleResult(
            played.reason,
            played.slots,
            played.turns,
            played.replay.key,
            played.replay.size,
            began,
            self.resources.clock(),
            self.claim.options,
            task.first,
        )

    def follow(self, play: Play) -> Played:
        """Have a player play a game, and pass on its reports."""
        broadcast = Broadcast(self.resources.lines, self.claim.match_id)
        for message in play:
            if isinstance(message, Turn):
                self.turn = self.turns_before + message.number
            elif isinstance(message, Live):
                broadcast.take(message)
            elif isinstance(message, Built):
                self.line_up.store_built(message)
            elif isinstance(message, Played):
                return message
        raise PlayerGone("the process that played it has reported no result")

    async def seated(self) -> Claim:
        """Return the claim with its players, some of whom may be found only now; raise Lost."""
        if self.kind.seat is None:
            return self.claim
        claim = await self.kind.seat(self.resources, self.claim)
        if claim is None:
            raise Lost
        return claim

    async def store(self, key: str, data: bytes) -> None:
        """Store an object, with retries; raise StoreAway.

        Raises Failure if the key is taken, as in a store older than a restored database: the next
        attempt has another key. After a failed try the object may be our own.
        """
        self.stored.append(key)
        may_be_ours = False
        for pause in (*PAUSES, None):
            try:
                is_new = await asyncio.to_thread(self.resources.objects.put_new, key, data)
            except StoreAway:
                if pause is None:
                    raise
                # A request that timed out may have stored the object all the same; then the key is
                # taken by our own object.
                may_be_ours = True
                await asyncio.sleep(pause)
            else:
                if not (is_new or may_be_ours):
                    self.stored.remove(key)
                    raise Failure(f"{key} is in the store already")
                return

    async def while_renewed(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work while renewing the lease; cancel it if the match is lost."""
        # Start the renewal first: the work might never let it start.
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
        """Renew the lease repeatedly; raise Lost, or Away after a long outage."""
        lease = self.resources.settings.lease
        renewed = time.monotonic()
        while True:
            try:
                await asyncio.sleep(min(RENEWED, lease / 3))
                if not await asyncio.to_thread(self.note_progress):
                    raise Lost
                renewed = time.monotonic()
            except DBAPIError as error:
                if not is_away(error) or time.monotonic() - renewed > PATIENCE:
                    raise Away("the database is away") from error

    def note_progress(self) -> bool:
        """Record progress and take rotated secrets; return whether the match is still ours."""
        lease = timedelta(seconds=self.resources.settings.lease)
        with self.resources.database.writing() as session:
            clock = self.resources.clock
            if not claims.progress(session, clock, self.claim, self.turn, lease):
                return False
            rotated = claims.rotated(session, self.claim)
        # With each renewal, so a rotated secret is used within 15 s (see RENEWED).
        self.line_up.take_secrets(rotated)
        if rotated and self.play is not None:
            self.play.send(
                Secrets({seat.name: self.line_up.secrets[seat.name] for seat in rotated})
            )
        return True

    def end(self, battles: Sequence[BattleResult]) -> None:
        """Write the result once; raise Lost if another attempt has taken over, or Away."""
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
        """Release the match and delete its objects; if that fails, its lease expires."""
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
        """Fail the match; if that does not succeed, its lease expires and it is tried again.

        The objects that explain why stay in the store.
        """
        try:
            with self.resources.database.writing() as session:
                interruptions.refuse(session, self.resources.clock, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be ended", self.claim.match_id)

    def forget_objects(self) -> None:
        """Delete the objects stored by this attempt, as far as the store answers."""
        for key in self.stored:
            try:
                self.resources.objects.delete(key)
            except StoreAway as error:
                logger.warning("%s is left behind: %s", key, error)
