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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace
from sqlalchemy import update
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
from cw_hub.competitions.cup.service import MOST_OPEN, NAME, CupMatch, key_of, matches_of, plan_cup
from cw_hub.matches.match_types import ExternalBots
from cw_hub.matches.planning import send_of
from cw_hub.matches.results import ANEW, MOST_TROUBLES, OPEN, Claim
from cw_hub.operation import logs, scheduler
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.players import packages
from cw_hub.players.messages import Program
from cw_hub.players.packages import MIB, Bounds
from cw_hub.players.playing import Outcome
from cw_hub.players.programs import PYTHON
from cw_hub.store.database import Session, is_away
from cw_hub.store.models import Match, MatchState
from cw_hub.store.objects import ObjectStore, StoreAway
from cw_hub.store.sealing import Sealed

PREFIX: Final = "championships"
"""Prefix of the stored entrants and match results; no page links to these objects."""

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


PROGRAMS: Final = ("exec", "python")
"""The kinds of bots that are programs, which the match's player runs."""


def entrants_key(cup: str) -> str:
    """Return the object store key of a cup's entrants."""
    return f"{PREFIX}/{cup}/entrants.json"


def program_key(cup: str, digest: str) -> str:
    """Return the object store key of a program's zip, which is stored once per cup."""
    return f"{PREFIX}/{cup}/programs/{digest}"


def outcome_key(key: str, attempt: int) -> str:
    """Return the object store key of a match result, which differs by attempt."""
    return f"{PREFIX}/{key}-{attempt}.json.gz"


def forget(resources: Resources) -> int:
    """Delete old entrants and match results; return the number of objects deleted.

    By then, the organiser of the championship has long since fetched them.
    """
    age = timedelta(days=resources.settings.replay_days)
    keys = list(resources.objects.keys(PREFIX, resources.clock() - age))
    for key in keys:
        resources.objects.delete(key)
    return len(keys)


def send_program(
    objects: ObjectStore, cup: str, bot: BotSpec, others: Sequence[BotSpec]
) -> tuple[BotSpec, str]:
    """Store the files of a program, except those that belong to other bots.

    Returns the program, with files named relative to its folder, and the SHA-256 of its zip, or ""
    if it has no files. Idempotent. Raises UsageError if the program cannot be sent, and StoreAway
    if the store is unavailable.
    """
    folder = program_folder(bot)
    data = b"" if folder is None else zipped(bot, folder, others)
    digest = sha256(data).hexdigest() if data else ""
    if data:
        objects.put_new(program_key(cup, digest), data)
    return with_names(bot, folder), digest


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
    words = bot.files_or_words if bot.folder else [name_in(w, folder) for w in bot.files_or_words]
    if bot.kind == "exec":
        target = shlex.join(PYTHON if word == sys.executable else word for word in words)
    else:
        target = words[0] + bot.target.removeprefix(bot.python_player[0])
    try:
        replace(bot, target=target, folder=str(folder or "."))
    except UsageError as error:
        raise UsageError(f"{bot.name} cannot be sent to workers: {error}") from None
    return replace(bot, target=target, folder="")


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
    bots = {team.bot.name: team.bot for team in teams}
    digests: dict[str, str] = {}
    for name, bot in bots.items():
        if bot.kind in PROGRAMS:
            others = [team.bot for team in teams if team.bot.name != name]
            bots[name], digests[name] = send_program(resources.objects, cup, bot, others)
    secrets = {team.id: team.secrets for team in teams if team.secrets}
    sealed = resources.sealer.seal(msgspec.json.encode(secrets), row_of(cup))
    parcel = Parcel(bots, digests, sealed.key_id, b64encode(sealed.data).decode())
    resources.objects.put_private(entrants_key(cup), io.BytesIO(msgspec.json.encode(parcel)))


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
    cup = claim.key.partition("/")[0]
    data = resources.objects.get(entrants_key(cup))
    if data is None:
        raise Failure("its parcel is not in the store")
    parcel = documents.decode(data, Parcel)
    bots = {seat.name: parcel.bots[seat.name] for seat in claim.seats}
    programs = [name for name in bots if name in parcel.programs]
    problem = problem_here(resources.settings)
    if problem and programs:
        # Another host may be able to isolate and limit them.
        raise Failure(f"no programs are run here: {problem}")
    sealed = Sealed(parcel.key_id, b64decode(parcel.secrets))
    opened = resources.sealer.open(sealed, row_of(cup))
    secrets = msgspec.json.decode(opened, type=dict[str, dict[str, str]])
    return ExternalBots(
        bots | {name: BotSpec(name, "absent", NOT_UNPACKED) for name in programs},
        {name: secrets[name] for name in bots if name in secrets},
        partial(programs_of, resources.objects, cup, parcel, programs),
    )


def programs_of(
    objects: ObjectStore, cup: str, parcel: Parcel, names: Iterable[str]
) -> Iterator[Program]:
    """Yield programs in the form sent to players; raise Failure if one is not what was sent."""
    for name in names:
        digest = parcel.programs[name]
        key = program_key(cup, digest)
        data = objects.get(key) if digest else b""
        if data is None or (digest and sha256(data).hexdigest() != digest):
            raise Failure(f"{key} in the store is not what was sent")
        yield Program(name, data, bounds=BOUNDS, bot=parcel.bots[name])


def report(claim: Claim) -> str | None:
    """Return the key of the result to send back to the championship's organiser.

    Returns None for a match between bots of the hub.
    """
    return outcome_key(claim.key, claim.attempt) if is_sent(claim) else None


