"""Championship entrants, as sent to the workers by the machine that runs the championship.

They consist of an object with the bots, whose programs are named by files relative to their own
folders, and a zip of each of those folders. The result of each match is sent back.
"""

from __future__ import annotations

import io
import os
import shlex
import stat
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from cw import documents
from cw.arena.bots import BotSpec
from cw.arena.sandbox.folders import contents
from cw.arena.sources import program_folder, source_of
from cw.championship.teams import Team
from cw.errors import Failure, UnfitProgram, UsageError
from cw.matches.processes.workers import LONGEST_LINE
from cw.replays.document import unpacked
from cw_hub.bots.limits import problem_here
from cw_hub.bots.programs import NOT_UNPACKED
from cw_hub.competitions.cup.keys import cup_of, outcome_key, parcel_key, program_key
from cw_hub.matches.claims import Claim
from cw_hub.matches.kinds import Guests
from cw_hub.operation.resources import Resources
from cw_hub.players import packages
from cw_hub.players.messages import Program
from cw_hub.players.packages import MIB, Bounds
from cw_hub.players.playing import Outcome
from cw_hub.players.programs import PYTHON
from cw_hub.store.objects import ObjectStore
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
    """The bots' secrets, sealed under that key, in base64."""


class SentProgram(NamedTuple):
    """A program prepared for sending."""

    bot: BotSpec
    """Its files are named relative to its own folder."""
    digest: str
    """The SHA-256 of its zip, "" if it has none."""


def is_program(bot: BotSpec) -> bool:
    """Return whether a bot is run by the player of the match."""
    return bot.kind in ("exec", "python")


def send_program(
    objects: ObjectStore, cup: str, bot: BotSpec, others: Sequence[BotSpec]
) -> SentProgram:
    """Store the files of a program, except those that belong to other bots.

    Idempotent. Raises UsageError if the program cannot be sent, and StoreAway.
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

    The last call wins. Raises UsageError if a program cannot be sent, and StoreAway.
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
    """Return the name that the sealed secrets of a cup's entrants are bound to."""
    return f"championship.{cup}"


def is_sent(claim: Claim) -> bool:
    """Return whether the bots of a match were sent, so that no rows of the hub describe them."""
    return not all(seat.bot_id for seat in claim.seats)


def guests(resources: Resources, claim: Claim) -> Guests:
    """Return the sent bots of a match.

    Raises StoreAway, and Failure if they are not in the store.
    """
    if not is_sent(claim):
        return Guests()
    cup = cup_of(claim.key)
    data = resources.objects.get(parcel_key(cup))
    if data is None:
        raise Failure("its parcel is not in the store")
    parcel = documents.decode(data, Parcel)
    names = [seat.name for seat in claim.seats]
    problem = problem_here(resources.settings)
    if problem and any(name in parcel.programs for name in names):
        # Another machine may be able to isolate and limit them.
        raise Failure(f"no programs are run here: {problem}")
    secrets = secrets_of(resources.sealer, cup, parcel)
    return Guests(
        {name: placeholder(parcel, name) for name in names},
        {name: secrets[name] for name in names if name in secrets},
        lambda: programs_of(resources.objects, cup, parcel, names),
    )


def placeholder(parcel: Parcel, name: str) -> BotSpec:
    """Return a bot, as absent if it is a program that a player has yet to unpack."""
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
    """Return the result of a match, or None if it is not in the object store; raise StoreAway."""
    data = resources.objects.get(outcome_key(key, attempt))
    return None if data is None else read_outcome(data)


def read_outcome(data: bytes) -> Outcome:
    """Decode the result of a match."""
    return documents.decode(unpacked(data, LONGEST_LINE), Outcome)
