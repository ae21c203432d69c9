"""What a worker does with a task of the workshop: it is begun, told while it goes on, and ended."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic, sleep
from typing import Final, TypeAlias

from cw.arena.bots import BotSpec
from cw.errors import ArenaError, UsageError
from cw.games.rules import Json
from cw.hub.bots import packages, programs
from cw.hub.bots.addresses import isolation_of
from cw.hub.bots.seats import PROGRAM, ClaimedSeat
from cw.hub.bots.workshop import tasks
from cw.hub.bots.workshop.building import SandboxBuilder
from cw.hub.bots.workshop.pieces import MATCH, RunPieces, SeriesPieces, replay_of
from cw.hub.bots.workshop.tasks import Claim, News, Piece
from cw.hub.operation.queue import WORKSHOP
from cw.hub.operation.resources import Resources
from cw.hub.store.archives import file_at
from cw.hub.store.tables import TaskKind
from cw.matches.positions import Position, position_of
from cw.replays.document import decode
from cw.web.live.live_matches import LiveMatches
from cw.web.workshop.own_desk import OwnDesk
from cw.workshop.folder import BotFolder
from cw.workshop.project import Project
from cw.workshop.series import SeriesMatch

DO: Final = "workshop_task"
"""The job that does whatever task is next."""

EVERY: Final = 0.2
"""Seconds between two looks at what goes on, and at whether it is to go on."""

SOON: Final = 0.05
"""The same while the author waits for the first picture."""

AT_FIRST: Final = 2.0
"""Seconds for which an author does that."""

STEADY: Final = 5.0
"""Seconds after which a worker says that it lives, though there is nothing to tell."""

LONGEST: Final[Mapping[TaskKind, float]] = {"run": 300, "ask": 120, "series": 1800, "check": 300}
"""Seconds that a task may take, its compiler included."""

OUR_FAULT: Final = "an error of the site"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Activity:
    """A task that goes on, as its worker follows it."""

    report: Callable[[], Json]
    """What the page is told; `goes_on` says whether it does."""
    news: Callable[[Json], list[Piece]]
    """What is new beside that, and no later than it."""


def do_next(resources: Resources, *, worker: str) -> None:
    """Do the task that is next, if any can be begun. Twice: two tasks."""
    with resources.database.writing() as session:
        claim = tasks.claim(session, resources.clock, worker)
    if claim is None:
        return
    try:
        do(resources, claim)
    finally:
        send_next(resources)


def send_next(resources: Resources) -> None:
    """Let a worker look for a task again, as one that waited may be begun now."""
    with resources.database.reading() as session:
        waits = tasks.any_waits(session)
    if waits:
        resources.queue.send(DO, queue=WORKSHOP)


def send_lost(resources: Resources) -> None:
    """Send what waits and nobody has claimed again; twice: sent once."""
    with resources.database.writing() as session:
        count = tasks.take_due(session, resources.clock)
    for _ in range(count):
        resources.queue.send(DO, queue=WORKSHOP)


def do(resources: Resources, claim: Claim) -> None:
    """Do a task to its end, or until it is to go on no more; afterwards nothing of it runs."""
    try:
        with opened_desk(resources, claim) as desk:
            follow(resources, claim, BEGINNINGS[claim.kind](resources, claim, desk))
    except ArenaError as error:
        give_up(resources, claim, str(error))
    except Exception:
        logger.exception("the %s %s of the workshop", claim.kind, claim.id)
        give_up(resources, claim, OUR_FAULT)


def give_up(resources: Resources, claim: Claim, cause: str) -> None:
    """End a task that cannot be done."""
    with resources.database.writing() as session:
        tasks.finish(session, resources.clock, claim, News(None), cause)


def follow(resources: Resources, claim: Claim, activity: Activity) -> None:
    """Tell what goes on until it is over, has taken too long, or is to go on no more."""
    known: Json = None
    began = heard = monotonic()
    while True:
        report = activity.report()
        is_over, is_late = not report["goes_on"], monotonic() - began > LONGEST[claim.kind]
        news = News(report, activity.news(report))
        if is_over or is_late:
            cause = "" if is_over else f"it took more than {LONGEST[claim.kind]:g} s"
            with resources.database.writing() as session:
                tasks.finish(session, resources.clock, claim, news, cause)
            return
        if report != known or news.pieces or monotonic() - heard > STEADY:
            with resources.database.writing() as session:
                goes_on = tasks.beat(session, resources.clock, claim, news)
            known, heard = report, monotonic()
        else:
            with resources.database.reading() as session:
                goes_on = tasks.is_claimed(session, claim)
        if not goes_on or (claim.kind == "series" and has_given_way(resources, claim)):
            return
        sleep(SOON if monotonic() - began < AT_FIRST else EVERY)


def has_given_way(resources: Resources, claim: Claim) -> bool:
    """Let a series wait where it keeps anything else waiting; return whether it does."""
    with resources.database.reading() as session:
        if not tasks.keeps_others_waiting(session, resources.clock):
            return False
    with resources.database.writing() as session:
        tasks.give_way(session, resources.clock, claim)
    return True


@contextmanager
def opened_desk(resources: Resources, claim: Claim) -> Iterator[OwnDesk]:
    """Give a desk for a draft as it was, in a folder of its own; its programs run behind walls."""
    with ExitStack() as stack:
        folder = stack.enter_context(packages.empty_folder())
        packages.unpack(claim.source, folder)
        others = stack.enter_context(opponents(resources, claim))
        isolation = isolation_of(resources.settings, "require")
        language = claim.request["language"]
        project = Project(claim.draft.game, language, BotFolder(folder), isolation, others)
        matches = LiveMatches(1, monotonic)
        stack.callback(matches.close)
        builder = SandboxBuilder(project, sha256(claim.source).hexdigest())
        desk = OwnDesk(project, matches, builder, at_once=1)
        stack.callback(desk.close)
        yield desk


@contextmanager
def opponents(resources: Resources, claim: Claim) -> Iterator[Mapping[str, BotSpec]]:
    """Give the version of a program that a task is played against, if it is one."""
    version = claim.request.get("version")
    if version is None:
        yield {}
        return
    spec = f"{PROGRAM}{version['sha256']}"
    seat = ClaimedSeat(claim.request["opponent"], spec, version["bot_id"])
    hosting = programs.hosting_of_people(resources.settings)
    unpacked = programs.unpacked(resources.objects, claim.draft.game, [seat], hosting)
    with unpacked as bots:
        if bots[seat.name].kind == "absent":
            raise UsageError(bots[seat.name].target)
        yield bots


def begin_run(resources: Resources, claim: Claim, desk: OwnDesk) -> Activity:
    """Begin a match, with the position of a replay if that is wanted."""
    wanted, position = claim.request, position_in(resources, claim)
    match = desk.project.match(
        wanted["opponent"], wanted["seat"], wanted["seed"], position=position
    )
    run = desk.play(match)
    pieces = RunPieces(run)
    return Activity(
        lambda: pieces.amended(desk.report_of(run)),
        lambda report: pieces.news(is_over=not report["goes_on"]),
    )


def position_in(resources: Resources, claim: Claim) -> Position | None:
    """Return the position with which a run begins, None for a new game."""
    key = claim.request.get("replay")
    if key is None:
        return None
    data = file_at(resources.objects, key)
    if data is None:
        raise UsageError("this replay was deleted: choose another one")
    return position_of(decode(data), claim.request["turn"])


def begin_ask(resources: Resources, claim: Claim, desk: OwnDesk) -> Activity:
    """Ask the bot about a turn of a run again; raise UsageError if that is not kept."""
    with resources.database.reading() as session:
        run = tasks.find(session, claim.draft, "run")
        pieces = tasks.pieces_of(session, run.id, MATCH) if run else []
    document = replay_of(pieces)
    if run is None or document is None or run.id != claim.request["run"]:
        raise UsageError("the run that was shown was deleted: run the bot again")
    players = [seat["player"] for seat in document["players"]]
    player = next(each for each in players if str(each) == run.report["player"])
    desk.ask(document, player, claim.request["turn"])
    return Activity(desk.answer, lambda _: [])


def begin_series(_: Resources, claim: Claim, desk: OwnDesk) -> Activity:
    """Begin a series, or go on with one that gave way."""
    before = [SeriesMatch.from_json(match) for match in (claim.report or {}).get("matches", ())]
    pieces, wanted = SeriesPieces(len(before)), claim.request
    desk.play_series(wanted["opponent"], wanted["matches"], wanted["seed"], before)

    def report() -> Json:
        state = desk.series()
        # While it is being built nothing is known of it but what was told before.
        is_ready = desk.last_series is not None or claim.report is None
        return state if is_ready else {**state, **claim.report, "goes_on": state["goes_on"]}

    return Activity(report, lambda report: pieces.news(desk.last_series, len(report["matches"])))


def begin_check(_: Resources, __: Claim, desk: OwnDesk) -> Activity:
    """Begin a check."""
    desk.begin_check()
    return Activity(desk.check, lambda _: [])


Begin: TypeAlias = Callable[[Resources, Claim, OwnDesk], Activity]

BEGINNINGS: Final[Mapping[TaskKind, Begin]] = {
    "run": begin_run,
    "ask": begin_ask,
    "series": begin_series,
    "check": begin_check,
}
