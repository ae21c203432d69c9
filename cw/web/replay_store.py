"""The replay store: finds and lists the replays of a folder, and saves new ones within limits."""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from itertools import islice
from math import ceil, inf
from pathlib import Path
from threading import Lock, Thread
from typing import Final, TypeVar

import msgspec

from cw import documents
from cw.drawing import letter_of
from cw.errors import CapacityError, Failure, ProtocolError
from cw.files import write_whole
from cw.games.endings import Endings
from cw.games.registry import game_entries, load_endings
from cw.games.rules import Json, Player
from cw.replays.document import VERSION, Document, encode, unpacked
from cw.replays.ending import Ending, ending_of

MOST_FILES: Final = 5000
"""Maximum number of files in the folder; further replays are rejected."""

MOST_BYTES: Final = 1024 * 1024 * 1024
"""Maximum total size of the folder, in bytes; further replays are rejected."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Saved:
    """A replay in the folder."""

    name: str
    is_new: bool
    """Whether it has been added now."""


class ReplayFolder:
    """A folder that stores replays."""

    def __init__(self, folder: Path) -> None:
        """Save replays into a folder."""
        self._folder = folder
        self._lock = Lock()

    def put(self, document: Document) -> Saved:
        """Save a replay to the folder; a duplicate is stored only once.

        Raises CapacityError if there is no room, and Failure if the folder cannot be written.
        """
        name, packed = name_of_replay(document), encode(document, packed=True)
        try:
            with self._lock:
                return Saved(name, is_new=self._write(self._folder / f"{name}.json.gz", packed))
        except (OSError, Failure) as error:
            # Visitors must not learn the folder's path.
            why = getattr(error.__cause__ or error, "strerror", None)
            raise Failure(f"the server cannot write into its folder: {why}") from None

    def keep(self, document: Document) -> str:
        """Save the replay of a finished match, and return its name.

        A full or unwritable folder does not affect a match: the method logs the reason and returns
        "".
        """
        try:
            return self.put(document).name
        except (CapacityError, Failure) as error:
            logger.warning("a match of %s was not saved: %s", document["game"], error)
            return ""

    def _write(self, file: Path, packed: bytes) -> bool:
        """Write a file unless it exists; return whether it was written."""
        if file.exists():
            return False
        self._make_sure_of_room_for(len(packed))
        write_whole(file, packed)
        return True

    def _make_sure_of_room_for(self, size: int) -> None:
        with os.scandir(self._folder) as files:
            sizes = [file.stat(follow_symlinks=False).st_size for file in files]
        if len(sizes) >= MOST_FILES or sum(sizes) + size > MOST_BYTES:
            raise CapacityError(
                "this server's replay folder is full: its owner must free space first"
            )


def name_of_replay(document: Document) -> str:
    """Return the unique name of a replay."""
    day = date.fromisoformat(document["date"][:10]).isoformat()
    return f"{document['game']}-{day}-{sha256(encode(document, packed=False)).hexdigest()[:16]}"


T = TypeVar("T")

LARGEST_LISTED: Final = 64 * 1024 * 1024
"""Maximum unpacked size, in bytes, of a replay read for the list."""

LARGEST_MEMBER: Final = 1024 * 1024
"""Maximum size of its players, and of its result, in bytes."""

MOST_OBJECTS: Final = 5_000_000
"""Maximum number of objects in it, each of which may be a turn."""

MOST_PLAYERS: Final = 1000
MOST_ROWS: Final = 4
"""Maximum number of players per replay named in the list."""

LONGEST: Final = 64
"""Maximum length of a name, in characters."""


class WirePlayer(msgspec.Struct, frozen=True):
    """The parts of a player shown in the list."""

    player: Player
    name: str


class WireTurn(msgspec.Struct, frozen=True, gc=False):
    """A turn, of which the list only counts the number."""


class ReplayHead(msgspec.Struct, frozen=True):
    """The members of a replay shown in the list; large ones are not parsed."""

    version: int
    date: str
    game: str
    players: msgspec.Raw
    turns: tuple[WireTurn, ...]
    result: msgspec.Raw


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player's row in the list."""

    seat: int
    letter: str
    name: str
    score: str
    """"" if the replay has none."""
    won: bool


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """The information about a replay shown in the list."""

    game: str
    date: str
    turns: int
    ending: Ending

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the bots in seat order."""
        return self.ending.names

    @property
    def rows(self) -> list[PlayerRow]:
        """Return the players, winner first, then by descending score; MOST_ROWS at most."""
        return [self._row(seat) for seat in sorted(range(len(self.names)), key=self._order)][
            :MOST_ROWS
        ]

    def _order(self, seat: int) -> tuple[bool, float, int]:
        score = self.ending.scores[seat]
        return seat != self.ending.winner, inf if score is None else -score, seat

    def _row(self, seat: int) -> PlayerRow:
        score = self.ending.scores[seat]
        return PlayerRow(
            seat=seat,
            letter=letter_of(seat),
            name=self.names[seat],
            score="" if score is None else f"{score:g}",
            won=seat == self.ending.winner,
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is not a replay."""

    reason: str