def outcome_of(resources: Resources, key: str, attempt: int) -> Outcome | None:
    """Return the stored result of a match, or None; raise StoreAway if the store is unavailable."""
    data = resources.objects.get(outcome_key(key, attempt))
    return None if data is None else documents.decode(unpacked(data, LONGEST_LINE), Outcome)


STOPPED: Final = "its championship was stopped"
ACTOR: Final = "championship"


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
    values = {
        "contest": settings.format,
        "options": settings.options,
        "entrants": {team.id: public_spec(team.bot) for team in teams},
        "parallel": {team.id: team.parallel for team in teams if team.parallel is not None},
        "groups": settings.groups,
        "players": settings.players,
        "rounds": settings.rounds,
        "at_once": most,
    }
    return {name: value for name, value in values.items() if value is not None}


def public_spec(bot: BotSpec) -> str | None:
    """Return the public spec of a bot, without anything secret; None for other kinds of bots."""
    if bot.kind in PROGRAMS:
        return PROGRAM
    return f"{BUILTIN}{bot.target}" if bot.kind == "builtin" else None


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

Say: TypeAlias = Callable[[str], None]


def slots_of(resources: Resources) -> int:
    """Return the number of matches that live workers can play at the same time."""
    with resources.database.reading() as session:
        return scheduler.live_slots(session)


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


class HubPlayers:
    """Runs a championship as a cup on a hub's workers, on any host, and tracks its progress."""

    def __init__(
        self, resources: Resources, room: int, journal: Journal, teams: Sequence[Team], say: Say
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
        self._awaited: dict[str, CupMatch | None] = {}
        """The matches whose results are awaited, by key; None for one that is not planned yet."""
        self._looking: asyncio.Task[None] | None = None
        self._stopping = False
        send(resources, self._slug, teams)
        values = settings_for(journal.settings, teams, room)
        with logs.about(request_id=f"championship-{self._slug}"):
            with resources.database.writing(ACTOR) as session:
                self._cup = open_cup(session, self._slug, journal.settings, values)
                open_matches = matches_of(session, self._cup, Match.state.in_(OPEN))
            self._known = {match.key for match in open_matches}
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
        self._awaited[key] = None
        while (match := self._awaited[key]) is None or match.state not in OVER:
            if match is not None and match.state == "in_progress":
                note(None)
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look_again())
            await asyncio.shield(self._looking)
        if match.state == "void" and self._stopping:
            return None
        return await self._patiently(partial(self._outcome, match))

    def _outcome(self, match: CupMatch) -> MatchResult | MatchFailure:
        """Return the result of a match that is over."""
        if match.state == "void":
            return MatchFailure("failure", f"it was cancelled: {match.reason}")
        outcome = outcome_of(self._resources, match.key, match.attempt)
        if match.state == "failed":
            troubles = f"{MOST_TROUBLES} attempts have failed, the last one: {match.reason}"
            return (outcome and outcome.error) or MatchFailure("failure", troubles)
        if outcome is None or outcome.result is None:
            return MatchFailure(
                "failure",
                "it was played, but its result is not in the object store: check that the "
                "workers have the same CW_STORE_URL. To play it again, begin in a new folder",
            )
        return outcome.result

    async def _look_again(self) -> None:
        """Read the awaited matches once more, for all calls that wait."""
        await asyncio.sleep(LOOK)
        keys = [key for key, one in self._awaited.items() if one is None or one.state not in OVER]
        self._awaited |= await self._patiently(partial(self._look, keys))

    def _look(self, keys: Sequence[str]) -> dict[str, CupMatch]:
        """Return matches by key; when stopping, first call off those that are not played yet."""
        found: dict[str, CupMatch] = {}
        if self._stopping:
            self._call_off("queued", "interrupted")
            found = {key: CupMatch(0, key, "void", 0, None, 0, 0, []) for key in keys}
        with self._resources.database.reading() as session:
            slots = scheduler.live_slots(session)
            matches = matches_of(session, self._cup, Match.key.in_(keys))
        self.lanes = max(1, slots)
        self._tell("" if slots else NO_WORKER)
        return found | {match.key: match for match in matches}

    def _call_off(self, *states: MatchState) -> None:
        """Pause the cup, and call off its matches in these states. Idempotent.

        A worker that has lost its match notices, and stops.
        """
        clock = self._resources.clock
        off = {"state": "void", "finished_at": clock(), "reason": STOPPED}
        its = (Match.competition_id == self._cup, Match.state.in_(states))
        with self._resources.database.writing(ACTOR) as session:
            competitions_service.set_paused(session, self._cup, paused=True)
            session.execute(
                update(Match).where(*its).values(off | {"worker": None, "lease_until": None})
            )

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
            await asyncio.to_thread(self._call_off, *OPEN)
        except DBAPIError as error:
            if not is_away(error):
                raise
            self._say("the database does not answer: workers play on until the next run")


NewPlayers: TypeAlias = Callable[[Journal, Sequence[Team], Say], HubPlayers]


@contextmanager
def workers(jobs: int | None) -> Iterator[NewPlayers]:
    """Yield a factory of players that use the configured hub, for `jobs` concurrent matches.

    Raises UsageError if the settings cannot reach another process, and Failure if the database or
    the queue does not respond, or no worker is running.
    """
    settings = read_settings(os.environ)
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
        yield partial(HubPlayers, resources, jobs or MOST_OPEN)
