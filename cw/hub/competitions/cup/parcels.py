"""What the entrants of a championship are sent with, from the machine that runs it to the workers.

That is an object with their bots, in which programs are named by their files in their own folders;
a zip of each of those folders; and what came of each match, which goes back.
"""

from __future__ import annotations

import gzip
import io
import os
import shlex
import stat
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from cw import documents
from cw.arena.bots import BotSpec
from cw.arena.sandbox import Sandbox
from cw.arena.sandbox.folders import Entry, contents
from cw.arena.sandbox.owners import make_temporary
from cw.arena.sandbox.removal import remove_later, remove_tree
from cw.arena.sources import program_folder, source_of
from cw.championship.teams import Team, located, within
from cw.errors import Failure, UnfitProgram, UsageError
from cw.hub.bots import packages
from cw.hub.bots.packages import MIB, Bounds
from cw.hub.competitions.cup.keys import cup_of, outcome_key, parcel_key, program_key
from cw.hub.matches.claims import Claim
from cw.hub.matches.kinds import Guests
from cw.hub.operation.resources import Resources
from cw.hub.store.objects import ObjectStore
from cw.hub.store.sealing import Sealed, Sealer
from cw.matches.processes.workers import LONGEST_LINE, MatchFailure
from cw.matches.spec import MatchResult, SandboxPolicy
from cw.replays.document import unpacked

POLICY: Final[SandboxPolicy] = "require"
"""Programs of others run behind bubblewrap, whatever their championship says."""

BOUNDS: Final = Bounds(files=5000, size=64 * MIB)
"""How much the folder of a program may hold."""

PYTHON: Final = "{python}"
"""What stands in a command for the Python that runs this program."""


NOBODY: Final = Guests({}, {})


class Parcel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the entrants of a championship are sent with."""

    bots: dict[str, BotSpec]
    """By name."""
    programs: dict[str, str]
    """By name of each bot that is a program the SHA-256 of its zip; "" where it has no files."""
    key_id: str
    secrets: str
    """The secrets of the bots, sealed under that key, in base64."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of a match: its result, or why it cannot be played."""

    result: MatchResult | None = None
    error: MatchFailure | None = None


class Program(NamedTuple):
    """A program as it is sent."""

    bot: BotSpec
    """Named by its files in its own folder."""
    digest: str
    """The SHA-256 of its zip, "" if it has none."""


def is_program(bot: BotSpec) -> bool:
    """Return whether a bot is run by who plays the match."""
    return bot.kind in ("exec", "python")


def send_program(
    objects: ObjectStore, cup: str, bot: BotSpec, others: Sequence[BotSpec]
) -> Program:
    """Put the files of a program into the store, but for those that belong to others.

    Twice: the same. Raises UsageError for one that cannot be sent, and StoreAway.
    """
    folder = program_folder(bot)
    if folder is None:
        return Program(with_names(bot, None), "")
    data = zipped(bot, folder, others)
    digest = sha256(data).hexdigest()
    objects.put_new(program_key(cup, digest), data)
    return Program(with_names(bot, folder), digest)


def zipped(bot: BotSpec, folder: Path, others: Sequence[BotSpec]) -> bytes:
    """Return a zip of the files of a program: the same files give the same bytes."""
    source = source_of(bot, others)
    try:
        entries = contents(folder, source.only, source.without)
        data = packages.pack(
            {entry.name: read(entry) for entry in entries if not stat.S_ISDIR(entry.mode)}
        )
        packages.files_of(data, BOUNDS)
    except (UnfitProgram, packages.UnfitUpload) as error:
        most = f"at most {BOUNDS.files} files and {BOUNDS.size // MIB} MiB, with plain names"
        raise UsageError(
            f"{bot.name} cannot be sent to workers, which take {most}: {error}"
        ) from None
    return data


def read(entry: Entry) -> bytes:
    """Return a file of a program; raise UnfitProgram for a link, and for what cannot be read."""
    if stat.S_ISLNK(entry.mode):
        raise UnfitProgram(f"{entry.path} is a link: replace it with the file")
    if entry.size > BOUNDS.size:
        raise UnfitProgram(f"{entry.path} is too large")
    try:
        return Path(entry.path).read_bytes()
    except OSError as error:
        raise UnfitProgram(f"{entry.path} cannot be read: {error.strerror}") from None


def with_names(bot: BotSpec, folder: Path | None) -> BotSpec:
    """Return a program whose files are named as they lie in its folder."""
    if bot.kind == "python":
        path, name = bot.python_player
        return with_target(bot, python_target(name_in(path, folder), name))
    return with_target(bot, shlex.join(name_in(part, folder) for part in bot.command))


