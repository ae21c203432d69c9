"""The bots of a folder, and a copy of each of their versions.

What a version is does not change any more: a file may be edited while its earlier version plays.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeAlias

from cw.arena.bot_folders import program_in
from cw.arena.bot_names import fitting
from cw.arena.bots import INTERPRETERS, BotSpec, program
from cw.errors import Failure, UsageError

STORE: Final = ".league"
"""The folder, in that of the bots, of all that a league keeps."""

VERSIONS: Final = "versions"
STORED: Final = re.compile(r"([1-9][0-9]{0,8})-([0-9a-f]{16})")
"""The name of a version in the store: its number, and a digest of its files."""

MOST_FILES: Final = 2000
LARGEST: Final = 100 * 1024 * 1024
"""Bytes of the files of a bot."""

LONGEST_NAME: Final = 50
"""Characters of the name of a bot: its versions have a number behind it."""

Stamp: TypeAlias = tuple[tuple[str, int, int], ...]
"""Name, size and time of each file of a bot: while they are the same, so is the bot."""


@dataclass(frozen=True, slots=True)
class Version:
    """A bot that takes part, as it is from a day on."""

    bot: BotSpec
    since: str
    """The day on which it came, as YYYY-MM-DD; "" for a built-in strategy."""

    @property
    def name(self) -> str:
        """Its name in matches and tables."""
        return self.bot.name


def stamps(folder: Path) -> dict[str, Stamp]:
    """Return the bots of a folder by their names, with what shows that one has changed.

    Bots are programs and folders; what begins with a dot or an underscore is none. Raises
    UsageError for two of one name, for too many files, and for a folder that cannot be read.
    """
    by_name: dict[str, Stamp] = {}
    try:
        for place in filter(is_bot, sorted(folder.iterdir())):
            if name_of(place) in by_name:
                raise UsageError(f"{folder} has two bots {name_of(place)}: rename one of them")
            # What an editor has just put aside is not there.
            with suppress(FileNotFoundError):
                by_name[name_of(place)] = stamp_of(place)
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from None
    return by_name


def is_bot(place: Path) -> bool:
    """Return whether what stands in the folder of a league is a bot."""
    return place.name[0] not in "._" and (place.is_dir() or place.suffix in INTERPRETERS)


def name_of(place: Path) -> str:
    """Return the name of the bot of a file or folder."""
    return fitting(place.name)[:LONGEST_NAME]


def stamp_of(place: Path) -> Stamp:
    """Return what shows that a bot has changed."""
    stats = [(file, file.stat()) for file in files_of(place)]
    if len(stats) > MOST_FILES or sum(stat.st_size for _, stat in stats) > LARGEST:
        raise UsageError(
            f"{place} is too large for a bot: at most {MOST_FILES} files, {LARGEST >> 20} MiB"
        )
    return tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in stats)


def files_of(place: Path) -> Iterator[Path]:
    """Yield the files of a bot, in a fixed order; links are none of them."""
    if place.is_file():
        yield place
        return
    for file in sorted(place.rglob("*")):
        hidden = any(part[0] in "._" for part in file.relative_to(place).parts[:-1])
        if file.is_file() and not file.is_symlink() and not hidden and file.name[0] != ".":
            yield file


class Store:
    """The versions of the bots of a league."""

    def __init__(self, folder: Path, game: str) -> None:
        """Look after the bots of a folder."""
        self.folder = folder
        self._game = game
        self._place = folder / STORE / VERSIONS

    def take(self, bot: str) -> None:
        """Copy a bot if it is not the latest version; raise UsageError for one that cannot play.

        Raises Failure if the copy cannot be written.
        """
        place = next(place for place in self.folder.iterdir() if name_of(place) == bot)
        program(self._program(place))
        stored = self._stored(bot)
        number, latest = stored[-1] if stored else (0, "")
        home = self._place / bot
        partial = home / f".{token_hex(8)}.partial"
        try:
            copy = copied(place, partial)
            digest = digest_of(copy)
            if digest != latest:
                partial.rename(home / f"{number + 1}-{digest}")
        except OSError as error:
            raise Failure(f"{place} cannot be copied to {home}: {error.strerror}") from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def versions(self, bot: str) -> list[Version]:
        """Return the versions of a bot, the first one first."""
        return [
            self._version(bot, number, self._place / bot / f"{number}-{digest}")
            for number, digest in self._stored(bot)
        ]

    def _stored(self, bot: str) -> list[tuple[int, str]]:
        """Return number and digest of each version of a bot."""
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
        return place if place.is_file() else program_in(place, self._game)


def digest_of(place: Path) -> str:
    """Return a digest of the files of a bot."""
    digest = sha256()
    for file in files_of(place):
        data = file.read_bytes()
        digest.update(f"{file.relative_to(place)}\0{len(data)}\0".encode(errors="replace"))
        digest.update(data)
    return digest.hexdigest()[:16]


def copied(place: Path, folder: Path) -> Path:
    """Copy a bot into a new folder; return where it is there."""
    for file in files_of(place):
        copy = folder / place.name / file.relative_to(place)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)
    return folder / place.name
