"""Pages where players register, edit, check and retire their bots, with their forms."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from flask import (
    Blueprint,
    Flask,
    abort,
    current_app,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from wtforms import Form, SelectField, StringField

from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw.games.registry import game_entries, load_protocol
from cw.kits import languages_of
from cw.web.games import game_page
from cw_hub.accounts.actor import must_confirm, one_writing, player, players_only, players_only_json
from cw_hub.accounts.forms import first_errors, is_filled, needs, stripped
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots import check_requests, programs
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import INSECURE, INTERNAL, address_problem
from cw_hub.bots.check_requests import CONFIRM
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import OF_ITS_OWN, BotView, Competing, NewBot, Registered
from cw_hub.pages import polls
from cw_hub.pages.layout import machine_time, notice, show_once
from cw_hub.pages.polls import Polled
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.request_counts import note_done

NAMED: Final = "The bot name must only contain letters, numbers, and hyphens"


LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")

LENGTHS: Final = range(3, 33)
"""Valid lengths of bot names, in characters."""


def is_name(text: str) -> bool:
    """Return whether a text is a valid bot name."""
    return len(text) in LENGTHS and set(text) <= LETTERS


def is_base_address(url: str) -> bool:
    """Return whether a text is a valid URL of a web service, for example without a query."""
    try:
        check_base(url)
    except UsageError:
        return False
    return True


def may_be_used(problem: str) -> Any:
    """Return a validator that rejects URLs with this problem."""
    return needs(lambda url: address_problem(url, resources().settings) != problem, problem)


WHERE_BOTS_MAY_BE: Final = (may_be_used(INSECURE), may_be_used(INTERNAL))
"""Validators of every field for a bot URL, applied after those of its format."""


def endpoint_field() -> Any:
    """Return the form field for a bot's URL."""
    return StringField(
        "Endpoint URL",
        [
            needs(is_filled, "Please enter the endpoint URL"),
            needs(
                lambda url: len(url) <= 500,
                "The endpoint URL must be at most 500 characters long",
            ),
            needs(is_base_address, "Please enter a valid URL"),
            *WHERE_BOTS_MAY_BE,
        ],
        filters=[stripped],
    )


def description_field() -> Any:
    """Return the form field for a bot's description."""
    return StringField(
        "Description",
        [
            needs(
                lambda text: len(text) <= 500,
                "The description must be at most 500 characters long",
            )
        ],
    )


def name_field() -> Any:
    """Return the form field for a bot's name."""
    return StringField(
        "Bot name",
        [
            needs(is_filled, "Please enter a bot name"),
            needs(
                lambda name: len(name) in LENGTHS, "The bot name must be 3 to 32 characters long"
            ),
            needs(lambda name: set(name) <= LETTERS, NAMED),
        ],
    )


class ProgramForm(Form):
    """Register a bot together with its program."""

    game = SelectField("Game")
    name = name_field()
    description = description_field()


class BotForm(Form):
    """Register a bot that is a web service."""

    game = SelectField("Game")
    name = name_field()
    endpoint = endpoint_field()
    description = description_field()


class DescriptionForm(Form):
    """Change the description of a program."""

    description = description_field()


class EditForm(Form):
    """Change the URL and the description of a bot."""

    endpoint = endpoint_field()
    description = description_field()


routes = Blueprint("bots", __name__)

F = TypeVar("F", BotForm, ProgramForm)

CLOSED: Final = (
    "No running competition of this game accepts new bots. Choose another game, or come back later"
)


def install(app: Flask, competing: Competing) -> None:
    """Register how bots compete on the site of an app."""
    app.extensions["competing"] = competing


def competing() -> Competing:
    """Return how bots compete on this site."""
    return cast(Competing, current_app.extensions["competing"])


def new_form(values: MultiDict[str, str] | None = None) -> BotForm:
    """Return the form with the games for which players can currently register web services."""
    return with_games(BotForm(values), games_of_services())


def new_program_form(values: MultiDict[str, str] | None = None) -> ProgramForm:
    """Return the form with the games for which players can currently upload programs."""
    return with_games(ProgramForm(values), games_of_programs())


