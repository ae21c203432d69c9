"""Uploaded programs: limits, languages, builds, a test match, and sending them to players."""

from __future__ import annotations

import logging
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from cw import kits
from cw.arena.bots import BotSpec
from cw.arena.sandbox import bubblewrap, cgroups, measured
from cw.arena.sandbox.measured import ADVICE as MEASURED_ADVICE
from cw.arena.sandbox.measured import SHARED, Measurement
from cw.errors import ArenaError, Failure
from cw.games.rules import Json
from cw.games.wire import Credit, Credits
from cw.kits import LANGUAGES
from cw.matches.spec import Isolation, MatchSpec, SandboxPolicy
from cw_hub.bots.addresses import PROGRAM, ClaimedSeat, Hosting
from cw_hub.operation import heartbeats
from cw_hub.operation.doctor import Finding
from cw_hub.operation.settings import HubSettings
from cw_hub.players import packages
from cw_hub.players.messages import Built, Match, Measure, Measured, Played, Program, ReplayKeys
from cw_hub.players.players import Players
from cw_hub.store.database import Session
from cw_hub.store.objects import ObjectStore

SUFFIX: Final = ".built"
"""Suffix that turns a source's key into the key of the compiled program."""

WARNINGS: Final = ".warnings"
"""Suffix that turns a source's key into the key of the compiler's warnings about it."""

STEP: Final = "builds without a warning"
"""The step of a check that shows the compiler's warnings to the author."""

ADVICE: Final = "the program can play; fix the warnings in the next version"


def find(objects: ObjectStore, key: str) -> bytes | None:
    """Return the program compiled from the source with this key, or None."""
    return objects.get(key + SUFFIX)


def store(objects: ObjectStore, key: str, built: Built) -> None:
    """Store a compiled program next to its source, which has this key. Idempotent."""
    # Warnings first, so that they are complete whenever the program exists.
    objects.put_new(key + WARNINGS, built.warnings.encode())
    objects.put_new(key + SUFFIX, built.data)


def warning_steps(objects: ObjectStore, key: str) -> list[dict[str, Json]]:
    """Return the check step with the compiler's warnings about a source.

    The list is empty if there are none, or if nothing has to be built.
    """
    warnings = (objects.get(key + WARNINGS) or b"").decode()
    step = {"step": STEP, "ok": False, "problem": warnings, "fix": ADVICE, "warning": True}
    return [step] if warnings else []


def source_key(key: str) -> str:
    """Return the key of the source that an object was made from, or the key itself."""
    return key.removesuffix(SUFFIX).removesuffix(WARNINGS)


logger = logging.getLogger(__name__)


def problem_here(settings: HubSettings) -> str:
    """Return why programs cannot be run in the sandbox within its limits, or ""."""
    return problem_of_sandbox(settings) or problem_of_limits(settings)


def problem_of_sandbox(settings: HubSettings) -> str:
    """Return why programs cannot be sandboxed where players run, or ""."""
    if not settings.players:
        return bubblewrap.problem() or ""
    try:
        return measured_by_player(settings.players, settings.data.absolute()).problem
    except ArenaError as error:
        return str(error)


def problem_of_limits(settings: HubSettings) -> str:
    """Return which limits a site open to untrusted users lacks; "" if none, or if it is local."""
    if not settings.public_url or problem_of_sandbox(settings):
        return ""
    free = free_of_limits(settings)
    return f"nothing on this machine limits the {free} of a program" if free else ""


def free_of_limits(settings: HubSettings) -> str:
    """Return which shared resources a program could exhaust, or ""."""
    if not settings.players:
        return measured.unbounded()
    free = (limit.name for limit in limits_of(settings) if not limit.by)
    return " and ".join(SHARED[name] for name in free if name in SHARED)


def limits_of(settings: HubSettings) -> Sequence[Measurement]:
    """Return the limits of programs, measured once per process; empty without a sandbox."""
    if problem_of_sandbox(settings):
        return ()
    private = settings.data.absolute()
    if settings.players:
        return measured_by_player(settings.players, private).limits
    return measured.measured((private,))


@cache
def measured_by_player(place: str, private: Path) -> Measured:
    """Return the measurements of a player behind a socket; raise ArenaError if none responds."""
    with closing(Players(place)) as players, players.play(Measure((str(private),))) as play:
        return next(message for message in play if isinstance(message, Measured))


