"""The tasks of a workshop, run, ask, series and check, behind the local and the site's pages."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Container, Coroutine, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Protocol

import msgspec
from flask import abort, url_for
from msgspec import Meta

from cw.arena.bots import BotSpec
from cw.arena.program import ERROR_OUTPUT
from cw.arena.referee import MatchRecord
from cw.arena.seats.wrappers import Exchange
from cw.errors import ArenaError, UsageError, visible
from cw.games.registry import load_endings
from cw.games.rules import Json, Player
from cw.lab.ask import AskedAnswer, Asking, ask
from cw.matches.from_replay import position_of
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec
from cw.matches.verdict import did, verdict
from cw.replays.document import Document, decode
from cw.replays.outputs import Output
from cw.web.live_match import LiveMatch, LoopThread
from cw.web.live_matches import LiveMatches
from cw.web.replay_store import NAME, ReplayStore
from cw.workshop.marks import SearchedParts
from cw.workshop.project import MINE, Project, Sources, TextFile
from cw.workshop.runs import (
    Builder,
    BuildFailed,
    Check,
    Exchanges,
    FolderBuilder,
    Series,
    SeriesMatch,
    Step,
)


@dataclass(slots=True)
class Run:
    """A match of the bot, both while it is played and afterwards."""

    match: LiveMatch
    exchanges: Exchanges
    protection: str = ""
    """How the host is protected from the program; "" before the program is started."""
    searched: SearchedParts = field(default_factory=SearchedParts)
    """The bot's output by turn, with the lines of code mentioned in it."""


def player_of(match: LiveMatch) -> Player:
    """Return the bot's player in the game; raise UsageError before the match has started."""
    if match.progress is None:
        raise UsageError("the match has not started")
    bots = match.progress.record.bots
    return next(player for player, bot in bots.items() if bot.name == MINE)


logger = logging.getLogger(__name__)


class Work:
    """A slot for one task, which is replaced by the next one."""

    def __init__(self, loop: LoopThread) -> None:
        """Start without a task."""
        self._loop = loop
        self._task: asyncio.Task[None] | None = None
        self.trouble = ""
        """Why the task ended early, as a message for users; "" if it did not."""

    @property
    def goes_on(self) -> bool:
        """Whether a task has been started and has not ended."""
        return self._task is not None and not self._task.done()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Stop the current task, and start another one."""
        self.stop()
        self.trouble = ""
        self._loop.run(self._begin(work))

    def stop(self) -> None:
        """Stop the current task, and wait until it has ended completely."""
        if self.goes_on:
            self._loop.run(self._end())
            self.trouble = "stopped"

    async def _over(self) -> None:
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(self._done(work))

    async def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
        await self._over()

    async def _done(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ArenaError as error:
            self.trouble = str(error)
        except Exception:
            logger.exception("work of a workshop")
            self.trouble = "a server error"


LONGEST_TEXT: Final = 20_000
"""Maximum number of characters shown of a query or a problem."""


def run_document(run: Run, files: Collection[str]) -> dict[str, Json]:
    """Return a run's state as JSON: its outcome, output by turn, and the code lines mentioned."""
    match, error = run.match, failure_of(run.match)
    parts = with_questions(
        output_of(match) if match.over else run.exchanges.output(),
        load_endings(match.spec.game).first,
    )
    compiler = error.output if isinstance(error, BuildFailed) else ""
    shown = [(turn, visible(text)) for turn, text in [(0, compiler), *parts]]
    return {
        "goes_on": not match.over,
        "ready": match.progress is not None,
        "failed": error is not None,
        "words": words_of(match),
        "protection": run.protection,
        "player": None if match.progress is None else str(player_of(match)),
        "compiler": shown[0][1],
        "output": list(map(list, shown[1:])),
        "fault": fault_of(match),
        "marks": list(map(asdict, run.searched.marks(shown, files))),
    }


def with_questions(parts: Sequence[tuple[int, str]], first: int) -> list[tuple[int, str]]:
    """Return the parts of an output by the turns under which the viewer shows them.

    >>> with_questions([(0, "begins "), (1, "goes north"), (2, "stays")], 0)
    [(0, 'begins goes north'), (1, 'stays')]
    """
    texts: dict[int, str] = {}
    for turn, text in parts:
        number = max(0, turn - 1 + first)
        texts[number] = texts.get(number, "") + text
    return list(texts.items())