def with_games(form: F, fitting: Collection[str]) -> F:
    """Restrict a form to the given games in which new bots can currently compete."""
    games = played(fitting)
    form.game.choices = [(game, game_page(game).title) for game in games]
    form.game.validators = [
        needs(lambda game: game in fitting, "Please choose a game"),
        needs(lambda game: game in games, CLOSED),
    ]
    form.game.validate_choice = False
    return form


def played(games: Collection[str]) -> list[str]:
    """Return the given games in which new bots can currently compete."""
    with one_reading() as reading:
        competitive = competing().games(reading)
    return [game for game in games if game in competitive]


def offered_games() -> list[str]:
    """Return the games for which the site currently accepts bots from players."""
    runs_programs = not why_off(resources().settings)
    return played(games_of_programs() if runs_programs else games_of_services())


def games_of_services() -> list[str]:
    """Return the games with web services as bots, except the one with its own bot page."""
    return [
        game
        for game in game_entries()
        if "http" in load_protocol(game).transports and game != OF_ITS_OWN
    ]


def games_of_programs() -> list[str]:
    """Return the games whose bots may be programs."""
    return list(game_entries())


@lru_cache
def has_workshop(game: str) -> bool:
    """Return whether a game has kits to start from; cached, as kits do not change."""
    return game in games_of_programs() and bool(languages_of(game))


def written_at(game: str) -> str:
    """Return the URL of the page for writing a game's bots, or "" if there is none."""
    is_written = has_workshop(game) and not why_off(resources().settings)
    return url_for("workshop.page", game=game) if is_written else ""


@routes.get("/bots/new")
@players_only
def new() -> ResponseReturnValue:
    """Show the program form if the site runs programs, unless the query requests the other one."""
    usual = "address" if why_off(resources().settings) else "program"
    if request.args.get("kind", usual) == "address":
        return render_template("hub/bots/new_bot.html", form=new_form(), errors={})
    return program_page(new_program_form(), {})


def program_page(form: ProgramForm, errors: dict[str, str]) -> str:
    """Return the form for a program, with its errors."""
    hub = resources()
    with one_reading() as reading:
        running = programs.titled(programs.offered(reading))
    return render_template(
        "hub/bots/new_program.html",
        form=form,
        errors=errors,
        confirm=errors.get("") == CONFIRM,
        languages=running,
        why_off=why_off(hub.settings),
    )


@routes.post("/bots/new", endpoint="register")
@players_only
def register() -> ResponseReturnValue:
    """Register a bot, show its secret once, and have it checked."""
    form = new_form(request.form)
    if not form.game.choices:
        return refused(form, {})
    if must_confirm():
        return refused(form, {"": CONFIRM})
    form.validate()
    errors = first_errors(form)
    if errors:
        return refused(form, errors)
    values = {name: field.data or "" for name, field in form._fields.items()}
    check_requests.claim_check(values["endpoint"])
    try:
        registered = add(NewBot(**values))
    except bots_service.NameTaken as error:
        return refused(form, {"name": str(error)})
    except bots_service.TooManyBots as error:
        return refused(form, {"": str(error)})
    return secret_page(values["game"], values["name"], registered.secret, "is registered")


def add(new: NewBot, *, is_program: bool = False) -> Registered:
    """Register a bot of the current player, and enter it in its game's competitions.

    A web service is checked immediately, a program with its first version. Raises the errors of
    `service.register`.
    """
    hub = resources()
    with one_writing() as writing:
        registered = bots_service.register(
            writing, hub.sealer, player().user_id, new, is_program=is_program
        )
        competing().enter(writing, registered.id)
    note_done()
    if not is_program:
        check_requests.send_check(registered.id)
    return registered


def secret_page(game: str, name: str, secret: str, words: str) -> ResponseReturnValue:
    """Show a bot's secret, for the only time."""
    back = url_for("bots.page", name=name, game=game)
    return show_once(f"{name} {words}", "Shared secret", secret, back, variable="BOT_SECRET")


