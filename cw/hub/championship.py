"""The workers of a hub as those who play the matches of a championship."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw.arena.bots import BotSpec
from cw.championship.runner import Note
from cw.championship.teams import Team
from cw.errors import Failure, UsageError
from cw.files import write_whole
from cw.hub import logs
from cw.hub.jobs import parcels
from cw.hub.jobs.app import CeleryQueue
from cw.hub.jobs.parcels import Program
from cw.hub.jobs.tick import send
from cw.hub.resources import Resources, opened
from cw.hub.services import championships, upkeep
from cw.hub.services.championships import Standing
from cw.hub.services.matches import BUILTIN, MOST_TROUBLES, PROGRAM, Seat
from cw.hub.settings import HubSettings
from cw.hub.store.database import is_away
from cw.hub.store.objects import StoreAway
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.worker import Job
from cw.matches.workers import MatchFailure

T = TypeVar("T")

JOBS: Final = 256
"""Matches that are asked for at the same time, unless somebody says another number."""

ID: Final = "queue.id"
"""The file of a championship's folder that says how the hub knows it."""

LOOK: Final = 0.5
"""Seconds between two looks at what has become of the matches."""

OVER: Final = ("done", "failed", "void")

NO_WORKER: Final = (
    "no worker of the hub lives: start some with"
    " cw hub worker --kinds championship --programs, and a cw hub scheduler"
)

Say = Callable[[str], None]


@contextmanager
def connected(settings: HubSettings) -> Iterator[Resources]:
    """Open the hub of these settings while the block runs.

    Raises UsageError for settings that lead to no other process, and Failure where the database or
    the queue does not answer, or nobody is there to play.
    """
    if settings.is_sqlite:
        raise UsageError(
            "--queue needs the database of a hub that workers reach: set CW_DATABASE_URL"
        )
    if settings.is_embedded:
        raise UsageError("--queue needs the queue of a hub that workers reach: set CW_BROKER_URL")
    with opened(settings, CeleryQueue(settings)) as resources:
        if not resources.queue.is_there():
            raise Failure("the queue does not answer: is CW_BROKER_URL right, and does Redis run?")
        if not slots_of(resources):
            raise Failure(NO_WORKER)
        yield resources


def slots_of(resources: Resources) -> int:
    """Return how many matches the workers that live play at the same time."""
    with resources.database.reading() as session:
        return upkeep.live_slots(session, resources.clock)


def id_of(folder: Path) -> str:
    """Return how the hub knows the championship of a folder: 16 hexadecimal digits, made once."""
    file = folder / ID
    if not file.exists():
        write_whole(file, token_hex(8).encode())
    known = file.read_text(encoding="ascii", errors="replace").strip()
    if len(known) != 16 or set(known) - set("0123456789abcdef"):
        raise UsageError(f"{file} must hold 16 hexadecimal digits, as it did when it was made")
    return known


@dataclass(slots=True)
class Asked:
    """A match that workers are asked for."""

    over: asyncio.Future[Standing]
    note: Note
    is_noted: bool = False

    def take(self, standing: Standing) -> None:
        """Take in how it stands."""
        if standing.state == "in_progress" and not self.is_noted:
            self.is_noted = True
            self.note(None)
        if standing.state in OVER and not self.over.done():
            self.over.set_result(standing)


