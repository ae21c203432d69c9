"""Plays one match: claims it, plays it while its lease is renewed, stores its replay, ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from threading import Timer
from typing import Any, Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw import __version__
from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.arena.referee import readable
from cw.errors import ArenaError, Failure, UsageError
from cw.games.registry import load_game, load_protocol
from cw.hub import logs
from cw.hub.jobs import parcels, programs
from cw.hub.jobs.checks import isolation_of
from cw.hub.jobs.clock_check import ClockCheck
from cw.hub.jobs.parcels import Outcome
from cw.hub.jobs.readiness import admit
from cw.hub.jobs.tick import send_own
from cw.hub.resources import Resources
from cw.hub.services import championships, daily, formats, matches, replays, upkeep
from cw.hub.services.matches import OUTPUTS, BattleResult, Claim, ClaimedSeat, SlotResult
from cw.hub.store.database import is_away
from cw.hub.store.objects import StoreAway
from cw.hub.store.sealing import Sealed
from cw.matches.run import MatchProgress, run_match
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.workers import MatchFailure

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

ANSWERS: Final = 3
"""Faults of a bot in a game with which the answer is kept."""

OUTPUT: Final = 2048
"""Signs that are kept of what a program wrote to its standard error, of the end."""

NO_BOT: Final = "no bot yet"
NO_SECRET: Final = "no secret yet"  # noqa: S105
NO_PROGRAMS: Final[Mapping[str, BotSpec]] = {}

logger = logging.getLogger(__name__)


class Lost(Exception):
    """The match is not this attempt's any more."""


