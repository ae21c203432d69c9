"""A championship on disk: one line per finished match, and the progress of the running ones.

A line is written and synced before the match counts. A kill at any time tears at most the last
line, which is cut off when the journal is opened again: that match was still in progress.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import msgspec
from filelock import FileLock, Timeout
from msgspec import Meta

from cw import documents
from cw.championship.config import SETTINGS, ChampionshipSettings
from cw.championship.entries import Entry
from cw.errors import ProtocolError, UsageError
from cw.files import make_folder, write_whole
from cw.league.fixtures import Fixture, Result
from cw.line_files import LOCK, alone, append_line, mend

RESULTS: Final = "results.jsonl"
MATCHES: Final = "games"
LIVE: Final = "live"
PROGRESS: Final = "progress.json"
MOST_WARNINGS: Final = 50
LONGEST_WARNING: Final = 1000
"""Maximum characters of a warning."""

SPECTATED: Final = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}/?")


@dataclass(slots=True)
class Journal:
    """The finished matches of a championship."""

    folder: Path
    settings: ChampionshipSettings
    entries: list[Entry] = field(default_factory=list)
    """The entries, in the order in which their matches ended."""
    results: dict[Fixture, Result] = field(default_factory=dict)
    """The result of each match."""

    def take(self, entry: Entry) -> None:
        """Add an entry; raise ProtocolError for an unknown team or a match that has an entry."""
        for team in entry.players:
            if team not in self.settings.teams:
                raise ProtocolError(f"{team!r} is not a team of this championship")
        if entry.fixture in self.results:
            raise ProtocolError(f"the match {stem_of(entry.fixture)} is already recorded")
        self.entries.append(entry)
        self.results[entry.fixture] = self.settings.lines().result(entry)

    def add(self, entry: Entry) -> None:
        """Write a match to disk; if that fails, restore the file and raise Failure."""
        data = json.dumps(self.settings.lines().write(entry)).encode() + b"\n"
        file = self.folder / RESULTS
        # A match counts once its line would survive a power failure; only then may the next round
        # depend on it.
        append_line(file, data)
        self.take(entry)


@contextmanager
def opened(folder: Path, settings: ChampionshipSettings) -> Iterator[Journal]:
    """Open the journal of a folder exclusively; raise UsageError if it is in use or broken."""
    make_folder(folder / MATCHES)
    with alone(folder):
        mend(folder / RESULTS)
        yield journal_of(folder, settings)


def is_run(folder: Path) -> bool:
    """Return whether a process has the journal of a folder open."""
    if not (folder / LOCK).exists():
        return False
    try:
        with FileLock(folder / LOCK, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def journal_of(folder: Path, settings: ChampionshipSettings) -> Journal:
    """Read a folder's journal, which another process may be writing; change nothing.

    Raises UsageError that names an invalid line.
    """
    file = folder / RESULTS
    data = file.read_bytes() if file.exists() else b""
    journal, lines = Journal(folder, settings), settings.lines()
    for number, text in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            journal.take(lines.read(text))
        except ProtocolError as error:
            raise UsageError(f"{file} line {number}: {error}") from None
    check_fixtures(journal)
    return journal


def check_fixtures(journal: Journal) -> None:
    """Raise UsageError for a match that does not belong to the championship: it would not count."""
    # The contest is a function of its results, so computing it again detects an edited journal.
    fixtures = set(chain.from_iterable(journal.settings.contest().rounds(journal.results)))
    for number, entry in enumerate(journal.entries, start=1):
        if entry.fixture not in fixtures:
            raise UsageError(
                f"{journal.folder / RESULTS} line {number}: {stem_of(entry.fixture)} is not a match"
                f" of this championship (see {SETTINGS})"
            )


@dataclass(frozen=True, slots=True)
class Progress:
    """The current state of a championship, for spectators."""

    done: int = 0
    """Number of finished matches."""
    running: Mapping[Fixture, str | None] = field(default_factory=dict)
    """The matches in progress, each with the URL where it can be watched, or None."""
    waiting: int = 0
    """Number of matches that could be played now but are not in progress."""
    failed: Mapping[Fixture, str] = field(default_factory=dict)
    """The matches that could not be played, with the reasons; they have no results."""
    expected: int = 0
    """Total number of matches, as far as known."""
    seconds_left: float | None = None
    """Estimated seconds until all matches are over; None if unknown."""
    warnings: Sequence[str] = ()
    """Warnings from the processes that play the matches."""

    def save(self, folder: Path) -> None:
        """Write the progress to disk; raise Failure if that fails."""
        document = {
            "running": [asdict(match) | {"watch": url} for match, url in self.running.items()],
            "failed": [asdict(match) | {"why": why} for match, why in self.failed.items()],
            "seconds_left": self.seconds_left,
            "warnings": list(self.warnings),
        }
        write_whole(folder / PROGRESS, json.dumps(document).encode())


def load_progress(folder: Path) -> Progress:
    """Read the progress; return an empty one if there is no valid file."""
    try:
        document = documents.decode((folder / PROGRESS).read_bytes(), ProgressDocument)
    except (OSError, msgspec.DecodeError):
        return Progress()
    return Progress(
        running={match.fixture: on_this_machine(match.watch) for match in document.running},
        failed={match.fixture: match.why for match in document.failed},
        seconds_left=document.seconds_left,
        warnings=document.warnings[:MOST_WARNINGS],
    )


def shortened(warning: str) -> str:
    """Return a warning, shortened in the middle if it is too long."""
    if len(warning) <= LONGEST_WARNING:
        return warning
    half = LONGEST_WARNING // 2 - 3
    return f"{warning[:half]} ... {warning[-half:]}"


def on_this_machine(address: str | None) -> str | None:
    """Return the URL of a server on this host; None for any other URL."""
    # Any process could have written the file; a link to another site must not reach the page.
    return address if address and SPECTATED.fullmatch(address) else None


class NotedMatch(msgspec.Struct, frozen=True):
    """A match in progress, or one that could not be played."""

    stage: str
    group: str | None
    round: int
    players: tuple[str, ...]
    tie_break: int
    watch: str | None = None
    why: str = ""

    @property
    def fixture(self) -> Fixture:
        """The fixture of the match."""
        return Fixture(self.stage, self.group, self.round, self.players, self.tie_break)


class ProgressDocument(msgspec.Struct, frozen=True):
    """The contents of the progress file."""

    running: tuple[NotedMatch, ...]
    failed: tuple[NotedMatch, ...]
    seconds_left: float | None = None
    warnings: tuple[Annotated[str, Meta(max_length=LONGEST_WARNING)], ...] = ()


def stem_of(fixture: Fixture) -> str:
    """Return the file name of a match, without its extension.

    If there are more than two players, only the first is named, as it has no other match in that
    round.
    """
    first, *others = fixture.players
    names = [first, *others] if len(others) == 1 else [first, f"and-{len(others)}-others"]
    parts = [fixture.stage, fixture.group, f"round-{fixture.round}", *names]
    parts += [f"tie-break-{fixture.tie_break}"] if fixture.tie_break else []
    return "_".join(plain(part) for part in parts if part)


def live_file(folder: Path, stem: str) -> Path:
    """Return the file to which a match is written while it is being played."""
    return folder / LIVE / f"{stem}.jsonl"


def plain(part: str) -> str:
    """Return text with only the characters that are safe in a file name."""
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in part)
