"""Playing championships on a hub's workers: sending the entrants, and reading the results.

The entrants are an object that describes the bots, and a zip of each program's folder. The bots
name their files relative to that folder. The result of each match is sent back.
"""

from __future__ import annotations

import asyncio
import io
import os
import shlex
import stat
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace
from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError

from cw import documents
from cw.arena.bots import BotSpec
from cw.arena.launch import program_folder, source_of
from cw.arena.sandbox.folders import contents
from cw.championship.config import ChampionshipSettings
from cw.championship.journal import Journal
from cw.championship.report import title_of
from cw.championship.runner import Note
from cw.championship.teams import Team
from cw.errors import Failure, UnfitProgram, UsageError
from cw.files import write_whole
from cw.matches.spec import MatchResult
from cw.matches.worker import Job
from cw.matches.workers import LONGEST_LINE, MatchFailure
from cw.replays.document import unpacked
from cw_hub.bots.addresses import BUILTIN, PROGRAM
from cw_hub.bots.programs import NOT_UNPACKED, problem_here
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.cup.service import (
    NAME,
    cup_of,
    key_of,
    outcome_key,
    parcel_key,
    plan_cup,
    program_key,
)
from cw_hub.matches.match_types import ExternalBots
from cw_hub.matches.planning import send_of
from cw_hub.matches.results import ANEW, MOST_TROUBLES, OPEN, Claim
from cw_hub.operation import logs, maintenance
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.players import packages
from cw_hub.players.messages import Program
from cw_hub.players.packages import MIB, Bounds
from cw_hub.players.playing import Outcome
from cw_hub.players.programs import PYTHON
from cw_hub.store.database import Session, is_away
from cw_hub.store.models import Match, MatchState
from cw_hub.store.objects import ObjectStore, StoreAway
from cw_hub.store.sealing import Sealed, Sealer

BOUNDS: Final = Bounds(files=5000, size=64 * MIB)
"""Limits on the folder of a program."""


class Parcel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The entrants of a championship, as sent to the workers."""

    bots: dict[str, BotSpec]
    """Bots by name."""
    programs: dict[str, str]
    """SHA-256 of each program's zip by bot name; "" for a program without files."""
    key_id: str
    secrets: str
    """The bots' secrets, sealed with the key `key_id`, in base64."""


class SentProgram(NamedTuple):
    """A program prepared for sending."""

    bot: BotSpec
    """Its files are named relative to its own folder."""
    digest: str
    """The SHA-256 of its zip, "" if it has none."""


def is_program(bot: BotSpec) -> bool:
    """Return whether a bot is a program, which the match's player runs."""
    return bot.kind in ("exec", "python")


def send_program(
    objects: ObjectStore, cup: str, bot: BotSpec, others: Sequence[BotSpec]
) -> SentProgram:
    """Store the files of a program, except those that belong to other bots.

    Idempotent. Raises UsageError if the program cannot be sent, and StoreAway if the store is
    unavailable.
    """
    folder = program_folder(bot)
    if folder is None:
        return SentProgram(with_names(bot, None), "")
    data = zipped(bot, folder, others)
    digest = sha256(data).hexdigest()
    objects.put_new(program_key(cup, digest), data)
    return SentProgram(with_names(bot, folder), digest)


def zipped(bot: BotSpec, folder: Path, others: Sequence[BotSpec]) -> bytes:
    """Return a deterministic zip of a program's files."""
    source = source_of(bot, others)
    try:
        with contents(folder, source.only, source.without) as files:
            entries = [entry for entry in files.entries if not stat.S_ISDIR(entry.mode)]
            data = packages.pack({entry.name: files.read(entry, BOUNDS.size) for entry in entries})
        packages.files_of(data, BOUNDS)
    except (UnfitProgram, packages.UnfitUpload) as error:
        most = f"at most {BOUNDS.files} files and {BOUNDS.size // MIB} MiB, with plain names"
        raise UsageError(
            f"{bot.name} cannot be sent to workers, which take {most}: {error}"
        ) from None
    return data


def with_names(bot: BotSpec, folder: Path | None) -> BotSpec:
    """Return a program whose files are named relative to its folder.

    Raises UsageError if it names files elsewhere, which a worker does not have.
    """
    if not bot.folder:
        try:
            bot = replace(bot, target=named_in(bot, folder), folder=str(folder or "."))
        except UsageError as error:
            raise UsageError(f"{bot.name} cannot be sent to workers: {error}") from None
    target = bot.target
    if bot.kind == "exec":
        target = shlex.join(PYTHON if part == sys.executable else part for part in bot.command)
    return replace(bot, target=target, folder="")


def named_in(bot: BotSpec, folder: Path | None) -> str:
    """Return the target of a user's own program, with names relative to its folder."""
    if bot.kind == "exec":
        return shlex.join(name_in(part, folder) for part in bot.command)
    path, name = bot.python_player
    return f"{name_in(path, folder)}:{name}" if name else name_in(path, folder)


