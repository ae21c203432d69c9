"""The workshop of a site: its desk for drafts, versions saved from them, languages, matches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import msgspec
from flask import Response, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cw.errors import CapacityError, ProtocolError, UsageError, choices
from cw.games.rules import Json
from cw.kits import LANGUAGES, languages_of
from cw.web.games import game_page, strategies
from cw.web.workshop import WantedRun
from cw.web.workshop_routes import body, fresh, reply, workshop_routes
from cw.workshop.project import (
    MAIN,
    ChangedMeanwhile,
    Sources,
    TextFile,
    digest_of,
    refuse_opponent,
    refuse_seat,
    seats_of,
    sources_of,
)
from cw_hub.accounts.actor import (
    actor,
    must_confirm,
    one_writing,
    player,
    players_only,
    players_only_json,
    to_login,
)
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots import check_requests, programs, shares, version_pages, workshop
from cw_hub.bots import pages as bots_pages
from cw_hub.bots import service as bots_service
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import OF_ITS_OWN, BotView, NewBot, own_program
from cw_hub.bots.shares import refusal
from cw_hub.bots.version_pages import author_of
from cw_hub.bots.versions import failed_step
from cw_hub.bots.workshop import DO, Draft, New, Task, language_of
from cw_hub.matches import friendly
from cw_hub.matches import pages as matches_pages
from cw_hub.matches.friendly_pages import begin_practice, page_of
from cw_hub.operation.queue import WORKSHOP
from cw_hub.pages import polls
from cw_hub.pages.forms import ordinal
from cw_hub.pages.layout import notice
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.players import packages
from cw_hub.players.drafts import match_so_far, turn_in
from cw_hub.players.messages import MATCH, REPLAYS, TURNS, Kind
from cw_hub.store.database import Reading

PAGE: Final = "workshop.page"
"""The endpoint of the page; all others are requested by it."""

USUAL_OPPONENT: Final = "random"
NO_WORKSHOP: Final = "There is no workshop for this game here."
LOG_IN: Final = "Please log in first."
CONFIRM_TO_RUN: Final = "Please confirm your email address before your bot is run."
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
    """The desk of a draft, whose tasks are run by workers."""

    template: ClassVar = "hub/site/workshop.html"
    draft: Draft

    @property
    def game(self) -> str:
        """The game that the bot plays."""
        return self.draft.game

    def page_values(self) -> dict[str, Any]:
        """Return the opponents, the player's bots to save to, and whether there is a run."""
        with one_reading() as reading:
            mine = bots_service.bots_of_user(reading, self.draft.user)
            versions = workshop.own_versions(reading, self.draft)
            has_run = workshop.find_task(reading, self.draft, "run") is not None
        return {
            "has_run": has_run,
            "opponent": opponent_of(strategies(self.game)),
            "own_name": player().username if self.game == OF_ITS_OWN else "",
            "versions": versions,
            "bots": [bot.name for bot in mine if bot.game == self.game and bot.kind == "program"],
        }

    def replay_address(self, name: str) -> str:
        """Return the URL of the JSON of a replay of this site."""
        return matches_pages.replay_address(name)

    def sources(self) -> Sources:
        """Return the files of the draft."""
        files = self._files()
        return sources_of(language_of(files), files)

    def save(self, name: str, text: str, base: str) -> TextFile:
        """Save a file as `workshop.save_file` does, but abort with 422 if it is invalid."""
        try:
            file = workshop.text_file(name, text)
            with one_writing() as writing:
                return workshop.save_file(writing, self.draft, file, base)
        except ChangedMeanwhile:
            raise
        except UsageError as error:
            abort(reply({"error": str(error)}, 422))

    def begin_run(self, wanted: WantedRun, seed: int) -> Json:
        """Start a match, replacing the previous one."""
        about = {**self._against(wanted.opponent), "seat": wanted.seat, "seed": seed}
        if wanted.replay:
            # The worker checks the replay's number of seats, and that it is of this game.
            about |= {"replay": matches_pages.replay_key(wanted.replay), "turn": wanted.turn}
        else:
            refuse_seat(wanted.seat, seats_of(self.draft.game))
        return self._address(self._begin("run", about), seed)

    def run(self) -> Json | None:
        """Return the status of the run, or None before the first one."""
        with one_reading() as reading:
            task = workshop.find_task(reading, self.draft, "run")
            if task is None:
                return None
            report = report_of(reading, "run", task)
        return {**report, **self._address(task.id, task.request["seed"])}

    def turn(self, number: int) -> Json | None:
        """Return what the bot was asked in a turn of the run, or None before the first run."""
        with one_reading() as reading:
            task = workshop.find_task(reading, self.draft, "run")
            if task is None:
                return None
            return turn_in(workshop.piece_with(reading, task.id, TURNS, number), number)

    def end_run(self) -> None:
        """End the run and any repeated question."""
        self._end("ask")
        self._end("run")

    def begin_ask(self, turn: int) -> None:
        """Ask the current bot about a turn of the run."""
        with one_reading() as reading:
            task = workshop.find_task(reading, self.draft, "run")
            is_kept = task and workshop.count_pieces(reading, task.id, MATCH)
        if task is None or not is_kept:
            raise UsageError(RUN_FIRST)
        self._begin("ask", {"run": task.id, "turn": turn})

    def answer(self) -> Json:
        """Return the result of the repeated question."""
        return self._report("ask")

    def begin_series(self, opponent: str, number: int, seed: int) -> None:
        """Start a series, replacing the previous one."""
        self._begin("series", {**self._against(opponent), "matches": number, "seed": seed})

    def series(self) -> Json:
        """Return the status of the series."""
        return self._report("series")

    def series_match(self, number: int) -> bytes | None:
        """Return the packed replay of a match of the series, or None."""
        with one_reading() as reading:
            task = workshop.find_task(reading, self.draft, "series")
            return None if task is None else workshop.piece_with(reading, task.id, REPLAYS, number)

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

    def _files(self) -> list[TextFile]:
        with one_reading() as reading:
            return workshop.files(reading, self.draft)

    def _against(self, opponent: str) -> dict[str, Json]:
        """Return the data that a worker needs on an opponent; raise UsageError if unknown."""
        with one_reading() as reading:
            versions = {each.key: each for each in workshop.own_versions(reading, self.draft)}
        refuse_opponent(self.draft.game, opponent, versions)
        if opponent not in versions:
            return {"opponent": opponent}
        version = versions[opponent]
        program = {"bot_id": version.bot_id, "sha256": version.sha256}
        return {"opponent": version.name, "version": program}

    def _begin(self, kind: Kind, about: dict[str, Json]) -> int:
        """Queue a task for the draft in its current state; return the task's number."""
        if must_confirm():
            abort(403, CONFIRM_TO_RUN)
        files = self._files()
        language = language_of(files)
        if MAIN[language] not in (each.name for each in files):
            raise UsageError(f"your draft contains no bot: {choices('', MAIN.values())}")
        source = packages.pack({each.name: each.text.encode() for each in files})
        new = New(self.draft, kind, {**about, "language": language}, digest_of(files), source)
        hub = resources()
        with one_writing() as writing:
            number = workshop.begin_task(writing, new)
        hub.queue.send(DO, queue=WORKSHOP)
        return number

    def _end(self, kind: Kind) -> None:
        with one_writing() as writing:
            workshop.stop_task(writing, self.draft, kind, STOPPED)

    def _report(self, kind: Kind) -> Json:
        with one_reading() as reading:
            task = workshop.find_task(reading, self.draft, kind)
            nothing = {**EMPTY[kind], "goes_on": False, "waits": "", "is_lost": False}
            return nothing if task is None else report_of(reading, kind, task)

    def _address(self, number: int, seed: int) -> dict[str, Json]:
        """Return the URL at which a page finds the match of a run, and the match's seed."""
        address = url_for("workshop.run_document", game=self.draft.game, number=number)
        return {"match": str(number), "document": address, "seed": seed}