def report_limits(settings: HubSettings) -> None:
    """Log the limits of programs, before the first program is run."""
    if problem := problem_of_sandbox(settings):
        if settings.players:
            logger.error("no programs are run: %s", problem)
        return
    if not settings.public_url:
        free = free_of_limits(settings) if settings.players else cgroups.free_of_bounds()
        if free:
            logger.warning("nothing limits the %s of a program here: %s", free, MEASURED_ADVICE)
        return
    for limit in limits_of(settings):
        level = logging.INFO if limit.by else logging.WARNING
        logger.log(level, "programs: %s: %s", limit.name, limit.sentence)
    if problem := problem_of_limits(settings):
        logger.error("no programs are run here: %s; %s", problem, MEASURED_ADVICE)


def sandbox_of(settings: HubSettings, tournament: str) -> SandboxPolicy:
    """Return whether a tournament's programs must run in bubblewrap; "" means no tournament.

    They always must, except in tournaments listed in the settings of this process: no page and no
    database row can change that.
    """
    return "auto" if tournament in settings.trusted_tournaments else "require"


def hosting_of_people(settings: HubSettings) -> Hosting:
    """Return how this process runs players' programs."""
    return "off" if why_none(settings) else "sandboxed"


def why_none(settings: HubSettings) -> str:
    """Return why this process does not run players' programs, or "" if it does.

    Pages that offer uploads use `why_off`: with CW_HOSTING=sandboxed, other hosts run them.
    """
    problem = problem_of_limits(settings)
    return why_off(settings) or (f"{NO_PROGRAMS}: {problem}." if problem else "")


def why_off(settings: HubSettings) -> str:
    """Return why the site does not run players' programs, as a user message, or "" if it does."""
    if settings.hosting == "off":
        return f"{NO_PROGRAMS}."
    problem = "" if settings.hosting else problem_here(settings)
    return f"{NO_PROGRAMS}: {problem}." if problem else ""


def hosting_here(settings: HubSettings, tournament: str, chosen: Hosting) -> Hosting:
    """Return how this process runs a tournament's programs, given its host's choice.

    "" means no tournament: the programs belong to players.
    """
    if not tournament:
        return hosting_of_people(settings)
    is_trusted = tournament in settings.trusted_tournaments
    return chosen if is_trusted or not problem_of_limits(settings) else "off"


def can_run(settings: HubSettings) -> bool:
    """Return whether this process can run programs, in the sandbox or trusted without it."""
    return bool(settings.trusted_tournaments) or not problem_here(settings)


def uploads(seats: Iterable[ClaimedSeat]) -> list[ClaimedSeat]:
    """Return the seats of uploaded programs."""
    return [seat for seat in seats if seat.spec.startswith(PROGRAM)]


def placeholder(seat: ClaimedSeat, hosting: Hosting) -> BotSpec:
    """Return the placeholder for a program in a specification, until a player has unpacked it.

    If programs are not run here, the bot remains absent.
    """
    return BotSpec(seat.name, "absent", NO_PROGRAMS if hosting == "off" else NOT_UNPACKED)


def sent(objects: ObjectStore, seats: Iterable[ClaimedSeat], hosting: Hosting) -> Iterator[Program]:
    """Yield the uploaded programs in these seats in the form sent to players.

    Raises StoreAway, and Failure if the bytes are not those that were uploaded.
    """
    for seat in uploads(seats) if hosting != "off" else ():
        data = fetched(objects, seat.bot_id, seat.spec.removeprefix(PROGRAM))
        built = find(objects, key_of(seat)) if packages.is_compiled(data) else None
        yield Program(seat.name, data, built)


def store_built(objects: ObjectStore, seats: Iterable[ClaimedSeat], built: Built) -> None:
    """Store the program in one of these seats, as compiled by a player."""
    for seat in uploads(seats):
        if seat.name == built.name:
            store(objects, key_of(seat), built)


def key_of(seat: ClaimedSeat) -> str:
    """Return the object key of a seat's upload."""
    return object_key(seat.bot_id, seat.spec.removeprefix(PROGRAM))


def fetched(objects: ObjectStore, bot_id: str, digest: str) -> bytes:
    """Return a stored upload; raise Failure if it is missing or damaged."""
    data = objects.get(object_key(bot_id, digest))
    if data is None or sha256(data).hexdigest() != digest:
        raise Failure(f"the program of {bot_id} is not in the object store as it was uploaded")
    return data


NO_PROGRAMS: Final = "No uploaded programs are run here"
NOT_UNPACKED: Final = "its program has not been unpacked"