def failure_of(match: LiveMatch) -> BaseException | None:
    """Return the exception of a finished match without a result, or None."""
    return match.result.exception() if match.over else None


def words_of(match: LiveMatch) -> str:
    """Return who won and how, or why no one did; "" while the match is being played."""
    if not match.over:
        return ""
    error = match.result.exception()
    if isinstance(error, BuildFailed):
        return visible(f"{error}.")
    return visible(match.trouble or verdict(match.spec, match.result.result()))


def fault_of(match: LiveMatch) -> dict[str, Json] | None:
    """Return the bot's first fault and where it occurred; None without one, or during the match."""
    if not match.over or failure_of(match) is not None:
        return None
    result, number = match.result.result(), [bot.name for bot in match.spec.bots].index(MINE)
    fault = next(iter(result.faults_of(number)), None)
    if fault is None:
        return None
    endings = load_endings(match.spec.game)
    turn = min(fault.turn + endings.first, result.turns)
    place = "at the start" if fault.kind == "startup" else endings.turn_after(fault.turn)
    detail = fault.detail.partition(ERROR_OUTPUT)[0]
    words = f"{did(fault)}: {detail}" if detail else did(fault)
    return {"turn": turn, "place": place.capitalize(), "words": cut(words)}


def output_of(match: LiveMatch) -> list[tuple[int, str]]:
    """Return the bot's standard error by turn; empty before the match has ended."""
    if match.progress is None:
        return []
    record, player = match.progress.record, player_of(match)
    output = Output(record.stderr.get(player, ""), record.stderr_turns.get(player, ()))
    return output.parts or ([(0, output.text)] if output.text else [])


def turn_document(run: Run, turn: int) -> dict[str, Json]:
    """Return the bot's queries, replies and faults in a turn.

    Turns are numbered as in messages; queries before the first one belong to turn 0.
    """
    if run.match.progress is None:
        return {"turn": turn, "exchanges": [], "faults": [], "action": None}
    record, player = run.match.progress.record, player_of(run.match)
    turns = run.match.progress.recorder.turns
    number = turn - load_endings(run.match.spec.game).first + 1
    numbers = range(number if turn else 0, number + 1)
    action = turns[number - 1]["actions"] if 0 < number <= len(turns) else {}
    return {
        "turn": turn,
        "exchanges": [exchange_document(each) for n in numbers for each in run.exchanges.of(n)],
        "faults": faults_of(record, player, numbers),
        "action": action.get(str(player)) if isinstance(action, dict) else None,
    }


def exchange_document(exchange: Exchange) -> dict[str, Json]:
    """Return a query and its reply, as JSON for pages."""
    fault = exchange.fault
    return {
        "question": cut(exchange.question),
        "answer": cut(exchange.answer),
        "ms": round(exchange.seconds * 1000, 3),
        "fault": "" if fault is None else cut(f"{fault.kind}: {fault.sentence}"),
    }


def faults_of(record: MatchRecord, player: Player, turns: Container[int]) -> list[Json]:
    """Return a player's faults in some turns, counted from 1, with the expected values."""
    return [
        {
            "kind": noted.fault.kind,
            "words": cut(noted.fault.sentence),
            "expected": cut(noted.fault.expected),
            "actual": cut(noted.fault.actual),
        }
        for noted in list(record.faults)
        if noted.player == player and noted.turn + 1 in turns
    ]


def answer_document(
    answer: AskedAnswer, files: Collection[str], searched: SearchedParts
) -> dict[str, Json]:
    """Return a new reply next to that of the match."""
    document = msgspec.json.decode(msgspec.json.encode(answer.to_json()))
    texts = {name: cut(document[name]) for name in ("question", "verdict", "verdict_before")}
    marks = searched.marks([(answer.turn, visible(answer.stderr))], files)
    return {
        **document,
        **texts,
        "stderr": visible(answer.stderr),
        "marks": list(map(asdict, marks)),
    }


