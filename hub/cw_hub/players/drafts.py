"""Workshop tasks in a player process: runs, repeated questions, series and checks of a draft."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from time import monotonic, sleep
from typing import Any, Final, TypeAlias

import msgspec

from cw import documents
from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.registry import load_endings
from cw.games.rules import Json
from cw.matches.from_replay import Position, position_of
from cw.matches.live_file import LiveDocument, LiveLines, live_document
from cw.matches.progress import MatchProgress
from cw.replays.document import Document, decode
from cw.web.live_matches import LiveMatches
from cw.web.workshop import OwnDesk, Run, turn_document
from cw.workshop.project import BotFolder, Project
from cw.workshop.runs import BuildFailed, Series, SeriesMatch
from cw_hub.players import programs
from cw_hub.players.messages import (
    DRAFT,
    MATCH,
    REPLAYS,
    TURNS,
    Alive,
    Built,
    Done,
    Draft,
    Kind,
    Message,
    News,
    Piece,
)
from cw_hub.players.packages import UnfitUpload
from cw_hub.players.programs import Build, Room
from cw_hub.players.reading import KEPT, KEPT_UNPACKED
from cw_hub.players.reading import Room as ReadingRoom

AT_ONCE: Final = 100
"""Maximum number of turns in a piece."""

CUT: Final = "The match is too large to be shown to its end."


def fitting(room: ReadingRoom, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces until one does not fit."""
    for piece in pieces:
        if not room.fits(piece.data, is_unpacked=piece.kind != REPLAYS):
            return
        yield piece


class RunPieces:
    """Reports a run piece by piece."""

    def __init__(self, run: Run) -> None:
        """Start with nothing reported."""
        self._run = run
        self._lines = LiveLines()
        self._number = 0
        """Number of lines reported so far."""
        self._turn = 0
        """The first turn whose questions are not reported yet."""
        self._match, self._asked = (ReadingRoom(KEPT, KEPT_UNPACKED) for _ in range(2))

    def news(self, *, is_over: bool) -> list[Piece]:
        """Return the new pieces; none before the start."""
        progress = self._run.match.progress
        if progress is None:
            return []
        played = len(progress.recorder.turns)
        return [
            *fitting(self._match, self._news_of_match(progress, played, is_over=is_over)),
            *fitting(self._asked, self._news_of_turns(played, is_over=is_over)),
        ]

    def amended(self, report: Json) -> Json:
        """Return a run's report, with a note in its text if not everything could be stored."""
        return {**report, "words": f"{report['words']} {CUT}"} if self._match.is_full else report

    def _news_of_match(
        self, progress: MatchProgress, played: int, *, is_over: bool
    ) -> Iterator[Piece]:
        if self._number == 0:
            yield self._line(self._lines.head(progress))
        while self._lines.turns < played:
            yield self._line(self._lines.news(progress, AT_ONCE))
        if is_over:
            # The result may have arrived after the last turn.
            yield self._line(self._lines.news(progress, AT_ONCE))

    def _line(self, line: bytes) -> Piece:
        number, self._number = self._number, self._number + 1
        return Piece(MATCH, number, number, packed(line))

    def _news_of_turns(self, played: int, *, is_over: bool) -> Iterator[Piece]:
        """Yield what was asked in finished turns, and at the end also in the last one."""
        end = played + load_endings(self._run.match.spec.game).first + is_over
        while self._turn < end:
            first, self._turn = self._turn, min(self._turn + AT_ONCE, end)
            turns = [turn_document(self._run, number) for number in range(first, self._turn)]
            asked = [turn for turn in turns if turn["exchanges"]]
            yield Piece(TURNS, first, self._turn - 1, packed(msgspec.json.encode(asked)))


class SeriesPieces:
    """Reports the replays of a series."""

    def __init__(self, number: int = 0) -> None:
        """Skip this many matches, which were reported before."""
        self._number = number
        self._room = ReadingRoom(KEPT, KEPT_UNPACKED)

    def news(self, series: Series | None, end: int) -> list[Piece]:
        """Return the replays of newly ended matches, among the first `end` matches."""
        matches = [] if series is None else series.matches[self._number : end]
        self._number += len(matches)
        files = [(match.number, match.file) for match in matches if match.file is not None]
        replays = (Piece(REPLAYS, number, number, file.read_bytes()) for number, file in files)
        return list(fitting(self._room, replays))


def packed(data: bytes) -> bytes:
    """Return data compressed for storage."""
    return zlib.compress(data, 1)