def read_summary(path: Path) -> ReplaySummary | Unreadable:
    """Read a file's summary."""
    try:
        return summary_of(path.read_bytes())
    except OSError as error:
        return Unreadable(f"it cannot be read: {error.strerror}")
    except ProtocolError as error:
        return Unreadable(str(error))


def summary_of(data: bytes) -> ReplaySummary:
    """Return a replay's summary for the list; raise ProtocolError if the file is not a replay."""
    plain = unpacked(data, LARGEST_LISTED)
    if plain.count(b"{") > MOST_OBJECTS:
        raise ProtocolError(f"it has more than {MOST_OBJECTS} objects")
    head = decoded(plain, ReplayHead)
    if head.version != VERSION:
        raise ProtocolError(f"it is replay version {head.version}, expected {VERSION}")
    players = decoded(small(head.players), tuple[WirePlayer, ...])
    if not 1 <= len(players) <= MOST_PLAYERS:
        raise ProtocolError(f"it must have 1 to {MOST_PLAYERS} players, not {len(players)}")
    seats = [(player.player, player.name[:LONGEST]) for player in players]
    result: Json = decoded(small(head.result), dict)
    game = head.game[:LONGEST]
    words = load_endings(game) if game in game_entries() else Endings()
    ending = ending_of(seats, result, words)
    return ReplaySummary(game, head.date[:LONGEST], len(head.turns), ending)


def small(member: msgspec.Raw) -> bytes:
    """Return a member's raw JSON; raise ProtocolError if it is too large."""
    data = bytes(member)
    if len(data) > LARGEST_MEMBER:
        raise ProtocolError(f"one of its members has more than {LARGEST_MEMBER} bytes")
    return data


def decoded(data: bytes, kind: type[T]) -> T:
    """Decode JSON to a type; raise ProtocolError if it is invalid."""
    try:
        return documents.decode(data, kind)
    except msgspec.DecodeError as error:
        raise ProtocolError(f"it is not a replay: {error}") from None


LONGEST_NAME: Final = 150
NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")
"""Valid names of replays, without characters that have a meaning in URLs or paths."""

ENDINGS: Final = (".json.gz", ".json")
LARGEST_FILE: Final = 64 * 1024 * 1024
"""Maximum size of a file that is shown, in bytes."""

MOST_LISTED: Final = 20_000
"""Maximum number of files listed from a folder."""

PAGE: Final = 24
"""Number of replays per page of the list."""

PATIENCE: Final = 1.5
"""Maximum time that a filter waits for unread files, in seconds."""

FARTHEST: Final = 50
"""Maximum number of files tried to find the next replay, as some may not be replays."""

Summary = ReplaySummary | Unreadable


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A snapshot of a file; its tag changes with the file."""

    name: str
    """Its name in URLs; if it cannot be shown, its file name."""
    path: Path
    tag: str
    changed: int
    problem: str = ""
    """Why it cannot be shown, regardless of its contents; "" if it can."""


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """A file in the list, with its summary."""

    file: StoredFile
    summary: Summary

    @property
    def name(self) -> str:
        """Return the name of the file in URLs."""
        return self.file.name


@dataclass(frozen=True, slots=True)
class ReplayFilter:
    """A filter for the list of replays; "" matches all."""

    game: str = ""
    player: str = ""
    """A part of a bot's name."""

    def fits(self, summary: Summary | None) -> bool:
        """Return whether a file matches; files that are not replays never match."""
        if not isinstance(summary, ReplaySummary):
            return False
        player = self.player.casefold()
        return self.game in ("", summary.game) and any(
            player in name.casefold() for name in summary.names
        )


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """A page of the list, newest files first."""

    entries: list[ReplayEntry]
    number: int
    """The page number, from 1."""
    pages: int
    matching: int
    """The number of files that match the filter."""
    total: int
    unread: int
    """The number of files not yet read for the filter."""