def name_in(part: str, folder: Path | None) -> str:
    """Return an argument of a command, relative to the folder if it is a file in it."""
    # Unlike Path.is_file, this accepts an argument of any length.
    if folder is None or not os.path.isfile(part):  # noqa: PTH113
        return part
    file = Path(part).resolve()
    return str(file.relative_to(folder)) if file.is_relative_to(folder) else part


def send(resources: Resources, cup: str, teams: Sequence[Team]) -> None:
    """Store the entrants of a cup for its workers.

    The last call wins. Raises UsageError if a program cannot be sent, and StoreAway if the store is
    unavailable.
    """
    bots = [team.bot for team in teams]
    programs = {
        bot.name: send_program(
            resources.objects, cup, bot, [other for other in bots if other.name != bot.name]
        )
        for bot in bots
        if is_program(bot)
    }
    secrets = {team.id: team.secrets for team in teams if team.secrets}
    sealed = resources.sealer.seal(msgspec.json.encode(secrets), row_of(cup))
    parcel = Parcel(
        {bot.name: programs[bot.name].bot if bot.name in programs else bot for bot in bots},
        {name: program.digest for name, program in programs.items()},
        sealed.key_id,
        b64encode(sealed.data).decode(),
    )
    resources.objects.put_private(parcel_key(cup), io.BytesIO(msgspec.json.encode(parcel)))


def row_of(cup: str) -> str:
    """Return the name to which the sealed secrets of a cup's entrants are bound."""
    return f"championship.{cup}"


def is_sent(claim: Claim) -> bool:
    """Return whether a match's bots were sent by a championship, and so have no rows in the hub."""
    return not all(seat.bot_id for seat in claim.seats)


def external_bots(resources: Resources, claim: Claim) -> ExternalBots:
    """Return the bots that a championship has sent for a match.

    Raises StoreAway if the store is unavailable, and Failure if the bots are not in it or their
    programs cannot be run here.
    """
    if not is_sent(claim):
        return ExternalBots()
    cup = cup_of(claim.key)
    data = resources.objects.get(parcel_key(cup))
    if data is None:
        raise Failure("its parcel is not in the store")
    parcel = documents.decode(data, Parcel)
    names = [seat.name for seat in claim.seats]
    problem = problem_here(resources.settings)
    if problem and any(name in parcel.programs for name in names):
        # Another host may be able to isolate and limit them.
        raise Failure(f"no programs are run here: {problem}")
    secrets = secrets_of(resources.sealer, cup, parcel)
    return ExternalBots(
        {name: placeholder(parcel, name) for name in names},
        {name: secrets[name] for name in names if name in secrets},
        lambda: programs_of(resources.objects, cup, parcel, names),
    )


def placeholder(parcel: Parcel, name: str) -> BotSpec:
    """Return a bot; a program is marked as absent until a player unpacks it."""
    bot = parcel.bots[name]
    return BotSpec(name, "absent", NOT_UNPACKED) if name in parcel.programs else bot


def programs_of(
    objects: ObjectStore, cup: str, parcel: Parcel, names: Iterable[str]
) -> Iterator[Program]:
    """Yield the programs among the named bots, in the form sent to players."""
    for name in names:
        digest = parcel.programs.get(name)
        if digest is not None:
            data = program_in(objects, program_key(cup, digest), digest) if digest else b""
            yield Program(name, data, bounds=BOUNDS, bot=parcel.bots[name])


def program_in(objects: ObjectStore, key: str, digest: str) -> bytes:
    """Return the zip of a program; raise Failure unless it matches its digest."""
    data = objects.get(key)
    if data is None or sha256(data).hexdigest() != digest:
        raise Failure(f"{key} in the store is not what was sent")
    return data


def secrets_of(sealer: Sealer, cup: str, parcel: Parcel) -> dict[str, dict[str, str]]:
    """Return the secrets of a cup's entrants by bot name."""
    opened = sealer.open(Sealed(parcel.key_id, b64decode(parcel.secrets)), row_of(cup))
    return msgspec.json.decode(opened, type=dict[str, dict[str, str]])


def report(claim: Claim) -> str | None:
    """Return the key of the result to send back to the championship's organiser.

    Returns None for a match between bots of the hub.
    """
    return outcome_key(claim.key, claim.attempt) if is_sent(claim) else None


def outcome_of(resources: Resources, key: str, attempt: int) -> Outcome | None:
    """Return the stored result of a match, or None; raise StoreAway if the store is unavailable."""
    data = resources.objects.get(outcome_key(key, attempt))
    return None if data is None else read_outcome(data)


def read_outcome(data: bytes) -> Outcome:
    """Decode the result of a match."""
    return documents.decode(unpacked(data, LONGEST_LINE), Outcome)


CALLED_OFF: Final = "its championship was stopped"
ACTOR: Final = "championship"


class SentMatch(NamedTuple):
    """The state of a match."""

    id: int
    key: str
    state: MatchState
    attempt: int
    reason: str | None


