"""Uploaded programs: fetched from the object store, and sent to players."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from cw.arena.bots import BotSpec
from cw.errors import Failure
from cw.matches.spec import SandboxPolicy
from cw_hub.bots import builds
from cw_hub.bots.limits import problem_here, problem_of_limits
from cw_hub.bots.seats import PROGRAM, ClaimedSeat, Hosting
from cw_hub.operation.settings import HubSettings
from cw_hub.players import packages
from cw_hub.players.messages import Built, Program
from cw_hub.store.objects import ObjectStore


def sandbox_of(settings: HubSettings, tournament: str) -> SandboxPolicy:
    """Return whether the programs of a tournament must run in bubblewrap; "" means no tournament.

    They always must, except in tournaments named by the settings of this process: no page and no
    row can change that.
    """
    return "auto" if tournament in settings.trusted_tournaments else "require"


def hosting_of_people(settings: HubSettings) -> Hosting:
    """Return how this process runs programs of players."""
    return "off" if why_none(settings) else "sandboxed"


def why_none(settings: HubSettings) -> str:
    """Return why this process runs no programs of players, or "" if it does.

    Pages that offer uploads use `why_off`: with CW_HOSTING=sandboxed other machines run them.
    """
    problem = problem_of_limits(settings)
    return why_off(settings) or (f"{NO_PROGRAMS}: {problem}." if problem else "")


def why_off(settings: HubSettings) -> str:
    """Return why the site runs no programs of players, for people to read, or "" if it does."""
    if settings.hosting == "off":
        return f"{NO_PROGRAMS}."
    problem = "" if settings.hosting else problem_here(settings)
    return f"{NO_PROGRAMS}: {problem}." if problem else ""


def hosting_here(settings: HubSettings, tournament: str, chosen: Hosting) -> Hosting:
    """Return how this process runs the programs of a tournament, given its host's choice.

    "" means no tournament: the programs are those of players.
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
    """Return the placeholder of a program in a specification, until a player has unpacked it.

    If no programs are run here, it stays absent.
    """
    return BotSpec(seat.name, "absent", NO_PROGRAMS if hosting == "off" else NOT_UNPACKED)


def sent(objects: ObjectStore, seats: Iterable[ClaimedSeat], hosting: Hosting) -> Iterator[Program]:
    """Yield the uploaded programs among seats in the form sent to players.

    Raises StoreAway, and Failure if the bytes are not those that were uploaded.
    """
    for seat in uploads(seats) if hosting != "off" else ():
        data = fetched(objects, seat.bot_id, seat.spec.removeprefix(PROGRAM))
        built = builds.find(objects, key_of(seat)) if packages.is_compiled(data) else None
        yield Program(seat.name, data, built)


def store_built(objects: ObjectStore, seats: Iterable[ClaimedSeat], built: Built) -> None:
    """Store the program of one of these seats, as compiled by a player."""
    for seat in uploads(seats):
        if seat.name == built.name:
            builds.store(objects, key_of(seat), built)


def key_of(seat: ClaimedSeat) -> str:
    """Return the key of the upload of a seat."""
    return object_key(seat.bot_id, seat.spec.removeprefix(PROGRAM))


def fetched(objects: ObjectStore, bot_id: str, digest: str) -> bytes:
    """Return a stored upload; raise Failure unless it is intact."""
    data = objects.get(object_key(bot_id, digest))
    if data is None or sha256(data).hexdigest() != digest:
        raise Failure(f"the program of {bot_id} is not in the object store as it was uploaded")
    return data


NO_PROGRAMS: Final = "No uploaded programs are run here"
NOT_UNPACKED: Final = "its program has not been unpacked"


def object_key(bot_id: str, sha256: str) -> str:
    """Return the key of an upload."""
    return f"bots/{bot_id}/{sha256}"
