"""The job that plays a match: a worker's attempt, its line-up, and the task for a player."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw import __version__
from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.arena.transports.base_address import check_base
from cw.errors import ArenaError, Failure, UsageError
from cw.games.registry import load_game, load_protocol
from cw.matches.spec import MatchSpec
from cw.matches.workers import MatchFailure
from cw_hub.accounts.service import HOUSE
from cw_hub.bots import programs, shares, workshop
from cw_hub.bots.addresses import ClaimedSeat, Hosting, isolation_of
from cw_hub.bots.programs import sandbox_of
from cw_hub.matches import planning, results, stored_replays
from cw_hub.matches.live import Broadcast
from cw_hub.matches.match_types import ExternalBots, MatchType, MatchTypes
from cw_hub.matches.results import BattleResult, Claim, unplayed
from cw_hub.operation import logs, scheduler
from cw_hub.operation.doctor import ClockCheck
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.players.messages import Built, Live, Match, Played, Program, Secrets, Turn
from cw_hub.players.players import Defect, Play, PlayerGone, PlayersAway
from cw_hub.players.playing import Outcome, is_shown
from cw_hub.store.database import Session, is_away
from cw_hub.store.objects import StoreAway

NO_BOT: Final = "no bot yet"
NO_ADDRESS: Final = "its address cannot be that of a server"
NO_SECRET: Final = "no secret yet"  # noqa: S105
NO_PROGRAMS: Final[Mapping[str, BotSpec]] = {}


def spec_of(
    claim: Claim, settings: HubSettings, own: Mapping[str, BotSpec] = NO_PROGRAMS
) -> MatchSpec:
    """Return the match spec; `own` maps names to the bots that run here or are guests."""
    sandbox = sandbox_of(settings, claim.tournament)
    is_signed = load_protocol(claim.game).signed_with is not None
    house = [seat.name for seat in claim.seats if seat.owner == HOUSE]
    return MatchSpec(
        claim.match_id,
        claim.game,
        tuple(
            own.get(seat.name) or bot_of(seat, claim.wire_id, is_signed=is_signed)
            for seat in claim.seats
        ),
        claim.seed,
        dict(claim.options),
        isolation=isolation_of(settings, sandbox, house),
        players=claim.players,
    )


def bot_of(seat: ClaimedSeat, wire_id: str, *, is_signed: bool) -> BotSpec:
    """Return the spec of the bot in a seat; a web service's includes its match's id and its own.

    If requests are signed, a web service whose team has not fetched a secret is absent. So is one
    with an invalid URL, so that the match does not fail for the others.
    """
    kind, _, name = seat.spec.partition(":")
    if not seat.spec:
        return BotSpec(seat.name, "absent", NO_BOT)
    if kind == "builtin":
        return BotSpec(seat.name, "builtin", name)
    if is_signed and seat.secret is None:
        return BotSpec(seat.name, "absent", NO_SECRET)
    try:
        address = check_base(seat.spec)
    except UsageError:
        return BotSpec(seat.name, "absent", NO_ADDRESS)
    names = {"match_id": wire_id, "bot_id": seat.bot_id}
    return BotSpec(seat.name, "http", address, {**seat.settings, **names})


@dataclass(slots=True)
class LineUp:
    """The players of a match when an attempt starts."""

    resources: Resources
    claim: Claim
    kind: MatchType
    runs_programs: bool
    """Whether programs may run that were seated only when the match started."""
    programs: dict[str, BotSpec] = field(default_factory=dict)
    """Bots by name: those that player processes unpack, and those brought by the format."""
    external: ExternalBots = field(default_factory=ExternalBots)
    """Bots brought by the format."""
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """Secrets by bot name; updated when one is rotated during play."""

    @property
    def hosting(self) -> Hosting:
        """How uploaded programs are run here."""
        if not self.runs_programs:
            return "off"
        claim = self.claim
        return programs.hosting_here(self.resources.settings, claim.tournament, claim.hosting)

    @property
    def own_seats(self) -> list[ClaimedSeat]:
        """The seats of bots with a row of their own."""
        return [seat for seat in self.claim.seats if seat.bot_id]

    @property
    def outcome_key(self) -> str | None:
        """The object key for the whole result of a game, or None if it is not needed."""
        return self.kind.report_key(self.claim)

    def take_bots(self) -> None:
        """Collect the bots that player processes unpack, and those brought by the format."""
        self.programs.update(
            {
                seat.name: programs.placeholder(seat, self.hosting)
                for seat in programs.uploads(self.own_seats)
            }
        )
        self.external = self.kind.external_bots(self.resources, self.claim)
        self.programs.update(self.external.bots)
        self.secrets.update({name: dict(own) for name, own in self.external.secrets.items()})

    def take_secrets(self, seats: Iterable[ClaimedSeat]) -> None:
        """Sign requests with these bots' secrets from now on."""
        for seat in seats:
            if seat.secret is not None:
                secret = self.resources.sealer.open(seat.secret, seat.secret_row).decode()
                self.secrets[seat.name] = dict.fromkeys(SECRET_SETTINGS, secret)

    def task(self, number: int) -> Match:
        """Return the task of a player process for one game of the match."""
        claim = self.claim.battle(number)
        key = stored_replays.replay_key(claim.match_id, claim.planned_at, claim.attempt, number)
        return Match(
            spec_of(claim, self.resources.settings, self.programs),
            stored_replays.keys_for(claim.game, key),
            claim.credits,
            {name: dict(secrets) for name, secrets in self.secrets.items()},
            run=f"{claim.attempt}.{number}" if is_shown(claim.game) else "",
            first=self.claim.first_slot(number),
            names_apart=self.kind.names_apart,
            wants_outcome=self.outcome_key is not None,
        )

    def sent_programs(self) -> Iterator[Program]:
        """Yield the programs that take part."""
        uploads = programs.sent(self.resources.objects, self.own_seats, self.hosting)
        return chain(uploads, self.external.programs())

    def store_built(self, built: Built) -> None:
        """Store a program compiled by a player process."""
        programs.store_built(self.resources.objects, self.own_seats, built)