def open_cup(
    session: Session,
    slug: str,
    settings: ChampionshipSettings,
    values: Mapping[str, Any],
) -> int:
    """Create the cup of a championship with the values of `settings_for`, or resume it.

    Returns its id. Matches that were called off or have failed are played again.
    """
    cup = competitions_service.find(session, NAME, slug) or competitions_service.new(
        session,
        NAME,
        settings.game,
        slug=slug,
        title=f"{title_of(settings.game)}, {settings.format.replace('-', ' ')}",
        seed=settings.seed,
    )
    competitions_service.set_values(session, cup.id, values)
    its = (Match.competition_id == cup.id, Match.state.in_(("void", "failed")))
    session.execute(update(Match).where(*its).values(ANEW))
    competitions_service.set_state(session, cup.id, "running")
    plan_cup(session, cup.id)
    return cup.id


def settings_for(
    settings: ChampionshipSettings, teams: Sequence[Team], most: int
) -> dict[str, Any]:
    """Return the cup settings of a championship, with at most `most` open matches."""
    numbers = {
        "groups": settings.groups,
        "players": settings.players,
        "rounds": settings.rounds,
        "at_once": most,
    }
    return {
        "contest": settings.format,
        "options": settings.options,
        "entrants": {team.id: public_spec(team.bot) for team in teams},
        "parallel": {team.id: team.parallel for team in teams if team.parallel is not None},
        **{name: value for name, value in numbers.items() if value is not None},
    }


def public_spec(bot: BotSpec) -> str | None:
    """Return the public spec of a bot, without anything secret; None for other kinds of bots."""
    if is_program(bot):
        return PROGRAM
    return f"{BUILTIN}{bot.target}" if bot.kind == "builtin" else None


def sent_statuses(session: Session, cup: int, keys: Collection[str]) -> list[SentMatch]:
    """Return the states of the given matches, leaving out those that are not planned."""
    query = select(Match.id, Match.key, Match.state, Match.attempt, Match.reason)
    rows = session.execute(query.where(Match.competition_id == cup, Match.key.in_(keys)))
    return [SentMatch(*row) for row in rows]


def open_keys(session: Session, cup: int) -> set[str]:
    """Return the keys of a cup's unfinished matches."""
    query = select(Match.key).where(Match.competition_id == cup, Match.state.in_(OPEN))
    return set(session.scalars(query))


def stop(session: Session, cup: int, *, with_played: bool = False) -> None:
    """Pause a cup, and void its waiting matches; with `with_played`, also the running ones.

    Idempotent. A worker that has lost its match notices, and stops.
    """
    if competitions_service.lock(session, cup).state == "running":
        competitions_service.set_state(session, cup, "paused")
    states: tuple[MatchState, ...] = OPEN if with_played else ("queued", "interrupted")
    off = {
        "state": "void",
        "finished_at": session.now(),
        "reason": CALLED_OFF,
        "worker": None,
        "lease_until": None,
    }
    its = (Match.competition_id == cup, Match.state.in_(states))
    session.execute(update(Match).where(*its).values(off))


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
    """Open the resources of a hub for the duration of the block.

    Raises UsageError if the settings cannot reach another process, and Failure if the database or
    the queue does not respond, or no worker is running.
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
        return maintenance.live_slots(session)


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
    """A match whose result the championship awaits."""

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
    """Runs a championship as a cup on a hub's workers, on any host, and tracks its progress."""

    def __init__(
        self, resources: Resources, journal: Journal, teams: Sequence[Team], room: int, say: Say
    ) -> None:
        """Send the entrants, and open their cup.

        `say` receives the problems that keep matches from being played. Raises UsageError if a
        program cannot be sent, and StoreAway if the store is unavailable.
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
        send(resources, self._slug, teams)
        values = settings_for(journal.settings, teams, room)
        with logs.about(request_id=f"championship-{self._slug}"):
            with resources.database.writing(ACTOR) as session:
                self._cup = open_cup(session, self._slug, journal.settings, values)
                self._known = open_keys(session, self._cup)
            # If the queue is down, the next tick sends the matches.
            send_of(resources, self._cup)

    def is_known(self, match: str) -> bool:
        """Return whether a match was already open when this run started."""
        return key_of(self._slug, match) in self._known

    async def play(self, job: Job, note: Note) -> MatchResult | MatchFailure | None:
        """Wait for the result of a match; return None if it was called off before it started.

        If the database or the store is unavailable, keep waiting: results are not lost.
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
        outcome = outcome_of(self._resources, status.key, status.attempt)
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
        """Return the states of matches; when stopping, first call off those that are waiting."""
        if self._stopping:
            with self._resources.database.writing(ACTOR) as session:
                stop(session, self._cup)
        with self._resources.database.reading() as session:
            slots = maintenance.live_slots(session)
            statuses = sent_statuses(session, self._cup, waiting)
        self.lanes = max(1, slots)
        self._tell("" if slots else NO_WORKER)
        return statuses

    async def _patiently(self, work: Callable[[], T]) -> T:
        """Return the result of `work` in a thread; retry until database and store are available."""
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
        """Call off all matches that no worker has started, at the next poll."""
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
        with self._resources.database.writing(ACTOR) as session:
            stop(session, self._cup, with_played=True)