def own_desk(game: str) -> HubDesk:
    """Return the current user's desk for a game.

    Aborts as `refuse_unfit` does, and with 401 for visitors; the page redirects these to the login.
    """
    if actor().user is None:
        abort(to_login() if request.endpoint == PAGE else reply({"error": LOG_IN}, 401))
    refuse_unfit(game)
    return HubDesk(own_draft(game))


def own_draft(game: str) -> Draft:
    """Return the current user's draft."""
    return Draft(player().user_id, game)


def refuse_unfit(game: str) -> None:
    """Abort with 404 if a game has no kits or programs, with 409 if programs are not run."""
    if not bots_pages.has_workshop(game):
        abort(404, NO_WORKSHOP)
    why = why_off(resources().settings)
    if why:
        abort(409, why)


def opponent_of(opponents: Mapping[str, str]) -> str:
    """Return the opponent given in the query, or the default one."""
    name = request.args.get("opponent", "")
    usual = USUAL_OPPONENT if USUAL_OPPONENT in opponents else next(iter(opponents))
    return name if name in opponents else usual


def report_of(session: Reading, kind: Kind, task: Task) -> dict[str, Json]:
    """Return the report on a task for its page: the worker's, and its end or queue status."""
    report = {**EMPTY[kind], **(task.report or {}), "goes_on": task.is_open}
    if task.cause:
        words = ending(kind, task)
        report |= {"words": words, "failed": True} if kind == "run" else {"trouble": words}
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
    running = workshop.own_running(session, task.user_id)
    if running is not None:
        return f"It waits for the end of your {NAMES[running]}."
    if not programs.offered(session):
        return NO_MACHINE
    load = shares.load_of(session, [task.user_id])
    refused = refusal(shares.test_of(task.user_id), load)
    place = ordinal(workshop.ahead_of(session, kind, task) + 1)
    if load.places == 1 and refused:
        return f"{TURNS_TAKEN} It is {place} in the queue."
    if refused == "account":
        return OWN_SHARE.format(used=load.used_by(task.user_id), places=load.places)
    if refused == "kind":
        return f"{TESTS_SHARE} It is {place} in the queue."
    return f"It waits: {place} in the queue."