class Refused(Exception):
    """What was asked for cannot be played."""


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
    runs_programs: bool = True
    """Whether it plays matches of uploaded programs; another one is left to those that do."""
    ends_itself: bool = False
    """Whether the process may end itself where a match hangs: nothing else runs in it."""
    clock: ClockCheck | None = None
    """None: the clock is right."""

    def play(self, resources: Resources, match: int) -> None:
        """Play a match, if it waits; the job `play_match`."""
        claim = self.claimed(resources, match)
        if claim is None:
            return
        with logs.about(match_id=claim.match_id, attempt=claim.attempt, worker=self.name):
            self.play_claimed(resources, claim)

    def play_claimed(self, resources: Resources, claim: Claim) -> None:
        """Play an attempt, or give back what this machine does not run."""
        if claim.has_programs and not self.runs_programs:
            with resources.database.writing() as session:
                matches.interrupt(session, claim, "it has programs, which are run elsewhere")
        else:
            logger.info("playing %s, attempt %s", claim.match_id, claim.attempt)
            Attempt(resources, claim, self.ends_itself).run()
            send_next(resources, claim)

    def claimed(self, resources: Resources, match: int) -> Claim | None:
        """Claim a match.

        While the database is away or the clock goes wrong, wait: no message shall be used up for
        that.
        """
        lease = timedelta(seconds=resources.settings.lease)
        while True:
            try:
                if self.clock is None or self.clock.is_right(resources):
                    with resources.database.writing() as session:
                        return formats.claim(session, resources.clock, match, self.name, lease)
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
    turns_before: int = 0
    """Of the games of the match that are over."""
    stored: list[str] = field(default_factory=list)
    """The keys of its objects."""
    programs: Mapping[str, BotSpec] = field(default_factory=dict)
    """By name the uploaded programs that play, unpacked."""
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """The secrets of the bots by their names; one that is rotated changes while it is played."""

    def run(self) -> None:
        """Play it to its end, or give it back."""
        try:
            battles = asyncio.run(self.played())
            self.end(battles)
        except Lost:
            logger.warning("%s is not ours any more", self.claim.match_id)
            self.forget_objects()
        except (Away, StoreAway) as error:
            logger.warning("%s is given back: %s", self.claim.match_id, error)
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
        if self.claim.kind == championships.KIND:
            return [await self.play_parcel()]
        self.claim = claim = await self.seated()
        if len(claim.seats) < load_game(claim.game).rules.seats.start:
            return [daily.nobody_played(self.resources.clock())]
        self.take_secrets(claim.seats)
        held = programs.unpacked(self.resources.objects, claim.game, claim.seats, claim.hosting)
        with ExitStack() as stack:
            self.programs = await asyncio.to_thread(stack.enter_context, held)
            return [await self.play_battle(number) for number in range(1, claim.battles + 1)]

    async def play_parcel(self) -> BattleResult:
        """Play a match of a championship; who runs that is sent all that came of it."""
        held = parcels.opened(self.resources, self.claim)
        try:
            with ExitStack() as stack:
                job = await asyncio.to_thread(stack.enter_context, held)
                self.secrets = job.secrets
                began = self.resources.clock()
                result = await self.play_spec(job.spec)
                ended = self.resources.clock()
        except UsageError as error:
            await self.send_back(Outcome(error=MatchFailure("usage", str(error))))
            raise Refused(str(error)) from None
        await self.send_back(Outcome(result))
        return await self.stored_battle(self.claim, 1, result, began, ended)

    async def send_back(self, outcome: Outcome) -> None:
        """Send what came of a match of a championship to who runs that."""
        data = await asyncio.to_thread(parcels.packed_outcome, outcome)
        await self.store(championships.outcome_key(self.claim.key, self.claim.attempt), data)

    async def play_battle(self, number: int) -> BattleResult:
        """Play one game of the match, and store its replay."""
        claim, clock = self.claim.battle(number), self.resources.clock
        began = clock()
        spec = spec_of(claim, self.resources.settings.bots_may_be, self.programs)
        result = await self.play_spec(spec)
        return await self.stored_battle(claim, number, result, began, clock())

    async def play_spec(self, spec: MatchSpec) -> MatchResult:
        """Play one game of the match."""
        result = await run_match(spec, on_turn=self.watch, secrets=self.secrets)
        self.turns_before += result.turns
        return result

    async def stored_battle(
        self, claim: Claim, number: int, result: MatchResult, began: datetime, ended: datetime
    ) -> BattleResult:
        """Store the replay of a game as everybody may read it; return how the game ended."""
        key = replays.replay_key(claim.match_id, claim.planned_at, claim.attempt, number)
        names = [seat.public for seat in claim.seats]
        replay = await asyncio.to_thread(
            replays.stored_replay, result.replay, names, key, claim.credits
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
        """Return the claim with those who play: of a daily game they are found now; raise Lost."""
        if self.claim.kind != "daily":
            return self.claim
        admitted = await admit(self.resources, self.claim)
        if admitted is None:
            raise Lost
        return admitted

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

    def watch(self, progress: MatchProgress) -> None:
        """Take in how far the match is."""
        self.turn = self.turns_before + progress.turns

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
                await asyncio.sleep(min(RENEWED, lease / 4))
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
            if not matches.progress(session, clock, self.claim, self.turn, lease):
                return False
            rotated = matches.rotated(session, self.claim)
        self.take_secrets(rotated)
        return True

    def end(self, battles: Sequence[BattleResult]) -> None:
        """Write the result, once; raise Lost where another attempt has taken over, and Away."""
        given_up = time.monotonic() + PATIENCE
        while True:
            try:
                with self.resources.database.writing() as session:
                    clock = self.resources.clock
                    said = formats.finish(session, clock, self.claim, battles)
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
                if is_trouble:
                    matches.trouble(session, self.resources.clock, self.claim, reason)
                else:
                    matches.interrupt(session, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be given back", self.claim.match_id)
        self.forget_objects()

    def refuse(self, reason: str) -> None:
        """End the match without a result; where that fails, its lease ends, and it is tried again.

        What says why stays in the store.
        """
        try:
            with self.resources.database.writing() as session:
                matches.refuse(session, self.resources.clock, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be ended", self.claim.match_id)

    def forget_objects(self) -> None:
        """Delete what this attempt has stored, as far as the store answers."""
        for key in self.stored:
            try:
                self.resources.objects.delete(key)
            except StoreAway as error:
                logger.warning("%s is left behind: %s", key, error)


def send_next(resources: Resources, claim: Claim) -> None:
    """Send what may be played now that a match is over, where its format has an order of its own.

    While the database is away that is left to the next tick.
    """
    if claim.competition_id is None or not formats.sendings():
        return
    try:
        send_own(resources)
    except DBAPIError as error:
        if not is_away(error):
            raise


def spec_of(
    claim: Claim, bots_may_be: tuple[str, ...], own: Mapping[str, BotSpec] = NO_PROGRAMS
) -> MatchSpec:
    """Return what is to be played; `own` are the uploaded programs by name."""
    policy = programs.POLICIES[claim.hosting]
    is_signed = load_protocol(claim.game).signed_with is not None
    return MatchSpec(
        claim.match_id,
        claim.game,
        tuple(
            own.get(seat.name) or bot_of(seat, claim.wire_id, is_signed=is_signed)
            for seat in claim.seats
        ),
        claim.seed,
        dict(claim.options),
        isolation=isolation_of(bots_may_be, policy),
        players=claim.players,
    )


def bot_of(seat: ClaimedSeat, wire_id: str, *, is_signed: bool) -> BotSpec:
    """Return who sits at a slot, for the arena; a web service is told its match and its own id.

    Where requests are signed, a web service whose team has not fetched a secret is absent.
    """
    kind, _, name = seat.spec.partition(":")
    if not seat.spec:
        return BotSpec(seat.name, "absent", NO_BOT)
    if kind == "builtin":
        return BotSpec(seat.name, "builtin", name)
    if is_signed and seat.secret is None:
        return BotSpec(seat.name, "absent", NO_SECRET)
    known = {"match_id": wire_id, "bot_id": seat.bot_id}
    return BotSpec(seat.name, "http", seat.spec.rstrip("/"), {**seat.settings, **known})


def slots_of(result: MatchResult, first: int = 0) -> tuple[SlotResult, ...]:
    """Return what came of every slot of the match; `first` had the first seat in this game."""
    number = len(result.ranks)
    return tuple(
        SlotResult(
            result.ranks[seat], result.scores[seat], faults_of(result, seat), stats_of(result, seat)
        )
        for seat in ((slot - first) % number for slot in range(number))
    )


def faults_of(result: MatchResult, slot: int) -> list[dict[str, Any]]:
    """Return the faults of a bot, with what its game tells apart of each.

    With the first ones comes the answer that was at fault: some bots make thousands.
    """
    return [
        fault.to_json()
        | {
            name: said
            for name, said in (
                ("expected", fault.expected),
                ("actual", fault.actual),
                ("answer", fault.answer if number < ANSWERS else ""),
            )
            if said
        }
        for number, fault in enumerate(result.faults_of(slot))
    ]


def stats_of(result: MatchResult, slot: int) -> dict[str, Any]:
    """Return how long a bot took, what its game keeps of it, and what its program has written."""
    figures = result.figures[slot] if result.figures else {}
    said = readable(result.stderr[slot].encode(errors="replace"))[-OUTPUT:]
    return {**latencies(result.seconds[slot]), **figures, **({OUTPUTS: [said]} if said else {})}


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
