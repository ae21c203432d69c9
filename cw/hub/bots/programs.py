"""Programs that people have uploaded: fetched from the object store, and unpacked to be run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from cw.arena.bots import BotSpec
from cw.arena.sandbox import bubblewrap
from cw.arena.sandbox.owners import make_temporary
from cw.arena.sandbox.removal import remove_later, remove_tree
from cw.errors import Failure
from cw.hub.bots import builds, packages
from cw.hub.bots.packages import UnfitUpload
from cw.hub.bots.seats import PROGRAM, ClaimedSeat, Hosting
from cw.hub.operation.settings import HubSettings
from cw.hub.store.objects import ObjectStore
from cw.matches.spec import SandboxPolicy


def sandbox_of(settings: HubSettings, tournament: str) -> SandboxPolicy:
    """Return whether the programs of a tournament run behind bubblewrap; "" stands for no one.

    They always do, but for tournaments that the settings of this process name: no page and no row
    has a say in it.
    """
    return "auto" if tournament in settings.trusted_tournaments else "require"


def hosting_of_people(settings: HubSettings) -> Hosting:
    """Return how this process runs the programs of people."""
    return "off" if why_off(settings) else "sandboxed"


def why_off(settings: HubSettings) -> str:
    """Return why no programs of people are run, for them to read; "" where they are."""
    if settings.hosting == "off":
        return f"{NO_PROGRAMS}."
    problem = None if settings.hosting else bubblewrap.problem()
    return "" if problem is None else f"{NO_PROGRAMS}: {problem}."


def can_run(settings: HubSettings) -> bool:
    """Return whether this process can run programs: in the sandbox, or trusted as they are."""
    return bool(settings.trusted_tournaments) or bubblewrap.problem() is None


@contextmanager
def unpacked(
    objects: ObjectStore, game: str, seats: Iterable[ClaimedSeat], hosting: Hosting
) -> Iterator[Mapping[str, BotSpec]]:
    """Give the programs among the seats of a match by name, each in a folder of its own.

    One that cannot be run here is absent. Raises StoreAway, and Failure for bytes that are not
    those that were uploaded.
    """
    home = make_temporary("upload")
    try:
        yield {
            seat.name: program_of(objects, game, seat, hosting, home / str(number))
            for number, seat in enumerate(seats)
            if seat.spec.startswith(PROGRAM)
        }
    finally:
        remove_later(partial(remove_tree, home))


def program_of(
    objects: ObjectStore, game: str, seat: ClaimedSeat, hosting: Hosting, folder: Path
) -> BotSpec:
    """Return the program of a seat, unpacked into a folder; it plays under the name of the seat."""
    if hosting == "off":
        return BotSpec(seat.name, "absent", NO_PROGRAMS)
    digest = seat.spec.removeprefix(PROGRAM)
    data = fetched(objects, seat.bot_id, digest)
    folder.mkdir()
    try:
        packages.unpack(data, folder)
        program = runnable(objects, object_key(seat.bot_id, digest), folder, game)
    except UnfitUpload as error:
        return BotSpec(seat.name, "absent", str(error))
    return BotSpec(
        seat.name, program.kind, program.target, {**program.settings, "username": seat.name}
    )


def runnable(objects: ObjectStore, key: str, folder: Path, game: str) -> BotSpec:
    """Return the program of an unpacked upload, built if it has to be; raise UnfitUpload."""
    language = packages.compiled_language([file.name for file in folder.iterdir()])
    if language:
        return builds.add_built(objects, key, folder, language)
    return packages.program_in(folder, game)


def fetched(objects: ObjectStore, bot_id: str, digest: str) -> bytes:
    """Return an upload as it is kept; raise Failure unless it is what was uploaded."""
    data = objects.get(object_key(bot_id, digest))
    if data is None or sha256(data).hexdigest() != digest:
        raise Failure(f"the program of {bot_id} is not in the object store as it was uploaded")
    return data


NO_PROGRAMS: Final = "No uploaded programs are run here"


def object_key(bot_id: str, sha256: str) -> str:
    """Return where an upload is kept."""
    return f"bots/{bot_id}/{sha256}"