routes: Final = workshop_routes(own_desk)


@routes.get("/run/<int:number>/document")
@players_only_json
def run_document(game: str, number: int) -> Response:
    """Return a run as far as it is reported, or only what follows a number of turns.

    202 with a message while there is nothing to show, 304 if nothing has changed, 404 for a run
    that another one has replaced, or that belongs to another user.
    """
    with one_reading() as reading:
        task = workshop.find_task(reading, own_draft(game), "run")
        if task is None or task.id != number:
            abort(404, "There is no such run.")
        count = workshop.count_pieces(reading, number, MATCH)
        tag = f"{number}-{count}-{task.state}"
        if request.if_none_match.contains(tag):
            return tagged(Response(status=304), tag)
        after = whole_number(request.args.get("after", ""))
        match = match_so_far(workshop.pieces_of(reading, number, MATCH), after)
        report = report_of(reading, "run", task)
    if match is None:
        return reply({"waiting": "the start of the match", "over": not report["goes_on"]}, 202)
    trouble = report["words"] if report["failed"] else ""
    state = {"live": {"over": not report["goes_on"] and not match["more"], "trouble": trouble}}
    return tagged(
        reply(match | state | {"yours": None, "replay": None}), "" if match["more"] else tag
    )


def tagged(answer: Response, tag: str) -> Response:
    """Return a response with its ETag; "" means that it is requested again immediately."""
    if tag:
        answer.set_etag(tag)
    return fresh(answer)


REFUSED: Final = (CapacityError, ProtocolError, UsageError)
"""Errors reported with status 422 and their message."""

NO_BOT: Final = "There is no such bot."
OPENED: Final = "Version {} is your draft now."
LEFT: Final = "You already have a draft for this game, which was not changed."


class ToSave(msgspec.Struct, frozen=True):
    """A page's request to save a version."""

    name: str
    """The name of the bot."""
    note: str


@routes.post("/versions")
@players_only_json
def save_version(game: str) -> ResponseReturnValue:
    """Save the draft as a version of the player's bot, which is created if missing."""
    refuse_unfit(game)
    if must_confirm():
        return reply({"error": check_requests.CONFIRM}, 403)
    try:
        bot, number = saved(game, body(ToSave))
    except REFUSED as error:
        return reply({"error": str(error)}, 422)
    check_requests.send_check(bot.id, is_program=True)
    state = url_for("workshop.version_state", game=game, name=bot.name, number=number)
    return reply({"number": number, "bot": bots_pages.address(bot), "state": state}, 201)


def saved(game: str, sent: ToSave) -> tuple[BotView, int]:
    """Save the draft as a new version; return the bot and the version number.

    Raises UsageError if the draft is invalid, and CapacityError if the bot has too many versions.
    """
    with one_reading() as reading:
        draft = workshop.files(reading, own_draft(game))
    note = version_pages.line_of(sent.note)
    zipped = packages.pack({each.name: each.text.encode() for each in draft})
    package = version_pages.packed("draft.zip", zipped, game)
    bot = bot_named(game, sent.name)
    return bot, version_pages.save(resources(), bot.id, bot.bot_id, package, note)


def bot_named(game: str, name: str) -> BotView:
    """Return the player's program with that name, registering it if there is none.

    Raises UsageError if the name is not available, or if the bot is not a program.
    """
    bot = bot_of_player() if game == OF_ITS_OWN else own_bot(game, name) or registered(game, name)
    if bot is None or bot.kind != "program":
        raise bots_service.NameTaken(f"{name} is not one of your programs: choose another name")
    return bot


def bot_of_player() -> BotView | None:
    """Return the player's bot in the game that allows one bot each, turned into a program."""
    hub, user = resources(), player()
    with one_writing() as writing:
        own_program(writing, hub.sealer, user.user_id, user.username)
    return own_bot(OF_ITS_OWN, user.username)


def registered(game: str, name: str) -> BotView | None:
    """Register a program of the player; raise UsageError if its name is invalid."""
    form = bots_pages.new_program_form(MultiDict({"game": game, "name": name}))
    form.validate()
    if wrong := first_errors(form):
        raise UsageError(next(iter(wrong.values())))
    bots_pages.add(NewBot(game, name, ""), is_program=True)
    return own_bot(game, name)


