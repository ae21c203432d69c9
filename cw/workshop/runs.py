"""What a workshop runs: builds, queries to a bot, series of matches, and `cw check`."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any, Final, Protocol

import msgspec

from cw import documents
from cw.arena.bots import BotSpec
from cw.arena.launch import anchored, source_of
from cw.arena.processes import KILL, OWN_GROUP, kill_group
from cw.arena.sandbox.cgroups import make_temporary
from cw.arena.sandbox.folders import contents
from cw.arena.seats.wrappers import Exchange
from cw.errors import Failure
from cw.games.rules import Json
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.verdict import Part, Tally, part_of, verdict
from cw.matches.worker import Job
from cw.matches.workers import Workers, at_once, series
from cw.replays.document import encode
from cw.workshop.project import MINE, Project, digest_of, seats_of

LARGEST: Final = 32 * 1024 * 1024
"""Maximum characters of questions stored per match; later exchanges are stored without theirs."""

MOST_EXCHANGES: Final = 100_000

MOST_WRITTEN: Final = 64 * 1024
"""Maximum characters of output shown during a match; afterwards, its record has more."""


class Exchanges:
    """The exchanges with a bot in one match, running or finished."""

    def __init__(self) -> None:
        """Start without exchanges."""
        self._by_turn: dict[int, list[Exchange]] = {}
        self._number = 0
        self._size = 0
        self._written: list[tuple[int, str]] = []
        self._room = MOST_WRITTEN

    def add(self, exchange: Exchange) -> None:
        """Add an exchange."""
        if self._number >= MOST_EXCHANGES:
            return
        self._number += 1
        self._size += len(exchange.question)
        if self._size > LARGEST:
            exchange = replace(exchange, question="")
        self._write(exchange.turn, exchange.written[: self._room])
        self._by_turn.setdefault(exchange.turn, []).append(replace(exchange, written=""))

    def _write(self, turn: int, text: str) -> None:
        if not text:
            return
        self._room -= len(text)
        if self._written and self._written[-1][0] == turn:
            text = self._written.pop()[1] + text
        self._written.append((turn, text))

    def output(self) -> list[tuple[int, str]]:
        """Return what the bot has written so far, as (turn, text)."""
        return list(self._written)

    def of(self, turn: int) -> list[Exchange]:
        """Return the exchanges of a turn, from 1; 0 stands for those before the first turn."""
        return list(self._by_turn.get(turn, ()))


@dataclass(frozen=True, slots=True)
class SeriesMatch:
    """A finished match of a series."""

    number: int
    """The match number, from 1."""
    seed: int
    part: Part
    words: str
    """Who won, and how."""
    file: Path | None
    """The replay file, or None if it is not stored here."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SeriesMatch:
        """Read a match written by `to_json`, without its replay and its score."""
        part = Part(document["seat"], document["came"], None, document["faults"])
        return cls(document["number"], document["seed"], part, document["words"], None)

    def to_json(self) -> dict[str, Json]:
        """Return the match as JSON for the web pages."""
        came, seat = self.part.came, self.part.seat
        return {
            "number": self.number,
            "seed": self.seed,
            "seat": seat,
            "came": came,
            "faults": self.part.faults,
            "words": self.words,
        }