def refused(form: BotForm, errors: dict[str, str]) -> ResponseReturnValue:
    """Show the form again with its errors."""
    page = render_template(
        "hub/bots/new_bot.html", form=form, errors=errors, confirm=errors.get("") == CONFIRM
    )
    return page, 422


def find(name: str) -> BotView:
    """Return a bot of the current user; abort with 404 for any other bot."""
    with one_reading() as reading:
        bot = bots_service.find(reading, request.values.get("game") or None, name)
    if bot is None or bot.user_id != player().user_id or bot.status == "RETIRED":
        abort(404, "There is no such bot.")
    if bot.game == OF_ITS_OWN:
        abort(redirect_to(address(bot)))
    return bot


def address(bot: BotView) -> str:
    """Return the URL of the page where a player sets up a bot."""
    if bot.game == OF_ITS_OWN:
        return url_for("bot_settings.page")
    return url_for("bots.page", name=bot.name, game=bot.game)


@routes.get("/bot/<name>/state")
@players_only_json
def state(name: str) -> ResponseReturnValue:
    """Return the status of a bot to its page's script; 304 if unchanged."""
    game = request.args.get("game", "")
    return polls.answer(f"bot {game} {name}", lambda: polled(find(name)))


def polled(bot: BotView) -> Polled:
    """Return what a bot's page polls while the bot is being checked."""
    checked = machine_time(bot.checked_at) if bot.checked_at else ""
    state = {"status": bot.status, "checked_at": checked}
    return Polled(f"{bot.bot_id}-{bot.status}-{checked}", state, is_public=False)


@routes.post("/bot/<name>/edit")
@players_only
def edit(name: str) -> ResponseReturnValue:
    """Change the URL and the description of a bot."""
    bot = find(name)
    form = (EditForm if bot.kind == "url" else DescriptionForm)(request.form)
    form.validate()
    errors = first_errors(form)
    if errors:
        notice(next(iter(errors.values())), "bad")
        return redirect_to(address(bot))
    endpoint = str(form.endpoint.data) if isinstance(form, EditForm) else bot.endpoint
    description = form.description.data or ""
    if endpoint != bot.endpoint:
        check_requests.claim_check(endpoint)
    try:
        with one_writing() as writing:
            is_new = bots_service.edit(writing, bot, endpoint, description)
    except bots_service.WrongStatus as error:
        abort(409, str(error))
    if (endpoint, description) != (bot.endpoint, bot.description):
        note_done()
    if is_new:
        check_requests.send_check(bot.id)
    notice("Your changes were saved")
    return redirect_to(address(bot))


@routes.post("/bot/<name>/rotate")
@players_only
def rotate(name: str) -> ResponseReturnValue:
    """Set a new secret for a bot, and show it once."""
    bot, hub = find(name), resources()
    check_requests.claim_bot(bot)
    try:
        with one_writing() as writing:
            secret = bots_service.rotate(writing, hub.sealer, bot)
    except (bots_service.WrongStatus, bots_service.Busy) as error:
        abort(409, str(error))
    note_done()
    check_requests.send_check(bot.id)
    return secret_page(bot.game, bot.name, secret, "has a new secret")


@routes.post("/bot/<name>/check")
@players_only
def check(name: str) -> ResponseReturnValue:
    """Request a check of a bot."""
    bot = find(name)
    check_requests.claim_bot(bot)
    if not check_requests.send_check(bot.id, is_program=bot.kind == "program"):
        notice("Bots cannot be checked right now. Please try again soon.", "bad")
        return redirect_to(address(bot))
    note_done()
    notice("Your bot is being checked.", "plain")
    # The page then polls for the check result and shows it.
    return redirect_to(url_for("bots.page", name=bot.name, game=bot.game, checking=1))


@routes.post("/bot/<name>/retire")
@players_only
def retire(name: str) -> ResponseReturnValue:
    """Retire a bot permanently, if its name was typed as confirmation."""
    bot = find(name)
    if request.form.get("confirm", "") != bot.name:
        notice("Type the bot's name to retire it.", "bad")
        return redirect_to(address(bot))
    with one_writing() as writing:
        bots_service.retire(writing, bot.id)
    notice(f"{bot.name} was retired.")
    return redirect_to(url_for("bots.index"))