def step_document(step: Step) -> dict[str, Json]:
    """Return a step of a check, as JSON for pages."""
    return {
        "step": visible(step.step),
        "ok": step.ok,
        "problem": cut(step.problem),
        "fix": visible(step.fix),
        "warning": step.warning,
    }


def state_of(work: Work) -> dict[str, Json]:
    """Return whether a task goes on, and why it ended early."""
    return {"goes_on": work.goes_on, "trouble": visible(work.trouble)}


def cut(text: str) -> str:
    """Return text for display: control characters made visible, and truncated if it is long."""
    more = len(text) - LONGEST_TEXT
    rest = f"\n... cut: {more} more characters" if more > 0 else ""
    return visible(text[:LONGEST_TEXT]) + rest


MOST_SEED: Final = 2**31 - 1

Turn = Annotated[int, Meta(ge=0, le=1_000_000)]


class WantedRun(msgspec.Struct, frozen=True):
    """The match requested by a page."""

    opponent: str
    seat: int = 1
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None
    """None for a random seed."""
    replay: Annotated[str, Meta(pattern=rf"\A({NAME.pattern})?\Z")] = ""
    """The name of the replay from whose position the match starts; "" for a new game."""
    turn: Turn = 0
    """The number of turns of the replay that are kept as played."""


class Desk(Protocol):
    """One bot in a workshop: its files, and a run, a repeated query, a series and a check of it.

    Each task replaces the previous one of its kind. Results are JSON for the page. Methods that
    start something raise UsageError if that is impossible.
    """

    template: ClassVar[str]
    """The name of the page's template."""

    @property
    def game(self) -> str:
        """The game that the bot plays."""

    def page_values(self) -> dict[str, Any]:
        """Return the values of the template that not every workshop has in the same way."""

    def replay_address(self, name: str) -> str:
        """Return the URL of the JSON of a replay from whose positions the bot may be tried."""

    def sources(self) -> Sources:
        """Return the files of the bot."""

    def save(self, name: str, text: str, base: str) -> TextFile:
        """Write a file whose content had the digest `base`, "" for a new one; return its new state.

        Raises ChangedMeanwhile if its content has changed. Invalid files are refused by UsageError,
        or by aborting with a response.
        """

    def begin_run(self, wanted: WantedRun, seed: int) -> Json:
        """Start a match; return its URL and seed. Abort with 404 for an unknown replay."""

    def run(self) -> Json | None:
        """Return the state of the run, or None before the first one."""

    def turn(self, number: int) -> Json | None:
        """Return the bot's queries and replies in a turn of the run; None before the first run."""

    def end_run(self) -> None:
        """End the run; its processes have stopped on return, or will within a second."""

    def begin_ask(self, turn: int) -> None:
        """Query the current bot about a turn of the run, after all earlier turns."""

    def answer(self) -> Json:
        """Return the result of the repeated query."""

    def begin_series(self, opponent: str, number: int, seed: int) -> None:
        """Start a series of `number` matches, with seats swapped, and seeds from this one on."""

    def series(self) -> Json:
        """Return the state of the series."""

    def series_match(self, number: int) -> bytes | None:
        """Return the gzipped replay of a match of the series, or None."""

    def end_series(self) -> None:
        """End the series; its finished matches stay available."""

    def begin_check(self) -> None:
        """Start a check."""

    def check(self) -> Json:
        """Return the state of the check."""

    def end_check(self) -> None:
        """End the check."""


ASKING: Final = 60.0
"""Time limit, in seconds, for asking a bot again about a turn and all earlier turns."""

CORES: Final = 2
"""A series uses one core out of this many, as the bot is being written on the same host."""

STOPPED: Final = "you have stopped it"
REPLACED: Final = "another run replaced it"