class Series:
    """A series of matches, running or finished."""

    def __init__(
        self,
        project: Project,
        opponent: str,
        number: int,
        seed: int,
        before: Sequence[SeriesMatch] = (),
    ) -> None:
        """Prepare `number` matches with swapped seats; those in `before` are already finished.

        Raises UsageError for an unknown opponent.
        """
        self.opponent = opponent
        self.room = make_temporary("series")
        self.copy = self.room / "bot"
        """A copy of the bot at the start, so that later changes do not affect the matches."""
        self.copy.mkdir()
        with contents(project.folder.place) as files:
            files.copy(self.copy)
        template = project.match(opponent, 1, seed, place=self.copy)
        self.specs = list(series(template, number // seats_of(project.game), swap=True))
        self.matches = list(before)

    async def play(self, most: int) -> None:
        """Play all unfinished matches, up to `most` concurrently.

        Leaves no match running, even when cancelled.
        """
        workers = Workers()
        first = len(self.matches)
        jobs = [Job(spec) for spec in self.specs[first:]]

        def keep(number: int, result: MatchResult) -> SeriesMatch:
            return self._keep(first + number, result)

        playing = at_once(workers, jobs, most, keep, lambda *_: None)
        try:
            async with aclosing(playing) as finished:
                async for match in finished:
                    self.matches.append(match)
        finally:
            await workers.close()

    def _keep(self, number: int, result: MatchResult) -> SeriesMatch:
        spec, file = self.specs[number], self.room / f"{number + 1}.json.gz"
        file.write_bytes(encode(result.replay, packed=True))
        part = part_of(result, place_of(spec))
        return SeriesMatch(number + 1, spec.seed, part, verdict(spec, result), file)

    def find(self, number: int) -> SeriesMatch | None:
        """Return a finished match by its number, or None."""
        return next((match for match in list(self.matches) if match.number == number), None)

    def close(self) -> None:
        """Delete the replays and the copy of the bot."""
        rmtree(self.room, ignore_errors=True)

    def to_json(self) -> dict[str, Json]:
        """Return the state of the series as JSON for the web pages."""
        matches = list(self.matches)
        return {
            "opponent": self.opponent,
            "total": len(self.specs),
            "matches": [match.to_json() for match in matches],
            "tally": tally_of(matches),
        }


def tally_of(matches: Sequence[SeriesMatch]) -> Json:
    """Return the statistics of a series, or None before its first match is finished."""
    if not matches:
        return None
    return Tally(MINE, tuple(match.part for match in matches)).to_json()


def place_of(spec: MatchSpec) -> int:
    """Return the index of the bot's seat."""
    return next(number for number, bot in enumerate(spec.bots) if bot.name == MINE)


LEAVING: Final = 0.5
"""Seconds that `cw check` has to stop its programs after SIGTERM."""

LONGEST_LINE: Final = 1024 * 1024
QUOTED: Final = 2000
"""Maximum characters of other output to keep for an error message."""


class Step(msgspec.Struct, frozen=True):
    """A step of a check, as reported by `cw check --json`."""

    step: str
    ok: bool
    problem: str = ""
    fix: str = ""
    warning: bool = False
    """Whether the bot passes despite the problem."""


class Check:
    """A check of a bot, running or finished."""

    def __init__(self, project: Project) -> None:
        """Prepare to check the bot in its current state."""
        bot = f"{MINE}={whole(project.bot())}"
        isolation = f"--sandbox={project.isolation.sandbox}"
        self._command = ("-m", "cw", "check", project.game, bot, "--json", isolation)
        self.steps: list[Step] = []
        self._other = ""
        """The end of all output that is not a step."""

    async def run(self) -> None:
        """Run all steps up to the first that fails; raise Failure if none can be run.

        Leaves no process running, even when cancelled.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LONGEST_LINE,
            **OWN_GROUP,
        )
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                self._take(line)
            await process.wait()
        finally:
            await ended(process)
        if not self.steps:
            raise Failure(self._other.strip() or "the check did not start")

    def _take(self, line: bytes) -> None:
        """Read a line of output: a step, or text that explains why there is none."""
        try:
            self.steps.append(documents.decode(line, Step))
        except msgspec.DecodeError:
            self._other = (self._other + line.decode(errors="replace"))[-QUOTED:]


async def ended(process: asyncio.subprocess.Process) -> None:
    """Stop a process and all processes that it has started."""
    if process.returncode is not None:
        return
    kill_group(process.pid, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), LEAVING)
    except TimeoutError:
        kill_group(process.pid, KILL)
        await process.wait()


def whole(bot: BotSpec) -> str:
    """Return the command-line argument for a program, with absolute paths of its files.

    The check process does not start in the program's folder, because Python would import modules
    from there.
    """
    source = source_of(bot)
    return f"exec:{shlex.join(anchored(part, source) for part in bot.command)}"


SECONDS: Final = 60.0
"""Time limit for a compiler, in seconds."""

MOST_OUTPUT: Final = 64 * 1024
"""Maximum bytes of compiler output to keep."""


class BuildFailed(Failure):
    """A compilation that failed."""

    def __init__(self, why: str, output: str) -> None:
        """Store the reason and the compiler's output."""
        super().__init__(why)
        self.output = output


class Builder(Protocol):
    """Compiles one bot."""

    async def build(self) -> None:
        """Compile the bot if necessary; raise BuildFailed with the compiler's output.

        Leaves no compiler process running, even when cancelled.
        """


class FolderBuilder:
    """Compiles a bot in its folder, as its author would by hand."""

    def __init__(self, project: Project) -> None:
        """Start with nothing built."""
        self._project = project
        self._built = ""

    async def build(self) -> None:
        """Compile the bot if its files changed; raise BuildFailed with the compiler's output."""
        command = self._project.how.build
        digest = digest_of(self._project.folder.files())
        if not command or digest == self._built:
            return
        missing = self._project.how.missing()
        if missing:
            packages = self._project.how.packages
            raise BuildFailed(f"{', '.join(missing)} is not installed: apt install {packages}", "")
        await self._compile(command)
        self._built = digest

    async def _compile(self, command: str) -> None:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=self._project.folder.place,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            **OWN_GROUP,
        )
        try:
            async with asyncio.timeout(SECONDS):
                output = await read_some(process.stdout)
                code = await process.wait()
        except TimeoutError:
            raise BuildFailed(f"the compiler took more than {SECONDS:g} s", "") from None
        finally:
            if process.returncode is None:
                kill_group(process.pid, KILL)
                await process.wait()
        if code:
            raise BuildFailed(f"it could not be built: `{command}` failed", output)


async def read_some(stream: asyncio.StreamReader | None) -> str:
    """Read a stream to its end; return the first MOST_OUTPUT bytes as text."""
    output = b""
    while stream is not None and (data := await stream.read(MOST_OUTPUT)):
        output += data[: MOST_OUTPUT - len(output)]
    return output.decode(errors="replace")
