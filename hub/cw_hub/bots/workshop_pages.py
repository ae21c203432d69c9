"""Workshop pages: editing a draft, saving it as a version, choosing a language and a position."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

import msgspec
from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    g,
    make_response,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cw.errors import CapacityError, ProtocolError, UsageError
from cw.kits import LANGUAGES, languages_of
from cw.web.games import game_page, strategies
from cw.web.workshop_routes import (
    LARGEST_BODY,
    NONCE_BYTES,
    Saved,
    ShownReplay,
    body,
    file_document,
    first_steps,
    fresh,
    replay_in,
    reply,
)
from cw.workshop.project import MAIN, USUAL, ChangedMeanwhile, TextFile, seats_of
from cw.workshop.runs import FEWEST, MOST, digest_of
from cw_hub.accounts.actor import one_writing, player, players_only, players_only_json
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import go, must_confirm
from cw_hub.bots import check_requests, drafts, programs, version_pages, workshop_tasks
from cw_hub.bots import pages as bots_pages
from cw_hub.bots import service as bots_service
from cw_hub.bots.check_requests import CONFIRM
from cw_hub.bots.drafts import Draft, own_versions
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import OF_ITS_OWN, BotView, NewBot, own_program
from cw_hub.bots.version_pages import author_of
from cw_hub.bots.versions import Version, failed_step
from cw_hub.pages import polls
from cw_hub.pages.layout import notice
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources, whole_number
from cw_hub.players import packages


@dataclass(frozen=True, slots=True)
class Replays:
    """How to find a site's replays by name."""

    key: Callable[[str], str]
    """Returns the object's key; aborts with 404 if the current user may not see it."""
    address: Callable[[str], str]
    """Returns the URL of the replay document."""
    page: Callable[[str], str]
    """Returns the URL of the page that plays it."""


def install(app: Flask, replays: Replays) -> None:
    """Register the replays that the workshop of an app uses."""
    app.extensions["replays"] = replays


def known_replays() -> Replays:
    """Return the replays of this app."""
    return cast(Replays, current_app.extensions["replays"])


routes = Blueprint("workshop", __name__, url_prefix="/workshop")

USUAL_OPPONENT: Final = "random"
NO_WORKSHOP: Final = "There is no workshop for this game here."


@routes.get("/<game:game>/")
@players_only
def page(game: str) -> ResponseReturnValue:
    """Return the page where the player writes a bot."""
    refuse_unfit(game)
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
        mine = bots_service.bots_of_user(reading, player().user_id)
        versions = own_versions(reading, own_draft(game))
        has_run = workshop_tasks.find(reading, own_draft(game), "run") is not None
    language, opponents = language_of(draft), strategies(game)
    g.style_nonce = secrets.token_urlsafe(NONCE_BYTES)
    main = MAIN[language]
    return fresh(
        make_response(
            render_template(
                "hub/bots/workshop.html",
                game=game,
                page=game_page(game),
                language=language,
                how=LANGUAGES[language],
                main=main,
                nonce=g.style_nonce,
                has_run=has_run,
                replay=replay_in(request.args, shown_replay),
                first=first_steps(next((each.text for each in draft if each.name == main), "")),
                strategies=opponents,
                opponent=opponent_of(opponents),
                own_name=player().username if game == OF_ITS_OWN else "",
                versions=versions,
                seats=range(1, seats_of(game) + 1),
                fewest=FEWEST,
                most=MOST,
                bots=[bot.name for bot in mine if bot.game == game and bot.kind == "program"],
            )
        )
    )


def shown_replay(name: str) -> ShownReplay:
    """Return a replay of this site."""
    known = known_replays()
    return ShownReplay(name, known.address(name), known.page(name))


def opponent_of(opponents: Mapping[str, str]) -> str:
    """Return the opponent given in the query, or the default one."""
    name = request.args.get("opponent", "")
    usual = USUAL_OPPONENT if USUAL_OPPONENT in opponents else next(iter(opponents))
    return name if name in opponents else usual


def refuse_unfit(game: str) -> None:
    """Abort with 404 if a game has no kits or programs, with 409 if programs are not run."""
    if not has_workshop(game):
        abort(404, NO_WORKSHOP)
    why = why_off(resources().settings)
    if why:
        abort(409, why)


@lru_cache
def has_workshop(game: str) -> bool:
    """Return whether a game has kits to start from; cached, as kits do not change."""
    return game in bots_pages.games_of_programs() and bool(languages_of(game))


def written_at(game: str) -> str:
    """Return the URL of the page for writing a game's bots, or "" if there is none."""
    is_written = has_workshop(game) and not why_off(resources().settings)
    return url_for("workshop.page", game=game) if is_written else ""


