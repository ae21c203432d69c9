"""The workers of a hub as the players of a championship's matches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeVar

from sqlalchemy.exc import DBAPIError

from cw.championship.journal import Journal
from cw.championship.runner import Note
from cw.championship.teams import Team
from cw.errors import Failure, UsageError
from cw.files import write_whole
from cw.matches.processes.worker import Job
from cw.matches.processes.workers import MatchFailure
from cw.matches.spec import MatchResult
from cw_hub.competitions.cup import parcels, sent
from cw_hub.competitions.cup.keys import key_of
from cw_hub.competitions.cup.sent import SentMatch
from cw_hub.matches.interruptions import MOST_TROUBLES
from cw_hub.matches.sending import send_of
from cw_hub.operation import upkeep
from cw_hub.operation.health import logs
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import is_away
from cw_hub.store.objects import StoreAway

T = TypeVar("T")

ID: Final = "queue.id"
"""The file in a championship's folder that holds its id on the hub."""

LOOK: Final = 0.5
"""Seconds between two polls for match results."""

OVER: Final = ("done", "failed", "void")

NO_WORKER: Final = (
    "no worker of the hub is running: start cw hub worker --kinds cup --programs, "
    "and cw hub scheduler"
)

Say = Callable[[str], None]


@contextmanager
def connected(settings: HubSettings) -> Iterator[Resources]:
    """Open the hub of these settings for the duration of the block.

    Raises UsageError if the settings cannot reach another process, and Failure if the database or
    the queue does not answer, or no worker is running.
    """
    if settings.is_sqlite:
        raise UsageError("--queue needs a database that the workers can reach: set CW_DATABASE_URL")
    if settings.is_embedded:
        raise UsageError("--queue needs a queue that the workers can reach: set CW_BROKER_URL")
    with opened(settings, CeleryQueue(settings)) as resources:
        if not resources.queue.is_there():
            raise Failure(
                "the queue does not answer: check CW_BROKER_URL, and that Redis is running"
            )
        if not slots_of(resources):
            raise Failure(NO_WORKER)
        yield resources


def slots_of(resources: Resources) -> int:
    """Return the number of matches that live workers can play at the same time."""
    with resources.database.reading() as session:
        return upkeep.live_slots(session, resources.clock)


def id_of(folder: Path) -> str:
    """Return the hub's id for the championship in a folder: 16 hexadecimal digits, created once."""
    file = folder / ID
    if not file.exists():
        write_whole(file, token_hex(8).encode())
    content = file.read_text(encoding="ascii", errors="replace").strip()
    if len(content) != 16 or set(content) - set("0123456789abcdef"):
        raise UsageError(
            f"{file} must contain 16 hexadecimal digits, as it did when it was created"
        )
    return content


@dataclass(slots=True)
class Pending:
    """A match that the championship awaits."""

    over: asyncio.Future[SentMatch]
    note: Note
    is_noted: bool = False

    def take(self, status: SentMatch) -> None:
        """Process a new status of the match."""
        if status.state == "in_progress" and not self.is_noted:
            self.is_noted = True
            self.note(None)
        if status.state in OVER and not self.over.done():
            self.over.set_result(status)