def own_bot(game: str, name: str) -> BotView | None:
    """Return a bot of the player by name, or None."""
    with resources().database.reading() as reading:
        mine = bots_service.bots_of_user(reading, player().user_id)
    named = (bot for bot in mine if bot.game == game and bot.name.lower() == name.lower())
    return next(named, None)


@routes.get("/versions/<name>/<int:number>")
@players_only_json
def version_state(game: str, name: str, number: int) -> ResponseReturnValue:
    """Return the state of a version's check; 304 if unchanged."""
    subject = f"version {game} {name} {number}"
    return polls.answer(subject, lambda: polled(game, name, number))


def polled(game: str, name: str, number: int) -> Polled:
    """Return what a page polls while a version is checked; abort with 404 for an unknown one."""
    bot = own_bot(game, name) or abort(404, NO_BOT)
    version = version_pages.find_or_404(author_of(bot), number)
    state = {"state": version.state, "failed": failed_step(version.checks or ())}
    return Polled(f"{version.sha256[:16]}-{version.state}", state, is_public=False)


@routes.post("/open")
@players_only
def open_version(game: str) -> ResponseReturnValue:
    """Fill the draft from a version of the player's program, unless it has been edited."""
    refuse_unfit(game)
    number = whole_number(request.form.get("version", ""), least=1)
    bot = own_bot(game, request.form.get("bot", "")) or abort(404, NO_BOT)
    author = author_of(bot)
    version = version_pages.find_or_404(author, number)
    try:
        files = packages.files_of(version_pages.data_of(author, version))
        with one_writing() as writing:
            is_filled = workshop.fill(writing, own_draft(game), files)
    except UsageError as error:
        notice(str(error), "bad")
        return redirect_to(bots_pages.address(bot))
    if is_filled:
        notice(OPENED.format(number))
    else:
        notice(LEFT, "bad")
    return redirect_to(url_for("workshop.page", game=game))


NOT_HERE: Final = "Choose one of the languages that run here."
CHANGED: Final = (
    "Another window has changed your draft since you were asked. Nothing was replaced: look at the"
    " draft, and choose again."
)
BEGUN: Final = "Your draft begins with the kit for {}."


@routes.get("/language")
@players_only
def choose_language(game: str) -> ResponseReturnValue:
    """Show the languages available for a draft, and whether the draft would be lost."""
    refuse_unfit(game)
    return language_page(game)


def language_page(game: str, error: str = "") -> str:
    """Return the page for choosing a language, with an error if any."""
    with one_reading() as reading:
        draft = workshop.files(reading, own_draft(game))
        versions = running(game)
    return render_template(
        "hub/site/language.html",
        game=game,
        page=game_page(game),
        versions={name: (LANGUAGES[name].title, number) for name, number in versions.items()},
        present=language_of(draft),
        is_touched=not workshop.is_untouched(game, draft),
        base=digest_of(draft),
        error=error,
    )


def running(game: str) -> dict[str, str]:
    """Return the kit languages of a game that live workers run, with their versions."""
    with one_reading() as reading:
        versions = programs.offered(reading)
    return {name: versions[name] for name in languages_of(game) if name in versions}


@routes.post("/language")
@players_only
def set_language(game: str) -> ResponseReturnValue:
    """Replace the draft with the kit of a language; 409 if it was changed in the meantime."""
    refuse_unfit(game)
    language = request.form.get("language", "")
    if language not in running(game):
        return language_page(game, NOT_HERE), 422
    base = request.form.get("base", "")
    try:
        with one_writing() as writing:
            workshop.begin_again(writing, own_draft(game), language, base)
    except ChangedMeanwhile:
        return language_page(game, CHANGED), 409
    except UsageError as error:
        return language_page(game, str(error)), 422
    notice(BEGUN.format(LANGUAGES[language].title))
    return redirect_to(url_for("workshop.page", game=game))


class Wish(msgspec.Struct, frozen=True):
    """The workshop's request for a practice match."""

    name: str
    """The name of the bot."""
    opponent: str


@routes.post("/play")
@players_only_json
def play(game: str) -> ResponseReturnValue:
    """Play a practice match of a bot saved in the workshop; return the URL of its page.

    Responds with 409 and the match that the bot is still playing, if that must end first.
    """
    try:
        wish: Wish = body(Wish)
        bot = own_bot(game, wish.name) or abort(404, NO_BOT)
        match_id = begin_practice(bot, wish.opponent)
    except friendly.Playing as playing:
        return reply({"error": str(playing), "playing": page_of(playing.match_id)}, 409)
    except REFUSED as error:
        return reply({"error": str(error)}, 422)
    return reply({"match": page_of(match_id)}, 201)