def own_draft(game: str) -> Draft:
    """Return the current user's draft."""
    return Draft(player().user_id, game)


def language_of(draft: list[TextFile]) -> str:
    """Return the language of a draft, or the default one if unknown."""
    names = {each.name for each in draft}
    return next((language for language, main in MAIN.items() if main in names), USUAL)


@routes.get("/<game:game>/files")
@players_only_json
def files(game: str) -> Response:
    """Return the files of the player's draft with their texts and digests; 304 if unchanged."""
    refuse_unfit(game)
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
    main = MAIN[language_of(draft)]
    draft.sort(key=lambda each: (each.name != main, each.name))
    answer = reply({"files": [file_document(each) for each in draft]})
    answer.set_etag(digest_of(draft))
    answer.make_conditional(request)
    return answer


@routes.put("/<game:game>/files/<name>")
@players_only_json
def save(game: str, name: str) -> ResponseReturnValue:
    """Save a file; 409 with its current content if another window changed it, 422 if invalid."""
    refuse_unfit(game)
    request.max_content_length = LARGEST_BODY
    try:
        sent: Saved = body(Saved)
        file = drafts.text_file(name, sent.text)
        with one_writing() as writing:
            drafts.save(writing, own_draft(game), file, sent.base)
    except ChangedMeanwhile as changed:
        now = None if changed.now is None else file_document(changed.now)
        return reply({"error": str(changed), "now": now}, 409)
    except UsageError as error:
        return reply({"error": str(error)}, 422)
    return reply(file_document(file))


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


@routes.post("/<game:game>/versions")
@players_only_json
def save_version(game: str) -> ResponseReturnValue:
    """Save the draft as a version of the player's bot, which is created if missing."""
    refuse_unfit(game)
    if must_confirm():
        return reply({"error": CONFIRM}, 403)
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
        draft = drafts.files(reading, own_draft(game))
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


@routes.get("/<game:game>/versions/<name>/<int:number>")
@players_only_json
def version_state(game: str, name: str, number: int) -> ResponseReturnValue:
    """Return the state of a version's check; 304 if unchanged."""
    subject = f"version {game} {name} {number}"
    return polls.answer(subject, lambda: polled(find_version(game, name, number)))


def find_version(game: str, name: str, number: int | None) -> Version:
    """Return a version of the player's program; abort with 404 for any other version."""
    bot = own_bot(game, name) or abort(404, NO_BOT)
    return version_pages.find_or_404(author_of(bot), number)


def polled(version: Version) -> Polled:
    """Return what a page polls while a version is checked."""
    state = {"state": version.state, "failed": failed_step(version.checks or ())}
    return Polled(f"{version.sha256[:16]}-{version.state}", state, is_public=False)


@routes.post("/<game:game>/open")
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
            is_filled = drafts.fill(writing, own_draft(game), files)
    except UsageError as error:
        notice(str(error), "bad")
        return go(bots_pages.address(bot))
    if is_filled:
        notice(OPENED.format(number))
    else:
        notice(LEFT, "bad")
    return go(url_for("workshop.page", game=game))


NOT_HERE: Final = "Choose one of the languages that run here."
CHANGED: Final = (
    "Another window has changed your draft since you were asked. Nothing was replaced: look at the"
    " draft, and choose again."
)
BEGUN: Final = "Your draft begins with the kit for {}."


@routes.get("/<game:game>/language")
@players_only
def choose_language(game: str) -> ResponseReturnValue:
    """Show the languages available for a draft, and whether the draft would be lost."""
    refuse_unfit(game)
    return language_page(game)


def language_page(game: str, error: str = "") -> str:
    """Return the page for choosing a language, with an error if any."""
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
        versions = running(game)
    return render_template(
        "hub/bots/language.html",
        game=game,
        page=game_page(game),
        versions={name: (LANGUAGES[name].title, number) for name, number in versions.items()},
        present=language_of(draft),
        is_touched=not drafts.is_untouched(game, draft),
        base=digest_of(draft),
        error=error,
    )


def running(game: str) -> dict[str, str]:
    """Return the kit languages of a game that live workers run, with their versions."""
    with one_reading() as reading:
        versions = programs.offered(reading)
    return {name: versions[name] for name in languages_of(game) if name in versions}


@routes.post("/<game:game>/language")
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
            drafts.begin_again(writing, own_draft(game), language, base)
    except ChangedMeanwhile:
        return language_page(game, CHANGED), 409
    except UsageError as error:
        return language_page(game, str(error)), 422
    notice(BEGUN.format(LANGUAGES[language].title))
    return go(url_for("workshop.page", game=game))
