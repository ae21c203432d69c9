"""The program that plays End of Codes for a player instead of a web service, and its versions."""

from __future__ import annotations

from typing import Any

from flask import Response, abort, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw_hub.accounts.access.actor import player, players_only
from cw_hub.accounts.pages import go, must_confirm
from cw_hub.bots import verbs as bots
from cw_hub.bots import views as bot_views
from cw_hub.bots.checks import check_requests
from cw_hub.bots.checks.check_requests import UNCONFIRMED
from cw_hub.bots.programs import why_off
from cw_hub.bots.versions import answers, uploads, views
from cw_hub.bots.versions.answers import Author
from cw_hub.bots.versions.own_game import run_program
from cw_hub.bots.versions.pages import CHECKED_NEXT, PLAYS_NEXT
from cw_hub.bots.views import BotView
from cw_hub.competitions.daily.bots import GraderBot
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.daily.own.own_bot import family, own_bot
from cw_hub.pages.limiter import note_done
from cw_hub.pages.parts import notice, part_of_page
from cw_hub.pages.request import resources
from cw_hub.players.packages import Package


def author_of(bot: GraderBot) -> Author:
    """Return the current user's bot as the author of its versions."""
    return Author(bot.id, bot.bot_id, player().username, url, url_for("bot_settings.page"))


def url(name: str, **more: Any) -> str:
    """Return the address of an action on versions."""
    return url_for(f"bot_settings.{name}", **more)


@family.post("/upload")
@players_only
def upload() -> ResponseReturnValue:
    """Save a version of the program, which becomes the player's bot."""
    why = why_off(resources().settings) or (UNCONFIRMED if must_confirm() else "")
    if why:
        abort(409, why)
    bot = own_bot()
    try:
        number = save(bot, *uploads.sent(GAME))
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(url_for("bot_settings.page"))
    note_done()
    check_requests.send(bot.id, is_program=True)
    notice(CHECKED_NEXT.format(number).capitalize())
    return go(url_for("bot_settings.page"))


def save(bot: GraderBot, package: Package, note: str) -> int:
    """Turn a bot into a program, and save a version of it; return its number."""
    hub = resources()
    new = uploads.stored(hub.objects, bot.bot_id, package, note)
    with hub.database.writing() as writing:
        run_program(writing, hub.clock, bot.id, player().username)
        return bots.save_version(writing, hub.clock, bot.id, new)


@family.post("/use-version")
@players_only
def use_version() -> ResponseReturnValue:
    """Switch to an earlier version."""
    bot, hub = own_bot(), resources()
    try:
        number = uploads.number_sent()
        with hub.database.writing() as writing:
            run_program(writing, hub.clock, bot.id, player().username)
            bots.use_version(writing, hub.clock, view_of(bot), number)
    except UsageError as error:
        notice(str(error), "bad")
        return go(url_for("bot_settings.page"))
    if number != bot.version:
        note_done()
    notice(PLAYS_NEXT.format(number).capitalize())
    return go(url_for("bot_settings.page"))


@family.get("/version/<int:number>.zip")
@players_only
def version_file(number: int) -> Response:
    """Return a version of the program, only to its author."""
    return answers.file(author_of(own_bot()), number)


@family.get("/compare")
@players_only
def compare() -> ResponseReturnValue:
    """Show the difference between two versions of the program, only to its author."""
    return answers.comparison(author_of(own_bot()))


def view_of(bot: GraderBot) -> BotView:
    """Return a bot in the form that bot pages use."""
    with resources().database.reading() as reading:
        view = bot_views.find_by_id(reading, bot.bot_id)
    return view or abort(404, "There is no such bot.")


def part(bot: GraderBot) -> Markup:
    """Return the version section of a bot's page, for its author."""
    with resources().database.reading() as reading:
        versions = views.versions_of(reading, bot.id)
    return part_of_page(
        "hub/bots/own_versions.html",
        author=author_of(bot),
        bot=view_of(bot),
        versions=versions,
        why_off=why_off(resources().settings),
    )