class HubPlayers:
    """The workers of a hub, wherever they are."""

    def __init__(
        self, resources: Resources, folder: str, teams: Sequence[Team], room: int, say: Say
    ) -> None:
        """Send the programs, but ask for nothing yet.

        `say` is told what keeps matches from being played. Raises UsageError for programs that
        cannot be sent, and StoreAway.
        """
        self.room = room
        self._resources = resources
        self._folder = folder
        self._say = say
        self._said = ""
        self._asked: dict[int, Asked] = {}
        self._looking: asyncio.Task[None] | None = None
        self._stopping = False
        self._programs = send_programs(resources, folder, [team.bot for team in teams])
        self.lanes = max(1, slots_of(resources))
        with resources.database.reading() as session:
            self._known = championships.open_keys(session, folder)

    def is_known(self, match: str) -> bool:
        """Return whether a match was open when this run began."""
        return championships.key_of(self._folder, match) in self._known

    async def play(self, job: Job, note: Note) -> MatchResult | MatchFailure | None:
        """Ask workers for a match; None if it was called off before it began.

        While the database or the store is away, wait: what is asked for is not lost.
        """
        key = championships.key_of(self._folder, job.spec.id)
        match = await self._patiently(lambda: self._plan(key, job))
        asked = self._asked[match] = Asked(asyncio.get_running_loop().create_future(), note)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_again_and_again())
        standing = await asked.over
        if standing.state == "void" and self._stopping:
            return None
        return await self._patiently(lambda: self._outcome(key, standing))

    def _plan(self, key: str, job: Job) -> int:
        """Send a match to the workers; return the id of its row."""
        parcels.send(self._resources, key, job, self._programs)
        clock, spec = self._resources.clock, job.spec
        with logs.about(request_id=f"championship-{self._folder}"):
            with self._resources.database.writing() as session:
                match = championships.plan(session, clock, key, spec, seats_of(spec))
                message = championships.take_message(session, clock, match)
            if message is not None:
                # Where the queue is away, the next tick sends it.
                send(self._resources, [message])
        return match

    def _outcome(self, key: str, standing: Standing) -> MatchResult | MatchFailure:
        """Return what has come of a match that is over."""
        if standing.state == "void":
            return MatchFailure("failure", f"it was called off: {standing.reason}")
        said = parcels.outcome_of(self._resources, key, standing.attempt)
        if standing.state == "failed":
            troubles = f"{MOST_TROUBLES} attempts have failed, the last one: {standing.reason}"
            return (said and said.error) or MatchFailure("failure", troubles)
        if said is None or said.result is None:
            return MatchFailure(
                "failure",
                "it was played, but its result is not in the object store: is that the one of the"
                " workers (CW_STORE_URL)? To play it again, begin in a new folder",
            )
        return said.result

    async def _look_again_and_again(self) -> None:
        """Look what has become of the matches; what goes wrong is told to all who wait."""
        while True:
            await asyncio.sleep(LOOK)
            waiting = [match for match, asked in self._asked.items() if not asked.over.done()]
            try:
                seen = await self._patiently(lambda: self._look(waiting))  # noqa: B023 - at once
            except Exception as error:
                for match in waiting:
                    self._asked[match].over.set_exception(error)
                raise
            for standing in seen:
                self._asked[standing.id].take(standing)

    def _look(self, waiting: Sequence[int]) -> list[Standing]:
        """Return how matches stand; where no more are wanted, those that wait are called off."""
        clock = self._resources.clock
        if self._stopping:
            with self._resources.database.writing() as session:
                championships.call_off(session, clock, waiting)
        with self._resources.database.reading() as session:
            slots = upkeep.live_slots(session, clock)
            seen = championships.standings(session, waiting)
        self.lanes = max(1, slots)
        self._tell("" if slots else NO_WORKER)
        return seen

    async def _patiently(self, work: Callable[[], T]) -> T:
        """Return what `work` returns in a thread, as soon as database and store are there."""
        while True:
            try:
                return await asyncio.to_thread(work)
            except StoreAway as error:
                self._tell(str(error))
            except DBAPIError as error:
                if not is_away(error):
                    raise
                self._tell("the database does not answer")
            await asyncio.sleep(LOOK)

    def _tell(self, problem: str) -> None:
        """Say what keeps matches from being played, once as long as it lasts."""
        if problem and problem != self._said:
            self._say(f"{problem}; the championship waits")
        self._said = problem

    def stop(self) -> None:
        """Call off what no worker has begun, with the next look."""
        self._stopping = True

    def warnings(self) -> Sequence[str]:
        """Return nothing: workers write their warnings into their own logs."""
        return ()

    async def close(self) -> None:
        """Call off all that is not over; where that fails, the next run takes it over."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        try:
            await asyncio.to_thread(self._call_off, list(self._asked))
        except DBAPIError as error:
            if not is_away(error):
                raise
            self._say("the database does not answer: workers play on until the next run")

    def _call_off(self, asked: Sequence[int]) -> None:
        with self._resources.database.writing() as session:
            championships.call_off(session, self._resources.clock, asked, with_played=True)


def send_programs(
    resources: Resources, folder: str, bots: Sequence[BotSpec]
) -> Mapping[str, Program]:
    """Send the programs among the bots of teams; return them as they were sent, by their names."""
    programs = {}
    for bot in bots:
        if parcels.is_program(bot):
            others = [other for other in bots if other.name != bot.name]
            programs[bot.name] = parcels.send_program(resources.objects, folder, bot, others)
    return programs


def seats_of(spec: MatchSpec) -> list[Seat]:
    """Return who sits in a match, as its row says; of a web service that is its name alone."""
    return [Seat(bot.name, spec=public_spec(bot)) for bot in spec.bots]


def public_spec(bot: BotSpec) -> str | None:
    """Return what kind of a bot it is, as far as that is nobody's secret."""
    if parcels.is_program(bot):
        return PROGRAM
    return f"{BUILTIN}{bot.target}" if bot.kind == "builtin" else None