class ReplayStore:
    """Finds replays by name and lists them; a file is read again only if it has changed."""

    def __init__(self, place: Path | None, patience: float = PATIENCE) -> None:
        """Serve the replays of a folder, a single file, or none."""
        # Flask would resolve a relative path against its own modules' folder.
        self._place = None if place is None else place.absolute()
        self._patience = patience
        self._known: dict[tuple[str, str], Summary] = {}
        self._reading = Lock()

    @property
    def is_open(self) -> bool:
        """Return whether a location for replays is configured."""
        return self._place is not None

    def find(self, name: str) -> StoredFile | None:
        """Return the file of a replay, or None if there is none that can be shown."""
        if self._place is None or not self._place.is_dir():
            files: Iterable[StoredFile] = self.files()
        else:
            paths = [self._place / f"{name}{ending}" for ending in reversed(ENDINGS)]
            files = filter(None, map(file_at, paths))
        return next((file for file in files if file.name == name and not file.problem), None)

    def files(self) -> list[StoredFile]:
        """Return the listed files, newest first."""
        if self._place is None:
            return []
        if self._place.is_dir():
            return sorted(files_in(self._place), key=lambda file: (-file.changed, file.name))
        only = stored_file(self._place, name_of(self._place) or "replay")
        return [only] if only else []

    def page(self, number: int, replay_filter: ReplayFilter) -> ReplayPage:
        """Return a page of the list; the nearest one if the number is out of range."""
        files = self.files()
        self._forget_all_but(files)
        matching = files if replay_filter == ReplayFilter() else self._fitting(files, replay_filter)
        pages = max(1, ceil(len(matching) / PAGE))
        number = min(max(1, number), pages)
        page_files = matching[(number - 1) * PAGE : number * PAGE]
        entries = [ReplayEntry(file, self.summary(file)) for file in page_files]
        unread = 0 if matching is files else sum(self._seen(file) is None for file in files)
        return ReplayPage(entries, number, pages, len(matching), len(files), unread)

    def summary(self, file: StoredFile) -> Summary:
        """Return the summary of a file."""
        summary = self._seen(file)
        if summary is None:
            summary = Unreadable(file.problem) if file.problem else read_summary(file.path)
            self._known[file.name, file.tag] = summary
        return summary

    def neighbours(self, name: str) -> tuple[str | None, str | None]:
        """Return the names of the previous and the next replay in the list, each possibly None."""
        files = self.files()
        place = next((number for number, file in enumerate(files) if file.name == name), None)
        if place is None:
            return None, None
        return self._nearest(files[:place][::-1]), self._nearest(files[place + 1 :])

    def _nearest(self, files: Sequence[StoredFile]) -> str | None:
        near = files[:FARTHEST]
        readable = (f.name for f in near if isinstance(self.summary(f), ReplaySummary))
        return next(readable, None)

    def _fitting(self, files: list[StoredFile], replay_filter: ReplayFilter) -> list[StoredFile]:
        if any(self._seen(file) is None for file in files):
            # The thread outlives the request, so the next request finds more files read.
            reader = Thread(target=self._read_all, args=[files], daemon=True)
            reader.start()
            reader.join(self._patience)
        return [file for file in files if replay_filter.fits(self._seen(file))]

    def _read_all(self, files: list[StoredFile]) -> None:
        """Read the unread files, unless another thread is already doing so."""
        if self._reading.acquire(blocking=False):
            try:
                for file in files:
                    self.summary(file)
            finally:
                self._reading.release()

    def _seen(self, file: StoredFile) -> Summary | None:
        return self._known.get((file.name, file.tag))

    def _forget_all_but(self, files: Sequence[StoredFile]) -> None:
        if len(self._known) > 2 * len(files) + PAGE:
            there = {(file.name, file.tag) for file in files}
            self._known = {key: summary for key, summary in [*self._known.items()] if key in there}


def files_in(folder: Path) -> Iterator[StoredFile]:
    """Yield the files of a folder whose names fit a replay, from at most MOST_LISTED files.

    Of two files with the same name in URLs, only the unpacked one is yielded.
    """
    try:
        with os.scandir(folder) as entries:
            names = {entry.name for entry in islice(entries, MOST_LISTED)}
    except OSError:
        return
    for name in names:
        plain = name.removesuffix(".gz")
        if plain == name or plain not in names:
            file = file_at(folder / name)
            if file is not None:
                yield file


def file_at(path: Path) -> StoredFile | None:
    """Return a file of a folder; None if it is hidden or has another extension."""
    if path.name.startswith(".") or not path.name.endswith(ENDINGS):
        return None
    name = name_of(path)
    if not name:
        rule = f"its name may have up to {LONGEST_NAME} letters, digits and . _ - only"
        return stored_file(path, path.name, rule)
    return stored_file(path, name)


def name_of(path: Path) -> str:
    """Return the name under which a file is shown, or "" if its name is invalid."""
    for ending in ENDINGS:
        name = path.name.removesuffix(ending)
        if name != path.name:
            return name if NAME.fullmatch(name) else ""
    return ""


def stored_file(path: Path, name: str, problem: str = "") -> StoredFile | None:
    """Return the file at a path without following links; None if it does not exist."""
    try:
        # Not `stat`, as a link in the folder must not expose files from elsewhere.
        status = path.lstat()
    except OSError:
        return None
    tag = f"{status.st_mtime_ns:x}-{status.st_size:x}"
    return StoredFile(name, path, tag, status.st_mtime_ns, problem or problem_of(status))


def problem_of(status: os.stat_result) -> str:
    """Return why a file is not shown; "" if it can be shown."""
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a file"
    if status.st_size > LARGEST_FILE:
        return f"it has {status.st_size} bytes, more than {LARGEST_FILE}"
    return ""
