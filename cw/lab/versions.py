"""The bots of a league's folder, and a stored copy of each of their versions.

A version never changes: a file may be edited while an earlier version of it plays.
"""

from __future__ import annotations

import re
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePath
from secrets import token_hex
from typing import Final, TypeAlias

from cw.arena.bot_folders import INTERPRETERS, program, program_in, refuse_links
from cw.arena.bots import BotSpec, fitting
from cw.arena.sandbox.folders import Contents, Entry, contents
from cw.errors import Failure, UsageError
from cw.files import is_link

STORE: Final = ".league"
"""The league's own folder, inside the folder of the bots."""

VERSIONS: Final = "versions"
STORED: Final = re.compile(r"([1-9][0-9]{0,8})-([0-9a-f]{16})")
"""The folder name of a stored version: its number, and a digest of its files."""

MOST_FILES: Final = 2000
LARGEST: Final = 100 * 1024 * 1024
"""Maximum total size of a bot's files, in bytes."""

LONGEST_NAME: Final = 50
"""Maximum characters of a bot's name; its versions append a number."""

Stamp: TypeAlias = tuple[tuple[str, int, int], ...]
"""Name, size and time of each file of a bot; if they are unchanged, so is the bot."""


@dataclass(frozen=True, slots=True)
class Version:
    """A participating version of a bot."""

    bot: BotSpec
    since: str
    """The day on which it was added, as YYYY-MM-DD; "" for a built-in strategy."""

    @property
    def name(self) -> str:
        """The version's name in matches and tables."""
        return self.bot.name


def stamps(folder: Path) -> dict[str, Stamp]:
    """Return the bots of a folder by name, with stamps that reveal changes.

    Bots are programs and folders whose names do not start with a dot or an underscore. Raises
    UsageError if the folder cannot be read.
    """
    return {bot: tuple(chain(*map(stamp_of, own))) for bot, own in places(folder).items()}


def places(folder: Path) -> dict[str, list[Path]]:
    """Return the paths in a folder that are bots, by name."""
    by_name: dict[str, list[Path]] = {}
    try:
        for place in filter(is_bot, sorted(folder.iterdir())):
            by_name.setdefault(name_of(place), []).append(place)
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from None
    return by_name


def is_bot(place: Path) -> bool:
    """Return whether a path in a league's folder is a bot, or a link that stands for one."""
    if place.name[0] in "._":
        return False
    return place.suffix in INTERPRETERS or is_link(place) or place.is_dir()


def name_of(place: Path) -> str:
    """Return the name of a bot from the path of its file or folder."""
    return fitting(place.name)[:LONGEST_NAME]


def stamp_of(place: Path) -> Stamp:
    """Return a stamp that reveals changes of a bot; if it cannot be read, one with the error."""
    try:
        with opened(place) as files:
            return tuple((str(file.path), file.entry.size, file.changed) for file in files)
    except (OSError, UsageError) as error:
        return ((str(error), 0, 0),)


@dataclass(frozen=True, slots=True)
class File:
    """An open file of a bot."""

    path: Path
    entry: Entry
    among: Contents

    @property
    def changed(self) -> int:
        """The modification time, in nanoseconds."""
        return self.among.folder.status(self.entry.name).st_mtime_ns

    def read(self) -> bytes:
        """Return the file's contents; raise UsageError if it cannot be read."""
        return self.among.read(self.entry, LARGEST)


@contextmanager
def opened(place: Path) -> Iterator[list[File]]:
    """Yield the files of a bot in a fixed order, open until the end of the block.

    Links are excluded. Raises UsageError for a bot that is a link, is too large or cannot be read.
    """
    if is_link(place):
        raise UsageError(f"{place} is a link: replace it with a copy")
    folder, only = (place, ()) if place.is_dir() else (place.parent, (place,))
    with contents(folder, only) as everything:
        files = [
            File(folder / entry.name, entry, everything)
            for entry in sorted(everything.entries, key=lambda entry: PurePath(entry.name))
            if stat.S_ISREG(entry.mode)
            and not any(part[0] == "_" for part in PurePath(entry.name).parts[:-1])
        ]
        if len(files) > MOST_FILES or sum(file.entry.size for file in files) > LARGEST:
            raise UsageError(
                f"{place} is too large for a bot: at most {MOST_FILES} files, {LARGEST >> 20} MiB"
            )
        yield files


class Store:
    """The stored versions of a league's bots."""

    def __init__(self, folder: Path, game: str) -> None:
        """Use the store inside a folder of bots."""
        self.folder = folder
        self._game = game
        self._place = folder / STORE / VERSIONS

    def take(self, bot: str) -> None:
        """Store a copy of a bot if it has changed; raise UsageError if it cannot play.

        Raises Failure if the copy cannot be written.
        """
        place = self._place_of(bot)
        stored = self._stored(bot)
        number, latest = stored[-1] if stored else (0, "")
        home = self._place / bot
        partial = home / f".{token_hex(8)}.partial"
        try:
            with opened(place) as files:
                program(self._program(place))
                digest = copied(files, place, partial)
            # Whatever has changed in the meantime, each stored version must have a program.
            self._program(partial / place.name)
            if digest != latest:
                partial.rename(home / f"{number + 1}-{digest}")
        except OSError as error:
            raise Failure(f"{place} cannot be copied to {home}: {error.strerror}") from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _place_of(self, bot: str) -> Path:
        """Return the path of a bot; raise UsageError if it is gone or its name is not unique."""
        own = places(self.folder).get(bot, [])
        if not own:
            raise UsageError(f"it is no longer in {self.folder}")
        if len(own) > 1:
            names = " and ".join(place.name for place in own)
            raise UsageError(f"{names} would have the same name: rename one of them")
        return own[0]

    def versions(self, bot: str) -> list[Version]:
        """Return the versions of a bot that can run here, oldest first."""
        versions = []
        for number, digest in self._stored(bot):
            with suppress(UsageError):
                versions.append(
                    self._version(bot, number, self._place / bot / f"{number}-{digest}")
                )
        return versions

    def _stored(self, bot: str) -> list[tuple[int, str]]:
        """Return the number and digest of each stored version of a bot, oldest first."""
        place = self._place / bot
        names = [entry.name for entry in place.iterdir()] if place.is_dir() else []
        matches = filter(None, map(STORED.fullmatch, names))
        return sorted((int(match[1]), match[2]) for match in matches)

    def _version(self, bot: str, number: int, place: Path) -> Version:
        [inside] = [entry for entry in place.iterdir() if entry.name[0] != "."]
        since = datetime.fromtimestamp(place.stat().st_mtime, UTC).date().isoformat()
        command = shlex.join(program(self._program(inside)))
        return Version(BotSpec(f"{bot}-{number}", "exec", command), since)

    def _program(self, place: Path) -> Path:
        """Return the path of a bot's program; raise UsageError for a link, which is not copied."""
        if place.is_file():
            return place
        try:
            file = program_in(place, self._game)
        except OSError as error:
            raise UsageError(f"{place} cannot be read: {error.strerror}") from None
        refuse_links(place, [file.name])
        return file


def copied(files: Iterable[File], place: Path, folder: Path) -> str:
    """Copy the files of a bot into a new folder; return their digest.

    Raises UsageError if a file cannot be read, and OSError if it cannot be written.
    """
    digest = sha256()
    for file in files:
        data = file.read()
        digest.update(f"{file.path.relative_to(place)}\0{len(data)}\0".encode(errors="replace"))
        digest.update(data)
        copy = folder / file.path.relative_to(place.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
        copy.chmod(file.entry.permissions)
    return digest.hexdigest()[:16]
