"""The bot being written: its game, language and folder, and how to run it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec.structs import replace

from cw.arena.bots import BotSpec, read_bot
from cw.errors import Failure, UsageError, choices, short
from cw.files import write_whole
from cw.games.registry import load_game, load_strategies
from cw.kits import BUILT, LANGUAGES, Language, kits_of, new_bot
from cw.matches.from_replay import Position
from cw.matches.spec import USUAL_PATIENCE, Isolation, MatchSpec

NAME: Final = re.compile(
    r"""(?!\.)                                                   # hidden files are no bot's
        (?!(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])[ ]*(?:\.|\Z))  # devices of Windows
        [^/\\:*?"<>|\x00-\x1f\x7f]{1,100}
        (?<![. ])""",
    re.IGNORECASE | re.VERBOSE,
)
"""A file name that is portable: on some systems, `C:x` and `nul.py` mean something else."""

LARGEST_FILE: Final = 512 * 1024
"""Maximum size of an edited file, in bytes."""

MOST_FILES: Final = 100
NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
BINARY: Final = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file as stored on disk."""

    name: str
    text: str
    digest: str
    """The SHA-256 digest of its bytes, in hexadecimal."""
    returns: bool = False
    """Whether its lines end in CR LF; `text` always uses LF."""


def digest_of(files: Sequence[TextFile]) -> str:
    """Return a digest that changes whenever one of the files changes."""
    return sha256("".join(f"{file.name}\0{file.digest}\0" for file in files).encode()).hexdigest()


class ChangedMeanwhile(UsageError):
    """The file was changed by another program after it had been read."""

    def __init__(
        self, now: TextFile | None, why: str = "another program has changed this file"
    ) -> None:
        """Store the current file, or None if it was deleted."""
        super().__init__(why)
        self.now = now


class BotFolder:
    """The folder of a bot."""

    def __init__(self, place: Path) -> None:
        """Use an existing folder."""
        self.place = place.resolve()
        self._lock = Lock()

    def files(self) -> list[TextFile]:
        """Return the editable files, sorted by name, without links, folders and binaries."""
        read = (self._read_if_text(name) for name in self.names())
        return [file for file in read if file is not None]

    def names(self) -> list[str]:
        """Return the names of files, at most MOST_FILES, without links and build products."""
        return sorted(self._names())[:MOST_FILES]

    def _names(self) -> Iterator[str]:
        try:
            with os.scandir(self.place) as entries:
                for entry in entries:
                    is_ours = NAME.fullmatch(entry.name) and entry.name not in BUILT
                    if is_ours and entry.is_file(follow_symlinks=False):
                        yield entry.name
        except OSError as error:
            raise Failure(f"{self.place} cannot be read: {error.strerror}") from None

    def _read_if_text(self, name: str) -> TextFile | None:
        try:
            return self.read(name)
        except UsageError:
            return None

    def read(self, name: str) -> TextFile:
        """Return a file; raise UsageError if it is missing or cannot be edited."""
        data = self._bytes(name)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise UsageError(f"{name} is not UTF-8 text: edit it elsewhere") from None
        returns = "\r\n" in text
        text = text.replace("\r\n", "\n") if returns else text
        return TextFile(name, text, sha256(data).hexdigest(), returns)

    def _bytes(self, name: str) -> bytes:
        try:
            handle = os.open(self.path(name), os.O_RDONLY | NO_LINK | BINARY)
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UsageError(f"{name} is not a plain file")
        with os.fdopen(handle, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise UsageError(f"{name} has more than {LARGEST_FILE} bytes: edit it elsewhere")
        return data

    def save(self, name: str, text: str, base: str) -> TextFile:
        """Write a file whose content had the digest `base`, "" for a new one; return its new state.

        Raises ChangedMeanwhile if its content has changed, UsageError if it is not a file of the
        folder or is too large, and Failure if it cannot be written.
        """
        with self._lock:
            now = self._now(name)
            if (now.digest if now else "") != base:
                raise ChangedMeanwhile(now)
            data = self._encoded(text, now)
            self._write(name, data)
        return TextFile(name, text, sha256(data).hexdigest(), bool(now and now.returns))

    def _encoded(self, text: str, now: TextFile | None) -> bytes:
        try:
            data = (text.replace("\n", "\r\n") if now and now.returns else text).encode()
        except UnicodeEncodeError:
            raise UsageError("this is not UTF-8 text") from None
        if len(data) > LARGEST_FILE:
            raise UsageError(f"a file may have at most {LARGEST_FILE} bytes")
        return data

    def _now(self, name: str) -> TextFile | None:
        """Return a file, or None if missing; raise UsageError if it is not an editable file."""
        return self.read(name) if os.path.lexists(self.path(name)) else None

    def _write(self, name: str, data: bytes) -> None:
        path = self.path(name)
        mode = stat.S_IMODE(path.lstat().st_mode) if path.exists() else None
        write_whole(path, data)
        if mode is not None:
            # The file has been replaced by a new one, so restore its mode: a script stays
            # executable.
            path.chmod(mode)

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder; raise UsageError if the name is invalid."""
        if not NAME.fullmatch(name):
            raise UsageError(f"{short(name)} is not a valid file name")
        return self.place / name


MINE: Final = "mine"
"""The bot's name in matches."""

USUAL: Final = "python"

MAIN: Final[Mapping[str, str]] = {
    "python": "bot.py",
    "javascript": "bot.js",
    "php": "bot.php",
    "ruby": "bot.rb",
    "go": "bot.go",
    "java": "Bot.java",
    "c": "bot.c",
    "cpp": "bot.cpp",
}
"""The main file of each language's kits."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The text files of a bot: the main file, other files of the language, all others."""

    language: str
    files: Sequence[TextFile]

    @property
    def main(self) -> str:
        """The name of the main file."""
        return MAIN[self.language]

    @property
    def main_text(self) -> str:
        """The text of the main file, or "" if the bot has none."""
        return next((file.text for file in self.files if file.name == self.main), "")


def sources_of(language: str, files: Iterable[TextFile]) -> Sources:
    """Return the files of a bot in this language, in their order."""
    main = MAIN[language]
    ending = Path(main).suffix
    order = sorted(
        files, key=lambda file: (file.name != main, not file.name.endswith(ending), file.name)
    )
    return Sources(language, order)


LEAST_PLAYERS: Final = 2


@dataclass(frozen=True, slots=True)
class Project:
    """A bot in a folder."""

    game: str
    language: str
    folder: BotFolder
    isolation: Isolation
    others: Mapping[str, BotSpec] = field(default_factory=dict)
    """Opponents in addition to the built-in strategies, by name."""

    @property
    def how(self) -> Language:
        """How to build and run bots of its language."""
        return LANGUAGES[self.language]

    def sources(self) -> Sources:
        """Return the files that can be edited."""
        return sources_of(self.language, self.folder.files())

    def bot(self, place: Path | None = None) -> BotSpec:
        """Return the bot, run from `place`, a copy of its folder, or by default from the folder.

        Raises UsageError if its runtime is not installed.
        """
        there = place or self.folder.place
        spec = f"exec:{self.how.run}" if self.how.build else MAIN[self.language]
        return read_bot(MINE, spec, {}, there)

    def match(
        self,
        opponent: str,
        seat: int,
        seed: int,
        *,
        place: Path | None = None,
        position: Position | None = None,
    ) -> MatchSpec:
        """Return a match with the bot in a seat, from 1, and the opponent in all others.

        It starts from `position`, if given. Raises UsageError for an unknown opponent, for a seat
        that the match does not have, and for a position of another game.
        """
        if position is not None and position.game != self.game:
            raise UsageError(f"this is a replay of {position.game}; the bot plays {self.game}")
        seats = seats_of(self.game) if position is None else len(position.players)
        refuse_opponent(self.game, opponent, self.others)
        refuse_seat(seat, seats)
        other = self.others.get(opponent, BotSpec(opponent, "builtin", opponent))
        names = [opponent, *(f"{opponent}{number}" for number in range(2, seats))]
        bots = [replace(other, name=name) for name in names[: seats - 1]]
        bots.insert(seat - 1, self.bot(place))
        spec = MatchSpec(
            "workshop",
            self.game,
            tuple(bots),
            seed,
            isolation=self.isolation,
            patience=USUAL_PATIENCE,
        )
        return spec if position is None else position.begin(spec)


def seats_of(game: str) -> int:
    """Return the number of players in a match of a game."""
    return max(LEAST_PLAYERS, load_game(game).rules.seats.start)


def refuse_opponent(game: str, opponent: str, others: Collection[str] = ()) -> None:
    """Raise UsageError unless an opponent is a built-in strategy of the game or one of `others`."""
    names = [*load_strategies(game), *others]
    if opponent not in names:
        raise UsageError(f"{game}: {choices(opponent, names)}")


def refuse_seat(seat: int, seats: int) -> None:
    """Raise UsageError unless the match has this seat, counted from 1."""
    if not 1 <= seat <= seats:
        raise UsageError(f"the seat must be from 1 to {seats}, not {seat}")


def open_project(
    game: str, place: Path, language: str | None = None, isolation: Isolation | None = None
) -> Project:
    """Return the bot in a folder; a new or empty folder is filled with a kit.

    The language is the given one, or that of the files in the folder. Raises UsageError for an
    unknown game or language, for a folder without a bot, and if the language is ambiguous.
    """
    load_game(game)
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        new_bot(game, language or USUAL, place)
    if not place.is_dir():
        raise UsageError(f"{place} is not a folder: give the folder of the bot")
    choice = language or language_in(place)
    if choice not in LANGUAGES or not (place / MAIN[choice]).is_file():
        offered = choices(choice, LANGUAGES if choice not in LANGUAGES else kits_of(game))
        named = f"no {MAIN[choice]}" if choice in LANGUAGES else f"no bot in {choice}"
        raise UsageError(
            f"{place} contains {named}: give an empty folder for a starter bot; languages: "
            f"{offered}"
        )
    return Project(game, choice, BotFolder(place), isolation or Isolation())


def language_in(place: Path) -> str:
    """Return the language of the bot in a folder; raise UsageError if there is none, or several."""
    there = [name for name, main in MAIN.items() if (place / main).is_file()]
    if not there:
        mains = ", ".join(MAIN.values())
        raise UsageError(f"{place} is not empty, but has no bot: expected one of {mains}")
    if len(there) > 1:
        raise UsageError(
            f"{place} contains several bots: choose one with --language {'|'.join(there)}"
        )
    return there[0]