def refuse_unfit(task: Match, played: Played) -> None:
    """Raise Failure if a result does not fit its game.

    A program that escaped its sandbox might have written it.
    """
    keys = {task.keys.own, task.keys.viewed, task.keys.archive}
    names = [name for name, _ in played.replay.objects]
    if not (names and played.replay.key == names[0] and keys.issuperset(names)):
        raise Failure("the replay of a player has other keys than it was given")
    if len(played.slots) != len(task.spec.bots):
        raise Failure("the result of a player has another number of slots than its match")


T = TypeVar("T")

RENEWED: Final = 15.0
"""Seconds between lease renewals; a third of the lease if that is shorter."""

PAUSES: Final = (1.0, 4.0, 16.0)
"""Seconds between attempts to store a replay."""

PATIENCE: Final = 600.0
"""Seconds for which a result is retained while the database is unavailable."""

AWAY_PAUSE: Final = 1.0
"""Seconds between attempts to reach the database."""

logger = logging.getLogger(__name__)


class Lost(Exception):
    """The match no longer belongs to this attempt."""


class Refused(Exception):
    """The requested match cannot be played."""


class Away(Exception):
    """The database or the object store has not responded for too long."""


@dataclass(slots=True)
class Attempt:
    """One attempt to play a match."""

    resources: Resources
    claim: Claim
    kinds: MatchTypes
    turn: int = 0
    runs_programs: bool = True
    """Whether programs may run that were seated only when the match started."""
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
    def kind(self) -> MatchType:
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
            logger.warning("%s is released: %s", self.claim.match_id, error)
            # Outages are not the match's fault, so they do not count towards the five troubles
            # after which it fails.
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
        """Have a player process play a game, and pass on its reports."""
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
        """Return the claim with its players, some of whom may only be known now; raise Lost."""
        claim = await self.kind.seat(self.resources, self.claim)
        if claim is None:
            raise Lost
        return claim

    async def store(self, key: str, data: bytes) -> None:
        """Store an object, with retries; raise StoreAway.

        Raises Failure if the key is already taken, as in a store older than a restored database;
        the next attempt has another key. After a failed try, the object may be our own.
        """
        self.stored.append(key)
        may_be_ours = False
        for pause in (*PAUSES, None):
            try:
                is_new = await asyncio.to_thread(self.resources.objects.put_new, key, data)
            except StoreAway:
                if pause is None:
                    raise
                # A request that timed out may have stored the object nevertheless; the key is then
                # taken by our own object.
                may_be_ours = True
                await asyncio.sleep(pause)
            else:
                if not (is_new or may_be_ours):
                    self.stored.remove(key)
                    raise Failure(f"{key} is already in the store")
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
                    raise Away("the database cannot be reached") from error

    def note_progress(self) -> bool:
        """Record progress and take rotated secrets; return whether the match is still ours."""
        lease = timedelta(seconds=self.resources.settings.lease)
        with self.resources.database.writing() as session:
            if not results.progress(session, self.claim, self.turn, lease):
                return False
            rotated = results.rotated(session, self.claim)
        # With each renewal, so that a rotated secret is used within 15 s (see RENEWED).
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
                    finish = self.kinds.finish(session, self.claim, battles)
            except DBAPIError as error:
                if not is_away(error) or time.monotonic() > deadline:
                    raise Away("the database cannot be reached") from error
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
                    results.trouble(session, self.claim, reason)
                else:
                    results.interrupt(session, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be released", self.claim.match_id)
        self.forget_objects()

    def refuse(self, reason: str) -> None:
        """Fail the match; if that does not succeed, its lease expires and it is tried again.

        The objects that explain the reason remain in the store.
        """
        try:
            with self.resources.database.writing() as session:
                results.refuse(session, self.claim, reason)
        except DBAPIError:
            logger.exception("%s cannot be ended", self.claim.match_id)

    def forget_objects(self) -> None:
        """Delete the objects stored by this attempt, as far as the store is available."""
        for key in self.stored:
            try:
                self.resources.objects.delete(key)
            except StoreAway as error:
                logger.warning("%s could not be deleted: %s", key, error)


def worker_name(pid: int, started_at: datetime) -> str:
    """Return the globally unique name of a worker process."""
    return f"{socket.gethostname()[:50]}:{pid}:{started_at:%Y%m%dT%H%M%S}"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that plays matches."""

    name: str
    slots: int
    kinds: MatchTypes
    version: str = __version__
    runs_programs: bool = True
    """Whether it plays matches with uploaded programs; if not, it leaves them to other workers."""
    clock: ClockCheck | None = None
    """None if the clock is trusted."""

    def play(self, resources: Resources, match: int) -> bool:
        """Play a match if it is waiting and may start; return whether it did. Job `play_match`."""
        claim = self.claimed(resources, match)
        if claim is None:
            return False
        with logs.about(match_id=claim.match_id, attempt=claim.attempt, worker=self.name):
            self.play_claimed(resources, claim)
        return True

    def play_claimed(self, resources: Resources, claim: Claim) -> None:
        """Play an attempt, or release it if this host cannot run it."""
        if claim.has_programs and not self.runs_programs:
            with resources.database.writing() as session:
                results.interrupt(session, claim, "it has programs, which are run elsewhere")
        else:
            logger.info(
                "playing %s, attempt %s",
                claim.match_id,
                claim.attempt,
                extra={"counted": "matches begun"},
            )
            Attempt(resources, claim, self.kinds, runs_programs=self.runs_programs).run()
            if claim.competition_id is not None and self.kinds.of(claim.kind).plans_next:
                planning.send_of(resources, claim.competition_id)

    def claimed(self, resources: Resources, match: int) -> Claim | None:
        """Claim a match.

        Waits while the database is unavailable or the clock is wrong, so as not to use up a
        message.
        """
        while True:
            try:
                if self.clock is None or self.clock.is_right(resources):
                    with resources.database.writing() as session:
                        return self.claim_in(session, resources, match)
            except DBAPIError as error:
                if not is_away(error):
                    raise
                logger.warning("the database cannot be reached: %s", error.orig)
            time.sleep(AWAY_PAUSE)

    def claim_in(self, session: Session, resources: Resources, match: int) -> Claim | None:
        """Claim a match; one whose game is not installed here is left to other workers.

        Also returns None if it exceeds its owner's share, or the share of matches.
        """
        game = planning.pass_on(session, match)
        if game is not None:
            logger.warning("the game %s is not installed here: match %s is passed on", game, match)
            return None
        if self.runs_programs and self.must_wait(session, resources, match):
            planning.put_back(session, match)
            return None
        lease = timedelta(seconds=resources.settings.lease)
        return self.kinds.claim(session, match, self.name, lease)

    def must_wait(self, session: Session, resources: Resources, match: int) -> bool:
        """Return whether a match exceeds a share of the program slots."""
        experiments = self.kinds.experiments
        use = shares.use_of_match(session, match, experiments)
        if use is None:
            return False
        is_experiment = use.kind == "test"
        refused = shares.claim(session, use, experiments, is_experiment=is_experiment)
        return refused is not None

    def leave(self, resources: Resources) -> None:
        """Release the matches of a stopping process."""
        with resources.database.writing() as session:
            results.interrupt_all_of(session, self.name, "its worker was stopped")
            workshop.lose_all_of(session, self.name)
            shares.leave(session, self.name)
            scheduler.forget_worker(session, self.name)