class HubPlayers:
    """The workers of a hub, on any machine: they play a cup, and this class tracks its progress."""

    def __init__(
        self, resources: Resources, journal: Journal, teams: Sequence[Team], room: int, say: Say
    ) -> None:
        """Send the entrants, and open their cup.

        `say` receives the problems that keep matches from being played. Raises UsageError if a
        program cannot be sent, and StoreAway.
        """
        self.room = room
        self.lanes = max(1, slots_of(resources))
        self._resources = resources
        self._slug = id_of(journal.folder)
        self._say = say
        self._problem = ""
        self._pending: dict[str, Pending] = {}
        self._looking: asyncio.Task[None] | None = None
        self._stopping = False
        parcels.send(resources, self._slug, teams)
        values = sent.settings_for(journal.settings, teams, room)
        with logs.about(request_id=f"championship-{self._slug}"):
            with resources.database.writing() as session:
                self._cup = sent.open_cup(
                    session, resources.clock, self._slug, journal.settings, values
                )
                self._known = sent.open_keys(session, self._cup)
            # If the queue is down, the next tick sends them.
            send_of(resources, self._cup)

    def is_known(self, match: str) -> bool:
        """Return whether a match was already open when this run began."""
        return key_of(self._slug, match) in self._known

    async def play(self, job: Job, note: Note) -> MatchResult | MatchFailure | None:
        """Wait for the result of a match; return None if it was called off before it began.

        If the database or the store is down, keep waiting: results are not lost.
        """
        key = key_of(self._slug, job.spec.id)
        pending = self._pending[key] = Pending(asyncio.get_running_loop().create_future(), note)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_again_and_again())
        status = await pending.over
        if status.state == "void" and self._stopping:
            return None
        return await self._patiently(partial(self._outcome, status))

    def _outcome(self, status: SentMatch) -> MatchResult | MatchFailure:
        """Return the result of a match that is over."""
        if status.state == "void":
            return MatchFailure("failure", f"it was cancelled: {status.reason}")
        outcome = parcels.outcome_of(self._resources, status.key, status.attempt)
        if status.state == "failed":
            troubles = f"{MOST_TROUBLES} attempts have failed, the last one: {status.reason}"
            return (outcome and outcome.error) or MatchFailure("failure", troubles)
        if outcome is None or outcome.result is None:
            return MatchFailure(
                "failure",
                "it was played, but its result is not in the object store: check that the "
                "workers have the same CW_STORE_URL. To play it again, begin in a new folder",
            )
        return outcome.result

    async def _look_again_and_again(self) -> None:
        """Poll the state of awaited matches; pass an error on to every waiting call."""
        while True:
            await asyncio.sleep(LOOK)
            waiting = [key for key, match in self._pending.items() if not match.over.done()]
            try:
                statuses = await self._patiently(partial(self._look, waiting))
            except Exception as error:
                for pending in self._pending.values():
                    if not pending.over.done():
                        pending.over.set_exception(error)
                raise
            for status in statuses:
                self._pending[status.key].take(status)
            if self._stopping:
                self._give_up(set(waiting) - {status.key for status in statuses})

    def _give_up(self, unplanned: Collection[str]) -> None:
        """Stop waiting for matches that were never planned because the cup was stopped."""
        for key in unplanned:
            if not self._pending[key].over.done():
                self._pending[key].over.set_result(SentMatch(0, key, "void", 0, None))

    def _look(self, waiting: Sequence[str]) -> list[SentMatch]:
        """Return the state of matches; when stopping, first call off those that wait."""
        clock = self._resources.clock
        if self._stopping:
            with self._resources.database.writing() as session:
                sent.stop(session, clock, self._cup)
        with self._resources.database.reading() as session:
            slots = upkeep.live_slots(session, clock)
            statuses = sent.statuses(session, self._cup, waiting)
        self.lanes = max(1, slots)
        self._tell("" if slots else NO_WORKER)
        return statuses

    async def _patiently(self, work: Callable[[], T]) -> T:
        """Return what `work` returns in a thread; retry until database and store are available."""
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
        """Report what keeps matches from being played, once per problem."""
        if problem and problem != self._problem:
            self._say(f"{problem}; the championship waits")
        self._problem = problem

    def stop(self) -> None:
        """Call off all matches that no worker has begun, at the next poll."""
        self._stopping = True

    def warnings(self) -> Sequence[str]:
        """Return nothing: workers write warnings to their own logs."""
        return ()

    async def close(self) -> None:
        """Call off all unfinished matches; if that fails, the next run takes them over."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        try:
            await asyncio.to_thread(self._call_off)
        except DBAPIError as error:
            if not is_away(error):
                raise
            self._say("the database does not answer: workers play on until the next run")

    def _call_off(self) -> None:
        with self._resources.database.writing() as session:
            sent.stop(session, self._resources.clock, self._cup, with_played=True)
