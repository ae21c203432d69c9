"""Programs that people have uploaded: fetched from the object store, and sent to players."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from cw.arena.bots import BotSpec
from cw.errors import Failure
from cw.hub.bots import builds
from cw.hub.bots.limits import problem_here, problem_of_limits
from cw.hub.bots.seats import PROGRAM, ClaimedSeat, Hosting
from cw.hub.operation.settings import HubSettings
from cw.hub.players import packages
from cw.hub.players.messages import Built, Program
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
    return "off" if why_none(settings) else "sandboxed"


def why_none(settings: HubSettings) -> str:
    """Return why this process runs no programs of people; "" where it does.

    Pages that offer uploads ask `why_off`: with CW_HOSTING=sandboxed other machines run them.
    """
    problem = problem_of_limits(settings)
    return why_off(settings) or (f"{NO_PROGRAMS}: {problem}." if problem else "")


def why_off(settings: HubSettings) -> str:
    """Return why no programs of people are run, for them to read; "" where they are."""
    if settings.hosting == "off":
        return f"{NO_PROGRAMS}."
    problem = "" if settings.hosting else problem_here(settings)
    return f"{NO_PROGRAMS}: {problem}." if problem else ""


def hosting_here(settings: HubSettings, tournament: str, chosen: Hosting) -> Hosting:
    """Return how this process runs the programs of a tournament, for which its host has chosen.

    "" stands for no tournament: they are those of players.
    """
    if not tournament:
        return hosting_of_people(settings)
    is_trusted = tournament in settings.trusted_tournaments
    return chosen if is_trusted or not problem_of_limits(settings) else "off"


def can_run(settings: HubSettings) -> bool:
    """Return whether this process can run programs: in the sandbox, or trusted as they are."""
    return bool(settings.trusted_tournaments) or not problem_here(settings)


def uploads(seats: Iterable[ClaimedSeat]) -> list[ClaimedSeat]:
    """Return the seats in which uploaded programs play."""
    return [seat for seat in seats if seat.spec.startswith(PROGRAM)]


def placeholder(seat: ClaimedSeat, hosting: Hosting) -> BotSpec:
    """Return what stands for a program in a specification until a player has unpacked it.

    It is absent for good if no programs are run here.
    """
    return BotSpec(seat.name, "absent", NO_PROGRAMS if hosting == "off" else NOT_UNPACKED)


def sent(objects: ObjectStore, seats: Iterable[ClaimedSeat], hosting: Hosting) -> Iterator[Program]:
    """Yield the uploaded programs among seats as players are sent them.

    Raises StoreAway, and Failure for bytes that are not those that were uploaded.
    """
    for seat in uploads(seats) if hosting != "off" else ():
        data = fetched(objects, seat.bot_id, seat.spec.removeprefix(PROGRAM))
        built = builds.find(objects, key_of(seat)) if packages.is_compiled(data) else None
        yield Program(seat.name, data, built)


def store_built(objects: ObjectStore, seats: Iterable[ClaimedSeat], built: Built) -> None:
    """Store a program of one of these seats that a player has compiled."""
    for seat in uploads(seats):
        if seat.name == built.name:
            builds.store(objects, key_of(seat), built)


def key_of(seat: ClaimedSeat) -> str:
    """Return where the upload of a seat is kept."""
    return object_key(seat.bot_id, seat.spec.removeprefix(PROGRAM))


def fetched(objects: ObjectStore, bot_id: str, digest: str) -> bytes:
    """Return an upload as it is kept; raise Failure unless it is what was uploaded."""
    data = objects.get(object_key(bot_id, digest))
    if data is None or sha256(data).hexdigest() != digest:
        raise Failure(f"the program of {bot_id} is not in the object store as it was uploaded")
    return data


NO_PROGRAMS: Final = "No uploaded programs are run here"
NOT_UNPACKED: Final = "its program has not been unpacked"


def object_key(bot_id: str, sha256: str) -> str:
    """Return where an upload is kept."""
    return f"bots/{bot_id}/{sha256}"
