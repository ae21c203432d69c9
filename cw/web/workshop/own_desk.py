"""The tasks of a workshop on this machine: a run, a repeated query, a series, a check of a bot."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from random import SystemRandom
from typing import Any, Final

from flask import abort, url_for

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.rules import Json, Player
from cw.lab.ask import ask
from cw.lab.asked import AskedAnswer, Asking
from cw.matches.positions import position_of
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec
from cw.replays.document import Document, decode
from cw.web.live.live_matches import LiveMatches
from cw.web.live.loop_thread import LoopThread
from cw.web.replays.replay_store import ReplayStore
from cw.web.workshop.desk import MOST_SEED, WantedRun
from cw.web.workshop.page_documents import (
    ask_document,
    check_document,
    run_document,
    series_document,
    turn_document,
)
from cw.web.workshop.run import Run, player_of
from cw.web.workshop.tasks import Work
from cw.workshop.building import Builder, FolderBuilder
from cw.workshop.checking import Check
from cw.workshop.exchanges import Exchanges
from cw.workshop.marks import SearchedParts
from cw.workshop.project import MINE, Project
from cw.workshop.series import Series, SeriesMatch

ASKING: Final = 60.0
"""Time limit, in seconds, for asking a bot again about a turn and all turns before it."""

CORES: Final = 2
"""A series uses one core out of this many: the bot is being written on the same machine."""

STOPPED: Final = "you have stopped it"
REPLACED: Final = "another run replaced it"


class OwnDesk:
    """All tasks of one bot."""

    def __init__(
        self,
        project: Project,
        matches: LiveMatches,
        builder: Builder | None = None,
        at_once: int | None = None,
        replays: ReplayStore | None = None,
    ) -> None:
        """Begin idle; `at_once` is how many matches of a series are played at once.

        Runs may begin from positions in `replays`.
        """
        self.project = project
        self._replays = replays
        self._matches = matches
        self._loop = LoopThread()
        self._builder = builder or FolderBuilder(project)
        self._at_once = at_once or max(1, (os.cpu_count() or 1) // CORES)
        self.last_run: Run | None = None
        self._asking = Work(self._loop)
        self._answer: AskedAnswer | None = None
        self._searched = SearchedParts()
        self._series_work = Work(self._loop)
        self.last_series: Series | None = None
        self._check_work = Work(self._loop)
        self._check: Check | None = None

    def begin_run(self, wanted: WantedRun) -> Json:
        """Begin a match in place of the previous one; without a seed, draw one."""
        seed = drawn() if wanted.seed is None else wanted.seed
        position = position_of(self._replay(wanted.replay), wanted.turn) if wanted.replay else None
        spec = self.project.match(wanted.opponent, wanted.seat, seed, position=position)
        return address_of(self.play(spec))

    def _replay(self, name: str) -> Document:
        """Return a replay of this server; abort with 404 if it is unknown."""
        stored = self._replays and self._replays.find(name)
        if not stored:
            abort(404, f"there is no replay {name!r}")
        return decode(stored.path.read_bytes())

    def play(self, spec: MatchSpec) -> Run:
        """Begin a match in place of the previous one, and return it."""
        self.end_run(REPLACED)
        exchanges = Exchanges()
        play = partial(self._build_and_play, hear={MINE: exchanges.add})
        match = self._matches.begin(spec, play=play, on_launch=self._launched)
        self.last_run = Run(match, exchanges)
        return self.last_run

    async def _build_and_play(self, spec: MatchSpec, **options: Any) -> MatchResult:
        await self._builder.build()
        return await run_match(spec, **options)

    def _launched(self, bot: BotSpec, protection: str) -> None:
        if self.last_run is not None and bot.name == MINE:
            self.last_run.protection = protection

    def run(self) -> Json | None:
        """Return the state of the run, or None before the first one."""
        run = self.last_run
        return None if run is None else self.report_of(run) | address_of(run)

    def report_of(self, run: Run) -> dict[str, Json]:
        """Return the state of a run, without the address of its match."""
        return run_document(run, self._names())

    def turn(self, number: int) -> Json | None:
        """Return what the bot was asked in a turn of the run, or None before the first run."""
        return None if self.last_run is None else turn_document(self.last_run, number)

    def end_run(self, why: str = STOPPED) -> None:
        """End the run and a repeated query; afterwards nothing of them runs."""
        self._asking.stop()
        if self.last_run is not None:
            self._matches.stop(self.last_run.match.name, why)

    def begin_ask(self, turn: int) -> None:
        """Ask the bot as it is now about a turn of the run."""
        run = self.last_run
        if run is None or run.match.progress is None:
            raise UsageError("run the bot first, then ask it about a turn")
        self.ask(run.match.document(), player_of(run.match), turn)

    def ask(self, document: Document, player: Player, turn: int) -> None:
        """Ask the bot as it is now about a turn of a match that it played as this player."""
        self._answer = None
        isolation = self.project.isolation
        asking = Asking(document, player, self.project.bot(), turn=turn, isolation=isolation)
        self._asking.start(self._ask(asking))

    async def _ask(self, asking: Asking) -> None:
        await self._builder.build()
        try:
            async with asyncio.timeout(ASKING):
                self._asking.trouble = await ask(asking, self._take, lambda *_: None)
        except TimeoutError:
            raise UsageError(f"the answers up to that turn took more than {ASKING:g} s") from None

    def _take(self, answer: AskedAnswer) -> None:
        self._answer = answer

    def answer(self) -> Json:
        """Return the result of the repeated query."""
        return ask_document(self._asking, self._answer, self._names(), self._searched)

    def begin_series(self, opponent: str, number: int) -> None:
        """Begin a series in place of the previous one."""
        self.play_series(opponent, number, drawn(number))

    def play_series(
        self, opponent: str, number: int, seed: int, before: Sequence[SeriesMatch] = ()
    ) -> None:
        """Begin a series in place of the previous one, or resume one that was left."""
        self._forget_series()
        prepare = partial(Series, self.project, opponent, number, seed, before)
        self._series_work.start(self._play_series(prepare))

    async def _play_series(self, prepare: Callable[[], Series]) -> None:
        await self._builder.build()
        self.last_series = await asyncio.to_thread(prepare)
        await self.last_series.play(self._at_once)

    def series(self) -> Json:
        """Return the state of the series."""
        return series_document(self._series_work, self.last_series)

    def series_match(self, number: int) -> bytes | None:
        """Return the gzipped replay of a match of the series, or None."""
        match = self.last_series and self.last_series.find(number)
        return match.file.read_bytes() if match and match.file else None

    def end_series(self) -> None:
        """Stop the series; its matches so far stay available."""
        self._series_work.stop()

    def _forget_series(self) -> None:
        self.end_series()
        if self.last_series is not None:
            self.last_series.close()
        self.last_series = None

    def begin_check(self) -> None:
        """Begin a check in place of the previous one."""
        self.end_check()
        self._check = None
        self._check_work.start(self._take_steps())

    async def _take_steps(self) -> None:
        await self._builder.build()
        self._check = Check(self.project)
        await self._check.run()

    def check(self) -> Json:
        """Return the state of the check."""
        return check_document(self._check_work, self._check)

    def end_check(self) -> None:
        """End the check."""
        self._check_work.stop()

    def _names(self) -> list[str]:
        """Return the names of the files that marks may refer to."""
        return self.project.folder.names()

    def close(self) -> None:
        """End all tasks."""
        self.end_run()
        self._forget_series()
        self.end_check()
        self._loop.close()


def address_of(run: Run) -> dict[str, Json]:
    """Return where a page finds the match of a run, and its seed."""
    address = url_for("matches.document", name=run.match.name)
    return {"match": run.match.name, "document": address, "seed": run.match.spec.seed}


def drawn(number: int = 0) -> int:
    """Return a random seed that leaves room for `number` seeds after it."""
    return SystemRandom().randint(0, MOST_SEED - number)