def object_key(bot_id: str, sha256: str) -> str:
    """Return the object key of an upload."""
    return f"bots/{bot_id}/{sha256}"


GAME: Final = "paint"
OPTIONS: Final = {"width": 10, "height": 10, "turns": 20}

NOT_NEEDED: Final = "only needed where uploaded programs are played"
ELSEWHERE: Final = "set CW_HOSTING=sandboxed if the workers are other machines"
BROKEN: Final = "make sure that a program in the sandbox can run this Python: cw check paint BOT.py"


def look_at_programs(settings: HubSettings) -> Finding:
    """Check whether uploaded programs can be run here, by playing a match."""
    if problem := problem_of_sandbox(settings):
        return Finding("programs", False, False, f"{problem}{told_people(settings)}", NOT_NEEDED)
    fault = problem_of_match(settings.players)
    if fault is not None:
        return Finding("programs", False, True, f"a Python program failed: {fault}", BROKEN)
    works = f"bubblewrap works, and a Python program has played{told_people(settings)}"
    return Finding("programs", True, False, works)


def look_at_limits(settings: HubSettings) -> Iterator[Finding]:
    """Yield the measurement of each limit on programs; none if no programs can be run.

    A site open to untrusted users requires limits on the resources that its programs share.
    """
    is_needed = bool(settings.public_url) and settings.hosting != "off"
    for limit in limits_of(settings):
        needed = is_needed and limit.name in SHARED
        yield Finding(limit.name, bool(limit.by), needed, limit.sentence, limit.advice)


def told_people(settings: HubSettings) -> str:
    """Return the doctor's remark on players' uploads; "" if they are accepted."""
    if settings.hosting == "off":
        return "; players cannot upload any (CW_HOSTING=off)"
    return f"; players cannot upload any: {ELSEWHERE}" if why_off(settings) else ""


def problem_of_match(place: str = "") -> str | None:
    """Play a match with the Python kit as an uploaded program; return its first fault, or None.

    `place` is the socket address of the players.
    """
    kit = {name: file.read_bytes() for name, file in kits.files(GAME, "python").items()}
    bots = (BotSpec("program", "absent", ""), BotSpec("opponent", "builtin", "still"))
    spec = MatchSpec("trial", GAME, bots, 1, dict(OPTIONS), isolation=Isolation("require"))
    names = Credits(spec.id, [Credit(bot.name, "") for bot in bots])
    task = Match(spec, ReplayKeys("own", "viewed", "archive"), names)
    program = Program("program", packages.pack(kit))
    with closing(Players(place)) as players, players.play(task, [program]) as play:
        try:
            played = next(message for message in play if isinstance(message, Played))
        except ArenaError as error:
            return str(error)
    return next((str(fault["detail"]) for fault in played.slots[0].faults), None)


ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "javascript": ("node", "--version"),
    "php": ("php", "--version"),
    "ruby": ("ruby", "--version"),
    "go": ("go", "version"),
    "java": ("javac", "--version"),
    "c": ("cc", "-dumpfullversion"),
    "cpp": ("c++", "-dumpfullversion"),
}
"""The commands that print the tool versions of languages; Python is this interpreter."""

NUMBER: Final = re.compile(r"(?<!\d)\d+(\.\d+)+")
PATIENCE: Final = 10.0
"""Time limit for such a command, in seconds."""


def installed() -> dict[str, str]:
    """Return the versions of the languages available on this host, by the names in kits."""
    versions = {
        name: version_of(command)
        for name, command in ASKED.items()
        if not LANGUAGES[name].missing()
    }
    return {"python": platform.python_version()} | {
        name: version for name, version in versions.items() if version
    }


def version_of(command: tuple[str, ...]) -> str:
    """Return the version that a command prints, or "" if it is missing or prints none."""
    try:
        output = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    number = NUMBER.search(output.decode(errors="replace"))
    return number[0] if number else ""


def offered(session: Session) -> dict[str, str]:
    """Return the versions of the languages that live workers run, by the names that kits use."""
    reports = [beat.figures.languages for beat in heartbeats.live(session)]
    return {
        name: next(versions[name] for versions in reports if name in versions)
        for name in LANGUAGES
        if any(name in versions for versions in reports)
    }


def titled(versions: Mapping[str, str]) -> dict[str, str]:
    """Return versions of languages by their display titles."""
    return {LANGUAGES[name].title: version for name, version in versions.items()}
