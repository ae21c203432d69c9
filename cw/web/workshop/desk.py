"""What goes on in a workshop: a run, a series and a check of one bot."""

from __future__ import annotations

import asyncio
from functools import partial
from random import SystemRandom
from typing import Any, Final

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.lab.ask import ask
from cw.lab.asked import AskedAnswer, Asking
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec
from cw.web.live.live_matches import LiveMatches
from cw.web.live.loop_thread import LoopThread
from cw.web.workshop.run import Run, player_of
from cw.web.workshop.tasks import Work
from cw.workshop.building import Builder
from cw.workshop.checking import Check
from cw.workshop.exchanges import Exchanges
from cw.workshop.project import Project
from cw.workshop.series import Series

MOST_SEED: Final = 2**31 - 1
ASKING: Final = 60.0
"""Seconds after which a bot is asked no more about a turn and all before it."""

STOPPED: Final = "you have stopped it"
REPLACED: Final = "another run took its place"


class Desk:
    """All that goes on with one bot."""

    def __init__(self, project: Project, matches: LiveMatches) -> None:
        """Nothing goes on."""
        self.project = project
        self._matches = matches
        self._loop = LoopThread()
        self._builder = Builder(project)
        self.run: Run | None = None
        self.asking = Work(self._loop)
        self.series_work = Work(self._loop)
        self.series: Series | None = None
        self.check_work = Work(self._loop)
        self.check: Check | None = None

    def begin(self, opponent: str, seat: int, seed: int | None) -> Run:
        """Begin a match in the place of the one before; without a seed, with a drawn one."""
        drawn = SystemRandom().randint(0, MOST_SEED) if seed is None else seed
        spec = self.project.match(opponent, seat, drawn)
        self.stop(REPLACED)
        exchanges = Exchanges()
        play = partial(self._build_and_play, hear=exchanges.add)
        match = self._matches.begin(spec, play=play, on_launch=self._launched)
        self.run = Run(match, exchanges)
        return self.run

    async def _build_and_play(self, spec: MatchSpec, **options: Any) -> MatchResult:
        await self._builder.build()
        return await run_match(spec, **options)

    def _launched(self, _bot: BotSpec, protection: str) -> None:
        if self.run is not None:
            self.run.protection = protection

    def stop(self, why: str = STOPPED) -> None:
        """End the run, and a question that is asked again."""
        self.asking.stop()
        if self.run is not None:
            self._matches.stop(self.run.match.name, why)

    def ask_again(self, turn: int) -> AskedAnswer:
        """Ask the bot as it is now about a turn of the run; raise UsageError if it cannot be."""
        run = self.run
        if run is None or run.match.progress is None:
            raise UsageError("run the bot first: then it can be asked about a turn again")
        answers: list[AskedAnswer] = []
        asking = Asking(
            run.match.document(),
            player_of(run.match),
            self.project.bot(),
            turn=turn,
            isolation=self.project.isolation,
        )
        self.asking.start(self._ask(asking, answers))
        self.asking.wait()
        if not answers:
            raise UsageError(self.asking.trouble or f"turn {turn} was not asked")
        return answers[0]

    async def _ask(self, asking: Asking, answers: list[AskedAnswer]) -> None:
        await self._builder.build()
        try:
            async with asyncio.timeout(ASKING):
                self.asking.trouble = await ask(asking, answers.append, lambda *_: None)
        except TimeoutError:
            raise UsageError(f"the answers up to that turn took more than {ASKING:g} s") from None

    def begin_series(self, opponent: str, number: int) -> None:
        """Begin a series in the place of the one before."""
        self.end_series()
        self.series_work.start(self._play_series(opponent, number))

    async def _play_series(self, opponent: str, number: int) -> None:
        await self._builder.build()
        seed = SystemRandom().randint(0, MOST_SEED - number)
        self.series = await asyncio.to_thread(Series, self.project, opponent, number, seed)
        await self.series.play()

    def end_series(self) -> None:
        """Stop the series, and forget it."""
        self.series_work.stop()
        if self.series is not None:
            self.series.close()
        self.series = None

    def begin_check(self) -> None:
        """Begin a check in the place of the one before."""
        self.check_work.stop()
        self.check = None
        self.check_work.start(self._check())

    async def _check(self) -> None:
        await self._builder.build()
        self.check = Check(self.project)
        await self.check.run()

    def close(self) -> None:
        """End all that goes on."""
        self.stop()
        self.end_series()
        self.check_work.stop()
        self._loop.close()
