"""The shelf: the replays that a server shows, from a folder or one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from cw.errors import ProtocolError
from cw.replays.document import VERSION, unpacked

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")
"""What a replay may be called: nothing that means something in an address or a path."""

ENDINGS: Final = (".json.gz", ".json")
LARGEST_FILE: Final = 64 * 1024 * 1024
"""Bytes of a file that is shown."""

MOST_FILES: Final = 1000
"""Files of a folder that are looked into, the latest."""


class ListedPlayer(msgspec.Struct):
    """Who played, as far as the list shows it."""

    name: str


class ReplayHead(msgspec.Struct):
    """What the list shows of a replay; the rest is skipped."""

    version: int
    date: str
    game: str
    players: list[ListedPlayer]
    turns: list[msgspec.Raw]
    result: dict[str, Any]

    @property
    def reason(self) -> str:
        """Return the name of why the match ended, "" if it did not."""
        outcome = self.result.get("outcome")
        said = outcome if isinstance(outcome, dict) else {}
        return str(said.get("reason") or said.get("condition") or "")


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """A replay of the list."""

    name: str
    head: ReplayHead


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it stands: when it changes, so does its tag."""

    path: Path
    tag: str
    changed: int


class ReplayStore:
    """Finds replays by name; looks into a file once as long as it does not change."""

    def __init__(self, place: Path | None) -> None:
        """Take a folder, one file, or nothing."""
        # Flask would look for a relative one beside its own modules.
        self._place = None if place is None else place.absolute()
        self._heads: dict[tuple[str, str], ReplayHead | None] = {}

    @property
    def is_open(self) -> bool:
        """Return whether there is a place for replays."""
        return self._place is not None

    def find(self, name: str) -> StoredFile | None:
        """Return the file of a replay, None if there is none of that name."""
        return next((stand for known, stand in self._stands() if known == name), None)

    def entries(self) -> tuple[list[ReplayEntry], int]:
        """Return the replays, the latest first, and how many files are none."""
        stands = sorted(self._stands(), key=lambda pair: pair[1].changed, reverse=True)
        # Another thread may put its own mapping there meanwhile, of other files.
        known = self._heads
        heads = {
            (name, stand.tag): known[name, stand.tag]
            if (name, stand.tag) in known
            else read_head(stand.path)
            for name, stand in stands[:MOST_FILES]
        }
        self._heads = heads
        entries = [ReplayEntry(name, head) for (name, _), head in heads.items() if head is not None]
        return entries, len(heads) - len(entries)

    def neighbours(self, name: str) -> tuple[str | None, str | None]:
        """Return the names of the replays before and after one in the list, None for none."""
        names = [entry.name for entry in self.entries()[0]]
        if name not in names:
            return None, None
        around = [None, *names, None]
        place = names.index(name)
        return around[place], around[place + 2]

    def _stands(self) -> Iterator[tuple[str, StoredFile]]:
        for path in self._files():
            name = name_of(path) or ("replay" if path == self._place else "")
            stand = stored_file(path)
            if name and stand is not None:
                yield name, stand

    def _files(self) -> list[Path]:
        if self._place is None:
            return []
        if self._place.is_file():
            return [self._place]
        try:
            return sorted(self._place.iterdir())
        except OSError:
            return []


def name_of(path: Path) -> str:
    """Return the name under which a file is shown, "" if it is not."""
    for ending in ENDINGS:
        name = path.name.removesuffix(ending)
        if name != path.name:
            return name if NAME.fullmatch(name) else ""
    return ""


def stored_file(path: Path) -> StoredFile | None:
    """Look at a file; None for what is none, is a link, or is too large."""
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return None
    if path.is_symlink() or not path.is_file() or found.st_size > LARGEST_FILE:
        return None
    return StoredFile(path, f"{found.st_mtime_ns:x}-{found.st_size:x}", found.st_mtime_ns)


def read_head(path: Path) -> ReplayHead | None:
    """Read what the list shows of a file; None if it holds no replay."""
    try:
        head = msgspec.json.decode(unpacked(path.read_bytes()), type=ReplayHead)
    except (OSError, ProtocolError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return head if head.version == VERSION else None
