"""Programs uploaded through forms and the API: read within limits, and stored."""

from __future__ import annotations

from typing import Final

from flask import request

from cw.errors import UsageError
from cw_hub.bots import verbs
from cw_hub.bots.versions import verbs as versions
from cw_hub.bots.versions.verbs import NO_VERSION, Upload
from cw_hub.operation.resources import Resources
from cw_hub.pages.queries import whole_number
from cw_hub.players import packages
from cw_hub.players.packages import LARGEST, NO_FILE, Package
from cw_hub.store.objects import ObjectStore

LONGEST_NOTE: Final = 120
"""Maximum length of a note in characters."""

LONG_NOTE: Final = f"The note must be at most {LONGEST_NOTE} characters long"


def sent(game: str) -> tuple[Package, str]:
    """Return the program and the note of a form; raise UsageError if invalid."""
    file = request.files.get("program")
    if file is None or not file.filename:
        raise UsageError(NO_FILE)
    note = line_of(request.form.get("note", ""))
    return packed(file.filename, file.stream.read(LARGEST + 1), game), note


def packed(name: str, data: bytes, game: str) -> Package:
    """Return an uploaded file as a package; raise UnfitUpload if it is not a program of a game."""
    with packages.empty_folder() as folder:
        return packages.package(name, data, game, folder)


def line_of(text: str) -> str:
    """Return a note as one line; raise UsageError if it is too long."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if len(line) > LONGEST_NOTE:
        raise UsageError(LONG_NOTE)
    return line


def number_sent() -> int:
    """Return the version number in a form; raise UsageError if invalid."""
    number = whole_number(request.form.get("version", ""), least=1)
    if number is None:
        raise UsageError(NO_VERSION)
    return number


def stored(objects: ObjectStore, bot_id: str, package: Package, note: str) -> Upload:
    """Put a program into the object store; return it as an upload of the bot."""
    versions.store(objects, bot_id, package.data, package.sha256)
    names = "\n".join(package.files)
    return Upload(package.sha256, len(package.data), names, package.language, note)


def save(hub: Resources, bot: int, bot_id: str, package: Package, note: str) -> int:
    """Save a version of a person's bot, which waits for its check; return its number.

    Raises WrongStatus and CapacityError as `verbs.save_version` does.
    """
    upload = stored(hub.objects, bot_id, package, note)
    with hub.database.writing() as writing:
        return verbs.save_version(writing, hub.clock, bot, upload)