def name_in(part: str, folder: Path | None) -> str:
    """Return a part of a command as it is sent."""
    if part == sys.executable:
        return PYTHON
    # Unlike Path.is_file it takes a part of any length.
    if folder is None or not os.path.isfile(part):  # noqa: PTH113
        return part
    file = Path(part).resolve()
    return str(file.relative_to(folder)) if file.is_relative_to(folder) else part


def placed(bot: BotSpec, folder: Path) -> BotSpec:
    """Return a program that was sent, with its files in a folder of this machine.

    Raises UsageError for one that names a file elsewhere: it would be given a copy of it.
    """
    if bot.kind == "python":
        path, name = bot.python_player
        return with_target(bot, python_target(within(folder, path), name))
    parts = [sys.executable if part == PYTHON else part for part in bot.command]
    return with_target(bot, located(shlex.join(parts), folder).removeprefix("exec:"))


def python_target(path: str, name: str) -> str:
    """Return `PATH[:NAME]`."""
    return f"{path}:{name}" if name else path


def with_target(bot: BotSpec, target: str) -> BotSpec:
    """Return a bot that is somewhere else."""
    return msgspec.structs.replace(bot, target=target)


def send(resources: Resources, cup: str, teams: Sequence[Team]) -> None:
    """Put what the entrants of a cup are sent with into the store.

    Twice: the later one counts. Raises UsageError for programs that cannot be sent, and StoreAway.
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
    """Return what the secrets of the entrants of a cup are bound to."""
    return f"championship.{cup}"


def is_sent(claim: Claim) -> bool:
    """Return whether those who play a match were sent: no rows of the hub describe them."""
    return not all(seat.bot_id for seat in claim.seats)


@contextmanager
def guests(resources: Resources, claim: Claim) -> Iterator[Guests]:
    """Give the bots of a match that were sent, programs unpacked, until the end of the block.

    Raises StoreAway; UsageError for what cannot be played, and Failure where it cannot be here.
    """
    if not is_sent(claim):
        yield NOBODY
        return
    cup = cup_of(claim.key)
    data = resources.objects.get(parcel_key(cup))
    if data is None:
        raise Failure("its parcel is not in the store")
    parcel = documents.decode(data, Parcel)
    names = [seat.name for seat in claim.seats]
    if any(name in parcel.programs for name in names):
        refuse_without_walls()
    home = make_temporary("parcel")
    try:
        bots = {
            name: bot_in(resources.objects, cup, parcel, name, home / str(number))
            for number, name in enumerate(names)
        }
        secrets = secrets_of(resources.sealer, cup, parcel)
        yield Guests(bots, {name: secrets[name] for name in names if name in secrets})
    finally:
        remove_later(partial(remove_tree, home))


def refuse_without_walls() -> None:
    """Raise Failure where there is no bubblewrap: another machine may have it."""
    try:
        Sandbox(POLICY).problem()
    except UsageError as error:
        raise Failure(str(error)) from None


def bot_in(objects: ObjectStore, cup: str, parcel: Parcel, name: str, folder: Path) -> BotSpec:
    """Return a bot as it is played here; a program is unpacked into a folder."""
    bot, digest = parcel.bots[name], parcel.programs.get(name)
    if digest is None:
        return bot
    folder.mkdir()
    if digest:
        key = program_key(cup, digest)
        data = objects.get(key)
        if data is None or sha256(data).hexdigest() != digest:
            raise Failure(f"{key} in the store is not what was sent")
        packages.unpack(data, folder, BOUNDS)
    return placed(bot, folder)


def secrets_of(sealer: Sealer, cup: str, parcel: Parcel) -> dict[str, dict[str, str]]:
    """Return the secrets of the entrants of a cup by their names."""
    opened = sealer.open(Sealed(parcel.key_id, b64decode(parcel.secrets)), row_of(cup))
    return msgspec.json.decode(opened, type=dict[str, dict[str, str]])


def report(claim: Claim, outcome: MatchResult | MatchFailure) -> tuple[str, bytes] | None:
    """Return what is sent back to who runs the championship: its key, and all that came of it.

    None for a match between bots of the hub.
    """
    if not is_sent(claim):
        return None
    packed = Outcome(outcome) if isinstance(outcome, MatchResult) else Outcome(error=outcome)
    data = gzip.compress(msgspec.json.encode(packed), mtime=0)
    return outcome_key(claim.key, claim.attempt), data


def outcome_of(resources: Resources, key: str, attempt: int) -> Outcome | None:
    """Return what came of a match, None if it is not in the object store; raise StoreAway."""
    data = resources.objects.get(outcome_key(key, attempt))
    return None if data is None else read_outcome(data)


def read_outcome(data: bytes) -> Outcome:
    """Read what came of a match."""
    return documents.decode(unpacked(data, LONGEST_LINE), Outcome)
