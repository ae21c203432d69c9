"""An experiment on disk: a header line that describes it, then one line per finished match.

A line is synced before its match counts: a kill at any time loses only matches in progress.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from cw import documents
from cw.errors import Failure, UsageError, short
from cw.files import make_folder
from cw.games.rules import Json
from cw.line_files import alone, append_line, mend
from cw.matches.run import OnLaunch
from cw.matches.spec import MatchResult, MatchSpec, Secrets
from cw.matches.worker import Job
from cw.matches.workers import Workers, at_once

LONGEST_LINE: Final = 1 << 20
"""Maximum bytes of a line: a match of a thousand bots, with ranks and faults, needs far less."""

LONGEST_DETAIL: Final = 300
"""Maximum characters of a fault to keep."""


class BotFaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot's faults in a match."""

    bot: str
    kinds: dict[str, int]
    """Number of faults by kind."""
    turn: int
    """The turn of the first fault, from 0."""
    detail: str
    """The detail of the first fault."""


class MatchLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finished match."""

    id: str
    seed: int
    bots: tuple[str, ...]
    """The bots' names, in seat order."""
    ranks: tuple[int | None, ...]
    played: str = ""
    """A digest of the start and all actions: matches with the same digest are identical."""
    faults: tuple[BotFaults, ...] = ()


def places(ranks: Sequence[int | None]) -> list[int]:
    """Return the ranks of a match; players without a rank share the last rank."""
    return [len(ranks) + 1 if rank is None else rank for rank in ranks]


def line_of(spec: MatchSpec, result: MatchResult) -> MatchLine:
    """Return the journal line of a match."""
    names = tuple(bot.name for bot in spec.bots)
    faults = (faults_of(result, number, name) for number, name in enumerate(names))
    return MatchLine(
        spec.id, spec.seed, names, result.ranks, digest_of(result), tuple(filter(None, faults))
    )


def digest_of(result: MatchResult) -> str:
    """Return a digest of the start and all actions of a match."""
    actions = [turn["actions"] for turn in result.replay["turns"]]
    played = [result.replay["frame"], actions]
    return sha256(msgspec.json.encode(played)).hexdigest()[:16]


def faults_of(result: MatchResult, number: int, name: str) -> BotFaults | None:
    """Return a bot's faults in a match, or None if it made none."""
    faults = result.faults_of(number)
    if not faults:
        return None
    kinds: Counter[str] = Counter(fault.kind for fault in faults)
    return BotFaults(name, dict(kinds), faults[0].turn, faults[0].detail[:LONGEST_DETAIL])


class Journal:
    """The finished matches of an experiment, by id: stored in a file, or in memory only."""

    def __init__(self, file: Path | None = None, head: Mapping[str, Json] | None = None) -> None:
        """Start without matches; without a file they are not stored.

        `head` is the header to write before the first match, or None if the file has one.
        """
        self.file = file
        self.lines: dict[str, MatchLine] = {}
        self._head = head
        self._adding = threading.Lock()

    def add(self, line: MatchLine) -> None:
        """Record a match; raise Failure if it cannot be written. Thread-safe."""
        with self._adding:
            if self.file is not None:
                if self._head is not None:
                    append_line(self.file, msgspec.json.encode(self._head) + b"\n")
                    self._head = None
                append_line(self.file, msgspec.json.encode(line) + b"\n")
            self.lines[line.id] = line


@contextmanager
def opened(file: Path, head: Mapping[str, Json]) -> Iterator[Journal]:
    """Open an experiment's journal exclusively; the header is written with the first match.

    `head` is the header. An experiment that cannot be played leaves no file. Raises UsageError if
    the file is in use, broken, or of another experiment, and Failure if it cannot be written.
    """
    make_folder(file.parent)
    with alone(file):
        mend(file)
        is_new = file.stat().st_size == 0
        if not is_new:
            check_head(file, head)
        journal = Journal(file, head if is_new else None)
        journal.lines = {line.id: line for line in read_lines(file)}
        try:
            yield journal
        finally:
            if file.stat().st_size == 0:
                file.unlink()


def read_head(file: Path) -> dict[str, Json]:
    """Read a journal's header, or {} if there is none; raise UsageError for another file."""
    try:
        with file.open("rb") as stream:
            first = stream.readline(LONGEST_LINE)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    if not first.endswith(b"\n"):
        return {}
    try:
        return msgspec.json.decode(first, type=dict[str, Json])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise UsageError(
            f"{file} line 1 is not the header of a file of matches: give another file"
        ) from None


def check_head(file: Path, head: Mapping[str, Json]) -> None:
    """Raise UsageError, naming the first difference, if a journal is of another experiment."""
    there = read_head(file)
    for name in dict.fromkeys((*head, *there)):
        if there.get(name) != head.get(name):
            raise UsageError(
                f"{file} belongs to another experiment: its {name} is {short(there.get(name))}, not"
                f" {short(head.get(name))}; use the same, or another file"
            )


def read_lines(file: Path) -> Iterator[MatchLine]:
    """Yield the matches of a journal; raise UsageError for an invalid line.

    An incomplete last line is skipped: another process may still be writing it.
    """
    try:
        with file.open("rb") as stream:
            stream.readline(LONGEST_LINE)
            for number, text in enumerate(iter(lambda: stream.readline(LONGEST_LINE), b""), 2):
                if len(text) < LONGEST_LINE and not text.endswith(b"\n"):
                    return
                yield match_in(file, number, text)
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None


def match_in(file: Path, number: int, text: bytes) -> MatchLine:
    """Return the match in a line; raise UsageError if invalid."""
    try:
        return documents.decode(text, MatchLine)
    except msgspec.DecodeError as error:
        raise UsageError(f"{file} line {number} is not a match: {error}") from None


Save: TypeAlias = Callable[[MatchSpec, MatchResult], None]
"""Stores additional data of a finished match, such as its replay."""


@dataclass(frozen=True, slots=True)
class Players:
    """A pool of processes that play several matches concurrently."""

    jobs: int
    on_launch: OnLaunch
    workers: Workers = field(default_factory=Workers)

    async def play(
        self,
        specs: Iterable[MatchSpec],
        secrets: Secrets,
        journal: Journal,
        save: Save = lambda *_: None,
    ) -> AsyncGenerator[MatchLine, None]:
        """Play the matches that are not in the journal; yield each, in order.

        `save` is called in a thread, before a match is recorded.
        """
        asked: dict[int, MatchSpec] = {}

        def jobs() -> Iterator[Job]:
            for spec in specs:
                if spec.id not in journal.lines:
                    asked[len(asked)] = spec
                    yield Job(spec, {name: dict(values) for name, values in secrets.items()})

        def keep(number: int, result: MatchResult) -> MatchLine:
            save(asked[number], result)
            line = line_of(asked[number], result)
            journal.add(line)
            return line

        finished = at_once(self.workers, jobs(), self.jobs, keep, self.on_launch)
        async with aclosing(finished):
            async for line in finished:
                yield line


@asynccontextmanager
async def players(jobs: int, on_launch: OnLaunch) -> AsyncIterator[Players]:
    """Yield a pool of players; stop all its processes after the block, even when cancelled."""
    playing = Players(jobs, on_launch)
    try:
        yield playing
    finally:
        await playing.workers.close()
