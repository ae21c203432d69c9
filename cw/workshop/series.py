"""Many matches of a bot as it was when they began, and what they show about its strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

from cw.arena.sandbox.folders import contents
from cw.arena.sandbox.owners import make_temporary
from cw.errors import UsageError
from cw.games.rules import Json
from cw.matches.processes.series import at_once, series
from cw.matches.processes.worker import Job
from cw.matches.processes.workers import Workers
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.tally import Part, Tally, part_of
from cw.matches.verdict import verdict
from cw.replays.document import encode
from cw.workshop.project import MINE, Project, seats_of

FEWEST: Final = 20
MOST: Final = 400
"""Maximum matches in a series."""


@dataclass(frozen=True, slots=True)
class SeriesMatch:
    """A finished match of a series."""

    number: int
    """From 1."""
    seed: int
    part: Part
    words: str
    """Who won, and how."""
    file: Path | None
    """Its replay, or None if not stored here."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SeriesMatch:
        """Read a match written by `to_json`, without its replay and its score."""
        part = Part(document["seat"], document["came"], None, document["faults"])
        return cls(document["number"], document["seed"], part, document["words"], None)

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON for pages."""
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
    """A series, running or finished."""

    def __init__(
        self,
        project: Project,
        opponent: str,
        number: int,
        seed: int,
        before: Sequence[SeriesMatch] = (),
    ) -> None:
        """Prepare `number` matches against an opponent, seats swapped; `before` are finished.

        Raises UsageError for an unknown opponent, and for too few or too many matches.
        """
        if not FEWEST <= number <= MOST:
            raise UsageError(f"a series has {FEWEST} to {MOST} matches, not {number}")
        self.opponent = opponent
        self.room = make_temporary("series")
        self.copy = self.room / "bot"
        """A copy of the current bot: later changes affect no match."""
        self.copy.mkdir()
        with contents(project.folder.place) as files:
            files.copy(self.copy)
        template = project.match(opponent, 1, seed, place=self.copy)
        self.specs = list(series(template, number // seats_of(project.game), swap=True))
        self.matches = list(before)

    async def play(self, most: int) -> None:
        """Play all unfinished matches, up to `most` at once.

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
        """Delete the replays."""
        rmtree(self.room, ignore_errors=True)

    def to_json(self) -> dict[str, Json]:
        """Return the state of the series as JSON for pages."""
        matches = list(self.matches)
        return {
            "opponent": self.opponent,
            "total": len(self.specs),
            "matches": [match.to_json() for match in matches],
            "tally": tally_of(matches),
        }


def tally_of(matches: Sequence[SeriesMatch]) -> Json:
    """Return the figures of a series, or None before its first match is finished."""
    if not matches:
        return None
    return Tally(MINE, tuple(match.part for match in matches)).to_json()


def place_of(spec: MatchSpec) -> int:
    """Return the index of the bot's seat."""
    return next(number for number, bot in enumerate(spec.bots) if bot.name == MINE)