def unpacked(data: bytes) -> bytes:
    """Return decompressed data, limited to KEPT_UNPACKED bytes."""
    return zlib.decompressobj().decompress(data, KEPT_UNPACKED)


def match_so_far(pieces: Sequence[bytes], after: int | None) -> LiveDocument | None:
    """Return the match in these pieces, or what follows a turn; None if there are no pieces."""
    return live_document([unpacked(piece) for piece in pieces], after) if pieces else None


def replay_of(pieces: Sequence[bytes]) -> Document | None:
    """Return the match in these pieces as a document for analyses, or None without pieces."""
    match = match_so_far(pieces, None)
    if match is None:
        return None
    document: Document = msgspec.json.decode(msgspec.json.encode(match))
    while document["more"]:
        rest = msgspec.json.encode(match_so_far(pieces, len(document["turns"])))
        more = msgspec.json.decode(rest)
        document |= {"turns": document["turns"] + more["turns"], "more": more["more"]}
    return document


def turn_in(piece: bytes | None, number: int) -> dict[str, Any]:
    """Return what the bot was asked in a turn, or an empty turn if the piece does not cover it."""
    nothing = {"turn": number, "exchanges": [], "faults": [], "action": None}
    try:
        turns = [] if piece is None else documents.decode(unpacked(piece), list[dict[str, Any]])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return nothing
    return next((turn for turn in turns if turn.get("turn") == number), nothing)


EVERY: Final = 0.2
"""Seconds between two reports."""

SOON: Final = 0.05
"""Seconds between two reports while the author waits for the first image."""

AT_FIRST: Final = 2.0
"""Seconds at the start of a task during which reports are more frequent."""

STEADY: Final = 5.0
"""Seconds after which an unchanged report is repeated."""

Report: TypeAlias = Callable[[Message], object]


@dataclass(frozen=True, slots=True)
class Activity:
    """A task in progress."""

    report: Callable[[], Json]
    """Returns its status; `goes_on` indicates whether it is still running."""
    news: Callable[[Json], list[Piece]]
    """Returns the new pieces of its results, up to that status."""


class SandboxBuilder:
    """Compiles a draft in the sandbox once, unless it was compiled before.

    Cancellation waits until the compiler has ended.
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

        The compiler does not outlive the call, even if the call is cancelled.
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
        programs.place_built(self._folder, self._language, data)
        self._is_built = True

    async def _compiled(self) -> Build:
        stopped = Event()
        compile_now = asyncio.to_thread(programs.compiled, self._folder, self._language, stopped)
        compiler = asyncio.ensure_future(compile_now)
        try:
            return await asyncio.shield(compiler)
        except asyncio.CancelledError:
            stopped.set()
            await asyncio.wait({compiler})
            raise


def work(task: Draft, room: Room, report: Report) -> Done:
    """Carry out a task to its end; none of its processes outlives the call, even if interrupted."""
    folder, language = BotFolder(room.folder(DRAFT)), task.request["language"]
    project = Project(task.game, language, folder, task.isolation, opponents(task, room))
    builder = SandboxBuilder(project, task.built, report)
    with closing(OwnDesk(project, LiveMatches(1, monotonic), builder, at_once=1)) as desk:
        return follow(task, BEGINNINGS[task.kind](task, desk), report)


def follow(task: Draft, activity: Activity, report: Report) -> Done:
    """Report on a task until it ends, or exceeds its time limit."""
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
    """Start a match, from the position of a replay if there is one."""
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
    """Return the position from which a run starts, or None for a new game."""
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
    """Start a series, or resume one that gave way."""
    before = [SeriesMatch.from_json(match) for match in (task.report or {}).get("matches", ())]
    pieces, wanted = SeriesPieces(len(before)), task.request
    desk.begin_series(wanted["opponent"], wanted["matches"], wanted["seed"], before)

    def report() -> Json:
        state = desk.series()
        # While the bot is being built, only the previous report is known.
        is_ready = desk.last_series is not None or task.report is None
        return state if is_ready else {**state, **task.report, "goes_on": state["goes_on"]}

    return Activity(report, lambda report: pieces.news(desk.last_series, len(report["matches"])))


def begin_check(_: Draft, desk: OwnDesk) -> Activity:
    """Start a check."""
    desk.begin_check()
    return Activity(desk.check, lambda _: [])


BEGINNINGS: Final[Mapping[Kind, Callable[[Draft, OwnDesk], Activity]]] = {
    "run": begin_run,
    "ask": begin_ask,
    "series": begin_series,
    "check": begin_check,
}
