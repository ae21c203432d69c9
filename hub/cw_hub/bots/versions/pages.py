"""The pages of people's programs: upload to register, save, choose and compare versions."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from flask import Response, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw_hub.accounts.access.actor import players_only
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import go, must_confirm
from cw_hub.bots import verbs as bots
from cw_hub.bots.checks import check_requests
from cw_hub.bots.checks.check_requests import CONFIRM, UNCONFIRMED
from cw_hub.bots.forms import ProgramForm
from cw_hub.bots.pages import (
    add,
    address,
    find,
    new_program_form,
    program_page,
    routes,
)
from cw_hub.bots.programs import why_off
from cw_hub.bots.verbs import NewBot
from cw_hub.bots.versions import answers, uploads, views
from cw_hub.bots.versions.answers import Author
from cw_hub.bots.versions.own_game import OF_ITS_OWN
from cw_hub.bots.views import BotView
from cw_hub.pages.limiter import note_done
from cw_hub.pages.parts import notice, part_of_page
from cw_hub.pages.request import one_reading, resources

CHECKED_NEXT: Final = "version {} is saved; it plays once it has passed its check"
PLAYS_NEXT: Final = "version {} plays from the next match on"


def author_of(bot: BotView) -> Author:
    """Return a bot of the current user, as the author of its versions."""
    return Author(bot.id, bot.bot_id, bot.name, partial(url, bot), address(bot), {"game": bot.game})


def url(bot: BotView, name: str, **more: Any) -> str:
    """Return the address of an author's action on the versions of a bot."""
    return url_for(f"bots.{name}", name=bot.name, game=bot.game, **more)


@routes.post("/bots/new/program")
@players_only
def register_program() -> ResponseReturnValue:
    """Register a bot with an uploaded program, and have it checked."""
    form, why = new_program_form(request.form), why_off(resources().settings)
    if why or must_confirm():
        return refused(form, {"": why or CONFIRM})
    if form.game.data == OF_ITS_OWN:
        # 307 repeats the request there, with the uploaded file.
        abort(redirect(url_for("bot_settings.upload"), 307))
    form.validate()
    errors = first_errors(form)
    if errors:
        return refused(form, errors)
    values = {name: field.data or "" for name, field in form._fields.items()}
    try:
        package, note = uploads.sent(values["game"])
    except UsageError as error:
        return refused(form, {"program": str(error)})
    try:
        bot = add(NewBot(**values, endpoint=""), is_program=True)
    except bots.NameTaken as error:
        return refused(form, {"name": str(error)})
    except bots.TooManyBots as error:
        return refused(form, {"": str(error)})
    number = uploads.save(resources(), bot.id, bot.bot_id, package, note)
    check_requests.send(bot.id, is_program=True)
    notice(CHECKED_NEXT.format(number).capitalize())
    return go(url_for("bots.page", name=values["name"], game=values["game"]))


def refused(form: ProgramForm, errors: dict[str, str]) -> ResponseReturnValue:
    """Show the form again with its errors."""
    return program_page(form, errors), 422


@routes.post("/bot/<name>/upload")
@players_only
def upload(name: str) -> ResponseReturnValue:
    """Save a version of a program, which plays once it has passed its check."""
    bot, hub = find(name), resources()
    why = why_off(hub.settings) or (UNCONFIRMED if must_confirm() else "")
    if why:
        abort(409, why)
    try:
        package, note = uploads.sent(bot.game)
        number = uploads.save(hub, bot.id, bot.bot_id, package, note)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(address(bot))
    note_done()
    check_requests.send(bot.id, is_program=True)
    notice(CHECKED_NEXT.format(number).capitalize())
    return go(address(bot))


@routes.post("/bot/<name>/use-version")
@players_only
def use_version(name: str) -> ResponseReturnValue:
    """Make an earlier version play."""
    bot, hub = find(name), resources()
    try:
        number = uploads.number_sent()
        with hub.database.writing() as writing:
            bots.use_version(writing, hub.clock, bot, number)
    except UsageError as error:
        notice(str(error), "bad")
        return go(address(bot))
    if number != bot.version:
        note_done()
    notice(PLAYS_NEXT.format(number).capitalize())
    return go(address(bot))


@routes.get("/bot/<name>/version/<int:number>.zip")
@players_only
def version_file(name: str, number: int) -> Response:
    """Return a version of a program, to its author alone."""
    return answers.file(author_of(find(name)), number)


@routes.get("/bot/<name>/compare")
@players_only
def compare(name: str) -> ResponseReturnValue:
    """Show the differences between two versions of a program, to its author alone."""
    return answers.comparison(author_of(find(name)))


def part(bot: BotView) -> Markup:
    """Return the part of a bot's page that shows its author the versions."""
    with one_reading() as reading:
        versions = views.versions_of(reading, bot.id)
    return part_of_page(
        "hub/bots/own_versions.html",
        author=author_of(bot),
        bot=bot,
        versions=versions,
        why_off=why_off(resources().settings),
    )