class OwnDesk:
    """The desk of a bot in a folder, whose tasks run in this process."""

    template: ClassVar = "workshop/workshop.html"

    def __init__(
        self,
        project: Project,
        matches: LiveMatches,
        builder: Builder | None = None,
        at_once: int | None = None,
        replays: ReplayStore | None = None,
    ) -> None:
        """Start without tasks; `at_once` is the number of matches of a series played concurrently.

        Runs are played among `matches`, which end with the desk. They may start from positions in
        `replays`.
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

    @property
    def game(self) -> str:
        """The game that the bot plays."""
        return self.project.game

    def page_values(self) -> dict[str, Any]:
        """Return the name of the folder, and whether there is a run."""
        return {"folder": self.project.folder.place.name, "has_run": self.last_run is not None}

    def replay_address(self, name: str) -> str:
        """Return the URL of the JSON of one of this server's replays."""
        return url_for("replays.document", name=name)

    def sources(self) -> Sources:
        """Return the files of the bot."""
        return self.project.sources()

    def save(self, name: str, text: str, base: str) -> TextFile:
        """Write a file into the folder, as `BotFolder.save` does."""
        return self.project.folder.save(name, text, base)

    def begin_run(self, wanted: WantedRun, seed: int) -> Json:
        """Start a match that replaces the previous one."""
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
        """Start a match that replaces the previous one, and return it."""
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
        """Return the state of a run, without its match's URL."""
        return run_document(run, self._names())

    def turn(self, number: int) -> Json | None:
        """Return the bot's queries and replies in a turn of the run; None before the first run."""
        return None if self.last_run is None else turn_document(self.last_run, number)

    def end_run(self, why: str = STOPPED) -> None:
        """End the run and any repeated query, including all their processes."""
        self._asking.stop()
        if self.last_run is not None:
            self._matches.stop(self.last_run.match.name, why)

    def begin_ask(self, turn: int) -> None:
        """Query the current bot about a turn of the run."""
        run = self.last_run
        if run is None or run.match.progress is None:
            raise UsageError("run the bot first, then ask it about a turn")
        self.ask(run.match.document(), player_of(run.match), turn)

    def ask(self, document: Document, player: Player, turn: int) -> None:
        """Query the current bot about a turn of a match that it played as this player."""
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
        answer = self._answer
        return {
            "answer": answer and answer_document(answer, self._names(), self._searched),
            **state_of(self._asking),
        }

    def begin_series(
        self, opponent: str, number: int, seed: int, before: Sequence[SeriesMatch] = ()
    ) -> None:
        """Start a series that replaces the previous one, or resume an interrupted one."""
        self._forget_series()
        prepare = partial(Series, self.project, opponent, number, seed, before)
        self._series_work.start(self._play_series(prepare))

    async def _play_series(self, prepare: Callable[[], Series]) -> None:
        await self._builder.build()
        self.last_series = await asyncio.to_thread(prepare)
        await self.last_series.play(self._at_once)

    def series(self) -> Json:
        """Return the state of the series."""
        series = self.last_series
        begun = {"total": 0, "matches": [], "tally": None} if series is None else series.to_json()
        return {**begun, **state_of(self._series_work)}

    def series_match(self, number: int) -> bytes | None:
        """Return the gzipped replay of a match of the series, or None."""
        match = self.last_series and self.last_series.find(number)
        return match.file.read_bytes() if match and match.file else None

    def end_series(self) -> None:
        """Stop the series; its finished matches stay available."""
        self._series_work.stop()

    def _forget_series(self) -> None:
        self.end_series()
        if self.last_series is not None:
            self.last_series.close()
        self.last_series = None

    def begin_check(self) -> None:
        """Start a check that replaces the previous one."""
        self.end_check()
        self._check = None
        self._check_work.start(self._take_steps())

    async def _take_steps(self) -> None:
        await self._builder.build()
        self._check = Check(self.project)
        await self._check.run()

    def check(self) -> Json:
        """Return the state of the check."""
        steps = [] if self._check is None else list(self._check.steps)
        return {"steps": list(map(step_document, steps)), **state_of(self._check_work)}

    def end_check(self) -> None:
        """End the check."""
        self._check_work.stop()

    def _names(self) -> list[str]:
        """Return the names of the files to which marks may refer."""
        return self.project.folder.names()

    def close(self) -> None:
        """End all tasks, and all matches."""
        self.end_run()
        self._forget_series()
        self.end_check()
        self._loop.close()
        self._matches.close()


def address_of(run: Run) -> dict[str, Json]:
    """Return the URL of a run's match for the page, and the match's name and seed."""
    address = url_for("matches.document", name=run.match.name)
    return {"match": run.match.name, "document": address, "seed": run.match.spec.seed}
