"""Tasks of the workshop: a draft is run, asked about a turn, played in a series, or checked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from time import monotonic, sleep
from typing import Final, TypeAlias

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.rules import Json
from cw.matches.positions import Position, position_of
from cw.replays.document import decode
from cw.web.live.live_matches import LiveMatches
from cw.web.workshop.own_desk import OwnDesk
from cw.workshop.building import BuildFailed
from cw.workshop.folder import BotFolder
from cw.workshop.project import Project
from cw.workshop.series import SeriesMatch
from cw_hub.players import compiling
from cw_hub.players.compiling import Build
from cw_hub.players.messages import DRAFT, Alive, Built, Done, Draft, Kind, Message, News, Piece
from cw_hub.players.packages import UnfitUpload
from cw_hub.players.pieces import RunPieces, SeriesPieces, replay_of
from cw_hub.players.programs import Room

EVERY: Final = 0.2
"""Seconds between two reports."""

SOON: Final = 0.05
"""Seconds between two reports while the author waits for the first picture."""

AT_FIRST: Final = 2.0
"""Seconds at the start of a task during which reports are more frequent."""

STEADY: Final = 5.0
"""Seconds after which an unchanged report is repeated."""

Report: TypeAlias = Callable[[Message], object]


@dataclass(frozen=True, slots=True)
class Activity:
    """A task in progress."""

    report: Callable[[], Json]
    """Returns its state; `goes_on` says whether it is still running."""
    news: Callable[[Json], list[Piece]]
    """Returns the new pieces of its results, up to that state."""


class SandboxBuilder:
    """Compiles a draft in the sandbox once, unless it was compiled before.

    Cancelling it waits for the end of the compiler.
    """

    def __init__(self, project: Project, built: bytes | None, report: Report) -> None:
        """Use the program that was compiled before, if any."""
        self._folder = project.folder.place
        self._language = project.language
        self._report = report
        self._is_built = not project.how.build
        if built is not None and not self._is_built:
            self._place(built)

    async def build(self) -> None:
        """Compile the bot once; raise BuildFailed with the compiler's messages.

        The compiler does not outlive the call, even if that is cancelled.
        """
        if self._is_built:
            return
        try:
            build = await self._compiled()
        except UnfitUpload as error:
            why, _, words = str(error).partition("\n")
            raise BuildFailed(why.rstrip("."), words) from None
        self._place(build.data)
        self._report(Built(DRAFT, build.data, build.warnings))

    def _place(self, data: bytes) -> None:
        compiling.place_built(self._folder, self._language, data)
        self._is_built = True

    async def _compiled(self) -> Build:
        stopped = Event()
        compile_now = asyncio.to_thread(compiling.compiled, self._folder, self._language, stopped)
        compiler = asyncio.ensure_future(compile_now)
        try:
            return await asyncio.shield(compiler)
        except asyncio.CancelledError:
            stopped.set()
            await asyncio.wait({compiler})
            raise


def work(task: Draft, room: Room, report: Report) -> Done:
    """Carry out a task to its end; none of its processes outlives the call, even if interrupted."""
    with opened_desk(task, room, report) as desk:
        return follow(task, BEGINNINGS[task.kind](task, desk), report)


def follow(task: Draft, activity: Activity, report: Report) -> Done:
    """Report on a task until it ends, or has taken too long."""
    known: Json = None
    began = reported = monotonic()
    while True:
        state = activity.report()
        is_over, is_late = not state["goes_on"], monotonic() - began > task.seconds
        news = News(state, tuple(activity.news(state)))
        if is_over or is_late:
            return Done("" if is_over else f"it took more than {task.seconds:g} s", news)
        if state != known or news.pieces or monotonic() - reported > STEADY:
            report(news)
            known, reported = state, monotonic()
        else:
            report(Alive())
        sleep(SOON if monotonic() - began < AT_FIRST else EVERY)


@contextmanager
def opened_desk(task: Draft, room: Room, report: Report) -> Iterator[OwnDesk]:
    """Yield a desk for a draft, whose programs run in the sandbox."""
    others = opponents(task, room)
    folder = BotFolder(room.folder(DRAFT))
    project = Project(task.game, task.request["language"], folder, task.isolation, others)
    matches = LiveMatches(1, monotonic)
    desk = OwnDesk(project, matches, SandboxBuilder(project, task.built, report), at_once=1)
    try:
        yield desk
    finally:
        desk.close()
        matches.close()


def opponents(task: Draft, room: Room) -> Mapping[str, BotSpec]:
    """Return the program version that a draft plays against, if any."""
    name = str(task.request.get("opponent"))
    if not room.has(name):
        return {}
    bot = room.bot(name, task.game)
    if bot.kind == "absent":
        raise UsageError(bot.target)
    return {name: bot}


def begin_run(task: Draft, desk: OwnDesk) -> Activity:
    """Begin a match, from the position of a replay if there is one."""
    wanted = task.request
    match = desk.project.match(
        wanted["opponent"], wanted["seat"], wanted["seed"], position=position_in(task)
    )
    run = desk.play(match)
    pieces = RunPieces(run)
    return Activity(
        lambda: pieces.amended(desk.report_of(run)),
        lambda report: pieces.news(is_over=not report["goes_on"]),
    )


def position_in(task: Draft) -> Position | None:
    """Return the position with which a run begins, or None for a new game."""
    if task.replay is None:
        return None
    return position_of(decode(task.replay), task.request["turn"])


def begin_ask(task: Draft, desk: OwnDesk) -> Activity:
    """Ask the bot again about a turn of its last run."""
    document = replay_of(task.asked)
    players = [seat["player"] for seat in document["players"]] if document else []
    player = next((each for each in players if str(each) == task.player), None)
    if document is None or player is None:
        raise UsageError("the run that was shown was deleted: run the bot again")
    desk.ask(document, player, task.request["turn"])
    return Activity(desk.answer, lambda _: [])


def begin_series(task: Draft, desk: OwnDesk) -> Activity:
    """Begin a series, or resume one that gave way."""
    before = [SeriesMatch.from_json(match) for match in (task.report or {}).get("matches", ())]
    pieces, wanted = SeriesPieces(len(before)), task.request
    desk.play_series(wanted["opponent"], wanted["matches"], wanted["seed"], before)

    def report() -> Json:
        state = desk.series()
        # While the bot is being built, only the previous report is known.
        is_ready = desk.last_series is not None or task.report is None
        return state if is_ready else {**state, **task.report, "goes_on": state["goes_on"]}

    return Activity(report, lambda report: pieces.news(desk.last_series, len(report["matches"])))


def begin_check(_: Draft, desk: OwnDesk) -> Activity:
    """Begin a check."""
    desk.begin_check()
    return Activity(desk.check, lambda _: [])


BEGINNINGS: Final[Mapping[Kind, Callable[[Draft, OwnDesk], Activity]]] = {
    "run": begin_run,
    "ask": begin_ask,
    "series": begin_series,
    "check": begin_check,
}
