"""Workshop tasks of a draft for its page: starting and stopping them, status and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, abort, request, url_for

from cw.errors import UsageError, choices
from cw.games.rules import Json
from cw.web.workshop import WantedRun, drawn
from cw.web.workshop_routes import fresh, reply
from cw.workshop.project import MAIN, refuse_opponent, refuse_seat, seats_of
from cw.workshop.runs import FEWEST, MOST, digest_of
from cw_hub.accounts.actor import actor, one_writing, players_only_json
from cw_hub.accounts.pages import must_confirm
from cw_hub.bots import drafts, programs, shares, workshop_tasks
from cw_hub.bots.drafts import Draft, own_versions
from cw_hub.bots.shares import refusal
from cw_hub.bots.workshop_pages import known_replays, language_of, own_draft, refuse_unfit, routes
from cw_hub.bots.workshop_tasks import DO, Kind, New, Task
from cw_hub.operation.queue import WORKSHOP
from cw_hub.pages.forms import ordinal
from cw_hub.pages.request import one_reading, resources
from cw_hub.players import packages
from cw_hub.players.drafts import match_so_far, turn_in
from cw_hub.players.messages import MATCH, REPLAYS, TURNS
from cw_hub.store.database import Reading

LOG_IN: Final = "Please log in first."
CONFIRM: Final = "Please confirm your e-mail address before your bot is run."
RUN_FIRST: Final = "run the bot first, then ask it about a turn"
STOPPED: Final = "you have stopped it"
AGAIN: Final = "Try it again: your draft is as you left it."
NO_MACHINE: Final = "It waits: no machine that runs programs is available right now."

OWN_SHARE: Final = (
    "It waits: your programs use {used} of {places} places, the most while others wait. "
    "It begins when one of your matches ends."
)
TESTS_SHARE: Final = (
    "It waits: half of the places are kept for matches, and all others are in use. "
    "It begins when one of them is free."
)
TURNS_TAKEN: Final = "It waits: there is one place for programs, and matches and tests take turns."

LONGEST_NUMBER: Final = 7

NAMES: Final[Mapping[Kind, str]] = {
    "run": "match",
    "ask": "question",
    "series": "series",
    "check": "check",
}

EMPTY: Final[Mapping[Kind, dict[str, Any]]] = {
    "run": {
        "ready": False,
        "failed": False,
        "words": "",
        "protection": "",
        "player": None,
        "compiler": "",
        "output": [],
        "fault": None,
        "marks": [],
    },
    "ask": {"answer": None, "trouble": ""},
    "series": {"opponent": "", "total": 0, "matches": [], "tally": None, "trouble": ""},
    "check": {"steps": [], "trouble": ""},
}
"""The report before a worker has sent anything."""


@dataclass(frozen=True, slots=True)
class HubDesk:
    """The workshop tasks of one draft."""

    draft: Draft

    def begin_run(self, wanted: WantedRun) -> Json:
        """Start a match, replacing the previous one; without a seed, one is drawn."""
        seed = drawn() if wanted.seed is None else wanted.seed
        about = {**self._against(wanted.opponent), "seat": wanted.seat, "seed": seed}
        if wanted.replay:
            # The worker checks the replay's number of seats, and that it is of this game.
            about |= {"replay": known_replays().key(wanted.replay), "turn": wanted.turn}
        else:
            refuse_seat(wanted.seat, seats_of(self.draft.game))
        return self._address(self._begin("run", about), seed)

    def run(self) -> Json | None:
        """Return the status of the run, or None before the first one."""
        with one_reading() as reading:
            task = workshop_tasks.find(reading, self.draft, "run")
            if task is None:
                return None
            report = report_of(reading, "run", task)
        return {**report, **self._address(task.id, task.request["seed"])}

    def turn(self, number: int) -> Json | None:
        """Return what the bot was asked in a turn of the run, or None before the first run."""
        with one_reading() as reading:
            task = workshop_tasks.find(reading, self.draft, "run")
            if task is None:
                return None
            return turn_in(workshop_tasks.piece_with(reading, task.id, TURNS, number), number)

    def end_run(self) -> None:
        """End the run and any repeated question."""
        self._end("ask")
        self._end("run")

    def begin_ask(self, turn: int) -> None:
        """Ask the current bot about a turn of the run."""
        with one_reading() as reading:
            task = workshop_tasks.find(reading, self.draft, "run")
            is_kept = task and workshop_tasks.count_pieces(reading, task.id, MATCH)
        if task is None or not is_kept:
            raise UsageError(RUN_FIRST)
        self._begin("ask", {"run": task.id, "turn": turn})

    def answer(self) -> Json:
        """Return the result of the repeated question."""
        return self._report("ask")

    def begin_series(self, opponent: str, number: int) -> None:
        """Start a series, replacing the previous one."""
        if not FEWEST <= number <= MOST:
            raise UsageError(f"a series has {FEWEST} to {MOST} matches, not {number}")
        about = {**self._against(opponent), "matches": number, "seed": drawn(number)}
        self._begin("series", about)

    def series(self) -> Json:
        """Return the status of the series."""
        return self._report("series")

    def series_match(self, number: int) -> bytes | None:
        """Return the packed replay of a match of the series, or None."""
        with one_reading() as reading:
            task = workshop_tasks.find(reading, self.draft, "series")
            return (
                None
                if task is None
                else workshop_tasks.piece_with(reading, task.id, REPLAYS, number)
            )

    def end_series(self) -> None:
        """End the series; its matches so far can still be watched."""
        self._end("series")

    def begin_check(self) -> None:
        """Start a check, replacing the previous one."""
        self._begin("check", {})

    def check(self) -> Json:
        """Return the status of the check."""
        return self._report("check")

    def end_check(self) -> None:
        """End the check."""
        self._end("check")

    def _against(self, opponent: str) -> dict[str, Json]:
        """Return the data that a worker needs on an opponent; raise UsageError if unknown."""
        with one_reading() as reading:
            versions = {each.key: each for each in own_versions(reading, self.draft)}
        refuse_opponent(self.draft.game, opponent, versions)
        if opponent not in versions:
            return {"opponent": opponent}
        version = versions[opponent]
        program = {"bot_id": version.bot_id, "sha256": version.sha256}
        return {"opponent": version.name, "version": program}

    def _begin(self, kind: Kind, about: dict[str, Json]) -> int:
        """Queue a task for the draft in its current state; return the task's number."""
        if must_confirm():
            abort(403, CONFIRM)
        with one_reading() as reading:
            files = drafts.files(reading, self.draft)
        language = language_of(files)
        if MAIN[language] not in (each.name for each in files):
            raise UsageError(f"your draft contains no bot: {choices('', MAIN.values())}")
        source = packages.pack({each.name: each.text.encode() for each in files})
        new = New(self.draft, kind, {**about, "language": language}, digest_of(files), source)
        hub = resources()
        with one_writing() as writing:
            number = workshop_tasks.begin(writing, new)
        hub.queue.send(DO, queue=WORKSHOP)
        return number

    def _end(self, kind: Kind) -> None:
        with one_writing() as writing:
            workshop_tasks.stop(writing, self.draft, kind, STOPPED)

    def _report(self, kind: Kind) -> Json:
        with one_reading() as reading:
            task = workshop_tasks.find(reading, self.draft, kind)
            nothing = {**EMPTY[kind], "goes_on": False, "waits": "", "is_lost": False}
            return nothing if task is None else report_of(reading, kind, task)

    def _address(self, number: int, seed: int) -> dict[str, Json]:
        """Return the URL at which a page finds the match of a run, and the match's seed."""
        address = url_for("workshop.run_document", game=self.draft.game, number=number)
        return {"match": str(number), "document": address, "seed": seed}


def desk_of(game: str) -> HubDesk:
    """Return the current user's desk; abort with 401 for visitors."""
    if actor().user is None:
        abort(reply({"error": LOG_IN}, 401))
    refuse_unfit(game)
    return HubDesk(own_draft(game))


def report_of(session: Reading, kind: Kind, task: Task) -> dict[str, Json]:
    """Return the report on a task for its page: the worker's, and its end or queue status."""
    report = {**EMPTY[kind], **(task.report or {}), "goes_on": task.is_open}
    if task.cause:
        report |= {"words": ending(kind, task), "failed": True} if kind == "run" else {}
        report |= {} if kind == "run" else {"trouble": ending(kind, task)}
    waits = waiting(session, kind, task) if task.state == "queued" else ""
    return {**report, "waits": waits, "is_lost": task.state == "lost"}


def ending(kind: Kind, task: Task) -> str:
    """Return why a task ended early."""
    if task.state == "done":
        return f"{task.cause[:1].upper()}{task.cause[1:]}."
    again = f" {AGAIN}" if task.state == "lost" else ""
    return f"The {NAMES[kind]} was aborted: {task.cause}.{again}"


def waiting(session: Reading, kind: Kind, task: Task) -> str:
    """Return what a task waits for, and what happens next."""
    running = workshop_tasks.own_running(session, task.user_id)
    if running is not None:
        return f"It waits for the end of your {NAMES[running]}."
    if not programs.offered(session):
        return NO_MACHINE
    load = shares.load_of(session, [task.user_id])
    refused = refusal(shares.test_of(task.user_id), load)
    place = ordinal(workshop_tasks.ahead_of(session, kind, task) + 1)
    if load.places == 1 and refused:
        return f"{TURNS_TAKEN} It is {place} in the queue."
    if refused == "account":
        return OWN_SHARE.format(used=load.used_by(task.user_id), places=load.places)
    if refused == "kind":
        return f"{TESTS_SHARE} It is {place} in the queue."
    return f"It waits: {place} in the queue."


@routes.get("/<game:game>/run/<int:number>/document")
@players_only_json
def run_document(game: str, number: int) -> Response:
    """Return a run as far as it is reported, or only what follows a number of turns.

    202 with a message while there is nothing to show, 304 if nothing has changed, 404 for a run
    that another one has replaced, or that belongs to another user.
    """
    with one_reading() as reading:
        task = workshop_tasks.find(reading, own_draft(game), "run")
        if task is None or task.id != number:
            abort(404, "There is no such run.")
        count = workshop_tasks.count_pieces(reading, number, MATCH)
        tag = f"{number}-{count}-{task.state}"
        if request.if_none_match.contains(tag):
            return tagged(Response(status=304), tag)
        match = match_so_far(workshop_tasks.pieces_of(reading, number, MATCH), turns_known())
        report = report_of(reading, "run", task)
    if match is None:
        return reply({"waiting": "the start of the match", "over": not report["goes_on"]}, 202)
    trouble = report["words"] if report["failed"] else ""
    state = {"live": {"over": not report["goes_on"] and not match["more"], "trouble": trouble}}
    return tagged(
        reply(match | state | {"yours": None, "replay": None}), "" if match["more"] else tag
    )


def turns_known() -> int | None:
    """Return the turn after which the match is requested, or None for the whole match."""
    text = request.args.get("after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None


def tagged(answer: Response, tag: str) -> Response:
    """Return a response with its ETag; "" means that it is requested again immediately."""
    if tag:
        answer.set_etag(tag)
    return fresh(answer)
